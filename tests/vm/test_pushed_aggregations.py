#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Aggregations that the kernel computes for elog agg equal those that elog computes of the same events
through memory: random aggregations, and the command.

EVENTLOG_TEST_AGGREGATIONS is their number, EVENTLOG_TEST_SEED the seed.
"""

import json
import os
import re

import loads
import vm_case

COUNT = int(os.environ.get("EVENTLOG_TEST_AGGREGATIONS", vm_case.by_tier("30", "100")))
SEED = os.environ.get("EVENTLOG_TEST_SEED", "1")
EVENTS = vm_case.by_tier(5_000, 20_000)
LEAST_KEYS = 128  # that the kernel's smallest histogram has room for
FEW_KEYS = 10
STOPS = vm_case.by_tier(2, 5)
EMITTERS = 3

SCRIPT = loads.SHELL + rf"""
part random "$4" {COUNT} {SEED}
keep
is_by_histogram() {{ grep -q ^hist: $tracing/instances/eventlog-$1-*/events/$system/$event/trigger 2> /dev/null; }}
# A BPF program is loaded, and attached to the event a moment later.
is_by_bpf() {{ ls -l /proc/$1/fd 2> /dev/null | grep -q bpf-prog && ls -l /proc/$1/fd 2> /dev/null | grep -q perf_event && sleep 1; }}
is_counted() {{ is_by_histogram $1 || is_by_bpf $1; }}
is_recorded() {{ grep -q 1 $tracing/instances/eventlog-$1-*/events/$system/$event/enable 2> /dev/null; }}
is_subscribed() {{ [ -n "$(ls /dev/shm/eventlog-0/subscriptions 2> /dev/null)" ]; }}
agg() {{ "$elog" agg "$@" -e 'load:*' 8>&- 9>&- & }}
finish() {{
    kill -TERM $1
    wait $1
}}
# Computes an aggregation in all three ways.
compared() {{
    begin {EVENTS}
    agg "$@" -j --via tracefs > /tmp/kernel; kernel=$!
    agg "$@" -j --via tracefs --push-down never > /tmp/here; here=$!
    agg "$@" -j > /tmp/memory; memory=$!
    wait_until $how $kernel
    is_counted $here && echo "WRONG: counted"
    wait_until is_recorded $here
    wait_until is_subscribed
    emit > /dev/null
    finish $kernel && finish $here && finish $memory || return
    cmp /tmp/kernel /tmp/here || echo "WRONG: not as of records"
    cmp /tmp/kernel /tmp/memory || echo "WRONG: not as of memory"
    cat /tmp/kernel
}}
how=is_by_histogram
counts() {{ compared 'count(), avg(amount) by amount | top 5' --where 'number >= 100'; }}
distributes() {{ compared 'count() by amount, tid' ; }}
counts_by_bpf() {{
    (how=$by_bpf
    compared 'count(), sum(number), max(number), quantize(number) by amount' --keys 1000 --where 'number & 3 && number > amount')
}}
counted() {{
    begin {EVENTS}
    agg "$@" -j --via tracefs
    kernel=$!
    wait_until $how $kernel
    emit > /dev/null
    finish $kernel
}}
counts_absent() {{
    (how=$by_bpf
    begin '100 absent'
    agg 'count(), count(word), max(number)' -j --via tracefs --where 'number & 1 || has(word)'
    kernel=$!
    wait_until $how $kernel
    emit > /dev/null
    finish $kernel)
}}
overflows() {{ counted 'count() by number' --keys {LEAST_KEYS}; }}
overflows_by_bpf() {{ (how=$by_bpf; counted 'count(), max(number) by number' --keys {LEAST_KEYS}); }}
overflows_here() {{ counted 'count() by amount' --keys {FEW_KEYS}; }}
has_many() {{ grep -q 'hitcount: *[0-9]\{{4\}}' $tracing/instances/eventlog-$1-*/events/$system/$event/hist || is_by_bpf $1; }}
stops() {{
    for round in $(seq {STOPS}); do
        agg 'count(), sum(number) by tid' -j --via tracefs
        kernel=$!
        wait_until is_counted $kernel
        for each in $(seq {EMITTERS}); do
            "$program" while-enabled < /dev/null > /dev/null 8>&- &
        done
        wait_until has_many $kernel
        finish $kernel || return
    done
}}
explains() {{ "$elog" agg "$@" -e 'load:*' --explain; }}
explains_all() {{ explains 'count() by amount' --via tracefs --where 'number > 5'; }}
explains_part() {{ explains 'sum(number)' --via tracefs; }}
explains_bpf() {{ explains 'max(amount) by amount' --where 'number > amount' --via "$@"; }}
script='load:* /number > 5/ {{ @[amount] = count() }}'
explains_script() {{ "$elog" -n "$script" --via tracefs --explain; }}
explains_script_bpf() {{ "$elog" -n 'load:* {{ @ = max(amount) }}' --via tracefs --explain; }}
explains_none() {{ explains 'count() by word' --via tracefs; }}
explains_where() {{ explains 'count()' --via tracefs --where 'word ~ "x*"'; }}
explains_never() {{ explains 'count()' --via tracefs --push-down never; }}
explains_every() {{ explains 'count()' --via tracefs --interval 1s; }}
explains_many() {{ explains 'count() by tid' --via tracefs -e 'sched:*'; }}
explains_memory() {{ explains 'count()'; }}
taken_away() {{
    agg 'count() by event' -j --via tracefs -e sched:sched_process_exit
    kernel=$!
    wait_until is_counted $kernel
    trigger=$(ls -d $tracing/instances/eventlog-$kernel-*/events/$system/$event)/trigger
    echo "!$(sed -n 's/ \[active.*//; /^hist:/p' $trigger)" > $trigger
    wait $kernel
}}
is_gone() {{ ! ls -d $tracing/instances/eventlog-* > /dev/null 2>&1; }}
killed() {{
    is_gone || echo "WRONG: an instance is left"
    agg 'count()' --via tracefs
    wait_until is_counted $!
    kill -KILL $!
    wait $!
    is_gone && echo "WRONG: nothing was left"
    agg 'count()' --via tracefs
    wait_until is_counted $!
    ls $tracing/instances
    finish $!
    is_gone || echo "WRONG: an instance is left"
}}
part explains_perf explains_bpf perf
part explains_bpf explains_bpf tracefs
for each in counts counts_by_bpf counts_absent distributes overflows overflows_by_bpf overflows_here stops explains_many explains_script explains_script_bpf explains_all explains_part explains_none explains_where explains_never explains_every explains_memory taken_away killed; do
    part $each $each
done
true
"""

HEAD = ["load:item, in the kernel eventlog:load_item"]


class PushedAggregations(loads.OfTheModule, loads.Guest):
    """One guest, in which a program compares, and then elog is used."""

    SCRIPT = "by_bpf=is_by_bpf\n" + SCRIPT
    BPF = True  # counts what histograms cannot
    PROGRAMS = ("pushed_aggregations",)
    OPTIONS = {"memory": 2048}
    PART = [
        "  the kernel counts  in a BPF program",
        "  elog counts        nothing that the kernel has not counted"]

    def test_match_aggregation_from_memory(self):
        output = self.part("random")
        found = {name: int(number) for name, number in re.findall(r"(\w+) (\d+)", output[-1])}
        print(output[-1])
        self.assertEqual(found["aggregations"], COUNT)
        self.assertEqual(found["wrong"], 0)
        # It would be easy to be right by computing all here, or nothing.
        self.assertGreater(found["pushed"], COUNT // 4)
        self.assertGreater(found["bpf" if self.BPF else "partly"], COUNT // 10)
        self.assertLess(found["partly" if self.BPF else "bpf"], COUNT // 10)
        self.assertGreater(found["here"], COUNT // 4)
        self.assertGreater(found["taken"], COUNT * 20)
        self.assertGreater(found["groups"], COUNT)
        self.assertGreater(found["overflowed"], COUNT // 50)

    def test_are_equal_on_all_routes(self):
        (line,) = self.part("counts")
        result = json.loads(line)
        self.assertEqual((result["events"], result["lost"]), (EVENTS - 100, 0))
        first = result["groups"][0]
        self.assertEqual(first["values"]["avg(amount)"], first["key"]["amount"])
        (line,) = self.part("counts_by_bpf")
        result = json.loads(line)
        self.assertEqual(result["events"], sum(number & 3 != 0 for number in range(97, EVENTS)))
        self.assertEqual(len(result["groups"]), 97)
        (line,) = self.part("distributes")
        self.assertEqual(len(json.loads(line)["groups"]), 97)

    def test_do_not_count_absent_texts(self):
        (line,) = self.part("counts_absent")
        (group,) = json.loads(line)["groups"]
        self.assertEqual(group["values"], {"count()": 50, "count(word)": 0, "max(number)": 99})

    def test_count_drops(self):
        for title in ("overflows", "overflows_by_bpf"):
            line, message = sorted(self.part(title), reverse=True)
            result = json.loads(line)
            self.assertEqual(result["events"] + result["overflowed"], EVENTS)
            self.assertEqual(len(result["groups"]), LEAST_KEYS)
            self.assertIn(f"{result['overflowed']} events had other keys than the first", message)

    def test_keep_most_frequent_keys(self):
        line, _ = sorted(self.part("overflows_here"), reverse=True)
        result = json.loads(line)
        self.assertEqual(result["events"] + result["overflowed"], EVENTS)
        self.assertEqual(len(result["groups"]), FEW_KEYS)
        # Amounts repeat: the first ones occur once more than the rest.
        self.assertEqual([group["values"]["count()"] for group in result["groups"]],
                         [EVENTS // 97 + 1] * FEW_KEYS)

    def test_are_complete_when_stopped_under_load(self):
        lines = self.part("stops")
        self.assertEqual(len(lines), STOPS)
        for result in map(json.loads, lines):
            self.assertGreater(len(result["groups"]), 0)
            self.assertEqual(sum(group["values"]["count()"] for group in result["groups"]),
                             result["events"])
            for group in result["groups"]:
                # A thread counts from 0: the sum shows that neither value misses an event.
                count, total = group["values"].values()
                self.assertEqual(total, count * (count - 1) // 2)

    def test_respect_memory_limit(self):
        lines = self.part("explains_many")
        self.assertEqual(sum("the kernel counts  hist:" in line for line in lines), 8)
        self.assertIn("  elog counts        all of it: the histograms of events before it take all "
                      "the memory that they may, for 524288 keys", lines)

    def test_explain_evaluation_place(self):
        nothing = "  elog asks        nothing that the kernel has not asked"
        self.assertEqual(self.part("explains_all"), HEAD + [
            "  the kernel asks  number >= 6", nothing,
            "  the kernel counts  hist:keys=amount:size=65536 if number >= 6",
            "  elog counts        nothing that the kernel has not counted"])
        self.assertEqual(self.part("explains_part")[:5], HEAD + [
            "  the kernel asks  nothing", nothing, *self.PART])
        for title, reason in (("none", "all of it: the kernel's histograms take integers"),
                              ("where", "all of it: the kernel cannot decide --where, column 1"),
                              ("never", "all of it: --push-down never was given"),
                              ("every", "all of it: --interval needs the time")):
            lines = self.part("explains_" + title)
            self.assertEqual(lines[3], "  the kernel counts  nothing")
            self.assertIn(reason, lines[4])
        self.assertIn("only via tracefs and perf does the kernel count", self.part("explains_memory")[-1])

    def test_explain_bpf_programs(self):
        for title in ("explains_bpf", "explains_perf"):
            lines = self.part(title)
            if self.BPF:
                self.assertEqual(lines[:5], HEAD + [
                    "  the kernel asks  all of --where, in the BPF program",
                    "  elog asks        nothing that the kernel has not asked",
                    "  the kernel counts  in a BPF program, by amount, with room for 65536 keys",
                    "  elog counts        nothing that the kernel has not counted"])
            else:
                self.assertEqual(lines[3], "  the kernel counts  nothing")
                self.assertIn("before Linux 6.7, the kernel does not count what BPF programs miss",
                              lines[4])

    def test_explain_lists_instructions(self):
        self.assert_instructions_follow(self.part("explains_bpf"))

    def assert_instructions_follow(self, lines):
        (counts,) = (at for at, line in enumerate(lines) if line.startswith("  elog counts "))
        lines = lines[counts + 1:]
        if not self.BPF:
            self.assertEqual(lines, [])
            return
        numbers = [int(line.split(":")[0]) for line in lines]
        self.assertEqual(numbers[0], 0)
        self.assertEqual(numbers, sorted(set(numbers)))
        self.assertEqual(lines[0], "   0: (bf) r6 = r1")
        self.assertRegex("\n".join(lines), r"\(85\) call bpf_map_lookup_elem\n")
        self.assertRegex("\n".join(lines), r"\(18\) r1 = map table\n")
        # 1: the event also reaches other users of perf.
        self.assertRegex("\n".join(lines[-2:]), r"\(b7\) r0 = 1\n.*\(95\) exit$")

    def test_explain_scripts_of_one_clause(self):
        self.assertEqual(self.part("explains_script"), HEAD + [
            "  the kernel asks  number >= 6",
            "  elog asks        nothing that the kernel has not asked",
            "  the kernel counts  hist:keys=amount:size=65536 if number >= 6",
            "  elog counts        nothing that the kernel has not counted"])
        self.assert_instructions_follow(self.part("explains_script_bpf"))

    def test_report_removed_histogram(self):
        line, message = sorted(self.part("taken_away", 1), reverse=True)
        self.assertRegex(message, "Another process has removed the histogram of eventlog:load_item")
        # The other event's is given all the same.
        (group,) = json.loads(line)["groups"]
        self.assertEqual(group["key"], {"event": "sched_process_exit"})
        self.assertGreater(group["values"]["count()"], 0)

    def test_next_run_removes_leftovers_of_killed_run(self):
        self.assertEqual(sum(line.startswith("eventlog-") for line in self.part("killed")), 1)


@vm_case.full_tier
class PushedAggregationsBefore66(PushedAggregations):
    """On an older kernel, which does not count what BPF programs miss."""

    SCRIPT = "by_bpf=is_recorded\n" + SCRIPT
    BPF = False
    PART = [
        "  the kernel counts  hist:keys=common_type:vals=number:size=128 if number <= 4294967295",
        "  elog counts        what the kernel keeps for it: number > 4294967295; before Linux 6.7, "
        "the kernel does not count what BPF programs miss"]
    KERNEL = "debian-6.1"


if __name__ == "__main__":
    vm_case.main()
