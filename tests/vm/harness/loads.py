# SPDX-License-Identifier: MIT
"""Recordings of user_events_load in guests, and their contents."""

import json
import os
import subprocess

import parts
import vm_case

# The beginning of such scripts: $0 is user_events_load, which has the event $3 of the system $2; $1 is
# elog. `keep` starts a program that keeps the event registered between emitting programs. `begin COUNT`
# starts one that emits COUNT events when `emit` is called.
SHELL = parts.SHELL + """
program=$0
elog=$1
system=$2
event=$3
tracing=/sys/kernel/tracing
item=$tracing/events/$system/$event
[ -e /eventlog.ko ] && { insmod /eventlog.ko || exit; }
mkfifo /tmp/hold /tmp/keep
event_exists() { [ -e $item ]; }
keep() {
    "$program" 0 < /tmp/keep > /dev/null &
    keeper=$!
    exec 8> /tmp/keep
    wait_until event_exists
}
begin() {
    "$program" $1 < /tmp/hold > /tmp/written 8>&- &
    emitter=$!
    exec 9> /tmp/hold
}
emit() {
    exec 9>&-
    wait $emitter
    cat /tmp/written
}
"""


def shown(path, *options):
    """The lines of a recording, parsed."""
    command = [os.environ["ELOG"], "print", "-j", *options, path]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [json.loads(line) for line in lines.splitlines()]


def missing_in(lines):
    """The number of lost and overwritten events."""
    return sum(line.get("lost", 0) + line.get("overwritten", 0) for line in lines)


def loads(path):
    """Number, amount and word of each event of a recording, and the number of missing events."""
    lines = shown(path)
    found = [tuple(line["fields"][name] for name in ("number", "amount", "word"))
             for line in lines if "event" in line]
    return found, missing_in(lines)


def emitted(count):
    """Number, amount and word of each event that the program emits."""
    return [(number, number % 97, f"word {number % 13}") for number in range(count)]


def summary(lines):
    """The summary that elog record -o -j prints."""
    return next(json.loads(line) for line in lines if line.startswith('{"'))


def assert_one_timeline(case, lines, emitted_by_shop):
    """Checks that switches and events of device_shop are ordered by time, and that the emitting thread is
    the one of the last switch."""
    times = [line["time"] for line in lines]
    case.assertEqual(times, sorted(times))
    case.assertEqual(sum(line["provider"] == "shop" for line in lines), emitted_by_shop)
    running, checked = None, 0
    for line in lines:
        if line["event"] == "switch":
            running = line["fields"]["next"]
        elif line["provider"] == "shop" and running is not None:
            case.assertEqual(line["tid"], running)
            checked += 1
    case.assertGreater(checked, 0)


def assert_begin_end_pairs(case, lines, kind):
    """Checks that each begin event of the kind has an end event with the same fields."""
    begun, ended = None, 0
    for line in lines:
        if line["event"] == f"{kind}_begin":
            begun = line["fields"]
        elif line["event"] == f"{kind}_end" and begun is not None:
            case.assertEqual(line["fields"], begun)
            begun = None
            ended += 1
    case.assertGreater(ended, 0)


# More of the smallest records than buffers of 256 KiB hold.
OVERFLOW_COUNT = vm_case.by_tier(12_000, 20_000)



class Case(parts.Case):
    """One guest in which COUNT events were also counted by agg and top, in parts of these names."""

    COUNT = vm_case.by_tier(15_000, 50_000)

    def test_counts_match_memory(self):
        (line,) = self.part("agg")
        (group,) = json.loads(line)["groups"]
        self.assertEqual(list(group.values()), [
            {"event": "item"}, {"count()": self.COUNT, "sum(number)": sum(range(self.COUNT))}])

    def test_trigger_matches_memory(self):
        *_, last = map(json.loads, self.part("top"))
        self.assertEqual((last["events"], last["lost"]), (self.COUNT, 0))

    def assert_newest(self, name, title, count):
        """Checks that overwritten events are counted and the rest is recorded."""
        totals = summary(self.part(title))
        found, missing = loads(self.collected(name))
        self.assertGreater(len(found), 1000)
        self.assertGreater(missing, 0)
        self.assertEqual(found, emitted(count)[-len(found):])
        self.assertEqual(len(found) + missing, count)
        self.assertEqual(totals["events"], len(found))
        self.assertEqual((totals["overwritten"], totals["lost"]), (missing, 0))

    def assert_oldest(self, name, title, count):
        """Checks that lost events are counted and the earlier ones are recorded."""
        found, missing = loads(self.collected(name))
        self.assertGreater(missing, 0)
        self.assertEqual(found, emitted(count)[:len(found)])
        self.assertEqual(len(found) + missing, count)
        self.assertEqual(summary(self.part(title))["lost"], missing)


class Guest(parts.Case):
    """One guest that has run SCRIPT."""

    KERNEL = "user-events-6.12"
    SYSTEM = "user_events"
    EVENT = "eventlog_load_item"
    SCRIPT = SHELL
    PROGRAMS = ()  # further programs of the project: $4 and so on
    FILES = ()  # names in the guest's /tmp to collect
    OPTIONS = {}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        tools = cls.tools()
        kernel = vm_case.kernel_or_skip(cls.KERNEL)
        program, *others = (vm_case.built("PROGRAMS", name)
                            for name in ("user_events_load", *cls.PROGRAMS))
        elog = vm_case.built("ELOG")
        cls.result = cls.run_successfully(
            kernel,
            ["sh", "-c", cls.SCRIPT, program, elog, cls.SYSTEM, cls.EVENT, *others],
            files={each: each for each in (program, elog, *others)}
            | tools | cls.extra_files(kernel),
            collect=tuple(f"/tmp/{name}" for name in cls.FILES),
            **cls.OPTIONS,
        )

    @staticmethod
    def tools():
        """Programs of this machine by their place in the guest. Skips the tests if one is missing."""
        return {}

    @staticmethod
    def extra_files(_kernel):
        return {}


class OfTheModule:
    """Mixin of a Guest: events of the kernel module, on a kernel without user_events."""

    KERNEL = "debian-6.12"
    SYSTEM = "eventlog"
    EVENT = "load_item"

    @staticmethod
    def extra_files(kernel):
        return {"/eventlog.ko": vm_case.module_or_skip(kernel)}


# The predicate of part `asked`, see KernelTrace.
PREDICATE_FROM = Case.COUNT // 2
PREDICATE = f'number >= {PREDICATE_FROM} && amount == 7 && word ~ "word *1*"'


class KernelTrace(Guest, Case):
    """One guest in which part `asked` recorded the events of COUNT that match PREDICATE."""

    def test_pushes_predicate_to_kernel(self):
        found, lost = loads(self.collected("asked.elog"))
        by_kernel = [one for one in emitted(self.COUNT) if one[0] >= PREDICATE_FROM and one[1] == 7]
        self.assertEqual(found, [one for one in by_kernel if "1" in one[2]])
        self.assertGreater(len(found), 10)
        self.assertEqual(lost, 0)
        totals = summary(self.part("asked"))
        self.assertEqual((totals["events"], totals["where_matched"]), (len(by_kernel), len(found)))

    def assert_explained(self, title, kernel_asks, elog_asks):
        self.assertEqual(self.part(title), [
            f"load:item, in the kernel {self.SYSTEM}:{self.EVENT}",
            f"  the kernel asks  {kernel_asks}", f"  elog asks        {elog_asks}"])
