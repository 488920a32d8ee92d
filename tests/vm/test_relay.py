#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Relay channels of the kernel module. What relay does, or did, in the kernel, and the step of
programs/module/eventlog_relay in which ours is seen to (a step begins with the number):

R1 options that cannot be; R2 a file for each processor; R3 no record straddles; R4 read leaves out
padding; R5 the whole is mapped, no part; R6 poll; R7 no sendfile; R8 only what is there is opened,
and stays while it is; R9 discard, with exact losses; R10 overwrite; R12, R13, R22 headers; R14
consuming; R16 what finds no room is counted; R17 what fits nowhere; R18 flush and reset; R19 one
buffer for all; R20 late files; R23 processors that come and go; R24 writing without a channel; R25
numbers. R11 is about relay's own default, which is not used. R15, writing in interrupts, is a unit
test of the kernel's. R21, telling of those that map, no kernel has: see eventlog_relay(4).
"""

import pathlib

import kernel_module
import parts
import vm_case

# Its events come in the midst of what relay does.
NESTED_MODULE = pathlib.Path(__file__).resolve().parent / "nested"

SCRIPT = parts.SHELL + r"""
mount -t debugfs none /sys/kernel/debug 2> /dev/null
insmod /eventlog.ko remove_idle=1 || exit
as() { su -s /bin/sh -c 'exec 3<> /dev/eventlog_relay && echo opened' "$1"; }
part mode stat -c '%a %U %G' /dev/eventlog_relay
part relay "$0"
part held "$0" held
part events "$1"
is_unloaded() { rmmod eventlog 2> /dev/null; [ ! -e /sys/module/eventlog ]; }
part unload wait_until is_unloaded
part left ls -d /sys/kernel/debug/eventlog /dev/eventlog_relay
"""

ITEMS = [number for number in range(1, 26) if number not in (11, 15)]


class Relay(parts.Case):
    """One guest with two processors; what the program has tried is looked at here."""

    KERNEL = "debian-6.12"
    # So much is not tried there.
    WITHOUT = 0

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        kernel = vm_case.kernel_or_skip(cls.KERNEL)
        programs = [vm_case.built("PROGRAMS", f"eventlog_{name}") for name in ("relay", "to_relay")]
        cls.result = cls.run_successfully(
            kernel, ["sh", "-c", SCRIPT, *programs], processors=2,
            files={"/eventlog.ko": vm_case.module_or_skip(kernel),
                   **{program: program for program in programs}},
        )

    def test_passes_abi_steps(self):
        said = self.part("relay")
        self.assertEqual(said[-1], "ok: all relay steps")
        print("\n".join(line for line in said if line.startswith(("read ", "without: "))))
        self.assertEqual(len([line for line in said if line.startswith("without: ")]), self.WITHOUT)

    def test_receives_events_of_subscriptions(self):
        self.assertEqual(self.part("events")[-1], "ok: all channel steps")

    def test_is_root_only_by_default(self):
        self.assertEqual(self.part("mode"), ["660 root root"])

    def test_cannot_be_unloaded_while_a_file_is_open(self):
        self.assertEqual(self.part("held")[-1], "ok: the module stays")

    def test_leaves_nothing_behind(self):
        self.part("unload")
        self.assertEqual(len(self.part("left", status=1)), 2)


@vm_case.full_tier
class RelayBefore64(Relay):
    """The same on an older kernel."""

    KERNEL = "debian-6.1"


@vm_case.full_tier
class RelayUnderDebugging(Relay):
    """The same where the kernel looks after itself."""

    KERNEL = "debug-6.12"
    WITHOUT = 1


class InTheMidst(parts.Case):
    """Events that relay itself leads to, by a tracepoint that older kernels do not have. On one
    processor: then who waits is woken by who writes."""

    KERNEL = "debian-6.12"
    SCRIPT = parts.SHELL + r"""
mount -t debugfs none /sys/kernel/debug 2> /dev/null
insmod /eventlog.ko && insmod /eventlog_nested.ko || exit
part nested "$0" nested
"""

    def test_counts_events_nested_in_a_write(self):
        kernel = vm_case.kernel_or_skip(self.KERNEL)
        module = pathlib.Path(vm_case.module_or_skip(kernel))
        nested = kernel_module.kernel_with_module(kernel, module, NESTED_MODULE) / "eventlog_nested.ko"
        program = vm_case.built("PROGRAMS", "eventlog_to_relay")
        self.result = self.run_successfully(
            kernel, ["sh", "-c", self.SCRIPT, program], processors=1,
            files={"/eventlog.ko": str(module), "/eventlog_nested.ko": str(nested), program: program},
        )
        said = self.part("nested")
        self.assertEqual(said[-1], "ok: no record is within another one")
        print("\n".join(line for line in said if line.startswith("tried ")))


@vm_case.full_tier
class InTheMidstUnderDebugging(InTheMidst):
    """The same where the kernel looks after itself."""

    KERNEL = "debug-6.12"


if __name__ == "__main__":
    vm_case.main()
