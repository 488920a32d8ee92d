#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--limit: elog record keeps the first events that it reads, up to the given number, and ends; it
reports the number of later events.
"""

import glob
import json
import re

import harness

SKIPPED_EVENTS = re.compile(r"(\d+) events were kept for --limit, (\d+) later ones were left out")


class Limit(harness.Case):
    COUNTER = harness.program("counter"), "2", "5000"

    def events_in(self, path):
        return json.loads(self.run_elog("stat", path, "--json").stdout)["events"]

    def left_out(self, errors):
        """(kept, not kept) in the summary."""
        found = SKIPPED_EVENTS.search(errors)
        self.assertIsNotNone(found, errors)
        return int(found[1]), int(found[2])

    def test_file_has_requested_count_and_is_complete(self):
        path = self.path("run.elog")
        result = self.run_elog("record", "-e", "counter:*", "--limit", "70", "-o", path, "--",
                               *self.COUNTER)
        kept, others = self.left_out(result.stderr)
        self.assertEqual((kept, self.events_in(path)), (70, 70))
        self.assertEqual(kept + others, self.summary(result.stderr)[0])
        if others != 0:
            self.assertIn(f", {kept} of them in ", result.stderr)
        self.assertIn(": whole: ", self.run_elog("verify", path).stdout)
        self.assertEqual(self.names("subscriptions"), [])

    def test_recording_of_running_programs_ends_by_itself(self):
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        result = self.run_elog("record", "-e", "counter:*", "--limit", "3")
        shown = [line for line in result.stdout.splitlines() if harness.LINE.match(line)]
        self.assertEqual(len(shown), 3)
        self.assertEqual(self.left_out(result.stderr)[0], 3)

    def test_only_matching_events_count(self):
        path = self.path("run.elog")
        result = self.run_elog(
            "record", "-e", "counter:*", "--where", "number >= 100", "--limit", "40", "-o", path,
            "--json", "--", *self.COUNTER,
        )
        # The program prints lines of its own.
        (said,) = (json.loads(line) for line in result.stdout.splitlines() if line[0] == "{")
        self.assertEqual((said["file_events"], self.events_in(path)), (40, 40))
        self.assertGreaterEqual(said["where_matched"], 40)
        self.assertGreaterEqual(said["events"], said["where_matched"])
        numbers = re.findall(r" number=(\d+)", self.run_elog("print", path).stdout)
        self.assertEqual(len(numbers), 40)
        self.assertGreaterEqual(min(map(int, numbers)), 100)

    def test_larger_count_yields_all_events(self):
        path = self.path("run.elog")
        result = self.run_elog("record", "-e", "counter:*", "--limit", "1000000000", "-o", path,
                               "--", harness.program("counter"), "1", "50")
        self.assertEqual(self.left_out(result.stderr), (50, 0))
        self.assertEqual(self.events_in(path), 50)

    def test_count_applies_to_all_rotated_files(self):
        self.run_elog(
            "record", "-e", "counter:*", "--limit", "30000", "--rotate", "1MiB", "--compress",
            "--buffer-size", "16M", "-o", self.path("run.elog"), "--",
            harness.program("counter"), "2", "20000",
        )
        parts = glob.glob(self.path("run-*.elog"))
        self.assertEqual(sum(map(self.events_in, parts)), 30000)

    def test_continuing_command_is_reported(self):
        result = self.run_elog("record", "-e", "counter:*", "--limit", "5", "--",
                               harness.program("counter"), "1", "1000", "1000")
        self.assertRegex(result.stderr, r"is still running, as process \d+")

    def test_invalid_counts_are_rejected(self):
        for number in ("0", "-1", "1000000001", "many"):
            errors = self.run_elog("record", "-e", "counter:*", f"--limit={number}", status=2).stderr
            self.assertIn("--limit", errors)
        errors = self.run_elog("record", "-e", "counter:*", "--limit", "5", "--overwrite",
                               status=2).stderr
        self.assertIn("leave out --limit or --overwrite.", errors)


if __name__ == "__main__":
    harness.main()
