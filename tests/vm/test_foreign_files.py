#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""perf record, trace-cmd record and elog record by each source record one program at the same time: elog
reads all files, shows each event as perf script and trace-cmd report do, and merges the files in order."""

import calendar
import os
import re
import shutil
import subprocess
import time
import unittest

import loads
import vm_case

# Recorded by all tools at once.
COUNT_AT_ONCE = 5_000
MEBIBYTES = 8  # of a buffer of each tool: none may lose events
COUNT = 5_000
# More than perf's smallest buffer holds before it is read.
COUNT_OF_LOSSY = vm_case.by_tier(10_000, 20_000)

# In front of it, which $ways elog record has.
SCRIPT = loads.SHELL + rf"""
# More than a user has by default, where there is the module.
pages=/sys/module/eventlog/parameters/ring_pages_per_user
[ ! -e $pages ] || echo {1024 * MEBIBYTES} > $pages
keep
# The program that a tool runs: its start shows that the tool records.
cat > /tmp/beside <<'END'
touch $1
while kill -0 $2; do sleep 0.1; done 2> /dev/null
END

# Each begins when those around it listen.
all_at_once() {{
    set -- "$program" {COUNT_AT_ONCE}
    for way in $ways; do
        set -- "$elog" record --via $way -e 'load:*' --buffer-size 2x{MEBIBYTES}M -o /tmp/$way.elog -- "$@"
    done
    set -- trace-cmd record -q -C mono --date -b {2048 * MEBIBYTES} -e $system:$event -o /tmp/trace.dat "$@"
    perf record --quiet -k mono --all-cpus --mmap-pages {512 * MEBIBYTES} --event "$system:*" \
        --output /tmp/perf.data -- "$@" < /dev/null 8>&- 2>&1
}}
compressed() {{
    begin {COUNT}
    perf record --quiet -z --all-cpus --mmap-pages 4096 --event "$system:*" \
        --output /tmp/compressed.data -- sh /tmp/beside /tmp/compressed.go $emitter 8>&- 9>&- &
    perf=$!
    wait_until [ -e /tmp/compressed.go ]
    emit
    wait $perf
}}
lossy() {{
    begin {COUNT_OF_LOSSY}
    perf record --quiet --pid $emitter --mmap-pages 1 --event "$system:*" \
        --output /tmp/lossy.data -- sh /tmp/beside /tmp/lossy.go $emitter 8>&- 9>&- &
    perf=$!
    wait_until [ -e /tmp/lossy.go ]
    emit
    wait $perf || true
}}
# As root, with the schema of the program that keeps the event registered.
with_schema() {{ "$elog" stat /tmp/perf.data && "$elog" schema show load; }}
for each in all_at_once compressed lossy with_schema; do
    part $each $each
done
"""
# The texts of perf and trace-cmd by file names.
PERF_LINE = (r"^ *(.*?) +(\d+)/(\d+) +\[(\d+)\] +([\d.]+): +{}:{}: "
             r"number=(\d+) amount=(\d+) word=(.*)$")
TRACE_CMD_LINE = (r"^ *(.*)-(\d+) +\[(\d+)\] +([\d.]+): {}: +"
                  r"number=(\d+) amount=(\d+) word=(.*)$")


def nanoseconds(text):
    """Nanoseconds of a time like 6.304791348."""
    seconds, rest = text.split(".")
    return int(seconds) * 10**9 + int(rest.ljust(9, "0"))


def since_1970(text):
    """Nanoseconds since 1970 of a time like 2026-11-26T07:44:11.390325123Z."""
    seconds, rest = text.rstrip("Z").split(".")
    return calendar.timegm(time.strptime(seconds, "%Y-%m-%dT%H:%M:%S")) * 10**9 + int(rest)


class ForeignFiles(loads.OfTheModule, loads.Guest):
    """One guest in which all tools record; the tests check the recordings."""

    WAYS = ("memory", "device", "tracefs", "perf")  # of elog record
    SCRIPT = f"ways='{' '.join(WAYS)}'\n" + SCRIPT
    AT_ONCE = ("perf.data", "trace.dat", *(f"{way}.elog" for way in WAYS))
    FILES = (*AT_ONCE, "compressed.data", "lossy.data")
    OPTIONS = {"memory": 2048, "time_limit": 600}

    @staticmethod
    def tools():
        trace_cmd = shutil.which("trace-cmd")
        if trace_cmd is None:
            raise unittest.SkipTest("there is no trace-cmd. `./dev setup` installs it.")
        return {"/usr/bin/perf": vm_case.perf_or_skip(), "/usr/bin/trace-cmd": trace_cmd}

    def output(self, *command):
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def shown(self, name, *options):
        """The test program's events of a file, as elog shows them."""
        lines = loads.shown(self.collected(name), *options)
        return [line for line in lines if line.get("event") == "item"]

    def by_perf(self, name):
        text = self.output("perf", "script", "--ns", "--fields",
                           "comm,pid,tid,cpu,time,event,trace", "--input", self.collected(name))
        by_perf = re.compile(PERF_LINE.format(self.SYSTEM, self.EVENT))
        found = [by_perf.match(line) for line in text.splitlines()]
        return [match.groups() for match in found if match]

    def lost_by_perf(self, name):
        file = self.collected(name)
        text = self.output("perf", "script", "--show-lost-events", "--input", file)
        in_place = sum(map(int, re.findall(r"PERF_RECORD_LOST lost (\d+)$", text, re.MULTILINE)))
        # The kernel's final count, which also has losses behind the last record.
        stats = self.output("perf", "report", "--stats", "--input", file)
        return max(in_place, *map(int, re.findall(r"LOST_SAMPLES events: +(\d+)", stats)), 0)

    def assert_as_by_perf(self, name):
        by_elog = [(str(line["pid"]), str(line["tid"]), line["cpu"], nanoseconds(line["time"]),
                 *map(str, line["fields"].values()))
                for line in self.shown(name, "--clock", "monotonic")]
        by_tool = [(pid, tid, int(cpu), nanoseconds(at), *fields)
                  for _, pid, tid, cpu, at, *fields in self.by_perf(name)]
        self.assertEqual(by_elog, by_tool)

    def test_perf_data_matches_perf_script(self):
        self.assert_as_by_perf("perf.data")

    def test_trace_dat_matches_trace_cmd_report(self):
        report = self.output("trace-cmd", "report", "-t", "-i", self.collected("trace.dat"))
        by_trace_cmd = re.compile(TRACE_CMD_LINE.format(self.EVENT))
        found = [by_trace_cmd.match(line) for line in report.splitlines()]
        by_tool = [(name, tid, int(cpu), nanoseconds(at), *fields)
                  for name, tid, cpu, at, *fields in (match.groups() for match in found if match)]
        by_elog = [(line["comm"], str(line["tid"]), line["cpu"], since_1970(line["time"]),
                 *map(str, line["fields"].values())) for line in self.shown("trace.dat")]
        self.assertEqual(by_elog, by_tool)

    def test_each_has_all_events(self):
        self.assertIn(f"written {COUNT_AT_ONCE} too_large 0 refused 0 unattached 0",
                      self.part("all_at_once"))
        for name in self.AT_ONCE:
            self.assertEqual(loads.loads(self.collected(name)), (loads.emitted(COUNT_AT_ONCE), 0),
                             name)

    def test_all_match_memory(self):
        memory = self.shown("memory.elog")
        for name in self.AT_ONCE:
            other = self.shown(name)
            for key in ("fields", "tid", "comm", "provider", "event"):
                self.assertEqual([line[key] for line in other], [line[key] for line in memory],
                                 name)
            # Written by each route in turn, within one call of emit.
            self.assertLess(max(abs(since_1970(one["time"]) - since_1970(two["time"]))
                                for one, two in zip(other, memory)), 10**9)

    def test_all_merge_in_time_order(self):
        """The program emits to all routes before it emits the next one."""
        merged = os.path.join(self.result.files, "tmp", "merged.elog")
        self.output(os.environ["ELOG"], "merge", "-o", merged, *map(self.collected, self.AT_ONCE))
        self.output(os.environ["ELOG"], "verify", merged)
        numbers = [line["fields"]["number"] for line in self.shown("merged.elog")]
        self.assertEqual(numbers, [number for number in range(COUNT_AT_ONCE) for _ in self.AT_ONCE])

    def test_compressed_perf_data_matches_perf_script(self):
        self.part("compressed")
        self.assertEqual(loads.loads(self.collected("compressed.data")), (loads.emitted(COUNT), 0))
        self.assert_as_by_perf("compressed.data")

    def test_losses_match_perf(self):
        self.assertIn(f"written {COUNT_OF_LOSSY} too_large 0 refused 0 unattached 0",
                      self.part("lossy"))
        found, missing = loads.loads(self.collected("lossy.data"))
        self.assertGreater(missing, 0)
        # By CPU, the one count may have the beginning or end of a program that the other one lacks.
        self.assertIn(missing - self.lost_by_perf("lossy.data"), (0, 1, 2))
        # It has counted lost beginnings and ends of programs in the same sums.
        self.assertGreaterEqual(len(found) + missing, COUNT_OF_LOSSY)
        self.assertEqual(found, sorted(found))
        self.assert_as_by_perf("lossy.data")
        # Losses are between two events, whose numbers determine the number of lost ones.
        lines = loads.shown(self.collected("lossy.data"))
        gaps = [(before["fields"]["number"], line["lost"], after["fields"]["number"])
                for before, line, after in zip(lines, lines[1:], lines[2:])
                if "event" in before and "lost" in line and "event" in after]
        self.assertTrue(gaps)
        for before, lost, after in gaps:
            self.assertGreaterEqual(lost, after - before - 1)

    def test_uses_published_schema(self):
        lines = self.part("with_schema")
        self.assertTrue(any(re.match(rf"load:item +{COUNT_AT_ONCE} ", line) for line in lines), lines)


@vm_case.full_tier
class FilesOfUserEvents(ForeignFiles):
    """The tests with the kernel's user_events, without the module and its device."""

    KERNEL = loads.Guest.KERNEL
    SYSTEM = loads.Guest.SYSTEM
    EVENT = loads.Guest.EVENT
    WAYS = ("memory", "tracefs", "perf")
    SCRIPT = f"ways='{' '.join(WAYS)}'\n" + SCRIPT
    AT_ONCE = ("perf.data", "trace.dat", *(f"{way}.elog" for way in WAYS))
    FILES = (*AT_ONCE, "compressed.data", "lossy.data")

    @staticmethod
    def extra_files(_kernel):
        return {}


if __name__ == "__main__":
    vm_case.main()
