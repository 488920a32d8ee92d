#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A test's result includes its background processes: the harness reports their errors."""

import os
import re
import unittest
import unittest.mock

import harness

REPORTS = (
    "==7==ERROR: AddressSanitizer: heap-use-after-free",
    "==7==ERROR: LeakSanitizer: detected memory leaks",
    "a.cpp:1:1: runtime error: signed integer overflow",
    "WARNING: ThreadSanitizer: data race (pid=7)",
)


class Harness(harness.Case):
    def run_with(self, test):
        """The failures of a case with this test."""
        case = type("Inner", (harness.Case,), {"runTest": test})()
        result = case.run()
        self.assertEqual(result.testsRun, 1)
        return [text for _, text in result.failures + result.errors]

    def assert_fails(self, expected, test):
        failures = self.run_with(test)
        self.assertEqual(len(failures), 1, failures)
        self.assertRegex(failures[0], expected)

    @staticmethod
    def shell(script, awaited=True):
        """A test that runs this script in a shell."""
        def test(case):
            process = case.start("/bin/sh", "-c", script)
            if awaited:
                process.wait(harness.TIMEOUT)
            else:
                process.stdout.readline()
        return test

    def test_running_process_is_killed(self):
        started = []

        def test(case):
            started.append(case.start("sleep", "1000"))
        self.assertEqual(self.run_with(test), [])
        self.assertEqual(started[0].returncode, -9)

    def test_crash_fails_the_test(self):
        self.assert_fails("ended with -11:", self.shell("kill -SEGV $$"))

    def test_unawaited_crash_fails_the_test(self):
        def test(case):
            process = case.start("/bin/sh", "-c", "kill -ABRT $$")
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        self.assert_fails("ended with -6:", test)

    def test_unexpected_exit_status_fails_the_test(self):
        self.assert_fails(re.escape("'exit 3'] has ended with 3:"), self.shell("exit 3"))

    def test_exit_status_may_be_expected(self):
        def test(case):
            case.expect(case.start("/bin/sh", "-c", "exit 3"), 3)
            case.finish(case.start("/bin/sh", "-c", "exit 4"), 4)
        self.assertEqual(self.run_with(test), [])

    def test_signal_of_the_test_is_expected(self):
        def test(case):
            process = case.start("sleep", "1000")
            process.terminate()
            process.wait(harness.TIMEOUT)
        self.assertEqual(self.run_with(test), [])

    def test_exit_caused_by_exit_of_another_process_is_no_failure(self):
        def test(case):
            child = case.start("sleep", "1000")
            parent = case.start("/bin/sh", "-c", "read nothing; exit 3", stdin=child.stdout)
            parent.kill = parent.wait
        self.assertEqual(self.run_with(test), [])

    def test_sanitizer_report_fails_the_test(self):
        for report in REPORTS:
            with self.subTest(report=report):
                self.assert_fails(re.escape(report), self.shell(f"echo '{report}' >&2"))
                # Also of a process that the harness kills.
                script = f"echo '{report}' >&2; echo; exec sleep 1000"
                self.assert_fails(re.escape(report), self.shell(script, awaited=False))

    def test_sanitizer_report_is_no_error_of_elog(self):
        command = self.path("elog")
        with open(command, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\necho '{REPORTS[0]}' >&2\nexit 1\n")
        os.chmod(command, 0o755)
        with unittest.mock.patch.object(harness, "ELOG", command):
            self.assert_fails("AddressSanitizer", lambda case: case.run_elog("list", status=1))

    def test_busy_process_is_distinguished_from_sleeping_one(self):
        busy = self.start("/bin/sh", "-c", "while :; do :; done")
        idle = self.start("/bin/sh", "-c", "while :; do sleep 0.02; done")
        self.assertGreater(self.cpu_share(busy), 0.25)
        self.assertLess(self.cpu_share(idle), 0.25)

    def test_wakeups_are_counted(self):
        # A tenth as often as it asks for is enough on a busy machine.
        often = self.start("python3", "-c", "import time\nwhile True: time.sleep(0.001)")
        never = self.start("sleep", "1000")
        self.wait_for(lambda: self.wakeups(often, 0.1) > 100, "a process that sleeps often")
        # It has started by now.
        self.wait_for(lambda: self.wakeups(never, 0.1) == 0, "a process that sleeps on")

    def test_missing_folder_is_an_error_unless_it_may_be_missing(self):
        self.assert_fails("FileNotFoundError", lambda case: case.names("processes"))
        self.assertEqual(self.names("processes", may_be_missing=True), [])

    def test_file_is_created_once_for_all_tests(self):
        made = []

        def make(path):
            made.append(path)
            with open(path, "w", encoding="utf-8") as file:
                file.write("content")

        def test(case):
            path = case.create_once("file", make)
            with open(path, "r+", encoding="utf-8") as file:
                case.assertEqual(file.read(), "content")
                file.write("changed")
        kind = type("Inner", (harness.Case,), {"test_a": test, "test_b": test})
        result = unittest.defaultTestLoader.loadTestsFromTestCase(kind).run(unittest.TestResult())
        self.assertEqual((result.testsRun, result.failures, result.errors), (2, [], []))
        self.assertEqual(len(made), 1)
        self.assertFalse(os.path.exists(kind.kept_files))


if __name__ == "__main__":
    harness.main()
