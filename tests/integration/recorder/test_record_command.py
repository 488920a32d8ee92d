#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""elog record -- COMMAND records a command from its first event to its last."""

import signal

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

    def test_surviving_command_is_reported(self):
        result = self.run_elog(
            "record", "-e", "counter:*", "--duration", "200ms", "--", harness.program("counter"),
            "1", "1000", "1000",
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
        self.wait_for(lambda: self.names("providers"), "the command's provider")
        _, errors = self.stop(recording, signal.SIGTERM)
        self.assertIn("ended by signal 15", errors)
        self.summary(errors)
        self.assertEqual(self.names("subscriptions"), [])


if __name__ == "__main__":
    harness.main()
