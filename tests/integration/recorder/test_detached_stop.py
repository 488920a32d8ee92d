#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""elog flight stop ends a flight recorder: at any moment, after any error, and with every event."""

import errno
import fcntl
import json
import os
import resource
import time
import unittest

import flight_recorder
import harness

# The number of fsync, by machine.
FSYNC = {"x86_64": 74, "aarch64": 82}


def deny_fsync():
    """As on a disk with exhausted quota."""
    harness.deny_syscall(FSYNC[os.uname().machine], errno.EDQUOT)


class DetachedStop(flight_recorder.Case):
    def test_interrupted_removal_is_completed(self):
        self.begin()
        # As after elog flight stop was killed: ended, with a dead process as the owner.
        self.region_word(flight_recorder.STATE, 0)
        self.region_word(flight_recorder.OWNER_PID, 0x7FFFFFF0)
        self.clear_detached()
        self.run_elog("list")
        self.assertEqual(self.names("subscriptions"), [])

    def test_ended_recorder_keeps_contents_until_stop(self):
        self.begin()
        self.assertEqual(self.emit(1, 10), 10)
        # As after elog flight stop -o was killed while it wrote its file.
        self.region_word(flight_recorder.STATE, 0)
        self.run_elog("list")
        self.assertEqual(self.emit(1, 10), 10)  # no listener
        (shown,) = self.status()
        self.assertEqual((shown["ended"], shown["events"]), (True, 10))
        self.assertIn("receives no more events", self.run_elog("flight", "status").stdout)
        (listed,) = json.loads(self.run_elog("list", "--json").stdout)["subscriptions"]
        self.assertEqual((listed["name"], listed["ended"]), ("flight", True))
        self.assertEqual(self.snapshot()[1], 10)
        result = self.run_elog("flight", "stop", "flight", "-o", self.path("last.elog"))
        self.assertEqual(self.summary(result.stderr)[0], 10)
        self.assert_no_files_left()

    def test_events_during_stop_are_no_loss(self):
        for command in (("status",), ("snapshot", "flight", "--force", "-o", self.path("some.elog"))):
            for turn in range(6):
                self.begin()
                self.emit(1, 20000)
                asking = self.start(harness.ELOG, "flight", *command)
                self.expect(asking, 1)
                time.sleep(turn / 1000)
                self.run_elog("flight", "stop", "flight", "--discard")
                output, errors = asking.communicate(timeout=harness.TIMEOUT)
                told = output + errors
                self.assertNotRegex(told, r"lost +[1-9]|were damaged| [1-9]\d* lost")
                if asking.returncode != 0:
                    self.assertRegex(told, "was ended during the snapshot|There is no flight recorder")
                    self.assertFalse(os.path.exists(self.path("some.elog.unfinished")))

    def test_concurrent_stop_keeps_existing_file(self):
        self.begin()
        self.emit(1, 10)
        last = self.path("last.elog")
        self.run_elog("flight", "stop", "flight", "-o", last)
        before = self.numbers(self.run_elog("print", last).stdout)
        self.run_elog("flight", "stop", "flight", "--force", "-o", last, status=1)
        self.assertEqual(self.numbers(self.run_elog("print", last).stdout), before)

    def test_stop_keeps_recorder_on_write_error(self):
        self.begin()
        program = self.start_provider(harness.program("counter"), "1", "0", "100")
        self.wait_for(lambda: self.status()[0]["events"] > 4000, "some events")
        last = self.path("last.elog")

        def fill_disk():
            # A limit of the size, as on a full disk: little more than the reserve for the end.
            resource.setrlimit(resource.RLIMIT_FSIZE, (67 << 10, 67 << 10))

        for compression in ((), ("--compress",)):
            result = self.run_elog(
                "flight", "stop", "flight", "-o", last, *compression, status=1, preexec_fn=fill_disk
            )
            self.assertIn("cannot be written any further", result.stderr)
            self.assertIn("'flight' receives no more events, and keeps those that it has", result.stderr)
        program.kill()
        program.wait()
        (shown,) = self.status()
        self.assertEqual((shown["ended"], shown["lost"]), (True, 0))
        self.assertGreater(shown["events"], 4000)
        # The gates are closed, and the name is still in use.
        result = self.run_elog("flight", "start", "flight", "-e", "counter:*", status=1)
        self.assertIn("There is a subscription 'flight' already.", result.stderr)
        result = self.run_elog("flight", "stop", "flight", "-o", last)
        events, _, lost = self.summary(result.stderr)
        self.assertEqual((events, lost), (shown["events"], 0))
        self.run_elog("verify", last)
        numbers = self.numbers(self.run_elog("print", last).stdout)
        self.assertEqual(sum(len(each) for each in numbers.values()), events)
        self.run_elog("list")
        self.assert_no_files_left()

    @unittest.skipUnless(os.uname().machine in FSYNC, "the number of fsync is not known")
    def test_stop_keeps_recorder_on_sync_error(self):
        self.begin()
        self.emit(1, 10)
        result = self.run_elog(
            "flight", "stop", "flight", "-o", self.path("last.elog"), status=1, preexec_fn=deny_fsync
        )
        self.assertIn("could not be written to its end", result.stderr)
        self.assertIn("keeps those that it has", result.stderr)
        (shown,) = self.status()
        self.assertEqual((shown["ended"], shown["events"]), (True, 10))
        result = self.run_elog("flight", "stop", "flight", "-o", self.path("last.elog"))
        self.assertEqual(self.summary(result.stderr)[0], 10)

    def test_stop_keeps_recorder_if_standard_output_is_closed(self):
        self.begin()
        self.emit(1, 10)
        reader, writer = os.pipe()
        os.close(reader)
        self.addCleanup(os.close, writer)
        result = self.run_elog("flight", "stop", "flight", "-o", "-", status=1, stdout=writer)
        self.assertIn("Standard output was closed", result.stderr)
        self.assertIn("keeps those that it has", result.stderr)
        (shown,) = self.status()
        self.assertEqual((shown["ended"], shown["events"]), (True, 10))
        with open(self.path("last.elog"), "wb") as file:
            self.run_elog("flight", "stop", "flight", "-o", "-", stdout=file)
        self.assertEqual(len(self.run_elog("print", self.path("last.elog")).stdout.splitlines()), 10)
        self.assert_no_files_left()

    def test_stop_replaces_file_only_with_force(self):
        self.begin()
        self.emit(1, 10)
        last = self.path("last.elog")
        with open(last, "w", encoding="utf-8") as file:
            file.write("mine")
        result = self.run_elog("flight", "stop", "flight", "-o", last, status=1)
        self.assert_one_message(result.stderr, "last.elog exists", "--force")
        with open(last, encoding="utf-8") as file:
            self.assertEqual(file.read(), "mine")
        self.assertFalse(self.status()[0]["ended"])
        result = self.run_elog("flight", "stop", "flight", "-o", last, "--force")
        self.assertEqual(self.summary(result.stderr)[0], 10)
        self.run_elog("verify", last)

    def test_stop_reports_concurrent_removal(self):
        self.begin()
        self.emit(1, 10)
        lock = self.lock_directory()
        stop = self.start(harness.ELOG, "flight", "stop", "flight", "-o", self.path("last.elog"))
        self.wait_for(lambda: os.path.exists(self.path("last.elog.unfinished")), "its file")
        # As another elog flight stop does while the first one waits for the lock.
        self.clear_detached()
        os.close(lock)
        _, errors = self.finish(stop, status=1)
        self.assertIn("Another process has just ended the flight recorder 'flight'", errors)
        self.assertEqual([name for name in os.listdir(self.scratch) if "last" in name], [])

    def test_stop_writes_every_event(self):
        self.begin()
        attempted = self.emit(harness.THREADS, 50000)
        result = self.run_elog("flight", "stop", "flight", "-o", self.path("last.elog"))
        events, _, lost = self.summary(result.stderr)
        self.assertEqual(lost, 0)
        self.assertEqual(events + self.overwritten(result.stderr), attempted)
        self.run_elog("verify", self.path("last.elog"))
        self.assert_no_files_left()

    def test_stop_without_file_or_discard_is_a_usage_error(self):
        self.begin()
        result = self.run_elog("flight", "stop", "flight", status=2)
        self.assert_one_message(result.stderr, "The events of 'flight' would be lost", "-o FILE",
                                "--discard")
        self.run_elog("flight", "stop", "flight", "-o", self.path("x"), "--discard", status=2)
        self.assertFalse(self.status()[0]["ended"])

    def test_stop_reports_a_wrong_name_before_a_missing_option(self):
        for options in ((), ("--discard",), ("-o", self.path("last.elog"))):
            result = self.run_elog("flight", "stop", "nothere", *options, status=1)
            self.assertEqual(result.stderr, "elog: There is no flight recorder 'nothere'. List those "
                                            "that exist with: elog flight status\n")

    def test_stop_checks_arguments_before_ending(self):
        self.begin()
        self.emit(1, 10)
        last = self.path("last.elog")
        for arguments, status in (
            (("-o", self.path("nowhere/last.elog")), 1),
            (("-o", last, "--where", "number == ("), 2),
            (("-o", last, "--where", "no_such_field > 3"), 2),
        ):
            self.run_elog("flight", "stop", "flight", *arguments, status=status)
            self.assertEqual(self.status()[0]["events"], 10, arguments)
        result = self.run_elog("flight", "stop", "flight", "-o", last, "--where", "number > 4")
        self.assertIn("5 events passed --where", result.stderr)
        self.assert_no_files_left()

    def gates_of(self, program):
        (provider,) = self.providers_of(program.pid)
        return provider.gate()[0] & 0xFFFF

    def fill_processes(self, name):
        for i in range(5000):
            with open(os.path.join(self.directory, "processes", f"{name}.{i}"), "wb"):
                pass

    def lock_directory(self):
        """Locks the directory against creating and removing subscriptions. Close it to unlock."""
        lock = os.open(os.path.join(self.directory, "subscriptions"), os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)
        return lock

    def start_partially(self):
        """Starts an elog flight start that has published its subscription and waits for the lock to mark
        it as detached.

        Returns it, and the lock.
        """
        while True:
            start = self.start(
                harness.ELOG, "flight", "start", "flight", "-e", "counter:*", "--keep-first",
                "--buffer-size", "128K",
            )
            lock = self.lock_directory()
            while not self.names("subscriptions") and start.poll() is None:
                os.close(lock)
                time.sleep(0.001)
                lock = self.lock_directory()
            if not self.is_detached():
                return start, lock
            # The process was faster than the test.
            os.close(lock)
            self.finish(start)
            self.run_elog("flight", "stop", "flight", "--discard")

    def test_killed_start_leaves_nothing(self):
        # Its second event is far away: it does not close its gates itself.
        program = self.start_provider(harness.program("counter"), "1", "2", "1000000000")
        self.fill_processes("behind")  # invalid files slow down the search for processes
        start, lock = self.start_partially()
        start.kill()
        start.wait()
        os.close(lock)
        self.assertEqual(self.status(), [])
        self.assertEqual(self.names("subscriptions"), [])
        self.assertEqual(self.gates_of(program), 0)
        self.begin()
        self.assertEqual(self.gates_of(program), 1)
        program.kill()

    def test_stop_ignores_unfinished_start(self):
        program = self.start_provider(harness.program("counter"), "1", "2", "1000000000")
        self.fill_processes("behind")
        start, lock = self.start_partially()
        result = self.run_elog("flight", "stop", "flight", "--discard", status=1)
        self.assertIn("There is no flight recorder 'flight'.", result.stderr)
        os.close(lock)
        self.finish(start)
        self.assertEqual([each["name"] for each in self.status()], ["flight"])
        self.assertEqual(self.gates_of(program), 1)
        program.kill()

    def test_stop_disables_gates_of_running_programs(self):
        self.begin()
        program = self.start_provider(harness.program("counter"), "1", "0", "100")
        self.wait_for(lambda: self.status()[0]["events"] > 0, "an event")
        self.assertIn("flight (elog flight start)", self.run_elog("list").stdout)
        self.run_elog("flight", "stop", "flight", "--discard")
        self.assertEqual(self.names("subscriptions"), [])
        self.assertNotIn("[0]", self.run_elog("list").stdout)
        program.kill()


if __name__ == "__main__":
    harness.main()
