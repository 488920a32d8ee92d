#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""elog record --via tracefs, beside perf: both record each event with each field, lost events are
counted, and no instance is left, however the recorder ends."""

import re
import subprocess

import loads
import vm_case
from test_module_tools import items

COUNT = loads.Case.COUNT
OVERFLOW_COUNT = loads.OVERFLOW_COUNT

# A program for each recording.
SCRIPT = loads.SHELL + rf"""
keep
is_recorded() {{ grep -q 1 $tracing/instances/eventlog-$recorder-*/events/$system/$event/enable 2> /dev/null; }}
is_gone() {{ ! ls $tracing/instances/eventlog-* > /dev/null 2>&1; }}
record() {{
    "$elog" record --via tracefs -e 'load:*' "$@" 8>&- 9>&- &
    recorder=$!
    wait_until is_recorded
}}
finish() {{
    kill -TERM $recorder
    wait $recorder
}}

beside_perf() {{
    begin {COUNT}
    perf record --quiet --all-cpus --mmap-pages 4096 --event "$system:$event" \
        --output /tmp/perf.data -- \
        sh -c 'touch /tmp/go; while kill -0 $0 2> /dev/null; do sleep 0.1; done' $emitter 8>&- 9>&- &
    perf=$!
    wait_until [ -e /tmp/go ]
    record -o /tmp/all.elog
    emit
    finish && wait $perf
}}
overwritten() {{
    begin {OVERFLOW_COUNT}
    record -o /tmp/newest.elog --overwrite --buffer-size 2x128K -j
    emit
    finish
}}
# The recorder is stopped while more is written than its buffers hold.
late() {{
    begin {OVERFLOW_COUNT}
    record -o /tmp/late.elog --buffer-size 2x128K -j
    kill -STOP $recorder
    emit
    kill -CONT $recorder
    finish
}}
# The kernel keeps what it can be asked for, and elog asks the rest.
asked() {{
    begin {COUNT}
    record -o /tmp/asked.elog --where '{loads.PREDICATE}' -j
    emit
    finish
}}
explained() {{
    "$elog" record --via tracefs --explain -e 'load:*' "$@"
    is_gone || echo "WRONG: an instance is left"
}}
explained_all() {{ explained --where 'number > 5 && !(amount != 7)'; }}
explained_part() {{ explained --where 'number > 5 && word ~ "x*"'; }}
explained_nothing() {{ explained --where 'number > 5 || comm == "load"'; }}
# Commands that count instead of recording.
counted() {{
    begin {COUNT}
    "$elog" "$@" --via tracefs -j -e 'load:*' 8>&- 9>&- &
    recorder=$!
    wait_until is_recorded
    emit > /dev/null
    kill -TERM $recorder
    wait $recorder
}}
killed() {{
    record -o /tmp/killed.elog
    left=$(ls $tracing/instances)
    kill -KILL $recorder
    wait $recorder
    [ "$(ls $tracing/instances)" = "$left" ] || echo "WRONG: nothing was left"
    record -o /tmp/next.elog
    [ -e "$tracing/instances/$left" ] && echo "WRONG: $left is still there"
    finish
    is_gone || echo "WRONG: an instance is left"
}}
disabled() {{
    record -o /tmp/disabled.elog
    echo 0 > $(ls -d $tracing/instances/eventlog-$recorder-*/events/$system/$event)/enable
    wait $recorder
    status=$?
    is_gone || echo "WRONG: an instance is left"
    "$elog" verify /tmp/disabled.elog || echo "WRONG: the file is not whole"
    return $status
}}
not_there() {{ "$elog" record --via tracefs -e 'absent:*'; }}
not_permitted() {{ su user -s /bin/sh -c "$elog record --via tracefs -e 'load:*'"; }}
with_session() {{ "$elog" record --via tracefs -e 'load:*' --session 1; }}
not_mounted() {{
    exec 8>&-
    # debugfs mounts another one.
    for each in tracing debug/tracing debug; do
        umount -l /sys/kernel/$each 2> /dev/null
    done
    "$elog" record --via tracefs -e 'load:*' --duration 1s
}}
# Counted by reading; vm.pushed_aggregations tests counting by the kernel.
part agg counted agg --push-down never 'count(), sum(number) by event'
part top counted top
for each in asked explained_all explained_part explained_nothing beside_perf overwritten late killed disabled not_there not_permitted with_session; do
    part $each $each
done
rm -f /tmp/*.sock
echo "instances: $(ls $tracing/instances | wc -l)"
part not_mounted not_mounted
"""

class Tracefs(loads.KernelTrace):
    """One guest that makes all recordings; the tests check the results."""

    SCRIPT = SCRIPT
    FILES = ("perf.data", "all.elog", "asked.elog", "newest.elog", "late.elog")
    OPTIONS = {"memory": 2048}

    @staticmethod
    def tools():
        return {"/usr/bin/perf": vm_case.perf_or_skip()}

    def assert_written(self, lines, count):
        self.assertIn(f"written {count} too_large 0 refused 0 unattached 0", lines)

    def test_matches_perf(self):
        self.assert_written(self.part("beside_perf"), COUNT)
        found, lost = loads.loads(self.collected("all.elog"))
        self.assertEqual(found, loads.emitted(COUNT))
        self.assertEqual(lost, 0)
        command = ["perf", "script", "--show-lost-events", "--fields", "comm,event,trace", "--input",
                   self.collected("perf.data")]
        by_perf = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        self.assertEqual(items(by_perf.replace("user_events:eventlog_", "eventlog:")), found)

    def test_pushes_predicate_to_kernel(self):
        self.assert_written(self.part("asked"), COUNT)
        super().test_pushes_predicate_to_kernel()

    def test_explains_kernel_filter(self):
        rest = "all of --where, for the kernel cannot ask all of it"
        self.assert_explained("explained_all", "(number >= 6 && amount == 7)",
                              "nothing that the kernel has not asked")
        self.assert_explained("explained_part", "number >= 6", rest)
        self.assert_explained("explained_nothing", "nothing", rest)

    def test_counts_overwritten(self):
        self.assert_written(self.part("overwritten"), OVERFLOW_COUNT)
        self.assert_newest("newest.elog", "overwritten", OVERFLOW_COUNT)

    def test_counts_losses(self):
        lines = self.part("late")
        self.assert_written(lines, OVERFLOW_COUNT)
        found, missing = loads.loads(self.collected("late.elog"))
        self.assertGreater(missing, 0)
        self.assertEqual(len(found) + missing, OVERFLOW_COUNT)
        self.assertEqual(loads.summary(lines)["lost"], missing)
        self.assertLessEqual(set(found), set(loads.emitted(OVERFLOW_COUNT)))

    def test_next_run_removes_leftovers_of_killed_run(self):
        self.part("killed")

    def test_reports_event_disabled_by_other_tool(self):
        self.assertRegex("\n".join(self.part("disabled", 1)),
                         rf"Another process has disabled {self.SYSTEM}:{self.EVENT}")

    def test_reports_unknown_event(self):
        self.assertIn("The kernel has no event that matches 'absent:*'.",
                      self.part("not_there", 1)[0])

    def test_reports_missing_permission(self):
        self.assertIn("elog doctor", self.part("not_permitted", 1)[0])

    def test_rejects_sessions(self):
        self.assertIn("The kernel's tracing has no sessions", self.part("with_session", 2)[0])

    def test_reports_unmounted_tracefs(self):
        self.assertIn("tracefs is not mounted.", self.part("not_mounted", 1)[0])

    def test_removes_its_instance(self):
        self.assertTrue(re.search(r"^instances: 0$", self.result.output, re.MULTILINE),
                        self.result.output)


@vm_case.full_tier
class TracefsOfTheModule(loads.OfTheModule, Tracefs):
    """The tests with events of the kernel module."""


if __name__ == "__main__":
    vm_case.main()
