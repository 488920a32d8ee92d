#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures the memory of eventlog: in an application without a listener, and of a subscription.
"""

import contextlib
import dataclasses
import pathlib
import re
import statistics
import subprocess

from figures import Bench, Problem, explain, make_parser, measure

ROUNDS, QUICK_ROUNDS = 15, 3
BUFFERS = 4
MEBI = 1 << 20


def read_of(pid):
    """Returns the memory of a process in bytes by kind, and its number of threads."""
    folder = pathlib.Path(f"/proc/{pid}")
    rollup = (folder / "smaps_rollup").read_text(encoding="ascii")
    amounts = {name: int(amount) * 1024
               for name, amount in re.findall(r"^(\w+): +(\d+) kB", rollup, re.M)}
    threads = re.search(r"^Threads:\s+(\d+)", (folder / "status").read_text(encoding="ascii"), re.M)
    return amounts, int(threads.group(1))


@dataclasses.dataclass
class Footprint:
    """The memory of an idle program, in bytes."""
    share: int    # proportional set size
    # Written pages, without files in tmpfs. Pages that were only read belong to files. They count as
    # private if one process has them mapped, for example after the kernel reclaimed them from the
    # other one.
    private: int
    file: int     # the process's file in tmpfs; its mapped pages are counted here only
    threads: int
    startup: int  # processor time until main, in nanoseconds


def typical(footprints):
    return Footprint(*(statistics.median_low(values)
                       for values in zip(*map(dataclasses.astuple, footprints))))


class Memory(Bench):
    # An application ----------------------------------------------------------------------------

    @contextlib.contextmanager
    def running(self, program):
        process = subprocess.Popen([self.programs / program], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, env=self.environment)
        try:
            words = process.stdout.readline().split()
            if words[:1] != [b"ready"]:
                raise Problem(f"{program} has ended before it was ready.")
            # Programs of older revisions, which --against runs, do not print the time.
            yield process.pid, int(words[1]) if len(words) > 1 else 0
        finally:
            process.communicate()

    def look_at(self, program):
        with self.running(program) as (pid, startup):
            amounts, threads = read_of(pid)
            files = [file.stat().st_blocks * 512
                     for file in (self.folder / "eventlog").glob(f"processes/{pid}.*")]
        mapped = amounts["Pss_Shmem"]
        return Footprint(amounts["Pss"] - mapped,
                         amounts["Private_Dirty"] - mapped,
                         sum(files), threads, startup)

    def look_beside_another(self, program):
        """Runs a second copy: code and constants of a library are in memory once for all users."""
        with self.running(program):
            return self.look_at(program)

    def measure_application(self):
        rounds = QUICK_ROUNDS if self.quick else ROUNDS
        without = typical([self.look_at("idle_without") for _ in range(rounds)])
        without_twice = typical([self.look_beside_another("idle_without") for _ in range(rounds)])
        threads = []
        for figure, program in (("idle_application_kib", "idle_with"),
                                ("idle_static_application_kib", "idle_static")):
            first = typical([self.look_at(program) for _ in range(rounds)])
            second = typical([self.look_beside_another(program) for _ in range(rounds)])
            if second.file == 0:
                raise Problem(f"{program} has published no provider.")
            own = (second.private - without_twice.private) / 1024
            file = second.file / 1024
            self.figures.show(figure, own + file, f"{own + file:.0f} KiB", 64, at_most=True)
            shared = (first.share - without.share + first.file) / 1024
            explain(f"{own:.0f} KiB of its own, and a file of {file:.0f} KiB; the first on a "
                    f"machine takes {shared:.0f} KiB, with the code that others share")
            threads.append(first.threads - without.threads)
        self.figures.show("idle_application_threads", max(threads), f"{max(threads)}", 0,
                          at_most=True)

    def measure_hundred_providers(self):
        """Against the application without eventlog: starting, and memory without listeners."""
        rounds = QUICK_ROUNDS if self.quick else ROUNDS
        if not (self.programs / "idle_hundred").exists():
            print("A hundred providers are not measured: this revision has no program with them.")
            return
        without = typical([self.look_beside_another("idle_without") for _ in range(rounds)])
        hundred = typical([self.look_beside_another("idle_hundred") for _ in range(rounds)])
        if hundred.file == 0:
            raise Problem("idle_hundred has published no provider.")
        own, file = hundred.private - without.private, hundred.file
        self.figures.show("hundred_providers_kib", (own + file) / 1024,
                          f"{(own + file) / 1024:.0f} KiB", 256, at_most=True)
        explain(f"{own / 1024:.0f} KiB of its own, and a file of {file / 1024:.0f} KiB")
        startup = max(hundred.startup - without.startup, 0) / 1e6
        self.figures.show("hundred_providers_ms", startup, f"{startup:.2f} ms", 5, at_most=True)
        explain(f"{hundred.startup / 1e6:.2f} ms of processor time until main; without eventlog "
                f"{without.startup / 1e6:.2f} ms")

    # A subscription ----------------------------------------------------------------------------

    def taken_by(self, *options):
        """Returns the size in bytes of a subscription's file."""
        self.run_elog("flight", "start", "measured", "-e", "idle:*", *options)
        try:
            return sum(file.stat().st_blocks * 512
                       for file in (self.folder / "eventlog").glob("subscriptions/*"))
        finally:
            self.run_elog("flight", "stop", "measured", "--discard")

    def measure_subscription(self):
        worst = 0
        for text, size in (("128K", MEBI // 8), ("1M", MEBI), ("4M", 4 * MEBI)):
            asked = size * BUFFERS * self.cpus
            taken = self.taken_by("--buffer-size", text)
            explain(f"{BUFFERS} buffers of {text} for each of {self.cpus} CPUs: "
                    f"{asked / MEBI:g} MiB asked for, {taken / MEBI:.3f} MiB taken: "
                    f"{taken / asked:.3f}")
            worst = max(worst, taken / asked)
        self.figures.show_ratio("subscription_memory_vs_asked", worst, 1.05)

    def run(self):
        self.measure_application()
        self.measure_hundred_providers()
        self.measure_subscription()


if __name__ == "__main__":
    measure(make_parser("memory", __doc__), Memory)
