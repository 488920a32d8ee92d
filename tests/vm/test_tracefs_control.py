#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""elog kernel enable, disable and list on the kernel's tracing: the kernel keeps exactly what was enabled,
settings of other tools stay, and disabling leaves no trace."""

import json
import re

import json_page
import loads
import vm_case

COUNT = 1000

# Another program emits each time.
SCRIPT = loads.SHELL + rf"""
refused_filter=$4
keep

emit() {{ "$program" {COUNT} < /dev/null 8>&- > /dev/null; }}
state() {{ cat $item/enable $item/filter; grep -v '^#' $item/trigger; cat $tracing/tracing_on; }}
state > /tmp/before
is_as_before() {{
    state > /tmp/now
    cmp -s /tmp/before /tmp/now || {{ echo "WRONG: it is not as before"; cat /tmp/now; }}
}}
kept() {{
    grep -c "$event:" $tracing/trace
    echo > $tracing/trace
}}

keeps() {{
    "$elog" kernel enable -j load:item --where 'number >= 500 && amount == 7' || return
    cat $item/filter $item/enable
    emit
    kept
    "$elog" kernel enable -j 'load:*' --where 'amount == 7 && number >= 500' && echo "WRONG: changed"
    "$elog" kernel enable -j load --where 'number >= 500 && amount == 7'
    "$elog" kernel list -j --enabled
    "$elog" kernel disable -j 'load:*'
    is_as_before
}}
keeps_all() {{
    "$elog" kernel enable load
    emit
    kept
    "$elog" kernel list
    "$elog" kernel disable load > /dev/null
    is_as_before
    "$elog" kernel list --enabled
}}
# The kernel filters texts of fixed size like elog.
keeps_texts() {{
    "$elog" kernel enable -j sched:sched_process_exit --where '.comm == "marked"'
    cp "$program" /tmp/marked
    /tmp/marked 0 < /dev/null 8>&- > /dev/null
    "$program" 0 < /dev/null 8>&- > /dev/null
    echo "exits: $(grep -c sched_process_exit: $tracing/trace)"
    "$elog" kernel disable sched:sched_process_exit
    echo > $tracing/trace
}}
refused() {{ "$elog" kernel enable load:item --where "$1"; code=$?; is_as_before; return $code; }}
refuses_text() {{ refused 'number > 5 && word == "word 1"'; }}
refuses_process() {{ refused 'comm == "load" || number == 1'; }}
refuses_never() {{ refused 'amount > 5000000000'; }}
refuses_name() {{ refused 'amuont > 5'; }}
refuses_unknown() {{ "$elog" kernel enable absent:item; }}
refuses_instance() {{ "$elog" kernel enable load --instance absent; }}
refuses_path() {{ "$elog" kernel enable load --instance ../x; }}
leaves_others() {{
    echo 1 > $item/enable
    "$elog" kernel enable load && echo "WRONG: enabled"
    "$elog" kernel disable load && echo "WRONG: disabled"
    cat $item/enable
    echo 0 > $item/enable
    echo 'number > 5' > $item/filter
    "$elog" kernel enable load && echo "WRONG: enabled"
    cat $item/filter
    echo 0 > $item/filter
    is_as_before
}}
all_or_none() {{
    switch=$tracing/events/sched/sched_switch
    echo 1 > $tracing/events/sched/sched_wakeup/enable
    refused() {{
        "$elog" kernel enable sched:sched_switch sched:sched_wakeup "$@" && echo "WRONG: enabled"
        cat $switch/enable $switch/filter
        grep -v '^#' $switch/trigger
    }}
    "$elog" kernel enable sched:sched_switch --trigger traceoff --where 'prev_pid == 1234567'
    refused
    # The event is disabled by another tool.
    "$elog" kernel enable sched:sched_switch --where 'prev_pid == 7'
    echo 0 > $switch/enable
    refused --where 'tid == 5'
    "$elog" kernel disable sched:sched_switch
    echo 'traceoff if common_type == 0' > $tracing/events/sched/sched_wakeup/trigger
    "$elog" kernel enable sched:sched_switch --trigger stacktrace --where 'prev_pid == 1234567'
    "$elog" kernel enable sched:sched_switch sched:sched_wakeup --trigger traceoff --where 'tid == 5' && echo "WRONG: enabled"
    grep -v '^#' $switch/trigger
    echo '!traceoff' > $tracing/events/sched/sched_wakeup/trigger
    "$elog" kernel disable sched:sched_switch
    echo 0 > $tracing/events/sched/sched_wakeup/enable
    echo > $tracing/trace
}}
switched_off() {{
    "$elog" kernel enable load --where 'number == 5'
    echo 0 > $item/enable
    "$elog" kernel enable -j load --where 'number == 6'
    cat $item/enable $item/filter
    "$elog" kernel disable load
    is_as_before
}}
refused_by_the_kernel() {{ "$refused_filter"; }}
triggers() {{
    echo 'hist:keys=amount' > $item/trigger
    "$elog" kernel enable load --trigger stacktrace --where 'number == 500'
    "$elog" kernel enable load --trigger traceoff --where 'number == 900'
    "$elog" kernel enable load --trigger traceoff && echo "WRONG: a second one"
    grep -v '^#' $item/trigger
    emit
    cat $tracing/tracing_on
    echo "stacks: $(grep -c 'stack trace' $tracing/trace)"
    "$elog" kernel list 'load:*' -j
    "$elog" kernel disable load --trigger stacktrace -j
    "$elog" kernel disable load -j
    "$elog" kernel disable load && echo "WRONG: undone twice"
    grep -v '^#' $item/trigger
    echo '!hist:keys=amount' > $item/trigger
    # The kernel treats both as equal.
    echo 'traceon' > $item/trigger
    "$elog" kernel enable load --trigger traceoff && echo "WRONG: two of them"
    "$elog" kernel disable load && echo "WRONG: undone"
    grep -v '^#' $item/trigger
    echo '!traceon' > $item/trigger
    echo 1 > $tracing/tracing_on
    echo > $tracing/trace
    is_as_before
}}
in_an_instance() {{
    mkdir $tracing/instances/mine
    "$elog" kernel enable load --instance mine
    is_as_before
    emit
    echo "kept: $(grep -c "$event:" $tracing/instances/mine/trace)"
    "$elog" kernel list --instance mine
    "$elog" kernel disable load && echo "WRONG: not there"
    "$elog" kernel disable load --instance mine
    cat $tracing/instances/mine/events/$system/$event/enable
    rmdir $tracing/instances/mine
}}
# The second of four events is removed while elog waits for a reader of its message about the first, and
# the third cannot be changed.
undoes_the_rest() {{
    [ -e $tracing/kprobe_events ] || return
    own=$tracing/events/own
    for each in a b c d; do
        echo "p:own/$each kernel_restart" >> $tracing/kprobe_events
    done
    "$elog" kernel enable own > /dev/null
    mount -o bind $own/c/enable $own/c/enable
    mount -o remount,bind,ro $own/c/enable
    is_off() {{ [ "$(cat $own/$1/enable)" = 0 ]; }}
    {{
        head -c 65536 /dev/zero
        "$elog" kernel disable own
        echo "ended with $?"
    }} | {{
        wait_until is_off a
        echo 0 > $own/b/enable
        echo -:own/b >> $tracing/kprobe_events
        [ -e $own/b ] && echo "WRONG: it is still there"
        tr -d '\000'
    }}
    umount $own/c/enable
    "$elog" kernel disable -j own
    cat $own/*/enable $own/*/filter
    echo > $tracing/kprobe_events
}}
as_user() {{ su user -s /bin/sh -c "$*"; }}
refuses_user() {{ as_user "$elog" kernel enable load; }}
# The user may list the events, but not read the state of the test's event.
permits_some() {{
    chmod o+rx $tracing $tracing/events $tracing/events/$system $item
    chmod o+r $item/format $item/enable $item/trigger
    chmod o-rwx $item/filter
    as_user "$elog" kernel list load
}}
refuses_system_to_user() {{
    chmod o+rx $tracing $tracing/events
    chmod o-rwx $tracing/events/$system
    as_user "$elog" kernel list load
}}
refuses_instance_to_user() {{
    chmod o-rwx $tracing/instances
    as_user "$elog" kernel list load --instance mine
}}
for each in keeps keeps_all keeps_texts refuses_text refuses_process refuses_never refuses_name refuses_unknown refuses_instance refuses_path leaves_others all_or_none switched_off refused_by_the_kernel triggers in_an_instance undoes_the_rest refuses_user refuses_system_to_user permits_some refuses_instance_to_user; do
    part $each $each
done
true
"""

MARK = "common_type != 0"


class TracefsControl(loads.Guest):
    """One guest that runs all commands; the tests check their output."""

    SCRIPT = SCRIPT
    PROGRAMS = ("rejected_filter",)

    def name(self):
        return f"{self.SYSTEM}:{self.EVENT}"

    def test_applies_predicate_until_undone(self):
        lines = self.part("keeps")
        objects = [json.loads(line) for line in lines if line.startswith("{")]
        condition = "(number >= 500 && amount == 7)"
        first, again, listed, undone = objects
        page = json_page.JsonPage()
        for table, value in zip(("kernel setting", "kernel setting", "kernel event",
                                 "kernel setting"), objects):
            self.assertEqual(list(page.check(table, value)), [])
        self.assertEqual(first, {
            "version": 1, "kernel_event": self.name(), "provider": "load", "event": "item", "state": "new",
            "undone": [], "trigger": None, "filter": condition})
        self.assertEqual(again["state"], "existing")
        self.assertEqual((undone["state"], undone["undone"]), ("undone", ["enabled"]))
        self.assertEqual((listed["enabled"], listed["by_elog"], listed["filter"]),
                         (True, True, condition))
        self.assertEqual([(field["name"], field["type"]) for field in listed["fields"]],
                         [("number", "u64"), ("amount", "u32"), ("word", "text")])
        wanted = sum(1 for number in range(500, COUNT) if number % 97 == 7)
        self.assertEqual(lines[1:4], [f"{MARK} && {condition}", "1", str(wanted)])
        self.assertRegex("\n".join(lines), "is enabled already, by elog kernel enable, if")

    def test_without_predicate_keeps_all(self):
        lines = self.part("keeps_all")
        self.assertEqual(lines, [
            self.name(), str(COUNT), f"load:item  {self.name()}  enabled by elog",
            "  fields   number u64, amount u32, word text"])

    def test_filters_fixed_size_texts_in_kernel(self):
        lines = self.part("keeps_texts")
        self.assertEqual(json.loads(lines[0])["filter"], 'comm == "marked"')
        self.assertEqual(lines[1:], ["exits: 1", "sched:sched_process_exit"])

    def test_rejects_inexact_kernel_filters(self):
        (text,) = self.part("refuses_text", 2)
        self.assertRegex(text, r"--where, column 15: .*null pointer.* elog record --via tracefs")
        (process,) = self.part("refuses_process", 2)
        self.assertRegex(process, r"--where, column 1: .*it knows tid")
        self.assertRegex(self.part("refuses_never", 2)[0], "is false for every load:item")
        self.assertRegex(self.part("refuses_name", 2)[0], "amuont.*amount")

    def test_rejects_unknown_events(self):
        self.assertIn("no event that matches 'absent:item'", self.part("refuses_unknown", 1)[0])
        self.assertIn("no instance called 'absent'", self.part("refuses_instance", 1)[0])
        self.assertIn("no instance called '../x'", self.part("refuses_path", 1)[0])

    def test_does_not_change_events_enabled_by_other_tools(self):
        lines = self.part("leaves_others")
        self.assertRegex(lines[0], "is enabled already, and not by elog kernel enable")
        self.assertRegex(lines[1], "has changed nothing at these events")
        self.assertEqual(lines[2], "1")
        self.assertRegex(lines[3], "has a filter already")
        self.assertEqual(lines[4], "number > 5")

    def test_enables_all_or_none(self):
        lines = [line for line in self.part("all_or_none")
                 if not line.startswith(("sched:", "elog:"))]
        traceoff = f"traceoff:unlimited if {MARK} && prev_pid == 1234567"
        stacktrace = f"stacktrace:unlimited if {MARK} && prev_pid == 1234567"
        self.assertEqual(lines, [
            "0*", "none", traceoff, "0*", f"{MARK} && prev_pid == 7", traceoff, stacktrace])

    def test_reenables_disabled_event(self):
        lines = self.part("switched_off")
        self.assertEqual(json.loads(lines[1])["state"], "new")
        self.assertEqual(lines[2:4], ["1", f"{MARK} && number == 6"])

    def test_removes_rejected_filter(self):
        self.assertEqual(self.part("refused_by_the_kernel"),
                         ["top: rejected, ''", "own: rejected, ''"])

    def test_triggers_coexist_with_foreign_triggers(self):
        lines = self.part("triggers")
        for line in (f"traceoff:unlimited if {MARK} && number == 900",
                     f"stacktrace:unlimited if {MARK} && number == 500", "traceon:unlimited"):
            self.assertEqual(lines.count(line), 1, lines)
        self.assertEqual(sum(line.startswith("hist:keys=amount") for line in lines), 2, lines)
        self.assertRegex("\n".join(lines), "has such a trigger already")
        self.assertRegex("\n".join(lines), "has that trigger already, by elog kernel enable")
        self.assertEqual(lines[lines.index("stacks: 1") - 1], "0")
        listed, *undone = [json.loads(line) for line in lines if line.startswith("{")]
        self.assertEqual((listed["enabled"], len(listed["triggers"])), (False, 3))
        self.assertEqual([each["undone"] for each in undone],
                         [["stacktrace"], ["traceoff"]])

    def test_respects_instance(self):
        lines = self.part("in_an_instance")
        self.assertIn(f"kept: {COUNT}", lines)
        self.assertTrue(any(re.fullmatch(r"load:item  .*  enabled by elog", line)
                            for line in lines), lines)
        self.assertEqual(lines[-1], "0")

    def test_reports_missing_permission(self):
        self.assertIn("elog doctor", self.part("refuses_user", 1)[0])
        self.assertRegex(self.part("refuses_system_to_user", 1)[0],
                         f"The events in .*/{self.SYSTEM} cannot be listed: .*elog doctor")
        (messages,) = self.part("permits_some", 1)
        self.assertRegex(messages, "cannot be read.* may not be used: reading the file filter of .*:"
                               ".*elog doctor")
        self.assertRegex(self.part("refuses_instance_to_user", 1)[0],
                         "the instance mine may not be used")


@vm_case.full_tier
class TracefsControlOfTheModule(loads.OfTheModule, TracefsControl):
    """The tests with events of the kernel module, on a kernel with probes."""

    def test_undoes_remaining_events_after_partial_failure(self):
        *lines, again, enable_a, enable_c, enable_d, _, _, _ = self.part("undoes_the_rest")
        messages = [line for line in lines if line.startswith("elog: ")]
        self.assertEqual([line for line in lines if line not in messages],
                         ["own:a", "own:d", "ended with 1"])
        self.assertEqual(len(messages), 2, messages)
        self.assertRegex(messages[0], "refuses the end of own:c: Read-only file system")
        self.assertRegex(messages[1], "Not everything could be undone at 1 of these events")
        # What was left is undone when it can be, and only that.
        self.assertEqual(json.loads(again)["kernel_event"], "own:c")
        self.assertEqual([enable_a, enable_c, enable_d], ["0"] * 3)
        self.assertEqual(self.part("undoes_the_rest")[-3:], ["none"] * 3)


if __name__ == "__main__":
    vm_case.main()
