#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A program is killed while it emits: its recorded events are complete, and other programs are not
affected.
"""

import json
import os
import re
import signal
import time

import harness

FIELDS = re.compile(r" number=(\d+) check=(\d+) worker=(\d+) ")


class KilledWriter(harness.Case):
    def has_written(self, process):
        listed = json.loads(self.run_elog("list", "--stats", "--json").stdout)
        return any(each["pid"] == process.pid and each["counters"]["written"] > 0
                   for provider in listed["providers"] for each in provider["processes"])

    def test_leaves_every_committed_record_and_no_torn_one(self):
        # Large buffers and few threads: without losses there may be no gap.
        recording = self.start_recording(
            "-e", "counter:*", "-o", self.path("run.elog"), "--buffer-size", "16M", "--wait"
        )
        survivor = self.start_provider(harness.program("counter"), "2", "0", "200")
        rounds = harness.trials(12, 40)
        for round_number in range(rounds):
            victim = self.start_provider(harness.program("counter"), "3", "0", "20")
            # In every other round the program is killed near its attach, perhaps before an event.
            self.wait_for(lambda victim=victim: self.is_mapped(victim, "subscriptions"), "a mapping")
            if round_number % 2 == 0:
                self.wait_for(lambda victim=victim: self.has_written(victim), "an event")
            time.sleep(0.005 + round_number * 0.002)
            victim.send_signal(signal.SIGKILL)
            victim.wait()
        self.assertIsNone(survivor.poll())
        _, errors = self.stop(recording)
        events, _, lost = self.summary(errors)
        # In the fallback's shared ring, a writer waits for a holder of the lock that was killed or
        # does not run. The wait is limited, and events given up are counted.
        if os.environ.get("EVENTLOG_RSEQ") != "off":
            self.assertEqual(lost, 0)
        self.assertNotIn("were damaged", errors)

        numbers = {}
        missing = 0
        lines = self.run_elog("print", self.path("run.elog")).stdout.splitlines()
        lines = [line for line in lines if not line.startswith("--")]
        self.assertEqual(len(lines), events)
        for line in lines:
            record = harness.LINE.match(line)
            number, check, worker = map(int, FIELDS.match(record["fields"]).groups())
            self.assertEqual(check, (number + worker) * 0x9E3779B97F4A7C15 % 2**64)
            # From its first event on, without an uncounted gap.
            expected = numbers.get(record["thread"], -1) + 1
            self.assertGreaterEqual(number, expected)
            missing += number - expected
            numbers[record["thread"]] = number
        self.assertLessEqual(missing, lost)
        self.assertGreaterEqual(len(numbers), 2 + rounds // 2)

    def test_does_not_affect_later_events(self):
        for _ in range(5):
            victim = self.start_provider(harness.program("counter"), "3", "0")
            recording = self.start_recording("-e", "counter:*", "--force", "-o",
                                             self.path("other.elog"), "--duration", "100ms")
            self.wait_for(lambda victim=victim: self.is_mapped(victim, "subscriptions"), "a mapping")
            victim.send_signal(signal.SIGKILL)
            victim.wait()
            self.finish(recording)
        self.run_elog("list")
        self.assertEqual(self.names("processes"), [])
        result = self.run_elog(
            "record", "-e", "counter:*", "--", harness.program("counter"), "1", "100"
        )
        self.assertEqual(self.summary(result.stderr)[::2], (100, 0))


if __name__ == "__main__":
    harness.main()
