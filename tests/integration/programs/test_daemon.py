#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A daemon that closes all descriptors but its own continues to emit, to later listeners as
well.
"""

import subprocess

import harness


class Daemon(harness.Case):
    def setUp(self):
        super().setUp()
        self.emitted = 0

    def start_hermit(self):
        return self.start(harness.program("daemonized"), self.path("log"), stdin=subprocess.PIPE)

    def emit(self, process, count):
        self.emitted += count
        process.stdin.write("\n" * count)
        process.stdin.flush()
        self.wait_for(lambda: self.log().endswith(f"emitted {self.emitted}\n"), "the daemon")

    def log(self):
        try:
            with open(self.path("log"), encoding="utf-8") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def check(self, recording, first, last):
        """Three descriptors at each step: the library keeps none."""
        _, errors = self.stop(recording)
        self.assertEqual(self.summary(errors)[::2], (last - first + 1, 0))
        text = self.run_elog("print", self.path("run.elog")).stdout
        self.assertEqual(
            [line.partition(" hermit:thought ")[2] for line in text.splitlines()],
            [f"number={number} descriptors=3" for number in range(first, last + 1)],
        )

    def record(self, *options):
        return self.start_recording("-e", "hermit:*", "--force", "-o", self.path("run.elog"),
                                    *options)

    def test_is_recorded_by_earlier_subscription(self):
        recording = self.record("--wait")
        process = self.start_hermit()
        self.emit(process, 5)
        self.check(recording, 0, 5)

    def test_is_recorded_by_each_later_subscription(self):
        process = self.start_hermit()
        self.emit(process, 1)
        for _ in range(3):
            recording = self.record()
            first = self.emitted + 1
            self.emit(process, 10)
            self.check(recording, first, self.emitted)
        self.finish(process)
        self.assert_no_files_left()


if __name__ == "__main__":
    harness.main()
