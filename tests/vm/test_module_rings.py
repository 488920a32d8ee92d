#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The kernel module's rings on Debian's kernels: a subscription through the device receives whole records
and a count of each lost one, whatever writers, readers and processors do."""

import re

import parts
import vm_case

SCRIPT = parts.SHELL + r"""
is_unloaded() { rmmod eventlog 2> /dev/null; [ ! -e /sys/module/eventlog ]; }
insmod /eventlog.ko remove_idle=1 || exit
start_processors
part listen "$0"
part conserve "$1" "$3"
part poison "$2"
part members "$4" $5
part unload wait_until is_unloaded
"""


class Rings(parts.Case):
    """One guest with two processors; the tests check the parts of the script."""

    KERNEL = "debian-6.12"
    SECONDS = 1
    MEMBERS = "numbers"
    # Also writers in the kernel are preempted. The kernel does not zero memory by itself, which would
    # hide that the module does not.
    PARAMETERS = ("preempt=full", "init_on_alloc=0")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        kernel = vm_case.kernel_or_skip(cls.KERNEL)
        programs = [vm_case.built("PROGRAMS", f"eventlog_{name}") for name in (
            "subscription_steps", "conservation", "poison", "members")]
        cls.result = cls.run_successfully(
            kernel,
            ["sh", "-c", SCRIPT, *programs[:3], str(cls.SECONDS), programs[3], cls.MEMBERS],
            files={"/eventlog.ko": vm_case.module_or_skip(kernel),
                   **{program: program for program in programs}},
            parameters=cls.PARAMETERS,
            processors=2,
            parallel=True,
        )

    def test_delivers_whole_records_to_permitted_readers(self):
        self.assertEqual(self.part("listen")[-1], "ok: all subscription steps")

    def test_counts_each_missing_record(self):
        output = self.part("conserve")
        self.assertEqual(output[-1], "ok: all events are counted")
        self.assertFalse([line for line in output if line.startswith("without: ")])
        counts = [[int(number) for number in re.findall(r"\d+", line)]
                  for line in output if ": attempted " in line]
        self.assertEqual(len(counts), 2)
        for attempted, *found in counts:
            self.assertEqual(sum(found), attempted)

    def test_exposes_no_stale_memory(self):
        self.assertEqual(self.part("poison")[-1], "ok: no earlier contents")

    def test_isolates_group_members(self):
        self.assertEqual(self.part("members")[-1], "ok: all members")

    def test_leaves_nothing_behind(self):
        self.part("unload")


@vm_case.full_tier
class RingsBefore66(Rings):
    """The tests on an older kernel, with slub_debug, which detects uses of foreign memory."""

    KERNEL = "debian-6.1"
    PARAMETERS = ("preempt=full", "init_on_alloc=0", "slub_debug=FZP")


@vm_case.full_tier
class RingsUnderDebugging(Rings):
    """The tests on a kernel with checkers."""

    KERNEL = "debug-6.12"
    PARAMETERS = ()
    MEMBERS = ""


class Patterns(parts.Case):
    """Tests on a kernel without preemption."""

    SCRIPT = parts.SHELL + r"""
insmod /eventlog.ko || exit
part patterns "$0"
"""

    def test_reschedules_during_pattern_matching(self):
        kernel = vm_case.kernel_or_skip("debian-6.12")
        program = vm_case.built("PROGRAMS", "eventlog_patterns")
        self.result = self.run_successfully(
            kernel,
            ["sh", "-c", self.SCRIPT, program],
            files={"/eventlog.ko": vm_case.module_or_skip(kernel), program: program},
            parameters=("preempt=voluntary",),
        )
        self.assertEqual(self.part("patterns")[-1], "ok: all patterns")


if __name__ == "__main__":
    vm_case.main()
