#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Damaged recordings: what elog advises works, a repaired file is whole and prints as the damaged
one, and all commands that read or copy it have the same events.
"""

import json
import random
import re
import shlex
import struct
import subprocess
from datetime import datetime, timedelta

import harness
from independent_reader import crc32c

NUMBER = re.compile(r" number=(\d+)")
TIME = "%H:%M:%S.%fZ"
HOST, RECORDS, SEGMENT = 1, 4, 9
HEADER = struct.Struct("<IHHIIQII")  # magic, type, flags, size, checksum, number, identity, checksum


def blocks_of(data):
    """(offset, type, size, offset of the end) of the blocks of an undamaged file."""
    at = 64
    while at + 32 <= len(data):
        _, kind, _, size, *_ = HEADER.unpack_from(data, at)
        end = at + 32 + (size + 7) // 8 * 8
        yield at, kind, size, end
        at = end


def update_checksums(data, at, size):
    """After a change of a block's header or payload."""
    struct.pack_into("<I", data, at + 12, crc32c(data[at + 32 : at + 32 + size]))
    struct.pack_into("<I", data, at + 28, crc32c(data[at : at + 28]))


class DamagedFiles(harness.Case):
    def record(self, name="sound.elog", count=300):
        self.run_elog("record", "-e", "counter:*", "-o", self.path(name), "--",
                      harness.program("counter"), "2", str(count))
        return self.path(name)

    def contents(self, path):
        with open(path, "rb") as file:
            return bytearray(file.read())

    def write(self, data, name="damaged.elog"):
        with open(self.path(name), "wb") as file:
            file.write(data)
        return self.path(name)

    def run_any(self, *arguments):
        """The same with exit status 0, or 1 for a damaged file."""
        found = subprocess.run([harness.ELOG, *arguments], check=False, env=self.environment,
                               capture_output=True, encoding="utf-8", timeout=harness.TIMEOUT)
        self.assertIn(found.returncode, (0, 1), found.stderr)
        self.assertNotRegex(found.stderr, harness.SANITIZER_REPORT)
        return found

    def take_advice(self, stderr, path, new):
        """Runs the command that a message names; None if it names none."""
        advice = re.search(r"with: elog (.*)$", stderr, re.M)
        if advice is None:
            return None
        words = [{"FILE": path, "NEW": new}.get(word, word)
                 for word in shlex.split(advice.group(1))]
        return self.run_elog(*words, "--force")

    def print_dated(self, path):
        """With the date of each event: print shows it only behind a note or event of another day."""
        return self.run_any("print", path, "--utc", "--date")

    def events(self, path):
        return self.without_notes(self.run_any("print", path, "--utc"))

    def dated_events(self, path):
        return self.without_notes(self.print_dated(path))

    @staticmethod
    def without_notes(printed):
        return [line for line in printed.stdout.splitlines() if not line.startswith("-- ")]

    def assert_same_events(self, after, before):
        """Without the first clock reading, times differ by the drift of the clocks: by less than a
        millisecond in the seconds that such a recording lasts.
        """
        parted = [[line.split(" ", 1) for line in lines] for lines in (after, before)]
        self.assertEqual(*([text for _, text in lines] for lines in parted))
        for new, old in zip(*([time for time, _ in lines] for lines in parted)):
            apart = abs(datetime.strptime(new, TIME) - datetime.strptime(old, TIME))
            self.assertLess(min(apart, timedelta(days=1) - apart), timedelta(milliseconds=1))

    def without_segments(self, data):
        for at, kind, _, end in blocks_of(bytes(data)):
            if kind in (HOST, SEGMENT):
                data[at:end] = bytes(end - at)
        return data

    def test_zeroed_beginning_is_repaired(self):
        sound = self.contents(self.record(count=3000))
        before = self.events(self.path("sound.elog"))
        for size in (512, 4096):
            damaged = self.write(bytes(size) + sound[size:])
            verified = self.run_elog("verify", damaged, status=1)
            self.take_advice(verified.stderr, damaged, self.path("new.elog"))
            self.run_elog("verify", self.path("new.elog"))
            after = self.events(self.path("new.elog"))
            self.assertEqual(after, self.events(damaged))
            # Without the first clock reading, times differ by the drift of the clocks.
            self.assertLessEqual({line.split(" ", 1)[1] for line in after},
                                 {line.split(" ", 1)[1] for line in before})
            self.assertGreater(len(after), 0)

    def test_file_without_host_is_recovered_by_advice(self):
        data = self.without_segments(self.contents(self.record()))
        before = self.events(self.path("sound.elog"))
        damaged = self.write(data)
        printed = self.run_elog("print", damaged, status=1)
        self.assertIn("has lost the blocks that state the clock", printed.stderr)
        for stderr in (printed.stderr, self.run_elog("verify", damaged, status=1).stderr):
            repaired = self.take_advice(stderr, damaged, self.path("new.elog"))
            self.assertIn("no block left that states the clock", repaired.stderr)
            self.run_elog("verify", self.path("new.elog"))
            self.assert_same_events(self.events(self.path("new.elog")), before)
            stat = self.run_elog("stat", self.path("new.elog"))
            self.assertIn("without the blocks that state its clock", stat.stderr)
        described = json.loads(self.run_elog("repair", "--json", "--force", damaged, "-o",
                                             self.path("new.elog")).stdout)
        self.assertEqual((described["had_segment"], described["raw_times"]), (False, False))

    def test_file_without_host_and_clock_has_raw_times(self):
        data = self.without_segments(self.contents(self.record()))
        for at, kind, _, end in blocks_of(bytes(self.contents(self.path("sound.elog")))):
            if kind == 2:
                data[at:end] = bytes(end - at)
        damaged = self.write(data)
        repaired = self.run_elog("repair", damaged, "-o", self.path("new.elog"))
        self.assertIn("raw values of that clock", repaired.stderr)
        stat = self.run_elog("stat", self.path("new.elog"))
        self.assertIn("times are the raw values", stat.stderr)
        self.assertEqual(len(self.events(self.path("new.elog"))),
                         len(self.events(self.path("sound.elog"))))
        self.run_elog("verify", self.path("new.elog"))

    def test_file_without_records_gets_no_advice_to_repair(self):
        data = self.without_segments(self.contents(self.record()))
        for at, kind, _, end in blocks_of(bytes(self.contents(self.path("sound.elog")))):
            if kind == RECORDS:
                data[at:end] = bytes(end - at)
        damaged = self.write(data)
        for command in (("print", damaged), ("repair", damaged, "-o", self.path("new.elog"))):
            refused = self.run_elog(*command, status=1)
            self.assertIn("Nothing can be recovered", refused.stderr)
            self.assertNotIn("elog repair", refused.stderr)
        self.assertNotIn("elog repair", self.run_elog("verify", damaged, status=1).stderr)

    def test_advice_of_verify_works_for_each_kind_of_damage(self):
        sound = bytes(self.contents(self.record()))
        advised = 0
        for at, kind, size, end in blocks_of(sound):
            with self.subTest(kind=kind, at=at):
                changes = [bytes(end - at), b"", sound[at:end] * 2]
                for place in (4, 16, 32, 34, 40, 32 + size // 2):
                    changed = bytearray(sound[at:end])
                    changed[min(place, len(changed) - 1)] ^= 1
                    changes.append(bytes(changed))
                    update_checksums(changed, 0, size)
                    changes.append(bytes(changed))
                for changed in changes if harness.TIER == "full" else changes[::3]:
                    damaged = self.write(sound[:at] + changed + sound[end:])
                    found = self.run_any("verify", damaged)
                    new = self.path("new.elog")
                    if self.take_advice(found.stderr, damaged, new) is not None:
                        advised += 1
                        self.run_elog("verify", new)
        self.assertGreater(advised, 20)

    def mutate(self, sound, chance):
        data = bytearray(sound)
        places = list(blocks_of(sound))
        for _ in range(chance.randrange(1, 4)):
            at, _, size, _ = chance.choice(places)
            kind = chance.randrange(6)
            if kind == 0:
                data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
            elif kind == 1:
                data[at + chance.choice((4, 16, 17, 20))] ^= 1 << chance.randrange(4)
                update_checksums(data, at, size)
            else:
                place = at + 32 + chance.randrange(min(size, 96) if kind < 5 else size)
                data[place] = chance.choice((0, 1, 0x7F, 0xFF, data[place] ^ 1 << kind))
                update_checksums(data, at, size)
        if chance.randrange(8) == 0:
            del data[chance.randrange(200, len(data)) :]
        return bytes(data)

    def test_mutants_are_repaired_and_agree(self):
        sound = bytes(self.contents(self.record(count=60)))
        chance = random.Random(7)
        repaired, new = 0, self.path("new.elog")
        # With sanitizers 200 take more than 15 minutes; the optimized build makes 1,000.
        for turn in range(harness.trials(50, 100 if harness.SANITIZER_RUNTIME else 1000)):
            with self.subTest(turn=turn):
                damaged = self.write(self.mutate(sound, chance))
                printed = self.print_dated(damaged)
                if self.run_any("repair", "--force", damaged, "-o", new).returncode != 0:
                    self.assertEqual(printed.stdout, "")
                    continue
                repaired += 1
                self.run_elog("verify", new)
                events = self.without_notes(printed)
                self.assertEqual(len(self.events(damaged)), len(events))
                if "state the clock" not in printed.stderr:
                    self.assertEqual(self.dated_events(new), events)
                    self.assert_agreed(damaged, events)
        self.assertGreater(repaired, turn // 2)

    def assert_agreed(self, path, events):
        """The records of the commands that read and copy."""
        known = [line for line in events if "<unknown provider" not in line]
        lines = self.run_any("convert", "--to", "jsonl", path).stdout.splitlines()
        converted = [line for line in map(json.loads, lines) if "event" in line]
        self.assertEqual(len(converted), len(events))
        self.assertEqual([str(line["fields"]["number"]) for line in converted
                          if "number" in line.get("fields", {})],
                         [found[1] for found in map(NUMBER.search, events) if found])
        counted = json.loads(self.run_any("agg", "count()", path, "--json").stdout)
        groups = sum(group["values"]["count()"] for group in counted["groups"])
        self.assertEqual(groups + counted["unknown"], len(events), counted)
        for command in ("cut", "merge"):
            copy = self.path("copy.elog")
            self.run_any(command, "--force", path, "-o", copy)
            self.run_elog("verify", copy)
            self.assertEqual(sorted(self.dated_events(copy)), sorted(known))


if __name__ == "__main__":
    harness.main()
