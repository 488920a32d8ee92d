#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Thousands of providers in one program are registered, listed and recorded in reasonable time."""

import os
import re
import resource
import subprocess

import harness

PROVIDERS = harness.trials(4000, 10000)
EVENTS = 10  # of each provider
# For programs that are started several times.
FEWER = 1000
# Processor time. Reading takes a second if done once, and minutes if done for each provider.
SECONDS = 20


class Multitude(harness.Case):
    def processor_time(self, process):
        """Processor time of a running process, in seconds."""
        with open(f"/proc/{process.pid}/stat", encoding="utf-8") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @staticmethod
    def ended_time():
        """Processor time of all awaited children, in seconds."""
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    def start_multitude(self, providers=FEWER):
        process = self.start(harness.program("many_providers"), str(providers), stdin=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), f"published {providers}\n")
        return process

    def emit(self, process):
        process.stdin.write("\n")
        process.stdin.flush()
        return int(process.stdout.readline().removeprefix("attempted "))

    def test_is_listed(self):
        fewer = self.start_multitude()
        few = self.bytes_read_by("list")
        self.finish(fewer)
        process = self.start_multitude(PROVIDERS)
        before = self.ended_time()
        output = self.run_elog("list").stdout
        self.assertLess(self.ended_time() - before, SECONDS)
        # Proportional to the providers, not to their square.
        self.assertLess(self.bytes_read_by("list"), 2 * PROVIDERS // FEWER * few)
        names = re.findall(r"^(many_\d+)\n  processes many_providers (\d+)$", output, re.MULTILINE)
        self.assertEqual(names, [(f"many_{i:05}", str(process.pid)) for i in range(PROVIDERS)])
        self.assertEqual(
            len(re.findall(r"^  said_\d ", output, re.MULTILINE)), EVENTS * PROVIDERS
        )

    def test_is_recorded_by_earlier_subscription(self):
        recording = self.start_recording("-e", "many_*:*", "-o", self.path("run.elog"), "--wait")
        self.check_recording(self.start_multitude(PROVIDERS), recording, PROVIDERS)

    def test_is_recorded_by_later_subscription(self):
        process = self.start_multitude()
        recording = self.start_recording("-e", "many_*:*", "-o", self.path("run.elog"))
        attempted = [0]
        while attempted[-1] < EVENTS * FEWER:
            attempted.append(self.emit(process))
            self.assertLess(self.processor_time(recording), SECONDS)
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
        self.assert_no_files_left()

    def test_dead_process_scan_is_fast(self):
        # A process whose pid is a multiple of 16 scans for dead processes: start others until the next
        # pid is one.
        number = 0
        while number % 16 != 0 or number == 0:
            while number % 16 != 15:
                other = self.start("true")
                other.communicate()
                number = other.pid
            process = self.start_multitude()
            seconds = self.processor_time(process)
            self.finish(process)
            number = process.pid
        self.assertLess(seconds, SECONDS)


if __name__ == "__main__":
    harness.main()
