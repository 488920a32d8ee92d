#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random calls of the kernel module on two processors, while one of them is turned off and on and the module
is unloaded in vain. EVENTLOG_TEST_FUZZ_SECONDS is their duration, a few seconds by default."""

import os

import parts
import vm_case

SCRIPT = parts.SHELL + r"""
is_unloaded() { rmmod eventlog 2> /dev/null; [ ! -e /sys/module/eventlog ]; }
insmod /eventlog.ko remove_idle=1 || exit
start_processors
part fuzz "$0" "$1"
part unload wait_until is_unloaded
"""


class Fuzz(parts.Case):
    """One guest, in which all of it happens."""

    KERNEL = "debian-6.12"
    # Also threads in the kernel are preempted.
    PARAMETERS = ("preempt=full",)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        seconds = os.environ.get("EVENTLOG_TEST_FUZZ_SECONDS", vm_case.by_tier("6", "10"))
        kernel = vm_case.kernel_or_skip(cls.KERNEL)
        program = vm_case.built("PROGRAMS", "eventlog_fuzz")
        cls.result = cls.run_successfully(
            kernel,
            ["sh", "-c", SCRIPT, program, seconds],
            files={"/eventlog.ko": vm_case.module_or_skip(kernel), program: program},
            parameters=cls.PARAMETERS,
            processors=2,
            parallel=True,
            time_limit=600 + 3 * int(seconds),
        )

    def test_survives_random_calls_with_cpu_hotplug_and_module_reload(self):
        output = self.part("fuzz")
        print(*output, sep="\n")
        counts = dict(line.split(": ") for line in output if " of " in line)
        for kind in ("processors turned off and on", "not unloaded", "read", "ended"):
            self.assertNotEqual(counts[kind].split()[0], "0")
        refused, attempts = counts["not unloaded"].split(" of ")
        self.assertEqual(refused, attempts)

    def test_leaves_nothing_behind(self):
        self.part("unload")


@vm_case.full_tier
class FuzzUnderDebugging(Fuzz):
    """The tests on a kernel with checkers."""

    KERNEL = "debug-6.12"
    PARAMETERS = ()


if __name__ == "__main__":
    vm_case.main()
