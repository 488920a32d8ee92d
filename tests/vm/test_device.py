#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""elog record --via device: the kernel module's rings give the events of shared memory and perf, match
the same patterns, count lost events, and give users only their own events."""

import datetime
import json
import pathlib
import re
import subprocess
import tempfile

import loads
import parts
import vm_case
from test_module_tools import items

COUNT = loads.Case.COUNT
OVERFLOW_COUNT = loads.OVERFLOW_COUNT
ROUNDS = 50
CHILDREN = 3
ROUTES = ("tracefs", "perf", "device", "memory")

# Patterns, and the number of matching events per round. Each session has two more, for its begin and end.
PATTERNS = (
    ("-e shop", 16),
    ("-e shop:sale -e shop:break_in", 2),
    ("-e shop:*@warn", 2),
    ("-e shop:*/sales", 15),
    ("-e shop:*@error/security", 1),
    ("-e shop:note -e shop:*/security", 12),
    ("-e shop --session 2", 4),
    ("-e shop:step# --session 1 --session 3", 2),
    ("-e shop:*@info -e shop:*# --session 3", 13),
    ("-e shop:step/security -e shop:payment# --session 2", 4),
    ("-e shop:payment/security -e shop:payment# --session 2", 1),
    ("-e shop --comm device_*", 16),
    ("-e shop --comm absent", 0),
    # The program is called "device_é?".
    ("-e shop --comm device_??", 16),
    ("-e shop --comm device_???", 0),
    ("-e shop --comm dev*_?\\?", 16),
    ("-e shop --comm device_?\\*", 0),
)

# Each recording runs the program, so that it has all events; several recordings are nested.
SCRIPT = parts.SHELL + rf"""
load=$0 shop=$1 elog=$2
record() {{ "$elog" record --via device "$@"; }}
emit() {{ "$load" $1 < /dev/null; }}

not_loaded() {{ record -e 'load:*' --duration 1s; }}
part not_loaded not_loaded
insmod /eventlog.ko remove_idle=1 || exit
mkfifo /tmp/keep
"$load" 0 < /tmp/keep > /dev/null &
keeper=$!
exec 8> /tmp/keep
event_exists() {{ [ -e /sys/kernel/tracing/events/eventlog/load_item ]; }}
wait_until event_exists

beside_others() {{
    perf record --quiet --all-cpus --mmap-pages 4096 --event 'eventlog:*' --output /tmp/perf.data -- \
        "$elog" record --via device -e 'load:*' -o /tmp/device.elog -- \
        "$elog" record -e 'load:*' -o /tmp/memory.elog -- "$load" {COUNT} < /dev/null
}}
overwritten() {{
    record -e 'load:*' -o /tmp/newest.elog --overwrite --buffer-size 2x128K -j -- \
        "$load" {OVERFLOW_COUNT} < /dev/null
}}
forked() {{
    "$elog" record --via device -e shop -o /tmp/device-forked.elog -- \
        "$elog" record -e shop -o /tmp/memory-forked.elog -- "$shop" 1 {CHILDREN}
}}
absent() {{
    "$elog" record --via tracefs -e 'load:*' -o /tmp/tracefs-absent.elog -- \
        "$elog" record --via perf -e 'load:*' -o /tmp/perf-absent.elog -- \
        "$elog" record --via device -e 'load:*' -o /tmp/device-absent.elog -- \
        "$elog" record -e 'load:*' -o /tmp/memory-absent.elog -- "$load" 4 absent < /dev/null
}}
# A program that continues to emit after the end of the recording.
ended() {{
    "$elog" record --via device -e 'load:*' -o /tmp/ended.elog --overwrite --buffer-size 2x128K \
        -j 8>&- &
    recorder=$!
    "$load" while-enabled < /dev/null > /tmp/enabled 8>&- &
    emitter=$!
    is_enabled() {{ grep -q enabled /tmp/enabled; }}
    wait_until is_enabled
    sleep 1
    kill -TERM $recorder
    wait $recorder && wait $emitter && tail -n 1 /tmp/enabled
}}
# The recorder is stopped while more is written than its buffers hold.
late() {{
    record -e 'load:*' -o /tmp/late.elog --buffer-size 2x128K -j -- \
        sh -c "kill -STOP \$PPID; '$load' {OVERFLOW_COUNT} < /dev/null; kill -CONT \$PPID"
}}
late_fails() {{
    record -e 'load:*' -o /tmp/lost.elog --buffer-size 2x128K --fail-on-loss -- \
        sh -c "kill -STOP \$PPID; '$load' {OVERFLOW_COUNT} < /dev/null; kill -CONT \$PPID"
}}
# Asked to pause between two programs.
not_paused() {{
    "$elog" record --via device -e 'load:*' -o /tmp/not-paused.elog 8>&- 2> /tmp/pause-errors &
    recorder=$!
    has_begun() {{ [ -s /tmp/not-paused.elog ]; }}
    wait_until has_begun
    emit 5
    kill -USR1 $recorder
    wait_until grep -q paused /tmp/pause-errors
    emit 10
    kill -TERM $recorder
    wait $recorder || return
    cat /tmp/pause-errors
}}
shown() {{ record -e 'load:*' --limit 3 --where 'number >= 5' -j -- "$load" 20 < /dev/null 2> /dev/null; }}
# While a program emits that waits for it.
listening() {{
    emitted=$1
    shift
    "$elog" "$@" --via device -j -e 'load:*' 8>&- &
    counter=$!
    listens() {{ grep -q /dev/eventlog /proc/$counter/maps; }}
    wait_until listens
    emit $emitted > /dev/null
    kill -TERM $counter
    wait $counter
}}
counted() {{ listening {COUNT} "$@"; }}
narrowed() {{ listening 100 record --where "level <= $1 && number < 10" -o /tmp/narrowed-$1.elog; }}
by_patterns() {{
    named=$(printf '/tmp/device_\303\251?')
    cp "$shop" "$named"
    number=0
    while read -r options; do
        set -f
        "$elog" record --via device --wait $options -o /tmp/device-$number.elog -- \
            "$elog" record --wait $options -o /tmp/memory-$number.elog -- "$named" {ROUNDS} 2>&1
        set +f
        number=$((number + 1))
    done < /tmp/patterns
}}
killed() {{
    "$elog" record --via device -e 'load:*' -o /tmp/killed.elog &
    recorder=$!
    has_begun() {{ [ -s /tmp/killed.elog ]; }}
    wait_until has_begun
    kill -KILL $recorder
    wait $recorder
    emit 10
}}
# Events recorded before the clock was set have times of the new clock.
clock_set() {{
    date -u +%F
    record -e 'load:*' -o /tmp/set.elog --overwrite -- \
        sh -c "'$load' 3 < /dev/null; date -s @\$((\$(date +%s) + 86400))" 2> /dev/null
    "$elog" print --utc --format '{{date}}' /tmp/set.elog
}}
mistyped() {{ "$elog" "$@" --via device -e 'load:*' --duration 100s; }}
not_there() {{ record -e 'absent:*'; }}
not_started() {{ record -e 'absent:*' -o /tmp/absent.elog -- true; }}
too_large() {{ su user -s /bin/sh -c "$elog record --via device -e load --buffer-size 64x32M --wait"; }}
too_long() {{ record -e "$(printf '%064d' 0):*" --wait; }}
not_permitted() {{ su user -s /bin/sh -c "$elog record --via device -e 'load:*' --wait"; }}
# A program of the user, and one of root that emits on request.
others() {{
    chmod 666 /dev/eventlog
    cat > /tmp/both <<END
"$load" 3 < /dev/null
touch /tmp/asked
until [ -e /tmp/answered ]; do sleep 0.1; done
END
    su user -s /bin/sh -c \
        "$elog record --via device --all-processes -e 'load:*' --wait -j -- sh /tmp/both" &
    listener=$!
    wait_until [ -e /tmp/asked ]
    emit 5 > /dev/null
    touch /tmp/answered
    wait $listener
}}
part agg counted agg 'count(), sum(number) by event'
part top counted top
part narrowed_by_error narrowed error
part narrowed_by_info narrowed info
part mistyped_where mistyped record --where 'nmber > 5'
part mistyped_sum mistyped agg 'sum(nmber)'
for each in beside_others forked absent overwritten ended late late_fails not_paused shown by_patterns killed \
    clock_set not_there not_started not_permitted others too_large too_long; do
    part $each $each
done
exec 8>&-
wait $keeper
is_unloaded() {{ rmmod eventlog 2> /dev/null; [ ! -e /sys/module/eventlog ]; }}
part unload wait_until is_unloaded
"""
FILES = ("perf.data", "device.elog", "memory.elog", "newest.elog", "late.elog", "not-paused.elog",
         "device-forked.elog", "memory-forked.elog",
         *(f"{route}-absent.elog" for route in ROUTES),
         *(f"{route}-{number}.elog" for number in range(len(PATTERNS))
           for route in ("device", "memory")))


class Device(loads.Case):
    """One guest that makes all recordings; the tests check the results."""

    KERNEL = "debian-6.12"
    PROCESSORS = 2

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        perf = vm_case.perf_or_skip()
        kernel = vm_case.kernel_or_skip(cls.KERNEL)
        programs = [vm_case.built("PROGRAMS", name) for name in ("user_events_load", "device_provider")]
        programs.append(vm_case.built("ELOG"))
        folder = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="eventlog-vm-"))
        patterns = pathlib.Path(folder, "patterns")
        patterns.write_text("".join(f"{options}\n" for options, _ in PATTERNS), encoding="utf-8")
        cls.result = cls.run_script(
            kernel, SCRIPT, programs,
            files={"/eventlog.ko": vm_case.module_or_skip(kernel), "/usr/bin/perf": perf,
                   "/tmp/patterns": str(patterns)},
            collect=tuple(f"/tmp/{name}" for name in FILES),
            memory=2048,
            processors=cls.PROCESSORS,
        )

    def test_narrows_patterns_by_predicate(self):
        for level, events, passed in (("error", 0, 0), ("info", 100, 10)):
            totals = loads.summary(self.part(f"narrowed_by_{level}"))
            self.assertEqual((totals["events"], totals["where_matched"]), (events, passed), level)

    def test_matches_memory_and_perf(self):
        self.assertIn(f"written {COUNT} too_large 0 refused 0 unattached 0",
                      self.part("beside_others"))
        for name in ("device.elog", "memory.elog"):
            self.assertEqual(loads.loads(self.collected(name)), (loads.emitted(COUNT), 0))
        command = ["perf", "script", "--show-lost-events", "--fields", "comm,event,trace", "--input",
                   self.collected("perf.data")]
        by_perf = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        self.assertEqual(items(by_perf), loads.emitted(COUNT))

    def test_has_same_processes_and_threads_as_memory(self):
        self.part("beside_others")
        # Not the CPU: between both writes of an event it may be another one.
        names = ("comm", "pid", "tid", "level")
        by_device, by_memory = (
            [{name: line.get(name) for name in names} for line in loads.shown(self.collected(path))]
            for path in ("device.elog", "memory.elog"))
        self.assertEqual(by_device, by_memory)

    def test_records_forked_children_with_their_own_ids(self):
        self.part("forked")
        by_device, by_memory = (
            [(line["comm"], line["pid"], line["tid"], line["event"], line["fields"])
             for line in loads.shown(self.collected(f"{route}-forked.elog"))]
            for route in ("device", "memory"))
        self.assertEqual(by_device, by_memory)
        self.assertEqual(len({pid for _, pid, *_ in by_device}), 1 + CHILDREN)
        self.assertEqual(sorted({thread for _, _, thread, *_ in by_device}),
                         sorted({pid for _, pid, *_ in by_device}))

    def test_represents_absent_texts_like_other_routes(self):
        self.assertIn("written 4 too_large 0 refused 0 unattached 0", self.part("absent"))
        for route in ROUTES:
            self.assertEqual(loads.loads(self.collected(f"{route}-absent.elog")),
                             ([(number, number, None) for number in range(4)], 0), route)

    def test_selects_like_memory(self):
        self.part("by_patterns")
        for number, (options, count) in enumerate(PATTERNS):
            with self.subTest(options):
                by_device, by_memory = (
                    [(line["event"], line["fields"])
                     for line in loads.shown(self.collected(f"{route}-{number}.elog"))]
                    for route in ("device", "memory"))
                self.assertEqual(by_device, by_memory)
                self.assertEqual(len(by_device), count * ROUNDS)

    def test_counts_overwritten(self):
        self.assert_newest("newest.elog", "overwritten", OVERFLOW_COUNT)

    def test_overwriting_keeps_exactly_events_before_its_end(self):
        *summary, emitted_ones = self.part("ended")
        summary = loads.summary(summary)
        written = int(re.match(r"written (\d+) ", emitted_ones)[1])
        self.assertGreater(summary["overwritten"], 0)
        # One may have been on its way.
        self.assertIn(written - summary["events"] - summary["overwritten"], (0, 1))

    def test_counts_losses(self):
        summary = loads.summary(self.part("late"))
        found, missing = loads.loads(self.collected("late.elog"))
        self.assertGreater(missing, 0)
        self.assertEqual(len(found) + missing, OVERFLOW_COUNT)
        self.assertEqual(summary["lost"], missing)
        self.assertEqual(found, loads.emitted(OVERFLOW_COUNT)[:len(found)])

    def test_fails_with_fail_on_loss(self):
        self.part("late_fails", 3)

    def test_goes_on_when_asked_to_pause(self):
        self.assertIn("elog: A recording via device cannot be paused, and goes on. "
                      "Record via memory.", self.part("not_paused"))
        self.assertEqual(loads.loads(self.collected("not-paused.elog")),
                         (loads.emitted(5) + loads.emitted(10), 0))

    def test_shows_events_and_stops_at_count(self):
        lines = [json.loads(line) for line in self.part("shown") if line.startswith('{"')]
        self.assertEqual([line["fields"]["number"] for line in lines], [5, 6, 7])

    def test_restricts_user_to_own_programs(self):
        lines = [json.loads(line) for line in self.part("others") if line.startswith('{"')]
        self.assertEqual([line["fields"]["number"] for line in lines], [0, 1, 2])

    def test_killed_recorder_leaves_nothing(self):
        self.part("killed")
        self.part("unload")

    def test_overwriting_converts_times_by_final_clock(self):
        before, *times = [line for line in self.part("clock_set") if re.fullmatch(r"[\d-]+", line)]
        day = datetime.date.fromisoformat(before)
        for time in times:
            self.assertIn((datetime.date.fromisoformat(time) - day).days, (1, 2))
        self.assertEqual(len(times), 3)

    def test_reports_unknown_name_immediately(self):
        for title in ("mistyped_where", "mistyped_sum"):
            self.assertIn("nmber", "\n".join(self.part(title, 2)))

    def test_reports_errors(self):
        self.assert_rejected({
            "not_loaded": "the kernel module eventlog is not loaded. Load it, as root, with: "
                          "modprobe eventlog.",
            "not_there": "The kernel has no event that matches 'absent:*'.",
            "not_started": "The command did not register it either.",
            "not_permitted": "/dev/eventlog is not permitted to you",
            "too_large": "Ask for less with --buffer-size",
            "too_long": "is longer than the 63 characters that the kernel module takes",
        })


@vm_case.full_tier
class DeviceBefore66(Device):
    """The tests on an older kernel."""

    KERNEL = "debian-6.1"
    PROCESSORS = 1


if __name__ == "__main__":
    vm_case.main()
