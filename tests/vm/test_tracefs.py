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
depot=$4
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
# Asked to pause between two programs.
not_paused() {{
    begin 5
    record -o /tmp/not-paused.elog 2> /tmp/pause-errors
    emit
    kill -USR1 $recorder
    wait_until grep -q paused /tmp/pause-errors
    begin 10
    emit
    finish || return
    cat /tmp/pause-errors
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
# A program of another user, recorded all the time, and later by recorders that ask for its state.
depot_exists() {{ [ -e $tracing/events/$system/${{event%load_item}}depot_state ]; }}
state() {{
    chmod a+rx $tracing
    chmod a+rw $tracing/user_events_data /dev/eventlog 2> /dev/null
    mkfifo /tmp/depot
    su user -s /bin/sh -c "$depot" < /tmp/depot 8>&- &
    program=$!
    exec 7> /tmp/depot
    wait_until depot_exists
    "$elog" record --via tracefs -e 'depot:*' -o /tmp/state-early.elog 7>&- 8>&- &
    early=$!
    depot_is_recorded() {{ ls $tracing/instances | grep -q "^eventlog-$early-"; }}
    wait_until depot_is_recorded
    sleep 0.5
    for via in tracefs perf; do
        "$elog" record --via $via -e 'depot:*' --state --duration 3s -o /tmp/state-$via.elog 7>&- || return
    done
    kill -TERM $early && wait $early && exec 7>&- && wait $program
}}
state_of_none() {{ "$elog" record --via tracefs -e 'load:*' --state --duration 0.1s -o /tmp/none.elog; }}
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
for each in asked explained_all explained_part explained_nothing beside_perf overwritten late not_paused killed disabled not_there not_permitted with_session; do
    part $each $each
done
rm -f /tmp/*.sock
part state_of_none state_of_none
part state state
echo "instances: $(ls $tracing/instances | wc -l)"
part not_mounted not_mounted
"""

class Tracefs(loads.KernelTrace):
    """One guest that makes all recordings; the tests check the results."""

    SCRIPT = SCRIPT
    PROGRAMS = ("state_dumps",)
    FILES = ("perf.data", "all.elog", "asked.elog", "newest.elog", "late.elog", "not-paused.elog",
             "state-early.elog", "state-tracefs.elog", "state-perf.elog")
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

    def test_goes_on_when_asked_to_pause(self):
        self.assertIn("elog: A recording via tracefs cannot be paused, and goes on. "
                      "Record via memory.", self.part("not_paused"))
        self.assertEqual(loads.loads(self.collected("not-paused.elog")),
                         (loads.emitted(5) + loads.emitted(10), 0))

    def test_dumps_state_on_request_to_all_listeners(self):
        asked = "elog: 1 provider was asked for the state; all listeners in the kernel get it."
        self.assertEqual(self.part("state").count(asked), 2)
        for name, times in (("early", 2), ("tracefs", 1), ("perf", 1)):
            events = [line for line in loads.shown(self.collected(f"state-{name}.elog")) if "event" in line]
            names = [line["event"] for line in events]
            counts = [names.count(each) for each in ("state", "state_complete")]
            self.assertEqual(counts, [times, times], name)
            for place in (place for place, event in enumerate(names) if event == "state"):
                self.assertEqual(names[place + 1:place + 3], ["state_complete", "change"], name)
                before, after = (events[each]["fields"]["count"] for each in (place, place + 2))
                self.assertEqual(after, before + 1, name)

    def test_reports_programs_without_state(self):
        self.assertIn("No running program can be asked for its state: none of the recorded providers has",
                      "\n".join(self.part("state_of_none")))

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
