#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""elog record --via relay: a relay channel gives the events of the module's rings and of shared memory,
lost events are counted, and the channel ends with its recorder."""

import pathlib

import kernel_module
import loads
import parts
import vm_case

COUNT = loads.Case.COUNT
OVERFLOW_COUNT = loads.OVERFLOW_COUNT
ROUNDS = 50
EMITTERS = 3
NMIS = 1000
ON_CPU_1 = 7
NMI_MODULE = pathlib.Path(__file__).resolve().parent / "nmi"

# Each recording runs the program, so that it has all events; several recordings are nested.
SCRIPT = parts.SHELL + rf"""
load=$0 shop=$1 depot=$2 elog=$3
channels=/sys/kernel/debug/eventlog
record() {{ "$elog" record --via relay "$@"; }}

record_at_all() {{ record -e 'load:*' --wait --duration 1s; }}
part not_loaded record_at_all
insmod /eventlog.ko remove_idle=1 || exit
umount /sys/kernel/debug 2> /dev/null
part no_debugfs record_at_all
mount -t debugfs none /sys/kernel/debug || exit
mkfifo /tmp/keep
"$load" 0 < /tmp/keep > /dev/null &
keeper=$!
exec 8> /tmp/keep
event_exists() {{ [ -e /sys/kernel/tracing/events/eventlog/load_item ]; }}
wait_until event_exists

beside_others() {{
    record -e 'load:*' -o /tmp/relay.elog -j -- \
        "$elog" record --via device -e 'load:*' -o /tmp/device.elog -- \
        "$elog" record -e 'load:*' -o /tmp/memory.elog -- "$load" {COUNT} < /dev/null
}}
picked() {{
    record -v -e 'shop:*@info/sales' --session 2 -e 'shop:*#' -o /tmp/relay-picked.elog -- \
        "$elog" record -e 'shop:*@info/sales' --session 2 -e 'shop:*#' -o /tmp/memory-picked.elog -- \
        "$shop" {ROUNDS}
}}
overwritten() {{
    record -e 'load:*' -o /tmp/newest.elog --overwrite --buffer-size 2x128K -j -- \
        taskset 1 "$load" {OVERFLOW_COUNT} < /dev/null
}}
# The recorder is stopped while more is written than its buffers hold.
late() {{
    record -e 'load:*' --force -o /tmp/late.elog --buffer-size 2x128K "$@" -- \
        sh -c "kill -STOP \$PPID; taskset 1 '$load' {OVERFLOW_COUNT} < /dev/null; kill -CONT \$PPID"
}}
# Several at once, faster than it is read.
pressed() {{
    cat > /tmp/press <<END
for each in $(seq -s ' ' {EMITTERS}); do "$load" {COUNT} < /dev/null & done
wait
END
    record -e 'load:*' -o /tmp/pressed.elog --buffer-size 2x128K -j -- sh /tmp/press
}}
# So few events that no buffer is full.
few() {{
    cat > /tmp/few <<END
"$load" 1 < /dev/null > /dev/null
until [ -e /tmp/shown ]; do sleep 0.1; done
END
    record -e 'load:*' --limit 1 -j -- sh /tmp/few && touch /tmp/shown
}}
# Commands that count instead of recording, while a program emits.
counted() {{
    "$elog" "$@" --via relay -j -e 'load:*' 8>&- &
    counter=$!
    listens() {{ grep -q /dev/eventlog /proc/$counter/maps; }}
    wait_until listens
    "$load" {COUNT} < /dev/null > /dev/null
    kill -TERM $counter
    wait $counter
}}
# Recorders of one program by three routes, and another one by each of them while these run.
dumped() {{
    mkfifo /tmp/depot
    "$depot" < /tmp/depot 8>&- &
    program=$!
    exec 7> /tmp/depot
    depot_exists() {{ [ -e /sys/kernel/tracing/events/eventlog/depot_state ]; }}
    wait_until depot_exists
    recorders=
    for each in early late; do
        for route in relay device memory; do
            "$elog" record --via $route -e depot:change -e depot:state --duration 3s \
                -o /tmp/depot-$route-$each.elog 7>&- 8>&- &
            recorders="$recorders $!"
        done
        sleep 1
    done
    wait $recorders && exec 7>&- && wait $program
}}
cpus_turned_on() {{
    online=/sys/devices/system/cpu/cpu1/online
    echo 0 > $online
    cat > /tmp/cpus <<END
echo 1 > $online
taskset 2 "$load" {ON_CPU_1} < /dev/null
echo 0 > $online
taskset 1 "$load" 1 < /dev/null
echo 1 > $online
taskset 2 "$load" {ON_CPU_1} < /dev/null
END
    record -e 'load:*' -o /tmp/cpus.elog -- sh /tmp/cpus
}}
killed() {{
    "$elog" record --via relay -e 'load:*' -o /tmp/killed.elog 8>&- &
    recorder=$!
    has_channel() {{ [ -e $channels/elog-$recorder/stats ]; }}
    wait_until has_channel
    kill -KILL $recorder
    wait $recorder
    ls $channels
    "$load" 10 < /dev/null
}}
# A channel name that a recorder of another PID namespace uses.
name_in_use() {{
    unshare -p -f "$elog" record --via relay -e 'load:*' -o /tmp/first.elog 8>&- &
    first=$!
    has_channels() {{ [ "$(ls $channels | wc -l)" -eq $1 ]; }}
    wait_until has_channels 1
    unshare -p -f "$elog" record --via relay -e 'load:*' -o /tmp/second.elog 8>&- &
    second=$!
    wait_until has_channels 2
    ls $channels
    kill $(pidof elog)
    wait $first && wait $second
}}
explained() {{ record -e 'load:*' --explain; }}
too_large() {{ record -e 'load:*' --buffer-size 2x32M --wait; }}
not_permitted() {{
    chmod 666 /dev/eventlog /dev/eventlog_relay
    su user -s /bin/sh -c "$elog record --via relay -e 'load:*' --wait"
}}
part agg counted agg 'count(), sum(number) by event'
part top counted top
for each in beside_others picked overwritten dumped few pressed killed name_in_use explained too_large not_permitted; do
    part $each $each
done
part late late -j
part late_fails late --fail-on-loss
if [ -e /sys/devices/system/cpu/cpu1/online ]; then
    part cpus_turned_on cpus_turned_on
fi
exec 8>&-
wait $keeper
part left ls $channels
is_unloaded() {{ rmmod eventlog 2> /dev/null; [ ! -e /sys/module/eventlog ]; }}
part unload wait_until is_unloaded
"""
FILES = ("relay.elog", "device.elog", "memory.elog", "relay-picked.elog", "memory-picked.elog",
         "newest.elog", "pressed.elog", "late.elog",
         *(f"depot-{route}-{each}.elog" for route in ("relay", "device", "memory")
           for each in ("early", "late")))
# One processor: guests with several emulated by threads have crashed when code changed under load.
WITH_THE_KERNEL = parts.SHELL + rf"""
shop=$0 elog=$1 to_relay=$2
mount -t debugfs none /sys/kernel/debug 2> /dev/null
insmod /eventlog.ko remove_idle=1 || exit
together() {{
    "$elog" record --via relay --all-processes -e 'kernel:*' -e 'shop:*' -o /tmp/together.elog -j -- \
        "$shop" {ROUNDS} 2>&1
}}
# Each event is also emitted in NMI context, in which relay is not written to.
nmis() {{
    insmod /eventlog_nmi.ko || return
    "$elog" record --via relay --all-processes -e nmis -o /tmp/nmis.elog -j -- \
        sh -c 'echo {NMIS} > /sys/module/eventlog_nmi/parameters/emit'
    rmmod eventlog_nmi
}}
part together together
part nmis nmis
part times "$to_relay" times
is_unloaded() {{ rmmod eventlog 2> /dev/null; [ ! -e /sys/module/eventlog ]; }}
part unload wait_until is_unloaded
"""


class RelayRoute(loads.Case):
    """One guest that makes all recordings; the tests check the results."""

    KERNEL = "debian-6.12"
    PROCESSORS = 2

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        kernel = vm_case.kernel_or_skip(cls.KERNEL)
        programs = [vm_case.built("PROGRAMS", name) for name in ("user_events_load", "device_provider",
                                                                "state_dumps")]
        programs.append(vm_case.built("ELOG"))
        files = FILES + (("cpus.elog",) if cls.PROCESSORS > 1 else ())
        cls.result = cls.run_script(
            kernel, SCRIPT, programs,
            files={"/eventlog.ko": vm_case.module_or_skip(kernel)},
            collect=tuple(f"/tmp/{name}" for name in files),
            memory=2048,
            processors=cls.PROCESSORS,
        )

    def fields_of(self, name, *names):
        return [{each: line.get(each) for each in names}
                for line in loads.shown(self.collected(name))]

    def test_matches_rings_and_memory_field_by_field(self):
        totals = loads.summary(self.part("beside_others"))
        self.assertEqual((totals["events"], totals["lost"], totals["overwritten"]), (COUNT, 0, 0))
        names = ("provider", "event", "comm", "pid", "tid", "level", "fields")
        by_relay = self.fields_of("relay.elog", *names)
        self.assertEqual(len(by_relay), COUNT)
        for other in ("device.elog", "memory.elog"):
            self.assertEqual(by_relay, self.fields_of(other, *names))

    def test_selects_like_memory(self):
        output = self.part("picked")
        self.assertIn("elog: Recording via relay: no other route was requested.", output)
        by_relay, by_memory = (self.fields_of(f"{route}-picked.elog", "event", "fields")
                               for route in ("relay", "memory"))
        self.assertEqual(by_relay, by_memory)
        self.assertGreater(len(by_relay), ROUNDS)

    def test_counts_overwritten(self):
        self.assert_newest("newest.elog", "overwritten", OVERFLOW_COUNT)

    def test_counts_losses(self):
        self.assert_oldest("late.elog", "late", OVERFLOW_COUNT)

    def test_fails_with_fail_on_loss(self):
        self.part("late_fails", 3)

    def test_programs_dump_state_once_to_each_new_listener(self):
        self.part("dumped")
        for name in (name for name in FILES if name.startswith("depot-")):
            events = self.fields_of(name, "event", "fields")
            names = [event["event"] for event in events]
            state = names.index("state")
            self.assertEqual((names.count("state"), names.count("state_complete")), (1, 1), name)
            self.assertEqual(names[state + 1], "state_complete", name)
            counts = [event["fields"]["count"] for event in events if event["event"] == "change"]
            self.assertEqual(counts, list(range(counts[0], counts[0] + len(counts))), name)
            # Changes before the state are of the time when the program had not noticed the listener.
            before, after = (events[place]["fields"]["count"] for place in (state, state + 2))
            self.assertEqual(after, before + 1, name)

    def test_accounts_for_all_events_under_concurrency(self):
        totals = loads.summary(self.part("pressed"))
        found, missing = loads.loads(self.collected("pressed.elog"))
        self.assertEqual(len(found) + missing, EMITTERS * COUNT)
        self.assertEqual((totals["events"], totals["lost"]), (len(found), missing))
        self.assertGreater(len(found), 0)

    def test_shows_partial_buffer(self):
        self.assertEqual(len([line for line in self.part("few") if line.startswith('{"')]), 1)

    def test_handles_cpu_hotplug(self):
        if self.PROCESSORS == 1:
            self.skipTest("there is one processor.")
        self.part("cpus_turned_on")
        lines = loads.shown(self.collected("cpus.elog"))
        cpus = [line["cpu"] for line in lines]
        self.assertEqual(cpus, [1] * ON_CPU_1 + [0] + [1] * ON_CPU_1)

    def test_channel_is_removed_with_killed_recorder(self):
        output = self.part("killed")
        self.assertFalse([line for line in output if line.startswith("elog-")], output)

    def test_uses_another_name_if_taken(self):
        output = self.part("name_in_use")
        self.assertTrue({"elog-1", "elog-1-1"} <= set(output), output)

    def test_leaves_nothing_behind(self):
        self.assertEqual(self.part("left"), [])
        self.part("unload")

    def test_explains_predicate_evaluation(self):
        output = "\n".join(self.part("explained"))
        self.assertRegex(output, r"the kernel asks +which events -e, --session, -p and --comm want")

    def test_reports_errors(self):
        self.assert_rejected({
            "not_loaded": "the kernel module eventlog is not loaded. Load it, as root, with: "
                          "modprobe eventlog.",
            "no_debugfs": "debugfs is not mounted. Mount it, as root, with: mount -t debugfs",
            "not_permitted": "A relay channel takes CAP_SYS_ADMIN. Be root, or listen via device.",
            "too_large": "Ask for less with --buffer-size",
        })


@vm_case.full_tier
class RelayRouteBefore64(RelayRoute):
    """The tests on an older kernel with one processor."""

    KERNEL = "debian-6.1"
    PROCESSORS = 1


class WithTheKernel(parts.Case):
    """One guest, in which the kernel's own events are recorded with a program's."""

    KERNEL = "debian-6.12"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        kernel = vm_case.kernel_or_skip(cls.KERNEL)
        module = vm_case.module_or_skip(kernel)
        nmis = kernel_module.kernel_with_module(kernel, pathlib.Path(module), NMI_MODULE)
        programs = [vm_case.built("PROGRAMS", "device_provider"), vm_case.built("ELOG"),
                    vm_case.built("PROGRAMS", "eventlog_to_relay")]
        cls.result = cls.run_script(
            kernel, WITH_THE_KERNEL, programs,
            files={"/eventlog.ko": module,
                   "/eventlog_nmi.ko": str(nmis / "eventlog_nmi.ko")},
            collect=("/tmp/together.elog", "/tmp/nmis.elog"), processors=1,
        )

    def test_shares_timeline_with_programs(self):
        self.assertEqual(loads.summary(self.part("together"))["lost"], 0)
        loads.assert_one_timeline(self, loads.shown(self.collected("together.elog")), 16 * ROUNDS)

    def test_has_interrupt_entry_and_exit(self):
        self.part("together")
        loads.assert_begin_end_pairs(self, loads.shown(self.collected("together.elog")), "interrupt")

    def test_has_increasing_times_under_nesting(self):
        self.assertEqual(self.part("times")[-1], "ok: the kernel's events are among them")

    def test_counts_nmi_events(self):
        totals = loads.summary(self.part("nmis"))
        lines = loads.shown(self.collected("nmis.elog"))
        found = [line["fields"] for line in lines if "event" in line]
        self.assertEqual(found, [{"number": number, "in_nmi": 0} for number in range(NMIS)])
        self.assertEqual(loads.missing_in(lines), NMIS)
        self.assertEqual((totals["events"], totals["lost"]), (NMIS, NMIS))

    def test_can_be_unloaded_afterwards(self):
        self.part("unload")


@vm_case.full_tier
class WithTheKernelBefore64(WithTheKernel):
    """The tests on an older kernel."""

    KERNEL = "debian-6.1"


if __name__ == "__main__":
    vm_case.main()
