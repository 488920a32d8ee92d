#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""elog doctor --all, or elog features, lists the machine's features, and reason and remedy for the missing ones."""

import fcntl
import json
import os
import pty
import struct
import subprocess
import termios

import harness

NAMES = ["rseq", "membarrier", "futex", "clock", "cpus", "directory", "memory", "tracefs", "user_events",
         "multi_format", "persist", "module", "relay", "perf", "bpf", "hist", "btf", "usdt",
         "zstd", "terminal", "utf8"]
STATES = ["yes", "limited", "no"]
NAME_WIDTH, STATE_WIDTH = 14, 9


class Features(harness.Case):
    def find(self):
        """The features by name, from the JSON output."""
        found = json.loads(self.run_elog("features", "--json").stdout)
        self.assertEqual(list(found), ["version", "checks"])
        return {each["name"]: each for each in found["checks"]}

    def lines_on_terminal(self, columns):
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        environment = {**self.environment, "NO_COLOR": "1"}
        environment.pop("COLUMNS", None)
        subprocess.run(
            [harness.ELOG, "features"], env=environment, stdin=slave, stdout=slave, check=True
        )
        os.close(slave)
        text = b""
        try:
            while chunk := os.read(master, 65536):
                text += chunk
        except OSError:
            pass
        return text.decode("utf-8").splitlines()

    def test_names_every_feature_once_with_remedy_if_missing(self):
        features = self.find()
        self.assertEqual(list(features), NAMES)
        for each in features.values():
            self.assertEqual(list(each), ["name", "state", "text", "remedy"])
            self.assertIn(each["state"], STATES)
            self.assertNotEqual(each["text"], "")
            self.assertEqual(each["remedy"] != "", each["state"] != "yes", each)

    def test_text_matches_json(self):
        features = self.find()
        lines = self.run_elog("features").stdout.splitlines()
        begins = [line for line in lines if not line.startswith(" ")]
        self.assertEqual([line.split()[0] for line in begins], NAMES)
        for line in begins:
            name, state, rest = (
                line[:NAME_WIDTH], line[NAME_WIDTH : NAME_WIDTH + STATE_WIDTH],
                line[NAME_WIDTH + STATE_WIDTH :],
            )
            self.assertEqual(state.strip(), features[name.strip()]["state"])
            self.assertFalse(rest.startswith(" "))

    def test_fits_the_terminal(self):
        for columns in (80, 140):
            for line in self.lines_on_terminal(columns):
                self.assertLessEqual(len(line), columns, line)

    def test_disabled_rseq_names_its_cause(self):
        self.environment["EVENTLOG_RSEQ"] = "off"
        features = self.find()
        self.assertEqual(features["rseq"]["state"], "no")
        self.assertIn("EVENTLOG_RSEQ", features["rseq"]["remedy"])
        self.assertEqual(features["cpus"]["state"], "limited")
        self.environment["EVENTLOG_RSEQ"] = ""
        self.environment["GLIBC_TUNABLES"] = "glibc.pthread.rseq=0"
        self.assertIn("GLIBC_TUNABLES", self.find()["rseq"]["remedy"])

    def test_disabled_tsc_names_its_cause(self):
        self.environment["EVENTLOG_TSC"] = "off"
        clock = self.find()["clock"]
        self.assertEqual(clock["state"], "limited")
        self.assertIn("EVENTLOG_TSC", clock["remedy"])

    def test_invalid_clock_choice_is_reported(self):
        usual = self.find()["clock"]["text"].split(":")[0]
        self.environment["EVENTLOG_TSC"] = "perhaps"
        clock = self.find()["clock"]
        self.assertEqual(clock["state"], "limited")
        self.assertEqual(clock["text"], f"{usual}: EVENTLOG_TSC is neither on, off nor auto")
        self.assertIn("Set EVENTLOG_TSC to on, off or auto", clock["remedy"])

    def test_directory_matches_doctor_and_is_not_created(self):
        self.assertEqual(self.find()["directory"]["text"], self.directory)
        self.assertFalse(os.path.exists(self.directory), "it changes nothing")
        self.environment["EVENTLOG_DIR"] = self.path("not/there")
        directory = self.find()["directory"]
        self.assertEqual(directory["state"], "no")
        self.assertTrue(directory["remedy"].endswith("Run: unset EVENTLOG_DIR"), directory)

    def test_terminal_and_its_characters(self):
        for name in ("LC_ALL", "LC_CTYPE", "LANG"):
            self.environment.pop(name, None)
        self.assertEqual(self.find()["utf8"]["state"], "no")
        self.environment["LANG"] = "C.UTF-8"
        features = self.find()
        self.assertEqual(features["utf8"]["text"], "C.UTF-8 (LANG)")
        self.assertEqual(features["terminal"]["state"], "no")
        (line,) = (line for line in self.lines_on_terminal(90) if line.startswith("terminal"))
        self.assertEqual(line.split()[1:], ["limited", "90", "columns,", "no", "colours"])

    def test_an_argument_is_a_usage_error(self):
        self.run_elog("features", "rseq", status=2)


if __name__ == "__main__":
    harness.main()
