#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""With any number of threads and processes, on any CPUs, every event is recorded or counted as
lost.
"""

import os
import random
import re
import unittest

import harness

COUNT = re.compile(r" number=(\d+) check=(\d+) worker=(\d+) ", re.MULTILINE)


class Cpus(harness.Case):
    def check(self, errors, attempted, may_lose=False):
        """(worker, number) of each recorded event."""
        recorded, _, lost = self.summary(errors)
        self.assertNotIn("were damaged", errors)
        self.assertEqual(recorded + lost, attempted)
        if not may_lose and not harness.IS_SHARED:
            self.assertEqual(lost, 0)
        self.assertIn("whole", self.run_elog("verify", self.path("run.elog")).stdout)
        found = COUNT.findall(self.run_elog("print", self.path("run.elog")).stdout)
        self.assertEqual(len(found), recorded)
        for number, check, worker in found:
            expected = (int(number) + int(worker)) * 0x9E3779B97F4A7C15 % 2**64
            self.assertEqual(int(check), expected)
        return [(worker, number) for number, _, worker in found]

    def threads_of(self, process):
        try:
            return [int(thread) for thread in os.listdir(f"/proc/{process.pid}/task")]
        except FileNotFoundError:
            return []

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "there is one processor only")
    def test_constantly_migrating_threads(self):
        threads, events = 4, 20000
        cpus = sorted(os.sched_getaffinity(0))
        recording = self.start_recording("-e", "counter:*", "--wait", "--buffer-size", "4M",
                                         "-o", self.path("run.elog"))
        process = self.start(harness.program("counter"), str(threads), str(events), "20")
        moves = 0
        while process.poll() is None:
            for thread in self.threads_of(process):
                chosen = random.choice([*({cpu} for cpu in cpus), set(cpus)])
                try:
                    os.sched_setaffinity(thread, chosen)
                    moves += 1
                except ProcessLookupError:
                    continue  # the thread has just ended
        self.finish(process)
        _, errors = self.stop(recording)
        self.assertGreater(moves, 100)
        found = self.check(errors, threads * events)
        self.assertEqual(len(set(found)), len(found))

    def test_a_thousand_threads(self):
        threads, events = 1000, 50
        recording = self.start_recording("-e", "counter:*", "--wait", "--buffer-size", "4M",
                                         "-o", self.path("run.elog"))
        process = self.start(harness.program("counter"), str(threads), str(events), "20000")
        most = 0
        while process.poll() is None:
            most = max(most, len(self.threads_of(process)))
        self.finish(process)
        _, errors = self.stop(recording)
        # All workers at once, and the thread that waits for them. A sanitizer may add its own.
        self.assertGreaterEqual(most, threads + 1)
        found = self.check(errors, threads * events)
        self.assertEqual(len(set(found)), len(found))

    def test_fork_storm(self):
        # Each process forks twice at its start, all emit, and most end without cleanup.
        depth, events = 8, 20
        result = self.run_elog(
            "record", "-e", "storm:*", "--buffer-size", "4M", "-o", self.path("run.elog"), "--",
            harness.program("fork_storm"), str(depth), str(events),
        )
        processes = 2 ** (depth + 1) - 1
        self.assertIn(f"processes {processes}\n", result.stdout)
        recorded, _, lost = self.summary(result.stderr)
        self.assertEqual(recorded + lost, processes * events)
        if not harness.IS_SHARED:
            self.assertEqual(lost, 0)
        printed = self.run_elog("print", self.path("run.elog")).stdout
        found = set(re.findall(r" fork_storm-\d+ storm:leaf process=(\d+) number=(\d+)$", printed,
                               re.MULTILINE))
        self.assertEqual(len(found), recorded)
        # The next elog removes the files that they leave.
        self.assertNotIn("fork_storm", self.run_elog("list").stdout)
        self.assert_no_files_left()


if __name__ == "__main__":
    harness.main()
