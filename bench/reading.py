#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures recording events and reading recordings.

Compares the recorder with cat of the same bytes. Then reads the recording with each command that can,
on one CPU, and compares them with cat, with babeltrace2 on a trace of LTTng of the same events, if
both are installed, and with perf script on a recording of perf in a virtual machine, if there is one.
"""

import os
import random
import statistics

import guest_recordings
import lttng
from figures import Run, explain, make_parser, measure
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
RECORDER_TARGET = 3.0


class Reading(SteadyBench):
    def measure_recorder(self):
        """Makes the recording that is read later, and compares its cost with cat of the same bytes."""
        events = QUICK_EVENTS if self.quick else EVENTS
        recorder, _ = self.record("recording", events, STEADY_RATE, 1)
        if recorder.lost:
            print(f"{recorder.lost} of {recorder.read + recorder.lost} events were LOST.")
        copy = self.folder / "copy"
        costs = []
        for _ in range(QUICK_ROUNDS if self.quick else ROUNDS):
            with open(copy, "wb") as output:
                costs.append(Run(["cat", recorder.path], output=output).wait().cpu_seconds)
        copy.unlink()
        cost = statistics.median(costs)
        self.figures.show_ratio("recorder_cpu_vs_cat", recorder.run.cpu_seconds / max(cost, 1e-3),
                                RECORDER_TARGET)
        explain(f"{recorder.run.cpu_seconds:.2f} s for {recorder.size / 1e6:.0f} MB; cat: "
                f"{cost:.2f} s")
        return recorder.path, recorder.read

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
        path, events = self.measure_recorder()
        self.measure_reading(path, events)


def main():
    parser = make_parser("reading", __doc__)
    parser.add_argument("--alone", action="store_true", help="nothing of others beside it")
    measure(parser, Reading)


if __name__ == "__main__":
    main()
