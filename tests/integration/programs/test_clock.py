#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Events have the times at which they were emitted, with the processor's counter and without it.

EVENTLOG_TEST_CLOCK_SECONDS sets the duration of the comparison with the clocks; the default is
2.
"""

import datetime
import json
import os
import struct
import subprocess

import harness
import independent_reader

SECONDS = int(os.environ.get("EVENTLOG_TEST_CLOCK_SECONDS", "2"))
CLOCK, INDEX = 2, 7  # types of blocks


def outside_of(time, early, late):
    """The distance of a time from the interval between two others."""
    return max(early - time, time - late, 0)


class Clock(harness.Case):
    """By the best clock of this machine."""

    kinds = ("1", "2")  # enum eventlog_clock

    def record(self, *command):
        path = self.path("run.elog")
        self.run_elog("record", "-e", "*", "-o", path, "--", *command,
                      timeout=harness.TIMEOUT + SECONDS)
        return path

    def punctual(self):
        return self.create_once("run.elog", lambda _: self.record(
            harness.program("time_bounds"), str(SECONDS)))

    def test_file_names_its_clock(self):
        path = self.record(harness.program("counter"), "1", "10")
        dumped = subprocess.run(
            [harness.program("dump_recording"), path], env=self.environment, check=True,
            stdout=subprocess.PIPE, encoding="utf-8", timeout=harness.TIMEOUT,
        )
        self.assertIn(dumped.stdout.split(" ")[1], self.kinds)

    def nanoseconds(self, text, clock):
        if clock == "monotonic":
            seconds, fraction = text.split(".")
            return int(seconds) * 10**9 + int(fraction.ljust(9, "0"))
        day = datetime.datetime.fromisoformat(text[:19] + "+00:00")
        return int(day.timestamp()) * 10**9 + int(text[20:].rstrip("Z").ljust(9, "0"))

    def readings_around(self, path):
        """For each event with clock readings: its number, its time in the file, and the readings of
        both clocks before and after it."""
        file = independent_reader.File(path)
        found = {}
        for ring in file.rings:
            for _, _, _, head, payload in file.records(ring):
                number, *readings = struct.unpack("<5Q", payload)
                found.setdefault(number, {})["time"] = head[2]
                found.setdefault(number - 1, {})["readings"] = readings
        return file, [(number, each["time"], *each["readings"])
                      for number, each in sorted(found.items()) if len(each) == 2]

    def test_readings_of_the_recorder_are_exact_to_a_microsecond(self):
        """The recorder's readings agree with nearby readings of the program, whatever the clocks'
        rates."""
        file, events = self.readings_around(self.punctual())
        ticks = file.clocks[-1][0] - file.clocks[0][0]
        rate = (file.clocks[-1][1] - file.clocks[0][1]) / ticks
        inside = [pair for pair in file.clocks if events[0][1] < pair[0] < events[-1][1]]
        self.assertGreaterEqual(len(inside), SECONDS // 2)
        for clock, *shown in inside:
            near = sorted(events, key=lambda event: abs(event[1] - clock))[:10]
            for name, reading, early, late in (("monotonic", shown[0], 2, 3),
                                               ("realtime", shown[1], 4, 5)):
                # A delay between the program's two readings widens the interval.
                errors = [outside_of(reading - round((clock - event[1]) * rate),
                                     event[early], event[late]) for event in near]
                self.assertLess(min(errors), 1000, f"{name} at {clock}: {errors}")

    def inject(self, path, kind):
        """Replaces a recording's clock readings at the same ticks, and drops its end and index,
        which depend on them. Returns the readings."""
        with open(path, "rb") as file:
            data = bytearray(file.read())
        pairs, at = [], harness.FILE_HEADER_SIZE
        while (block := struct.unpack_from("<HHI", data, at + 4))[0] != INDEX:
            if block[0] == CLOCK:
                (clock,) = struct.unpack_from("<Q", data, at + 40)
                monotonic, realtime = clock, 10**18
                if pairs:  # the rate changes each second, and the wall clock is set
                    ticks = clock - pairs[-1][0]
                    monotonic = pairs[-1][1] + ticks // (2 + len(pairs) % 3)
                    realtime = pairs[-1][2] + ticks + 3600 * 10**9
                monotonic = clock if kind == "1" else monotonic
                pairs.append((clock, monotonic, realtime))
                struct.pack_into("<QQQ", data, at + 40, *pairs[-1])
                payload = bytes(data[at + 32 : at + 32 + block[2]])
                struct.pack_into("<I", data, at + 12, independent_reader.crc32c(payload))
                checksum = independent_reader.crc32c(bytes(data[at : at + 28]))
                struct.pack_into("<I", data, at + 28, checksum)
            at += 32 + (block[2] + 7) // 8 * 8
        with open(path, "wb") as file:
            file.write(data[:at])
        return pairs

    def test_times_match_surrounding_clock_readings(self):
        path = self.punctual()
        file, events = self.readings_around(path)
        pairs = self.inject(path, str(file.segment[0]))
        self.assertGreater(len(pairs), 2)
        shown = {}
        for clock in ("monotonic", "realtime"):
            output = self.run_elog("convert", "--to", "jsonl", "--clock", clock, path).stdout
            for event in map(json.loads, output.splitlines()):
                shown[clock, event["fields"]["number"]] = self.nanoseconds(event["time"], clock)
        inside = [event for event in events if pairs[0][0] <= event[1] < pairs[-1][0]]
        self.assertGreater(len(inside), 20)
        for number, time, *_ in inside:
            base, following = next(two for two in zip(pairs, pairs[1:]) if time < two[1][0])
            passed = (time - base[0]) * (following[1] - base[1]) / (following[0] - base[0])
            # Nanoseconds are integers.
            self.assertLessEqual(abs(shown["monotonic", number] - base[1] - passed), 1)
            self.assertLessEqual(abs(shown["realtime", number] - base[2] - passed), 1)

    def was_set(self, events):
        """Whether the wall clock was set meanwhile. A change of the rate affects both clocks."""
        ahead = [monotonic - realtime for _, _, monotonic, _, realtime, _ in events]
        # The clocks are read one after the other: the least difference is that of an undisturbed
        # reading.
        middle = len(ahead) // 2
        return abs(min(ahead[:middle]) - min(ahead[middle:])) > 1000

    def test_times_lie_between_readings_of_program(self):
        """To a millisecond: the most that a clock deviates from a straight line in a second."""
        path = self.punctual()
        _, events = self.readings_around(path)
        self.assertGreater(len(events), 20)
        for clock, early in (("monotonic", 2), ("realtime", 4)):
            if clock == "realtime" and self.was_set(events):
                continue  # the moment of the change is unknown
            output = self.run_elog("convert", "--to", "jsonl", "--clock", clock, path).stdout
            shown = {event["fields"]["number"]: self.nanoseconds(event["time"], clock)
                     for event in map(json.loads, output.splitlines())}
            errors = sorted(outside_of(shown[event[0]], event[early], event[early + 1])
                            for event in events)
            print(f"{clock}: outside of the readings around them, of {len(errors)} times in "
                  f"{SECONDS} s: half {errors[len(errors) // 2]} ns, 90 % at most "
                  f"{errors[len(errors) * 9 // 10]} ns, all at most {errors[-1]} ns")
            self.assertLess(errors[-1], 1_000_000, f"{clock}: {errors[-20:]}")

    def test_nothing_is_lost(self):
        threads, events = harness.THREADS, 5000
        path = self.record(harness.program("counter"), str(threads), str(events))
        self.assertIn("whole", self.run_elog("verify", path).stdout)
        output = self.run_elog("convert", "--to", "jsonl", path).stdout
        found = {}
        for event in map(json.loads, output.splitlines()):
            found.setdefault(event["tid"], []).append(event["fields"]["number"])
        self.assertEqual(len(found), threads)
        for numbers in found.values():
            self.assertEqual(sorted(numbers), list(range(events)))


class WithoutCounter(Clock):
    """As if the processor's counter were not invariant, or the kernel did not trust it."""

    kinds = ("1",)

    def setUp(self):
        super().setUp()
        self.environment["EVENTLOG_TSC"] = "off"

    def test_tsc_is_used_unless_disabled(self):
        self.assertEqual(self.clock_of_features(), "monotonic")
        self.environment["EVENTLOG_TSC"] = "auto"
        self.assertIn(self.clock_of_features(), ("tsc", "monotonic"))
        self.environment["EVENTLOG_TSC"] = "on"
        self.assertEqual(self.clock_of_features(), "tsc")

    def clock_of_features(self):
        found = json.loads(self.run_elog("features", "--json").stdout)["checks"]
        (clock,) = (each for each in found if each["name"] == "clock")
        return clock["text"].split(":")[0]


if __name__ == "__main__":
    harness.main()
