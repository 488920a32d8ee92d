#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Relay channels of the kernel module. The properties of relay in the kernel, present or former; the steps of
programs/module/eventlog_relay that test them begin with the number:

R1 invalid options; R2 a file per processor; R3 no record in two sub-buffers; R4 read omits padding; R5 only
the whole buffer can be mapped; R6 poll; R7 no sendfile; R8 files of a channel exist with it, and stay usable
while open; R9 discard mode with exact losses; R10 overwrite mode; R12, R13, R22 headers; R14 consuming; R16
records without room are counted; R17 records larger than a sub-buffer; R18 flush and reset; R19 one buffer
for all processors; R20 late files; R21 counted mappings; R23 processors that are turned off and on; R24
writing without a channel; R25 counts. R11 is relay's default mode, which is not used. R15, writing in
interrupts, is a unit test of the kernel. The sample eventlog_channel is a client in the kernel.
"""

import pathlib

import kernel_module
import parts
import vm_case

# A module that emits events within relay, and one that is built as in a kernel without eventlog.
NESTED_MODULE = pathlib.Path(__file__).resolve().parent / "nested"
STUBS_MODULE = pathlib.Path(__file__).resolve().parent / "stubs"

SCRIPT = parts.SHELL + r"""
mount -t debugfs none /sys/kernel/debug 2> /dev/null
part stubs insmod /eventlog_stubs.ko
insmod /eventlog.ko remove_idle=1 || exit
as() { su -s /bin/sh -c 'exec 3<> /dev/eventlog_relay && echo opened' "$1"; }
part mode stat -c '%a %U %G' /dev/eventlog_relay
part relay "$0"
part held "$0" held
part events "$1"
client() {
    files=/sys/kernel/debug/eventlog/jiffies parameters=/sys/module/eventlog_channel/parameters
    insmod /eventlog_channel.ko || return
    has_written() { [ "$(cat $parameters/written)" -ge "$1" ]; }
    wait_until has_written 50
    echo "hidden: $(ls $files | tr '\n' ' ')"
    command() { echo "$1" > $parameters/command; }
    command create_files && echo "late: $(ls $files | tr '\n' ' ')"
    command create_files 2> /dev/null || echo "only once"
    sum() {
        awk -v name="$1" '{for (i = 2; i < NF; i += 2) if ($i == name) sum += $(i + 1)} END {print sum}' \
            $files/stats
    }
    wait_until has_written 100
    command flush && echo "flushed: $([ "$(sum produced)" -ge 1 ] && echo yes)"
    command "consumed 0 1" && command "consumed 1 1" || return
    echo "consumed: $([ "$(sum consumed)" -ge 1 ] && echo yes)"
    command "consumed 9 1" 2> /dev/null || echo "consumed needs a CPU"
    command "mark absent" 2> /dev/null || echo "no other channel"
    command "mark jiffies" && command flush || return
    cat $files/cpu0 $files/cpu1 | grep -q "a mark" && echo "marked"
    command reset && echo "reset: $([ "$(sum recorded)" -ge 100 ] && echo yes) $(sum consumed)"
    echo "discarded: $([ "$(cat $parameters/discarded)" -ge 9 ] && echo yes)"
    rmmod eventlog_channel && [ ! -e $files ] && echo "closed"
    insmod /eventlog_channel.ko name=bad/name && sleep 1
    echo "without a channel: $(cat $parameters/written)"
    command flush 2> /dev/null || echo "no flush"
    rmmod eventlog_channel
}
is_unloaded() { rmmod eventlog 2> /dev/null; [ ! -e /sys/module/eventlog ]; }
part client client
part unload wait_until is_unloaded
part left ls -d /sys/kernel/debug/eventlog /dev/eventlog_relay
"""


class Relay(parts.Case):
    """One guest with two processors; the tests check the program's steps."""

    KERNEL = "debian-6.12"
    # The number of steps that this kernel does not support.
    WITHOUT = 0

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        kernel = vm_case.kernel_or_skip(cls.KERNEL)
        module = vm_case.module_or_skip(kernel)
        stubs = kernel_module.kernel_with_module(kernel, pathlib.Path(module), STUBS_MODULE)
        programs = [vm_case.built("PROGRAMS", f"eventlog_{name}") for name in ("relay", "to_relay")]
        cls.result = cls.run_successfully(
            kernel, ["sh", "-c", SCRIPT, *programs], processors=2,
            files={"/eventlog.ko": module,
                   "/eventlog_stubs.ko": str(stubs / "eventlog_stubs.ko"),
                   "/eventlog_channel.ko":
                       str(kernel_module.sample_of_module(module, "eventlog_channel.ko")),
                   **{program: program for program in programs}},
        )

    def test_clients_load_in_a_kernel_without_eventlog(self):
        self.part("stubs", status=0)

    def test_supports_clients_in_the_kernel(self):
        self.assertEqual(self.part("client"), [
            "hidden: control stats ", "late: control cpu0 cpu1 stats ", "only once",
            "flushed: yes", "consumed: yes", "consumed needs a CPU",
            "no other channel", "marked", "reset: yes 0", "discarded: yes", "closed",
            "without a channel: 0", "no flush",
        ])

    def test_passes_abi_steps(self):
        output = self.part("relay")
        self.assertEqual(output[-1], "ok: all relay steps")
        print("\n".join(line for line in output if line.startswith(("read ", "without: "))))
        self.assertEqual(len([line for line in output if line.startswith("without: ")]), self.WITHOUT)

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
    """The tests on an older kernel."""

    KERNEL = "debian-6.1"


@vm_case.full_tier
class RelayUnderDebugging(Relay):
    """The tests on a kernel with checkers."""

    KERNEL = "debug-6.12"
    WITHOUT = 1


class NestedEvents(parts.Case):
    """Events that relay itself causes, by a tracepoint that older kernels lack. On one processor, so that the
    writer wakes the waiting reader."""

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
        output = self.part("nested")
        self.assertEqual(output[-1], "ok: no record is within another one")
        print("\n".join(line for line in output if line.startswith("tried ")))


@vm_case.full_tier
class NestedEventsUnderDebugging(NestedEvents):
    """The tests on a kernel with checkers."""

    KERNEL = "debug-6.12"


if __name__ == "__main__":
    vm_case.main()
