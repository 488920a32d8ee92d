#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A program killed in mid-stream: what it had recorded is there, whole, and nobody else suffers."""

import os
import re
import signal
import time

import harness

FIELDS = re.compile(r" number=(\d+) check=(\d+) worker=(\d+) ")


class KilledWriter(harness.Case):
    def test_leaves_every_committed_record_and_no_torn_one(self):
        # Large buffers and small crowds: nothing is lost, so nothing may be missing in between.
        recording = self.start_recording(
            "-e", "counter:*", "-o", self.path("run.elog"), "--buffer-size", "16M", "--wait"
        )
        survivor = self.start_provider(harness.program("counter"), "2", "0", "200")
        rounds = harness.trials(12, 40)
        for round_number in range(rounds):
            victim = self.start_provider(harness.program("counter"), "3", "0", "20")
            # It maps the subscription for its first event, and writes that and more then.
            self.wait_for(lambda victim=victim: self.is_mapped(victim, "subscriptions"), "a mapping")
            time.sleep(0.005 + round_number * 0.002)
            victim.send_signal(signal.SIGKILL)
            victim.wait()
        self.assertIsNone(survivor.poll())
        _, errors = self.stop(recording)
        events, _, lost = self.summary(errors)
        # In the shared ring of the fallback, a writer waits for another that was killed with the
        # lock, or is kept from going on; not for ever, and what it gives up is counted.
        if os.environ.get("EVENTLOG_RSEQ") != "off":
            self.assertEqual(lost, 0)
        self.assertNotIn("made no sense", errors)

        numbers = {}
        missing = 0
        lines = self.run_elog("print", self.path("run.elog")).stdout.splitlines()
        lines = [line for line in lines if not line.startswith("--")]
        self.assertEqual(len(lines), events)
        for line in lines:
            record = harness.LINE.match(line)
            number, check, worker = map(int, FIELDS.match(record["fields"]).groups())
            self.assertEqual(check, (number + worker) * 0x9E3779B97F4A7C15 % 2**64)
            # From its first event on, without a gap that is not told.
            expected = numbers.get(record["thread"], -1) + 1
            self.assertGreaterEqual(number, expected)
            missing += number - expected
            numbers[record["thread"]] = number
        self.assertLessEqual(missing, lost)
        self.assertGreaterEqual(len(numbers), 2 + rounds)

    def test_does_not_affect_later_events(self):
        for _ in range(5):
            victim = self.start_provider(harness.program("counter"), "3", "0")
            recording = self.start_recording("-e", "counter:*", "-o", self.path("other.elog"),
                                             "--duration", "100ms")
            self.wait_for(lambda victim=victim: self.is_mapped(victim, "subscriptions"), "a mapping")
            victim.send_signal(signal.SIGKILL)
            victim.wait()
            self.finish(recording)
        self.run_elog("list")
        self.assertEqual(self.names("providers"), [])
        result = self.run_elog(
            "record", "-e", "counter:*", "--", harness.program("counter"), "1", "100"
        )
        self.assertEqual(self.summary(result.stderr)[::2], (100, 0))


if __name__ == "__main__":
    harness.main()
