#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The library does not change what a program's handlers of synchronous signals do, also while it
holds a lock.
"""

import os
import re
import subprocess
import unittest

import harness

STEP = re.compile(r"host_traps:step number=(\d+)$", re.MULTILINE)
TRAPPED = re.compile(r"host_traps:trapped process=(\d+)$", re.MULTILINE)


@unittest.skipUnless(os.uname().machine in ("x86_64", "aarch64"), "registers are not known")
class Traps(harness.Case):
    def run_trapped(self, deed, status=0):
        """Attaches a listener to a program that handles SIGSYS instead of a call of the library.
        Returns its output, and the text of the recording."""
        program = self.start_provider(harness.program("host_traps"), deed, stdin=subprocess.PIPE)
        recording = self.start_recording("-e", "host_traps:*", "-o", self.path("run.elog"))
        self.expect(program, status)
        output, errors = program.communicate("go\n", timeout=harness.TIMEOUT)
        self.assertEqual(program.returncode, status, output + errors)
        self.stop(recording)
        return output, self.run_elog("print", self.path("run.elog")).stdout

    def test_handler_runs_while_library_attaches(self):
        output, text = self.run_trapped("none")
        self.assertRegex(output, r"calls [1-9]")
        self.assertEqual(STEP.findall(text), [str(i) for i in range(10)])


if __name__ == "__main__":
    harness.main()
