#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The kernel module on Debian's kernels: loading and unloading, the rules and permissions of its device, and
no fault of the kernel."""

import re

import parts
import vm_case

SCRIPT = parts.SHELL + r"""
events=/sys/kernel/tracing/events/eventlog
load() { insmod /eventlog.ko remove_idle=1; }
removes=/sys/module/eventlog/parameters/remove_idle
by_default() { insmod /eventlog.ko && cat $removes && rmmod eventlog; }
is_unloaded() { rmmod eventlog 2> /dev/null; [ ! -e /sys/module/eventlog ]; }
run_load_cycles() {
    for i in 1 2 3 4 5; do
        load || return
        exec 3<> /dev/eventlog
        rmmod eventlog 2> /dev/null && return 1
        exec 3>&-
        wait_until is_unloaded
    done
}
held=/sys/kernel/tracing/events/eventlog/held
is_held() { [ -e $held ]; }
is_removed() { [ ! -e /sys/kernel/tracing/events/eventlog/later ]; }
probe_an_event() {
    # A probe refers to an event, and does not listen.
    load && mkfifo /tmp/hold || return
    "$1" 'held u32 a' < /tmp/hold &
    exec 9> /tmp/hold
    wait_until is_held
    echo 'e:probes/held eventlog.held' > /sys/kernel/tracing/dynamic_events || return
    exec 9>&-
    wait $! || return
    # An event without references is removed, although it has been idle for a shorter time.
    "$1" 'later u32 a' < /dev/null || return
    wait_until is_removed
    is_held || return
    rmmod eventlog 2> /dev/null && return 1
    echo '-:probes/held' >> /sys/kernel/tracing/dynamic_events || return
    wait_until is_unloaded
}
opened=/sys/kernel/tracing/events/eventlog/opened
is_opened() { [ -e $opened ]; }
open_a_file() {
    # Like a slow listener while a program ends.
    mkfifo /tmp/opened || return
    "$1" 'opened u32 a' < /tmp/opened &
    exec 9> /tmp/opened
    wait_until is_opened
    exec 8>> $opened/trigger
    exec 9>&-
    wait $! || return
    sleep 3
    echo stacktrace >&8 && echo '!stacktrace' >&8 && echo written
    exec 8>&-
    true
}
as() { su -s /bin/sh -c 'exec 3<> /dev/eventlog && echo opened' "$1"; }
memory() {
    # A disk in memory, where the kernel has that.
    disk=
    if [ -e /dev/ram0 ]; then
        mke2fs -F /dev/ram0 1024 > /dev/null && mkdir -p /disk &&
            mount -t ext4 /dev/ram0 /disk || return
        disk=/disk
    fi
    "$1" $disk
}
permit() {
    # Like the file for udev.
    chgrp tracing /dev/eventlog && stat -c '%a %U %G' /dev/eventlog
}

part by_default by_default
part load_cycles run_load_cycles
part probed probe_an_event "$0"
part route "$6" '/eventlog.ko remove_idle=1'
wait_until is_unloaded
insmod /eventlog.ko || exit
by_default=$(cat $removes)
echo 1 > $removes
part mode stat -c '%a %U %G' /dev/eventlog
part before_permission as tracer
part permit permit
part user as user
part tracer as tracer
part rules "$0"
part memory memory "$2"
part limits "$3"
part threads "$4" "$5"
# From here on, processes hold files of events open.
echo $by_default > $removes
part opened open_a_file "$0"
part fuzz "$1" "$5"
echo 1 > $removes
part unload wait_until is_unloaded
part left sh -c 'ls -d /dev/eventlog /sys/kernel/tracing/events/eventlog*'
part cycles "$7" /eventlog.ko "$8"
"""


class Module(parts.Case):
    """One guest with the module; the tests check the parts of the script."""

    KERNEL = "debian-6.12"
    SECONDS = vm_case.by_tier(2, 3)
    CYCLES = vm_case.by_tier(20, 100)
    # Steps for features that the kernel lacks.
    WITHOUT = []
    MODULES = ("brd",)
    # Also threads in the kernel are preempted: there is one processor.
    PARAMETERS = ("preempt=full",)
    # Whether the kernel supports removing events while their files are open.
    REMOVES = "Y"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        kernel = vm_case.kernel_or_skip(cls.KERNEL)
        programs = [vm_case.built("PROGRAMS", f"eventlog_{name}")
                    for name in ("device", "fuzz", "memory", "limits", "threads")]
        route = vm_case.built("PROGRAMS", "module_route")
        cycles = vm_case.built("PROGRAMS", "eventlog_reload")
        cls.result = cls.run_successfully(
            kernel,
            ["sh", "-c", SCRIPT, *programs, str(cls.SECONDS), route, cycles, str(cls.CYCLES)],
            files={"/eventlog.ko": vm_case.module_or_skip(kernel),
                   **{program: program for program in (*programs, route, cycles)}},
            modules=cls.MODULES,
            parameters=cls.PARAMETERS,
        )

    def test_removes_events_only_if_kernel_supports_it(self):
        self.assertEqual(self.part("by_default"), [self.REMOVES])
        if self.REMOVES == "N":
            self.assertEqual(self.part("opened")[-1], "written")

    def test_loads_and_unloads_unless_in_use(self):
        self.part("load_cycles")

    def test_cannot_be_unloaded_while_an_event_is_referenced(self):
        self.part("probed")

    def test_is_used_by_programs_whenever_permitted(self):
        self.assertEqual(self.part("route")[-1], "ok: the whole route")

    def test_is_root_only_by_default(self):
        self.assertEqual(self.part("mode"), ["660 root root"])
        self.part("before_permission", status=1)

    def test_is_accessible_to_group(self):
        self.assertEqual(self.part("permit"), ["660 root tracing"])
        self.assertEqual(self.part("tracer"), ["opened"])
        self.part("user", status=1)

    def test_passes_abi_steps(self):
        self.assertEqual(self.part("rules")[-1], "ok: all rules")

    def test_updates_enable_words_in_retained_memory(self):
        output = self.part("memory")
        self.assertEqual(output[-1], "ok: all memory rules")
        self.assertEqual([line for line in output if line.startswith("without: ")], self.WITHOUT)

    def test_enforces_permissions(self):
        self.assertEqual(self.part("limits")[-1], "ok: all limits")

    def test_is_thread_safe(self):
        self.assertEqual(self.part("threads")[-1], "ok: all threads")

    def test_survives_random_calls(self):
        self.part("fuzz")

    def test_leaves_nothing_behind(self):
        self.part("unload")
        self.assertEqual(len(self.part("left", status=1)), 2)

    def test_loads_and_unloads_under_load(self):
        output = self.part("cycles")
        self.assertEqual(output[-1], "ok: all cycles")
        print(next(line for line in output if re.match(r"\d+ cycles: ", line)))


@vm_case.full_tier
class ModuleBefore64(Module):
    """The tests on a kernel that assigns numbers of events differently and frees memory that files of events
    refer to; slub_debug detects reads of it."""

    KERNEL = "debian-6.1"
    PARAMETERS = ("preempt=full", "slub_debug=FZP")
    CYCLES = 20
    REMOVES = "N"


@vm_case.full_tier
class ModuleUnderDebugging(Module):
    """The tests on a kernel with checkers."""

    KERNEL = "debug-6.12"
    SECONDS = 4
    CYCLES = 20
    WITHOUT = ["without: large pages", "without: huge pages", "without: a disk"]
    MODULES = ()
    PARAMETERS = ()


if __name__ == "__main__":
    vm_case.main()
