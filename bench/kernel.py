#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures an event of the kernel, compared with ftrace's ring buffer and relay, and events in batches,
compared with single ones: in instructions, in a virtual machine.

The loops are in bench/kernel: the module eventlog_measure and the programs kernel_bench and
batch_bench.
"""

import dataclasses
import pathlib
import re
import statistics

from figures import Bench, Problem, explain, make_parser, measure, run
from guest import kernel_module, kernels, machine, paths, run_in_guest

SOURCES = pathlib.Path(__file__).resolve().parent / "kernel" / "module"
TURNS, QUICK_TURNS = 31, 2
# A load, a test and a branch.
DISABLED_TARGET = 3
FTRACE_TARGET = 0.8
RELAY_TARGET = 1.2
BATCH_TARGET = 0.1
EMIT_BATCH_TARGET = 0.4

OF_MODULE = ("clock", "disabled", "ftrace", "relay", "emit")

SCRIPT = """
insmod /eventlog.ko && insmod /eventlog_measure.ko && "$0" "$2" && exec "$1" "$2"
"""


@dataclasses.dataclass
class Turns:
    """The turns of one kind."""

    taken: list = dataclasses.field(default_factory=list)  # instructions for one, in each turn
    lost: int = 0


def prepare(name):
    """Returns the kernel and the paths of eventlog's module and of the measuring one."""
    kernel = kernels.obtain(name, print)
    machine.emulator_of(kernel)
    module = kernel_module.module_for(kernel)
    built = kernel_module.kernel_with_module(kernel, module, SOURCES)
    return kernel, module, built / "eventlog_measure.ko"


def parse(output):
    """{name: turns}"""
    kinds = {}
    for line in output.splitlines():
        name, taken, lost = line.split()
        kind = kinds.setdefault(name, Turns())
        kind.taken.append(float(taken))
        kind.lost += int(lost)
    return kinds


def way_of_disabled(module):
    """Returns the machine code that a function executes for a disabled event."""
    said = run("objdump", "-d", "--no-show-raw-insn", "--disassemble=eventlog_measure_disabled",
               module)
    way = []
    for line in said.splitlines():
        found = re.match(r"\s+[0-9a-f]+:\s+(\S+)\s*([^#<]*)", line)
        # Entry and return are part of every function.
        if found is None or found[1] in ("endbr64", "call"):
            continue
        if found[1].startswith(("ret", "jmp")):
            break
        way.append(" ".join(found.groups()).strip())
    return "; ".join(way)


class Kernel(Bench):
    def execute(self):
        programs = [str((self.programs / name).resolve())
                    for name in ("kernel_bench", "batch_bench")]
        kernel, module, measuring = prepare(self.options.kernel_name)
        guest = machine.Run(
            ["sh", "-c", SCRIPT, *programs, str(QUICK_TURNS if self.quick else TURNS)],
            files={"/eventlog.ko": str(module), "/eventlog_measure.ko": str(measuring),
                   **{program: program for program in programs}},
            count_instructions=True,
        )
        return parse(run_in_guest(kernel, guest, self.folder).output), measuring

    def show(self, kinds):
        nothing = statistics.median(kinds["nothing"].taken)
        print(f"{'measured':<40} {'instructions':>14}   lost")
        for name, kind in kinds.items():
            # Times of the module's loops include the loop itself.
            own = nothing if name in OF_MODULE else 0
            kind.taken = [each - own for each in kind.taken]
            print(f"{name:<40} {statistics.median(kind.taken):>14.1f}   {kind.lost}")
        # A lost event is less work.
        lost = {name: kind.lost for name, kind in kinds.items() if kind.lost}
        if lost:
            raise Problem(f"events were lost, so the figures are not valid: {lost}")

    def show_ratio(self, name, kinds, ours, theirs, target=None):
        """Shows the median of the ratios of corresponding turns."""
        ratios = [own / other for own, other in zip(kinds[ours].taken, kinds[theirs].taken)]
        self.figures.show_ratio(name, statistics.median(ratios), target)

    def run(self):
        try:
            kinds, measuring = self.execute()
        except paths.PackageUnavailable as problem:
            print(f"the kernel is not measured: {problem}")
            return
        except paths.HarnessError as problem:
            raise Problem(str(problem)) from problem
        self.show(kinds)
        print()
        disabled = round(statistics.median(kinds["disabled"].taken), 1)
        self.figures.show("kernel_disabled_instructions", disabled, f"{disabled:.1f}",
                          DISABLED_TARGET, at_most=True)
        explain(way_of_disabled(measuring))
        self.show_ratio("kernel_emit_vs_ftrace", kinds, "emit", "ftrace", FTRACE_TARGET)
        self.show_ratio("kernel_emit_vs_relay", kinds, "emit", "relay", RELAY_TARGET)
        self.show_ratio("batched_vs_single", kinds, "batch", "single", BATCH_TARGET)
        self.show_ratio("relay_batched_vs_single", kinds, "relay_batch", "single")
        self.show_ratio("batch_vs_emit", kinds, "emit_in_batch", "emit_alone",
                        EMIT_BATCH_TARGET)


def main():
    parser = make_parser("--kernel", __doc__)
    parser.add_argument("--kernel-name", metavar="NAME", default="debian-6.12",
                        help="a kernel of ./dev vm --list, debian-6.12 or debian-6.1")
    measure(parser, Kernel)


if __name__ == "__main__":
    main()
