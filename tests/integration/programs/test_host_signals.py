#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Signal handlers run, emit, fork and exit, also while the library holds a lock. Cancellation waits
for the end of a callback.
"""

import os
import re
import subprocess
import unittest

import harness

STEP = re.compile(r"host_traps:step number=(\d+)$", re.MULTILINE)
TRAPPED = re.compile(r"host_traps:trapped process=(\d+)$", re.MULTILINE)


def permit_forks_in_handlers(environment):
    """ThreadSanitizer's own fork() allocates memory, which it reports in a signal handler."""
    environment["TSAN_OPTIONS"] = environment.get("TSAN_OPTIONS", "") + ":report_signal_unsafe=0"


@unittest.skipUnless(os.uname().machine in ("x86_64", "aarch64"), "registers are not known")
class Traps(harness.Case):
    def run_trapped(self, deed, status=0, trapped=0):
        """Attaches a listener to a program that handles SIGSYS instead of a call of the library.
        Requires its ten events, and that each of those of its handlers, `trapped` in number, is
        recorded or counted as lost. Returns its output."""
        program = self.start_provider(harness.program("host_traps"), deed, stdin=subprocess.PIPE)
        recording = self.start_recording("-e", "host_traps:*", "-o", self.path("run.elog"))
        self.expect(program, status)
        output, errors = program.communicate("go\n", timeout=harness.TIMEOUT)
        self.assertEqual(program.returncode, status, output + errors)
        _, errors = self.stop(recording)
        recorded, _, lost = self.summary(errors)
        text = self.run_elog("print", self.path("run.elog")).stdout
        steps = 10 if status == 0 else 0
        self.assertEqual(STEP.findall(text), [str(i) for i in range(steps)])
        self.assertEqual(recorded, steps + len(TRAPPED.findall(text)), text)
        if status == 0:
            self.assertEqual(recorded + lost, steps + trapped, text + errors)
        return output

    def test_handler_runs_while_library_attaches(self):
        self.assertRegex(self.run_trapped("none"), r"calls [1-9]")

    def test_handler_emits_while_library_attaches(self):
        self.run_trapped("emit", trapped=1)

    def test_handler_forks_while_library_attaches(self):
        permit_forks_in_handlers(self.environment)
        self.run_trapped("fork", trapped=1)

    def test_crash_handler_emits_and_forks_while_library_attaches(self):
        permit_forks_in_handlers(self.environment)
        self.run_trapped("crash", trapped=2)

    def test_handler_exits_while_library_attaches(self):
        self.run_trapped("exit", status=5)
        # The registry was in use, so the next command removes the file.
        self.run_elog("list")
        self.assert_no_files_left()


class Forks(harness.Case):
    def run_forks(self, case):
        output, _ = self.finish(self.start(harness.program("host_forks"), case))
        self.assertIn("done", output)
        self.run_elog("list")
        self.assert_no_files_left()

    def test_handler_forks_during_fork(self):
        permit_forks_in_handlers(self.environment)
        self.run_forks("in_fork")

    def test_raw_child_exits_while_another_thread_forks(self):
        self.run_forks("raw")

    def test_child_of_fork_before_first_registration_registers(self):
        self.run_forks("first")

    def test_child_of_fork_while_handlers_are_registered_registers(self):
        self.run_forks("handlers")

    def test_handler_forks_while_library_ends(self):
        permit_forks_in_handlers(self.environment)
        self.run_forks("exit")

    def test_child_of_fork_allocates_nothing(self):
        # Leaves a file that a child removes.
        self.start_provider(harness.program("counter"), "1", "0", "1000").kill()
        output, _ = self.finish(self.start(harness.program("fork_allocations")))
        self.assertEqual(output, "done\n")


class Cancellation(harness.Case):
    def test_is_disabled_during_callbacks(self):
        output, _ = self.finish(self.start(harness.program("host_cancellation")))
        self.assertEqual(output, "done\n")
        self.assert_no_files_left()


if __name__ == "__main__":
    harness.main()
