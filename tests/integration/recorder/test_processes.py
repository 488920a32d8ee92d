#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""elog record -p and --comm: only the selected processes are recorded, and only their gates are
opened.
"""

import os
import shutil

import harness


class Processes(harness.Case):
    def named(self, name):
        """The counter under another name: the file's name is the process's name."""
        path = self.path(name)
        if not os.path.exists(path):
            shutil.copy(harness.program("counter"), path)
        return path

    def start_counting(self, name):
        """Starts a program that emits until it is ended."""
        return self.start_provider(self.named(name), "1", "0", "50")

    def recorded(self, path):
        """The processes in a recording."""
        lines = self.run_elog("print", path).stdout.splitlines()
        found = [harness.LINE.match(line) for line in lines]
        return {line["process"] for line in found if line}

    def gate(self, process):
        (provider,) = self.providers_of(process.pid)
        return provider.gate()[0]

    def test_by_pid_is_recorded_alone(self):
        one, other = self.start_counting("one"), self.start_counting("other")
        path = self.path("run.elog")
        recording = self.start_recording("-e", "counter:*", "-p", str(other.pid), "-o", path)
        self.assertNotEqual(self.gate(other), 0)
        self.assertEqual(self.gate(one), 0)
        self.wait_for(lambda: self.recorded(path), "an event")
        self.stop(recording)
        self.assertEqual(self.recorded(path), {"other"})

    def test_by_pattern_is_recorded_whenever_it_starts(self):
        path = self.path("run.elog")
        recording = self.start_recording("-e", "counter:*", "--comm", "work*", "--comm", "boss",
                                         "-o", path, "--wait")
        for name in ("worker", "boss", "idler", "bosses"):
            self.finish(self.start(self.named(name), "1", "1000"))
        _, errors = self.stop(recording)
        self.assertEqual(self.summary(errors)[::2], (2000, 0))
        self.assertEqual(self.recorded(path), {"worker", "boss"})

    def test_by_pid_or_by_pattern(self):
        one, _, _ = (self.start_counting(name) for name in ("one", "two", "three"))
        path = self.path("run.elog")
        recording = self.start_recording("-e", "counter:*", "-p", str(one.pid), "--comm", "tw?",
                                         "-o", path)
        self.wait_for(lambda: self.recorded(path) == {"one", "two"}, "events of both")
        self.stop(recording)
        self.assertEqual(self.recorded(path), {"one", "two"})

    def test_missing_pid_is_reported(self):
        self.start_counting("one")
        result = self.run_elog("record", "-e", "counter:*", "--comm", "two", status=1)
        self.assert_one_message(result.stderr, "No running program that -p and --comm ask for")

    def test_invalid_pid_is_rejected(self):
        for arguments in (("-p", "0"), ("-p", "-1"), ("-p", "x"), ("-p", "4294967296"),
                          ("--comm", ""), ("--comm", "a_name_of_16_char"),
                          ("--comm", "a_name_of_16_char*")):
            self.run_elog("record", "-e", "counter:*", *arguments, status=2)
        self.run_elog("record", "-e", "counter:*", "--comm", "a_name_of_16_c*", "--duration",
                      "10ms", "--wait")

    def test_selection_is_shown_in_list(self):
        self.start_counting("one")
        self.start_recording("-e", "counter:*", "--comm", "one", "-p", "4242", "-o",
                             self.path("run.elog"))
        listed = self.run_elog("list", "--json").stdout
        self.assertIn('"process_rules": ["=4242", "~one"]', " ".join(listed.split()).replace(
            "[ ", "[").replace(" ]", "]"))


if __name__ == "__main__":
    harness.main()
