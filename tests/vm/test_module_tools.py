#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""perf, trace_pipe and hist triggers receive each event of a program with each field, on Debian's kernels
with the kernel module. bpftrace, as an external user of BPF, prints the fields of these events and of USDT
probes, by the scripts of `elog schema bpftrace`; on trace events of user_events a BPF program attaches and
never runs. A program with libelog reads the events by every route of the machine, and one with libperf by
perf's buffers."""

import re
import shutil
import subprocess
import tempfile
import unittest

import kernel_module
import kernels
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


BPFTRACE = parts.SHELL + r"""
mount -t tracefs none /sys/kernel/tracing 2> /dev/null
mount -t debugfs none /sys/kernel/debug 2> /dev/null
ulimit -l unlimited
# A program that waits keeps its event registered: keep PROGRAM EVENT.
keep() {
    mkfifo /tmp/hold
    "$1" 0 0 < /tmp/hold > /tmp/kept &
    kept=$!
    exec 9> /tmp/hold
    event=/sys/kernel/tracing/events/$2
    event_exists() { [ -e $event ]; }
    wait_until event_exists
}
"""

# The program of the module's event runs until bpftrace has attached, which nothing shows, and then once more.
BPFTRACE_ON_MODULE = BPFTRACE + r"""
insmod /eventlog.ko || exit
elog schema bpftrace "$0" --usdt "$0" > /tmp/usdt.bt || exit
part usdt bpftrace -c "$0 2" /tmp/usdt.bt

keep "$1" eventlog/kinds_all
elog schema bpftrace "$1" > /tmp/kinds.bt || exit
bpftrace -B line /tmp/kinds.bt > /tmp/trace 2>&1 9>&- &
tracer=$!
printed() { grep -c ^kinds:all /tmp/trace; }
is_attached() { "$program" 1 < /dev/null > /tmp/output; [ "$(printed)" -gt 0 ]; }
program=$1
wait_until is_attached
"$1" 5 < /dev/null > /tmp/output
has_printed() { [ "$(printed)" -ge 6 ]; }
wait_until has_printed
kill -INT $tracer
wait $tracer
part trace_events cat /tmp/trace
"""

BPFTRACE_ON_USER_EVENTS = BPFTRACE + r"""
keep "$0" user_events/eventlog_load_item
echo 1 > $event/enable
# Without type information of the kernel, bpftrace wants a header, of which this program needs nothing.
mkdir -p /tmp/include/linux
touch /tmp/include/linux/types.h
bpftrace -I /tmp/include -B line -e 'tracepoint:user_events:eventlog_load_item { @ran = count(); }
    interval:ms:100 { printf("attached\n"); }' > /tmp/trace 2>&1 9>&- &
tracer=$!
wait_until grep -q ^attached /tmp/trace
"$0" 5 0 < /dev/null > /tmp/output
sleep 1
kill -INT $tracer
wait $tracer
part bpf grep -v ^attached /tmp/trace
part ftrace grep -c load_item: /sys/kernel/tracing/trace
"""

KINDS = ("kinds:all many=[1,2,3,4,5,6,7,8] some=[1,2,3,4] where_row=-5 where_column=6 part=0x3e800000 "
         "share=0x3fe0000000000000 near=[192,0,2,1] card=[2,0,0,0,0,9] took=1500000 full=eight is "
         "large=4000000000 below=-5")

PROBES = [
    "probed:order_placed number=-{} what=loaf of=2 price=0x3ff8000000000000",
    r"probed:connected peer_port=80 peer_host=\x0a\x00\x00\x01 name=peter user=paul sum=-5 nothing=",
    "probed:idle",
    "probed:crowded a=1 b=2 c=3 d=4 e=5 f=6",
    "probed:request session=81 size=4096",
    r"probed:unlocked with=\x01\x02\x03\x04\x00\x00\x00\x00 doors=5",
    "probed:cooking duration=N pots=6",
    "probed:stock loaves=-{}",
]


def bpftrace_or_skip():
    found = shutil.which("bpftrace")
    if found is None:
        raise unittest.SkipTest("there is no bpftrace. `./dev setup vm` installs it.")
    return found


class Bpftrace(parts.Case):
    """One guest with Debian's kernel and the kernel module."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        kernel = vm_case.kernel_or_skip("debian-6.12")
        programs = [vm_case.built("PROGRAMS", name) for name in ("usdt_probes", "user_events_kinds")]
        cls.result = cls.run_successfully(
            kernel, ["sh", "-c", BPFTRACE_ON_MODULE, *programs],
            files={"/eventlog.ko": vm_case.module_or_skip(kernel), "/bin/elog": vm_case.built("ELOG"),
                   "/bin/bpftrace": bpftrace_or_skip(), **{program: program for program in programs}},
            memory=2048,
        )

    def test_prints_fields_of_usdt_probes(self):
        lines = [re.sub(r"duration=\d+", "duration=N", line) for line in self.part("usdt")
                 if line.startswith("probed:")]
        rounds = [line.format(number, number) for number, loaves in ((7, 7), (8, 14))
                  for line in (*PROBES[:-1], PROBES[-1].format(loaves))]
        self.assertEqual(lines, ["probed:session_begin session=81", *rounds,
                                 "probed:session_end session=81"])

    def test_prints_numbers_texts_and_arrays_of_trace_events(self):
        lines = [line for line in self.part("trace_events") if line.startswith("kinds:")]
        self.assertGreaterEqual(len(lines), 6)
        self.assertEqual(set(lines), {KINDS})


class BpftraceOnUserEvents(parts.Case):
    """One guest with user_events of an unpatched kernel."""

    def test_program_attaches_and_never_runs(self):
        program = vm_case.built("PROGRAMS", "user_events_load")
        self.result = self.run_successfully(
            vm_case.kernel_or_skip("user-events-6.12"), ["sh", "-c", BPFTRACE_ON_USER_EVENTS, program],
            files={"/bin/bpftrace": bpftrace_or_skip(), program: program}, memory=2048,
        )
        self.assertEqual(self.part("ftrace"), ["5"])
        lines = self.part("bpf")
        self.assertIn("Attaching 2 probes...", lines)
        self.assertIn("@ran: 0", lines)


LIBPERF = loads.SHELL + r"""
keep
"$4" absent true
echo "absent: $?"
perf record --quiet --all-cpus --mmap-pages 1024 --event 'eventlog:*' --output /tmp/perf.data -- \
    "$elog" record --via perf -e 'load:*' -o /tmp/own.elog -- \
    "$4" eventlog sh -c "'$program' $5 > /tmp/output" < /dev/null > /tmp/printed 8>&- 2> /tmp/counts || exit
cat /tmp/counts
"""


class Libperf(vm_case.Case):
    """examples/consumers/libperf, perf record and elog record in one guest, at the same time."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        kernel = vm_case.kernel_or_skip("debian-6.12")
        consumer = cls.build()
        load = vm_case.built("PROGRAMS", "user_events_load")
        cls.result = cls.run_script(
            kernel, LIBPERF,
            [load, vm_case.built("ELOG")], "eventlog", "load_item", consumer, str(COUNT_AS_TEXT),
            files={"/eventlog.ko": vm_case.module_or_skip(kernel), consumer: consumer,
                   "/usr/bin/perf": vm_case.perf_or_skip()},
            collect=("/tmp/perf.data", "/tmp/own.elog", "/tmp/printed"), memory=2048, processors=2,
        )

    @classmethod
    def build(cls):
        """By the Makefile of the example, with the source of the kernel that the harness builds."""
        folder = tempfile.mkdtemp(prefix="eventlog-libperf-")
        cls.addClassCleanup(shutil.rmtree, folder)
        example = kernel_module.ROOT / "examples/consumers/libperf"
        subprocess.run(["make", "-s", "-C", example, f"BUILD={folder}",
                        f"KERNEL_SOURCE={kernels.source_of('user-events-6.12')}"], check=True)
        return f"{folder}/print_events"

    def test_prints_the_events_of_perf_and_elog(self):
        shown = subprocess.run(["perf", "script", "--fields", "comm,event,trace", "--input",
                                self.collected("perf.data")], capture_output=True, text=True, check=True)
        # Processors are read one after the other.
        self.assertEqual(sorted(items(vm_case.text(self.result, "/tmp/printed"))),
                         loads.emitted(COUNT_AS_TEXT))
        self.assertEqual(items(shown.stdout), loads.emitted(COUNT_AS_TEXT))
        self.assertEqual(loads.loads(self.collected("own.elog")), (loads.emitted(COUNT_AS_TEXT), 0))

    def test_counts_events_and_losses(self):
        self.assertIn(f"\n{COUNT_AS_TEXT} events, 0 lost\n", self.result.output)

    def test_absent_system_is_an_error(self):
        self.assertIn("absent: 1\n", self.result.output)


COUNT_OF_LIBRARY = loads.Case.COUNT
ROUTES = ("memory", "device", "relay", "tracefs", "perf")

LIBRARY = parts.SHELL + rf"""
load=$0 reader=$1
read_all() {{ "$reader" "$@" < /dev/null; }}

part no_device read_all 'device:load:*'
part no_relay read_all 'relay:load:*'
insmod /eventlog.ko remove_idle=1 || exit
mount -t debugfs none /sys/kernel/debug 2> /dev/null
part session_in_tracefs read_all 'tracefs:load:*#'
mkfifo /tmp/keep /tmp/end
"$load" 0 < /tmp/keep > /dev/null &
keeper=$!
exec 8> /tmp/keep
event_exists() {{ [ -e /sys/kernel/tracing/events/eventlog/load_item ]; }}
wait_until event_exists

together() {{
    "$reader" {" ".join(f"'{route}:load:*'" for route in ROUTES)} \
        < /tmp/end > /tmp/output 2>&1 8>&- &
    pid=$!
    exec 9> /tmp/end
    is_ready() {{ [ -s /tmp/output ]; }}
    wait_until is_ready
    "$load" {COUNT_OF_LIBRARY} < /dev/null > /dev/null 9>&-
    exec 9>&-
    wait $pid
    status=$?
    cat /tmp/output
    return $status
}}
part together together
exec 8>&-
wait $keeper
# Nothing is left behind.
is_idle() {{ rmmod eventlog; }}
part unloads wait_until is_idle
umount /sys/kernel/tracing 2> /dev/null
umount /sys/kernel/debug/tracing 2> /dev/null
umount /sys/kernel/debug 2> /dev/null
part no_tracefs read_all 'tracefs:load:*'
"""


class Library(parts.Case):
    """libelog in one guest, which lacks the routes at the beginning and at the end."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        kernel = vm_case.kernel_or_skip("debian-6.12")
        programs = [vm_case.built("PROGRAMS", name) for name in ("user_events_load", "library_routes")]
        cls.result = cls.run_script(
            kernel, LIBRARY, programs, files={"/eventlog.ko": vm_case.module_or_skip(kernel)},
            memory=2048, processors=2,
        )

    def test_all_routes_deliver_each_event_with_its_fields(self):
        expected = ["ready"] + [
            f"{route}:load:* {COUNT_OF_LIBRARY} right 0 wrong 0 lost" for route in ROUTES
        ]
        self.assertEqual(self.part("together"), expected)

    def test_missing_routes_are_named_with_their_remedy(self):
        self.assert_rejected({
            "no_device": "modprobe eventlog",
            "no_relay": "modprobe eventlog",
            "no_tracefs": "tracefs is not mounted.",
            "session_in_tracefs": "The kernel's tracing has no sessions",
        })

    def test_sources_leave_nothing_behind(self):
        self.part("unloads")


if __name__ == "__main__":
    vm_case.main()
