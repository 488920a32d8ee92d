#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The largest events that ftrace and perf accept, by the kernel's limits, and the library's limit."""

import re

import vm_case

# The common header, which the kernel writes in front of each payload.
HEADER = 8
# A page of ftrace has 4096 bytes: 16 for its header, and 8 for a record's header.
FTRACE = 4096 - 16 - 8 - HEADER
# perf's own buffer, in words of 8 bytes.
PERF = 8192 - HEADER
# The library's limit is that of kernels with a time stamp of 8 bytes in front of each record, which also
# keep 8 bytes free, although these kernels have none. The enable bit does not name the listener.
LIBRARY = min(FTRACE - 16, PERF)


class Limits(vm_case.Case):
    """One guest, in which a program tries all sizes."""

    KERNEL = "user-events-6.12"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        program = vm_case.built("PROGRAMS", "user_events_limits")
        cls.result = cls.run_guest(
            vm_case.kernel_or_skip(cls.KERNEL), [program], files={program: program}
        )

    def limit(self, name):
        found = re.search(rf"^{name} (\d+)$", self.result.output, re.MULTILINE)
        self.assertIsNotNone(found, self.result.output)
        return int(found[1])

    def test_are_found(self):
        self.assertTrue(self.result.complete, self.result.kernel_log())
        self.assertEqual(self.result.status, 0, self.result.output)

    def test_of_ftrace_is_its_page(self):
        self.assertEqual(self.limit("ftrace"), FTRACE)

    def test_of_perf_is_its_buffer(self):
        self.assertEqual(self.limit("perf"), PERF)

    def test_of_the_library_works_with_both_tools_on_every_kernel(self):
        self.assertEqual(self.limit("library"), LIBRARY)

    def test_of_perf_exceeded_makes_the_kernel_complain(self):
        warning, trace = self.result.splats
        self.assertRegex(warning, r"WARNING: .* perf_trace_buf_alloc\+")
        self.assertIn("Call Trace:", trace)
        self.assertIn("perf buffer not large enough", self.result.kernel_log())


@vm_case.full_tier
class LimitsWithPage(Limits):
    """The tests before Linux 6.4."""

    KERNEL = "status-page-6.1"


if __name__ == "__main__":
    vm_case.main()
