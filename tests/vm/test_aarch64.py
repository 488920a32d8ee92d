#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The writer of aarch64 on a kernel of aarch64 with restartable sequences.

Runs the programs that tests/aarch64/run.py has built in the folder AARCH64.
"""

import os
import re
import unittest

import vm_case


class Writer(vm_case.Case):
    """One guest with two processors, in which all of the tests run."""

    @classmethod
    def setUpClass(cls):
        program = vm_case.built("AARCH64", "aarch64_tests")
        if not os.path.exists(program):
            raise unittest.SkipTest("there is no aarch64-linux-gnu-g++. `./dev setup` installs it.")
        kernel = vm_case.kernel_or_skip("debian-6.1-arm64")
        cls.result = cls.run_successfully(kernel, ["/aarch64_tests"], files={"/aarch64_tests": program},
                                           environment={"EVENTLOG_TEST_EMULATED": "1"}, processors=2,
                                           time_limit=2400)
        print(cls.result.output)

    def test_no_test_is_skipped_for_lack_of_rseq(self):
        self.assertNotIn("SKIPPED", self.result.output)
        self.assertRegex(self.result.output, r"PASSED +\] [1-9]\d* tests")

    def test_sequences_ran_on_both_cpus_and_restarted(self):
        counts = re.search(r"CPU 0 (\d+), CPU 1 (\d+), by lock (\d+)", self.result.output)
        self.assertGreater(min(int(counts[1]), int(counts[2])), int(counts[3]))
        aborted = re.search(r"^(\d+) of \d+ signals interrupted a sequence", self.result.output,
                            re.MULTILINE)
        self.assertGreater(int(aborted[1]), 0)


if __name__ == "__main__":
    vm_case.main()
