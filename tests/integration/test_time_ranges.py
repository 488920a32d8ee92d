#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--from and --to of everything that reads recordings: the index makes it cheap to read a part of a
large file, and never changes what is shown."""

import json
import os
import random
import struct
import time

import harness
import independent_reader

MIB = 1 << 20
INDEX = 7
NEWER = 4711  # a type of blocks that nobody knows yet
SECOND = 1_000_000_000


class TimeRanges(harness.Case):
    def record_bursts(self, name, *options, bursts=4, events=100000, room="4M"):
        """Bursts of events with silence between them: what is in one is far from the others."""
        recording = self.start_recording("-e", "counter:*", "-o", self.path(name), "--wait",
                                         "--buffer-size", room, *options)
        for _ in range(bursts):
            self.finish(self.start(harness.program("counter"), str(harness.THREADS),
                                   str(events // harness.THREADS)))
            time.sleep(0.3)
        self.stop(recording)
        return self.path(name)

    @staticmethod
    def blocks(data):
        """Offset and type of each block of a whole file."""
        at = 32
        while at < len(data):
            kind, _, size = struct.unpack_from("<HHI", data, at + 4)
            yield at, kind
            at += 32 + (size + 7) // 8 * 8

    def change(self, path, name, change):
        """A copy, with something done to its bytes."""
        with open(path, "rb") as file:
            data = bytearray(file.read())
        change(data)
        with open(self.path(name), "wb") as file:
            file.write(data)
        return self.path(name)

    def hide_index(self, data):
        """Makes of each index a block of a newer version, which is skipped."""
        for at, kind in self.blocks(data):
            if kind == INDEX:
                struct.pack_into("<H", data, at + 4, NEWER)
                checksum = independent_reader.crc32c(data[at : at + 28])
                struct.pack_into("<I", data, at + 28, checksum)

    def spoil_last_index(self, data):
        data[[at for at, kind in self.blocks(data) if kind == INDEX][-1] + 40] ^= 1

    def drop_end(self, data):
        """What is left of a recorder that was killed: the last index is gone, too."""
        del data[[at for at, kind in self.blocks(data) if kind == INDEX][-1] :]

    def time_of(self, path):
        found = json.loads(self.run_elog("stat", "--json", path).stdout)
        return harness.nanoseconds(found["first"]), harness.nanoseconds(found["last"])

    def ranges(self, path, count, choose):
        """Options, of which some leave out an end."""
        first, last = self.time_of(path)
        for _ in range(count):
            begin, end = sorted(choose.randint(first - SECOND // 10, last + SECOND // 10)
                                for _ in range(2))
            kind = choose.randrange(4)
            yield ([] if kind == 0 else ["--from", self.point(begin)],
                   [] if kind == 1 else ["--until", self.point(end)])

    @staticmethod
    def point(nanoseconds):
        return f"@{nanoseconds // SECOND}.{nanoseconds % SECOND:09}"

    def shown(self, command, path, options, status):
        """What a command shows of a part, or writes to a file."""
        if command[0] != "cut":
            return self.run_elog(*command, path, *options, status=status).stdout
        # In it are its own identity and clock: what it shows is compared.
        self.run_elog("cut", path, *options, "-o", self.path("cut.elog"), status=status)
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
                    # Not by assertEqual, which takes minutes to find what differs in megabytes.
                    self.assertTrue(
                        self.shown(command, path, part, 0)
                        == self.shown(command, other, part, status)
                    )

    def test_shows_the_same_with_an_index_and_without(self):
        path = self.record_bursts("run.elog")
        self.assertGreater(os.path.getsize(path), 16 * MIB)  # more than one index
        hidden = self.change(path, "hidden.elog", self.hide_index)
        spoilt = self.change(path, "spoilt.elog", self.spoil_last_index)
        self.assert_same(path, hidden, 1, 2, seed=1)
        self.assert_same(path, spoilt, 1, 1, seed=2)

    def test_shows_the_same_of_a_compressed_file_that_was_not_ended(self):
        path = self.record_bursts("run.elog", "--compress", bursts=3, room="128K")
        killed = self.change(path, "killed.elog", self.drop_end)
        hidden = self.change(killed, "hidden.elog", self.hide_index)
        self.assert_same(killed, hidden, 0, 1, seed=3)

    def test_shows_of_the_files_of_a_rotation_what_they_have_of_that_time(self):
        self.record_bursts("run.elog", "--rotate", "1MiB", "--compress")
        parts = sorted(name for name in os.listdir(self.scratch) if name.startswith("run-"))
        self.assertGreater(len(parts), 2)
        choose = random.Random(4)
        for name in parts:
            path = self.path(name)
            lines = self.run_elog("convert", "--to", "jsonl", path).stdout.splitlines()
            times = [json.loads(line).get("time") for line in lines]
            events = [line for line, when in zip(lines, times) if when]
            times = [when for when in times if when]
            begin, end = sorted(choose.randrange(len(events)) for _ in range(2))
            shown = self.run_elog("convert", "--to", "jsonl", path, "--from", times[begin],
                                  "--until", times[end]).stdout.splitlines()
            self.assertEqual(
                [line for line in shown if "time" in json.loads(line)],
                [line for line, when in zip(events, times) if times[begin] <= when < times[end]],
            )

    def test_reads_little_more_of_a_large_file_than_that_part(self):
        path = self.record_bursts("run.elog", bursts=6)
        size = os.path.getsize(path)
        self.assertGreater(size, 24 * MIB)
        first, last = self.time_of(path)
        none = self.bytes_read_by("--version")
        # A twentieth of the time is in one burst, or in the silence between two.
        begin = first + (last - first) * 2 // 3
        part = ["--from", self.point(begin), "--until", self.point(begin + (last - first) // 20)]
        for command in self.COMMANDS:
            options = part + (["-o", self.path("cut.elog")] if command[0] == "cut" else [])
            times = 2 if "csv" in command else 1  # which reads twice
            read = self.bytes_read_by(*command, path, *options) - none
            self.assertLess(read, times * size // 3, command)
        self.assertGreater(self.bytes_read_by("print", path, "--from", "@0") - none, size)


if __name__ == "__main__":
    harness.main()
