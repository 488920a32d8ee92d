#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""All unit and integration tests that are one program each pass on a real kernel."""

import re

import vm_case


class Suites(vm_case.Case):
    """GoogleTest's programs, complete."""

    def run_suite(self, name):
        program = vm_case.built("TESTS", name)
        result = self.run_well(
            vm_case.any_kernel(),
            [program, "--gtest_color=no"],
            files={program: program},
            environment={"TZ": "UTC"},
            processors=2,
            memory=2048,
            time_limit=1200,
        )
        found = re.search(r"\[  PASSED  \] (\d+) tests", result.output)
        self.assertIsNotNone(found, result.output)
        self.assertGreater(int(found[1]), 10)
        print(f"{name}: {found[1]} tests in {result.seconds:.0f} s")

    def test_unit(self):
        self.run_suite("unit_tests")

    def test_integration(self):
        self.run_suite("integration_tests")


if __name__ == "__main__":
    vm_case.main()
