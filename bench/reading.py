#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures recording events and reading recordings.

Compares the recorder with dd of the same bytes, for both encodings of records, and measures a snapshot
of full buffers. Then reads the recording with each command that can, on one CPU, and compares them
with cat, with babeltrace2 on a trace of LTTng of the same events, if both are installed, and with perf
script on a recording of perf in a virtual machine, if there is one.
"""

import os
import random
import re
import statistics

import guest_recordings
import lttng
from figures import Problem, Run, explain, make_parser, measure, run, warn_of_loss
from steady_load import STEADY_RATE, SteadyBench

EVENTS, QUICK_EVENTS = 10_000_000, 100_000
PERF_EVENTS = 500_000  # emitting takes long on emulated processors
ROUNDS, QUICK_ROUNDS = 5, 1

# Name, arguments of elog, and the least number of events per second.
COMMANDS = [
    ("stat", ["stat"], 10e6),
    ("agg", ["agg", "count() by event"], 10e6),
    ("decode", ["agg", "sum(bytes), avg(bytes) by reason"], 5e6),
    ("text", ["print"], 3e6),
    ("jsonl", ["convert", "--to", "jsonl"], 1.5e6),
    ("csv", ["convert", "--to", "csv"], None),
]
# Processor time of the recorder as a multiple of dd's: figure, setting of EVENTLOG_TEST_COMPACTION,
# target. The last recording is read afterwards.
ENCODINGS = [("verbatim_recorder_cpu_vs_dd", "0", 1.5), ("recorder_cpu_vs_dd", "1", 2.5)]
# More than the four buffers of a CPU hold.
SNAPSHOT_EVENTS, QUICK_SNAPSHOT_EVENTS = 2_000_000, 50_000
SNAPSHOT_BUFFER, QUICK_SNAPSHOT_BUFFER = "16M", "256K"
SNAPSHOT_RATE = 20_000_000


class Reading(SteadyBench):
    def measure_recorder(self, figure, compaction, target):
        """Compares the cost of a recording with dd of the same bytes. Returns the recorder."""
        events = QUICK_EVENTS if self.quick else EVENTS
        self.environment["EVENTLOG_TEST_COMPACTION"] = compaction
        recorder, _ = self.record("recording", events, STEADY_RATE, 1)
        del self.environment["EVENTLOG_TEST_COMPACTION"]
        warn_of_loss(recorder.lost, recorder.read + recorder.lost)
        copy = self.folder / "copy"
        words = ["dd", "bs=128K", "status=none", f"if={recorder.path}", f"of={copy}"]
        costs = []
        for _ in range(QUICK_ROUNDS if self.quick else ROUNDS):
            copy.unlink(missing_ok=True)
            costs.append(Run(words).wait().cpu_seconds)
        copy.unlink()
        cost = statistics.median(costs)
        size = recorder.path.stat().st_size
        self.figures.show_ratio(figure, recorder.run.cpu_seconds / max(cost, 1e-3), target)
        explain(f"{recorder.run.cpu_seconds:.2f} s for {size / 1e6:.0f} MB, "
                f"{size / recorder.read:.2f} bytes for each event, {recorder.lost} lost; dd: {cost:.2f} s")
        return recorder

    def measure_snapshot(self):
        """Processor time of reading full buffers, which no program writes to, into a file."""
        events = QUICK_SNAPSHOT_EVENTS if self.quick else SNAPSHOT_EVENTS
        self.run_elog("flight", "start", "full", "-e", "load:*", "--buffer-size",
                      QUICK_SNAPSHOT_BUFFER if self.quick else SNAPSHOT_BUFFER)
        try:
            run(self.programs / "reading_load", str(events), str(SNAPSHOT_RATE), str(self.cpus),
                env=self.environment)
            rates = []
            for _ in range(QUICK_ROUNDS if self.quick else ROUNDS):
                reader = Run([self.elog, "flight", "snapshot", "full", "--force", "-o",
                              self.folder / "snapshot.elog"], environment=self.environment).wait()
                found = re.search(r"^(\d+) events, ", reader.said, re.M)
                if not found:
                    raise Problem(f"elog flight snapshot has no summary: {reader.said.strip()}")
                read = int(found[1])
                rates.append(read / reader.cpu_seconds)
        finally:
            self.run_elog("flight", "stop", "full", "--discard")
        self.figures.show_rate("snapshot_events_per_second", statistics.median(rates), 40e6)
        explain(f"{read} events of {self.cpus} CPUs, in processor time, with the start of elog")

    def add_babeltrace(self, commands):
        """Returns how many events it reads."""
        trace = lttng.Trace(why_not="--alone")
        if not self.options.alone:
            trace = lttng.record(self.folder, QUICK_EVENTS if self.quick else EVENTS, STEADY_RATE)
        if trace.folder:
            commands["babeltrace2_decode"] = ["babeltrace2", trace.folder, "-c",
                                              "sink.utils.counter"]
            commands["babeltrace2_text"] = ["babeltrace2", trace.folder]
        else:
            print(f"babeltrace2 is not measured: {trace.why_not}")
        return trace.events

    def add_perf(self, commands):
        """Returns how many events it reads."""
        recordings = guest_recordings.Recordings(why_not="--alone")
        events = QUICK_EVENTS if self.quick else PERF_EVENTS
        if not self.options.alone:
            recordings = guest_recordings.record(
                self.folder, self.programs / "reading_load", self.elog, events, ("perf",))
        if recordings.why_not:
            print(f"perf script is not measured: {recordings.why_not}")
        else:
            commands["perf_script"] = ["perf", "script", "--input", recordings.files["perf"]]
        return events + 1

    def measure_reading(self, path, events):
        commands = {name: [self.elog, *words, path] for name, words, _ in COMMANDS}
        commands["cat"] = ["cat", path]
        counts = dict.fromkeys(commands, events)
        of_babeltrace, of_perf = self.add_babeltrace(commands), self.add_perf(commands)
        taken = {name: [] for name in commands}
        memory = {name: 0 for name in commands}
        cpu = max(os.sched_getaffinity(0))
        for _ in range(QUICK_ROUNDS if self.quick else ROUNDS):
            for name in random.sample(sorted(commands), len(commands)):
                run = Run(commands[name], cpu, environment=self.environment).wait()
                taken[name].append(run.seconds)
                memory[name] = max(memory[name], run.memory)
        targets = {name: target for name, _, target in COMMANDS}
        for name, seconds in taken.items():
            count = counts.get(name, of_perf if name == "perf_script" else of_babeltrace)
            self.figures.show_rate(f"{name}_events_per_second", count / statistics.median(seconds),
                                   targets.get(name))
            explain(f"{memory[name] / 1e6:.0f} MB of memory at most")

    def run(self):
        for encoding in ENCODINGS:
            recorder = self.measure_recorder(*encoding)
        self.measure_snapshot()
        self.measure_reading(recorder.path, recorder.read)


def main():
    parser = make_parser("reading", __doc__)
    parser.add_argument("--alone", action="store_true", help="nothing of others beside it")
    measure(parser, Reading)


if __name__ == "__main__":
    main()
