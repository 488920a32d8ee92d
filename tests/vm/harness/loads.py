# SPDX-License-Identifier: MIT
"""What recordings have of the events of user_events_load, for tests that make some in a guest."""

import json
import os
import subprocess

import parts
import vm_case

# What such a script begins with: user_events_load is $0 and has the event $3 of the system $2, elog is
# $1. `keep` has a program keep the event between those that emit. `begin COUNT` starts one that emits
# that often when `emit` lets it.
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
    """What is in a file, line for line."""
    command = [os.environ["ELOG"], "print", "-j", *options, path]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [json.loads(line) for line in lines.splitlines()]


def loads(path):
    """Number, amount and word of each event in a file, and how many are missing."""
    lines = shown(path)
    found = [tuple(line["fields"][name] for name in ("number", "amount", "word"))
             for line in lines if "event" in line]
    return found, sum(line["lost"] for line in lines if "event" not in line)


def emitted(count):
    """The same of what a program has emitted."""
    return [(number, number % 97, f"word {number % 13}") for number in range(count)]


def summary(lines):
    """What elog record -o -j says at the end."""
    return next(json.loads(line) for line in lines if line.startswith('{"'))


def assert_one_timeline(case, lines, emitted_by_shop):
    """Of switches and of the events of device_shop: by time, and whoever emits is who was switched to
    last."""
    times = [line["time"] for line in lines]
    case.assertEqual(times, sorted(times))
    case.assertEqual(sum(line["provider"] == "shop" for line in lines), emitted_by_shop)
    running, checked = None, 0
    for line in lines:
        if line["event"] == "switch":
            running = line["fields"]["next"]
        elif line["provider"] == "shop" and running is not None:
            case.assertEqual(line["thread"], running)
            checked += 1
    case.assertGreater(checked, 0)


def assert_begin_end_pairs(case, lines, kind):
    """What begins, of that kind, ends with the same fields."""
    begun, ended = None, 0
    for line in lines:
        if line["event"] == f"{kind}_begin":
            begun = line["fields"]
        elif line["event"] == f"{kind}_end" and begun is not None:
            case.assertEqual(line["fields"], begun)
            begun = None
            ended += 1
    case.assertGreater(ended, 0)


# More than buffers of 256 KiB take of the smallest records.
OVERFLOW_COUNT = vm_case.by_tier(12_000, 20_000)



class Case(parts.Case):
    """One guest, in which COUNT events were also counted and watched: parts agg and top."""

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
        """What has been overwritten is counted, and the rest is there."""
        told = summary(self.part(title))
        found, missing = loads(self.collected(name))
        self.assertGreater(len(found), 1000)
        self.assertGreater(missing, 0)
        self.assertEqual(found, emitted(count)[-len(found):])
        self.assertEqual(len(found) + missing, count)
        self.assertEqual(told["events"], len(found))
        self.assertEqual((told["overwritten"], told["lost"]), (missing, 0))

    def assert_oldest(self, name, title, count):
        """What has found no room is counted, and what was before that is there."""
        found, missing = loads(self.collected(name))
        self.assertGreater(missing, 0)
        self.assertEqual(found, emitted(count)[:len(found)])
        self.assertEqual(len(found) + missing, count)
        self.assertEqual(summary(self.part(title))["lost"], missing)


class Guest(parts.Case):
    """One guest, in which SCRIPT has run."""

    KERNEL = "user-events-6.12"
    SYSTEM = "user_events"
    EVENT = "eventlog_load_item"
    SCRIPT = SHELL
    PROGRAMS = ()  # more of ours: $4 and so on
    FILES = ()  # that are looked at here, of its /tmp
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
        """Others' programs by where the guest has them. Skips the tests if there is none."""
        return {}

    @staticmethod
    def extra_files(_kernel):
        return {}


class OfTheModule:
    """In front of a Guest: of the kernel module's events, on a kernel without user_events."""

    KERNEL = "debian-6.12"
    SYSTEM = "eventlog"
    EVENT = "load_item"

    @staticmethod
    def extra_files(kernel):
        return {"/eventlog.ko": vm_case.module_or_skip(kernel)}


# What part `asked` records, see KernelTrace.
PREDICATE_FROM = Case.COUNT // 2
PREDICATE = f'number >= {ASKED_FROM} && amount == 7 && word ~ "word *1*"'


class KernelTrace(Guest, Case):
    """One guest, in which of COUNT events those were recorded that PREDICATE is true for: part asked."""

    def test_pushes_predicate_to_kernel(self):
        found, lost = loads(self.collected("asked.elog"))
        by_kernel = [one for one in emitted(self.COUNT) if one[0] >= PREDICATE_FROM and one[1] == 7]
        self.assertEqual(found, [one for one in by_kernel if "1" in one[2]])
        self.assertGreater(len(found), 10)
        self.assertEqual(lost, 0)
        told = summary(self.part("asked"))
        self.assertEqual((told["events"], told["passed"]), (len(by_kernel), len(found)))

    def assert_explained(self, title, kernel_asks, elog_asks):
        self.assertEqual(self.part(title), [
            f"load:item, in the kernel {self.SYSTEM}:{self.EVENT}",
            f"  the kernel asks  {kernel_asks}", f"  elog asks        {elog_asks}"])
