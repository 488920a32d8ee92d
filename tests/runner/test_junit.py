#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The results of a CTest run, as scripts/testing/junit.py reads them."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts" / "testing"))

import junit  # noqa: E402


class Junit(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def read(self, *cases):
        path = self.folder / "results.xml"
        path.write_text(f"<testsuite>{''.join(cases)}</testsuite>", encoding="utf-8")
        return junit.read(path, self.folder)

    def report(self, entry, *cases):
        text = f'<testsuites><testsuite name="ring">{"".join(cases)}</testsuite></testsuites>'
        path = self.folder / (entry.replace(".", "/") + ".xml")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def outcomes(self, cases):
        return [(case.name, case.outcome) for case in cases]

    PASSED = '<testcase name="unit.ring" time="1.5" status="run"/>'
    FAILED = ('<testcase name="unit.ring" time="1" status="fail"><failure message="SEGFAULT"/>'
              "<system-out>last words</system-out></testcase>")

    def test_a_test_without_a_report_counts_once(self):
        cases = self.read(self.PASSED)
        self.assertEqual(self.outcomes(cases), [("unit.ring", "passed")])
        self.assertEqual(cases[0].seconds, 1.5)

    def test_each_case_of_a_report_counts(self):
        self.report("unit.ring", '<testcase name="a" time="0.5"/>', '<testcase name="b" time="1"/>')
        self.assertEqual(self.outcomes(self.read(self.PASSED)),
                         [("unit.ring.a", "passed"), ("unit.ring.b", "passed")])

    def test_a_failed_case_explains_the_failed_entry(self):
        self.report("unit.ring", '<testcase name="a"><failure message="1 != 2"/></testcase>',
                    '<testcase name="b"/>')
        cases = self.read(self.FAILED)
        self.assertEqual(self.outcomes(cases), [("unit.ring.a", "failed"), ("unit.ring.b", "passed")])
        self.assertEqual(cases[0].text, "1 != 2")

    def test_a_crash_without_a_report_fails(self):
        cases = self.read(self.FAILED)
        self.assertEqual(self.outcomes(cases), [("unit.ring", "failed")])
        self.assertIn("last words", cases[0].text)

    def test_a_failure_that_no_case_explains_fails(self):
        self.report("unit.ring", '<testcase name="a"/>')
        self.assertEqual(self.outcomes(self.read(self.FAILED)),
                         [("unit.ring.a", "passed"), ("unit.ring", "failed")])

    def test_a_broken_report_is_no_report(self):
        (self.folder / "unit").mkdir()
        (self.folder / "unit" / "ring.xml").write_text("<testsuites><tests", encoding="utf-8")
        self.assertEqual(self.outcomes(self.read(self.FAILED)), [("unit.ring", "failed")])

    def test_a_test_that_was_not_built_fails(self):
        cases = self.read('<testcase name="unit_tests_NOT_BUILT" status="notrun"/>')
        self.assertEqual(self.outcomes(cases), [("unit_tests_NOT_BUILT", "failed")])

    def test_the_reason_of_a_skip_is_the_last_line(self):
        cases = self.read('<testcase name="vm.perf" status="notrun"><skipped message="CODE=77"/>'
                          "<system-out>boots\nskipped: no perf\n</system-out></testcase>")
        self.assertEqual((cases[0].outcome, cases[0].text), ("skipped", "skipped: no perf"))

    def test_the_reason_of_a_skipped_case_is_its_message(self):
        self.report("unit.ring", '<testcase name="a"><skipped message="ring_test.cpp:7&#10;no rseq"/>'
                    "</testcase>")
        cases = self.read(self.PASSED)
        self.assertEqual((cases[0].outcome, cases[0].text), ("skipped", "no rseq"))

    def test_a_long_output_is_shortened_in_the_middle(self):
        text = junit.shortened("\n".join(str(number) for number in range(1000)))
        self.assertTrue(text.startswith("0\n") and text.endswith("\n999"))
        self.assertIn("... 800 lines are omitted ...", text)


if __name__ == "__main__":
    unittest.main()
