#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures an event through the kernel's user_events, in a virtual machine, compared with a plain
write of the same bytes in the same run.

The measured program is bench/user_events/main.cpp.
"""

import argparse
import os
import statistics
import sys
import tempfile

from figures import Problem, write_json
from guest import kernels, machine, paths, run_in_guest

TARGET = 1.15
# Other processes disturb times, but not instructions, which on the other hand all count alike,
# unlike on real processors.
ROUNDS, COUNTED_ROUNDS, QUICK_ROUNDS = 601, 21, 5


def parse():
    parser = argparse.ArgumentParser(prog="./dev bench --vm", description=__doc__)
    parser.add_argument("--json", metavar="FILE", help="write the ratios to FILE as {name: ratio}")
    parser.add_argument("--kernel", default="user-events-6.12", help="a kernel of ./dev vm --list")
    parser.add_argument("--quick", action="store_true", help="show that it runs, not how fast")
    parser.add_argument("--program", required=True, metavar="FILE", help="the program to measure")
    return parser.parse_args()


def measure(program, kernel_name, rounds, count_instructions):
    """Returns nanoseconds, or instructions, of an event by the library and by hand, for each round."""
    kernel = kernels.obtain(kernel_name, print)
    with tempfile.TemporaryDirectory(prefix="eventlog-bench-") as scratch:
        run = machine.Run([program, str(rounds)], files={program: program}, processors=1,
                          count_instructions=count_instructions)
        output = run_in_guest(kernel, run, scratch).output
    return [tuple(map(float, line.split())) for line in output.splitlines()]


def show_medians(unit, rounds):
    emitted, written = zip(*rounds)
    for name, values in (("emit_user_events", emitted), ("write_user_events", written)):
        print(f"{name:<35} {statistics.median(values):>9.0f} {unit:<12} {spread(values):>5.1f} %")


def show_ratio(name, rounds, target=None):
    # Within a round, a disturbance affects both.
    ratios = [ours / theirs for ours, theirs in rounds]
    ratio = statistics.median(ratios)
    verdict = ""
    if target is not None:
        verdict = f"   at most {target}: {'met' if ratio <= target else 'MISSED'}"
    print(f"{name:<35} {ratio:>9.3f} {'':<12} {spread(ratios):>5.1f} %{verdict}")
    return ratio


def spread(values):
    """The distance of the quartiles, in percent of the median."""
    low, median, high = statistics.quantiles(values, n=4)
    return 100 * (high - low) / median


def main():
    options = parse()
    program = os.path.abspath(options.program)
    try:
        timed = measure(program, options.kernel, QUICK_ROUNDS if options.quick else ROUNDS, False)
        counted = measure(
            program, options.kernel, QUICK_ROUNDS if options.quick else COUNTED_ROUNDS, True
        )
    except (paths.HarnessError, Problem) as problem:
        sys.exit(f"./dev bench --vm: {problem}")
    print(f"{'measured':<35} {'median':>9} {'(emulated)':<12} {'spread':>7}")
    show_medians("ns", timed)
    show_medians("instructions", counted)
    print(f"\n{'ratio':<35} {'':>9} {'':<12} {'spread':>7}   target")
    ratios = {
        "user_events_vs_write": show_ratio("user_events_vs_write", counted, TARGET),
        "user_events_vs_write_time": show_ratio("user_events_vs_write_time", timed),
    }
    if options.json:
        write_json(options.json, ratios)


if __name__ == "__main__":
    main()
