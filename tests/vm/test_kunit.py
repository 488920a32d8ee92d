#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The KUnit suites of the kernel module: functions of the module that need no device."""

import re

import vm_case
from paths import HERE

SOURCES = HERE.parent.parent / "kernel" / "eventlog" / "tests"

# KUnit runs only with this option.
RUN = "insmod /kunit.ko enable=1 && insmod /eventlog.ko && rmmod eventlog"


def wanted():
    """The suites in the sources: name to names of cases, in order."""
    suites = {}
    for path in SOURCES.glob("*_kunit.c"):
        text = path.read_text(encoding="utf-8")
        name = re.search(r'struct kunit_suite \w+ = \{\s*\.name = "(\w+)"', text)
        suites[name[1]] = re.findall(r"KUNIT_CASE\w*\((\w+)", text)
    return suites


def passed(log):
    """The suites and cases that passed by KUnit's log, in its form: cases are indented by 4, parameters of a
    case by more."""
    suites, cases = {}, []
    for indent, name in re.findall(r"^\[ *[\d.]+\] (|    )ok \d+ (\w+)$", log, re.MULTILINE):
        if indent:
            cases.append(name)
        else:
            suites[name], cases = cases, []
    return suites


class Units(vm_case.Case):
    """All of them, in the module."""

    KERNEL = "user-events-6.12"

    def test_all_pass(self):
        kernel = vm_case.kernel_or_skip(self.KERNEL)
        result = self.run_successfully(
            kernel, ["sh", "-c", RUN],
            files={"/eventlog.ko": vm_case.module_or_skip(kernel, "CONFIG_EVENTLOG_KUNIT_TEST=y"),
                   "/kunit.ko": str(kernel.modules / "kernel/lib/kunit/kunit.ko")},
        )
        self.assertEqual(passed(result.log), wanted())


@vm_case.full_tier
class UnitsUnderDebugging(Units):
    """The tests on a kernel that checks memory and locks."""

    KERNEL = "debug-6.12"


if __name__ == "__main__":
    vm_case.main()
