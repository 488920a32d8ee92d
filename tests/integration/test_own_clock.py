#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Events that a program times by a clock of its own are recorded, shown and searched by it."""

import datetime
import json
import os

import harness


class OwnClock(harness.Case):
    def record(self):
        """Of one CPU: in one ring they keep their order."""
        path = self.path("run.elog")
        cpu = min(os.sched_getaffinity(0))
        self.run_elog("record", "-e", "simulation", "-o", path, "--", "taskset", "-c", str(cpu),
                      harness.program("own_clock"))
        return path

    def times(self, path, *options):
        """Seconds of each event, by its number."""
        found = {}
        for line in self.run_elog("convert", "--to", "jsonl", path, *options).stdout.splitlines():
            event = json.loads(line)
            time = datetime.datetime.fromisoformat(event["time"][:26] + "+00:00")
            found[event["fields"]["number"]] = time.timestamp()
        return found

    def test_times_are_those_of_the_clock(self):
        times = self.times(self.record())
        self.assertEqual(list(times), [0, 1, 2, 3])
        self.assertAlmostEqual(times[1] - times[0], 60, delta=0.1)
        self.assertAlmostEqual(times[2] - times[0], 30, delta=0.1)
        self.assertAlmostEqual(times[3] - times[0], 0, delta=10)

    def test_files_with_them_are_whole(self):
        path = self.record()
        self.assertIn("whole", self.run_elog("verify", path).stdout)
        self.run_elog("cut", path, "-o", self.path("cut.elog"))
        self.assertIn("whole", self.run_elog("verify", self.path("cut.elog")).stdout)
        self.assertEqual(self.times(self.path("cut.elog")), self.times(path))

    def test_a_part_of_the_time_is_found_by_the_clock(self):
        path = self.record()
        self.assertEqual(list(self.times(path, "--from", "+45s")), [1])
        self.assertEqual(list(self.times(path, "--from", "+20s", "--until", "+45s")), [2])

    def test_lines_come_at_once_while_recording(self):
        process = self.start(harness.ELOG, "record", "-e", "simulation", "--",
                             harness.program("own_clock"))
        output, _ = self.finish(process)
        self.assertEqual(len([line for line in output.splitlines() if harness.LINE.match(line)]), 4)


if __name__ == "__main__":
    harness.main()
