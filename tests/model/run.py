#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks every state of the models of the ring with Spin; see README.md.

usage: run.py MODEL     ring, context, shared_ring, wake: must hold in every state, within the bounds below
       run.py faults    the checker must find each seeded fault

A run that has passed is remembered below ~/.cache/eventlog (XDG_CACHE_HOME) until anything that it
depends on changes. With EVENTLOG_TEST_TIER=full every run is made.
"""

import functools
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

FOLDER = os.path.dirname(os.path.abspath(__file__))
MEMORY_LIMIT = 2000  # MiB, for the checker
DEPTH_LIMIT = 100000  # steps of one run

# Title and bounds of the exhaustive runs, by model.
RUNS = {
    "ring": (
        ("discard, a handler", ()),
        ("discard, two threads", ("SIGNALS=0", "RECORDS_0=2")),
        ("discard, a thread is killed", ("SIGNALS=0", "KILLS=1")),
        ("overwrite, a handler", ("OVERWRITE", "RECORDS_1=1")),
        ("overwrite, a thread is killed", ("OVERWRITE", "SIGNALS=0", "KILLS=1")),
        ("overwrite, the reader is lapped", ("OVERWRITE", "SIGNALS=0", "RECORDS_0=0", "RECORDS_1=5")),
        ("overwrite, three buffers", ("OVERWRITE", "BUFFERS=3", "SIGNALS=0", "RECORDS_1=3")),
        (
            "overwrite, no endless loop",
            ("OVERWRITE", "PROGRESS", "PREEMPTIONS=2", "RECORDS_1=1"),
        ),
        ("discard, no endless loop", ("PROGRESS", "PREEMPTIONS=2", "RECORDS_1=1")),
    ),
    "context": (
        ("a handler", ()),
        ("a thread is killed", ("KILLS=1",)),
        ("both threads are killed, larger buffers", ("KILLS=2", "CAPACITY=5", "RECORDS_0=3")),
        ("generations repeat in the control word", ("GENERATIONS=2", "RECORDS_1=5")),
    ),
    "shared_ring": (
        ("discard, a handler, a thread is killed", ("RECORDS_1=1",)),
        ("discard, a thread is killed", ("SIGNALS=0",)),
        ("overwrite, a handler, a thread is killed", ("OVERWRITE", "RECORDS_1=1")),
        ("discard, no endless loop", ("PROGRESS", "SIGNALS=0", "RECORDS_1=1")),
        ("discard, late, a handler, a thread is killed", ("LATE", "RECORDS_1=1")),
        ("discard, late, a thread is killed", ("LATE", "SIGNALS=0")),
        ("overwrite, late, a handler, a thread is killed", ("OVERWRITE", "LATE", "RECORDS_1=1")),
        ("overwrite, late, a thread is killed", ("OVERWRITE", "LATE", "SIGNALS=0")),
        (
            "discard, late, a thread reserves, one is killed",
            ("LATE", "RESERVES", "SIGNALS=0", "RECORDS_1=1", "RECORDS_0=2"),
        ),
        (
            "overwrite, late, a thread reserves, one is killed",
            ("OVERWRITE", "LATE", "RESERVES", "SIGNALS=0", "RECORDS_1=1", "RECORDS_0=2"),
        ),
        (
            "discard, late, no endless loop",
            ("LATE", "PROGRESS", "SIGNALS=0", "RECORDS_1=1"),
        ),
    ),
    "wake": (
        ("no timer", ()),
        ("a writer is killed, a timer", ("KILLS=1", "TIMER")),
    ),
}

# Model, fault, bounds, and the error that the checker must report.
FAULTS = (
    ("ring", "FAULT_COMMIT_BEFORE_COPY", (), "assertion violated"),
    ("ring", "FAULT_GIVE_BACK_BEFORE_COPY", (), "assertion violated"),
    ("ring", "FAULT_SWITCH_IGNORES_DRAINED", (), "assertion violated"),
    ("ring", "FAULT_LOSS_COUNTED_AFTER_SWITCH", (), "assertion violated"),
    ("ring", "FAULT_TRUST_BEFORE_CHECK", ("OVERWRITE",), "assertion violated"),
    ("ring", "FAULT_GENERATION_LAST", ("OVERWRITE",), "assertion violated"),
    ("ring", "FAULT_SEALED_NOT_NOTED", ("OVERWRITE",), "assertion violated"),
    ("ring", "FAULT_LOOK_AT_CONTROL_ONLY", ("OVERWRITE",), "assertion violated"),
    ("context", "FAULT_CONTEXT_NOT_CLEARED", ("CAPACITY=5",), "assertion violated"),
    ("context", "FAULT_CONTEXT_BEFORE_COMMIT", (), "assertion violated"),
    ("context", "FAULT_CONTROL_NOT_COMPARED", (), "assertion violated"),
    ("context", "FAULT_GENERATION_NOT_COMPARED", ("GENERATIONS=2",), "assertion violated"),
    ("context", "FAULT_SWITCH_KEEPS_CONTEXT", (), "assertion violated"),
    ("shared_ring", "FAULT_TRUST_BEFORE_CHECK", ("OVERWRITE",), "assertion violated"),
    (
        "ring", "FAULT_WAIT_FOR_ROOM", ("PROGRESS", "PREEMPTIONS=1", "SIGNALS=0"),
        "non-progress cycle",
    ),
    ("shared_ring", "FAULT_TAKE_FROM_THE_LIVING", (), "assertion violated"),
    ("shared_ring", "FAULT_LOOK_ONCE", (), "assertion violated"),
    (
        "shared_ring", "FAULT_LOSSES_BEFORE_THE_FIRST_FORGOTTEN", ("LATE", "SIGNALS=0"),
        "assertion violated",
    ),
    (
        "shared_ring", "FAULT_GOES_ON_WITHOUT_MEMORY", ("LATE", "SIGNALS=0"),
        "assertion violated",
    ),
    (
        "shared_ring", "FAULT_RESERVES_WITHOUT_THE_LOCK",
        ("LATE", "RESERVES", "SIGNALS=0", "RECORDS_1=1", "RECORDS_0=2"), "assertion violated",
    ),
    ("wake", "FAULT_LOOK_BEFORE_WAITING", (), "invalid end state"),
    # Not a fault of the code: the reason why a reader sleeps with a timer.
    ("wake", "KILLS=1", (), "invalid end state"),
)


def run(folder, *command):
    result = subprocess.run(
        command, cwd=folder, capture_output=True, encoding="utf-8", check=False
    )
    return result.returncode, result.stdout + result.stderr


def run_checked(folder, *command):
    status, output = run(folder, *command)
    if status != 0:
        sys.exit(f"{' '.join(command)} failed:\n{output}")


@functools.cache
def inputs():
    """The inputs of all runs: models, this program, and its tools."""
    digest = hashlib.sha256()
    for name in sorted(os.listdir(FOLDER)):
        if name.endswith((".pml", ".py")):
            with open(os.path.join(FOLDER, name), "rb") as file:
                content = file.read()
            digest.update(f"{name} {len(content)}\n".encode() + content)
    for tool in (("spin", "-V"), ("gcc", "--version")):
        digest.update(" ".join(run(FOLDER, *tool)[1].split()).encode() + b"\n")
    return digest.hexdigest()


def pass_cache_path(*what):
    """The file that records that this run has passed."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    key = hashlib.sha256(json.dumps([inputs(), *what]).encode()).hexdigest()
    return os.path.join(cache, "eventlog", "models", key)


def cached_pass(place):
    """The output of the run when it passed, or None."""
    if os.environ.get("EVENTLOG_TEST_TIER") == "full":
        return None
    try:
        with open(place, encoding="utf-8") as file:
            return file.read()
    except OSError:
        return None


def store_pass(place, result):
    """Records a passed run. If the cache is not writable, the next run is repeated."""
    try:
        os.makedirs(os.path.dirname(place), exist_ok=True)
        unfinished = f"{place}.{os.getpid()}"
        with open(unfinished, "w", encoding="utf-8") as file:
            file.write(result)
        os.replace(unfinished, place)
    except OSError:
        pass


def passes(what, make_run):
    """Whether a run passes or has passed before. make_run returns that, its result and the error's trail."""
    place = pass_cache_path(*what)
    remembered = cached_pass(place)
    if remembered is not None:
        print(f"ok, remembered: {remembered}", flush=True)
        return True
    passed, result, details = make_run(*what)
    print(f"{'ok' if passed else 'FAILED'}: {result}", flush=True)
    if passed:
        store_pass(place, result)
    else:
        print(details)
    return passed


def compile_checker(folder, *options):
    """Compiles a checker. ccache avoids compiling an unchanged model again."""
    cache = ["ccache"] if shutil.which("ccache") else []
    run_checked(folder, *cache, "gcc", "-w", "-c", "-DCOLLAPSE", f"-DMEMLIM={MEMORY_LIMIT}", *options,
         "-o", "pan.o", "pan.c")
    run_checked(folder, "gcc", "-o", "pan", "pan.o")


def explore(model, definitions, optimise="-O1"):
    """Returns the checker's output, and the trail to the error it has found, if any."""
    with tempfile.TemporaryDirectory(prefix="eventlog-model-") as folder:
        for name in os.listdir(FOLDER):
            if name.endswith(".pml"):
                shutil.copy(os.path.join(FOLDER, name), folder)
        options = [f"-D{definition}" for definition in definitions]
        source = f"{model}.pml"
        run_checked(folder, "spin", *options, "-a", source)
        looks_for_loops = "PROGRESS" in definitions
        compile_checker(folder, optimise, "-DNP" if looks_for_loops else "-DSAFETY")
        loops = ["-l"] if looks_for_loops else []
        _, output = run(folder, "./pan", f"-m{DEPTH_LIMIT}", *loops)
        trail = ""
        if os.path.exists(os.path.join(folder, f"{source}.trail")):
            _, trail = run(folder, "spin", *options, "-t", "-p", "-g", source)
        return output, trail


def count(output, what):
    found = re.search(r"^\s*([\d.e+]+) " + what, output, re.MULTILINE)
    return int(float(found[1])) if found else 0


def is_exhaustive(output):
    """Whether the run was exhaustive: not limited by memory, depth or an error."""
    return (
        re.search(r"errors: 0$", output, re.MULTILINE) is not None
        and "Search not completed" not in output
        and "max search depth too small" not in output
        and "reached -DMEMLIM bound" not in output
        and count(output, "states, stored") > 0
    )


def check(model, title, definitions):
    begin = time.monotonic()
    output, trail = explore(model, definitions)
    result = (
        f"{model}: {title}: {count(output, 'states, stored')} states, "
        f"{count(output, 'transitions')} transitions, {time.monotonic() - begin:.1f} s"
    )
    return is_exhaustive(output), result, f"{output}\n{trail[-20000:]}"


def check_fault(model, fault, definitions, complaint):
    # The checker stops at the fault: optimizing it would last longer than the run.
    output, _ = explore(model, (fault, *definitions), "-O0")
    found = re.search(r"^pan:\d+: (.*)", output, re.MULTILINE)
    result = f"{model} with {fault}: {found[1] if found else 'the checker has not found it'}"
    return found is not None and complaint in found[1], result, output


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in (*RUNS, "faults"):
        sys.exit(__doc__)
    for tool in ("spin", "gcc"):
        if shutil.which(tool) is None:
            sys.exit(f"There is no {tool}. Install it with: ./dev setup")
    if sys.argv[1] == "faults":
        results = [passes(fault, check_fault) for fault in FAULTS]
    else:
        results = [passes((sys.argv[1], *each), check) for each in RUNS[sys.argv[1]]]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
