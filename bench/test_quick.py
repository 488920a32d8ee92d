#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests that an area of the benchmarks runs, leaves no files, and writes its figures. Times are not
checked; memory and instructions are, because they are the same on every run.

usage: test_quick.py AREA PROGRAMS ELOG
"""

import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

FIGURES = {
    "emit": {
        "disabled_vs_branch", "disabled_costly_vs_branch", "disabled_lazy_vs_branch",
        "enabled_vs_rseq_floor", "rseq_floor_vs_rdtsc", "dropped_vs_enabled",
    },
    "threads": {
        "two_threads_vs_one", "many_threads_vs_one", "many_threads_with_turns_vs_one",
        "sixteen_wanting_vs_one", "sixteen_wanting_vs_eight", "wanting_vs_line",
        "fifteen_not_wanting_vs_none",
    },
    "peers": {"lttng_vs_enabled", "spdlog_async_vs_enabled", "usdt_uprobe_vs_enabled"},
    "rates": {
        "lost_at_2_million_per_second_per_cpu", "lossfree_events_per_second_per_cpu",
        "low_rate_latency_ms", "low_rate_recorder_cpu",
    },
    "memory": {
        "idle_application_kib", "idle_static_application_kib", "idle_application_threads",
        "hundred_providers_kib", "hundred_providers_ms", "subscription_memory_vs_asked",
    },
    "reading": {
        "recorder_cpu_vs_dd", "verbatim_recorder_cpu_vs_dd", "snapshot_events_per_second",
        "stat_events_per_second", "agg_events_per_second",
        "decode_events_per_second", "text_events_per_second", "jsonl_events_per_second",
        "csv_events_per_second", "cat_events_per_second",
    },
    "tracing": {
        "perf_record_vs_perf_record", "tracefs_record_vs_trace_cmd", "perf_decode_vs_perf_script",
        "tracefs_decode_vs_trace_cmd",
    },
    "kernel": {
        "kernel_disabled_instructions", "kernel_emit_vs_ftrace", "kernel_emit_vs_relay",
        "batched_vs_single", "relay_batched_vs_single", "batch_vs_emit",
    },
    "user_events": {"user_events_vs_write", "user_events_vs_write_time"},
    "compile": {
        "compile_emitted_vs_empty.g++", "compile_declared_vs_empty.g++",
        "compile_emitted_vs_without.g++", "compile_header_vs_without.g++",
        "compile_pfr_vs_emitted.g++",
    },
}
# At most that: see bench/README.md. A hundred providers miss their target of 256 KiB.
LIMITS = {
    "idle_application_kib": 64, "idle_static_application_kib": 64, "idle_application_threads": 0,
    "hundred_providers_kib": 320,
    "user_events_vs_write": 1.15, "perf_record_vs_perf_record": 1.1,
    "tracefs_record_vs_trace_cmd": 1.1, "kernel_disabled_instructions": 3,
    "kernel_emit_vs_ftrace": 0.8, "batched_vs_single": 0.1, "batch_vs_emit": 0.4,
}
# Figures that may be missing for a reason that is printed.
REASONS = {
    "two_threads_vs_one": "Threads are not measured: ",
    "many_threads_vs_one": "Threads are not measured: ",
    "many_threads_with_turns_vs_one": "Threads are not measured: ",
    "lttng_vs_enabled": "lttng is not measured: ",
    "spdlog_async_vs_enabled": "spdlog is not measured: ",
    "usdt_uprobe_vs_enabled": "usdt is not measured: ",
    **dict.fromkeys(FIGURES["tracing"], "tracing is not measured: "),
    **dict.fromkeys(FIGURES["kernel"], "the kernel is not measured: "),
}
# Room in tmpfs: that of bench/README.md, and a reserve.
NEEDED = 1 << 30
SKIPPED = 77


def words_for(area, programs, elog):
    if area == "emit":
        return [programs / "eventlog_bench", "--elog", elog]
    here = pathlib.Path(__file__).resolve().parent
    if area == "compile":
        return [sys.executable, "-B", here / "compile_time.py", "g++"]
    script = here / f"{area}.py"
    if area == "user_events":
        return [sys.executable, "-B", script, "--program", programs / "user_events_bench"]
    words = [sys.executable, "-B", script, "--programs", programs, "--elog", elog]
    # Only elog's commands; readers of other traces are not tested.
    return [*words, "--alone"] if area == "reading" else words


def skip_without_kernel():
    """Building the kernel takes minutes."""
    from guest import kernels, paths  # pylint: disable=import-outside-toplevel
    try:
        if kernels.find("user-events-6.12")[0] is not None:
            return
        print("skipped: `./dev vm --prepare user-events-6.12` builds the kernel that it takes")
    except paths.PackageUnavailable as problem:
        print(f"skipped: {problem}")
    sys.exit(SKIPPED)


def check_figures(area, figures, said):
    unknown = set(figures) - FIGURES[area]
    assert not unknown, f"not documented: {sorted(unknown)}"
    for name in FIGURES[area] - set(figures):
        assert name in REASONS and REASONS[name] in said, f"{name} is missing without a reason"
    for name, figure in figures.items():
        assert math.isfinite(figure) and figure >= 0, f"{name}: {figure}"
        assert figure <= LIMITS.get(name, figure), f"{name}: {figure}, at most {LIMITS[name]}"


def leftovers(prefix):
    return {name for name in os.listdir("/dev/shm") if name.startswith(prefix)}


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in FIGURES:
        sys.exit(__doc__)
    area, programs, elog = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    if shutil.disk_usage("/dev/shm").free < NEEDED:
        print("skipped: there is too little room in /dev/shm")
        sys.exit(SKIPPED)
    if area in ("user_events", "tracing"):
        skip_without_kernel()
    before = leftovers("eventlog_bench")
    with tempfile.TemporaryDirectory(prefix="eventlog-bench-test-") as directory:
        path = os.path.join(directory, "figures.json")
        words = [*words_for(area, programs, elog), "--quick", "--json", path]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as run:
            said = run.stdout.read()
        print(said)
        assert run.returncode == 0, f"{area} has ended with {run.returncode}"
        with open(path, encoding="utf-8") as file:
            check_figures(area, json.load(file), said)
    left = leftovers("eventlog_bench") - before | leftovers(f"eventlog-bench-{run.pid}.")
    assert not left, f"left behind: {sorted(left)}"


if __name__ == "__main__":
    main()
