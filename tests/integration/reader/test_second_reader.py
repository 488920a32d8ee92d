#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A reader written from linux/eventlog.h alone, second_reader.py, reads regions."""

import os
import re
import shutil
import signal
import struct

import harness
import second_reader

FIELDS = re.compile(r' number=(\d+) check=(\d+) worker=(\d+) text="(\w*)"')
FEATURES_OFFSET = 12
VERSION_OFFSET = 8


def decode(payload):
    """counter:count, as in its source: schemas belong to another document."""
    number, check, worker, word = struct.unpack_from("=QQII", payload)
    begin = 24 + (word & 0xFFFF)
    return number, check, worker, payload[begin : begin + (word >> 16)].rstrip(b"\0").decode()


class SecondReader(harness.Case):
    def setUp(self):
        super().setUp()
        self.region = os.path.join(self.directory, "subscriptions", "00")

    def start_stopped_recording(self, *arguments):
        """Starts a recording that listens, and is stopped before it reads."""
        recording = self.start_recording(
            "-e", "counter:*", "-o", self.path("run.elog"), "--wait", *arguments
        )
        # It holds no lock and has set its gates.
        self.wait_for(lambda: os.path.exists(self.path("run.elog")), "the file")
        recording.send_signal(signal.SIGSTOP)
        os.waitpid(recording.pid, os.WUNTRACED)
        return recording

    def attempt(self, threads, events):
        output, _ = self.finish(self.start(harness.program("counter"), str(threads), str(events)))
        return int(output.split()[1])

    def end(self, recording):
        recording.send_signal(signal.SIGCONT)
        return self.summary(self.stop(recording)[1])

    def read(self, path):
        with second_reader.Region(path) as region:
            rings = list(region.read_rings())
            self.assertEqual([ring.damaged for ring in rings], [0] * len(rings))
            processes = {
                number: region.provider(number).process
                for number in {record.provider for ring in rings for record in ring.records}
            }
        return rings, processes

    def assert_agrees_with_elog(self, rings, processes):
        """Requires the same events of each thread, in the same order, on the same CPU."""
        ours = {}
        for record in sorted(
            (record for ring in rings for record in ring.records), key=lambda record: record.time
        ):
            ours.setdefault((processes[record.provider], record.thread), []).append(
                (record.cpu, *decode(record.payload))
            )
        theirs = {}
        for line in self.run_elog("print", self.path("run.elog")).stdout.splitlines():
            found = harness.LINE.match(line)
            if found is None:
                continue  # of a loss
            fields = FIELDS.fullmatch(found["fields"])
            theirs.setdefault((found["process"], int(found["thread"])), []).append(
                (int(found["cpu"]), int(fields[1]), int(fields[2]), int(fields[3]), fields[4])
            )
        self.assertEqual(ours, theirs)

    def test_agrees_with_elog_on_every_record(self):
        recording = self.start_stopped_recording()
        attempted = self.attempt(3, 2000)
        rings, processes = self.read(self.region)
        self.assertEqual(sum(len(ring.records) for ring in rings), attempted)
        self.assertEqual(set(processes.values()), {"counter"})
        for ring in rings:
            self.assertEqual(
                [record.sequence for record in ring.records], list(range(len(ring.records)))
            )
        events, _, lost = self.end(recording)
        self.assertEqual((events, lost), (attempted, 0))
        self.assert_agrees_with_elog(rings, processes)

    def test_agrees_with_elog_on_losses(self):
        recording = self.start_stopped_recording("--buffer-size", "128K")
        attempted = self.attempt(2, 40000)
        rings, processes = self.read(self.region)
        read = sum(len(ring.records) for ring in rings)
        lost = sum(ring.lost for ring in rings)
        self.assertGreater(lost, 0)
        self.assertEqual(read + lost, attempted)
        # No buffer was drained, so no event follows a loss.
        self.assertEqual([ring.gaps for ring in rings], [[] for _ in rings])

        self.assertEqual(self.end(recording)[::2], (read, lost))
        self.assert_agrees_with_elog(rings, processes)

    def test_reads_the_gap_in_front_of_the_record_that_follows_it(self):
        recording = self.start_stopped_recording("--buffer-size", "128K")
        self.attempt(2, 40000)
        rings, _ = self.read(self.region)
        lost = {ring.number: ring.lost for ring in rings if ring.lost != 0}
        recording.send_signal(signal.SIGCONT)
        self.wait_for(self.has_drained(lost), "room in the rings")

        gaps = {}

        def find_gaps():
            self.attempt(2, 100)
            gaps.update(
                {ring.number: [gap[1] for gap in ring.gaps] for ring in self.read(self.region)[0]}
            )
            return any(gaps.values())

        self.wait_for(find_gaps, "a record in a ring that was full")
        for ring, found in gaps.items():
            self.assertIn(found, ([], [lost.get(ring)]))
        self.end(recording)

    def has_drained(self, rings):
        def drained(region, ring):
            (generation,) = struct.unpack("=Q", region.read_at(region.ring_offset(ring) + 64, 8))
            return generation > 0

        def condition():
            with second_reader.Region(self.region) as region:
                return all(drained(region, ring) for ring in rings)

        return condition

    def test_reads_region_of_killed_recorder(self):
        recording = self.start_stopped_recording()
        attempted = self.attempt(2, 3000)
        recording.send_signal(signal.SIGKILL)
        recording.wait()
        copy = self.path("copy")
        shutil.copyfile(self.region, copy)
        rings, _ = self.read(copy)
        records = [decode(record.payload) for ring in rings for record in ring.records]
        self.assertEqual(len(records), attempted)
        self.assertEqual(
            sorted((worker, number) for number, _, worker, _ in records),
            [(worker, number) for worker in range(2) for number in range(3000)],
        )
        for number, check, worker, text in records:
            self.assertEqual(check, (number + worker) * 0x9E3779B97F4A7C15 % 2**64)
            self.assertEqual(text, "abcdefghijklmnopqrstuvwxyz"[: number % 26])

    def test_reads_concurrently_without_torn_records(self):
        program = self.start(harness.program("counter"), "2", "0", "20")
        recording = self.start_recording(
            "-e", "counter:*", "-o", self.path("run.elog"), "--wait", "--buffer-size", "128K"
        )
        self.wait_for(lambda: any(ring.records for ring in self.read(self.region)[0]), "events")
        for _ in range(50):
            rings, _ = self.read(self.region)
            for ring in rings:
                sequence = [record.sequence for record in ring.records]
                self.assertEqual(sequence, sorted(set(sequence)))
                for record in ring.records:
                    number, check, worker, _ = decode(record.payload)
                    self.assertEqual(check, (number + worker) * 0x9E3779B97F4A7C15 % 2**64)
        program.kill()
        self.end(recording)

    def test_and_elog_reject_unknown_versions_and_features(self):
        recording = self.start_stopped_recording()
        for offset in (VERSION_OFFSET, FEATURES_OFFSET):
            copy = self.path("copy")
            shutil.copyfile(self.region, copy)
            with open(copy, "r+b") as file:
                file.seek(offset)
                file.write(struct.pack("=I", 0x80000002))
            with self.assertRaisesRegex(second_reader.InvalidRegion, "is not known here"):
                second_reader.Region(copy)
        # For a writer: the program finds the bit in the subscription itself.
        with open(self.region, "r+b") as file:
            file.seek(FEATURES_OFFSET)
            before = file.read(4)
            file.seek(FEATURES_OFFSET)
            file.write(struct.pack("=I", 0x80000000))
        self.attempt(1, 100)
        with open(self.region, "r+b") as file:
            file.seek(FEATURES_OFFSET)
            file.write(before)
        rings, _ = self.read(self.region)
        self.assertEqual(sum(len(ring.records) for ring in rings), 0)
        self.assertEqual(self.end(recording), (0, 0, 0))

    def test_rejects_truncated_and_inconsistent_regions(self):
        recording = self.start_stopped_recording()
        size = os.path.getsize(self.region)
        for what, cut, offset, value in (
            ("contradicts itself", size - 1, 0, b""),
            ("contradicts itself", size, 28, b"\xff\xff\xff\xff"),
            ("no region", size, 0, b"X"),
            ("ends before", 40, 0, b""),
        ):
            copy = self.path("copy")
            shutil.copyfile(self.region, copy)
            with open(copy, "r+b") as file:
                file.truncate(cut)
                file.seek(offset)
                file.write(value)
            with self.assertRaisesRegex(second_reader.InvalidRegion, what):
                second_reader.Region(copy)
        self.end(recording)


if __name__ == "__main__":
    harness.main()
