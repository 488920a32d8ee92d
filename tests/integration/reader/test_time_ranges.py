#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--since and --until of all commands that read recordings: the index makes reading a part of a large
file cheap, and never changes the output.
"""

import json
import os
import random
import re
import signal
import struct
import time

import harness
import independent_reader

MIB = 1 << 20
# Small enough that a small recording has several index blocks, as a large one usually has.
INDEX_BYTES = 128 << 10
INDEX = 7
NEWER = 4711  # an unknown type of blocks
SECOND = 1_000_000_000
# The index selects blocks with a margin of 10 ms. Silence between bursts, and so many events that
# come one in a millisecond, last longer.
SILENCE = 0.05
LONG_BLOCK_EVENTS = 200
# The shortest step between index blocks.
SHORTEST_STEP = 32 << 10


class TimeRanges(harness.Case):
    def setUp(self):
        super().setUp()
        self.environment["EVENTLOG_TEST_INDEX_BYTES"] = str(INDEX_BYTES)

    def count_of(self, path):
        """The number of events in a file that may still be written."""
        return json.loads(self.run_elog("stat", "--json", path).stdout)["events"]

    def record_bursts(self, name, *options, bursts=4, room="4M", loads=(5000,), is_stopped=False,
                      loses=False):
        """Records bursts of events with silence between them, so that the bursts are far apart.

        A burst consists of `loads`, one after the other, each a number of events of all threads.
        `is_stopped`: during a burst, the recorder is stopped, and it writes all of it afterwards.
        """
        path, count = self.path(name), 0
        recording = self.start_recording("-e", "counter:*", "-o", path, "--wait", "--buffer-size",
                                         room, *options)
        for _ in range(bursts):
            if is_stopped:
                recording.send_signal(signal.SIGSTOP)
            attempted = sum(self.emit(load) for load in loads)
            recording.send_signal(signal.SIGCONT)
            if "--rotate" not in options:
                # The block of a burst is not to contain the next burst, too.
                wanted = count + (1 if loses else attempted)
                self.wait_for(lambda: self.count_of(path) >= wanted, "a burst in the file")
                count = self.count_of(path)
            time.sleep(SILENCE)
        _, errors = self.stop(recording)
        self.assertEqual(self.summary(errors)[2] > 0, loses, errors)
        return path

    def emit(self, events):
        """Emits events as fast as possible, or one in a millisecond if there are few. Returns their
        number."""
        is_slow = events <= LONG_BLOCK_EVENTS
        threads = 1 if is_slow else harness.THREADS
        output, _ = self.finish(self.start(harness.program("counter"), str(threads),
                                           str(events // threads), "1000" if is_slow else "0"))
        return int(output.split()[1])

    def record_long_blocks(self, name):
        """A compressed recording with several index blocks, and with records blocks that last long."""
        self.environment["EVENTLOG_TEST_INDEX_BYTES"] = str(SHORTEST_STEP)
        path = self.record_bursts(
            name, "--compress", bursts=3, is_stopped=True, loads=(6000, LONG_BLOCK_EVENTS))
        self.assertGreater(self.indexes(path), 2)
        return path

    @staticmethod
    def blocks(data):
        """(offset, type) of each block of a whole file."""
        at = harness.FILE_HEADER_SIZE
        while at < len(data):
            kind, _, size = struct.unpack_from("<HHI", data, at + 4)
            yield at, kind
            at += 32 + (size + 7) // 8 * 8

    def indexes(self, path):
        with open(path, "rb") as file:
            return [kind for _, kind in self.blocks(file.read())].count(INDEX)

    def change(self, path, name, change):
        """A copy with changed bytes."""
        with open(path, "rb") as file:
            data = bytearray(file.read())
        change(data)
        with open(self.path(name), "wb") as file:
            file.write(data)
        return self.path(name)

    def hide_index(self, data):
        """Makes each index a block of a newer version, which readers skip."""
        for at, kind in self.blocks(data):
            if kind == INDEX:
                struct.pack_into("<H", data, at + 4, NEWER)
                checksum = independent_reader.crc32c(data[at : at + 28])
                struct.pack_into("<I", data, at + 28, checksum)

    def spoil_last_index(self, data):
        data[[at for at, kind in self.blocks(data) if kind == INDEX][-1] + 40] ^= 1

    def drop_end(self, data):
        """Cuts the end as after a killed recorder, including the last index."""
        del data[[at for at, kind in self.blocks(data) if kind == INDEX][-1] :]

    def time_of(self, path):
        found = json.loads(self.run_elog("stat", "--json", path).stdout)
        return harness.nanoseconds(found["first_time"]), harness.nanoseconds(found["last_time"])

    def ranges(self, path, count, choose):
        """Options for ranges, some of them open."""
        first, last = self.time_of(path)
        for _ in range(count):
            begin, end = sorted(choose.randint(first - SECOND // 10, last + SECOND // 10)
                                for _ in range(2))
            kind = choose.randrange(4)
            yield ([] if kind == 0 else ["--since", self.point(begin)],
                   [] if kind == 1 else ["--until", self.point(end)])

    @staticmethod
    def point(nanoseconds):
        return f"@{nanoseconds // SECOND}.{nanoseconds % SECOND:09}"

    def shown(self, command, path, options, status):
        """The output of a command for a range, or the file that it writes."""
        if command[0] != "cut":
            output = self.run_elog(*command, path, *options, status=status).stdout
            # Hidden index blocks have an unknown type.
            return re.sub(r'"unknown_block_count": \d+', "", output)
        # The file has its own identity and clock: compare its printed events.
        self.run_elog("cut", path, *options, "--force", "-o", self.path("cut.elog"),
                      status=status)
        return self.run_elog("print", self.path("cut.elog")).stdout

    COMMANDS = (
        ["print"],
        ["stat", "--json"],
        ["agg", "--json", "count(), sum(check) by worker"],
        ["convert", "--to", "jsonl"],
        ["convert", "--to", "csv"],
        ["cut"],
    )

    def assert_same(self, path, other, status, count, seed):
        for begin, end in self.ranges(path, count, random.Random(seed)):
            for command in self.COMMANDS:
                with self.subTest(command=command, part=begin + end, seed=seed):
                    part = begin + end
                    # assertEqual takes minutes to compare megabytes.
                    self.assertTrue(
                        self.shown(command, path, part, 0)
                        == self.shown(command, other, part, status)
                    )

    def test_match_with_and_without_index(self):
        path = self.record_bursts("run.elog")
        self.assertGreater(self.indexes(path), 1)
        hidden = self.change(path, "hidden.elog", self.hide_index)
        spoilt = self.change(path, "spoilt.elog", self.spoil_last_index)
        self.assert_same(path, hidden, 1, 2, seed=1)
        self.assert_same(path, spoilt, 1, 1, seed=2)

    def test_match_for_unfinished_compressed_file(self):
        path = self.record_bursts("run.elog", "--compress", bursts=3, room="128K",
                                  loads=(30000,), is_stopped=True, loses=True)
        killed = self.change(path, "killed.elog", self.drop_end)
        self.assertGreater(self.indexes(killed), 0)
        hidden = self.change(killed, "hidden.elog", self.hide_index)
        self.assert_same(killed, hidden, 0, 4, seed=3)

    def events_of(self, path, *options, status=0):
        """(time, line) of each event in JSON."""
        lines = self.run_elog("convert", "--to", "jsonl", path, *options, status=status).stdout
        found = [(json.loads(line).get("time"), line) for line in lines.splitlines()]
        return [(when, line) for when, line in found if when]

    def assert_exactly_the_range(self, path, events, begin, end, status):
        """Compares the events of a range with those of a full reading."""
        part = ["--since", begin, "--until", end]
        wanted = [each for each in events if begin <= each[0] < end]
        with self.subTest(path=path, part=part):
            # assertEqual takes minutes to compare megabytes.
            self.assertTrue(self.events_of(path, *part, status=status) == wanted)
            shown = json.loads(self.run_elog("stat", "--json", path, *part, status=status).stdout)
            self.assertEqual(shown["events"], len(wanted))
            self.run_elog("cut", path, *part, "--force", "-o", self.path("cut.elog"),
                          status=status)
            self.assertEqual(self.count_of(self.path("cut.elog")), len(wanted))

    def assert_exactly_the_ranges(self, path, count, choose, bounds_of=lambda times: times,
                                  status=0):
        """Divides the times of a file's events that `bounds_of` selects into parts of the same
        size. Each of them has a range from one of its events to another."""
        events = self.events_of(path)
        bounds = bounds_of(sorted({when for when, _ in events}))
        count = min(count, len(bounds) // 2)
        size = len(bounds) // max(count, 1)
        for first in range(0, size * count, size):
            begin, end = sorted(choose.sample(bounds[first : first + size], 2))
            self.assert_exactly_the_range(path, events, begin, end, status)

    @staticmethod
    def one_of_each_millisecond(times):
        """Spreads bounds evenly over time: most events of a burst are at its start."""
        return sorted({when[: len("2000-01-01T00:00:00.000")]: when for when in times}.values())

    def test_apply_to_rotated_files(self):
        self.record_bursts("run.elog", "--rotate", "1MiB", loads=(20000,))
        parts = sorted(name for name in os.listdir(self.scratch) if name.startswith("run-"))
        self.assertGreater(len(parts), 2)
        choose = random.Random(4)
        for name in parts:
            self.assert_exactly_the_ranges(self.path(name), 1, choose)

    def test_apply_within_long_compressed_blocks(self):
        path = self.record_long_blocks("run.elog")
        killed = self.change(path, "killed.elog", self.drop_end)
        hidden = self.change(path, "hidden.elog", self.hide_index)
        choose = random.Random(5)
        for each, count, status in ((path, 8, 0), (killed, 4, 0), (hidden, 2, 1)):
            self.assert_exactly_the_ranges(each, count, choose, self.one_of_each_millisecond,
                                           status)

    def test_read_little_more_than_the_range(self):
        path = self.record_bursts("run.elog", bursts=10, loads=(3000,))
        size = os.path.getsize(path)
        self.assertGreater(self.indexes(path), 5)
        lines = self.run_elog("convert", "--to", "jsonl", path, "--where",
                              "worker == 0 && (number == 0 || number == 300)").stdout.splitlines()
        times = [harness.nanoseconds(json.loads(line)["time"]) for line in lines]
        self.assertEqual(len(times), 20)
        none = self.bytes_read_by("--version")
        # The start of one burst.
        part = ["--since", self.point(times[14]), "--until", self.point(times[15])]
        for command in self.COMMANDS:
            options = part + (["--force", "-o", self.path("cut.elog")] if command[0] == "cut" else [])
            passes = 2 if "csv" in command else 1
            read = self.bytes_read_by(*command, path, *options) - none
            self.assertLess(read, passes * size // 3, command)
        self.assertGreater(self.bytes_read_by("print", path, "--since", "@0") - none, size)

    def test_invalid_index_step_is_an_error(self):
        for value in ("", "1k", "-1", "32767", str(16 * MIB + 1)):
            self.environment["EVENTLOG_TEST_INDEX_BYTES"] = value
            result = self.run_elog("record", "-e", "*", "--force", "-o", self.path("run.elog"), "--",
                                   "true", status=1)
            self.assertIn("EVENTLOG_TEST_INDEX_BYTES", result.stderr)
            self.assertIn(f"'{value}'", result.stderr)


if __name__ == "__main__":
    harness.main()
