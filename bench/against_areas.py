# SPDX-License-Identifier: MIT
"""The areas that can compare two trees. Each measures pairs of short runs, one of each tree. Less is
better in each figure."""

import argparse
import dataclasses
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys

import compile_time
import rates
import reading
import threads
from figures import Problem, Run, run
from steady_load import STEADY_RATE, SteadyBench

HERE = pathlib.Path(__file__).resolve().parent


@dataclasses.dataclass
class Tree:
    """Sources and their build."""
    name: str
    root: pathlib.Path
    programs: pathlib.Path | None = None
    elog: pathlib.Path | None = None


def options_of(tree):
    """What the benchmarks of an area need for a short run of a tree."""
    return argparse.Namespace(quick=False, elog=tree.elog, programs=tree.programs)


@dataclasses.dataclass
class Sample:
    """The measurements of one run of one tree."""
    figures: dict = dataclasses.field(default_factory=dict)
    lost: int = 0
    attempted: int = 0  # events; 0: the area has no events that could be lost


class Area:
    """Measures pairs in a folder in memory."""
    needs_programs = True

    def __init__(self, folder):
        self.folder = folder

    def measure_pair(self, order):
        """Returns {name of tree: Sample}; the trees run in this order."""
        return {tree.name: self.measure_one(tree) for tree in order}

    def measure_one(self, tree):
        raise NotImplementedError


# Emitting ----------------------------------------------------------------------------------------

# A run takes about six seconds, three of which fill all buffers once.
REPETITIONS = 101
# The peer of each benchmark. The figure is the ratio to it, within the run.
PEERS = {
    "emit_disabled": "disabled_vs_branch",
    "emit_disabled_costly": "disabled_costly_vs_branch",
    "emit_disabled_lazy": "disabled_lazy_vs_branch",
    "emit_enabled": "enabled_vs_rseq_floor",
}
COUNTED_EVENTS = 200_000


def figures_of_repetitions(content):
    """Reads a file of Google Benchmark: medians of the ratios to the peer, if a benchmark has one,
    else of nanoseconds."""
    times, ratios = {}, {}
    for each in content["benchmarks"]:
        if each["run_type"] != "iteration":
            continue
        name = each["run_name"].split("/")[0]
        times.setdefault(name, []).append(each["real_time"])
        if "ratio_of_pair" in each:
            ratios.setdefault(name, []).append(each["ratio_of_pair"])
    figures = {}
    for name, values in sorted(times.items()):
        if name in ratios:
            figures[PEERS[name]] = statistics.median(ratios[name])
        else:
            figures[f"{name}_ns"] = statistics.median(values)
    return figures


def loss_of_table(said):
    """Returns how many events of emit_enabled eventlog_bench lost, and of how many."""
    found = re.search(r"^emit_enabled .* (\d+) of (\d+) \(", said, re.M)
    if not found:
        raise Problem("eventlog_bench shows no line of emit_enabled with its lost events.")
    return int(found.group(1)), int(found.group(2))


def count_of_perf(text):
    """Returns the number in the output of `perf stat -x ,`; None without such a counter."""
    found = re.search(r"^(\d+),[^,]*,instructions", text, re.M)
    return int(found.group(1)) if found else None


def has_flight_commands(tree):
    """Whether the tree's elog has `elog flight`; an earlier one has `elog start` and `elog stop`."""
    try:
        run(tree.elog, "flight", "--help")
    except Problem:
        return False
    return True


class Emit(Area):
    def __init__(self, folder):
        super().__init__(folder)
        self.counts_instructions = self.count_instructions(["true"], os.environ) is not None
        if not self.counts_instructions:
            print("Instructions are not counted: `perf stat -e instructions:u` counts none here. "
                  "The figures are times.")

    def count_instructions(self, words, environment):
        path = self.folder / "perf"
        try:
            run("perf", "stat", "-x", ",", "-e", "instructions:u", "-o", path, *words,
                env=environment)
        except (FileNotFoundError, Problem):
            return None
        return count_of_perf(path.read_text("utf-8"))

    def instructions_of_an_event(self, tree):
        """Instructions in user space to emit an event for one subscription: the difference of two
        runs with the same start."""
        environment = dict(os.environ, EVENTLOG_DIR=str(self.folder / "eventlog"))
        if has_flight_commands(tree):
            start, stop = ("flight", "start"), ("flight", "stop", "against", "--discard")
        else:
            start, stop = ("start", "--overwrite", "--wait"), ("stop", "against")
        run(tree.elog, *start, "against", "-e", "load:*", env=environment)
        try:
            counts = [self.count_instructions(
                [tree.programs / "reading_load", str(events), str(STEADY_RATE), "1"], environment)
                for events in (COUNTED_EVENTS, 2 * COUNTED_EVENTS)]
        finally:
            run(tree.elog, *stop, env=environment)
        if None in counts:
            raise Problem("perf stat counts no instructions of reading_load.")
        return (counts[1] - counts[0]) / COUNTED_EVENTS

    def run_eventlog_bench(self, tree, path):
        """Returns the program's table. The program removes its files and processes on SIGTERM, not
        on SIGKILL."""
        words = [tree.programs / "eventlog_bench", "--elog", tree.elog, "--benchmark_filter=^emit_",
                 f"--benchmark_repetitions={REPETITIONS}", f"--benchmark_out={path}"]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as process:
            try:
                said, errors = process.communicate()
            except BaseException:
                process.terminate()
                raise
        if process.returncode != 0:
            raise Problem(f"eventlog_bench of {tree.name} has failed: {errors.strip()}")
        return said

    def measure_one(self, tree):
        path = self.folder / "repetitions.json"
        said = self.run_eventlog_bench(tree, path)
        sample = Sample(figures_of_repetitions(json.loads(path.read_text("utf-8"))),
                        *loss_of_table(said))
        if self.counts_instructions:
            sample.figures["enabled_instructions"] = self.instructions_of_an_event(tree)
        return sample


# Reading -----------------------------------------------------------------------------------------

EVENTS = 1_000_000
# A recording with losses is another workload. With four buffers of 4 MiB for each CPU, a recorder
# may be late by half a second.
RECORDED_RATE = 500_000
RECORDED_BUFFER = "4M"


class Reading(Area):
    """Processor time for each event; the trees take turns for each command."""

    def measure_pair(self, order):
        samples, paths = {}, {}
        for tree in order:
            samples[tree.name], paths[tree.name] = self.record(tree)
        cpu = max(os.sched_getaffinity(0))
        for name, words, _ in reading.COMMANDS:
            for tree in order:
                sample = samples[tree.name]
                taken = Run([tree.elog, *words, paths[tree.name]], cpu).wait().cpu_seconds
                sample.figures[f"{name}_ns"] = 1e9 * taken / (sample.attempted - sample.lost)
        for path in paths.values():
            path.unlink()
        return samples

    def record(self, tree):
        folder = self.folder / tree.name
        folder.mkdir(exist_ok=True)
        bench = SteadyBench(options_of(tree), folder)
        recorder, _ = bench.record("recording", EVENTS, RECORDED_RATE, 1, "--buffer-size",
                                   RECORDED_BUFFER)
        figures = {"record_ns": 1e9 * recorder.run.cpu_seconds / recorder.read}
        return Sample(figures, recorder.lost, recorder.read + recorder.lost), recorder.path


# Compiling ---------------------------------------------------------------------------------------


class Compile(Area):
    """Processor time of compilers; the trees' headers take turns for each form."""
    needs_programs = False
    forms = ("empty", "emitted")

    def __init__(self, folder):
        super().__init__(folder)
        for compiler in compile_time.COMPILERS:
            if shutil.which(compiler) is None:
                raise Problem(f"There is no compiler {compiler}. Install it.")
        self.sources = {form: folder / f"{form}.cpp" for form in self.forms}
        for form, source in self.sources.items():
            source.write_text("\n".join(compile_time.write_unit(form, [])) + "\n", "utf-8")

    def measure_pair(self, order):
        samples = {tree.name: Sample() for tree in order}
        for compiler in compile_time.COMPILERS:
            for form, source in self.sources.items():
                for tree in order:
                    taken = compile_time.compile_once(compiler, tree.root / "sdk/include", source)
                    samples[tree.name].figures[f"{form}_ms.{compiler}"] = 1e3 * taken
        return samples


# Memory ------------------------------------------------------------------------------------------


class Memory(Area):
    def measure_one(self, tree):
        path = self.folder / "memory.json"
        run(sys.executable, "-B", HERE / "memory.py", "--quick", "--json", path, "--elog",
            tree.elog, "--programs", tree.programs)
        figures = json.loads(path.read_text("utf-8"))
        # The number of threads is 0, which has no ratio; so may be the additional time.
        del figures["idle_application_threads"]
        figures = {name: value for name, value in figures.items() if value > 0}
        return Sample(figures)


# Threads -----------------------------------------------------------------------------------------

# A run takes about five seconds, most of which fill all buffers twice.
THREAD_ROUNDS = 41


def figures_of_threads(times):
    """Medians of nanoseconds, from the times of threads.py by command."""
    return {
        "one_thread_ns": statistics.median(took for number in (0, 1)
                                           for (took,) in times[f"alone {number}"]),
        "two_threads_ns": statistics.median(max(both) for both in times["both"]),
        "many_threads_ns": statistics.median(many for many, _ in times["many"]),
        "many_threads_with_turns_ns": statistics.median(turns for _, turns in times["many"]),
    }


class Threads(Area):
    """One, two and 64 emitting threads."""

    def __init__(self, folder):
        super().__init__(folder)
        if len(os.sched_getaffinity(0)) < 2:
            raise Problem("Threads cannot be compared on one CPU. Use a machine with two.")

    def measure_one(self, tree):
        times, recorder = threads.Threads(options_of(tree), self.folder).record_threads(
            THREAD_ROUNDS)
        return Sample(figures_of_threads(times), recorder.lost, recorder.read + recorder.lost)


# Rates -------------------------------------------------------------------------------------------


class Rates(Area):
    """A recorder of rare events: its latency and its processor time."""

    def measure_one(self, tree):
        delays, share = rates.Rates(options_of(tree), self.folder).record_low_rate(
            rates.LOW_RATE_EVENTS)
        return Sample({"low_rate_latency_ms": 1e3 * statistics.median(delays),
                       "low_rate_recorder_cpu": share})


AREAS = {"emit": Emit, "reading": Reading, "compile": Compile, "memory": Memory,
         "threads": Threads, "rates": Rates}
