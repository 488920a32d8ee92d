#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The flight recorder: elog record --overwrite; elog start, status, snapshot and stop."""

import errno
import fcntl
import json
import os
import re
import resource
import signal
import struct
import time
import unittest

import harness

OVERWRITTEN = re.compile(r"(\d+) older events were overwritten")

# In the header of a region: see linux/eventlog.h.
FEATURES = 12
DETACHED = 2
FILTER_SIZE = 44
OWNER_PID = 96
START_CLOCK = 120
START_REALTIME = 136
STATE = 192
FILTER = 384

# In the file of a provider.
REGION_FEATURES = 28
GATE = 0x10000


# The number of fsync, by machine.
FSYNC = {"x86_64": 74, "aarch64": 82}


def deny_fsync():
    """As on a disk whose quota is found to be used up."""
    harness.deny_syscall(FSYNC[os.uname().machine], errno.EDQUOT)


class Detached(harness.Case):
    def overwritten(self, errors):
        found = OVERWRITTEN.search(errors)
        return int(found[1]) if found else 0

    def begin(self, *arguments, name="flight"):
        return self.run_elog(
            "start", name, "-e", "counter:*", "--wait", "--buffer-size", "128K", *arguments
        )

    def emit(self, threads, events, **options):
        """Runs the program to its end; returns how many events it has attempted."""
        environment = {**self.environment, **options}
        program = self.start(
            harness.program("counter"), str(threads), str(events), env=environment
        )
        output, _ = self.finish(program)
        return int(output.split()[1])

    def numbers(self, text):
        """What the lines of events say, by worker."""
        found = {}
        for line in text.splitlines():
            match = re.search(r" number=(\d+) check=(\d+) worker=(\d+) ", line)
            if match:
                number, check, worker = (int(part) for part in match.groups())
                # No event that is handed over is half of one and half of another.
                expected = (number + worker) * 0x9E3779B97F4A7C15 % 2**64
                self.assertEqual(check, expected, line)
                found.setdefault(worker, []).append(number)
        return found

    def snapshot(self, *arguments, name="flight"):
        """Takes one; returns what was printed, events, overwritten and lost."""
        result = self.run_elog("snapshot", name, *arguments)
        events, _, lost = self.summary(result.stderr)
        return result.stdout, events, self.overwritten(result.stderr), lost

    def timeless(self, taken):
        """A snapshot's lines without their times: clocks are read anew for each, to 1 us."""
        text, *counts = taken
        return [line.partition(" [")[2] or line for line in text.splitlines()], counts

    def status(self):
        return json.loads(self.run_elog("status", "--json").stdout)["standing"]

    # elog record --overwrite

    def test_record_overwrite_keeps_newest_and_counts_overwritten(self):
        result = self.run_elog(
            "record", "-e", "counter:*", "--overwrite", "--buffer-size", "128K",
            "-o", self.path("run.elog"), "--",
            harness.program("counter"), str(harness.THREADS), "100000",
        )
        events, _, lost = self.summary(result.stderr)
        overwritten = self.overwritten(result.stderr)
        self.assertEqual(lost, 0)
        self.assertGreater(overwritten, 0)
        self.assertEqual(events + overwritten, harness.THREADS * 100000)
        self.run_elog("verify", self.path("run.elog"))
        counted = self.run_elog("stat", self.path("run.elog")).stdout
        self.assertIn(f"{overwritten} more were overwritten", counted)
        self.assertIn(f" 0 lost, {overwritten} overwritten, ",
                      self.run_elog("verify", self.path("run.elog")).stdout)
        as_json = json.loads(self.run_elog("stat", "--json", self.path("run.elog")).stdout)
        self.assertEqual((as_json["lost"], as_json["overwritten"]), (0, overwritten))
        # Repairing copies what is whole, with what is known of the rest.
        self.run_elog("repair", self.path("run.elog"), "-o", self.path("copy.elog"))
        self.assertEqual(self.run_elog("stat", self.path("copy.elog")).stdout, counted)
        text = self.run_elog("print", self.path("run.elog")).stdout
        self.assertRegex(text, r"-- overwritten \d+ events ")
        self.assertNotIn("-- lost", text)
        for numbers in self.numbers(text).values():
            self.assertEqual(numbers[-1], 99999)
        self.assert_no_files_left()

    def test_record_counts_overwritten_regardless_of_predicate(self):
        result = self.run_elog(
            "record", "-e", "counter:*", "--overwrite", "--buffer-size", "128K",
            "--where", "number >= 49990 && worker == 0", "--", harness.program("counter"),
            str(harness.THREADS), "50000",
        )
        # Perhaps none is wanted behind what was overwritten on a CPU.
        found = self.numbers(result.stdout).get(0, [])
        self.assertLessEqual(set(found), set(range(49990, 50000)))
        self.assertEqual(self.summary(result.stderr)[2], 0)
        self.assertNotIn("-- lost", result.stdout)
        told = sum(int(each) for each in re.findall(r"-- overwritten (\d+) events", result.stdout))
        self.assertEqual(told, self.overwritten(result.stderr))
        self.assertGreater(told, 0)

    def test_record_overwrite_prints_contents_on_interrupt(self):
        recording = self.start_recording("-e", "counter:*", "--overwrite", "--wait")
        self.emit(1, 100)
        output, errors = self.stop(recording)
        self.assertEqual(self.summary(errors)[::2], (100, 0))
        self.assertEqual(self.numbers(output), {0: list(range(100))})
        self.assertEqual(self.overwritten(errors), 0)

    def test_record_overwrite_applies_to_shared_ring(self):
        environment = {**self.environment, "EVENTLOG_RSEQ": "off"}
        result = self.run_elog(
            "record", "-e", "counter:*", "--overwrite", "--buffer-size", "128K", "--",
            harness.program("counter"), "1", "50000", env=environment,
        )
        events, _, lost = self.summary(result.stderr)
        self.assertEqual(lost, 0)
        self.assertEqual(events + self.overwritten(result.stderr), 50000)
        self.assertRegex(result.stdout, r"-- overwritten \d+ events in the shared ring --")
        self.assertEqual(self.numbers(result.stdout)[0], list(range(50000 - events, 50000)))

    # elog start and the others

    def test_outlives_all_processes_and_is_exact(self):
        self.begin("--overwrite")
        attempted = self.emit(harness.THREADS, 100000)
        text, events, overwritten, lost = self.snapshot()
        self.assertEqual(lost, 0)
        self.assertGreater(overwritten, 0)
        self.assertEqual(events + overwritten, attempted)
        # A CPU's ring keeps its newest events. A thread that ends first may find its last ones
        # overwritten by the other thread on the same CPU; the thread that ends last does not.
        self.assertEqual(max(numbers[-1] for numbers in self.numbers(text).values()), 99999)
        self.run_elog("stop", "flight")
        self.assert_no_files_left()

    def test_repeated_snapshots_are_equal(self):
        self.begin("--overwrite")
        self.emit(1, 30000)
        first = self.timeless(self.snapshot())
        self.assertGreater(len(first[0]), 100)
        self.assertEqual(self.timeless(self.snapshot()), first)
        self.assertEqual(self.timeless(self.snapshot()), first)
        self.run_elog("stop", "flight")

    def newest_by_ring(self, path):
        """Each ring's last event: its thread, its number, and when it was, as text to compare."""
        lines = self.run_elog("convert", "--to", "jsonl", path).stdout.splitlines()
        events = [event for event in map(json.loads, lines) if "time" in event]
        return {0 if harness.IS_SHARED else event["cpu"]:
                (event["thread"], event["fields"]["number"], event["time"])
                for event in events}

    def test_continues_during_snapshots(self):
        self.begin("--overwrite")
        program = self.start_provider(harness.program("counter"), str(harness.THREADS), "0")
        last = {}
        for turn in range(6):
            path = self.path(f"{turn}.elog")
            events, lost = self.snapshot("-o", path)[1::2]
            self.assertGreater(events, 0)
            self.assertEqual(lost, 0)
            self.run_elog("verify", path)
            # A thread's newest event may be gone, and older ones be left where it ran before. What a
            # ring was told last is always there.
            newest = self.newest_by_ring(path)
            for ring, event in last.items():
                self.assertIn(ring, newest)
                # Each snapshot measures the clock anew.
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
        self.run_elog("stop", "flight")

    def test_keeps_events_of_killed_program(self):
        self.begin("--overwrite")
        program = self.start_provider(harness.program("counter"), str(harness.THREADS), "0")
        self.wait_for(lambda: self.status()[0]["overwritten"] > 10000, "some events")
        program.send_signal(signal.SIGKILL)
        program.wait()
        text, events, overwritten, lost = self.snapshot()
        self.assertEqual(lost, 0)
        self.assertGreater(overwritten, 10000)
        numbers = self.numbers(text)
        self.assertEqual(sum(len(each) for each in numbers.values()), events)
        self.run_elog("stop", "flight")
        self.run_elog("list")
        self.assert_no_files_left()

    def test_without_overwrite_keeps_oldest_and_counts_drops(self):
        self.begin()
        attempted = self.emit(1, 100000)
        text, events, overwritten, lost = self.snapshot()
        self.assertEqual(overwritten, 0)
        self.assertGreater(lost, 0)
        self.assertEqual(events + lost, attempted)
        self.assertEqual(self.numbers(text)[0][0], 0)
        again = self.timeless(self.snapshot())
        self.assertEqual(again, self.timeless((text, events, overwritten, lost)))
        self.run_elog("stop", "flight")

    def test_records_programs_from_their_first_event(self):
        self.begin("--overwrite")
        self.assertEqual(self.emit(1, 10), 10)
        self.assertEqual(self.numbers(self.snapshot()[0]), {0: list(range(10))})
        self.assertEqual(self.emit(1, 5), 5)
        self.assertEqual(
            self.numbers(self.snapshot()[0]), {0: [*range(10), *range(5)]}
        )
        self.run_elog("stop", "flight")

    def test_is_not_removed_with_dead_owner(self):
        self.begin("--overwrite")
        self.emit(1, 10)
        self.run_elog("list")
        self.run_elog("record", "-e", "counter:*", "--", harness.program("counter"), "1", "10")
        self.assertEqual(self.names("subscriptions"), ["00"])
        self.assertEqual(self.snapshot()[1], 20)
        self.run_elog("stop", "flight")

    def region_word(self, offset, value=None):
        """A word of the header of the only subscription, which may get another value."""
        (name,) = self.names("subscriptions")
        with open(os.path.join(self.directory, "subscriptions", name), "r+b") as file:
            if value is not None:
                file.seek(offset)
                file.write(struct.pack("<I", value))
            file.seek(offset)
            return struct.unpack("<I", file.read(4))[0]

    @unittest.skipUnless(harness.IS_SHARED_RING_LAZY, "every library can join")
    def test_counts_programs_with_incompatible_library(self):
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        name, = self.names("providers")
        path = os.path.join(self.directory, "providers", name)
        with open(path, "r+b") as file:
            file.seek(REGION_FEATURES)
            known = file.read(4)
            file.seek(REGION_FEATURES)
            file.write(bytes(4))  # as an older library leaves it
        self.assertIn("elog: 1 running process cannot join this subscription: the library",
                      self.begin().stderr)
        for command in ("status", "list"):
            self.assertIn("elog: 1 running process cannot join 'flight': the library",
                          self.run_elog(command).stderr)
        # It is told of those alone whose events are wanted, and who cannot join.
        other = self.run_elog("start", "other", "-e", "nobody:*", "--wait", "--buffer-size", "128K")
        self.assertNotIn("cannot join", other.stderr)
        with open(path, "r+b") as file:
            file.seek(REGION_FEATURES)
            file.write(known)
        self.assertNotIn("cannot join", self.run_elog("status").stderr)

    @unittest.skipUnless(harness.IS_SHARED_RING_LAZY, "every library can join")
    def test_counts_incompatible_programs_once(self):
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        name, = self.names("providers")
        with open(os.path.join(self.directory, "providers", name), "r+b") as file:
            file.seek(REGION_FEATURES)
            file.write(bytes(4))
        told = self.run_elog("record", "--via", "auto", "-v", "-e", "counter:*", "-e", "nobody:*",
                             "--wait", "--duration", "100ms").stderr
        self.assertIn("elog: Events come via memory: who will come goes there", told)
        self.assertEqual(told.count("cannot join this subscription"), 1, told)

    def test_interrupted_removal_is_completed(self):
        self.begin("--overwrite")
        # As elog stop leaves it that was killed: ended, and taken over by a process that is no more.
        self.region_word(STATE, 0)
        self.region_word(OWNER_PID, 0x7FFFFFF0)
        self.region_word(FEATURES, self.region_word(FEATURES) & ~DETACHED)
        self.run_elog("list")
        self.assertEqual(self.names("subscriptions"), [])

    def test_ended_recorder_keeps_contents_until_stop(self):
        self.begin("--overwrite")
        self.assertEqual(self.emit(1, 10), 10)
        # As elog stop -o leaves it that was killed over writing its file.
        self.region_word(STATE, 0)
        self.run_elog("list")
        self.assertEqual(self.emit(1, 10), 10)  # nobody listens
        (shown,) = self.status()
        self.assertEqual((shown["ended"], shown["events"]), (True, 10))
        self.assertIn("takes no more events", self.run_elog("status").stdout)
        (listed,) = json.loads(self.run_elog("list", "--json").stdout)["subscriptions"]
        self.assertEqual((listed["standing"], listed["ended"]), ("flight", True))
        self.assertEqual(self.snapshot()[1], 10)
        result = self.run_elog("stop", "flight", "-o", self.path("last.elog"))
        self.assertEqual(self.summary(result.stderr)[0], 10)
        self.assert_no_files_left()

    def test_events_during_stop_are_no_loss(self):
        for command in (("status",), ("snapshot", "flight", "-o", self.path("some.elog"))):
            for turn in range(6):
                self.begin("--overwrite")
                self.emit(1, 20000)
                asking = self.start(harness.ELOG, *command)
                self.expect(asking, 1)
                time.sleep(turn / 1000)
                self.run_elog("stop", "flight")
                output, errors = asking.communicate(timeout=harness.TIMEOUT)
                told = output + errors
                self.assertNotRegex(told, r"lost +[1-9]|made no sense| [1-9]\d* lost")
                if asking.returncode != 0:
                    self.assertRegex(told, "was ended meanwhile|There is no subscription")
                    self.assertFalse(os.path.exists(self.path("some.elog.unfinished")))

    def test_concurrent_stop_keeps_existing_file(self):
        self.begin("--overwrite")
        self.emit(1, 10)
        last = self.path("last.elog")
        self.run_elog("stop", "flight", "-o", last)
        before = self.numbers(self.run_elog("print", last).stdout)
        self.run_elog("stop", "flight", "-o", last, status=1)
        self.assertEqual(self.numbers(self.run_elog("print", last).stdout), before)

    def test_stop_keeps_recorder_on_write_error(self):
        self.begin("--overwrite")
        program = self.start_provider(harness.program("counter"), "1", "0", "100")
        self.wait_for(lambda: self.status()[0]["events"] > 4000, "some events")
        last = self.path("last.elog")

        def fill_disk():
            # No file grows any further than that, as on a disk that is full.
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 15, 1 << 15))

        for compression in ((), ("--compress",)):
            result = self.run_elog(
                "stop", "flight", "-o", last, *compression, status=1, preexec_fn=fill_disk
            )
            self.assertIn("cannot be written any further", result.stderr)
            self.assertIn("'flight' takes no more events, and keeps what it has", result.stderr)
        program.kill()
        program.wait()
        (shown,) = self.status()
        self.assertEqual((shown["ended"], shown["lost"]), (True, 0))
        self.assertGreater(shown["events"], 4000)
        # It is gone from the program's gates, and its name still is its own.
        result = self.run_elog("start", "flight", "-e", "counter:*", "--wait", status=1)
        self.assertIn("There is a subscription 'flight' already.", result.stderr)
        result = self.run_elog("stop", "flight", "-o", last)
        events, _, lost = self.summary(result.stderr)
        self.assertEqual((events, lost), (shown["events"], 0))
        self.run_elog("verify", last)
        numbers = self.numbers(self.run_elog("print", last).stdout)
        self.assertEqual(sum(len(each) for each in numbers.values()), events)
        self.run_elog("list")
        self.assert_no_files_left()

    @unittest.skipUnless(os.uname().machine in FSYNC, "the number of fsync is not known")
    def test_stop_keeps_recorder_on_sync_error(self):
        self.begin("--overwrite")
        self.emit(1, 10)
        result = self.run_elog(
            "stop", "flight", "-o", self.path("last.elog"), status=1, preexec_fn=deny_fsync
        )
        self.assertIn("could not be written to its end", result.stderr)
        self.assertIn("keeps what it has", result.stderr)
        (shown,) = self.status()
        self.assertEqual((shown["ended"], shown["events"]), (True, 10))
        result = self.run_elog("stop", "flight", "-o", self.path("last.elog"))
        self.assertEqual(self.summary(result.stderr)[0], 10)

    def test_stop_reports_concurrent_removal(self):
        self.begin("--overwrite")
        self.emit(1, 10)
        lock = self.lock_directory()
        stop = self.start(harness.ELOG, "stop", "flight", "-o", self.path("last.elog"))
        self.wait_for(lambda: os.path.exists(self.path("last.elog.unfinished")), "its file")
        # As another elog stop leaves it: in the way of the first one, which waits for the lock.
        self.region_word(FEATURES, self.region_word(FEATURES) & ~DETACHED)
        os.close(lock)
        _, errors = self.finish(stop, status=1)
        self.assertIn("Somebody else has just ended the subscription 'flight'", errors)
        self.assertEqual([name for name in os.listdir(self.scratch) if "last" in name], [])

    def test_stop_writes_every_event(self):
        self.begin("--overwrite")
        attempted = self.emit(harness.THREADS, 50000)
        result = self.run_elog("stop", "flight", "-o", self.path("last.elog"))
        events, _, lost = self.summary(result.stderr)
        self.assertEqual(lost, 0)
        self.assertEqual(events + self.overwritten(result.stderr), attempted)
        self.run_elog("verify", self.path("last.elog"))
        self.assert_no_files_left()

    def test_stop_checks_arguments_before_ending(self):
        self.begin("--overwrite")
        self.emit(1, 10)
        last = self.path("last.elog")
        for arguments, status in (
            (("-o", self.path("nowhere/last.elog")), 1),
            (("-o", last, "--where", "number == ("), 2),
            (("-o", last, "--where", "nobody_has_that > 3"), 2),
        ):
            self.run_elog("stop", "flight", *arguments, status=status)
            self.assertEqual(self.status()[0]["events"], 10, arguments)
        result = self.run_elog("stop", "flight", "-o", last, "--where", "number > 4")
        self.assertIn("5 events passed --where", result.stderr)
        self.assert_no_files_left()

    def gates_of(self, program):
        (name,) = [each for each in self.names("providers") if f".{program.pid}." in each]
        with open(os.path.join(self.directory, "providers", name), "rb") as file:
            file.seek(GATE)
            return struct.unpack("<I", file.read(4))[0] & 0xFFFF

    def fill_providers(self, name):
        for i in range(5000):
            with open(os.path.join(self.directory, "providers", f"{name}.{i}"), "wb"):
                pass

    def lock_directory(self):
        """The lock of those who make and remove subscriptions; it is given back when it is closed."""
        lock = os.open(os.path.join(self.directory, "subscriptions"), os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)
        return lock

    def start_partially(self):
        """An elog start that is published, does not stand yet, and waits for the lock to do so.

        Returns it, and the lock."""
        while True:
            start = self.start(
                harness.ELOG, "start", "flight", "-e", "counter:*", "--wait",
                "--buffer-size", "128K",
            )
            lock = self.lock_directory()
            while not self.names("subscriptions") and start.poll() is None:
                os.close(lock)
                time.sleep(0.001)
                lock = self.lock_directory()
            if not self.region_word(FEATURES) & DETACHED:
                return start, lock
            # It was quicker than we are.
            os.close(lock)
            self.finish(start)
            self.run_elog("stop", "flight")

    def test_killed_start_leaves_nothing(self):
        # Its second event is long in coming: it does not mend its gates by itself.
        program = self.start_provider(harness.program("counter"), "1", "2", "1000000000")
        self.fill_providers("behind")  # what is no provider takes long to look at
        start, lock = self.start_partially()
        start.kill()
        start.wait()
        os.close(lock)
        self.assertEqual(self.status(), [])
        self.assertEqual(self.names("subscriptions"), [])
        self.assertEqual(self.gates_of(program), 0)
        self.begin("--overwrite")
        self.assertEqual(self.gates_of(program), 1)
        program.kill()

    def test_stop_ignores_unfinished_start(self):
        program = self.start_provider(harness.program("counter"), "1", "2", "1000000000")
        self.fill_providers("behind")
        start, lock = self.start_partially()
        result = self.run_elog("stop", "flight", status=1)
        self.assertIn("There is no subscription 'flight'.", result.stderr)
        os.close(lock)
        self.finish(start)
        self.assertEqual([each["name"] for each in self.status()], ["flight"])
        self.assertEqual(self.gates_of(program), 1)
        program.kill()

    def test_snapshot_times_are_correct_after_suspend(self):
        self.begin("--overwrite")
        program = self.start_provider(harness.program("counter"), "1", "2", "500000")
        self.wait_for(lambda: self.status()[0]["events"] == 2, "two events")
        program.kill()
        # As if ticks had been counted since the machine was started, and the clock had stood still.
        self.region_word(START_CLOCK, 1)
        self.region_word(START_CLOCK + 4, 0)
        text, *_ = self.snapshot()
        times = [float(line.split()[0].split(":")[2]) for line in text.splitlines()]
        self.assertGreater((times[1] - times[0]) % 60, 0.4, text)

    def test_snapshot_uses_current_clock(self):
        self.begin("--overwrite")
        (name,) = self.names("subscriptions")
        # As if the clock had been set by eight hours since.
        with open(os.path.join(self.directory, "subscriptions", name), "r+b") as file:
            file.seek(START_REALTIME)
            (start,) = struct.unpack("<Q", file.read(8))
            file.seek(START_REALTIME)
            file.write(struct.pack("<Q", start - 8 * 3600 * 10**9))
        self.emit(1, 1)
        text, *_ = self.snapshot()
        hours, minutes, seconds = text.split()[0].split(":")
        shown = int(hours) * 3600 + int(minutes) * 60 + float(seconds)
        away = abs(time.time() % 86400 - shown)
        self.assertLess(min(away, 86400 - away), 3600, text)

    def test_status_escapes_terminal_control_characters(self):
        self.begin()
        (name,) = self.names("subscriptions")
        with open(os.path.join(self.directory, "subscriptions", name), "r+b") as file:
            rule = b"\x1b]0;mine\x07:*\0"
            file.seek(FILTER_SIZE)
            file.write(struct.pack("<I", len(rule)))
            file.seek(FILTER)
            file.write(rule)
        text = self.run_elog("status").stdout
        self.assertNotIn("\x1b", text)
        self.assertIn("\\x1b]0;mine\\x07:*", text)

    def test_stop_disables_gates_of_running_programs(self):
        self.begin("--overwrite")
        program = self.start_provider(harness.program("counter"), "1", "0", "100")
        self.wait_for(lambda: self.status()[0]["events"] > 0, "an event")
        self.assertIn("flight (elog start)", self.run_elog("list").stdout)
        self.run_elog("stop", "flight")
        self.assertEqual(self.names("subscriptions"), [])
        self.assertNotIn("[0]", self.run_elog("list").stdout)
        program.kill()

    def test_is_shown_by_every_command(self):
        self.assertEqual(self.status(), [])
        self.begin("--overwrite")
        self.begin(name="second")
        self.emit(1, 10)
        first, second = self.status()
        self.assertEqual((first["name"], first["mode"]), ("flight", "overwrite"))
        self.assertEqual((second["name"], second["mode"]), ("second", "discard"))
        self.assertEqual(first["rules"], ["counter:*"])
        self.assertEqual((first["events"], first["overwritten"], first["lost"]), (10, 0, 0))
        self.assertLess(abs(harness.nanoseconds(first["since"]) / 1e9 - time.time()), 3600)
        # What was asked for, and not much more; for the ring that threads share, if they do.
        cpus = os.sysconf("SC_NPROCESSORS_ONLN")
        is_shared_ring_there = harness.IS_SHARED or not harness.IS_SHARED_RING_LAZY
        buffers = 4 * (cpus + is_shared_ring_there) * 128 * 1024
        self.assertGreaterEqual(first["memory"], buffers)
        self.assertLess(first["memory"], buffers * 1.05 + 65536)
        text = self.run_elog("status").stdout
        self.assertIn("flight: overwrite, ", text)
        self.assertIn("holds       10 events", text)
        self.assertIn("flight, second", self.run_elog("list").stderr)
        listed = json.loads(self.run_elog("list", "--json").stdout)["subscriptions"]
        self.assertEqual([each["standing"] for each in listed], ["flight", "second"])
        doctor = self.run_doctor()
        self.assertIn("flight, second", doctor["text"])
        self.assertEqual(doctor["state"], "note")
        self.assertEqual(doctor["repair"], "")
        self.run_elog("stop", "flight")
        self.run_elog("stop", "second")

    def run_doctor(self):
        # Whether anything else is missing on this machine is not what is asked here.
        process = self.start(harness.ELOG, "doctor", "--json")
        self.expect(process, 1)
        output, _ = process.communicate(timeout=harness.TIMEOUT)
        items = json.loads(output)["items"]
        return next(item for item in items if item["item"] == "standing")

    def test_rejects_duplicate_and_invalid_names(self):
        self.begin("--overwrite")
        result = self.run_elog(
            "start", "flight", "-e", "counter:*", "--wait", "--buffer-size", "128K", status=1
        )
        self.assertIn("There is a subscription 'flight' already.", result.stderr)
        self.assertEqual(self.names("subscriptions"), ["00"])
        for name in ("", "a b", "../up", ".hidden", "x" * 32):
            result = self.run_elog("start", name, "-e", "counter:*", "--wait", status=2)
            self.assertIn("A name has 1 to 31 letters", result.stderr)
        self.assertEqual(self.names("subscriptions"), ["00"])
        self.run_elog("stop", "flight")

    def test_reports_unknown_name(self):
        for arguments in (("snapshot", "flight"), ("stop", "flight")):
            result = self.run_elog(*arguments, status=1)
            self.assertIn("There is no subscription 'flight'. See what there is with: elog status",
                          result.stderr)
        # A recording has no name, and is nobody else's to end.
        recording = self.start_recording("-e", "counter:*", "--wait", "-o", self.path("x.elog"))
        self.run_elog("stop", "flight", status=1)
        self.stop(recording)

    def test_leaves_nothing_without_matching_event(self):
        result = self.run_elog("start", "flight", "-e", "nobody:*", status=1)
        self.assertIn("No running program offers an event that matches 'nobody:*'", result.stderr)
        self.assertEqual(self.names("subscriptions"), [])

    def test_snapshot_applies_predicate(self):
        self.begin("--overwrite")
        self.emit(1, 100)
        result = self.run_elog("snapshot", "flight", "--where", "number >= 90")
        self.assertEqual(self.numbers(result.stdout), {0: list(range(90, 100))})
        self.assertIn("10 events passed --where", result.stderr)
        self.run_elog("stop", "flight")


if __name__ == "__main__":
    harness.main()
