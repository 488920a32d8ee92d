#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures an event with other emitting threads, with further subscriptions that want it, and with
subscriptions that want other events.
"""

import contextlib
import random
import statistics

from figures import (Bench, Bursts, Problem, explain, make_parser, measure, median_and_spread,
                     warn_of_loss)

ROUNDS, QUICK_ROUNDS = 201, 2
# Fills all buffers twice.
WARM_UP, QUICK_WARM_UP = 128, 2
# Periods with and without the fifteen, and bursts of each event in a period.
CYCLES, QUICK_CYCLES = 15, 1
BURSTS_OF_CYCLE, QUICK_BURSTS_OF_CYCLE = 9, 2
# Fills all buffers of a subscription of the default size on one CPU, 4 MiB with 64 bytes for each
# event, and more: first writes to pages are not measured.
BURSTS_TO_FILL, QUICK_BURSTS_TO_FILL = 18, 1

SUBSCRIPTIONS = 16
# The number of subscriptions that want each event.
EVENTS = {"by_one": 1, "by_two": 2, "by_four": 4, "by_eight": 8, "by_sixteen": 16}


class Threads(Bench):
    # Threads -----------------------------------------------------------------------------------

    def measure_threads(self):
        if self.cpus < 2:
            print("Threads are not measured: there is one CPU, and that takes two.")
            return
        times, recorder = self.record_threads(QUICK_ROUNDS if self.quick else ROUNDS)
        self.show_threads(times, recorder)

    def record_threads(self, rounds):
        """Returns the times of write_with_threads, and the recorder, which has ended."""
        with Bursts(self) as bursts:
            with self.recording("bench:*", "--buffer-size", "4M") as recorder:
                bursts.ask("wait", "retransmission")
                times = self.write_with_threads(bursts, rounds)
                emitted = int(bursts.ask("emitted")[0])
            recorder.check(emitted)
        return times, recorder

    def write_with_threads(self, bursts, rounds):
        """Returns nanoseconds by command, in the order of the rounds."""
        for _ in range(QUICK_WARM_UP if self.quick else WARM_UP):
            bursts.ask("emit", "retransmission")
            bursts.ask("alone", 0)
        commands = ["alone 0", "alone 1", "both", "one", "many"]
        times = {command: [] for command in commands}
        for _ in range(rounds):
            for command in random.sample(commands, len(commands)):
                times[command].append(bursts.ask(command))
        return times

    def show_threads(self, times, recorder):
        both = [[pair[number] for pair in times["both"]] for number in (0, 1)]
        alone = [[took for (took,) in times[f"alone {number}"]] for number in (0, 1)]
        # Within a round: what disturbed one of them disturbed the other, too.
        ratios = [median_ratio(both[number], alone[number]) for number in (0, 1)]
        self.figures.show_ratio("two_threads_vs_one", max(ratios), 1.1)
        for number in (0, 1):
            explain(f"thread {number}: {median_and_spread(both[number])}, alone "
                    f"{median_and_spread(alone[number])}: {ratios[number]:.3f}")
        for figure, number, target in (("many_threads_vs_one", 0, 1.3),
                                       ("many_threads_with_turns_vs_one", 1, None)):
            one, many = ([took[number] for took in times[command]] for command in ("one", "many"))
            self.figures.show_ratio(figure, median_ratio(many, one), target)
            explain(f"64 threads: {median_and_spread(many)} of processor time, one: "
                    f"{median_and_spread(one)}")
        explain(f"lost {recorder.lost} of {recorder.read + recorder.lost}")
        warn_of_loss(recorder.lost, recorder.read + recorder.lost)

    # Subscriptions -----------------------------------------------------------------------------

    def start_subscription(self, number):
        """Subscription 0 wants all events, subscription 15 only one. They keep the newest events and
        have no reader."""
        wanted = [f"wanted:{event}" for event, count in EVENTS.items() if count > number]
        self.run_elog("flight", "start", f"number-{number}",
                      *(word for each in wanted for word in ("-e", each)))

    @contextlib.contextmanager
    def others(self):
        """Runs the other fifteen subscriptions during the block."""
        for number in range(1, SUBSCRIPTIONS):
            self.start_subscription(number)
        try:
            yield
        finally:
            for number in range(1, SUBSCRIPTIONS):
                self.run_elog("flight", "stop", f"number-{number}", "--discard")

    def measure_subscriptions(self):
        with Bursts(self) as bursts:
            self.start_subscription(0)
            try:
                bursts.ask("wait", "by_one")
                self.compare_subscriptions(bursts)
            finally:
                self.run_elog("flight", "stop", "number-0", "--discard")

    def compare_subscriptions(self, bursts):
        count = QUICK_BURSTS_OF_CYCLE if self.quick else BURSTS_OF_CYCLE
        times = {event: [] for event in EVENTS}
        alone, not_wanting = [], []
        records = 0

        def emit(event):
            nonlocal records
            records += EVENTS[event] * int(self.burst_size)
            return bursts.ask("emit", event)[0]

        self.burst_size = bursts.ask("burst")[0]
        for _ in range(QUICK_BURSTS_TO_FILL if self.quick else BURSTS_TO_FILL):
            emit("by_one")
        for _ in range(QUICK_CYCLES if self.quick else CYCLES):
            # Not measured: this event detaches the ended subscriptions.
            emit("by_one")
            before = [emit("by_one") for _ in range(count)]
            with self.others():
                for _ in range(QUICK_BURSTS_TO_FILL if self.quick else BURSTS_TO_FILL):
                    emit("by_sixteen")
                ones = []
                for _ in range(count):
                    for event in random.sample(sorted(EVENTS), len(EVENTS)):
                        times[event].append(emit(event))
                    ones.append(times["by_one"][-1])
            alone += before
            not_wanting.append(statistics.median(ones) / statistics.median(before))
        written, lost = map(int, bursts.ask("counters"))
        if written + lost != records:
            raise Problem(f"There should be {records} records, but {written} were written and "
                          f"{lost} were lost.")
        self.show_subscriptions(times, alone, statistics.median(not_wanting))
        explain(f"lost {lost} of {records}")
        warn_of_loss(lost, records)

    def show_subscriptions(self, times, alone, not_wanting):
        for event, count in EVENTS.items():
            explain(f"wanted by {count:>2} of 16: {median_and_spread(times[event])}")
        explain(f"wanted by the only one: {median_and_spread(alone)}")
        self.figures.show_ratio("sixteen_wanting_vs_one",
                                median_ratio(times["by_sixteen"], times["by_one"]), 16)
        self.figures.show_ratio("sixteen_wanting_vs_eight",
                                median_ratio(times["by_sixteen"], times["by_eight"]), 2.2)
        self.show_line({count: statistics.median(times[event])
                        for event, count in EVENTS.items() if count > 1})
        self.figures.show_ratio("fifteen_not_wanting_vs_none", not_wanting, 1.1)

    def show_line(self, costs):
        """Shows the event that is farthest above the straight line through the events that several
        want: each further subscription should cost the same."""
        base, each = line_through(costs)
        self.figures.show_ratio("wanting_vs_line",
                                max(cost / (base + each * count) for count, cost in costs.items()),
                                1.15)
        explain(f"the line through 2, 4, 8 and 16: {base:.1f} ns, and {each:.1f} ns for each "
                "subscription that wants it")

    def run(self):
        self.measure_threads()
        self.measure_subscriptions()


def line_through(costs):
    """The line with the least relative errors: its value at none, and its slope."""
    weights = {count: cost ** -2 for count, cost in costs.items()}
    total = sum(weights.values())
    count_mean = sum(weight * count for count, weight in weights.items()) / total
    cost_mean = sum(weight * costs[count] for count, weight in weights.items()) / total
    each = (sum(weight * (count - count_mean) * (costs[count] - cost_mean)
                for count, weight in weights.items()) /
            sum(weight * (count - count_mean) ** 2 for count, weight in weights.items()))
    return cost_mean - each * count_mean, each


def median_ratio(above, below):
    return statistics.median(ours / theirs for ours, theirs in zip(above, below))


if __name__ == "__main__":
    measure(make_parser("threads", __doc__), Threads)
