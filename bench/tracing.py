#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares elog with perf and trace-cmd, with eventlog's events as user_events.

perf, trace-cmd and elog, through both routes, record the events in a virtual machine. The instructions
of recorder and program are counted. Then elog and the peers print the recordings of perf and
trace-cmd, each on one CPU, in turns.
"""

import os
import random
import statistics

import guest_recordings
from figures import Bench, Run, explain, make_parser, measure

EVENTS, QUICK_EVENTS = 500_000, 20_000
ROUNDS, QUICK_ROUNDS = 7, 1
RECORDING_TARGET = 1.1
READING_TARGET = 2.0

# elog's recordings and their peers, by names of guest_recordings.
RECORDERS = {"perf_record_vs_perf_record": ("elog_perf", "perf"),
             "tracefs_record_vs_trace_cmd": ("elog_tracefs", "trace_cmd")}
READERS = {"perf_decode_vs_perf_script": ("perf", ["perf", "script", "--input"]),
           "tracefs_decode_vs_trace_cmd": ("trace_cmd", ["trace-cmd", "report", "-i"])}


class Tracing(Bench):
    def measure_recorders(self, recordings):
        for name, (ours, theirs) in RECORDERS.items():
            own, other = (recordings.seconds[each] for each in (ours, theirs))
            self.figures.show_ratio(name, own / other, RECORDING_TARGET)
            explain(f"{own * 1e3:.0f} million instructions; theirs: {other * 1e3:.0f}")

    def measure_readers(self, recordings, events):
        commands = {}
        for name, (recorder, words) in READERS.items():
            path = recordings.files[recorder]
            commands[name, "ours"] = [self.elog, "print", path]
            commands[name, "theirs"] = [*words, path]
        taken = {key: [] for key in commands}
        cpu = max(os.sched_getaffinity(0))
        for _ in range(QUICK_ROUNDS if self.quick else ROUNDS):
            for key in random.sample(sorted(commands), len(commands)):
                taken[key].append(
                    Run(commands[key], cpu, environment=self.environment).wait().seconds)
        for name in READERS:
            ours, theirs = taken[name, "ours"], taken[name, "theirs"]
            ratios = [other / own for own, other in zip(ours, theirs)]
            self.figures.show_ratio(name, statistics.median(ratios), READING_TARGET,
                                    at_most=False)
            explain(f"{events / statistics.median(ours) / 1e6:.2f} million events in a second; "
                    f"theirs: {events / statistics.median(theirs) / 1e6:.2f}")

    def run(self):
        events = QUICK_EVENTS if self.quick else EVENTS
        recordings = guest_recordings.record(self.folder, self.programs / "reading_load", self.elog,
                                             events)
        if recordings.why_not:
            print(f"tracing is not measured: {recordings.why_not}")
            return
        self.measure_recorders(recordings)
        self.measure_readers(recordings, events + 1)


if __name__ == "__main__":
    measure(make_parser("tracing", __doc__), Tracing)
