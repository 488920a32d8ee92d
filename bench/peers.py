#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures the same event with peers: LTTng-UST, spdlog's asynchronous logger, and a USDT probe with
a uprobe on it.

One program writes bursts of eventlog and of the peers in random order, while elog record and the
peers' readers run. A peer that is not installed or not allowed is not measured, and a line states the
reason.
"""

import contextlib
import dataclasses
import pathlib
import random
import re
import shlex
import shutil
import statistics
import typing

import lttng
from figures import (Bench, Bursts, Problem, explain, make_parser, measure, median_and_spread, run,
                     warn_of_loss)

SOURCES = pathlib.Path(__file__).resolve().parent / "peers"
ROUNDS, QUICK_ROUNDS = 201, 3
# Fills all buffers of eventlog twice; as many bursts of the peers.
WARM_UP, QUICK_WARM_UP = 128, 2


class NotHere(Exception):
    """The reason why a peer is not measured, as a sentence."""


def need(tool, package):
    if shutil.which(tool) is None:
        raise NotHere(f"there is no {tool}; install {package}, and run again.")


def compile_peer(words, program, package):
    """Compiles the shared object of a peer. If that fails, its headers are missing; there is no other
    check."""
    need(words[0], package)
    try:
        run(*words, "-O2", "-fPIC", "-shared", f"-I{SOURCES}", "-o", program)
    except Problem as problem:
        missing = re.search(r"fatal error: (\S+): No such file", str(problem))
        if missing:
            raise NotHere(f"there is no {missing.group(1)}; install {package}, and run again.") \
                from problem
        raise


@dataclasses.dataclass
class Peer:
    """A peer that is ready to be loaded."""
    path: pathlib.Path
    argument: str = "-"
    # Additional environment variables of the program that loads it.
    environment: dict = dataclasses.field(default_factory=dict)
    # Returns the losses at the end, if the peer itself does not know them.
    count_lost: typing.Callable[[int], int] | None = None


@contextlib.contextmanager
def prepare_lttng(folder):
    missing = lttng.what_is_missing()
    if missing:
        raise NotHere(f"there is no {missing}; install {lttng.PACKAGES}, and run again.")
    path = folder / "lttng_peer.so"
    lttng.compile_with_lttng(path, "-fPIC", "-shared", SOURCES / "lttng_peer.c")
    with lttng.session(folder) as session:
        yield Peer(path, "-", session.additions, lambda emitted: session.stop())


@contextlib.contextmanager
def prepare_spdlog(folder):
    """Its messages go to a file, as eventlog's events do; a writer waits if the queue is full."""
    package = "libspdlog-dev"
    need("pkg-config", "pkg-config")
    path, log = folder / "spdlog_peer.so", folder / "spdlog.log"
    try:
        flags = shlex.split(run("pkg-config", "--cflags", "--libs", "spdlog"))
    except Problem as problem:
        raise NotHere(f"there is no spdlog.pc; install {package}, and run again.") from problem
    compile_peer(["c++", "-std=c++20", SOURCES / "spdlog_peer.cpp", *flags], path, package)

    def count_lost(emitted):
        with open(log, "rb") as lines:
            return emitted - sum(1 for _ in lines)

    yield Peer(path, str(log), count_lost=count_lost)


def find_probe(path):
    """Returns the file offset of a USDT probe's instruction."""
    notes = run("readelf", "-n", path)
    note = re.search(r"Name: retransmission\n\s*Location: (0x[0-9a-f]+)", notes)
    if not note:
        raise Problem("The USDT probe is not in the program that the compiler has made of it.")
    address = int(note.group(1), 16)
    for line in run("readelf", "-lW", path).splitlines():
        words = line.split()
        if words[:1] == ["LOAD"]:
            offset, begin, _, size = (int(word, 16) for word in words[1:5])
            if begin <= address < begin + size:
                return address - begin + offset
    raise Problem("The USDT probe is in no segment of its program.")


@contextlib.contextmanager
def prepare_usdt(folder):
    path = folder / "usdt_peer.so"
    compile_peer(["cc", "-std=gnu11", SOURCES / "usdt_peer.c"], path, "systemtap-sdt-dev")
    yield Peer(path, f"{path}:{find_probe(path)}")


# Name, preparation, name of the figure, and the least ratio to eventlog's time.
PEERS = [
    ("lttng", prepare_lttng, "lttng_vs_enabled", 6),
    ("spdlog", prepare_spdlog, "spdlog_async_vs_enabled", 1),
    ("usdt", prepare_usdt, "usdt_uprobe_vs_enabled", 1),
]


class Peers(Bench):
    def prepare_peers(self, stack):
        """Returns the installed peers, and prints why the rest is missing."""
        prepared = {}
        for name, prepare, *_ in PEERS:
            folder = self.folder / name
            folder.mkdir()
            try:
                prepared[name] = stack.enter_context(prepare(folder))
                self.environment.update(prepared[name].environment)
            except NotHere as reason:
                print(f"{name} is not measured: {reason}", flush=True)
        return prepared

    @staticmethod
    def load_peers(bursts, prepared):
        """Returns the peers that work here, and prints why the rest does not."""
        loaded = {}
        for name, peer in prepared.items():
            try:
                bursts.ask("load", name, peer.path, peer.argument)
                loaded[name] = peer
            except Problem as reason:
                print(f"{name} is not measured: {reason}", flush=True)
        return loaded

    def write_rounds(self, bursts, names):
        """Each round has a burst of eventlog and one of each peer. Returns nanoseconds by name."""
        times = {name: [] for name in ["ours", *names]}
        warm_up = QUICK_WARM_UP if self.quick else WARM_UP
        for number in range(warm_up + (QUICK_ROUNDS if self.quick else ROUNDS)):
            for name in random.sample(sorted(times), len(times)):
                words = ["emit", "retransmission"] if name == "ours" else ["peer", name]
                took = bursts.ask(*words)[0]
                if number >= warm_up:
                    times[name].append(took)
        return times

    def run(self):
        with contextlib.ExitStack() as stack:
            self.compare(self.prepare_peers(stack))

    def compare(self, prepared):
        with Bursts(self) as bursts:
            with self.recording("bench:*", "--buffer-size", "4M") as recorder:
                bursts.ask("wait", "retransmission")
                loaded = self.load_peers(bursts, prepared)
                times = self.write_rounds(bursts, loaded)
                emitted = int(bursts.ask("emitted")[0])
            recorder.check(emitted)
            counts = {}
            for name, peer in loaded.items():
                handed, lost = map(int, bursts.ask("end", name))
                counts[name] = peer.count_lost(handed) if peer.count_lost else lost, handed
        self.show_times(times, counts, recorder)

    def show_times(self, times, counts, recorder):
        print(f"emit_enabled: {median_and_spread(times['ours'])}; lost {recorder.lost} of "
              f"{recorder.read + recorder.lost}")
        warn_of_loss(recorder.lost, recorder.read + recorder.lost)
        for name, _, figure, target in PEERS:
            if name in counts:
                # Within a round, a disturbance affects both.
                ratios = [theirs / ours for ours, theirs in zip(times["ours"], times[name])]
                self.figures.show_ratio(figure, statistics.median(ratios), target, at_most=False)
                lost, handed = counts[name]
                explain(f"{name}: {median_and_spread(times[name])}; lost {lost} of {handed}")


if __name__ == "__main__":
    measure(make_parser("peers", __doc__), Peers)
