#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""elog record --via perf --stack: each event has the functions of its call stack, also after its program
has ended, and the stack is usable like any field."""

import json
import os
import subprocess

import loads
import vm_case

COUNT = 100
SCRIPT = loads.SHELL + rf"""
deep=$4
# Keeps the event between those that emit.
mkfifo /tmp/deep
"$deep" 0 < /tmp/deep &
exec 7> /tmp/deep
deep_is_there() {{ ls -d $tracing/events/$system/*deep_step; }}
wait_until deep_is_there
record() {{ "$elog" record --via perf --stack "$@" < /dev/null 7>&-; }}
part program record -e 'deep:*' -o /tmp/program.elog -- "$deep" {COUNT}
part picked record -e 'deep:*' -o /tmp/picked.elog --where 'stack ~ "*;ways::odd"' -- "$deep" {COUNT}
part newest record -e 'deep:*' -o /tmp/newest.elog --overwrite -- "$deep" {COUNT}
part kernel record -e 'sched:sched_process_fork' --comm sh -o /tmp/kernel.elog -- sh -c 'true & wait'
part elsewhere "$elog" record --stack -e 'deep:*'
"""


class Stacks(loads.Guest):
    """One guest, in which all is recorded."""

    SCRIPT = SCRIPT
    PROGRAMS = ("user_events_stack",)
    FILES = ("program.elog", "picked.elog", "newest.elog", "kernel.elog")

    def steps(self, name):
        return [line["fields"] for line in loads.shown(self.collected(name)) if "event" in line]

    def test_shows_functions_of_program(self):
        self.part("program")
        steps = self.steps("program.elog")
        self.assertEqual([step["number"] for step in steps], list(range(COUNT)))
        for step in steps:
            way = "ways::odd" if step["number"] % 2 else "ways::even"
            self.assertTrue(step["stack"].endswith(f";main;ways::both;{way}"), step)

    def test_overwriting_keeps_stacks_of_newest_events(self):
        self.part("newest")
        self.assertEqual(self.steps("newest.elog"), self.steps("program.elog"))

    def test_is_usable_in_predicates(self):
        self.part("picked")
        self.assertEqual([step["number"] for step in self.steps("picked.elog")],
                         list(range(1, COUNT, 2)))

    def test_is_usable_as_aggregation_key(self):
        output = subprocess.run(
            [os.environ["ELOG"], "agg", "-j", "count() by stack", self.collected("program.elog")],
            capture_output=True, text=True, check=True).stdout
        (counted,) = map(json.loads, output.splitlines())
        self.assertEqual([group["values"] for group in counted["groups"]],
                         [{"count()": COUNT // 2}] * 2)

    def test_kernel_events_have_functions_of_kernel(self):
        self.part("kernel")
        steps = self.steps("kernel.elog")
        self.assertTrue(steps)
        for step in steps:
            self.assertRegex(step["stack"], r"^([^;\[]+;)+entry_SYSCALL_64\S*_\[k\];"
                                            r"do_syscall_64_\[k\];.*kernel_clone_\[k\]")

    def test_is_rejected_by_other_routes(self):
        self.assertIn("add --via perf", "\n".join(self.part("elsewhere", 2)))


@vm_case.full_tier
class StacksOfTheModule(loads.OfTheModule, Stacks):
    """The tests with events of the kernel module."""


if __name__ == "__main__":
    vm_case.main()
