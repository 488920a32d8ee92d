#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The tests of GoogleTest programs that depend on the kernel pass on a real kernel."""

import re

import vm_case


# Restartable sequences, mappings, processes, clocks. What only computes is the same everywhere, and
# slow on a processor that is emulated.
ABOUT_KERNELS = (
    "gate.*:counters.*:*ring*:slots.*:clock.*:process.*:directory.*:mapped_files.*:region.*:"
    "dynamic_provider.*:schema.*:emit_values.*"
)


class Suites(vm_case.Case):
    def run_suite(self, name, tests="*"):
        program = vm_case.built("TESTS", name)
        result = self.run_successfully(
            vm_case.any_kernel(),
            [program, "--gtest_color=no", f"--gtest_filter={tests}"],
            files={program: program},
            environment={"TZ": "UTC", "EVENTLOG_TEST_EMULATED": "1"},
            processors=2,
            memory=2048,
            time_limit=1200,
        )
        found = re.search(r"\[  PASSED  \] (\d+) tests", result.output)
        self.assertIsNotNone(found, result.output)
        self.assertGreater(int(found[1]), 10)
        print(f"{name}: {found[1]} tests in {result.seconds:.0f} s")

    def test_unit(self):
        self.run_suite("unit_tests", ABOUT_KERNELS)

    def test_integration(self):
        self.run_suite("integration_tests")


if __name__ == "__main__":
    vm_case.main()
