#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""elog record -- COMMAND records a command from its first event to its last."""

import os
import re
import signal
import subprocess

import harness


class RecordCommand(harness.Case):
    def test_has_the_first_event_and_the_last(self):
        result = self.run_elog(
            "record", "-e", "counter:*", "--", harness.program("counter"), "1", "5000"
        )
        self.assertEqual(self.summary(result.stderr)[::2], (5000, 0))
        self.assertIn("attempted 5000", result.stdout)
        self.assertIn(" number=0 ", result.stdout)
        self.assertIn(" number=4999 ", result.stdout)
        self.assert_no_files_left()

    def test_passes_arguments_unchanged(self):
        result = self.run_elog(
            "record", "-e", "counter:*", "--", "/bin/sh", "-c",
            f'echo "[$1]"; {harness.program("counter")} 1 1', "name", "-x --",
        )
        self.assertIn("[-x --]", result.stdout)

    def test_reports_failed_command_and_keeps_exit_status(self):
        result = self.run_elog(
            "record", "-e", "counter:*", "--", "/bin/sh", "-c",
            f"{harness.program('counter')} 1 1; exit 7",
        )
        self.assertIn("ended with exit status 7", result.stderr)

    def test_reports_failed_command_where_sigchld_is_ignored(self):
        recording = self.start(
            harness.ELOG, "record", "-e", "counter:*", "--", "/bin/sh", "-c",
            f"{harness.program('counter')} 1 1; exit 7",
            preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN),
        )
        _, errors = self.finish(recording)
        self.assertIn("ended with exit status 7", errors)

    def test_reports_killed_command(self):
        result = self.run_elog(
            "record", "-e", "counter:*", "--", "/bin/sh", "-c",
            f"{harness.program('counter')} 1 1; kill -9 $$",
        )
        self.assertIn("ended by signal 9", result.stderr)

    def test_missing_command_fails(self):
        result = self.run_elog(
            "record", "-e", "counter:*", "-o", self.path("x.elog"), "--", "no-such-command",
            status=1,
        )
        self.assert_one_message(result.stderr, "no-such-command", "cannot be started")
        self.assertEqual(self.names("subscriptions", may_be_missing=True), [])

    def test_command_that_cannot_be_started_fails(self):
        text = self.path("text")
        with open(text, "w", encoding="utf-8") as file:
            file.write("no program\n")
        missing = self.path("missing")
        for command, reason in ((text, "Permission denied"), (self.scratch, "Permission denied"),
                                (missing, "it does not exist")):
            for options in ((), ("--exit-status",), ("-o", self.path("x.elog"), "--force")):
                result = self.run_elog("record", *options, "--", command, status=1)
                self.assertEqual(result.stdout, "")
                self.assertIn(f"elog: The command '{command}' cannot be started ({reason})",
                              result.stderr)
                self.assertEqual(self.names("subscriptions", may_be_missing=True), [])

    def test_separator_without_command_is_a_usage_error(self):
        result = self.run_elog("record", "-e", "counter:*", "--", status=2)
        self.assert_one_message(result.stderr, "The command after '--' is missing")
        result = self.run_elog("list", "--", "true", status=2)
        self.assert_one_message(result.stderr, "Only elog record runs the command")

    def test_missing_command_keeps_existing_recording(self):
        with open(self.path("x.elog"), "w", encoding="utf-8") as file:
            file.write("precious")
        self.run_elog("record", "-e", "counter:*", "-o", self.path("x.elog"), "--",
                      "no-such-command", status=1)
        with open(self.path("x.elog"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "precious")

    def executable(self, name, content):
        path = self.path(name)
        with open(path, "wb") as file:
            file.write(content)
        os.chmod(path, 0o755)
        return path

    def test_command_that_cannot_be_executed_leaves_nothing(self):
        os.mkdir(self.path("records"))
        interpreter = self.executable("interpreter", b"#!/no/such/interp\r\n")
        # Only the kernel knows that it cannot execute these.
        text = self.executable("text", b"no program\n")
        headless = self.executable("headless", b"\x7fELF")
        for command in (interpreter, text, headless, self.scratch, "./", ""):
            for options in ((), ("--force",), ("--rotate", "1MiB"), ("--split-by", "number"),
                            ("--split-by", "number", "--force")):
                with self.subTest(command=command, options=options):
                    result = self.run_elog(
                        "record", "-e", "counter:*", "-o", self.path("records/x.elog"), *options,
                        "--", command, status=1)
                    self.assertIn(f"elog: The command '{command}' cannot be started (",
                                  result.stderr)
                    self.assertEqual(os.listdir(self.path("records")), [])
        self.assertEqual(self.names("subscriptions", may_be_missing=True), [])

    def test_missing_interpreter_is_named(self):
        result = self.run_elog("record", "--", self.executable("x", b"#! /no/such/interp -x\n"),
                               status=1)
        self.assertIn("(its interpreter '/no/such/interp': No such file or directory)",
                      result.stderr)
        result = self.run_elog("record", "-e", "counter:*", "--wait", "--exit-status", "--",
                               self.executable("y", b"#! /bin/sh -e\nexit 3\n"), status=3)

    def test_command_that_cannot_be_executed_keeps_replaced_recording(self):
        os.mkdir(self.path("records"))
        os.mkdir(self.path("records/split"))
        os.symlink("kept.elog", self.path("records/link.elog"))
        for name in ("kept.elog", "split/other.elog"):
            with open(self.path("records/" + name), "w", encoding="utf-8") as file:
                file.write("precious")
        for command in (self.executable("bad", b"#!/no/such/interp\r\n"),
                        self.executable("text", b"no program\n")):
            for output in (("kept.elog",), ("link.elog",), ("split", "--split-by", "number")):
                with self.subTest(command=command, output=output):
                    self.run_elog("record", "-e", "counter:*", "--force", "-o",
                                  self.path("records/" + output[0]), *output[1:], "--", command,
                                  status=1)
                    for name in ("kept.elog", "split/other.elog"):
                        with open(self.path("records/" + name), encoding="utf-8") as file:
                            self.assertEqual(file.read(), "precious")
        self.assertEqual(sorted(os.listdir(self.path("records"))),
                         ["kept.elog", "link.elog", "split"])
        self.assertEqual(os.listdir(self.path("records/split")), ["other.elog"])
        self.assertEqual(os.readlink(self.path("records/link.elog")), "kept.elog")

    def test_command_that_cannot_be_executed_keeps_replaced_recording_in_shared_folder(self):
        os.mkdir(self.path("records"))
        os.chmod(self.path("records"), 0o1777)
        output = self.path("records/kept.elog")
        with open(output, "w", encoding="utf-8") as file:
            file.write("precious")
        self.run_elog("record", "-e", "counter:*", "--force", "-o", output, "--",
                      self.executable("text", b"no program\n"), status=1)
        with open(output, encoding="utf-8") as file:
            self.assertEqual(file.read(), "precious")
        self.assertEqual(os.listdir(self.path("records")), ["kept.elog"])

    def test_replaced_recording_is_gone_when_the_command_has_started(self):
        os.mkdir(self.path("records"))
        output = self.path("records/x.elog")
        for _ in range(2):
            self.run_elog("record", "-o", output, "--force", "--", harness.program("counter"), "1",
                          "10")
        self.assertEqual(os.listdir(self.path("records")), ["x.elog"])

    def test_signal_before_the_command_starts_keeps_replaced_recording(self):
        os.mkdir(self.path("records"))
        output = self.path("records/kept.elog")

        def was_early():
            with open(output, "w", encoding="utf-8") as file:
                file.write("precious")
            recording = self.start(harness.ELOG, "record", "-o", output, "--force", "--", "true")
            self.expect(recording, 1)
            self.wait_for(lambda: self.names("subscriptions", may_be_missing=True)
                          or recording.poll() is not None, "a subscription")
            recording.send_signal(signal.SIGINT)
            _, errors = recording.communicate(timeout=harness.TIMEOUT)
            return "'true' was not started" in errors

        # The command may have started before the signal.
        self.wait_for(was_early, "an early signal")
        with open(output, encoding="utf-8") as file:
            self.assertEqual(file.read(), "precious")
        self.assertEqual(os.listdir(self.path("records")), ["kept.elog"])

    def test_surviving_command_is_reported(self):
        result = self.run_elog(
            "record", "-e", "counter:*", "--limit", "1", "--", harness.program("counter"), "1",
            "1000", "1000",
        )
        self.assertRegex(result.stderr, r"is still running, as process \d+")

    def test_command_without_matching_event_fails(self):
        result = self.run_elog("record", "-e", "counter:nothing", "--", harness.program("counter"),
                               "1", "1", status=1)
        self.assertIn("counter:nothing", result.stderr)
        self.assertEqual(self.names("subscriptions"), [])

    def test_signal_is_forwarded_and_last_events_are_recorded(self):
        recording = self.start_recording(
            "-e", "counter:*", "-o", self.path("run.elog"), "--", harness.program("counter"), "1",
            "0", "1000",
        )
        self.wait_for(lambda: self.names("processes"), "the command's provider")
        _, errors = self.stop(recording, signal.SIGTERM)
        self.assertIn("ended by signal 15", errors)
        self.summary(errors)
        self.assertEqual(self.names("subscriptions"), [])


class ExitStatus(harness.Case):
    """--exit-status returns the status of the command."""

    def record(self, script, *options, status=0, **settings):
        """The messages of a recording of a shell script, in which $0 is the program counter."""
        return self.run_elog(
            "record", *options, "--", "/bin/sh", "-c", script, harness.program("counter"),
            status=status, **settings).stderr

    def test_is_that_of_the_command(self):
        self.record('"$0" 1 10', "--exit-status")
        self.assertIn("ended with exit status 7",
                      self.record('"$0" 1 10; exit 7', "--exit-status", status=7))
        self.assertIn("ended by signal 9",
                      self.record('"$0" 1 10; kill -9 $$', "--exit-status", status=128 + 9))

    def test_precedes_a_pattern_without_match(self):
        for status in (0, 7):
            for options in ((), ("-o", self.path(f"{status}.elog"))):
                errors = self.record(f'"$0" 1 10; exit {status}', "-e", "counter:nothing",
                                     "--exit-status", *options, status=status)
                self.assertIn("offers an event that matches 'counter:nothing'", errors)
        self.record('"$0" 1 10; exit 7', "-e", "counter:nothing", status=1)
        self.record('"$0" 1 10; exit 7', "-e", "counter:nothing", "--wait", status=0)

    def test_is_known_if_child_signals_are_ignored(self):
        def ignore():
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)

        self.record('"$0" 1 10; exit 7', "--exit-status", status=7, preexec_fn=ignore)

    def test_is_awaited_after_the_end_of_the_recording(self):
        errors = self.record('"$0" 1 1000 1000; exit 5', "--exit-status", "--limit", "3", status=5)
        self.assertRegex(errors, r"waiting for '/bin/sh', process \d+")
        self.assertIn("3 events were kept", errors)

    def test_is_awaited_after_standard_output_was_closed(self):
        readable, writable = os.pipe()
        os.close(readable)
        recording = self.start(harness.ELOG, "record", "--exit-status", "--", "/bin/sh", "-c",
                               '"$0" 1 1000 1000 > /dev/null; exit 6', harness.program("counter"),
                               stdout=writable)
        os.close(writable)
        self.finish(recording, 6)

    def test_of_command_ended_by_forwarded_signal(self):
        recording = self.start_recording("--exit-status", "-o", self.path("run.elog"), "--",
                                         harness.program("counter"), "1", "0", "1000")
        self.wait_for(lambda: self.names("processes"), "the command's provider")
        recording.send_signal(signal.SIGTERM)
        self.finish(recording, 128 + signal.SIGTERM)

    def test_is_missing_if_a_second_signal_ends_elog(self):
        recording = self.start(harness.ELOG, "record", "--wait", "--exit-status", "--", "/bin/sh", "-c",
                               "trap 'echo trapped' TERM; echo ready; while :; do sleep 0.1; done")
        self.assertEqual(recording.stdout.readline(), "ready\n")
        recording.send_signal(signal.SIGTERM)
        self.assertEqual(recording.stdout.readline(), "trapped\n")
        recording.send_signal(signal.SIGTERM)
        self.expect(recording, 1)
        self.assertEqual(recording.wait(timeout=harness.TIMEOUT), 1)
        # The command, which still runs, has standard error open.
        running = None
        while running is None:
            line = recording.stderr.readline()
            self.assertNotEqual(line, "")
            running = re.search(r"is still running, as process (\d+)", line)
        os.kill(int(running[1]), signal.SIGKILL)
        self.assertIn("there is no exit status", recording.stderr.read())

    def test_of_loss_precedes_that_of_the_command(self):
        # elog is stopped while more is written than its buffers hold.
        script = 'kill -STOP $PPID; "$0" 2 100000; kill -CONT $PPID; exit 7'
        for options, status in ((("--exit-status",), 7),
                                (("--exit-status", "--fail-on-loss"), 3), ((), 0)):
            errors = self.record(script, "--buffer-size", "128K", "--force", "-o",
                                 self.path("run.elog"), *options, status=status)
            self.assertGreater(self.summary(errors)[2], 0)
            self.assertIn("ended with exit status 7", errors)

    def test_error_of_elog_precedes_that_of_the_command(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            errors = self.record('"$0" 1 1; exit 7', "--exit-status", "--json", "-o",
                                 self.path("run.elog"), status=1, stdout=full)
        self.assertIn("ended with exit status 7", errors)

    def test_without_command_is_a_usage_error(self):
        result = self.run_elog("record", "-e", "counter:*", "--exit-status", status=2)
        self.assert_one_message(result.stderr, "--exit-status", "-- COMMAND")


class DefaultEvents(harness.Case):
    """Without -e: all events of the command, or of the processes that -p and --comm name."""

    def test_of_command_are_all(self):
        result = self.run_elog("record", "--", harness.program("counter"), "1", "50")
        self.assertEqual(self.summary(result.stderr)[::2], (50, 0))

    def test_of_named_processes_are_all(self):
        wanted = self.start_provider(harness.program("counter"), "1", "0", "1000")
        self.start_provider(harness.example("order_service"), "600")
        for options in (("-p", str(wanted.pid)), ("--comm", "counter")):
            result = self.run_elog("record", *options, "--limit", "20")
            found = [harness.LINE.match(line) for line in result.stdout.splitlines()]
            self.assertEqual({line["provider"] for line in found}, {"counter"})
            self.assertEqual(len(found), 20)

    def missing(self, *options):
        """The lines after the error of a recording without events."""
        errors = self.run_elog("record", *options, status=2).stderr.splitlines()
        self.assertEqual(errors[0], "elog: elog record has no events to record. Select some with "
                         "-e, or record a program with: elog record -- ./program")
        self.assertEqual(errors[-1], "Try: elog record --help")
        self.assertEqual(self.names("subscriptions", may_be_missing=True), [])
        return errors[1:-1]

    def test_otherwise_missing_list_running_providers(self):
        self.assertEqual(self.missing(), ["No running program has events, see: elog list"])
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        self.assertEqual(self.missing("--wait"),
                         ["Running providers:", "  -e 'counter:*'  1 event"])

    def test_otherwise_missing_list_ten_providers(self):
        process = self.start(harness.program("many_providers"), "12", stdin=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), "published 12\n")
        self.assertEqual(
            self.missing(),
            ["Running providers:", *(f"  -e 'many_{i:05}:*'  10 events" for i in range(10)),
             "  and 2 more: elog list"])

    def test_unknown_option_is_reported_first(self):
        errors = self.run_elog("record", "--bogus", status=2).stderr
        self.assertIn("--bogus", errors)
        self.assertNotIn("no events", errors)

    def test_help_shows_command(self):
        text = self.run_elog("record", "--help").stdout
        self.assertIn("Usage: elog record [OPTIONS] [-- COMMAND ...]\n", text)
        self.assertIn("Examples:\n  elog record -- ./program\n", text)


if __name__ == "__main__":
    harness.main()
