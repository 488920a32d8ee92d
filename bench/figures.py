# SPDX-License-Identifier: MIT
"""Common parts of the benchmarks of whole programs: running them and elog, showing figures."""

import argparse
import contextlib
import json
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

PATIENCE = 30
# With more losses, a figure includes the cost of losing events.
TOLERABLE_LOSS = 0.001


class Problem(Exception):
    """A failure, as a sentence for the user."""


class Figures:
    """Shows each figure at once, with its target, and keeps it for --json."""

    def __init__(self):
        self.results = {}

    def show(self, name, value, text, target=None, at_most=False):
        verdict = ""
        if target is not None:
            met = value <= target if at_most else value >= target
            bound = "at most" if at_most else "at least"
            verdict = f"   {bound} {target:g}: {'met' if met else 'MISSED'}"
        print(f"{name:<40} {text:>14}{verdict}", flush=True)
        self.results[name] = value

    def show_ratio(self, name, value, target=None, at_most=True):
        self.show(name, value, f"{value:.3f}", target, at_most)

    def show_rate(self, name, rate, target=None):
        self.show(name, rate, f"{rate / 1e6:.2f} M/s", target)


def explain(text):
    """Prints a line that explains the figure above."""
    print(f"    {text}", flush=True)


def warn_of_loss(lost, attempted):
    if lost > TOLERABLE_LOSS * attempted:
        print(f"{lost} of {attempted} events were LOST, MORE THAN {100 * TOLERABLE_LOSS:g} %: the "
              "reader could not keep up, and these figures say little. Run again on an idle "
              "machine.")


def median_and_spread(values):
    """Returns a text, in nanoseconds. The spread is the distance of the quartiles."""
    median = statistics.median(values)
    if len(values) < 2:
        return f"{median:.1f} ns"
    low, _, high = statistics.quantiles(values, n=4)
    return f"{median:.1f} ns (spread {100 * (high - low) / median:.0f} %)"


def run(*words, **options):
    """Runs a program to its end and returns its output; raises Problem if it fails."""
    result = subprocess.run(words, check=False, capture_output=True, text=True, **options)
    if result.returncode != 0:
        raise Problem(f"{' '.join(map(str, words))} has failed: "
                      f"{(result.stderr or result.stdout).strip()}")
    return result.stdout


class Run:
    """A measured program, on one CPU or on all, with its output in a file or discarded."""

    def __init__(self, words, cpu=None, output=subprocess.DEVNULL, environment=None):
        self.words = words
        self.began = time.monotonic()

        def prepare():
            # Shells start background processes with SIGINT ignored, but elog must end by it.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            if cpu is not None:
                os.sched_setaffinity(0, {cpu})

        self.process = subprocess.Popen(words, stdout=output, stderr=subprocess.PIPE, text=True,
                                        env=environment, preexec_fn=prepare)

    def wait(self):
        """Reads the output, and waits for the end: sets said, seconds, cpu_seconds and memory."""
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
    """The folder of the programs, a private directory for eventlog, and the figures."""

    def __init__(self, options, folder):
        self.options = options
        self.quick = options.quick
        self.elog = options.elog
        self.programs = options.programs
        self.folder = pathlib.Path(folder)
        self.cpus = len(os.sched_getaffinity(0))
        self.environment = dict(os.environ, EVENTLOG_DIR=str(self.folder / "eventlog"))
        self.figures = Figures()

    def run_elog(self, *words):
        return run(self.elog, *words, env=self.environment)

    @contextlib.contextmanager
    def recording(self, pattern, *options):
        """Runs elog record during the block. The yielded object has read, size and lost afterwards.
        Old parts of the recording are removed."""
        recorder = Recorder(self, "parts", pattern, "--rotate", "256MiB", "--keep", "2", *options)
        try:
            yield recorder
        finally:
            recorder.ask_to_end()
        recorder.finish()
        for part in self.folder.glob("parts-*.elog"):
            part.unlink()


class Recorder:
    """elog record: attaches to all programs, and prints totals at its end."""

    def __init__(self, bench, name, pattern, *options):
        self.path = bench.folder / f"{name}.elog"
        self.path.unlink(missing_ok=True)  # elog replaces no file
        self.run = Run([bench.elog, "record", "-e", pattern, "--wait", "-o", self.path, *options],
                       environment=bench.environment)

    def ask_to_end(self):
        self.run.process.send_signal(signal.SIGINT)

    def finish(self):
        self.run.wait()
        found = re.search(r"^(\d+) events, (\d+) bytes, (\d+) lost", self.run.said, re.M)
        if not found:
            raise Problem(f"elog record has ended without a summary: {self.run.said.strip()}")
        self.read, self.size, self.lost = map(int, found.groups())

    def check(self, emitted):
        if self.read + self.lost != emitted:
            raise Problem(f"{emitted} events were emitted, but elog has read {self.read} and "
                          f"counts {self.lost} as lost.")


class Bursts:
    """The program burst_load, which writes a burst for each command, and answers with its time."""

    def __init__(self, bench):
        self.process = subprocess.Popen(
            [bench.programs / "burst_load"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, env=bench.environment)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def ask(self, *words):
        """Returns the numbers of the answer."""
        try:
            self.process.stdin.write(" ".join(map(str, words)) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError as error:
            raise Problem("burst_load has ended before it was asked to.") from error
        line = self.process.stdout.readline()
        if line.startswith("cannot: "):
            raise Problem(line.removeprefix("cannot: ").strip())
        if not line:
            raise Problem(f"burst_load has ended instead of answering {words}.")
        return [float(number) for number in line.split()]


def make_parser(area, description):
    parser = argparse.ArgumentParser(
        prog=f"./dev bench {area}".strip(), description=description,
        usage="%(prog)s [OPTIONS]", formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE", help="write the figures to FILE as {name: value}")
    parser.add_argument("--elog", metavar="PATH", required=True, help="another elog command")
    # Set by ./dev.
    parser.add_argument("--programs", required=True, type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true", help="shows that it runs, not how fast")
    return parser


def write_json(path, results):
    pathlib.Path(path).write_text(json.dumps(results, indent=2) + "\n", "utf-8")


def measure(parser, kind):
    """Constructs a benchmark of that class, and runs it."""
    options = parser.parse_args()
    # On SIGTERM, started programs are ended, too.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    # In memory, so that no disk is measured.
    prefix = f"eventlog-bench-{os.getpid()}."
    with tempfile.TemporaryDirectory(prefix=prefix, dir="/dev/shm") as folder:
        os.chmod(folder, 0o700)
        bench = kind(options, folder)
        try:
            bench.run()
        except Problem as problem:
            sys.exit(f"{parser.prog}: {problem}")
    if options.json:
        write_json(options.json, bench.figures.results)
