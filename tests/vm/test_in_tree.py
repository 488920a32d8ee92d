#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""eventlog as a part of the kernel, by the series of patches: it is present without being loaded, behaves
like the module, and handles failing allocations. user_events stay unchanged."""

import json
import tempfile

import parts
import selftests
import test_kunit
import vm_case

COUNT = 1000

SCRIPT = parts.SHELL + f"""
system=/sys/kernel/tracing/events/eventlog
item=$system/eventlog_load_item
is_offered() {{ [ -e $item ]; }}
is_removed() {{ [ ! -e $item ]; }}
is_empty() {{ [ ! -e $system ]; }}
has_begun_or_ended() {{ [ -e /tmp/begun ] || [ -e /tmp/ended ]; }}
record() {{
    # Events of what ran before go a moment later, under the hands of a perf that looks for all.
    wait_until is_empty
    mkfifo /tmp/hold || return
    "$1" {COUNT} 0 says < /tmp/hold > /tmp/output &
    program=$!
    exec 9> /tmp/hold
    wait_until is_offered
    {{
        perf record --quiet --all-cpus --mmap-pages 1024 --event 'eventlog:*' \\
            --output /tmp/perf.data \\
            -- sh -c 'touch /tmp/begun; while kill -0 $0 2> /dev/null; do sleep 0.1; done' $program
        echo $? > /tmp/ended
    }} 9>&- &
    perf=$!
    wait_until has_begun_or_ended
    [ -e /tmp/begun ] || echo "perf record ended with $(cat /tmp/ended) before it began"
    exec 9>&-
    wait $program && wait $perf && [ "$(cat /tmp/ended)" = 0 ] && cat /tmp/output &&
        perf script --input /tmp/perf.data --fields trace:event,trace
}}
keep() {{
    # The program finds the registered event.
    "$1" kernel register "$2" && "$2" {COUNT} 0 says < /dev/null &&
        ls /sys/kernel/tracing/events/*/eventlog_load_item/format &&
        "$1" kernel unregister load
}}
# A program that is loaded, and the event it is attached to a moment later.
# (A file may be closed while ls lists it, which is an error of ls.)
has_file() {{ ls -l /proc/$counter/fd 2> /dev/null | grep -q $1; }}
has_program() {{ has_file bpf-prog && has_file perf_event && sleep 1; }}
count_by_bpf() {{
    mkfifo /tmp/next || return
    "$2" {COUNT} < /tmp/next > /dev/null &
    program=$!
    exec 9> /tmp/next
    wait_until is_offered
    "$1" agg 'count(), max(number), sum(number) by amount' --where 'number & 1' -j --via tracefs \\
        -e 'load:*' 9>&- &
    counter=$!
    wait_until has_program
    exec 9>&-
    wait $program
    kill -TERM $counter
    wait $counter
}}
"""
SCRIPT += """
part there stat -c '%a %U %G' /dev/eventlog
part rules "$0"
part selftest_eventlog /eventlog
part selftest_user_events /user_events
part limits "$1"
part failures "$2"
# user_events are the way where there is no device.
rm /dev/eventlog
part record record "$3"
part removed wait_until is_removed
part keep keep "$4" "$3"
part removed_again is_removed
part count_by_bpf count_by_bpf "$4" "$3"
"""


class InTree(parts.Case):
    """One guest whose kernel runs its unit tests at boot."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        kernel = vm_case.kernel_or_skip("in-tree-6.12")
        folder = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="eventlog-vm-"))
        perf = vm_case.perf_or_skip()
        elog = vm_case.built("ELOG")
        load = vm_case.built("PROGRAMS", "user_events_load")
        source = kernel.directory / "build" / "source"
        programs = [vm_case.built("PROGRAMS", f"eventlog_{name}")
                    for name in ("device", "limits", "failures")]
        cls.result = cls.run_successfully(
            kernel, ["sh", "-c", SCRIPT, *programs, load, elog],
            files={**{f"/{name}": selftests.build(source, name, folder)
                      for name in selftests.NAMES},
                   **{program: program for program in (*programs, load, elog)},
                   "/usr/bin/perf": perf},
            parameters=("kunit.enable=1",),
            processors=2,
        )

    def test_units(self):
        self.assertEqual(test_kunit.passed(self.result.log), test_kunit.wanted())

    def test_device_is_accessible_to_root(self):
        self.assertEqual(self.part("there"), ["660 root root"])

    def test_passes_abi_steps(self):
        self.assertEqual(self.part("rules")[-1], "ok: all rules")

    def test_enforces_permissions(self):
        self.assertEqual(self.part("limits")[-1], "ok: all limits")

    def test_passes_its_selftests(self):
        for name in selftests.NAMES:
            self.assertRegex(self.part(f"selftest_{name}")[-1],
                             r"^# Totals: pass:[1-9]\d* fail:0 xfail:0 xpass:0 skip:0 error:0$")

    def test_survives_every_allocation_failure(self):
        output = self.part("failures")
        self.assertEqual(output[-1], "ok: all failures")
        print(*(line for line in output if " allocations, " in line), sep="\n")

    def test_user_events_program_is_recorded_together(self):
        output, where, *events = self.part("record")
        self.assertTrue(output.startswith(f"written {COUNT} too_large 0 "), output)
        self.assertEqual(where, "The events of provider load are in tracefs as "
                         "eventlog:eventlog_load_*.")
        self.assertEqual(len(events), COUNT)
        for number, event in enumerate(events):
            self.assertEqual(event, f"eventlog:eventlog_load_item: number={number} "
                             f"amount={number % 97} word=word {number % 13}")
        self.part("removed")

    def test_registered_event_is_recorded_together(self):
        registered, output, where, event, removed = self.part("keep")
        self.assertEqual(registered, "eventlog:eventlog_load_item")
        self.assertTrue(output.startswith("written 0 "), output)
        self.assertIn(" eventlog:eventlog_load_*.", where)
        self.assertEqual(event, "/sys/kernel/tracing/events/eventlog/eventlog_load_item/format")
        self.assertEqual(removed, "eventlog_load_item")
        self.part("removed_again")

    def test_bpf_programs_count_user_events(self):
        lines = self.part("count_by_bpf")
        self.assertEqual(len(lines), 1, lines)
        result = json.loads(lines[0])
        self.assertEqual((result["events"], result["lost"]), (COUNT // 2, 0))
        numbers = {amount: [number for number in range(amount, COUNT, 97) if number % 2]
                   for amount in range(97)}
        self.assertEqual(
            {group["key"]["amount"]: list(group["values"].values()) for group in result["groups"]},
            {amount: [len(each), max(each), sum(each)] for amount, each in numbers.items()})


if __name__ == "__main__":
    vm_case.main()
