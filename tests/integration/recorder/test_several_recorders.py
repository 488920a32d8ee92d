#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Subscriptions do not disturb each other, whenever they and the programs start and end."""

import harness


class SeveralRecorders(harness.Case):
    def test_each_receive_all_selected_events(self):
        first = self.start_recording("-e", "counter:*", "-o", self.path("1.elog"), "--wait")
        second = self.start_recording("-e", "counter:*", "-o", self.path("2.elog"), "--wait")
        other = self.start_recording("-e", "shop:*", "-o", self.path("3.elog"), "--wait")
        self.finish(self.start(harness.program("counter"), "2", "10000"))
        for recording in (first, second):
            _, errors = self.stop(recording)
            events, _, lost = self.summary(errors)
            self.assertEqual(events + lost, 20000)
        _, errors = self.stop(other)
        self.assertEqual(self.summary(errors), (0, 0, 0))

    def test_waiting_record_late_program(self):
        recording = self.start_recording("-e", "counter:*", "-o", self.path("run.elog"), "--wait")
        for _ in range(3):
            self.finish(self.start(harness.program("counter"), "1", "1000"))
        _, errors = self.stop(recording)
        self.assertEqual(self.summary(errors)[::2], (3000, 0))

    def test_starting_and_ending_leave_gate_disabled(self):
        program = self.start_provider(harness.program("counter"), "2", "0", "50")
        for _ in range(10):
            result = self.run_elog("record", "-e", "counter:*", "--duration", "30ms")
            self.summary(result.stderr)
        (provider,) = self.providers_of(program.pid)

        def is_gate_closed():
            return not any(provider.gate(1024))

        # At the next emit, which detaches from the subscription.
        self.wait_for(is_gate_closed, "a closed gate")


if __name__ == "__main__":
    harness.main()
