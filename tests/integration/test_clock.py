#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times are those at which events were emitted: by the processor's counter, and without it.

EVENTLOG_TEST_CLOCK_SECONDS says for how long they are held against the clocks; 2 without it."""

import datetime
import json
import os
import subprocess

import harness

SECONDS = int(os.environ.get("EVENTLOG_TEST_CLOCK_SECONDS", "2"))


class Clock(harness.Case):
    """By whatever clock is the best here."""

    kinds = ("1", "2")  # enum eventlog_clock

    def record(self, *command):
        path = self.path("run.elog")
        self.run_elog("record", "-e", "*", "-o", path, "--", *command,
                      timeout=harness.PATIENCE + SECONDS)
        return path

    def test_file_says_which_clock_it_is(self):
        path = self.record(harness.program("counter"), "1", "10")
        dumped = subprocess.run(
            [harness.program("dump_recording"), path], env=self.environment, check=True,
            stdout=subprocess.PIPE, encoding="utf-8", timeout=harness.PATIENCE,
        )
        self.assertIn(dumped.stdout.split(" ")[1], self.kinds)

    def nanoseconds(self, text, clock):
        if clock == "monotonic":
            seconds, fraction = text.split(".")
            return int(seconds) * 10**9 + int(fraction.ljust(9, "0"))
        day = datetime.datetime.fromisoformat(text[:19] + "+00:00")
        return int(day.timestamp()) * 10**9 + int(text[20:].rstrip("Z").ljust(9, "0"))

    def was_set(self, events):
        """Whether somebody set the time of day meanwhile. What changes the rate of one clock
        changes that of both."""
        ahead = [each["fields"]["monotonic_before"] - each["fields"]["realtime_before"]
                 for each in events[1:]]
        # One is read behind the other: the least difference is that of an undisturbed reading.
        middle = len(ahead) // 2
        return abs(min(ahead[:middle]) - min(ahead[middle:])) > 1000

    def test_times_are_exact_to_a_microsecond(self):
        """An event lies between two readings, however long its program was held up there."""
        path = self.record(harness.program("punctual"), str(SECONDS))
        for clock in ("monotonic", "realtime"):
            output = self.run_elog("convert", "--to", "jsonl", "--clock", clock, path).stdout
            events = [json.loads(line) for line in output.splitlines()]
            self.assertGreater(len(events), 20)
            if clock == "realtime" and self.was_set(events):
                continue  # nobody knows at which of these moments
            errors = []
            for event, behind in zip(events, events[1:]):
                fields = behind["fields"]
                self.assertEqual(fields["number"], event["fields"]["number"] + 1)
                shown = self.nanoseconds(event["time"], clock)
                early = fields[clock + "_before"] - shown
                late = shown - fields[clock + "_after"]
                errors.append(max(early, late, 0))
            errors.sort()
            print(f"{clock}: outside of the readings around them, of {len(errors)} times in "
                  f"{SECONDS} s: half {errors[len(errors) // 2]} ns, 90 % at most "
                  f"{errors[len(errors) * 9 // 10]} ns, all at most {errors[-1]} ns")
            # The readings that convert them may have been held up, too: then a second is less so.
            self.assertLess(errors[len(errors) * 9 // 10], 1000, f"{clock}: {errors[-20:]}")
            self.assertLess(errors[-1], 1_000_000, f"{clock}: {errors[-20:]}")

    def test_nothing_is_lost(self):
        threads, events = harness.THREADS, 5000
        path = self.record(harness.program("counter"), str(threads), str(events))
        self.assertIn("whole", self.run_elog("verify", path).stdout)
        output = self.run_elog("convert", "--to", "jsonl", path).stdout
        found = {}
        for event in map(json.loads, output.splitlines()):
            found.setdefault(event["thread"], []).append(event["fields"]["number"])
        self.assertEqual(len(found), threads)
        for numbers in found.values():
            self.assertEqual(sorted(numbers), list(range(events)))


class WithoutCounter(Clock):
    """As where the processor's counter is not invariant, or the kernel does not trust it."""

    kinds = ("1",)

    def setUp(self):
        super().setUp()
        self.environment["EVENTLOG_TSC"] = "off"

    def test_counter_is_taken_unless_it_is_turned_off(self):
        self.assertEqual(self.clock_of_features(), "monotonic")
        self.environment["EVENTLOG_TSC"] = "auto"
        self.assertIn(self.clock_of_features(), ("tsc", "monotonic"))
        self.environment["EVENTLOG_TSC"] = "on"
        self.assertEqual(self.clock_of_features(), "tsc")

    def clock_of_features(self):
        found = json.loads(self.run_elog("features", "--json").stdout)["features"]
        (clock,) = (each for each in found if each["name"] == "clock")
        return clock["value"].split(":")[0]


if __name__ == "__main__":
    harness.main()
