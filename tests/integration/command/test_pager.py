#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The pager, on a terminal: which one is started, when, and what happens at its end."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
import unittest

import harness

EVENTS = 200


class Pager(harness.Case):
    def setUp(self):
        super().setUp()
        self.environment.update(TERM="xterm", NO_COLOR="1")
        self.environment.pop("ELOG_PAGER", None)
        self.environment.pop("PAGER", None)
        self.file = self.path("run.elog")
        self.run_elog("record", "-e", "counter:*", "-o", self.file, "--",
                      harness.program("counter"), "1", str(EVENTS))
        self.lines = self.run_elog("print", self.file).stdout.splitlines()
        self.assertEqual(len(self.lines), EVENTS)

    def start_on_terminal(self, *words, **options):
        self.terminal, other = pty.openpty()
        self.addCleanup(os.close, self.terminal)
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 200, 0, 0))
        settings = {"stdin": other, "stdout": other, "stderr": other, **options}
        process = self.start(
            harness.ELOG, *words, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(other, termios.TIOCSCTTY, 0), pass_fds=[other],
            **settings)
        os.close(other)
        self.seen = b""
        return process

    def read(self):
        """Whether the terminal is still open."""
        if select.select([self.terminal], [], [], 0.05)[0]:
            try:
                part = os.read(self.terminal, 65536)
            except OSError:  # EIO: the other end is closed
                return False
            self.seen += part
            return part != b""
        return True

    def read_until(self, pattern):
        end = time.monotonic() + harness.TIMEOUT
        while pattern not in self.seen:
            self.assertLess(time.monotonic(), end, self.seen)
            self.assertTrue(self.read(), self.seen)

    def shown(self, *words, status=0, **options):
        """The lines on the terminal when the command has ended."""
        process = self.start_on_terminal(*words, **options)
        process.expected = {status}
        end = time.monotonic() + harness.TIMEOUT
        while self.read():
            self.assertLess(time.monotonic(), end, self.seen)
        self.assertEqual(process.wait(harness.TIMEOUT), status)
        return self.seen.decode().splitlines()

    def marked(self):
        return ["P:" + line for line in self.lines]

    def test_is_that_of_the_environment(self):
        self.environment["PAGER"] = "sed s/^/P:/"
        self.assertEqual(self.shown("print", self.file), self.marked())
        self.environment["ELOG_PAGER"] = "sed s/^/E:/"
        self.assertEqual(self.shown("print", self.file), ["E:" + line for line in self.lines])
        self.environment["ELOG_PAGER"] = ""
        self.assertEqual(self.shown("print", self.file), self.lines)

    def test_may_be_a_command_for_the_shell(self):
        self.environment["PAGER"] = "sed 's/^/P:/' | tail -n 3"
        self.assertEqual(self.shown("print", self.file), self.marked()[-3:])

    def test_is_less_with_usual_options(self):
        with open(self.path("less"), "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\necho "less $LESS $LV"\nexec cat\n')
        os.chmod(self.path("less"), 0o755)
        self.environment["PATH"] = f"{self.scratch}:{os.environ['PATH']}"
        self.environment.pop("LESS", None)
        self.environment.pop("LV", None)
        self.assertEqual(self.shown("print", self.file), ["less FRX -c", *self.lines])
        self.environment["LESS"] = "R"
        self.assertEqual(self.shown("print", self.file)[0], "less R -c")

    @unittest.skipUnless(os.geteuid() == 0, "for root")
    def test_less_of_sudo_starts_no_shell(self):
        self.environment["PAGER"] = "echo \"secure $LESSSECURE\"; cat"
        for variable in ("SUDO_UID", "PKEXEC_UID", "DOAS_USER", "LESSSECURE"):
            self.environment.pop(variable, None)
        self.assertEqual(self.shown("print", self.file)[0], "secure ")
        self.environment["SUDO_UID"] = "1000"
        self.assertEqual(self.shown("print", self.file)[0], "secure 1")

    def test_output_is_complete_without_a_pager(self):
        for command in ("", " ", "cat", "/no/such/pager", "no_such_pager -x", "no_such_pager '-x'",
                        "if then"):
            self.environment["PAGER"] = command
            shown = self.shown("print", self.file)
            # A shell may name the command that it does not find.
            self.assertEqual(shown[-EVENTS:], self.lines, command)
            self.assertLessEqual(len(shown), EVENTS + 1, command)

    def test_output_is_complete_if_pager_fails_before_reading(self):
        for command in ("false", "false '-x'", "kill -SEGV $$"):
            self.environment["PAGER"] = command
            shown = self.shown("print", self.file)
            self.assertEqual(shown[-EVENTS:], self.lines, command)
            self.assertRegex("".join(shown[:-EVENTS]),
                             r"elog: The pager '.*' .* has read nothing: the output follows")

    def test_pager_that_fails_later_is_an_error(self):
        # More than the pager's pipe holds, so that a part of the output is lost.
        self.run_elog("record", "-e", "counter:*", "--force", "-o", self.file, "--",
                      harness.program("counter"), "1", "20000")
        for command, part in (("head -n 2; exit 3", "exit status 3"),
                              ("head -n 2; kill -SEGV $$", "(signal 11|exit status 139)")):
            self.environment["PAGER"] = command
            shown = self.shown("print", self.file, status=1)
            self.assertRegex(shown[-1], f"^elog: The pager '.*' .*{part} before it had read all")

    def test_status_of_pager_that_has_read_everything_is_ignored(self):
        self.environment["PAGER"] = "cat; exit 3"
        self.assertEqual(self.shown("print", self.file), self.lines)

    def test_is_not_started_for_other_outputs(self):
        self.environment["PAGER"] = "sed s/^/P:/"
        self.assertEqual(self.shown("print", self.file, "--no-pager"), self.lines)
        self.assertEqual(self.shown("--no-pager", "print", self.file), self.lines)
        self.assertEqual(self.shown("print", self.file, stdin=subprocess.DEVNULL), self.lines)
        self.assertEqual(self.shown("print", self.file, "--follow"), self.lines)
        self.environment["TERM"] = "dumb"
        self.assertEqual(self.shown("print", self.file), self.lines)
        self.environment["TERM"] = "xterm"
        result = self.run_elog("print", self.file)
        self.assertEqual(result.stdout.splitlines(), self.lines)
        live = self.shown("record", "-e", "counter:*", "--", harness.program("counter"), "1", "3")
        self.assertFalse([line for line in live if line.startswith("P:")], live)

    def test_shows_lists_and_schemas(self):
        self.environment["PAGER"] = "sed s/^/P:/"
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        for words in (("list",), ("schema", "show", self.file)):
            shown = self.shown(*words)
            self.assertGreater(len(shown), 1)
            self.assertEqual([line for line in shown if not line.startswith("P:")], [])

    def test_keeps_colors_and_width_of_the_terminal(self):
        self.environment.pop("NO_COLOR")
        self.environment["PAGER"] = "sed s/^/P:/"
        self.assertIn("\x1b[1mcounter:count\x1b[0m", self.shown("print", self.file)[0])
        plain = self.shown("print", self.file, "--color", "never")
        self.assertEqual(plain, self.marked())

    def test_its_end_ends_the_command_without_an_error(self):
        self.environment["PAGER"] = "head -n 2"
        self.assertEqual(self.shown("print", self.file), self.lines[:2])
        self.environment["PAGER"] = "true"
        self.assertEqual(self.shown("print", self.file), [])

    def test_errors_are_shown_in_it_and_keep_the_status(self):
        harness.damage_records(self.file)
        self.environment["PAGER"] = "sed s/^/P:/"
        shown = self.shown("print", self.file, status=1)
        self.assertTrue(shown[-1].startswith("P:elog: "), shown[-1])
        # Before the output begins there is no pager.
        missing = self.shown("print", self.path("missing.elog"), status=1)
        self.assertTrue(missing[0].startswith("elog: "), missing)

    def test_is_awaited_after_an_interrupt(self):
        """A pager that ignores the key keeps the terminal until it ends by itself."""
        with open(self.path("slow"), "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\ntrap "" INT\ncat >/dev/null\necho all read\nread key <&2\n'
                       'echo "got $key"\n')
        os.chmod(self.path("slow"), 0o755)
        self.environment["PAGER"] = self.path("slow")
        process = self.start_on_terminal("print", self.file)
        process.expected = {-signal.SIGINT}
        self.read_until(b"all read")
        os.write(self.terminal, b"\x03")
        time.sleep(0.2)
        self.assertIsNone(process.poll())
        os.write(self.terminal, b"x\n")
        self.read_until(b"got x")
        self.assertEqual(process.wait(harness.TIMEOUT), -signal.SIGINT)


if __name__ == "__main__":
    harness.main()
