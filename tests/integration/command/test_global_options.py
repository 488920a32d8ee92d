#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Options of all commands, before and after the command's name: --quiet, --verbose, --color, and
--json before it.
"""

import os
import pty
import re
import signal

import harness

NAME = re.compile(r"\x1b\[1mcounter:count\x1b\[0m")


class GlobalOptions(harness.Case):
    def setUp(self):
        super().setUp()
        self.environment.pop("NO_COLOR", None)
        self.environment["TERM"] = "xterm"

    def record(self, *options, before=()):
        """The standard error of a recording of ten events."""
        return self.run_elog(
            *before, "record", "-e", "counter:*", "--force", "-o", self.path("run.elog"), *options,
            "--", harness.program("counter"), "1", "10").stderr

    def test_quiet_suppresses_summaries_in_every_position(self):
        self.assertEqual(self.summary(self.record())[0], 10)
        for before, after in ((("-q",), ()), (("--quiet",), ()), ((), ("-q",)), ((), ("-wq",)),
                              ((), ("-qw",)), (("--color", "never", "-q"), ("--no-pager",))):
            self.assertEqual(self.record(*after, before=before), "", (before, after))
            shown = self.run_elog("stat", "--json", self.path("run.elog")).stdout
            self.assertIn('"events": 10', shown)

    def test_quiet_keeps_errors(self):
        missing = self.path("missing.elog")
        loud = self.run_elog("print", missing, status=1).stderr
        self.assertEqual(self.run_elog("-q", "print", missing, status=1).stderr, loud)
        self.assertEqual(self.run_elog("print", missing, "-q", status=1).stderr, loud)

    def test_quiet_keeps_losses(self):
        recording = self.start_recording("-e", "counter:*", "--wait", "--buffer-size", "128K", "-q",
                                         "-o", self.path("run.elog"))
        recording.send_signal(signal.SIGSTOP)
        self.finish(self.start(harness.program("counter"), "1", "100000"))
        recording.send_signal(signal.SIGCONT)
        _, errors = self.stop(recording)
        self.assertGreater(self.summary(errors)[2], 0)
        self.assertIn("found no room in the buffers", errors)

    def test_words_after_separator_belong_to_the_command(self):
        script = 'test "$1" = -q && test "$2" = --color'
        result = self.run_elog("record", "-e", "counter:*", "--wait", "-o", self.path("run.elog"),
                               "--", "sh", "-c", script, "sh", "-q", "--color")
        self.assertIsNotNone(harness.SUMMARY.search(result.stderr), result.stderr)
        self.assertNotIn("status", result.stderr)

    def test_values_of_other_options_are_kept(self):
        self.record()
        path = self.path("run.elog")
        # -q and --quiet are templates here, and a file has such a name.
        for word in ("-q", "--quiet", "--no-pager"):
            shown = self.run_elog("print", path, "--format", word).stdout
            self.assertEqual(shown, f"{word}\n" * 10)
            self.run_elog("cut", path, "-o", word, cwd=self.scratch)
            self.assertTrue(os.path.exists(self.path(word)), word)

    def test_verbose_reports_the_route_in_every_position(self):
        for before, after in ((("-v",), ()), (("--verbose",), ()), ((), ("-v",)), ((), ("-wv",))):
            self.assertIn("via memory", self.record(*after, before=before))
        self.assertNotIn("via memory", self.record())

    def test_json_before_the_command(self):
        self.record()
        path = self.path("run.elog")
        expected = self.run_elog("stat", path, "--json").stdout
        self.assertEqual(self.run_elog("--json", "stat", path).stdout, expected)
        self.assertEqual(self.run_elog("-j", "-q", "stat", path).stdout, expected)
        self.assertEqual(self.run_elog("-qj", "stat", path).stdout, expected)
        self.assertTrue(self.run_elog("--json", "list").stdout.startswith("{"))

    def test_color_replaces_the_choice_for_the_output(self):
        self.record()
        path = self.path("run.elog")
        plain = self.run_elog("print", path).stdout
        self.assertNotIn("\x1b", plain)
        for words in (("--color", "always", "print", path), ("print", path, "--color=always")):
            colored = self.run_elog(*words).stdout
            self.assertEqual(len(NAME.findall(colored)), 10)
            self.assertEqual(re.sub(r"\x1b\[[\d;]*m", "", colored), plain)
        self.environment["NO_COLOR"] = "1"
        self.assertIn("\x1b", self.run_elog("print", path, "--color", "always").stdout)
        self.assertNotIn("\x1b", self.run_elog("print", path, "--color", "auto").stdout)

    def print_on_terminal(self, *options):
        terminal, other = pty.openpty()
        self.run_elog("print", self.path("run.elog"), *options, stdout=other)
        os.close(other)
        text = b""
        try:
            while part := os.read(terminal, 65536):
                text += part
        except OSError:  # EIO: the other end is closed
            pass
        os.close(terminal)
        return text.decode()

    def test_print_has_colors_on_a_terminal(self):
        self.record()
        self.assertEqual(len(NAME.findall(self.print_on_terminal())), 10)
        self.assertNotIn("\x1b", self.print_on_terminal("--color", "never"))
        self.environment["NO_COLOR"] = "1"
        self.assertNotIn("\x1b", self.print_on_terminal())

    def test_invalid_colors_are_rejected(self):
        for words in (("list", "--color", "red"), ("--color=red", "list"), ("list", "--color=")):
            result = self.run_elog(*words, status=2)
            self.assert_one_message(result.stderr, "--color is auto, always or never")
        for words in (("list", "--color"), ("--color",)):
            result = self.run_elog(*words, status=2)
            self.assert_one_message(result.stderr, "--color needs a value")

    def test_values_of_flags_are_rejected(self):
        for word in ("--quiet=1", "--verbose=", "--no-pager=yes"):
            for words in (("list", word), (word, "list")):
                result = self.run_elog(*words, status=2)
                self.assert_one_message(result.stderr, f"'{word}' gives a value to a flag")

    def test_completion_offers_them_in_every_position(self):
        def candidates(*words):
            answer = self.run_elog("__complete", "--", *words).stdout
            return [line.split("\t")[0] for line in answer.splitlines()]

        self.assertEqual(candidates("--co"), ["--color"])
        self.assertEqual(candidates("--quiet", "--color", "never", "pri"), ["print"])
        self.assertEqual(candidates("print", "--no-"), ["--no-pager"])
        self.assertEqual(candidates("print", "--color", ""), ["auto", "always", "never"])
        self.assertEqual(candidates("-q", "print", "--color=a"), ["--color=auto", "--color=always"])


if __name__ == "__main__":
    harness.main()
