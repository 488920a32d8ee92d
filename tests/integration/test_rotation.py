#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""elog record --rotate goes on in new files, each of which stands for itself; what is kept is bound
by a number or by bytes."""

import glob
import os
import re

import harness

MIB = 1 << 20


class Rotation(harness.Case):
    def record(self, *options, count=120000, name="run.elog"):
        """Records a program of two threads; returns the summary's numbers."""
        result = self.run_elog(
            "record", "-e", "counter:*", "-o", self.path(name), "--buffer-size", "16M", *options,
            "--", harness.program("counter"), "2", str(count // 2),
        )
        self.assertIn(f"in {self.path('run-*.elog')}", result.stderr)
        return self.summary(result.stderr)

    def parts(self):
        return sorted(glob.glob(self.path("run-*.elog")))

    def numbers(self, path):
        """The events in a file: worker and number of each, which no two have in common."""
        printed = self.run_elog("print", path).stdout
        return re.findall(r"number=(\d+) .* worker=(\d+)", printed)

    def test_by_size_loses_nothing_and_each_file_stands_for_itself(self):
        events, _, lost = self.record("--rotate", "1MiB")
        self.assertEqual(events + lost, 120000)
        parts = self.parts()
        self.assertGreater(len(parts), 3)
        self.assertEqual(os.path.basename(parts[0]), "run-000001.elog")
        seen = []
        for part in parts:
            self.assertLessEqual(os.path.getsize(part), MIB)
            self.assertIn("whole", self.run_elog("verify", part).stdout)
            found = self.numbers(part)
            self.assertGreater(len(found), 0)
            seen += found
        self.assertEqual(len(seen), events)
        self.assertEqual(len(set(seen)), events)

    def test_keeps_the_newest_files(self):
        self.record("--rotate", "1MiB", "--keep", "2")
        parts = self.parts()
        self.assertEqual(len(parts), 2)
        self.assertGreater(int(parts[0][-11:-5]), 1)
        last = self.numbers(parts[-1])
        self.assertIn("59999", {number for number, _ in last})

    def test_never_keeps_more_than_the_bound_on_all_files(self):
        events, _, _ = self.record("--max-total", "4MiB", "--compress", "1")
        self.assertEqual(events, 120000)
        self.record("--max-total", "4MiB")
        sizes = [os.path.getsize(part) for part in self.parts()]
        self.assertGreater(len(sizes), 2)
        self.assertLessEqual(sum(sizes), 4 * MIB)

    def test_by_time(self):
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        recording = self.start_recording(
            "-e", "counter:*", "-o", self.path("run.elog"), "--rotate", "1s"
        )
        self.wait_for(lambda: len(self.parts()) > 2, "three files")
        self.stop(recording)
        for part in self.parts():
            self.assertIn("whole", self.run_elog("verify", part).stdout)
        for part in self.parts()[:-1]:
            self.assertGreater(len(self.numbers(part)), 0)

    def test_goes_on_behind_the_files_of_an_earlier_recording(self):
        self.record("--rotate", "64MiB", count=100)
        with open(self.parts()[0], "rb") as file:
            first = file.read()
        self.record("--rotate", "64MiB", count=100)
        self.assertEqual(len(self.parts()), 2)
        with open(self.parts()[0], "rb") as file:
            self.assertEqual(file.read(), first)
        self.record("--rotate", "64MiB", "--keep", "1", count=100)
        self.assertEqual([os.path.basename(part) for part in self.parts()], ["run-000003.elog"])

    def test_converts_times_of_a_later_file_as_those_of_the_first(self):
        self.record("--rotate", "1MiB")
        last = ""
        for part in self.parts():
            lines = self.run_elog("print", part).stdout.splitlines()
            times = [line.split(" ")[0] for line in lines if not line.startswith("--")]
            self.assertEqual(times, sorted(times))
            # Rings are read one after the other: a part may begin a little before the last one ends.
            self.assertGreaterEqual(times[-1], last)
            last = times[-1]


if __name__ == "__main__":
    harness.main()
