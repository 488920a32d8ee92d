#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Ctrl-C and similar signals end a recording properly."""

import os
import signal

import harness


class StopSignals(harness.Case):
    def check(self, with_signal):
        # Of a second thread, events would be lost while the first one attaches.
        self.start_provider(harness.program("counter"), "1", "0", "100")
        recording = self.start_recording("-e", "counter:*", "-o", self.path("run.elog"))
        file = self.path("run.elog")
        self.wait_for(lambda: os.path.exists(file), "the file")
        self.wait_for(lambda: "count" in self.run_elog("print", file).stdout, "events")
        _, errors = self.stop(recording, with_signal)
        events, size, lost = self.summary(errors)
        self.assertGreater(events, 0)
        self.assertGreater(size, 0)
        self.assertEqual(lost, 0)
        result = self.run_elog("print", self.path("run.elog"))
        self.assertEqual(len(result.stdout.splitlines()), events)
        self.assertEqual(result.stderr, "")
        self.assertEqual(self.names("subscriptions"), [])

    def test_interrupt(self):
        self.check(signal.SIGINT)

    def test_terminate(self):
        self.check(signal.SIGTERM)

    def test_hang_up(self):
        # Under nohup the tests, and their children, ignore the signal.
        before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
        self.addCleanup(signal.signal, signal.SIGHUP, before)
        self.check(signal.SIGHUP)


if __name__ == "__main__":
    harness.main()
