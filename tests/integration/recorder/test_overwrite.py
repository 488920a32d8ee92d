#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""elog record --overwrite keeps the newest events and counts the overwritten ones."""

import json
import re

import flight_recorder
import harness


class Overwrite(flight_recorder.Case):
    def test_record_overwrite_keeps_newest_and_counts_overwritten(self):
        result = self.run_elog(
            "record", "-e", "counter:*", "--overwrite", "--buffer-size", "128K",
            "-o", self.path("run.elog"), "--",
            harness.program("counter"), str(harness.THREADS), "100000",
        )
        events, _, lost = self.summary(result.stderr)
        overwritten = self.overwritten(result.stderr)
        self.assertEqual(lost, 0)
        self.assertGreater(overwritten, 0)
        self.assertEqual(events + overwritten, harness.THREADS * 100000)
        self.run_elog("verify", self.path("run.elog"))
        counted = self.run_elog("stat", self.path("run.elog")).stdout
        self.assertIn(f"{overwritten} more were overwritten", counted)
        self.assertIn(f" 0 lost, {overwritten} overwritten, ",
                      self.run_elog("verify", self.path("run.elog")).stdout)
        as_json = json.loads(self.run_elog("stat", "--json", self.path("run.elog")).stdout)
        self.assertEqual((as_json["lost"], as_json["overwritten"]), (0, overwritten))
        # Repair copies the intact blocks, and the counters of the rest.
        self.run_elog("repair", self.path("run.elog"), "-o", self.path("copy.elog"))
        self.assertEqual(self.run_elog("stat", self.path("copy.elog")).stdout, counted)
        text = self.run_elog("print", self.path("run.elog")).stdout
        self.assertRegex(text, r"-- overwritten \d+ events ")
        self.assertNotIn("-- lost", text)
        for numbers in self.numbers(text).values():
            self.assertEqual(numbers[-1], 99999)
        self.assert_no_files_left()

    def test_record_counts_overwritten_regardless_of_predicate(self):
        result = self.run_elog(
            "record", "-e", "counter:*", "--overwrite", "--buffer-size", "128K",
            "--where", "number >= 49990 && worker == 0", "--", harness.program("counter"),
            str(harness.THREADS), "50000",
        )
        # Possibly no event after the overwritten ones of a CPU matches.
        found = self.numbers(result.stdout).get(0, [])
        self.assertLessEqual(set(found), set(range(49990, 50000)))
        self.assertEqual(self.summary(result.stderr)[2], 0)
        self.assertNotIn("-- lost", result.stdout)
        told = sum(int(each) for each in re.findall(r"-- overwritten (\d+) events", result.stdout))
        self.assertEqual(told, self.overwritten(result.stderr))
        self.assertGreater(told, 0)

    def test_record_overwrite_prints_contents_on_interrupt(self):
        recording = self.start_recording("-e", "counter:*", "--overwrite", "--wait")
        self.emit(1, 100)
        output, errors = self.stop(recording)
        self.assertEqual(self.summary(errors)[::2], (100, 0))
        self.assertEqual(self.numbers(output), {0: list(range(100))})
        self.assertEqual(self.overwritten(errors), 0)

    def test_record_overwrite_applies_to_shared_ring(self):
        environment = {**self.environment, "EVENTLOG_RSEQ": "off"}
        result = self.run_elog(
            "record", "-e", "counter:*", "--overwrite", "--buffer-size", "128K", "--",
            harness.program("counter"), "1", "50000", env=environment,
        )
        events, _, lost = self.summary(result.stderr)
        self.assertEqual(lost, 0)
        self.assertEqual(events + self.overwritten(result.stderr), 50000)
        self.assertRegex(result.stdout, r"-- overwritten \d+ events in the shared ring --")
        self.assertEqual(self.numbers(result.stdout)[0], list(range(50000 - events, 50000)))


if __name__ == "__main__":
    harness.main()
