#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No emit takes more than a bounded number of page faults and system calls, also with large buffers
and when it attaches.
"""

import os
import re
import shutil
import subprocess
import unittest

import harness
import host_program


def promised(pattern):
    """A number of the section of eventlog(7) about costs."""
    with open(host_program.PAGE, encoding="utf-8") as file:
        section = file.read().split(".Ss Costs of an emit\n")[1].split("\n.Ss ")[0]
    return int(re.search(pattern, section.replace("\n", " "))[1])


# Of an emit that attaches, and of another one.
CALLS_OF_ATTACH = FAULTS_OF_ATTACH = promised(r"at most (\d+) system calls and page faults")
CALLS = promised(r"receives its event, at most (\d+) system calls")
FAULTS = promised(r"system calls and (\d+) page faults, and one page fault for each page")
RESERVED_AT_ONCE = promised(r"reserves that ring if it has at most (\d+) MiB") << 20
EVENTS = 4000
# More than two buffers in all.
BYTES = 10000
BUFFER = 16 << 20


class EmitCosts(harness.Case):
    def emit(self, *tracer, **environment):
        """Returns what the program prints."""
        self.environment.update(environment)
        program = self.start(*tracer, harness.program("emit_costs"), str(EVENTS), str(BYTES),
                             stdin=subprocess.PIPE)
        self.wait_for(lambda: self.names("processes", may_be_missing=True), "a provider")
        recording = self.start_recording(
            "-e", "emit_costs:*", "--buffer-size", "4x16M", "-o", self.path("run.elog")
        )
        output, errors = program.communicate("go\n", timeout=harness.TIMEOUT)
        self.assertEqual(program.returncode, 0, output + errors)
        self.stop(recording)
        return output

    def check_faults(self, pages_of_a_switch, **environment):
        first, most = re.search(r"faults (\d+) (\d+)", self.emit(**environment)).groups()
        self.assertLessEqual(int(first), FAULTS_OF_ATTACH + pages_of_a_switch)
        # And one for each page that its record touches.
        self.assertLessEqual(int(most), FAULTS + BYTES // 4096 + 2 + pages_of_a_switch)

    def test_page_faults(self):
        self.check_faults(0)

    def test_page_faults_without_restartable_sequences(self):
        self.check_faults(BUFFER // 4096, EVENTLOG_RSEQ="off")

    def emit_to_flight_recorder(self, *tracer, size="4x16M", **environment):
        """Returns the page faults of the attach and the most of another emit, and how much memory
        the recorder has got."""
        self.environment.update(environment)
        program = self.start(*tracer, harness.program("emit_costs"), str(EVENTS), str(BYTES),
                             stdin=subprocess.PIPE)
        self.wait_for(lambda: self.names("processes", may_be_missing=True), "a provider")
        self.run_elog("flight", "start", "flight", "-e", "emit_costs:*", "--buffer-size", size)
        path = os.path.join(self.directory, "subscriptions", "00")
        before = os.stat(path).st_blocks * 512
        output, errors = program.communicate("go\n", timeout=harness.TIMEOUT)
        self.assertEqual(program.returncode, 0, output + errors)
        allocated = os.stat(path).st_blocks * 512 - before
        self.run_elog("flight", "stop", "flight", "--discard")
        first, most = re.search(r"faults (\d+) (\d+)", output).groups()
        return int(first), int(most), allocated

    def test_page_faults_in_flight_recorder(self):
        first, most, allocated = self.emit_to_flight_recorder()
        self.assertLessEqual(first, FAULTS_OF_ATTACH)
        self.assertLessEqual(most, FAULTS + BYTES // 4096 + 2)
        self.assertLess(allocated, BUFFER)

    @unittest.skipUnless(harness.IS_SHARED_RING_LAZY, "the shared ring is reserved at once")
    def test_emit_allocates_each_buffer_of_the_shared_ring_in_flight_recorder(self):
        first, most, allocated = self.emit_to_flight_recorder(EVENTLOG_RSEQ="off")
        pages = BUFFER // 4096
        self.assertLessEqual(first, FAULTS_OF_ATTACH + pages)
        self.assertLessEqual(most, FAULTS + BYTES // 4096 + 2 + pages)
        # The emits have allocated them, not the attach: see the test of a large ring.
        self.assertGreaterEqual(allocated, 3 * BUFFER)

    @unittest.skipUnless(shutil.which("strace"), "there is no strace")
    @unittest.skipUnless(harness.IS_SHARED_RING_LAZY, "the shared ring is reserved at once")
    def test_attach_reserves_shared_ring_where_the_kernel_cannot_populate(self):
        # As before Linux 5.14.
        program = ["strace", "-qq", "-f", "-o", "/dev/null", "-e", "trace=madvise",
                   "-e", "inject=madvise:error=EINVAL"]
        first, most, allocated = self.emit_to_flight_recorder(*program, EVENTLOG_RSEQ="off")
        self.assertLessEqual(first, FAULTS_OF_ATTACH)
        self.assertLessEqual(most, FAULTS + BYTES // 4096 + 2)
        self.assertGreaterEqual(allocated, 4 * BUFFER)

    @unittest.skipUnless(harness.IS_SHARED_RING_LAZY, "the shared ring is reserved at once")
    def test_attach_reserves_a_small_shared_ring(self):
        size = RESERVED_AT_ONCE // 4
        first, most, allocated = self.emit_to_flight_recorder(size=f"4x{size >> 20}M",
                                                              EVENTLOG_RSEQ="off")
        self.assertLessEqual(first, FAULTS_OF_ATTACH)
        self.assertLessEqual(most, FAULTS + BYTES // 4096 + 2)
        self.assertGreaterEqual(allocated, RESERVED_AT_ONCE)

    def check_calls(self, **environment):
        trace = self.path("trace")
        self.emit("strace", "-qq", "-f", "-o", trace, **environment)
        with open(trace, encoding="utf-8", errors="replace") as file:
            names = re.findall(r"^\d+ +(\w+)\(", file.read(), re.MULTILINE)
        counts, number = [], None
        for name in names:
            if name == "getrusage":
                # Before and after an emit, in turn.
                if number is not None:
                    counts.append(number)
                number = 0 if number is None else None
            elif number is not None:
                number += 1
        self.assertEqual(len(counts), EVENTS)
        self.assertGreater(counts[0], 10)  # it has attached
        self.assertLessEqual(counts[0], CALLS_OF_ATTACH)
        self.assertLessEqual(max(counts[1:]), CALLS)

    @unittest.skipUnless(shutil.which("strace"), "there is no strace")
    def test_system_calls(self):
        self.check_calls()

    @unittest.skipUnless(shutil.which("strace"), "there is no strace")
    def test_system_calls_without_restartable_sequences(self):
        self.check_calls(EVENTLOG_RSEQ="off")

    @unittest.skipUnless(harness.IS_SHARED_RING_LAZY, "the shared ring is reserved at once")
    def test_recorder_allocates_next_buffer_of_the_shared_ring(self):
        self.environment["EVENTLOG_RSEQ"] = "off"
        program = self.start_provider(harness.program("emit_costs"), "1", "8",
                                      stdin=subprocess.PIPE)
        recording = self.start_recording(
            "-e", "emit_costs:*", "--buffer-size", "4x16M", "-o", self.path("run.elog")
        )
        path = os.path.join(self.directory, "subscriptions", "00")
        before = os.stat(path).st_blocks * 512
        output, errors = program.communicate("go\n", timeout=harness.TIMEOUT)
        self.assertEqual(program.returncode, 0, output + errors)
        self.wait_for(lambda: os.stat(path).st_blocks * 512 - before >= 2 * BUFFER,
                      "the next buffer")
        self.assertLess(os.stat(path).st_blocks * 512 - before, 3 * BUFFER)
        self.stop(recording)

    @unittest.skipUnless(harness.IS_SHARED_RING_LAZY, "the shared ring is reserved at once")
    def test_attach_does_not_reserve_a_large_shared_ring(self):
        self.environment["EVENTLOG_RSEQ"] = "off"
        self.run_elog("flight", "start", "flight", "-e", "emit_costs:*", "--buffer-size", "4x16M")
        path = os.path.join(self.directory, "subscriptions", "00")
        before = os.stat(path).st_blocks * 512
        program = self.start(harness.program("emit_costs"), "1", "8", stdin=subprocess.PIPE)
        output, errors = program.communicate("go\n", timeout=harness.TIMEOUT)
        self.assertEqual(program.returncode, 0, output + errors)
        self.assertLess(os.stat(path).st_blocks * 512 - before, 20 << 20)
        self.run_elog("flight", "stop", "flight", "--discard")


if __name__ == "__main__":
    harness.main()
