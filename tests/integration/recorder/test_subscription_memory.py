#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A subscription uses the requested memory. The shared ring gets memory when a program needs it."""

import json
import os
import unittest

import harness

RING = 4 << 20  # a CPU's buffers by default


@unittest.skipUnless(harness.IS_SHARED_RING_LAZY, "the shared ring is reserved at once")
class SubscriptionMemory(harness.Case):
    def setUp(self):
        super().setUp()
        self.asked = RING * os.sysconf("SC_NPROCESSORS_ONLN")
        self.start_flight("--buffer-size", "1M")

    def start_flight(self, *options):
        self.run_elog("flight", "start", "flight", "-e", "counter:*", *options)

    def allocated_bytes(self):
        path = os.path.join(self.directory, "subscriptions", "00")
        return os.stat(path).st_blocks * 512

    def emit(self, rseq):
        """Runs a program to its end, and returns the number of events in the subscription."""
        environment = {**self.environment, "EVENTLOG_RSEQ": rseq}
        program = self.start(harness.program("counter"), "1", "1000", env=environment)
        self.finish(program)
        events, _, lost = self.summary(self.run_elog("flight", "snapshot", "flight").stderr)
        self.assertEqual(lost, 0)
        return events

    def assert_allocated(self, bytes_at_least):
        self.assertGreaterEqual(self.allocated_bytes(), bytes_at_least)
        self.assertLessEqual(self.allocated_bytes(), bytes_at_least + self.asked // 20)

    def test_equals_requested_size(self):
        self.assert_allocated(self.asked)
        # Reading allocates no memory.
        self.run_elog("flight", "status")
        self.run_elog("flight", "snapshot", "flight")
        self.assert_allocated(self.asked)

    def test_has_requested_number_of_buffers(self):
        for number, size in (("2", "1M"), ("16", "128K"), ("64", "128K")):
            self.run_elog("flight", "stop", "flight", "--discard")
            self.start_flight("--buffer-size", f"{number}x{size}")
            bytes_of_one = {"1M": 1 << 20, "128K": 128 << 10}[size]
            self.asked = int(number) * bytes_of_one * os.sysconf("SC_NPROCESSORS_ONLN")
            self.assert_allocated(self.asked)
            self.assertEqual(self.emit("on"), 1000)

    @unittest.skipIf(harness.IS_SHARED, "all threads write to the shared ring")
    def test_does_not_grow_with_rseq_programs(self):
        features = json.loads(self.run_elog("features", "--json").stdout)["checks"]
        if {each["name"]: each["state"] for each in features}["rseq"] != "yes":
            self.skipTest("there are no restartable sequences here")
        self.assertEqual(self.emit("on"), 1000)
        self.assert_allocated(self.asked)

    def test_grows_by_one_ring_for_program_without_rseq(self):
        self.assertEqual(self.emit("off"), 1000)
        self.assert_allocated(self.asked + RING)


if __name__ == "__main__":
    harness.main()
