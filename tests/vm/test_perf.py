#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""elog record --via perf: perf's buffers give the events of shared memory, field by field; lost events are
counted; the kernel evaluates --where as far as possible; and the kernel decides on permissions."""

import json
import os
import subprocess

import loads
import vm_case

COUNT = loads.Case.COUNT
OVERFLOW_COUNT = loads.OVERFLOW_COUNT

# Each recording runs the program, so that it has all of its events; on one CPU, where it matters which
# are lost. A first one keeps the event.
SCRIPT = loads.SHELL + rf"""
record() {{ "$elog" record --via perf "$@"; }}
emit() {{ "$program" $1 < /dev/null; }}

# The event is registered while elog waits for it. Events before elog has found it are not recorded, so
# that the program emits until there are enough.
follows() {{
    record -e 'load:*' --wait --limit 3 -j > /tmp/followed 2> /tmp/output &
    recorder=$!
    while kill -0 $recorder 2> /dev/null; do
        (sleep 0.3) | "$program" 1 > /dev/null
    done
    wait $recorder && cat /tmp/followed || (cat /tmp/output; false)
}}
part follows follows
keep

beside_memory() {{
    record -e 'load:*' -o /tmp/perf.elog -- \
        "$elog" record -e 'load:*' -o /tmp/memory.elog -- "$program" {COUNT} < /dev/null
}}
asked() {{
    record -e 'load:*' -o /tmp/asked.elog --where '{loads.PREDICATE}' -j -- \
        "$program" {COUNT} < /dev/null
}}
explained() {{ record --explain -e 'load:*' --where 'number > 5 && !(amount != 7)'; }}
overwritten() {{
    record -e 'load:*' -o /tmp/newest.elog --overwrite --buffer-size 2x128K -j -- \
        taskset 1 "$program" {OVERFLOW_COUNT} < /dev/null
}}
overwritten_not() {{
    record -e 'load:*' -o /tmp/few.elog --overwrite --buffer-size 2x128K -j -- "$program" 10 < /dev/null
}}
# The recorder is stopped while more is written than its buffers hold.
late() {{
    record -e 'load:*' -o /tmp/late.elog --buffer-size 2x128K -j -- \
        sh -c "kill -STOP \$PPID; taskset 1 '$program' {OVERFLOW_COUNT} < /dev/null; kill -CONT \$PPID"
}}
# The same, and then there is room again: what the file has is not in the buffer any more.
later() {{
    cat > /tmp/both <<END
kill -STOP \$PPID
taskset 1 "$program" {OVERFLOW_COUNT} < /dev/null
kill -CONT \$PPID
until [ \$(stat -c %s /tmp/later.elog) -gt 100000 ]; do sleep 0.1; done
taskset 1 "$program" 7 < /dev/null
END
    record -e 'load:*' -o /tmp/later.elog --buffer-size 2x128K -j -- sh /tmp/both
}}
# No buffer of the kernel has a trace of events that are too large for it.
oversized() {{
    "$elog" record --via $1 -e 'load:*' -o /tmp/oversized_$1.elog --force --fail-on-loss -j -- \
        "$program" 3 5000 < /dev/null
}}
too_large_for_perf() {{ oversized perf; }}
too_large_for_tracefs() {{ oversized tracefs; }}
# One recording has the losses of the program, the other one selects other events.
not_its_own() {{
    record -e 'sched:sched_process_exec' -o /tmp/none.elog --force -j -- \
        "$elog" record --via perf -e 'load:*' -o /tmp/other.elog --force -- "$program" 3 5000 < /dev/null
}}
# The file has events of another provider.
mixed() {{
    record -e 'sched:sched_process_exec' -e 'load:*' -o /tmp/mixed.elog --force -j -- \
        "$program" 3 5000 < /dev/null
}}
# Commands that count instead of recording. They wait in ppoll(2) when all is set up.
counted() {{
    "$elog" "$@" --via perf -j -e 'load:*' 8>&- &
    counter=$!
    waits() {{ grep -q '^271 ' /proc/$counter/syscall; }}
    wait_until waits
    emit {COUNT} > /dev/null
    kill -TERM $counter
    wait $counter
}}
of_keeper() {{ record -e 'load:*' -p $keeper -j -o /tmp/none.elog -- "$program" 5 < /dev/null; }}
by_name() {{ record -e 'load:*' --comm 'user_events_*' -j -- "$program" 5 < /dev/null; }}
by_other_name() {{ record -e 'load:*' --comm absent -j -- "$program" 5 < /dev/null; }}
of_kernel() {{ record -e 'sched:sched_process_exec' -j -- sh -c '/bin/true; exec /bin/true'; }}
not_there() {{ record -e 'absent:*'; }}
not_of_perf() {{ record -e 'ftrace:function' --wait --duration 100s; }}
chosen() {{ "$elog" record --via auto -v -e 'sched:sched_process_exec' --duration 100ms; }}
with_session() {{ record -e 'load:*' --session 1; }}
mistyped() {{ record -e 'load:*' --duration 100s --where 'nmber > 5'; }}
too_much() {{ record -e 'load:*' --buffer-size 64x32M --wait --duration 1s; }}
overwritten_by_name() {{ record -e 'load:*' --comm 'user_events_*' --overwrite -j -- "$program" 5 < /dev/null; }}
features() {{ "$elog" features -j; }}

# Obstacles of a user by elog doctor, before and after the repair.
as_user() {{ su user -s /bin/sh -c "$*"; }}
doctor() {{ as_user $elog doctor 2> /dev/null | grep ' perf_events '; }}
repair() {{ eval "$(doctor | sed 's/.*As root: //')"; }}
listen() {{ as_user "$elog record --via perf -e 'load:*' -j --limit 3"; }}
permitted() {{
    echo 2 > /proc/sys/kernel/perf_event_paranoid
    part closed doctor
    repair
    part open doctor
    part may_not_see listen
    repair
    part both_open doctor
    echo 2 > /proc/sys/kernel/perf_event_paranoid
    part may_not_listen listen
    repair
    listen > /tmp/listened &
    listener=$!
    while kill -0 $listener 2> /dev/null; do
        emit 1 > /dev/null
    done
    wait $listener
    part may_listen cat /tmp/listened
}}

# Records events of a CPU, which is turned off or on before, until there are some.
online=/sys/devices/system/cpu/cpu1/online
of_second_cpu() {{
    "$elog" record --via perf -e 'load:*' --where "cpu == 1" --limit 3 -j 8>&- &
    recorder=$!
    waits() {{ grep -q '^271 ' /proc/$recorder/syscall; }}
    wait_until waits
    for state; do
        echo $state > $online
    done
    while kill -0 $recorder 2> /dev/null; do
        taskset 2 "$program" 1 < /dev/null > /dev/null
    done
    wait $recorder
}}
turned_on() {{
    echo 0 > $online
    of_second_cpu 1
}}
turned_off_and_on() {{ of_second_cpu 0 1; }}

# The CPU is turned off and on while the stopped recorder does not read its full buffer.
away() {{
    kill -STOP $recorder
    taskset 2 "$program" $1 < /dev/null > /dev/null
    echo 0 > $online
    echo 1 > $online
    kill -CONT $recorder
    times=$((times + 1))
    is_reported() {{ [ $(grep -c 'noticed that it was online' /tmp/output) -eq $times ]; }}
    wait_until is_reported
}}
# Later events are all recorded. $1 is the file, $2 and so on are the numbers of events at each time.
taken_away() {{
    name=$1
    shift
    "$elog" record --via perf -e 'load:*' -o /tmp/$name.elog --buffer-size 2x128K -j $overwrite \
        8>&- 2> /tmp/output &
    recorder=$!
    waits() {{ grep -q '^271 ' /proc/$recorder/syscall; }}
    wait_until waits
    times=0
    for count; do
        away $count
    done
    taskset 2 "$program" 7 < /dev/null > /dev/null
    kill -TERM $recorder
    wait $recorder
    cat /tmp/output
}}
lost_away() {{
    overwrite= taken_away away {OVERFLOW_COUNT} 1000
}}
overwritten_away() {{
    overwrite=--overwrite taken_away newest_away {OVERFLOW_COUNT} 2000 1000
}}
part agg counted agg 'count(), sum(number) by event'
part top counted top
for each in beside_memory asked explained overwritten overwritten_not late later of_keeper by_name \
    too_large_for_perf too_large_for_tracefs not_its_own mixed \
    chosen by_other_name overwritten_by_name of_kernel features not_there not_of_perf with_session mistyped too_much; do
    part $each $each
done
permitted
if [ -e $online ]; then
    part turned_on turned_on
    part turned_off_and_on turned_off_and_on
    part lost_away lost_away
    part overwritten_away overwritten_away
fi
"""


def records(path):
    """Time, process, thread and fields of each event."""
    return [(line["time"], line["pid"], line["tid"], line["comm"], line["fields"])
            for line in loads.shown(path) if "event" in line]


class Perf(loads.KernelTrace):
    """One guest that makes all recordings; the tests check the results."""

    SCRIPT = SCRIPT
    FILES = ("perf.elog", "memory.elog", "asked.elog", "newest.elog", "few.elog", "late.elog",
             "later.elog", "away.elog", "newest_away.elog", "oversized_perf.elog",
             "oversized_tracefs.elog", "mixed.elog", "other.elog")
    OPTIONS = {"memory": 2048, "processors": 2}

    def events_of(self, title):
        """The JSON Lines of a part, in front of its other output."""
        lines = [json.loads(line) for line in self.part(title) if line.startswith("{")]
        return [line for line in lines if "event" in line]

    def test_matches_memory(self):
        found, lost = loads.loads(self.collected("perf.elog"))
        self.assertEqual(found, loads.emitted(COUNT))
        self.assertEqual(lost, 0)
        self.assertEqual(loads.loads(self.collected("memory.elog")), (found, 0))
        by_perf, by_memory = (records(self.collected(f"{name}.elog")) for name in ("perf", "memory"))
        self.assertEqual([one[1:] for one in by_perf], [one[1:] for one in by_memory])

    def test_counts_events_that_programs_lose(self):
        for route in ("perf", "tracefs"):
            summary = loads.summary(self.part(f"too_large_for_{route}", 3))
            self.assertEqual((summary["events"], summary["lost"]), (0, 3))
            self.assertEqual(summary["lost_by_reason"]["too_large"], 3)
            (by_provider,) = summary["lost_by_provider"]
            self.assertEqual((by_provider["provider"], by_provider["lost"]), ("load", 3))
            path = self.collected(f"oversized_{route}.elog")
            self.assertEqual(loads.loads(path), ([], 3))
            subprocess.run([os.environ["ELOG"], "verify", path], check=True)

    def test_leaves_out_losses_of_other_providers(self):
        self.assertEqual(loads.summary(self.part("not_its_own"))["lost"], 0)
        self.assertEqual(loads.loads(self.collected("other.elog")), ([], 3))

    def test_attributes_losses_to_their_provider(self):
        self.part("mixed")
        lines = loads.shown(self.collected("mixed.elog"))
        self.assertIn("sched", {line["provider"] for line in lines if "event" in line})
        (lost,) = [line for line in lines if line.get("lost")]
        self.assertEqual((lost["lost"], lost["provider"]), (3, "load"))

    def test_explains_kernel_filter(self):
        self.assert_explained("explained", "(number >= 6 && amount == 7)",
                              "nothing that the kernel has not asked")

    def test_counts_overwritten(self):
        self.assert_newest("newest.elog", "overwritten", OVERFLOW_COUNT)

    def test_overwrites_nothing_before_buffer_is_full(self):
        self.part("overwritten_not")
        self.assertEqual(loads.loads(self.collected("few.elog")), (loads.emitted(10), 0))

    def test_counts_losses_after_last_event(self):
        self.assert_oldest("late.elog", "late", OVERFLOW_COUNT)

    def test_counts_losses_in_place(self):
        lines = loads.shown(self.collected("later.elog"))
        found = [line["fields"]["number"] for line in lines if "event" in line]
        missing = loads.missing_in(lines)
        self.assertGreater(missing, 0)
        self.assertEqual(len(found) + missing, OVERFLOW_COUNT + 7)
        self.assertEqual(found, [*range(len(found) - 7), *range(7)])
        self.assertEqual(loads.summary(self.part("later"))["lost"], missing)

    def test_records_late_event(self):
        self.assertEqual([line["event"] for line in self.events_of("follows")], ["item"] * 3)

    def test_records_selected_processes(self):
        self.assertEqual(loads.summary(self.part("of_keeper"))["events"], 0)
        self.assertEqual(len(self.events_of("by_name")), 5)
        self.assertEqual(self.events_of("by_other_name"), [])

    def test_records_kernel_events(self):
        found = self.events_of("of_kernel")
        self.assertGreaterEqual(len(found), 2)
        for line in found:
            self.assertEqual(line["fields"]["pid"], line["tid"], line)
            self.assertEqual(line["pid"], line["tid"], line)

    def test_is_not_used_if_tracefs_suffices(self):
        output = self.part("chosen")
        self.assertEqual([line.split(": ")[1] for line in output if line.startswith("elog: ")],
                         ["Not via memory", "Not via device", "Recording via tracefs"])

    def test_reports_unknown_event(self):
        self.assertIn("The kernel has no event that matches 'absent:*'.",
                      self.part("not_there", 1)[0])

    def test_reports_event_unsupported_by_perf(self):
        self.assertIn("Perf cannot have the event ftrace:function.", self.part("not_of_perf", 1)[0])

    def test_rejects_sessions_and_invalid_arguments(self):
        self.assertIn("The kernel's tracing has no sessions", self.part("with_session", 2)[0])
        self.assertIn("nmber", self.part("mistyped", 2)[0])

    def test_reports_buffer_allocation_failure(self):
        self.assertIn("--buffer-size", self.part("too_much", 1)[0])

    def test_names_ended_process(self):
        found = self.events_of("overwritten_by_name")
        self.assertEqual([line["comm"] for line in found], ["user_events_loa"] * 5)

    def test_reports_missing_permission(self):
        self.assertIn("elog doctor", self.part("may_not_see", 1)[0])
        self.assertIn("kernel.perf_event_paranoid=-1", self.part("may_not_listen", 1)[0])

    def test_doctor_shows_permission_remedy(self):
        (line,) = self.part("closed")
        self.assertRegex(line, "^note +perf_events +You may not record via perf: perf_event_paranoid is 2")
        (line,) = self.part("open")
        self.assertRegex(line, "^note +perf_events +You may record via perf, but not list the events "
                               "in tracefs")
        (line,) = self.part("both_open")
        self.assertRegex(line, "^ok +perf_events ")
        self.assertEqual([line["event"] for line in self.events_of("may_listen")], ["item"] * 3)

    def test_features_show_root_permission(self):
        listed = json.loads("\n".join(self.part("features")))["checks"]
        (state,) = (each["state"] for each in listed if each["name"] == "perf")
        self.assertEqual(state, "yes")

    def test_handles_cpu_hotplug(self):
        self.skip_without_cpus()
        for title in ("turned_on", "turned_off_and_on"):
            self.assertEqual([line["cpu"] for line in self.events_of(title)], [1, 1, 1])

    def skip_without_cpus(self):
        if "part turned_on" not in self.result.output:
            self.skipTest("this kernel's CPUs cannot be turned off")

    def assert_reported(self, title, times):
        """Checks that each return of a CPU is reported."""
        sentence = "Events emitted on CPU 1 before elog noticed that it was online"
        self.assertEqual(sum(sentence in line for line in self.part(title)), times)

    def test_keeps_or_counts_events_before_cpu_unplug(self):
        self.skip_without_cpus()
        self.assert_reported("lost_away", 2)
        found, missing = loads.loads(self.collected("away.elog"))
        self.assertGreater(missing, 0)
        self.assertEqual(len(found) + missing, OVERFLOW_COUNT + 1000 + 7)
        first = len(found) - 1000 - 7
        self.assertEqual(found, [*loads.emitted(first), *loads.emitted(1000), *loads.emitted(7)])
        self.assertEqual(loads.summary(self.part("lost_away"))["lost"], missing)

    def test_overwrites_events_before_last_cpu_unplug(self):
        self.skip_without_cpus()
        self.assert_reported("overwritten_away", 3)
        found, missing = loads.loads(self.collected("newest_away.elog"))
        self.assertEqual(missing, OVERFLOW_COUNT + 2000)
        self.assertEqual(found, [*loads.emitted(1000), *loads.emitted(7)])
        totals = loads.summary(self.part("overwritten_away"))
        self.assertEqual((totals["overwritten"], totals["lost"]), (missing, 0))


@vm_case.full_tier
class PerfOfTheModule(loads.OfTheModule, Perf):
    """The tests with events of the kernel module."""


@vm_case.full_tier
class PerfBefore66(PerfOfTheModule):
    """On an older one."""

    KERNEL = "debian-6.1"


if __name__ == "__main__":
    vm_case.main()
