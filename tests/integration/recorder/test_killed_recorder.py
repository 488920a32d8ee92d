#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A recorder is killed while it records: its file is valid up to that time, and the next elog
cleans up.
"""

import os
import signal

import harness

class KilledRecorder(harness.Case):
    def gate(self, process):
        """The first gate word of the provider of a process."""
        (provider,) = self.providers_of(process.pid)
        return provider.gate()[0]

    def test_leaves_a_readable_file_and_is_cleaned_up_by_the_next_elog(self):
        program = self.start_provider(harness.program("counter"), "2", "0", "100")
        recording = self.start_recording("-e", "counter:*", "-o", self.path("run.elog"))
        file = self.path("run.elog")
        self.wait_for(lambda: os.path.exists(file), "the file")
        self.wait_for(lambda: "count" in self.run_elog("print", file).stdout, "events")
        recording.send_signal(signal.SIGKILL)
        recording.wait()
        self.assertEqual(self.names("subscriptions"), ["00"])
        self.assertEqual(self.gate(program), 1)

        self.run_elog("list")
        self.assertEqual(self.names("subscriptions"), [])
        # The program's next emit clears the bit that makes it detach.
        self.wait_for(lambda: self.gate(program) == 0, "a closed gate")
        self.assertIsNone(program.poll())
        result = self.run_elog("print", self.path("run.elog"))
        self.assertIn("has no end", result.stderr)
        self.assertIn("counter:count", result.stdout)

        recording = self.start_recording("-e", "counter:*")
        self.assertRegex(recording.stdout.readline(), harness.LINE)
        self.stop(recording)

    def test_is_cleaned_up_by_the_next_application(self):
        recording = self.start_recording("-e", "counter:*", "-o", self.path("run.elog"), "--wait")
        recording.send_signal(signal.SIGKILL)
        recording.wait()
        self.assertEqual(self.names("subscriptions"), ["00"])
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        self.wait_for(lambda: self.names("subscriptions") == [], "the cleaning")

    def test_in_every_slot_does_not_block_the_next(self):
        for slot in range(16):
            recording = self.start_recording(
                "-e", "counter:*", "-o", self.path(f"{slot}.elog"), "--wait", "--buffer-size",
                "128K",
            )
            self.assertEqual(len(self.names("subscriptions")), slot + 1)
        for recording in self.processes:
            recording.send_signal(signal.SIGKILL)
            recording.wait()
        result = self.run_elog(
            "record", "-e", "counter:*", "--", harness.program("counter"), "1", "100"
        )
        self.assertEqual(self.summary(result.stderr)[::2], (100, 0))
        self.assertEqual(self.names("subscriptions"), [])


if __name__ == "__main__":
    harness.main()
