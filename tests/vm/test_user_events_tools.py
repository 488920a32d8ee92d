#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""perf, trace-cmd, trace_pipe and hist triggers receive each event with each field, without knowledge of
eventlog."""

import re
import shutil
import subprocess
import unittest

import loads
import parts
import vm_case

COUNT = vm_case.by_tier(15_000, 100_000)
# More than fit into the smallest buffers.
COUNT_OF_LOSSY = vm_case.by_tier(10_000, 20_000)
# Size of the text in the largest payload, which has 16 bytes in front of it and a NUL behind it.
LARGEST = 4048 - 16 - 1

# Kernels that keep events and append a hash to each name need explicit removal.
# Each tool has a separate program: it registers its event before the tool starts, and emits when the
# script closes the pipe.
SCRIPT = parts.SHELL + rf"""
events=/sys/kernel/tracing/events/user_events
source=$0
event=eventlog_load_item
mkfifo /tmp/hold /tmp/keep
find_item() {{
    item=$(echo $events/$event*)
    [ -e "$item" ]
}}
is_removed() {{
    if [ ! -e /proc/sys/kernel/user_events_max ] && find_item; then
        echo "-:user_events/$(basename $item)" >> /sys/kernel/tracing/dynamic_events 2> /dev/null
    fi
    ! find_item
}}
# The kernel removes the previous program's event a moment after its last reference, and tools that open it
# then fail, such as trace-cmd after recording. A second program keeps the event registered for the tool.
begin() {{
    wait_until is_removed
    "$source" 0 < /tmp/keep > /dev/null &
    keeper=$!
    exec 8> /tmp/keep
    wait_until find_item
    "$source" $1 < /tmp/hold > /tmp/$2.status 8>&- &
    program=$!
    exec 9> /tmp/hold
    cp $item/format /tmp/format.$2
}}
emit() {{
    exec 9>&-
    wait $program
}}
end() {{
    exec 8>&-
    wait $keeper
}}
emit_into() {{
    while kill -0 $1 && [ ! -e /tmp/go ]; do sleep 0.1; done
    rm /tmp/go
    emit
    wait $1 || exit
    end
}}
# The program that perf and trace-cmd run: its start is the start of the recording.
cat > /tmp/emit <<'END'
exec 9>&-
touch /tmp/go
while kill -0 $1; do sleep 0.1; done 2> /dev/null
END

begin {COUNT} perf
perf record --quiet --all-cpus --mmap-pages 8192 --event 'user_events:eventlog_load_*' \
    --output /tmp/perf.data -- sh /tmp/emit $program 8>&- 9>&- &
emit_into $!

begin "3 {LARGEST}" largest
perf record --quiet --all-cpus --event 'user_events:eventlog_load_*' --output /tmp/largest.data \
    -- sh /tmp/emit $program 8>&- 9>&- &
emit_into $!

begin {COUNT} trace-cmd
trace-cmd record -q -b 32768 -e user_events:$(basename $item) -o /tmp/trace.dat \
    sh /tmp/emit $program 8>&- 9>&- &
emit_into $!

# From here on the tool's buffer is too small, and the tool counts losses. perf records only this program,
# because it also counts lost records of process starts and ends.
begin {COUNT_OF_LOSSY} perf-lossy
perf record --quiet --pid $program --mmap-pages 1 --event 'user_events:eventlog_load_*' \
    --output /tmp/perf-lossy.data -- sh /tmp/emit $program 8>&- 9>&- &
recorder=$!
wait_until [ -e /tmp/go ]
rm /tmp/go
emit
# perf ends with the program, and kills its child.
wait $recorder
end

# With a full buffer, ftrace loses the oldest or the newest records.
cd /sys/kernel/tracing
for overwrite in 1 0; do
    begin {COUNT_OF_LOSSY} ftrace-lossy-$overwrite
    echo 64 > buffer_size_kb
    echo $overwrite > options/overwrite
    echo > trace
    echo 1 > $item/enable
    emit
    cat trace > /tmp/trace-lossy-$overwrite
    cat per_cpu/cpu*/stats > /tmp/stats-lossy-$overwrite
    echo 0 > $item/enable
    end
done
echo 1 > options/overwrite
echo 32768 > buffer_size_kb

echo > trace
begin $2 trace_pipe
cat /sys/kernel/tracing/trace_pipe > /tmp/trace_pipe 8>&- 9>&- &
reader=$!
echo 1 > $item/enable
emit
has_all() {{ [ $(grep -c ' \[0[0-9]*\] ' /tmp/trace_pipe) -ge $2 ]; }}
wait_until has_all - $2
kill $reader
# Only here: the event is removed with its last listener, and the kernel then empties its buffers.
echo 0 > $item/enable
end

for key in $1; do
    begin {COUNT} $key
    echo "hist:keys=$key" > $item/trigger || exit
    emit
    cat $item/hist > /tmp/hist.$key
    echo "!hist:keys=$key" > $item/trigger || exit
    end
done
# A field of each kind: what is to be seen of it, not how many there are.
wait_until is_removed
source=$3
event=eventlog_kinds_all
begin 4 kinds
echo 1 > $item/enable
perf record --quiet --all-cpus --event 'user_events:eventlog_kinds_*' --output /tmp/kinds.data \
    -- sh /tmp/emit $program 8>&- 9>&- &
recorder=$!
while kill -0 $recorder && [ ! -e /tmp/go ]; do sleep 0.1; done
rm /tmp/go
emit
wait $recorder || exit
cat trace > /tmp/kinds.trace
echo 0 > $item/enable
end
begin 4 kinds-again
trace-cmd record -q -e user_events:$(basename $item) -o /tmp/kinds.dat \
    sh /tmp/emit $program 8>&- 9>&- &
emit_into $!

for tool in perf largest trace-cmd perf-lossy ftrace-lossy-1 ftrace-lossy-0 trace_pipe $1 \
    kinds kinds-again; do
    echo "$tool: $(cat /tmp/$tool.status)"
done
"""
FILES = ("perf.data", "largest.data", "trace.dat", "perf-lossy.data", "trace-lossy-1", "trace-lossy-0",
         "stats-lossy-1", "stats-lossy-0", "format.ftrace-lossy-1", "format.ftrace-lossy-0",
         "trace_pipe", "format.trace_pipe", "hist.amount", "hist.word",
         "kinds.data", "kinds.trace", "format.kinds", "kinds.dat")

ITEM = re.compile(
    r"eventlog_load_item(?:_[0-9a-f]{8})?: +number=(?:0x[0-9a-f]+ \()?(\d+)\)?"
    r" amount=(?:0x[0-9a-f]+ \()?(\d+)\)? word=(.*)$"
)


KINDS = re.compile(r"eventlog_kinds_all(?:_[0-9a-f]{8})?: +(.*)$")
# Bytes that each of the four events has.
DATA = (b"", b"\x01", b"\x01\x20", b"\x01\x20\xff")
# Texts of the trace, and of perf and trace-cmd, without `data`, which follows `took`.
KINDS_IN_TRACE = (
    "share=0x3fe0000000000000 (4602678819172646912) took=0x16e360 (1500000) data={}"
    " where_column=0x6 (6) part=0x3e800000 (1048576000) large=0xee6b2800 (-294967296)"
    " many=<INVALID-SIZE>"
    " some=0x4000300020001 (1125912791875585) where_row=0xfffb (65531) near=0x10200c0 (16908480)"
    " far=<INVALID-SIZE> card=<INVALID-SIZE> full=eight is below='\xfb'(251)"
)
KINDS_IN_TOOLS = (
    "share=4602678819172646912 took=1500000 data={} where_column=6 part=1048576000"
    " large=4000000000 many=0 some=1125912791875585 where_row=65531 near=16908480 far=0 card=0"
    " full=eight is below=251"
)
# The offset of the bytes from the end of their location word, which is 0 for no bytes.
BEHIND_DATA = 73


def items(lines):
    """Number, amount and word of each event, in the order of the lines; or the line that has none."""
    found = []
    for line in lines:
        if "eventlog_load_item" in line:
            fields = ITEM.search(line)
            found.append((int(fields[1]), int(fields[2]), fields[3]) if fields else line)
    return found


def kinds(lines):
    """The shown fields of each kind, by line."""
    return [found[1] for found in map(KINDS.search, lines) if found]


def histogram(text):
    """{key: hits}, and the totals."""
    hits = {key.strip(): int(count) for key, count in
            re.findall(r"^\{ \w+: +(.*?) *\} hitcount: +(\d+)", text, re.MULTILINE)}
    totals = {name: int(count) for name, count in re.findall(r"^ +(\w+): (\d+)$", text, re.MULTILINE)}
    return hits, totals


class Tools(vm_case.Case):
    """One guest in which all tools record; the tests check the recordings."""

    KERNEL = "user-events-6.12"
    KEYS = "amount word"  # fields that can be counted by
    COUNT_AS_TEXT = vm_case.by_tier(5_000, 20_000)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        tools = {}
        for name in ("perf", "trace-cmd"):
            path = shutil.which(name)
            if path is None:
                raise unittest.SkipTest(f"there is no {name}. `./dev setup` installs it.")
            tools[f"/usr/bin/{name}"] = path
        program = vm_case.built("PROGRAMS", "user_events_load")
        kinds = vm_case.built("PROGRAMS", "user_events_kinds")
        cls.result = cls.run_successfully(
            vm_case.kernel_or_skip(cls.KERNEL),
            ["sh", "-c", SCRIPT, program, cls.KEYS, str(cls.COUNT_AS_TEXT), kinds],
            files={program: program, kinds: kinds, **tools},
            collect=tuple(f"/tmp/{name}" for name in FILES),
            processors=2,
            memory=2048,
            time_limit=240,
        )

    def read(self, name):
        # The kernel writes Latin-1.
        with open(self.collected(name), encoding="latin-1") as file:
            return file.read()

    def output(self, *command):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def assert_written(self, tool, count):
        self.assertIn(
            f"{tool}: written {count} too_large 0 refused 0 unattached 0\n", self.result.output
        )

    def read_perf(self, name):
        file = self.collected(name)
        lost = self.output("perf", "report", "--stats", "--input", file)
        self.assertNotRegex(lost, r"LOST[A-Z_]* events: +[1-9]")
        return items(self.output("perf", "script", "--show-lost-events", "--fields",
                                 "comm,event,trace", "--input", file).splitlines())

    def test_perf(self):
        self.assert_written("perf", COUNT)
        self.assertEqual(self.read_perf("perf.data"), loads.emitted(COUNT))

    def test_perf_records_largest_event(self):
        self.assert_written("largest", 3)
        self.assertEqual(self.read_perf("largest.data"),
                         [(number, number, "x" * LARGEST) for number in range(3)])

    def test_trace_cmd(self):
        self.assert_written("trace-cmd", COUNT)
        report = self.output("trace-cmd", "report", "-i", self.collected("trace.dat"))
        self.assertNotIn("EVENTS DROPPED", report)
        self.assertEqual(items(report.splitlines()), loads.emitted(COUNT))

    def test_perf_counts_losses(self):
        self.assert_written("perf-lossy", COUNT_OF_LOSSY)
        file = self.collected("perf-lossy.data")
        shown = self.output("perf", "script", "--show-task-events", "--fields",
                            "comm,event,trace", "--input", file)
        all_emitted = loads.emitted(COUNT_OF_LOSSY)
        kept = items(shown.splitlines())
        self.assertEqual(kept, [all_emitted[number] for number, _, _ in kept])
        stats = self.output("perf", "report", "--stats", "--input", file)
        # The kernel's final count: earlier records may not include the last losses.
        lost = int(re.findall(r"LOST_SAMPLES events: +(\d+)", stats)[-1])
        self.assertGreater(lost, 0)
        # The program's end is a record, too, which may find no room. And of a ring as small as this
        # perf reads some records twice now and then.
        end = 0 if "PERF_RECORD_EXIT" in shown else 1
        self.assertEqual(len(set(kept)) + lost, COUNT_OF_LOSSY + end)

    def lossy_trace(self, overwrite):
        """The events in a trace that was too small, and the number of lost events by ftrace."""
        kept = items(self.lines_of(f"trace-lossy-{overwrite}", f"ftrace-lossy-{overwrite}"))
        stats = self.read(f"stats-lossy-{overwrite}")
        lost = {name: sum(map(int, re.findall(rf"^{name}: (\d+)$", stats, re.MULTILINE)))
                for name in ("overrun", "commit overrun", "dropped events")}
        self.assert_written(f"ftrace-lossy-{overwrite}", COUNT_OF_LOSSY)
        self.assertEqual(len(kept) + sum(lost.values()), COUNT_OF_LOSSY)
        return kept, lost

    def test_ftrace_counts_overwritten(self):
        kept, lost = self.lossy_trace(1)
        self.assertGreater(lost["overrun"], 0)
        self.assertEqual(kept[-1], loads.emitted(COUNT_OF_LOSSY)[-1])

    def test_ftrace_counts_dropped(self):
        kept, lost = self.lossy_trace(0)
        self.assertGreater(lost["dropped events"], 0)
        self.assertEqual(kept[0], loads.emitted(COUNT_OF_LOSSY)[0])

    def lines_of(self, name, program):
        """The lines of a trace; the program is the one that has emitted then."""
        return self.read(name).splitlines()

    def test_trace_pipe(self):
        self.assert_written("trace_pipe", self.COUNT_AS_TEXT)
        self.assertNotIn("LOST", self.read("trace_pipe"))
        self.assertEqual(items(self.lines_of("trace_pipe", "trace_pipe")),
                         loads.emitted(self.COUNT_AS_TEXT))

    def test_fields_of_each_kind_in_the_trace(self):
        self.assert_written("kinds", len(DATA))
        self.assertEqual(kinds(self.lines_of("kinds.trace", "kinds")),
                         [KINDS_IN_TRACE.format(data.hex(",")) for data in DATA])

    def test_fields_of_each_kind_in_perf_and_trace_cmd(self):
        # The tools show bytes as their location word, with offset and length.
        expected = [KINDS_IN_TOOLS.format(len(data) << 16 | BEHIND_DATA if data else 0)
                    for data in DATA]
        shown = self.output("perf", "script", "--fields", "comm,event,trace", "--input",
                            self.collected("kinds.data"))
        self.assertEqual(kinds(shown.splitlines()), expected)
        self.assert_written("kinds-again", len(DATA))
        shown = self.output("trace-cmd", "report", "-i", self.collected("kinds.dat"))
        self.assertEqual(kinds(shown.splitlines()), expected)

    def test_histogram_of_an_integer(self):
        self.assert_written("amount", COUNT)
        hits, totals = histogram(self.read("hist.amount"))
        expected = {}
        for _, amount, _ in loads.emitted(COUNT):
            expected[str(amount)] = expected.get(str(amount), 0) + 1
        self.assertEqual(hits, expected)
        self.assertEqual((totals["Hits"], totals["Dropped"]), (COUNT, 0))

    def test_histogram_of_a_string(self):
        self.assert_written("word", COUNT)
        hits, totals = histogram(self.read("hist.word"))
        expected = {}
        for _, _, word in loads.emitted(COUNT):
            expected[word] = expected.get(word, 0) + 1
        self.assertEqual(hits, expected)
        self.assertEqual((totals["Hits"], totals["Dropped"]), (COUNT, 0))


if __name__ == "__main__":
    vm_case.main()
