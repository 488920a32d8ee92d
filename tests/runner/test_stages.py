#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The stages of a test run: their results, stages after a failure, and remembered results."""

import contextlib
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts" / "testing"))

import progress  # noqa: E402
import stages  # noqa: E402
from stages import Run, Stage  # noqa: E402


class Stages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        for command in (("init", "--quiet"), ("commit", "--quiet", "--allow-empty", "-m", "one")):
            subprocess.run(("git", "-c", "user.name=a", "-c", "user.email=a@example.org", *command),
                           check=True)
        pathlib.Path(".gitignore").write_text("build\n", encoding="utf-8")

    def run_stages(self, *given, **options):
        """Runs stages; returns whether all passed, and the printed lines."""
        with contextlib.redirect_stdout(io.StringIO()) as output:
            good = Run(list(given), **options).run()
        return good, output.getvalue().splitlines()

    def suite(self, text, status=0):
        command = f"echo '{text}' > results.xml; exit {status}"
        return Stage("suite", "suite", ("sh", "-c", command), results="results.xml")

    def test_a_check_counts_and_a_build_does_not(self):
        good, lines = self.run_stages(Stage("build", "b", ("true",)), Stage("check", "c", ("true",)))
        self.assertTrue(good)
        self.assertEqual(lines[-1], "1 passed, 0 failed, 0 skipped")

    def test_a_failed_build_fails_the_suite_that_needs_it(self):
        good, lines = self.run_stages(
            Stage("build", "b", ("sh", "-c", "echo broken; exit 1")),
            Stage("check", "c", ("touch", "ran"), needs="b"))
        self.assertFalse(good)
        self.assertIn("broken", lines)
        self.assertEqual(lines[-1], "0 passed, 2 failed, 0 skipped")
        self.assertFalse(pathlib.Path("ran").exists())

    def test_a_suite_does_not_run_after_a_build_that_did_not_run(self):
        good, lines = self.run_stages(
            Stage("build", "configure", ("false",)),
            Stage("build", "build", ("true",), needs="configure"),
            Stage("check", "test", ("touch", "ran"), needs="build"))
        self.assertFalse(good)
        self.assertEqual(lines[-1], "0 passed, 2 failed, 0 skipped")
        self.assertFalse(pathlib.Path("ran").exists())

    def test_a_run_without_a_test_is_not_good(self):
        good, lines = self.run_stages(Stage("build", "b", ("true",)))
        self.assertFalse(good)
        self.assertIn("No test ran.", lines)

    def test_a_suite_counts_its_cases_and_shows_failures_and_reasons(self):
        good, lines = self.run_stages(self.suite(
            '<testsuite><testcase name="a" time="2"/><testcase name="b"><failure message="x"/>'
            '</testcase><testcase name="c"><skipped message="no perf"/></testcase></testsuite>', 8))
        self.assertFalse(good)
        self.assertEqual(lines[-1], "1 passed, 1 failed, 1 skipped")
        self.assertIn("failed: suite: b", lines)
        self.assertIn("skipped: suite: c: no perf", lines)
        self.assertIn("     2.0 s  suite: a", lines)

    def test_a_suite_that_fails_without_a_failed_case_fails(self):
        good, _ = self.run_stages(
            self.suite('<testsuite><testcase name="a"/></testsuite>', 8))
        self.assertFalse(good)

    def test_an_empty_suite_fails(self):
        self.assertFalse(self.run_stages(self.suite("<testsuite/>"))[0])

    def test_results_of_an_earlier_run_do_not_count(self):
        pathlib.Path("results.xml").write_text('<testsuite><testcase name="a"/></testsuite>',
                                               encoding="utf-8")
        good, _ = self.run_stages(Stage("suite", "s", ("true",), results="results.xml"))
        self.assertFalse(good)

    def test_a_passed_stage_is_remembered_until_a_source_changes(self):
        count = Stage("check", "c", ("sh", "-c", "echo >> build/count"))
        os.mkdir("build")
        for change, runs in (("", 1), ("", 1), ("new", 2)):
            if change:
                pathlib.Path(change).touch()
            good, lines = self.run_stages(count, progress=progress.Progress())
            self.assertTrue(good)
            self.assertEqual(lines[-1], "1 passed, 0 failed, 0 skipped")
            self.assertEqual(len(pathlib.Path("build/count").read_text(encoding="utf-8")), runs)

    def test_a_failed_stage_is_not_remembered(self):
        fails = Stage("check", "c", ("sh", "-c", "mkdir second"))
        os.mkdir("second")
        with contextlib.redirect_stdout(io.StringIO()):
            kept = progress.Progress()
            self.assertFalse(Run([fails], kept).run())
            os.rmdir("second")
            self.assertTrue(Run([fails], kept).run())

    def test_the_environment_of_a_stage_is_its_own(self):
        good, _ = self.run_stages(
            Stage("check", "c", ("sh", "-c", '[ "$TIER" = full ]'), environment={"TIER": "full"}))
        self.assertTrue(good)
        self.assertNotIn("TIER", os.environ)

    def test_names_of_logs_are_plain(self):
        self.assertEqual(stages.log_of("asan+ubsan: test").name, "asan_ubsan__test.log")


if __name__ == "__main__":
    unittest.main()
