#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""elog doctor reports missing prerequisites as text and as JSON. tests/vm tests the items that
depend on the kernel.
"""

import json
import os
import resource
import subprocess
import unittest

import harness

ITEMS = ["directory", "memory", "rseq", "user_events", "tracefs", "user_events_data", "group", "boot",
         "user_events_max", "perf_events", "perf", "trace-cmd"]


class Doctor(harness.Case):
    def examine(self):
        """(exit status, items by name); requires equal content of both forms."""
        command = [harness.ELOG, "doctor"]
        settings = {"env": self.environment, "capture_output": True, "encoding": "utf-8"}
        text = subprocess.run(command, check=False, **settings)
        form = subprocess.run([*command, "--json"], check=False, **settings)
        self.assertEqual(text.returncode, form.returncode)
        found = json.loads(form.stdout)
        self.assertEqual(found["healthy"], form.returncode == 0)
        self.assertEqual(
            found["healthy"], all(item["state"] != "missing" for item in found["checks"])
        )
        lines = text.stdout.splitlines()
        self.assertEqual(len(lines), len(found["checks"]))
        for line, item in zip(lines, found["checks"]):
            self.assertEqual(line.split()[:2], [item["state"], item["name"]])
            # The free memory changes between the calls.
            if item["name"] != "memory":
                self.assertIn(item["text"], line)
            self.assertTrue(line.endswith(item["remedy"]), line)
        if form.returncode != 0:
            self.assert_one_message(form.stderr, f" of {len(ITEMS)} items are missing")
        return form.returncode, {item["name"]: item for item in found["checks"]}

    def test_names_every_item_once(self):
        _, items = self.examine()
        self.assertEqual(list(items), ITEMS)

    def test_accepts_existing_or_creatable_directory(self):
        _, items = self.examine()
        self.assertEqual(items["directory"]["state"], "ok")
        self.assertFalse(os.path.exists(self.directory), "it changes nothing")
        self.start_provider(harness.example("hello"), "600")
        _, items = self.examine()
        self.assertEqual(items["directory"]["state"], "ok")
        self.assertIn("yours alone", items["directory"]["text"])

    def test_its_command_restricts_accessible_directory(self):
        os.mkdir(self.directory)
        os.chmod(self.directory, 0o755)
        status, items = self.examine()
        self.assertEqual((status, items["directory"]["state"]), (1, "missing"))
        self.assertFalse(items["directory"]["as_root"])
        subprocess.run(["sh", "-c", items["directory"]["remedy"]], check=True)
        self.assertEqual(self.examine()[1]["directory"]["state"], "ok")

    def test_no_command_closes_a_directory_of_other_use(self):
        for path in ("/dev/shm", "/proc"):
            self.environment["EVENTLOG_DIR"] = path
            status, items = self.examine()
            self.assertEqual((status, items["directory"]["state"]), (1, "missing"))
            self.assertEqual(items["directory"]["remedy"], "unset EVENTLOG_DIR")

    def test_its_command_removes_file_at_directory_path(self):
        with open(self.directory, "w", encoding="utf-8"):
            pass
        status, items = self.examine()
        self.assertEqual((status, items["directory"]["state"]), (1, "missing"))
        subprocess.run(["sh", "-c", items["directory"]["remedy"]], check=True)
        self.assertEqual(self.examine()[1]["directory"]["state"], "ok")

    def test_directory_without_parent_is_missing(self):
        self.environment["EVENTLOG_DIR"] = self.path("not/there")
        status, items = self.examine()
        self.assertEqual((status, items["directory"]["state"]), (1, "missing"))
        self.assertEqual(items["directory"]["remedy"], "unset EVENTLOG_DIR")

    def test_a_path_that_is_too_long_is_missing(self):
        self.environment["EVENTLOG_DIR"] = "/dev/shm/" + "x" * 600
        result = self.run_elog("doctor", status=1)
        self.assertIn("EVENTLOG_DIR is too long", result.stdout)

    def test_disabled_rseq_is_a_note(self):
        self.environment["EVENTLOG_RSEQ"] = "off"
        self.assertEqual(self.examine()[1]["rseq"]["state"], "note")

    def test_quotes_special_characters_in_path(self):
        self.environment["EVENTLOG_DIR"] = self.directory = self.path("it's \"mine\"\n")
        os.mkdir(self.directory)
        os.chmod(self.directory, 0o755)
        form = self.run_elog("doctor", "--json", status=1).stdout
        (item,) = (item for item in json.loads(form)["checks"] if item["name"] == "directory")
        subprocess.run(["sh", "-c", item["remedy"]], check=True)
        self.assertEqual(os.stat(self.directory).st_mode & 0o777, 0o700)

    def test_escapes_characters_that_a_terminal_executes(self):
        self.environment["EVENTLOG_DIR"] = self.directory = self.path("red\x1b[31m\u202e")
        with open(self.directory, "wb"):
            pass
        shown = self.run_elog("doctor", status=1).stdout
        self.assertNotIn("\x1b", shown)
        self.assertNotIn("\u202e", shown)
        self.assertIn("red\\x1b[31m", shown)

    def test_an_argument_is_a_usage_error(self):
        self.run_elog("doctor", "perf", status=2)


class ProgramsWithoutEvents(harness.Case):
    """Programs that have loaded the library and publish no events, or cannot attach."""

    COMMAND = (harness.program("counter"), "1", "0", "1000")

    def start_loaded(self, **options):
        process = self.start(*self.COMMAND, **options)

        def has_loaded():
            with open(f"/proc/{process.pid}/maps", encoding="utf-8") as file:
                return "/libeventlog.so" in file.read()

        self.wait_for(has_loaded, "the library")
        return process

    def row(self, name="unpublished"):
        """The row of these programs, or None. Other items may be missing here."""
        shown = subprocess.run([harness.ELOG, "doctor", "--json"], check=False,
                               env=self.environment, stdout=subprocess.PIPE).stdout
        return next((each["text"] for each in json.loads(shown)["checks"]
                     if each["name"] == name), None)

    def assert_row_has(self, process, reason, name="counter"):
        self.assertIn(f": {name} ({process.pid}): {reason}.", self.row())

    def test_program_that_has_published_is_not_listed(self):
        self.start_provider(*self.COMMAND)
        self.assertIsNone(self.row())

    def test_names_the_variable_that_switches_the_library_off(self):
        process = self.start_loaded(env={**self.environment, "EVENTLOG": "off"})
        self.assert_row_has(process, "EVENTLOG=off")

    def test_names_the_limit_of_file_sizes(self):
        process = self.start_loaded(
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)))
        self.assert_row_has(process, "its limit of file sizes (ulimit -f) is 4096")

    @unittest.skipUnless(os.geteuid() == 0, "takes root")
    def test_names_other_mounts(self):
        process = self.start("unshare", "--mount", "sh", "-c", f"mount -t tmpfs none /dev/shm && "
                             f"exec {' '.join(self.COMMAND)}")
        self.wait_for(lambda: self.row() is not None, "a row")
        self.assert_row_has(process, "it has other mounts, as in a container")

    def test_refers_to_the_status_for_reasons_inside_the_program(self):
        process = self.start_python(
            self.start, "-c", f"import ctypes; ctypes.CDLL({harness.LIBRARY!r}); input()")
        self.wait_for(lambda: self.row() is not None, "a row")
        self.assert_row_has(process, "it has no provider, or eventlog_provider_status() in the "
                            "program gives the reason", "python3")

    def test_names_the_limit_of_a_program_that_cannot_attach(self):
        process = self.start_provider(*self.COMMAND)
        # Its thread runs: the check of UBSan at the thread's start needs a descriptor.
        self.run_elog("record", "-e", "counter:*", "--limit", "1")
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (3, 3))
        recording = self.start_recording("-e", "counter:*", "-o", self.path("run.elog"))
        self.wait_for(lambda: self.row("unattached") is not None, "a row")
        self.assertRegex(self.row("unattached"), rf": counter \({process.pid}\): \d+ events, "
                         r"its limit of open files \(ulimit -n\) is 3\.$")
        self.stop(recording)

    def test_lists_no_programs_of_other_directories(self):
        self.start_loaded(env={**self.environment, "EVENTLOG": "off",
                               "EVENTLOG_DIR": self.path("other")})
        self.assertIsNone(self.row())

    def test_lists_three_programs_and_counts_the_remaining_ones(self):
        for _ in range(4):
            self.start_loaded(env={**self.environment, "EVENTLOG": "off"})
        self.assertEqual(self.row().count("EVENTLOG=off"), 3)
        self.assertTrue(self.row().endswith("; and 1 more."), self.row())


if __name__ == "__main__":
    harness.main()
