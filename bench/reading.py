#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures what becomes of events behind the ring: recording them, and reading recordings.

Records first: what the recorder costs beside cat of the same bytes, whether it keeps up with two
million events a second on each CPU, and up to how many nothing is lost. Then reads one recording
with every command that does, each on one CPU, beside cat, and beside babeltrace2 on a trace that
LTTng has made of the same events, where both are installed.
"""

import argparse
import json
import os
import pathlib
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "reading"))

# pylint: disable=wrong-import-position
import lttng_trace

EVENTS, QUICK_EVENTS = 10_000_000, 100_000
ROUNDS, QUICK_ROUNDS = 5, 1
STEADY_RATE = 2_000_000
STEADY_SECONDS, SEARCH_SECONDS, QUICK_SECONDS = 60, 5, 0.5
SEARCH_STEPS, QUICK_SEARCH_STEPS = 10, 1

# What is read how: its name, the words behind elog, and at least how many events in a second.
COMMANDS = [
    ("stat", ["stat"], 10e6),
    ("agg", ["agg", "count() by event"], 10e6),
    ("decode", ["agg", "sum(bytes), avg(bytes) by reason"], 5e6),
    ("text", ["print"], 3e6),
    ("jsonl", ["convert", "--to", "jsonl"], 1.5e6),
    ("csv", ["convert", "--to", "csv"], 0),
]
RECORDER_TARGET = 3.0


class Problem(Exception):
    """A sentence for whoever runs this."""


class Run:
    """A program that is measured, on one CPU or on all, with its output in a file or nowhere."""

    def __init__(self, words, cpu=None, output=subprocess.DEVNULL, environment=None):
        self.words = words
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            words, stdout=output, stderr=subprocess.PIPE, text=True, env=environment,
            preexec_fn=None if cpu is None else lambda: os.sched_setaffinity(0, {cpu}))

    def wait(self):
        """Reads what it says, and waits for it: sets said, seconds, cpu_seconds and memory."""
        self.said = self.process.stderr.read()
        _, status, used = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        self.seconds = time.monotonic() - self.began
        self.cpu_seconds = used.ru_utime + used.ru_stime
        self.memory = used.ru_maxrss * 1024
        if self.process.returncode != 0:
            raise Problem(f"{' '.join(map(str, self.words))} has failed: {self.said.strip()}")
        return self


class Bench:
    def __init__(self, options, folder):
        self.elog = options.elog
        self.load = options.load
        self.quick = options.quick
        self.alone = options.alone
        self.folder = pathlib.Path(folder)
        self.cpus = len(os.sched_getaffinity(0))
        self.environment = dict(os.environ, EVENTLOG_DIR=str(self.folder))
        self.results = {}

    def record(self, name, events, rate, cpus, *options):
        """Records what the load emits; returns the recorder's Run, and what was read and lost."""
        path = self.folder / f"{name}.elog"
        recorder = Run([self.elog, "record", "-e", "load:*", "--wait", "-o", path, *options],
                       environment=self.environment)
        try:
            load = subprocess.run([self.load, str(events), str(rate), str(cpus)], check=False,
                                  capture_output=True, text=True, env=self.environment)
        finally:
            recorder.process.send_signal(signal.SIGINT)
        recorder.wait()
        if load.returncode != 0:
            raise Problem(load.stderr.strip())
        found = re.search(r"^(\d+) events, (\d+) bytes, (\d+) lost", recorder.said, re.M)
        if not found:
            raise Problem(f"elog record has ended without a summary: {recorder.said.strip()}")
        read, size, lost = map(int, found.groups())
        if read + lost != int(load.stdout):
            raise Problem(f"{load.stdout.strip()} events were emitted, but elog has read {read} and "
                          f"counts {lost} as lost.")
        return recorder, path, read, size, lost

    def show(self, name, value, text, target=None, at_most=False):
        verdict = ""
        if target:
            met = value <= target if at_most else value >= target
            verdict = f"   at {'most' if at_most else 'least'} {target:g}: {'met' if met else 'MISSED'}"
        print(f"{name:<40} {text:>14}{verdict}", flush=True)
        self.results[name] = value

    def show_rate(self, name, rate, target=None):
        self.show(name, rate, f"{rate / 1e6:.2f} M/s", target)

    # Recording ---------------------------------------------------------------------------------

    def measure_recorder(self):
        """The recording that is read later; and what it cost, beside cat of the same bytes."""
        events = QUICK_EVENTS if self.quick else EVENTS
        recorder, path, read, size, lost = self.record("recording", events, STEADY_RATE, 1)
        if lost:
            print(f"{lost} of {read + lost} events were LOST while recording.")
        copy = self.folder / "copy"
        costs = []
        for _ in range(QUICK_ROUNDS if self.quick else ROUNDS):
            with open(copy, "wb") as output:
                costs.append(Run(["cat", path], output=output).wait().cpu_seconds)
        copy.unlink()
        ratio = recorder.cpu_seconds / max(statistics.median(costs), 1e-3)
        self.show("recorder_cpu_vs_cat", ratio, f"{ratio:.2f}", RECORDER_TARGET, at_most=True)
        print(f"    {recorder.cpu_seconds:.2f} s for {size / 1e6:.0f} MB; cat: "
              f"{statistics.median(costs):.2f} s")
        return path, read

    def lost_at(self, rate, seconds, *options):
        """Of a while at that rate on each CPU. Old parts of the recording are not kept."""
        *_, read, _, lost = self.record("parts", int(rate * seconds), rate, self.cpus, "--rotate",
                                        "256MiB", "--keep", "2", *options)
        for part in self.folder.glob("parts-*.elog"):
            part.unlink()
        return lost, read + lost

    def measure_steady_rate(self):
        seconds = QUICK_SECONDS if self.quick else STEADY_SECONDS
        lost, attempted = self.lost_at(STEADY_RATE, seconds)
        self.show("lost_at_2_million_per_second_per_cpu", lost, f"{lost} lost", 1, at_most=True)
        print(f"    {attempted} events in {seconds} s on {self.cpus} CPUs")

    def search_loss_free_rate(self):
        """With four buffers of 4 MiB for each CPU: doubles while nothing is lost, then halves the
        step."""
        seconds = QUICK_SECONDS if self.quick else SEARCH_SECONDS
        best, step = 0, STEADY_RATE
        is_bounded = False
        for _ in range(QUICK_SEARCH_STEPS if self.quick else SEARCH_STEPS):
            lost, _ = self.lost_at(best + step, seconds, "--buffer-size", "4M")
            best += 0 if lost else step
            is_bounded = is_bounded or lost > 0
            step = step // 2 if is_bounded else step * 2
            if step < STEADY_RATE // 8:
                break
        self.show_rate("lossfree_events_per_second_per_cpu", best)

    # Reading -----------------------------------------------------------------------------------

    def record_peer(self):
        if self.alone:
            return lttng_trace.Trace(why_not="--alone")
        return lttng_trace.record(self.folder, QUICK_EVENTS if self.quick else EVENTS, STEADY_RATE)

    def measure_reading(self, path, events):
        commands = {name: [self.elog, *words, path] for name, words, _ in COMMANDS}
        commands["cat"] = ["cat", path]
        trace = self.record_peer()
        if trace.folder:
            commands["babeltrace2_decode"] = ["babeltrace2", trace.folder, "-c",
                                              "sink.utils.counter"]
            commands["babeltrace2_text"] = ["babeltrace2", trace.folder]
        else:
            print(f"babeltrace2 is not measured: {trace.why_not}")
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
            count = trace.events if name.startswith("babeltrace2") else events
            self.show_rate(f"{name}_events_per_second", count / statistics.median(seconds),
                           targets.get(name))
            print(f"    {memory[name] / 1e6:.0f} MB of memory at most")

    def run(self):
        path, events = self.measure_recorder()
        self.measure_steady_rate()
        self.search_loss_free_rate()
        self.measure_reading(path, events)


def parse_arguments():
    parser = argparse.ArgumentParser(
        prog="./dev bench reading", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE", help="write the figures to FILE")
    parser.add_argument("--elog", metavar="PATH", required=True, help="the elog command")
    parser.add_argument("--load", metavar="PATH", required=True, help="bench/reading/load.cpp")
    parser.add_argument("--alone", action="store_true", help="no trace of LTTng's beside it")
    parser.add_argument("--quick", action="store_true", help="shows that it runs, not how fast")
    return parser.parse_args()


def main():
    options = parse_arguments()
    # In memory: what is measured is not a disk.
    with tempfile.TemporaryDirectory(prefix="eventlog-bench-", dir="/dev/shm") as folder:
        os.chmod(folder, 0o700)
        bench = Bench(options, folder)
        try:
            bench.run()
        except (Problem, lttng_trace.Problem) as problem:
            sys.exit(f"./dev bench reading: {problem}")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(bench.results, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
