#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Thousands of providers in one program: registered, listed and listened to, in reasonable time."""

import re
import subprocess
import time

import harness

PROVIDERS = 10000
EVENTS = 10  # of each
# Of those that are started several times.
FEWER = 1000
# What takes a second when it is read once takes minutes when it is read for each provider.
SECONDS = 20


class Multitude(harness.Case):
    def start_multitude(self, providers=FEWER):
        process = self.start(harness.program("multitude"), str(providers), stdin=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), f"published {providers}\n")
        return process

    def emit(self, process):
        process.stdin.write("\n")
        process.stdin.flush()
        return int(process.stdout.readline().removeprefix("attempted "))

    def test_is_listed(self):
        process = self.start_multitude(PROVIDERS)
        start = time.monotonic()
        output = self.run_elog("list").stdout
        self.assertLess(time.monotonic() - start, SECONDS)
        names = re.findall(r"^(many_\d+)\n  processes multitude (\d+)$", output, re.MULTILINE)
        self.assertEqual(names, [(f"many_{i:05}", str(process.pid)) for i in range(PROVIDERS)])
        self.assertEqual(
            len(re.findall(r"^  said_\d ", output, re.MULTILINE)), EVENTS * PROVIDERS
        )

    def test_is_heard_by_who_was_there_first(self):
        recording = self.start_recording("-e", "many_*:*", "-o", self.path("run.elog"), "--wait")
        self.check_recording(self.start_multitude(PROVIDERS), recording, PROVIDERS)

    def test_is_heard_by_who_comes_later(self):
        process = self.start_multitude()
        start = time.monotonic()
        recording = self.start_recording("-e", "many_*:*", "-o", self.path("run.elog"))
        attempted = [0]
        while attempted[-1] < EVENTS * FEWER:
            attempted.append(self.emit(process))
            self.assertLess(time.monotonic() - start, SECONDS)
        self.check_recording(process, recording, FEWER, sum(attempted))

    def check_recording(self, process, recording, providers, attempted=0):
        now = self.emit(process)
        self.assertEqual(now, EVENTS * providers)
        attempted += now
        self.finish(process)
        _, errors = self.stop(recording)
        self.assertEqual(self.summary(errors)[::2], (attempted, 0))
        said = re.findall(
            r" many_(\d+):said_(\d) provider=(\d+) event=(\d)$",
            self.run_elog("print", self.path("run.elog")).stdout, re.MULTILINE,
        )
        self.assertEqual(len(said), attempted)
        for named_provider, named_event, provider, event in said:
            self.assertEqual((int(named_provider), named_event), (int(provider), event))
        self.assertEqual(len(set(said)), EVENTS * providers)
        self.assert_nothing_left()

    def test_does_not_make_the_process_slow_whose_turn_it_is_to_look_for_the_dead(self):
        # One process in sixteen does, told by its number: the next one, unless others start some.
        number = 0
        while number % 16 != 0 or number == 0:
            while number % 16 != 15:
                other = self.start("true")
                other.communicate()
                number = other.pid
            start = time.monotonic()
            process = self.start_multitude()
            seconds = time.monotonic() - start
            self.finish(process)
            number = process.pid
        self.assertLess(seconds, SECONDS)


if __name__ == "__main__":
    harness.main()
