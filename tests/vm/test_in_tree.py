#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""eventlog as a part of the kernel, which the series of patches makes it: it is there without being
loaded, does what the module does, and bears it when there is no memory. user_events, as they are with it."""

import tempfile

import parts
import selftests
import test_kunit
import vm_case

SCRIPT = parts.SHELL + """
part there stat -c '%a %U %G' /dev/eventlog
part rules "$0"
part selftest_eventlog /eventlog
part selftest_user_events /user_events
part limits "$1"
part failures "$2"
"""


class InTree(parts.Case):
    """One guest, whose kernel runs its unit tests when it starts."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        kernel = vm_case.kernel_or_skip("in-tree-6.12")
        folder = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="eventlog-vm-"))
        source = kernel.directory / "build" / "source"
        programs = [vm_case.built("PROGRAMS", f"eventlog_{name}")
                    for name in ("device", "limits", "failures")]
        cls.result = cls.run_well(
            kernel, ["sh", "-c", SCRIPT, *programs],
            files={**{f"/{name}": selftests.build(source, name, folder)
                      for name in selftests.NAMES},
                   **{program: program for program in programs}},
            parameters=("kunit.enable=1",),
        )

    def test_units(self):
        self.assertEqual(test_kunit.passed(self.result.log), test_kunit.wanted())

    def test_is_there_for_root(self):
        self.assertEqual(self.part("there"), ["660 root root"])

    def test_keeps_its_rules(self):
        self.assertEqual(self.part("rules")[-1], "ok: all rules")

    def test_gives_nobody_more_than_is_allowed(self):
        self.assertEqual(self.part("limits")[-1], "ok: all limits")

    def test_passes_its_selftests(self):
        for name in selftests.NAMES:
            self.assertRegex(self.part(f"selftest_{name}")[-1],
                             r"^# Totals: pass:[1-9]\d* fail:0 xfail:0 xpass:0 skip:0 error:0$")

    def test_bears_that_each_allocation_fails(self):
        said = self.part("failures")
        self.assertEqual(said[-1], "ok: all failures")
        print(*(line for line in said if " allocations, " in line), sep="\n")


if __name__ == "__main__":
    vm_case.main()
