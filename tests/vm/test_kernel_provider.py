#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Events of the kernel through the kernel module: the provider `kernel` gives the events of tracefs, on
one timeline with programs and another module, to permitted users, and is attached only while it is enabled.

One processor: guests with several emulated by threads have crashed when code changed under load.
"""

import json
import re

import kernel_module
import loads
import parts
import vm_case

ROUNDS = 50
# With two switches each, more than two buffers of 128 KiB hold.
PASSES = 5_000
BLOCKS = 8
BLOCK_SIZE = 4096

SCRIPT = parts.SHELL + rf"""
elog=$0 shop=$1 switches=$2
tracing=/sys/kernel/tracing
hooks=/sys/module/eventlog/parameters/kernel_hooks
record() {{ "$elog" record --via device "$@"; }}

insmod /eventlog.ko remove_idle=1 || exit
# Writes the trace of the same tracepoint to a file.
echo mono > $tracing/trace_clock
echo 16384 > $tracing/buffer_size_kb
beside_tracefs() {{
    echo > $tracing/trace
    echo 1 > $tracing/events/sched/sched_switch/enable
    shift_to=$1
    shift
    "$@"
    recorded=$?
    echo 0 > $tracing/events/sched/sched_switch/enable
    cat $tracing/trace > $shift_to
    return $recorded
}}
together() {{
    record --all-processes -e 'kernel:*' -e 'shop:*' -o /tmp/together.elog -j -- "$shop" {ROUNDS} 2>&1
}}
# The recorder is stopped while more is written than its buffers hold.
late() {{
    record --all-processes -e kernel:switch -o /tmp/late.elog --buffer-size 2x128K -j -- \
        sh -c "kill -STOP \$PPID; $switches pass {PASSES} > /dev/null; kill -CONT \$PPID"
}}
idle() {{
    record --all-processes -e kernel:idle -o /tmp/idle.elog -- \
        sh -c 'for i in 1 2 3 4 5; do sleep 0.2; done'
}}
# The command's parent is the recorder.
own_switches() {{
    file=$1
    shift
    record --all-processes -e kernel:switch -o $file "$@" -- \
        sh -c 'echo $PPID; for i in 1 2 3 4 5; do sleep 0.1; done'
}}
hooks_of() {{ record -e "$1" -o /tmp/hooks-of.elog -- cat $hooks; rm -f /tmp/hooks-of.elog; }}
attached() {{
    cat $hooks
    for event in switch interrupt_begin softirq_end idle; do hooks_of kernel:$event 2> /dev/null; done
    cat $hooks
}}
everything() {{
    record --all-processes -e '*:*' -e 'shop:*' -o /tmp/everything.elog -- "$shop" {ROUNDS}
    cat $hooks
}}
not_permitted() {{
    chmod 666 /dev/eventlog
    su user -s /bin/sh -c "$elog record --via device -e 'kernel:*'"
}}
listed() {{ "$elog" list 'kernel:*'; "$elog" schema show kernel; }}
# A second directory, with the same device.
listed_once() {{
    unshare -m sh -c 'mount -t tmpfs -o mode=1777 tmpfs /dev/shm && mkdir -m 700 /dev/shm/eventlog-0 &&
        touch /tmp/apart && exec sleep 10000' &
    wait_until [ -e /tmp/apart ]
    "$elog" list --all 'kernel:*'
    listing=$?
    kill $!
    return $listing
}}
listed_to_user() {{ su user -s /bin/sh -c "$elog list"; }}

part together beside_tracefs /tmp/together.trace together
part late beside_tracefs /tmp/late.trace late
part idle idle
part attached attached
part everything everything
part without "$switches" without
part with_self own_switches /tmp/with-self.elog
part without_self own_switches /tmp/without-self.elog --exclude-self
part listed listed
part listed_once listed_once
part not_permitted not_permitted
part listed_to_user listed_to_user

insmod /eventlog_block.ko || exit
blocks() {{
    cat > /tmp/work <<END
dd if=/dev/zero of=/dev/ram0 bs={BLOCK_SIZE} count={BLOCKS} conv=fsync 2> /dev/null
"$shop" 3
END
    record --all-processes -e 'block:*' -e 'shop:*' -e kernel:switch -o /tmp/blocks.elog -- sh /tmp/work
}}
in_use() {{ rmmod eventlog; }}
listens() {{ grep -q /dev/eventlog /proc/$recorder/maps; }}
# A provider unregisters while it is enabled.
unregister() {{
    "$elog" record --via device -e 'block:*' -o /tmp/unregister.elog &
    recorder=$!
    wait_until listens
    rmmod eventlog_block || return
    kill -TERM $recorder
    wait $recorder
}}
is_unloaded() {{ rmmod eventlog 2> /dev/null; [ ! -e /sys/module/eventlog ]; }}
part blocks blocks
part in_use in_use
ticks() {{
    insmod /eventlog_ticker.ko || return
    record -e ticker --limit 2 -j 2> /dev/null
    rmmod eventlog_ticker
}}
part ticks ticks
# One recorder all the time, others later: each gets the devices once, changes go to those that run.
dumped() {{
    ifconfig lo down
    insmod /eventlog_links.ko || return
    "$elog" record --via device -e 'links:*' -o /tmp/links-early.elog &
    recorder=$!
    wait_until listens
    printf 'ifconfig lo up\nifconfig lo down\n' > /tmp/change
    record --all-processes -e links:link -o /tmp/links-late.elog -- sh /tmp/change &&
        "$elog" record --via relay --all-processes -e links:link -o /tmp/links-relay.elog -- true &&
        kill -TERM $recorder && wait $recorder && rmmod eventlog_links
}}
# The provider is registered while a recorder runs, and unregistered.
dumped_at_registration() {{
    cat > /tmp/load <<END
insmod /eventlog_links.ko && rmmod eventlog_links && insmod /eventlog_links.ko && rmmod eventlog_links
END
    record --all-processes -e 'links:*' --wait -o /tmp/links-again.elog -- sh /tmp/load
}}
part dumped dumped
part dumped_at_registration dumped_at_registration
part unregister unregister
part unload wait_until is_unloaded
"""
# One of two processors sleeps when the first recording ends, which wakes it unrecorded.
SLEEP_TWICE = parts.SHELL + """
insmod /eventlog.ko remove_idle=1 || exit
record() { "$0" record --via device --all-processes -e kernel:idle -o /tmp/$1.elog -- sleep 1; }
part first record first
part between cut -d ' ' -f 1 /proc/uptime
sleep 2
part again record again
"""
FILES = ("with-self.elog", "without-self.elog",
         "together.elog", "together.trace", "late.elog", "late.trace", "idle.elog", "everything.elog",
         "blocks.elog", "links-early.elog", "links-late.elog", "links-relay.elog", "links-again.elog")
SWITCH = re.compile(r"^ *.*-(\d+) +\[000\].* sched_switch: .* prev_pid=(\d+) .* ==> next_comm=(.*) "
                    r"next_pid=(\d+) next_prio=(\d+)$", re.MULTILINE)


def by_tracefs(path):
    """Each switch as (previous thread, next thread, its name, its priority)."""
    with open(path, encoding="utf-8") as file:
        return [(int(prev), int(following), name, int(priority))
                for _, prev, name, following, priority in SWITCH.findall(file.read())]


def switch_of(line):
    fields = line["fields"]
    return line["tid"], fields["next"], fields["next_name"], fields["priority"]


def matches_pair(items, traced):
    """Whether the records and the numbers of lost records equal the switches of tracefs, one for one."""
    at = 0
    for item in items:
        if isinstance(item, int):
            at += item
        elif at < len(traced) and traced[at] == item:
            at += 1
        else:
            return False
    return at <= len(traced)


class KernelProvider(parts.Case):
    """One guest that makes all recordings; the tests check the results."""

    KERNEL = "debian-6.12"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        kernel = vm_case.kernel_or_skip(cls.KERNEL)
        module = vm_case.module_or_skip(kernel)
        programs = [vm_case.built("ELOG"),
                    *(vm_case.built("PROGRAMS", name) for name in ("device_provider", "kernel_switches"))]
        cls.result = cls.run_script(
            kernel, SCRIPT, programs,
            files={"/eventlog.ko": module,
                   **{f"/{name}": str(kernel_module.sample_of_module(module, name))
                      for name in ("eventlog_block.ko", "eventlog_links.ko", "eventlog_ticker.ko")}},
            collect=tuple(f"/tmp/{name}" for name in FILES),
            modules=("brd",),
            processors=1,
        )

    def lines(self, name):
        return loads.shown(loads.Case.collected(self, name))

    def assert_reported(self, items, trace):
        """Checks that the recording is a part of tracefs's trace, which began before and ended later."""
        traced = by_tracefs(loads.Case.collected(self, trace))
        begin = items[0]
        places = [place for place, one in enumerate(traced)
                  if one == begin and matches_pair(items, traced[place:])]
        self.assertTrue(places, f"{len(items)} items are not among the {len(traced)} of {trace}")

    def test_switches_match_tracefs(self):
        summary = loads.summary(self.part("together"))
        switches = [switch_of(line) for line in self.lines("together.elog")
                    if line.get("event") == "switch"]
        self.assertEqual(summary["lost"], 0)
        self.assertGreater(len(switches), 3)
        self.assert_reported(switches, "together.trace")

    def test_leaves_out_switches_of_recorder_on_request(self):
        for part, has_own in (("with_self", True), ("without_self", False)):
            recorder = int(self.part(part)[0])
            threads = {thread for line in self.lines(part.replace("_", "-") + ".elog")
                       if line.get("event") == "switch"
                       for thread in (line["tid"], line["fields"]["next"])}
            self.assertEqual(recorder in threads, has_own, part)
            self.assertGreater(len(threads), 1)

    def test_counts_lost_switches(self):
        summary = loads.summary(self.part("late"))
        lines = self.lines("late.elog")
        items = [switch_of(line) if "event" in line else line["lost"] for line in lines]
        missing = sum(item for item in items if isinstance(item, int))
        self.assertGreater(missing, 0)
        self.assertEqual(summary["lost"], missing)
        self.assertEqual(summary["events"], sum(isinstance(item, tuple) for item in items))
        self.assert_reported(items, "late.trace")

    def test_shares_timeline_with_programs(self):
        loads.assert_one_timeline(self, self.lines("together.elog"), 16 * ROUNDS)

    def test_records_interrupt_entry_and_exit(self):
        events = [line for line in self.lines("together.elog") if line["provider"] == "kernel"]
        for kind in ("interrupt", "softirq"):
            loads.assert_begin_end_pairs(self, events, kind)

    def test_records_idle_duration_and_wake_source(self):
        self.part("idle")
        periods = [line["fields"] for line in self.lines("idle.elog")]
        self.assertGreaterEqual(len(periods), 5)
        before = 0
        for period in periods:
            self.assertLessEqual(before, period["slept"])
            self.assertLessEqual(period["slept"], period["woke"])
            before = period["woke"]
        self.assertTrue({period["source"] for period in periods} & {"timer", "device"})

    def test_attaches_tracepoints_per_enabled_event(self):
        before, switch, interrupt, softirq, idle, after = map(int, self.part("attached"))
        self.assertEqual((before, switch, softirq, after), (0, 1, 1, 0))
        self.assertGreater(interrupt, 1)
        self.assertGreater(idle, interrupt)

    def test_is_excluded_from_wildcard_patterns(self):
        self.assertEqual(self.part("everything")[-1], "0")
        lines = self.lines("everything.elog")
        self.assertEqual({line["provider"] for line in lines}, {"shop"})

    def test_excludes_reader_on_request(self):
        self.assertEqual(self.part("without")[-1], "ok: own switches excluded")

    def test_is_listed_with_its_events(self):
        output = "\n".join(self.part("listed"))
        for text in ("processes eventlog (kernel)", "switch", "next_name", "provider kernel"):
            self.assertIn(text, output)
        self.assertNotIn("does not give the same schema", output)

    def test_is_listed_once_in_every_command(self):
        output = "\n".join(self.part("listed_once"))
        self.assertEqual(output.count("processes eventlog (kernel)"), 1, output)

    def test_requires_permission_to_record_all_processes(self):
        self.assertIn("The kernel has no event that matches 'kernel:*'.",
                      "\n".join(self.part("not_permitted", 1)))
        self.assertNotIn("kernel", "\n".join(self.part("listed_to_user")))

    def test_is_recorded_with_other_modules_and_programs(self):
        self.part("blocks")
        lines = self.lines("blocks.elog")
        self.assertEqual({line["provider"] for line in lines}, {"block", "shop", "kernel"})
        times = [line["time"] for line in lines]
        self.assertEqual(times, sorted(times))
        queued, done = ([line["fields"] for line in lines
                         if line["event"] == name and line["fields"]["disk"] == "ram0" and
                         line["fields"]["operation"] == "write"] for name in ("queued", "done"))
        self.assertEqual(sum(each["bytes"] for each in queued), BLOCKS * BLOCK_SIZE)
        self.assertEqual(len(done), len(queued))
        self.assertEqual({json.dumps(each["error"]) for each in done}, {"0"})
        self.assertEqual({line["comm"] for line in lines if line["provider"] == "block"},
                         {"eventlog_block"})

    def test_records_example_of_manual(self):
        first, second = [json.loads(line) for line in self.part("ticks") if line.startswith('{"')]
        self.assertEqual((first["provider"], first["event"]), ("ticker", "tick"))
        self.assertEqual(first["fields"]["count"] + 1, second["fields"]["count"])

    def steps(self, name):
        """What a recording has of the devices: the events of dumps and changes of `lo`."""
        return [tuple(line["fields"][field] for field in ("name", "is_up"))
                if line["event"] == "link" else line["event"] for line in self.lines(name)]

    def assert_dump(self, steps):
        """Checks a dump, without the changes behind it."""
        devices, last = steps[:-1], steps[-1]
        self.assertEqual(last, "state_complete", steps)
        self.assertIn(("lo", False), devices)
        self.assertEqual(len(set(devices)), len(devices), steps)

    def test_dumps_state_once_to_each_new_listener(self):
        self.part("dumped")
        early, late, relay = (self.steps(f"links-{name}.elog") for name in ("early", "late", "relay"))
        for steps in (early, late):
            self.assertEqual(steps[-2:], [("lo", True), ("lo", False)])
            self.assert_dump(steps[:-2])
        self.assert_dump(relay)
        self.assertEqual(early, late)
        self.assertEqual(relay, late[:-2])

    def test_dumps_state_to_listener_of_before_registration(self):
        self.part("dumped_at_registration")
        steps = self.steps("links-again.elog")
        half = len(steps) // 2
        self.assert_dump(steps[:half])
        self.assertEqual(steps[half:], steps[:half])

    def test_cannot_be_unloaded_while_used_by_module(self):
        self.part("in_use", 1)

    def test_provider_may_unregister_while_enabled(self):
        self.part("unregister")

    def test_can_be_unloaded_afterwards(self):
        self.part("unload")


@vm_case.full_tier
class KernelProviderBefore66(KernelProvider):
    """The tests on an older kernel."""

    KERNEL = "debian-6.1"


@vm_case.full_tier
class SleepTwice(parts.Case):
    """One guest whose two processors are emulated by one thread: their idle periods are recorded twice."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        kernel = vm_case.kernel_or_skip("debian-6.12")
        elog = vm_case.built("ELOG")
        cls.result = cls.run_successfully(
            kernel, ["sh", "-c", SLEEP_TWICE, elog],
            files={elog: elog, "/eventlog.ko": vm_case.module_or_skip(kernel)},
            collect=("/tmp/again.elog",), processors=2, count_instructions=True,
        )

    def test_ignores_idle_period_started_before_enable(self):
        self.part("first")
        (between,) = self.part("between")
        self.part("again")
        shown = loads.shown(self.collected("again.elog"), "--clock", "monotonic")
        slept = [line["fields"]["slept"] for line in shown if "event" in line]
        self.assertTrue(slept)
        self.assertGreaterEqual(min(slept), float(between) * 10**9)


if __name__ == "__main__":
    vm_case.main()
