#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The kernels built for it offer user_events, each in its ABI; Debian's do not."""

import vm_case


class UserEvents(vm_case.Case):
    """A small C program for each ABI follows an event through its life."""

    def follow(self, kernel_name, program_name):
        program = vm_case.built("PROGRAMS", program_name)
        result = self.run_successfully(
            vm_case.kernel_or_skip(kernel_name), [program], files={program: program},
            processors=2,
        )
        self.assertNotIn("WRONG", result.output)
        self.assertIn("ok: the trace has it", result.output)

    def test_address(self):
        self.follow("user-events-6.12", "user_events_address")

    @vm_case.full_tier
    def test_address_under_debugging(self):
        self.follow("debug-6.12", "user_events_address")

    @vm_case.full_tier
    def test_status_page(self):
        self.follow("status-page-6.1", "user_events_status_page")

    def test_none_in_debians_kernel(self):
        result = self.run_successfully(
            vm_case.kernel_or_skip("debian-6.12"),
            ["sh", "-c", "ls /sys/kernel/tracing"],
        )
        self.assertIn("trace_pipe", result.output)
        self.assertNotIn("user_events_data", result.output)


if __name__ == "__main__":
    vm_case.main()
