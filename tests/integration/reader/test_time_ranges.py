#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--since and --until of all commands that read recordings: the index makes reading a part of a large
file cheap, and never changes the output.
"""

import json
import os
import random
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


class TimeRanges(harness.Case):
    def setUp(self):
        super().setUp()
        self.environment["EVENTLOG_TEST_INDEX_BYTES"] = str(INDEX_BYTES)

    def record_bursts(self, name, *options, bursts=4, events=5000, room="4M", loses=False):
        """Records bursts of events with silence between them, so that the bursts are far apart."""
        recording = self.start_recording("-e", "counter:*", "-o", self.path(name), "--wait",
                                         "--buffer-size", room, *options)
        for _ in range(bursts):
            if loses:
                recording.send_signal(signal.SIGSTOP)
            self.finish(self.start(harness.program("counter"), str(harness.THREADS),
                                   str(events // harness.THREADS)))
            recording.send_signal(signal.SIGCONT)
            time.sleep(0.05)
        _, errors = self.stop(recording)
        self.assertEqual(self.summary(errors)[2] > 0, loses, errors)
        return self.path(name)

    @staticmethod
    def blocks(data):
        """(offset, type) of each block of a whole file."""
        at = 32
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
            return self.run_elog(*command, path, *options, status=status).stdout
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
        path = self.record_bursts("run.elog", "--compress", bursts=3, events=30000, room="128K",
                                  loses=True)
        killed = self.change(path, "killed.elog", self.drop_end)
        self.assertGreater(self.indexes(killed), 0)
        hidden = self.change(killed, "hidden.elog", self.hide_index)
        self.assert_same(killed, hidden, 0, 4, seed=3)

    def test_apply_to_rotated_files(self):
        self.record_bursts("run.elog", "--rotate", "1MiB", events=10000)
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
            shown = self.run_elog("convert", "--to", "jsonl", path, "--since", times[begin],
                                  "--until", times[end]).stdout.splitlines()
            self.assertEqual(
                [line for line in shown if "time" in json.loads(line)],
                [line for line, when in zip(events, times) if times[begin] <= when < times[end]],
            )

    def test_read_little_more_than_the_range(self):
        path = self.record_bursts("run.elog", bursts=10, events=3000)
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
