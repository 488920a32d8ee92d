#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""elog flight status, list and doctor show flight recorders, and the processes that cannot attach to
them.
"""

import json
import os
import struct
import time
import unittest

import flight_recorder
import harness
import process_files
import second_reader

UPPER_HALF_OF_LOST = 8 + 4  # in struct eventlog_ring


class DetachedStatus(flight_recorder.Case):
    @unittest.skipUnless(harness.IS_SHARED_RING_LAZY, "every library can join")
    def test_counts_programs_with_incompatible_library(self):
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        name, = self.names("processes")
        path = os.path.join(self.directory, "processes", name)
        with open(path, "r+b") as file:
            file.seek(process_files.REGION_FEATURES)
            known = file.read(4)
            file.seek(process_files.REGION_FEATURES)
            file.write(bytes(4))  # as written by an older library
        self.assertIn("elog: 1 running process cannot attach to this subscription: the library",
                      self.begin("--keep-first").stderr)
        for command in (("flight", "status"), ("list",)):
            self.assertIn("elog: 1 running process cannot attach to 'flight': the library",
                          self.run_elog(*command).stderr)
        # Only processes with selected events are counted.
        other = self.run_elog("flight", "start", "other", "-e", "absent:*", "--buffer-size",
                              "128K")
        self.assertNotIn("cannot attach to", other.stderr)
        with open(path, "r+b") as file:
            file.seek(process_files.REGION_FEATURES)
            file.write(known)
        self.assertNotIn("cannot attach to", self.run_elog("flight", "status").stderr)

    @unittest.skipUnless(harness.IS_SHARED_RING_LAZY, "every library can join")
    def test_counts_incompatible_programs_once(self):
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        name, = self.names("processes")
        with open(os.path.join(self.directory, "processes", name), "r+b") as file:
            file.seek(process_files.REGION_FEATURES)
            file.write(bytes(4))
        told = self.run_elog("record", "--via", "auto", "-v", "-e", "counter:*", "-e", "absent:*",
                             "--wait", "--duration", "100ms").stderr
        self.assertIn("elog: Recording via memory: programs that start later use it", told)
        self.assertEqual(told.count("cannot attach to this subscription"), 1, told)

    def test_status_escapes_terminal_control_characters(self):
        self.begin("--keep-first")
        (name,) = self.names("subscriptions")
        with open(os.path.join(self.directory, "subscriptions", name), "r+b") as file:
            rule = b"\x1b]0;mine\x07:*\0"
            file.seek(flight_recorder.FILTER_SIZE)
            file.write(struct.pack("<I", len(rule)))
            file.seek(flight_recorder.FILTER)
            file.write(rule)
        text = self.run_elog("flight", "status").stdout
        self.assertNotIn("\x1b", text)
        self.assertIn("\\x1b]0;mine\\x07:*", text)

    def test_reports_overwritten_counts(self):
        self.begin()
        rings = second_reader.REGION_SIZE + second_reader.PAUSE_LOG_SIZE
        self.region_word(rings + UPPER_HALF_OF_LOST, 1 << 30)
        (found,) = self.status()
        self.assertEqual((found["lost"], found["counts_overwritten"], found["losses_incomplete"]),
                         (0, True, False))
        self.assertIn("a program has overwritten counts", self.run_elog("flight", "status").stdout)

    def test_is_shown_by_every_command(self):
        self.assertEqual(self.status(), [])
        self.begin()
        self.begin("--keep-first", name="second")
        self.emit(1, 10)
        first, second = self.status()
        self.assertEqual((first["name"], first["mode"]), ("flight", "overwrite"))
        self.assertEqual((second["name"], second["mode"]), ("second", "discard"))
        self.assertEqual(first["rules"], ["counter:*"])
        self.assertEqual((first["events"], first["overwritten"], first["lost"]), (10, 0, 0))
        self.assertLess(abs(harness.nanoseconds(first["start_time"]) / 1e9 - time.time()), 3600)
        # About the requested size; with the shared ring if it is allocated.
        cpus = os.sysconf("SC_NPROCESSORS_ONLN")
        is_shared_ring_there = harness.IS_SHARED or not harness.IS_SHARED_RING_LAZY
        buffers = 4 * (cpus + is_shared_ring_there) * 128 * 1024
        self.assertGreaterEqual(first["memory_bytes"], buffers)
        self.assertLess(first["memory_bytes"], buffers * 1.05 + 65536)
        text = self.run_elog("flight", "status").stdout
        self.assertIn("flight: overwrite, ", text)
        self.assertIn("holds       10 events", text)
        self.assertIn("flight, second", self.run_elog("list").stderr)
        listed = json.loads(self.run_elog("list", "--json").stdout)["subscriptions"]
        self.assertEqual([each["name"] for each in listed], ["flight", "second"])
        doctor = self.run_doctor()
        self.assertIn("flight, second", doctor["text"])
        self.assertEqual(doctor["state"], "note")
        self.assertEqual(doctor["remedy"], "")
        self.run_elog("flight", "stop", "flight", "--discard")
        self.run_elog("flight", "stop", "second", "--discard")

    def run_doctor(self):
        # Other items may be missing on this machine.
        process = self.start(harness.ELOG, "doctor", "--json")
        self.expect(process, 1)
        output, _ = process.communicate(timeout=harness.TIMEOUT)
        checks = json.loads(output)["checks"]
        return next(each for each in checks if each["name"] == "flight_recorders")

    def test_rejects_duplicate_and_invalid_names(self):
        self.begin()
        result = self.run_elog(
            "flight", "start", "flight", "-e", "counter:*", "--buffer-size", "128K", status=1
        )
        self.assertIn("There is a subscription 'flight' already.", result.stderr)
        self.assertEqual(self.names("subscriptions"), ["00"])
        for name in ("", "a b", "../up", ".hidden", "x" * 32):
            result = self.run_elog("flight", "start", name, "-e", "counter:*", status=2)
            self.assertIn("A name has 1 to 31 letters", result.stderr)
        self.assertEqual(self.names("subscriptions"), ["00"])
        self.run_elog("flight", "stop", "flight", "--discard")

    def test_reports_unknown_name(self):
        for arguments in (("snapshot", "flight"), ("stop", "flight", "--discard")):
            result = self.run_elog("flight", *arguments, status=1)
            self.assertIn("There is no flight recorder 'flight'. List those that exist with: "
                          "elog flight status",
                          result.stderr)
        # A recording has no name, and is not ended by other processes.
        recording = self.start_recording("-e", "counter:*", "--wait", "-o", self.path("x.elog"))
        self.run_elog("flight", "stop", "flight", "--discard", status=1)
        self.stop(recording)


if __name__ == "__main__":
    harness.main()
