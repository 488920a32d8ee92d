#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""perf, trace_pipe and hist triggers receive each event of a program with each field, on Debian's kernels
with the kernel module."""

import re
import subprocess

import loads
import parts
import vm_case
from test_user_events_tools import histogram

COUNT = vm_case.by_tier(10_000, 20_000)
COUNT_AS_TEXT = 3_000

# Each tool has a separate program, which emits when the tool records: it waits while the script has the
# pipe open for writing. Another program keeps the event registered between two tools.
SCRIPT = parts.SHELL + rf"""
item=/sys/kernel/tracing/events/eventlog/load_item
insmod /eventlog.ko || exit
mkfifo /tmp/hold /tmp/keep
event_exists() {{ [ -e $item ]; }}
is_gone() {{ [ ! -e $item ]; }}
begin() {{
    "$0" $1 < /tmp/hold > /tmp/$2.status 8>&- &
    program=$!
    exec 9> /tmp/hold
}}
emit() {{
    exec 9>&-
    wait $program
}}

"$0" 0 0 says < /tmp/keep &
exec 8> /tmp/keep
wait_until event_exists

begin {COUNT} perf
perf record --quiet --all-cpus --mmap-pages 4096 --event 'eventlog:*' --output /tmp/perf.data -- \
    sh -c 'touch /tmp/go; while kill -0 $0 2> /dev/null; do sleep 0.1; done' $program 8>&- 9>&- &
perf=$!
wait_until [ -e /tmp/go ]
rmmod eventlog 2> /dev/null && exit 1
emit
wait $perf || exit

begin {COUNT_AS_TEXT} trace_pipe
cat /sys/kernel/tracing/trace_pipe > /tmp/trace_pipe 8>&- 9>&- &
reader=$!
echo 1 > $item/enable
emit
has_all() {{ [ $(grep -c load_item: /tmp/trace_pipe) -ge {COUNT_AS_TEXT} ]; }}
wait_until has_all
kill $reader
wait $reader
rmmod eventlog 2> /dev/null && exit 1
echo 0 > $item/enable

for key in amount word; do
    begin {COUNT_AS_TEXT} $key
    echo "hist:keys=$key" > $item/trigger || exit
    emit
    cat $item/hist > /tmp/hist.$key
    echo "!hist:keys=$key" > $item/trigger || exit
done
for tool in perf trace_pipe amount word; do
    echo "$tool: $(cat /tmp/$tool.status)"
done
exec 8>&-
echo 1 > /sys/module/eventlog/parameters/remove_idle
wait_until is_gone
is_unloaded() {{ rmmod eventlog 2> /dev/null; [ ! -e /sys/module/eventlog ]; }}
wait_until is_unloaded
"""
FILES = ("perf.data", "trace_pipe", "hist.amount", "hist.word")
ITEM = re.compile(r" (?:eventlog:)?load_item: +number=(\d+) amount=(\d+) word=(.*)$")


def items(text):
    """Number, amount and word of each event, in the order of the lines."""
    found = (ITEM.search(line) for line in text.splitlines())
    return [(int(fields[1]), int(fields[2]), fields[3]) for fields in found if fields]


class Tools(vm_case.Case):
    """One guest in which all tools record; the tests check the recordings."""

    KERNEL = "debian-6.12"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        perf = vm_case.perf_or_skip()
        kernel = vm_case.kernel_or_skip(cls.KERNEL)
        program = vm_case.built("PROGRAMS", "user_events_load")
        cls.result = cls.run_successfully(
            kernel,
            ["sh", "-c", SCRIPT, program],
            files={"/eventlog.ko": vm_case.module_or_skip(kernel), program: program,
                   "/usr/bin/perf": perf},
            collect=tuple(f"/tmp/{name}" for name in FILES),
            memory=2048,
        )

    def read(self, name):
        return vm_case.text(self.result, f"/tmp/{name}")

    def assert_written(self, tool, count):
        self.assertIn(
            f"{tool}: written {count} too_large 0 refused 0 unattached 0\n", self.result.output
        )

    def expected_hits(self, field):
        hits = {}
        for values in loads.emitted(COUNT_AS_TEXT):
            hits[str(values[field])] = hits.get(str(values[field]), 0) + 1
        return hits

    def test_program_status_names_its_events(self):
        self.assertIn("\nThe events of provider load are in tracefs as eventlog:load_*.\n",
                      self.result.output)

    def test_perf(self):
        self.assert_written("perf", COUNT)
        command = ["perf", "script", "--show-lost-events", "--fields", "comm,event,trace", "--input",
                   self.collected("perf.data")]
        shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        self.assertEqual(items(shown), loads.emitted(COUNT))
        self.assertNotIn("LOST", shown)

    def test_trace_pipe(self):
        self.assert_written("trace_pipe", COUNT_AS_TEXT)
        self.assertEqual(items(self.read("trace_pipe")), loads.emitted(COUNT_AS_TEXT))
        self.assertNotIn("LOST", self.read("trace_pipe"))

    def test_histogram_of_an_integer(self):
        self.assert_written("amount", COUNT_AS_TEXT)
        hits, totals = histogram(self.read("hist.amount"))
        self.assertEqual(hits, self.expected_hits(1))
        self.assertEqual((totals["Hits"], totals["Dropped"]), (COUNT_AS_TEXT, 0))

    def test_histogram_of_a_text(self):
        self.assert_written("word", COUNT_AS_TEXT)
        hits, totals = histogram(self.read("hist.word"))
        self.assertEqual(hits, self.expected_hits(2))
        self.assertEqual((totals["Hits"], totals["Dropped"]), (COUNT_AS_TEXT, 0))


@vm_case.full_tier
class ToolsBefore64(Tools):
    """The tests on a kernel whose user_events have no words."""

    KERNEL = "debian-6.1"


if __name__ == "__main__":
    vm_case.main()
