#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A stopped process that holds the directory's lock does not hang other processes."""

import fcntl
import os
import signal
import time

import harness


class LockedDirectory(harness.Case):
    def lock(self):
        """Locks the directory as elog does briefly, or a stopped elog permanently. Close it to
        unlock."""
        folder = os.open(os.path.join(self.directory, "subscriptions"),
                         os.O_RDONLY | os.O_DIRECTORY)
        self.addCleanup(lambda: folder in self.held and os.close(folder))
        fcntl.flock(folder, fcntl.LOCK_EX)
        self.held.add(folder)
        return folder

    def let_go(self, folder):
        self.held.remove(folder)
        os.close(folder)

    def setUp(self):
        super().setUp()
        self.held = set()
        self.run_elog("list")
        self.hello = self.start_provider(harness.example("hello"), "100000")

    def end_impatiently(self, process):
        """Presses Ctrl-C repeatedly until the process ends."""
        def has_ended():
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
            return process.poll() is not None
        begin = time.monotonic()
        self.wait_for(has_ended, "the end")
        # A process that ignores the signal waits 20 s.
        self.assertLess(time.monotonic() - begin, 15)
        return process.communicate()

    def is_in_directory(self, process):
        """Whether the process has opened the directory, which it locks next."""
        try:
            folder = f"/proc/{process.pid}/fd"
            return any(os.readlink(os.path.join(folder, name)).endswith("/subscriptions")
                       for name in os.listdir(folder))
        except FileNotFoundError:
            return False

    def test_is_waited_for(self):
        folder = self.lock()
        waiting = self.start(harness.ELOG, "record", "-e", "hello:*", "-o", self.path("run.elog"))
        self.wait_for(lambda: self.is_in_directory(waiting), "a process that waits for the lock")
        self.assertEqual(self.names("subscriptions"), [])
        self.let_go(folder)
        self.wait_for(lambda: self.is_mapped(waiting, "subscriptions"), "a subscription")
        self.stop(waiting)
        self.assertEqual(self.names("subscriptions"), [])

    def test_is_named_on_timeout(self):
        self.lock()
        waiting = self.start(harness.ELOG, "record", "-e", "hello:*")
        self.wait_for(lambda: self.is_in_directory(waiting), "a process that waits for the lock")
        self.expect(waiting, 1)
        _, errors = self.end_impatiently(waiting)
        self.assertEqual(waiting.returncode, 1)
        self.assert_one_message(errors, f"is locked by process {os.getpid()}, ",
                                 f"kill -CONT {os.getpid()}")

    def test_does_not_prevent_recorder_exit(self):
        recording = self.start_recording("-e", "hello:*", "-o", self.path("run.elog"))
        folder = self.lock()
        _, errors = self.end_impatiently(recording)
        self.assertEqual(recording.returncode, 0, errors)
        self.summary(errors)
        # It could not remove its subscription; the next process does.
        self.assertEqual(len(self.names("subscriptions")), 1)
        self.let_go(folder)
        self.run_elog("list")
        self.assertEqual(self.names("subscriptions"), [])


if __name__ == "__main__":
    harness.main()
