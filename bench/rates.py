#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures how many events a second elog record writes to a file without a loss, and how soon it
shows rare events.

First two million a second on each CPU, for a minute, with buffers of the default size; then the
highest rate with 16 MiB for each CPU, found by halving. The file is in memory. Then a hundred a
second, live.
"""

import datetime
import json
import os
import statistics
import subprocess
import time

from figures import explain, make_parser, measure
from steady_load import STEADY_RATE, SteadyBench

SECONDS, QUICK_SECONDS = 60, 0.05
SEARCH_SECONDS, QUICK_SEARCH_SECONDS = 5, 0.05
SEARCH_STEPS, QUICK_SEARCH_STEPS = 12, 1
# The part of the requested events that the load must emit.
REACHED = 0.98
LOW_RATE = 100  # in a second
LOW_RATE_EVENTS, QUICK_LOW_RATE_EVENTS = 400, 10


def seconds_since(text):
    """Returns the seconds since a time of day in elog's form."""
    now = time.time()
    second, fraction = text.rstrip("Z").split(".")
    return now - datetime.datetime.fromisoformat(f"{second}+00:00").timestamp() - float(
        f"0.{fraction}")


class Rates(SteadyBench):
    def attempt(self, rate, seconds, *options):
        """Emits at that rate on each CPU for some seconds. Returns the events lost, the total, and the
        rate that the load reached. Old parts of the recording are removed."""
        recorder, reached = self.record("parts", int(rate * seconds), rate, self.cpus, "--rotate",
                                        "256MiB", "--keep", "2", *options)
        for part in self.folder.glob("parts-*.elog"):
            part.unlink()
        return recorder.lost, recorder.read + recorder.lost, reached

    def measure_steady_rate(self):
        seconds = self.options.seconds or (QUICK_SECONDS if self.quick else SECONDS)
        lost, attempted, reached = self.attempt(STEADY_RATE, seconds)
        self.figures.show("lost_at_2_million_per_second_per_cpu", lost, f"{lost} lost", 0,
                          at_most=True)
        explain(f"of {attempted} in {seconds:g} s on {self.cpus} CPUs, {reached / 1e6:.2f} million "
                "a second on each, with buffers of the default size")

    def search_loss_free_rate(self):
        """With four buffers of 4 MiB for each CPU: doubles the rate while nothing is lost, then halves
        the step. A rate that the load does not reach counts as too high."""
        seconds = QUICK_SEARCH_SECONDS if self.quick else SEARCH_SECONDS
        best, step = 0, STEADY_RATE
        is_bounded = False
        for _ in range(QUICK_SEARCH_STEPS if self.quick else SEARCH_STEPS):
            lost, attempted, reached = self.attempt(best + step, seconds, "--buffer-size", "4M")
            explain(f"asked for {(best + step) / 1e6:.2f} M/s, emitted {reached / 1e6:.2f} M/s: "
                    f"{lost} of {attempted} lost")
            is_kept = lost == 0 and reached >= REACHED * (best + step)
            best += step if is_kept else 0
            is_bounded = is_bounded or not is_kept
            step = step // 2 if is_bounded else step * 2
            if step < STEADY_RATE // 16:
                break
        self.figures.show_rate("lossfree_events_per_second_per_cpu", best)

    def record_low_rate(self, events):
        """Returns the seconds from each event to its line, and the processor time of the recorder, as a
        part of one CPU."""
        delays = []
        with subprocess.Popen([self.elog, "record", "-e", "load:*", "--wait", "--json"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              env=self.environment) as recorder:
            with subprocess.Popen([self.programs / "reading_load", str(events), str(LOW_RATE), "1"],
                                  stdout=subprocess.DEVNULL, env=self.environment):
                began = time.monotonic()
                # One more in front of them.
                for line in recorder.stdout:
                    delays.append(seconds_since(json.loads(line)["time"]))
                    if len(delays) == events + 1:
                        break
                took = time.monotonic() - began
            recorder.terminate()
            recorder.stdout.close()
            _, status, used = os.wait4(recorder.pid, 0)
            recorder.returncode = os.waitstatus_to_exitcode(status)
        return delays, (used.ru_utime + used.ru_stime) / took

    def measure_low_rate(self):
        """Rare events are shown within the latency, 10 ms, by a recorder that sleeps in between."""
        delays, share = self.record_low_rate(
            QUICK_LOW_RATE_EVENTS if self.quick else LOW_RATE_EVENTS)
        median = statistics.median(delays) * 1e3
        self.figures.show("low_rate_latency_ms", median, f"{median:.1f} ms", 10, at_most=True)
        explain(f"of {len(delays)} events, {LOW_RATE} in a second, from the event to its line, the "
                f"median; 95 % within {statistics.quantiles(delays, n=20)[-1] * 1e3:.1f} ms")
        self.figures.show_ratio("low_rate_recorder_cpu", share, 0.05)
        explain("of one CPU, from its start to its end")

    def run(self):
        self.measure_steady_rate()
        self.search_loss_free_rate()
        self.measure_low_rate()


def main():
    parser = make_parser("rates", __doc__)
    parser.add_argument("--seconds", type=float,
                        help=f"how long the steady rate is held (default: {SECONDS})")
    measure(parser, Rates)


if __name__ == "__main__":
    main()
