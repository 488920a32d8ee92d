#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A flight recorder, started with elog flight start, records without a process of elog. elog flight snapshot
prints its events.
"""

import json
import os
import pty
import signal
import struct
import time

import flight_recorder
import harness


class Detached(flight_recorder.Case):
    def test_outlives_all_processes_and_is_exact(self):
        self.begin()
        attempted = self.emit(harness.THREADS, 100000)
        text, events, overwritten, lost = self.snapshot()
        self.assertEqual(lost, 0)
        self.assertGreater(overwritten, 0)
        self.assertEqual(events + overwritten, attempted)
        # A CPU's ring keeps its newest events. A thread that ends first may find its last ones
        # overwritten by the other thread on the same CPU; the thread that ends last does not.
        self.assertEqual(max(numbers[-1] for numbers in self.numbers(text).values()), 99999)
        self.run_elog("flight", "stop", "flight", "--discard")
        self.assert_no_files_left()

    def test_repeated_snapshots_are_equal(self):
        self.begin()
        self.emit(1, 30000)
        first = self.timeless(self.snapshot())
        self.assertGreater(len(first[0]), 100)
        self.assertEqual(self.timeless(self.snapshot()), first)
        self.assertEqual(self.timeless(self.snapshot()), first)
        self.run_elog("flight", "stop", "flight", "--discard")

    def newest_by_ring(self, path):
        """{ring: (thread, number, time as text)} of each ring's last event."""
        lines = self.run_elog("convert", "--to", "jsonl", path).stdout.splitlines()
        events = [event for event in map(json.loads, lines) if "time" in event]
        return {0 if harness.IS_SHARED else event["cpu"]:
                (event["tid"], event["fields"]["number"], event["time"])
                for event in events}

    def test_continues_during_snapshots(self):
        self.begin()
        program = self.start_provider(harness.program("counter"), str(harness.THREADS), "0")
        last = {}
        for turn in range(6):
            path = self.path(f"{turn}.elog")
            events, lost = self.snapshot("-o", path)[1::2]
            self.assertGreater(events, 0)
            self.assertEqual(lost, 0)
            self.run_elog("verify", path)
            # A thread's newest event may be overwritten while older ones remain in another ring.
            # The last event of a ring is always there.
            newest = self.newest_by_ring(path)
            for ring, event in last.items():
                self.assertIn(ring, newest)
                # Each snapshot reads the clock again.
                if newest[ring][:2] != event[:2]:
                    self.assertGreater(newest[ring][2], event[2])
            self.assertNotEqual(newest, last)
            last = newest
            seen = self.status()[0]
            before = seen["events"] + seen["overwritten"]
            self.wait_for(
                lambda before=before: sum(
                    self.status()[0][each] for each in ("events", "overwritten")
                ) > before + 1000,
                "more events",
            )
        program.kill()
        self.run_elog("flight", "stop", "flight", "--discard")

    def test_program_is_recorded_after_its_file_was_removed(self):
        program = self.start_provider(harness.program("counter"), "2", "0", "1000")
        self.begin()
        self.wait_for(lambda: self.status()[0]["events"] > 10, "events")
        os.remove(os.path.join(self.directory, "subscriptions", "00"))
        for _ in range(2):
            result = self.run_elog("record", "-e", "counter:*", "--duration", "300ms",
                                   "-o", self.path("later.elog"), "--force")
            self.assertGreater(self.summary(result.stderr)[0], 10, result.stderr)
        program.kill()

    def test_keeps_events_of_killed_program(self):
        self.begin()
        program = self.start_provider(harness.program("counter"), str(harness.THREADS), "0")
        self.wait_for(lambda: self.status()[0]["overwritten"] > 10000, "some events")
        program.send_signal(signal.SIGKILL)
        program.wait()
        text, events, overwritten, lost = self.snapshot()
        self.assertEqual(lost, 0)
        self.assertGreater(overwritten, 10000)
        numbers = self.numbers(text)
        self.assertEqual(sum(len(each) for each in numbers.values()), events)
        self.run_elog("flight", "stop", "flight", "--discard")
        self.run_elog("list")
        self.assert_no_files_left()

    def test_keep_first_keeps_oldest_and_counts_drops(self):
        self.begin("--keep-first")
        attempted = self.emit(1, 100000)
        text, events, overwritten, lost = self.snapshot()
        self.assertEqual(overwritten, 0)
        self.assertGreater(lost, 0)
        self.assertEqual(events + lost, attempted)
        self.assertEqual(self.numbers(text)[0][0], 0)
        again = self.timeless(self.snapshot())
        self.assertEqual(again, self.timeless((text, events, overwritten, lost)))
        self.run_elog("flight", "stop", "flight", "--discard")

    def test_records_programs_from_their_first_event(self):
        self.begin()
        self.assertEqual(self.emit(1, 10), 10)
        self.assertEqual(self.numbers(self.snapshot()[0]), {0: list(range(10))})
        self.assertEqual(self.emit(1, 5), 5)
        self.assertEqual(
            self.numbers(self.snapshot()[0]), {0: [*range(10), *range(5)]}
        )
        self.run_elog("flight", "stop", "flight", "--discard")

    def test_is_not_removed_with_dead_owner(self):
        self.begin()
        self.emit(1, 10)
        self.run_elog("list")
        self.run_elog("record", "-e", "counter:*", "--", harness.program("counter"), "1", "10")
        self.assertEqual(self.names("subscriptions"), ["00"])
        self.assertEqual(self.snapshot()[1], 20)
        self.run_elog("flight", "stop", "flight", "--discard")

    def test_snapshot_times_are_correct_after_suspend(self):
        self.begin()
        program = self.start_provider(harness.program("counter"), "1", "2", "500000")
        self.wait_for(lambda: self.status()[0]["events"] == 2, "two events")
        program.kill()
        # As if ticks had been counted since the machine's start while the clock stood still.
        self.region_word(flight_recorder.START_CLOCK, 1)
        self.region_word(flight_recorder.START_CLOCK + 4, 0)
        text, *_ = self.snapshot()
        times = [float(line.split()[0].split(":")[2]) for line in text.splitlines()]
        self.assertGreater((times[1] - times[0]) % 60, 0.4, text)

    def test_snapshot_uses_current_clock(self):
        self.begin()
        (name,) = self.names("subscriptions")
        # As if the clock had been set by eight hours since.
        with open(os.path.join(self.directory, "subscriptions", name), "r+b") as file:
            file.seek(flight_recorder.START_REALTIME)
            (start,) = struct.unpack("<Q", file.read(8))
            file.seek(flight_recorder.START_REALTIME)
            file.write(struct.pack("<Q", start - 8 * 3600 * 10**9))
        self.emit(1, 1)
        text, *_ = self.snapshot()
        hours, minutes, seconds = text.split()[0].split(":")
        shown = int(hours) * 3600 + int(minutes) * 60 + float(seconds)
        away = abs(time.time() % 86400 - shown)
        self.assertLess(min(away, 86400 - away), 3600, text)

    def test_leaves_nothing_without_matching_event(self):
        result = self.run_elog("flight", "start", "flight", "-e", "absent:*",
                               "--require-match", status=1)
        self.assertIn("No running program offers an event that matches 'absent:*'", result.stderr)
        self.assertEqual(self.names("subscriptions"), [])

    def test_start_keeps_all_events_of_named_processes(self):
        wanted = self.start_provider(harness.program("counter"), "1", "0", "1000")
        self.start_provider(harness.example("order_service"), "600")
        for number, options in enumerate((("-p", str(wanted.pid)), ("--comm", "counter"))):
            name = f"flight{number}"
            self.run_elog("flight", "start", name, *options)
            self.wait_for(lambda name=name: " counter:" in self.snapshot(name=name)[0], "an event")
            found = [harness.LINE.match(line) for line in self.snapshot(name=name)[0].splitlines()]
            self.assertEqual({line["provider"] for line in found}, {"counter"})
            self.run_elog("flight", "stop", name, "--discard")

    def test_start_without_events_lists_running_providers(self):
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        errors = self.run_elog("flight", "start", "flight", status=2).stderr.splitlines()
        self.assertRegex(errors[0], "^elog: elog flight start has no events to keep.*-e.*--comm")
        self.assertEqual(errors[1:], ["Running providers:", "  -e 'counter:*'  1 event",
                                      "Try: elog flight start --help"])
        self.assertEqual(self.names("subscriptions", may_be_missing=True), [])

    def test_start_rejects_what_needs_a_reader(self):
        for options, part in (
            (("--where", "number > 1"), "give --where to elog flight snapshot"),
            (("--via", "device"), "elog record --via device"),
            (("--via", "auto"), "elog record --via auto"),
            (("--via", "nonsense"), "not 'nonsense'"),
        ):
            result = self.run_elog("flight", "start", "flight", "-e", "counter:*", *options, status=2)
            self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
            self.assertIn(part, result.stderr)
        self.assertEqual(self.names("subscriptions", may_be_missing=True), [])
        self.begin("--via", "memory")
        self.run_elog("flight", "stop", "flight", "--discard")

    def test_snapshot_applies_predicate(self):
        self.begin()
        self.emit(1, 100)
        result = self.run_elog("flight", "snapshot", "flight", "--where", "number >= 90")
        self.assertEqual(self.numbers(result.stdout), {0: list(range(90, 100))})

    def test_snapshot_to_standard_output_is_a_recording(self):
        self.begin()
        self.emit(1, 100)
        path = self.path("run.elog")
        for compression in ((), ("--compress",)):
            with open(path, "wb") as file:
                result = self.run_elog("flight", "snapshot", "flight", "-o", "-", *compression,
                                       stdout=file, cwd=self.scratch)
            self.assertEqual(self.summary(result.stderr)[0], 100)
            self.run_elog("verify", path)
            self.assertEqual(self.numbers(self.run_elog("print", path).stdout),
                             {0: list(range(100))})
        self.assertFalse(os.path.exists(self.path("-")))
        result = self.run_elog("flight", "snapshot", "flight", "-o", "-", "--json", status=2)
        self.assert_one_message(result.stderr, "standard output is the recording")

    def test_snapshot_to_terminal_is_refused(self):
        self.begin()
        side, terminal = pty.openpty()
        try:
            result = self.run_elog("flight", "snapshot", "flight", "-o", "-", stdout=terminal,
                                   status=1)
        finally:
            os.close(side)
            os.close(terminal)
        self.assert_one_message(result.stderr, "Standard output is a terminal", "-o")

    def test_snapshot_replaces_file_only_with_force(self):
        self.begin()
        self.emit(1, 100)
        path = self.path("run.elog")
        self.run_elog("flight", "snapshot", "flight", "-o", path)
        with open(path, "rb") as file:
            before = file.read()
        result = self.run_elog("flight", "snapshot", "flight", "-o", path, status=1)
        self.assert_one_message(result.stderr, "run.elog exists", "--force")
        with open(path, "rb") as file:
            self.assertEqual(file.read(), before)
        self.emit(1, 100)
        self.run_elog("flight", "snapshot", "flight", "-o", path, "--force")
        self.assertEqual(len(self.run_elog("print", path).stdout.splitlines()), 200)
        result = self.run_elog("flight", "snapshot", "flight", "--force", status=2)
        self.assert_one_message(result.stderr, "add -o FILE")


if __name__ == "__main__":
    harness.main()
