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
        self.assert_nothing_left()

    def test_hands_arguments_on_as_they_are(self):
        result = self.run_elog(
            "record", "-e", "counter:*", "--", "/bin/sh", "-c",
            f'echo "[$1]"; {harness.program("counter")} 1 1', "name", "-x --",
        )
        self.assertIn("[-x --]", result.stdout)

    def test_mentions_a_command_that_fails_and_keeps_its_own_exit_status(self):
        result = self.run_elog(
            "record", "-e", "counter:*", "--", "/bin/sh", "-c",
            f"{harness.program('counter')} 1 1; exit 7",
        )
        self.assertIn("ended with exit status 7", result.stderr)

    def test_mentions_a_command_that_is_killed(self):
        result = self.run_elog(
            "record", "-e", "counter:*", "--", "/bin/sh", "-c",
            f"{harness.program('counter')} 1 1; kill -9 $$",
        )
        self.assertIn("ended by signal 9", result.stderr)

    def test_that_does_not_exist_fails_in_words(self):
        result = self.run_elog(
            "record", "-e", "counter:*", "-o", self.path("x.elog"), "--", "no-such-command",
            status=1,
        )
        self.assert_one_sentence(result.stderr, "no-such-command", "cannot be started")
        self.assertEqual(self.names("subscriptions", may_be_missing=True), [])

    def test_that_does_not_exist_leaves_an_existing_recording_as_it_was(self):
        with open(self.path("x.elog"), "w", encoding="utf-8") as file:
            file.write("precious")
        self.run_elog("record", "-e", "counter:*", "-o", self.path("x.elog"), "--",
                      "no-such-command", status=1)
        with open(self.path("x.elog"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "precious")

    def test_that_outlives_the_recording_is_mentioned(self):
        result = self.run_elog(
            "record", "-e", "counter:*", "--duration", "200ms", "--", harness.program("counter"),
            "1", "1000", "1000",
        )
        self.assertRegex(result.stderr, r"is still running, as process \d+")

    def test_that_has_no_such_event_fails_in_words(self):
        result = self.run_elog("record", "-e", "counter:nothing", "--", harness.program("counter"),
                               "1", "1", status=1)
        self.assertIn("counter:nothing", result.stderr)
        self.assertEqual(self.names("subscriptions"), [])

    def test_ended_by_a_signal_passes_it_on_and_takes_the_last_events(self):
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
