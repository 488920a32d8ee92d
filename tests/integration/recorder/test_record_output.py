#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""elog record -o - writes a complete recording to a pipe or file; -o FILE replaces no file without
--force.
"""

import fcntl
import json
import os
import pty
import re
import shutil
import signal
import struct
import termios
import time

import harness

EVENTS = 20000
F_GETPIPE_SZ = 1032  # fcntl.F_GETPIPE_SZ of Python 3.10
COMMAND = harness.program("counter"), "1", str(EVENTS)
# Longer than the time for which a reader may block after elog was asked to stop.
SLOW_READER = 1.5


def is_full(pipe):
    """Whether half of a pipe is full. EVENTS need more than a whole pipe, so that its writer is
    blocked soon."""
    unread = struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0]
    return unread >= fcntl.fcntl(pipe, F_GETPIPE_SZ) // 2


class StandardOutput(harness.Case):
    def assert_complete(self, content, count):
        """Requires a whole recording of that many events."""
        path = self.path("received.elog")
        with open(path, "wb") as file:
            file.write(content)
        self.assertIn(": whole: ", self.run_elog("verify", path).stdout)
        self.assertEqual(json.loads(self.run_elog("stat", path, "--json").stdout)["events"], count)
        self.assertEqual(len(self.run_elog("print", path).stdout.splitlines()), count)

    def run_piped(self, *arguments, status=0):
        """(content of standard output, messages) of a recording to a pipe."""
        result = self.run_elog("record", "-o", "-", *arguments, status=status, encoding=None)
        return result.stdout, result.stderr.decode()

    def test_pipe_gets_recording_and_nothing_else(self):
        for options in ((), ("--compress",)):
            content, errors = self.run_piped("-e", "counter:*", *options, "--", *COMMAND)
            events, _, lost = self.summary(errors)
            self.assertEqual(events + lost, EVENTS)
            self.assert_complete(content, events)
            # What the program prints goes to standard error.
            self.assertIn(f"attempted {EVENTS}", errors)
        self.assertEqual(self.names("subscriptions"), [])

    def test_pipe_can_be_printed(self):
        recording = self.start(harness.ELOG, "record", "-o", "-", "--", harness.program("counter"),
                               "1", "100", encoding=None)
        result = self.run_elog("print", "-", stdin=recording.stdout)
        self.assertEqual(len(result.stdout.splitlines()), 100, result.stdout)
        self.assertEqual(result.stderr, "")
        self.assertEqual(recording.wait(timeout=harness.TIMEOUT), 0)

    def test_slow_reader_gets_everything(self):
        recording = self.start(harness.ELOG, "record", "-o", "-", "--", *COMMAND, encoding=None)
        # The command ends while the pipe is full, and its provider with it.
        self.wait_for(lambda: is_full(recording.stdout) and self.names("processes") == [],
                      "the end of the command")
        time.sleep(SLOW_READER)
        self.assertIsNone(recording.poll())
        content, errors = recording.communicate(timeout=harness.TIMEOUT)
        events, _, lost = self.summary(errors.decode())
        self.assertEqual((recording.returncode, events + lost), (0, EVENTS))
        self.assert_complete(content, events)

    def test_unread_pipe_does_not_outlive_signal(self):
        recording = self.start(harness.ELOG, "record", "-o", "-", "-e", "counter:*", "--wait",
                               encoding=None)
        self.wait_for(lambda: self.is_mapped(recording, "subscriptions"), "a subscription")
        self.finish(self.start(*COMMAND))
        self.wait_for(lambda: is_full(recording.stdout), "a full pipe")
        recording.terminate()
        self.expect(recording, 1)
        self.assertEqual(recording.wait(timeout=harness.TIMEOUT), 1)
        self.assertIn(b"The output accepts no data", recording.stderr.read())

    def test_closed_pipe_ends_recording(self):
        for options, status in (((), 1), (("--fail-on-loss",), 3), (("--exit-status",), 1)):
            readable, writable = os.pipe()
            os.close(readable)
            recording = self.start(harness.ELOG, "record", "-o", "-", *options, "--",
                                   harness.program("counter"), "1", "100", stdout=writable)
            os.close(writable)
            _, errors = self.finish(recording, status)
            said = "Standard output was closed" if status == 3 else "has ended before the recording"
            self.assertIn(said, errors)

    def test_command_that_outlives_the_reader_is_reported_once(self):
        for options, status in (((), 0), (("-o", "-"), 1), (("-o", "-", "--fail-on-loss"), 3)):
            recording = self.start(
                harness.ELOG, "record", *options, "--", "/bin/sh", "-c",
                f"exec >/dev/null 2>&1; {harness.program('counter')} 1 500 1000; exec sleep 100")
            recording.stdout.buffer.read(8192)  # events, so the command has been started
            recording.stdout.close()
            _, errors = self.finish(recording, status)
            running = re.findall(r"is still running, as process (\d+)", errors)
            self.assertEqual(len(running), 1, errors)
            os.kill(int(running[0]), signal.SIGKILL)

    def test_file_gets_recording(self):
        path = self.path("redirected.elog")
        with open(path, "wb") as file:
            errors = self.run_elog("record", "-o", "-", "--", *COMMAND, stdout=file).stderr
        events, _, lost = self.summary(errors)
        self.assertEqual(events + lost, EVENTS)
        with open(path, "rb") as file:
            self.assert_complete(file.read(), events)

    def test_file_being_written_is_not_damaged(self):
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        path = self.path("live.elog")
        with open(path, "wb") as file:
            recording = self.start(harness.ELOG, "record", "-o", "-", "-e", "counter:*", stdout=file)
            self.wait_for(lambda: os.path.getsize(path) > 0
                          and "counter:count" in self.run_elog("print", path).stdout, "events")
            self.assertIn("has no end", self.run_elog("print", path).stderr)
            self.stop(recording)
            # This test has the file open; its lock is released.
            self.assertEqual(self.run_elog("print", path).stderr, "")
            self.assertIn(": whole: ", self.run_elog("verify", path).stdout)

    def test_recording_does_not_follow_other_data(self):
        path = self.path("notes")
        with open(path, "w", encoding="utf-8") as file:
            file.write("precious")
        with open(path, "ab") as file:
            result = self.run_elog("record", "-o", "-", "--", "/bin/true", stdout=file, status=1)
        self.assertIn("is not empty", result.stderr)
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), "precious")

    def test_terminal_is_a_usage_error(self):
        side, terminal = pty.openpty()
        try:
            result = self.run_elog("record", "-o", "-", "--", *COMMAND, stdout=terminal, status=2)
        finally:
            os.close(side)
            os.close(terminal)
        self.assert_one_message(result.stderr, "Standard output is a terminal", "-o")
        self.assertEqual(self.names("subscriptions", may_be_missing=True), [])

    def test_options_for_other_files_are_rejected(self):
        for options in (("--rotate", "1MiB"), ("--max-total", "8MiB"), ("--json",)):
            content, errors = self.run_piped(*options, "--", *COMMAND, status=2)
            self.assertEqual(content, b"")
            self.assert_one_message(errors, options[0], "-o")


class UnwrittenSummary(harness.Case):
    """A summary that cannot be written is an error, after the recording is complete."""

    def run_with_full_output(self, *arguments):
        with open("/dev/full", "w", encoding="utf-8") as full:
            result = self.run_elog(*arguments, status=1, stdout=full)
        self.assertIn("The output cannot be written", result.stderr)

    def test_of_a_recording_has_status_1(self):
        path = self.path("run.elog")
        for options in ((), ("--fail-on-loss",), ("--exit-status",)):
            self.run_with_full_output("record", "--json", *options, "-o", path, "--force", "--",
                                      "/bin/sh", "-c", f"{harness.program('counter')} 1 5 >&2")
            self.assertIn(": whole: ", self.run_elog("verify", path).stdout)
            self.assertEqual(len(self.run_elog("print", path).stdout.splitlines()), 5)

    def test_of_a_flight_recorder_has_status_1(self):
        self.run_elog("flight", "start", "flight", "-e", "counter:*")
        self.finish(self.start(harness.program("counter"), "1", "5"))
        for command in ("snapshot", "stop"):
            path = self.path(f"{command}.elog")
            self.run_with_full_output("flight", command, "flight", "--json", "-o", path)
            self.assertEqual(len(self.run_elog("print", path).stdout.splitlines()), 5)
        self.assertEqual(self.names("subscriptions"), [])

    def test_as_help_and_version_has_status_1(self):
        for arguments in (("help",), ("--help",), ("--version",), ("record", "--help"),
                          ("help", "flight", "start")):
            self.run_with_full_output(*arguments)


class ExistingFile(harness.Case):
    def test_is_kept_and_command_is_not_started(self):
        path, started = self.path("run.elog"), self.path("started")
        with open(path, "w", encoding="utf-8") as file:
            file.write("precious")
        command = "/bin/sh", "-c", f"touch {started}; {harness.program('counter')} 1 10"
        result = self.run_elog("record", "-o", path, "--", *command, status=1)
        self.assert_one_message(result.stderr, path, "exists", "--force")
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), "precious")
        self.assertFalse(os.path.exists(started))
        self.run_elog("record", "--force", "-o", path, "--", *command)
        self.assertEqual(len(self.run_elog("print", path).stdout.splitlines()), 10)

    def test_that_is_a_directory_is_named_as_such(self):
        os.mkdir(self.path("folder"))
        result = self.run_elog("record", "-o", self.path("folder"), "--", *COMMAND, status=1)
        self.assertEqual(result.stderr,
                         f"elog: {self.path('folder')} is a directory. Name a file with -o.\n")

    def test_with_force_is_not_taken_from_another_recording(self):
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        path = self.path("run.elog")
        recording = self.start_recording("-e", "counter:*", "-o", path)
        result = self.run_elog("record", "-e", "counter:*", "--force", "-o", path, status=1)
        self.assertIn("is being written by another recording", result.stderr)
        self.stop(recording)
        self.assertIn(": whole: ", self.run_elog("verify", path).stdout)

    def test_of_rotation_is_kept_without_force(self):
        for _ in range(2):
            self.run_elog("record", "--rotate", "1MiB", "-o", self.path("run.elog"), "--",
                          harness.program("counter"), "1", "10")
        for number in (1, 2):
            path = self.path(f"run-{number:06}.elog")
            self.assertEqual(len(self.run_elog("print", path).stdout.splitlines()), 10)


class UnwritableFile(harness.Case):
    def test_starts_no_command(self):
        started = self.path("started")
        for path in (self.path("missing/run.elog"), "/proc/run.elog", f"{os.devnull}/run.elog"):
            result = self.run_elog("record", "-o", path, "--", "touch", started, status=1)
            self.assert_one_message(result.stderr, path, "cannot be made")
            self.assertFalse(os.path.exists(started), path)


class TakenAway(harness.Case):
    """Another process removes what a recording needs: it ends within a second, with an error."""

    def record_until(self, take_away, *options, at_most=10):
        """The messages of a recording whose file or subscription is taken away."""
        path = self.path("run.elog")
        recording = self.start_recording("-e", "counter:*", "--wait", "-o", path, *options)
        self.finish(self.start(*COMMAND[:2], "10"))
        take_away(path)
        begin = time.monotonic()
        _, errors = self.finish(recording, 1)
        # A busy machine takes longer than the second that it should be.
        self.assertLess(time.monotonic() - begin, at_most)
        self.assertEqual(self.names("subscriptions", may_be_missing=True), [])
        return errors

    def test_removed_file_is_noticed(self):
        errors = self.record_until(os.unlink)
        self.assert_one_message(errors, self.path("run.elog"), "was removed")

    def test_removed_file_is_noticed_without_reading_records(self):
        # The buffers are read at the end, or every 5 s.
        for options in (("--overwrite",), ("--overwrite", "--where", "number < 100"),
                        ("--latency", "10s")):
            with self.subTest(options=options):
                errors = self.record_until(os.unlink, *options, at_most=4)
                self.assert_one_message(errors, self.path("run.elog"), "was removed")

    def test_truncated_file_is_noticed(self):
        errors = self.record_until(lambda path: os.truncate(path, 0))
        self.assert_one_message(errors, self.path("run.elog"), "was truncated")

    def printed(self, path):
        return self.run_elog("print", path).stdout.count(" counter:count ")

    def record_reopened(self, name, take_away, gone, *options):
        """Ten events before the change of the file, `gone` of which are lost, and seven behind it,
        which `path` has. Returns the output and the messages of elog."""
        path = self.path(f"{name}.elog")
        recording = self.start_recording("-e", "counter:*", "--wait", "-o", path,
                                         "--rotate", "reopen", "--fail-on-loss", *options)
        self.finish(self.start(*COMMAND[:2], "10"))
        self.wait_for(lambda: self.printed(path) == 10, "the events in the file")
        with open(path, "rb") as old:
            take_away(path)
            self.wait_for(lambda: os.path.exists(path) and
                          os.stat(path).st_ino != os.fstat(old.fileno()).st_ino and
                          os.stat(path).st_size != 0, "a new file")
        self.finish(self.start(*COMMAND[:2], "7"))
        output, errors = self.stop(recording, status=3 if gone else 0)
        self.assertIn(f"{path} was {name}; the recording continues in a new file of that name.",
                      errors)
        self.assertIn(": whole: ", self.run_elog("verify", path).stdout)
        self.assertEqual(self.printed(path), 7)
        return output, errors

    @staticmethod
    def move(path):
        os.rename(path, path + ".1")
        with open(path, "x", encoding="utf-8"):  # as programs that rotate files do
            pass

    def test_recording_continues_behind_a_moved_file(self):
        self.record_reopened("moved", self.move, 0)
        path = self.path("moved.elog")
        self.assertIn(": whole: ", self.run_elog("verify", path + ".1").stdout)
        self.assertEqual(self.printed(path + ".1"), 10)
        self.run_elog("merge", path + ".1", path, "-o", self.path("all.elog"))
        self.assertEqual(self.printed(self.path("all.elog")), 17)

    def test_summary_tells_how_many_events_are_behind_a_moved_file(self):
        _, errors = self.record_reopened("moved", self.move, 0)
        self.assertEqual(self.summary(errors)[::2], (17, 0))
        self.assertIn(f", 7 of them in {self.path('moved.elog')}\n", errors)
        output, _ = self.record_reopened("moved", self.move, 0, "--json", "--force")
        summary = json.loads(output)
        self.assertEqual([summary[name] for name in ("events", "lost", "file_events")], [17, 0, 7])

    def assert_lost_with_the_file(self, name, take_away):
        """Requires that the ten events of a file that is gone are lost, for the summary and in the
        new file."""
        _, errors = self.record_reopened(name, take_away, 10)
        path = self.path(f"{name}.elog")
        self.assertIn(" The old file's 10 events are lost.\n", errors)
        self.assertEqual(self.summary(errors)[::2], (7, 10))
        self.assertIn(f", in {path}\n", errors)
        found = json.loads(self.run_elog("stat", path, "--json").stdout)
        output, _ = self.record_reopened(name, take_away, 10, "--json", "--force")
        summary = json.loads(output)
        self.assertEqual(summary["file_events"], 7)
        self.assertEqual(sum(ring["lost"] for ring in summary["by_cpu"]), 10)
        for said in (found, summary):
            self.assertEqual((said["events"], said["lost"]), (7, 10))
            self.assertEqual(said["lost_by_reason"]["unwritten"], 10)

    def test_recording_continues_behind_a_removed_file(self):
        self.assert_lost_with_the_file("removed", os.unlink)

    def test_recording_continues_behind_a_truncated_file(self):
        self.assert_lost_with_the_file("truncated", lambda path: os.truncate(path, 0))

    def test_reopen_is_for_one_file_with_a_name(self):
        for options in ((), ("-o", "-"), ("-o", self.path("x"), "--max-total", "8MiB"),
                        ("-o", self.path("x"), "--keep", "2"),
                        ("-o", self.path("x/"), "--split-by", "number")):
            result = self.run_elog("record", "-e", "counter:*", "--rotate", "reopen", *options,
                                   status=2)
            self.assertRegex(result.stderr, "--rotate|--keep")

    def test_removed_subscription_is_noticed(self):
        for options in ((), ("--overwrite", "--force")):
            errors = self.record_until(lambda path: [
                os.unlink(os.path.join(self.directory, "subscriptions", name))
                for name in self.names("subscriptions")], *options)
            self.assertIn("was removed from", errors)
            self.assertIn(": whole: ", self.run_elog("verify", self.path("run.elog")).stdout)
            self.assertEqual(len(self.run_elog("print", self.path("run.elog")).stdout.splitlines()),
                             10)

    def test_removed_directory_is_noticed(self):
        errors = self.record_until(lambda path: shutil.rmtree(self.directory))
        self.assertIn("was removed from", errors)
        self.run_elog("verify", self.path("run.elog"))


if __name__ == "__main__":
    harness.main()
