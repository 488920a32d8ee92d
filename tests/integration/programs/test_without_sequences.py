#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Without restartable sequences all threads of all programs write to one ring, under a lock. No
event is lost uncounted there either: with many threads, with programs that are stopped, killed or
fork, and with each clock.
"""

import os
import signal
import time

os.environ["EVENTLOG_RSEQ"] = "off"  # before the harness looks at it

import harness  # noqa: E402
import test_killed_writer  # noqa: E402

CLOCKS = ("auto", "off")  # EVENTLOG_TSC
THREADS = 18


class WithoutSequences(harness.Case):
    def setUp(self):
        super().setUp()
        # The threads of `counter` take turns with EVENTLOG_RSEQ=off. Here they compete for the lock.
        del self.environment["EVENTLOG_RSEQ"]
        self.environment["GLIBC_TUNABLES"] = "glibc.pthread.rseq=0"

    def for_each_clock(self, check):
        for clock in CLOCKS:
            with self.subTest(clock=clock):
                self.environment["EVENTLOG_TSC"] = clock
                check(self.path(f"{clock}.elog"))

    def check_counts(self, path, errors, attempted):
        """Each attempted event is in the file or counted as lost, and none is there twice."""
        recorded, _, lost = self.summary(errors)
        self.assertEqual(recorded + lost, attempted, errors)
        self.assertNotIn("were damaged", errors)
        lines = [line for line in self.run_elog("print", path).stdout.splitlines()
                 if not line.startswith("--")]
        self.assertEqual(len(lines), recorded)
        self.assertEqual(len({line.split("] ")[1] for line in lines}), recorded)

    def test_many_threads(self):
        def check(path):
            result = self.run_elog("record", "-e", "counter:*", "-o", path, "--wait", "--",
                                   harness.program("counter"), str(THREADS), "2000")
            self.assertIn(f"attempted {THREADS * 2000}", result.stdout)
            self.check_counts(path, result.stderr, THREADS * 2000)

        self.for_each_clock(check)

    def test_stopped_programs(self):
        def check(path):
            recording = self.start_recording("-e", "counter:*", "-o", path, "--wait")
            programs = [self.start(harness.program("counter"), str(threads), "1000", "100")
                        for threads in (THREADS, 6)]
            # With the lock or without, at random.
            while any(program.poll() is None for program in programs):
                for program in programs:
                    if program.poll() is None:
                        program.send_signal(signal.SIGSTOP)
                        time.sleep(0.02)
                        program.send_signal(signal.SIGCONT)
                        time.sleep(0.02)
            attempted = sum(int(self.finish(program)[0].split()[1]) for program in programs)
            self.assertEqual(attempted, (THREADS + 6) * 1000)
            _, errors = self.stop(recording)
            self.check_counts(path, errors, attempted)

        self.for_each_clock(check)

    def test_fork_storm(self):
        def check(path):
            depth, events = 6, 20
            result = self.run_elog("record", "-e", "storm:*", "-o", path, "--",
                                   harness.program("fork_storm"), str(depth), str(events))
            processes = 2 ** (depth + 1) - 1
            self.assertIn(f"processes {processes}\n", result.stdout)
            self.check_counts(path, result.stderr, processes * events)

        self.for_each_clock(check)


class KilledWriter(test_killed_writer.KilledWriter):
    """The tests of the other script, without sequences."""


class KilledWriterWithoutCounter(test_killed_writer.KilledWriter):
    """The same with the slower clock."""

    def setUp(self):
        super().setUp()
        self.environment["EVENTLOG_TSC"] = "off"


if __name__ == "__main__":
    harness.main()
