#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Batches of libeventlog: each event of a batch reaches each listener of the module once and with its
time, and lost events are counted."""

import collections
import re

import loads
import parts
import vm_case

THREADS = 3
COUNT = vm_case.by_tier(6_000, 20_000)

# Stopped recorders lose the events that do not fit into their buffers.
SCRIPT = parts.SHELL + rf"""
steps=$0 load=$1 elog=$2
insmod /eventlog.ko remove_idle=1 || exit
mount -t debugfs none /sys/kernel/debug 2> /dev/null
record() {{ "$elog" record -e 'burst:*' -j "$@"; }}
late() {{
    record --via $1 -o /tmp/$1-late.elog --buffer-size 2x128K -- \
        sh -c "kill -STOP \$PPID; '$load' {THREADS} {COUNT} < /dev/null; kill -CONT \$PPID"
}}
part steps "$steps"
for route in relay device; do
    part $route record --via $route -o /tmp/$route.elog --buffer-size 2x4M -- "$load" {THREADS} {COUNT} < /dev/null
    part $route-late late $route
done
part both record --via relay -o /tmp/one.elog -- \
    "$elog" record -e 'burst:*' -o /tmp/other.elog -- "$load" 1 {COUNT} < /dev/null
is_unloaded() {{ rmmod eventlog 2> /dev/null; [ ! -e /sys/module/eventlog ]; }}
part unload wait_until is_unloaded
"""
FILES = ("relay.elog", "relay-late.elog", "device.elog", "device-late.elog", "one.elog", "other.elog")
# user_events accept one event per write.
WITHOUT_MODULE = parts.SHELL + rf"""
load=$0 elog=$1
mkfifo /tmp/keep
"$load" 1 0 < /tmp/keep > /dev/null &
keeper=$!
exec 8> /tmp/keep
event_exists() {{ [ -e /sys/kernel/tracing/events/user_events/eventlog_burst_step ]; }}
wait_until event_exists
part tracefs "$elog" record --via tracefs -e 'burst:*' -o /tmp/traced.elog -j -- \
    "$load" 2 {COUNT} < /dev/null
exec 8>&-
wait $keeper
"""


def emitted(lines):
    """The numbers of each thread's events, in the order in which they are shown."""
    numbers = collections.defaultdict(list)
    for line in lines:
        if "event" in line:
            numbers[line["fields"]["thread"]].append(line["fields"]["number"])
    return numbers


def by_time(lines):
    """The events in the order of their times. A reader orders events that can be read soon after their
    time; a batch is written later. It may be shown after the next batch of its thread, if the thread
    moves to another CPU between the two."""
    return sorted((line for line in lines if "event" in line), key=lambda line: line["time"])



class Batches(parts.Case):
    """One guest that makes all recordings; the tests check the results."""

    KERNEL = "debian-6.12"
    PROCESSORS = 2

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        kernel = vm_case.kernel_or_skip(cls.KERNEL)
        programs = [vm_case.built("PROGRAMS", name) for name in ("batch_steps", "batch_load")]
        programs.append(vm_case.built("ELOG"))
        cls.result = cls.run_script(
            kernel, SCRIPT, programs,
            files={"/eventlog.ko": vm_case.module_or_skip(kernel)},
            collect=tuple(f"/tmp/{name}" for name in FILES),
            memory=2048,
            processors=cls.PROCESSORS,
        )

    def written(self, title):
        """The counters that the program prints."""
        output = "\n".join(self.part(title))
        found = re.search(r"^written (\d+) refused (\d+) unattached (\d+)", output, re.MULTILINE)
        self.assertIsNotNone(found, output)
        return tuple(map(int, found.groups()))

    def test_passes_abi_steps(self):
        self.assertGreater(len(self.part("steps")), 30)

    def test_delivers_every_event_of_every_thread(self):
        for route in ("relay", "device"):
            with self.subTest(route):
                self.assertEqual(self.written(route), (THREADS * COUNT, 0, 0))
                found = emitted(by_time(loads.shown(self.collected(f"{route}.elog"))))
                self.assertEqual(found, {thread: list(range(COUNT)) for thread in range(THREADS)})

    def test_counts_drops(self):
        for route in ("relay", "device"):
            with self.subTest(route):
                self.assertEqual(self.written(f"{route}-late"), (THREADS * COUNT, 0, 0))
                lines = loads.shown(self.collected(f"{route}-late.elog"))
                found = sum(map(len, emitted(lines).values()))
                missing = loads.missing_in(lines)
                self.assertGreater(missing, 0)
                self.assertEqual(found + missing, THREADS * COUNT)

    def test_has_same_times_as_shared_memory(self):
        self.part("both")
        by_relay, by_memory = (loads.shown(self.collected(name))
                               for name in ("one.elog", "other.elog"))
        self.assertEqual([line["fields"] for line in by_relay],
                         [line["fields"] for line in by_memory])
        times = [line["time"] for line in by_relay]
        self.assertEqual(times, sorted(times))
        # Not those of some fifty writes.
        self.assertGreater(len(set(times)), COUNT // 10)

    def test_can_be_unloaded_afterwards(self):
        self.part("unload")


@vm_case.full_tier
class BatchesBefore64(Batches):
    """The tests on an older kernel with one processor."""

    KERNEL = "debian-6.1"
    PROCESSORS = 1


class WithoutModule(parts.Case):
    """One guest whose kernel has user_events without the module."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        kernel = vm_case.kernel_or_skip("user-events-6.12")
        programs = [vm_case.built("PROGRAMS", "batch_load"), vm_case.built("ELOG")]
        cls.result = cls.run_script(kernel, WITHOUT_MODULE, programs,
                                    collect=("/tmp/traced.elog",), memory=2048)

    def test_writes_each_event_separately(self):
        self.part("tracefs")
        found = emitted(loads.shown(self.collected("traced.elog")))
        self.assertEqual(found, {thread: list(range(COUNT)) for thread in range(2)})


if __name__ == "__main__":
    vm_case.main()
