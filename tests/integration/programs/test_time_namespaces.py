#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs and recorders in different time namespaces, as containers have that were restored: times,
their order, losses and living processes are right, whatever each namespace's clocks say."""

import json
import os
import re
import subprocess
import time
import unittest

import harness

# Offsets of CLOCK_MONOTONIC and CLOCK_BOOTTIME in seconds: the container was restored on a machine that
# has run for a shorter time, or for a longer one.
LATER = ("--monotonic", "100000", "--boottime", "200000")
EARLIER = ("--monotonic", "-600", "--boottime", "-500")
COUNTER = harness.program("counter")
TOLERANCE = 1_000_000_000


def find_skip_reason():
    """unshare(1) needs root, or a user namespace, and a kernel with time namespaces."""
    if not os.path.exists("/proc/self/timens_offsets"):
        return "this kernel has no time namespaces"
    tried = subprocess.run(["unshare", "--time", *LATER, "true"], capture_output=True,
                           encoding="utf-8", check=False)
    return None if tried.returncode == 0 else f"no time namespace here: {tried.stderr.strip()}"


SKIP_REASON = find_skip_reason()


HOLDERS = {}


def inside(offsets, *command):
    """The words that run a command in the namespace with these offsets, or in that of the test. Some
    kernels move only children to a new namespace, so another process keeps it, and the command joins."""
    if offsets is None:
        return list(command)
    if offsets not in HOLDERS:
        holder = subprocess.Popen(["unshare", "--time", *offsets, "--", "sh", "-c", "echo; exec cat"],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        holder.stdout.readline()
        HOLDERS[offsets] = holder
    return ["nsenter", f"--time=/proc/{HOLDERS[offsets].pid}/ns/time_for_children", "--", *command]


def tearDownModule():
    for holder in HOLDERS.values():
        holder.communicate()


@unittest.skipIf(SKIP_REASON is not None, SKIP_REASON)
class TimeNamespaces(harness.Case):
    """By the best clock of this machine."""

    def setUp(self):
        super().setUp()
        with open("/proc/uptime", encoding="ascii") as file:
            uptime = float(file.read().split()[0])
        # A clock may not be negative.
        self.namespaces = [LATER] + ([EARLIER] if uptime > 1000 else [])

    def events(self, path, *options):
        lines = self.run_elog("convert", path, "--to", "jsonl", *options).stdout.splitlines()
        return [each for each in map(json.loads, lines) if "fields" in each]

    def run_counters(self, *places):
        """Runs a program in each of these places, one after the other; returns the times between
        which each has emitted."""
        bounds = []
        for number, offsets in enumerate(places, 1):
            begin = time.time_ns()
            self.finish(self.start(*inside(offsets, COUNTER, "1", str(100 * number))))
            bounds.append((begin, time.time_ns()))
        return bounds

    def check_recording(self, path, bounds, *options):
        """Requires all events of the programs, in the order in which they ran, at these times."""
        found = self.events(path, *options)
        order = [each["fields"]["number"] for each in found]
        self.assertEqual(order, [number for count, _ in enumerate(bounds, 1)
                                 for number in range(100 * count)])
        at = 0
        for count, (begin, end) in enumerate(bounds, 1):
            for each in found[at:at + 100 * count]:
                moment = harness.nanoseconds(each["time"])
                self.assertGreater(moment, begin - TOLERANCE)
                self.assertLess(moment, end + TOLERANCE)
            at += 100 * count
        shown = [int(number) for number in re.findall(r"number=(\d+)", self.run_elog(
            "print", path).stdout)]
        self.assertEqual(shown, order)
        self.assertIn(": whole: ", self.run_elog("verify", path).stdout)

    def record(self, offsets, *places):
        """Records programs of several places by a recorder of another one."""
        path = self.path("run.elog")
        recorder = self.start(*inside(offsets, harness.ELOG, "record", "-e", "counter:*", "--wait",
                                      "--force", "-o", path))
        self.wait_for(lambda: self.names("subscriptions", may_be_missing=True) and
                      os.path.exists(path) and os.path.getsize(path) > 0, "a subscription")
        bounds = self.run_counters(*places)
        _, errors = self.stop(recorder)
        self.assertEqual(self.summary(errors)[::2], (sum(100 * count for count, _ in
                                                         enumerate(bounds, 1)), 0))
        self.assertNotIn("damaged", errors)
        self.check_recording(path, bounds)
        return path, bounds

    def test_program_in_another_namespace(self):
        for offsets in self.namespaces:
            self.record(None, offsets, None, offsets)

    def test_recorder_in_another_namespace(self):
        for offsets in self.namespaces:
            self.record(offsets, None, offsets)

    def test_monotonic_times_are_those_of_the_machine(self):
        """So recordings of several namespaces can be compared, also with those of the kernel."""
        path = self.path("run.elog")
        for clock in ("monotonic", "boottime"):
            for recorder in (None, LATER):
                begin = time.clock_gettime(getattr(time, f"CLOCK_{clock.upper()}"))
                self.run_elog_in(recorder, "record", "--force", "-o", path, "--",
                                 *inside(LATER, COUNTER, "1", "10"))
                end = time.clock_gettime(getattr(time, f"CLOCK_{clock.upper()}"))
                for each in self.events(path, "--clock", clock):
                    self.assertTrue(begin - 1 < float(each["time"]) < end + 1, each)

    def run_elog_in(self, offsets, *arguments):
        return self.finish(self.start(*inside(offsets, harness.ELOG, *arguments)))

    def test_recorded_command(self):
        """The processes of a command are found by their start times."""
        path = self.path("run.elog")
        for recorder, command in ((None, LATER), (LATER, None), (LATER, LATER)):
            _, errors = self.run_elog_in(recorder, "record", "--force", "-o", path, "--", "sh", "-c",
                                         'true; "$@"; true', "sh",
                                         *inside(command, COUNTER, "1", "100"))
            self.assertEqual(self.summary(errors)[::2], (100, 0))

    def test_flight_recorder_of_another_namespace(self):
        for owner, reader in ((None, LATER), (LATER, None), (LATER, LATER)):
            self.run_elog_in(owner, "flight", "start", "box", "-e", "counter:*")
            bounds = self.run_counters(LATER, None)
            path = self.path("box.elog")
            _, errors = self.run_elog_in(reader, "flight", "stop", "box", "--force", "-o", path)
            self.assertEqual(self.summary(errors)[::2], (300, 0))
            self.check_recording(path, bounds)

    def test_losses_are_exact(self):
        """A count is believed if it is possible since the region began, by the clock of the reader."""
        for owner, reader in ((None, LATER), (LATER, None), (None, None)):
            for mode in ((), ("--keep-first",)):
                self.run_elog_in(owner, "flight", "start", "box", "-e", "counter:*",
                                 "--buffer-size", "128K", *mode)
                self.finish(self.start(*inside(LATER, COUNTER, "1", "300000")))
                _, errors = self.run_elog_in(reader, "flight", "stop", "box", "--force", "-o",
                                             self.path("box.elog"))
                shown = self.run_elog("stat", self.path("box.elog"), "--json").stdout
                found = json.loads(shown)
                self.assertNotIn("impossible", errors)
                self.assertEqual(self.attempted(found), 300000, errors)

    @staticmethod
    def attempted(found):
        return found["events"] + found["lost"] + found["overwritten"]

    def test_processes_are_alive(self):
        """Start times of the kernel differ as well: a living program is not removed."""
        for program, reader in ((LATER, None), (None, LATER), (LATER, LATER)):
            process = self.start_provider(*inside(program, COUNTER, "1", "0", "1000"))
            output, _ = self.run_elog_in(reader, "list", "--json")
            (provider,) = json.loads(output)["providers"]
            self.assertEqual([each["pid"] for each in provider["processes"]], [process.pid])
            self.assertTrue(self.names("processes"))
            process.kill()
            process.wait()
            self.run_elog_in(reader, "list", "--json")
            self.assertEqual(self.names("processes"), [])

    def test_custom_clock(self):
        """The program relates its clock to CLOCK_MONOTONIC itself."""
        path = self.path("run.elog")
        begin = time.time_ns()
        self.run_elog_in(None, "record", "--force", "-e", "simulation", "-o", path, "--",
                         *inside(LATER, harness.program("custom_clock")))
        times = {each["fields"]["number"]: harness.nanoseconds(each["time"])
                 for each in self.events(path)}
        self.assertTrue(begin - TOLERANCE < times[0] < time.time_ns() + TOLERANCE, times)
        self.assertAlmostEqual(times[1] - times[0], 60 * 10**9, delta=TOLERANCE)


class WithoutCounter(TimeNamespaces):
    """By CLOCK_MONOTONIC, as if the processor had no counter that the kernel trusts."""

    def setUp(self):
        super().setUp()
        self.environment["EVENTLOG_TSC"] = "off"


if __name__ == "__main__":
    harness.main()
