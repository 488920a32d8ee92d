#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Events by a custom clock are recorded, shown, searched and copied by that clock, and delay
nothing.
"""

import datetime
import json
import os
import subprocess

import harness


class CustomClock(harness.Case):
    def program(self):
        """On one CPU: events of one ring stay in order."""
        return ["taskset", "-c", str(min(os.sched_getaffinity(0))), harness.program("custom_clock")]

    def record(self, name="run.elog"):
        path = self.path(name)
        self.run_elog("record", "-e", "simulation", "-o", path, "--", *self.program(),
                      stdin=subprocess.DEVNULL)
        return path

    def all_times(self, path, *options):
        """(number, seconds) of each event, in the order of output."""
        for line in self.run_elog("convert", "--to", "jsonl", path, *options).stdout.splitlines():
            event = json.loads(line)
            time = datetime.datetime.fromisoformat(event["time"][:26] + "+00:00")
            yield event["fields"]["number"], time.timestamp()

    def times(self, path, *options):
        """{number: seconds}; each number occurs once."""
        return dict(self.all_times(path, *options))

    def test_times_match_custom_clock(self):
        times = self.times(self.record())
        self.assertEqual(list(times), [0, 1, 2, 3])
        # Far from the machine's clock the precision is that of the rate after a short time.
        self.assertAlmostEqual(times[1] - times[0], 60, delta=1)
        self.assertAlmostEqual(times[2] - times[0], 30, delta=1)
        self.assertLess(times[3], times[2])

    def test_time_range_uses_custom_clock(self):
        path = self.record()
        times = self.times(path)
        middle = (times[1] + times[2]) / 2
        self.assertEqual(list(self.times(path, "--since", f"@{middle:.6f}")), [1])
        between = ["--since", f"@{times[2] - 5:.6f}", "--until", f"@{middle:.6f}"]
        self.assertEqual(list(self.times(path, *between)), [2])
        cut = self.path("cut.elog")
        self.run_elog("cut", path, *between, "-o", cut)
        self.assertEqual(self.times(cut), {2: times[2]})
        self.assertIn("whole", self.run_elog("verify", cut).stdout)

    def test_copies_keep_all_times(self):
        path, other = self.record(), self.record("other.elog")
        self.assertIn("whole", self.run_elog("verify", path).stdout)
        self.run_elog("cut", path, "-o", self.path("cut.elog"))
        self.assertIn("whole", self.run_elog("verify", self.path("cut.elog")).stdout)
        self.assertEqual(self.times(self.path("cut.elog")), self.times(path))
        merged = self.path("merged.elog")
        self.run_elog("merge", path, other, "-o", merged)
        self.assertIn("whole", self.run_elog("verify", merged).stdout)
        found = sorted(self.all_times(merged))
        expected = sorted([*self.all_times(path), *self.all_times(other)])
        self.assertEqual([number for number, _ in found], [0, 0, 1, 1, 2, 2, 3, 3])
        for (number, time), (_, before) in zip(found, expected):
            # Events by the machine's clock lie near the clock readings; a minute away, the merged
            # file uses other readings than the source.
            self.assertAlmostEqual(time, before, delta=1 if number in (1, 2) else 0.01)

    def test_events_with_future_times_are_shown_immediately(self):
        """Live and from a file: the program continues, and the minute is not over."""
        path = self.path("run.elog")
        self.start_recording("-e", "simulation", "--wait", "-o", path)
        with open(self.path("live"), "wb") as live, open(self.path("followed"), "wb") as followed:
            shown = self.start(harness.ELOG, "record", "-e", "simulation", "--wait", stdout=live)
            self.wait_for(lambda: self.is_mapped(shown, "subscriptions"), "a subscription")
            follower = self.start(harness.ELOG, "print", "--follow", path, stdout=followed)
            self.start(*self.program(), stdin=subprocess.PIPE)
            for name in ("live", "followed"):
                def lines(name=name):
                    with open(self.path(name), encoding="utf-8") as file:
                        return file.read().splitlines()
                self.wait_for(lambda: len(lines()) == 4, f"four lines of {name}")
                numbers = [line.rsplit("=", 1)[1] for line in lines()]
                self.assertEqual(numbers, ["0", "1", "2", "3"])
            self.assertIsNone(follower.poll())


class OwnClockBesideMonotonic(CustomClock):
    """With a machine clock other than the processor's counter."""

    def setUp(self):
        super().setUp()
        self.environment["EVENTLOG_TSC"] = "off"


if __name__ == "__main__":
    harness.main()
