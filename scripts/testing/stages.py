# SPDX-License-Identifier: MIT
"""Runs the stages of a test run: each has a log, an outcome, a duration and signs of life."""

import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import junit

LOGS = pathlib.Path("build/logs")
LOG_LINES = 200
OUTCOMES = ("passed", "failed", "skipped")


@dataclasses.dataclass(frozen=True)
class Stage:
    """One step. A `check` counts as one test; a `build` counts only when it fails; a `suite` writes
    its results to a JUnit file."""

    kind: str
    name: str
    command: tuple
    needs: str = ""  # a stage that must succeed before this one runs
    results: str = ""  # the JUnit file
    reports: str = ""  # the folder of GoogleTest's reports
    environment: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Result:
    """The counts of a stage, and its slowest tests as (seconds, name)."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0
    slowest: list = dataclasses.field(default_factory=list)
    ran: bool = True  # False: a stage that it needs failed

    @property
    def good(self):
        return self.ran and self.failed == 0


def log_of(name):
    return LOGS / (re.sub(r"[^a-z0-9]", "_", name) + ".log")


def show_log(name):
    path = log_of(name)
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()[-LOG_LINES:]
    print(f"--- the last lines of {path}", *lines, "---", sep="\n", flush=True)


def sign_of_life(title, path, seconds):
    """Prints progress: in place on a terminal, in a new line every half minute elsewhere."""
    if sys.stdout.isatty():
        with open(path, "rb") as log:
            log.seek(max(0, os.path.getsize(path) - 400))
            last = log.read().decode(errors="replace").splitlines()[-1:] or [""]
        width = shutil.get_terminal_size().columns - 1
        print("\r\033[K" + f"{title} ({seconds:.0f} s) {last[0]}"[:width], end="", flush=True)
    elif seconds and seconds % 30 == 0:
        print(f"{title} ({seconds:.0f} s)", flush=True)


def run_command(title, stage):
    """Runs the command of a stage to its end; returns its exit status."""
    path = log_of(stage.name)
    path.parent.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    with open(path, "wb") as log, subprocess.Popen(
        stage.command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
        env={**os.environ, **stage.environment},
    ) as process:
        ticks = 0
        while True:
            try:
                status = process.wait(timeout=max(0.0, start + ticks + 1 - time.monotonic()))
                break
            except subprocess.TimeoutExpired:
                ticks += 1
                sign_of_life(title, path, ticks)
    if sys.stdout.isatty():
        print("\r\033[K", end="")
    return status


def forget_results(stage):
    """Removes the results of an earlier run: a crash must not leave them in place of its own."""
    if stage.results:
        pathlib.Path(stage.results).unlink(missing_ok=True)
    if stage.reports:
        shutil.rmtree(stage.reports, ignore_errors=True)
        pathlib.Path(stage.reports).mkdir(parents=True)


def counts_of(stage, status):
    """The result of a suite; prints each failed test with its output and each skipped one's reason."""
    result = Result()
    try:
        cases = junit.read(stage.results, pathlib.Path(stage.reports) if stage.reports else None)
    except (OSError, SyntaxError) as problem:  # a ParseError is a SyntaxError
        print(f"{stage.name}: there are no results: {problem}")
        show_log(stage.name)
        return Result(failed=1)
    for case in cases:
        setattr(result, case.outcome, getattr(result, case.outcome) + 1)
        if case.outcome != "passed":
            separator = "\n" if case.outcome == "failed" else ": "
            print(f"{case.outcome}: {stage.name}: {case.name}{separator}{case.text}")
    result.slowest = sorted(((case.seconds, f"{stage.name}: {case.name}") for case in cases),
                            reverse=True)[:20]
    # A failure that no test explains counts, too, as does a run without tests.
    if (status != 0 and result.good) or not cases:
        print(f"{stage.name}: the command ended with {status} after {len(cases)} tests")
        show_log(stage.name)
        result.failed += 1
    return result


def run_stage(title, stage):
    forget_results(stage)
    start = time.monotonic()
    status = run_command(title, stage)
    if stage.kind == "suite":
        result = counts_of(stage, status)
    else:
        result = Result(passed=int(status == 0 and stage.kind == "check"), failed=int(status != 0))
        if status != 0:
            show_log(stage.name)
    result.seconds = time.monotonic() - start
    return result


def summary_of(result, stage):
    counts = f", {result.passed} passed, {result.failed} failed, {result.skipped} skipped"
    return ("ok" if result.good else "FAILED") + f" ({result.seconds:.0f} s" + (
        counts if stage.kind == "suite" else "") + ")"


class Run:
    """A sequence of stages. `progress` remembers the good ones of an interrupted run, if given."""

    def __init__(self, stages, progress=None):
        self.stages = stages
        self.progress = progress
        self.results = {}

    def result_of(self, number, stage):
        title = f"[{number}/{len(self.stages)}] {stage.name}"
        remembered = self.progress.get(stage.name) if self.progress else None
        if remembered:
            print(f"{title}: {summary_of(remembered, stage)}, remembered", flush=True)
            return remembered
        needed = self.results.get(stage.needs)
        if stage.needs and not (needed and needed.good):
            print(f"{title}: not run, as {stage.needs} failed", flush=True)
            return Result(failed=int(stage.kind != "build"), ran=False)
        if not sys.stdout.isatty():
            print(title, flush=True)
        result = run_stage(title, stage)
        print(f"{title}: {summary_of(result, stage)}", flush=True)
        if self.progress and result.good and stage.kind != "build":
            self.progress.put(stage.name, result)
        return result

    def run(self):
        """Runs all stages; returns whether every test passed. The last line has the counts."""
        for number, stage in enumerate(self.stages, 1):
            self.results[stage.name] = self.result_of(number, stage)
        results = self.results.values()
        slowest = sorted((entry for result in results for entry in result.slowest), reverse=True)
        if slowest:
            print("The slowest tests:")
            for seconds, name in slowest[:20]:
                print(f"{seconds:8.1f} s  {name}")
        print("The stages:")
        for name, result in self.results.items():
            print(f"{result.seconds:8.0f} s  {name}")
        counts = {outcome: sum(getattr(result, outcome) for result in results)
                  for outcome in OUTCOMES}
        if counts["passed"] + counts["failed"] == 0:
            print("No test ran.")
        print(", ".join(f"{counts[outcome]} {outcome}" for outcome in OUTCOMES), flush=True)
        return counts["failed"] == 0 and counts["passed"] > 0
