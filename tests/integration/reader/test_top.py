#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""elog top on a terminal, whose keys and screen the tests emulate, and without one."""

import codecs
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

import harness

ENTER, ESCAPE, DOWN = "\r", "\x1b", "\x1b[B"
OTHER_SCREEN, FIRST_SCREEN = "\x1b[?1049h", "\x1b[?1049l"
NO_CURSOR, CURSOR = "\x1b[?25l", "\x1b[?25h"
CONTROL = re.compile(r"\x1b\[(\??)([0-9;]*)([A-Za-z])")


def scaled(number):
    """A number below 99,950 as top shows it."""
    return str(number) if number < 1000 else f"{number / 1000:.1f}k"


class Screen:
    """The part of a terminal that elog top needs. Rejects unknown control sequences."""

    def __init__(self, rows, columns):
        self.rows, self.columns = rows, columns
        self.lines = [""] * rows
        self.row = self.column = 0

    def take(self, text):
        while text:
            control = CONTROL.match(text)
            if control:
                self.obey(control[1], control[2], control[3])
                text = text[control.end() :]
                continue
            if text[0] == "\x1b":
                raise AssertionError(f"unknown: {text[:20]!r}")
            self.put(text[0])
            text = text[1:]

    def obey(self, private, number, letter):
        line = self.lines[self.row]
        if letter == "H" and not number:
            self.row = self.column = 0
        elif letter == "K" and not number:
            self.lines[self.row] = line[: self.column]
        elif letter == "J" and not number:
            self.lines[self.row + 1 :] = [""] * (self.rows - self.row - 1)
        elif not (letter == "m" or (private and letter in "hl" and number in ("25", "1049"))):
            raise AssertionError(f"unknown: {private}{number}{letter}")

    def put(self, character):
        if character == "\r":
            self.column = 0
        elif character == "\n":
            self.row += 1
            assert self.row < self.rows, "the screen scrolls"
        else:
            assert self.column < self.columns, f"too long: {self.lines[self.row]}"
            line = self.lines[self.row].ljust(self.column)
            self.lines[self.row] = line[: self.column] + character + line[self.column + 1 :]
            self.column += 1

    def text(self):
        return "\n".join(self.lines)


class OnTerminal(harness.Case):
    def setUp(self):
        super().setUp()
        self.environment.update(TERM="xterm", LC_ALL="C.UTF-8")
        self.environment.pop("NO_COLOR", None)

    def open_top(self, *arguments, rows=24, columns=80):
        self.terminal, self.other = pty.openpty()
        self.addCleanup(os.close, self.terminal)
        self.addCleanup(os.close, self.other)
        self.resize(rows, columns)
        self.modes = termios.tcgetattr(self.other)
        self.decoder = codecs.getincrementaldecoder("utf-8")()
        self.seen = ""
        self.top = self.start(
            harness.ELOG, "top", *arguments, stdin=self.other, stdout=self.other,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )

    def resize(self, rows, columns):
        self.screen = Screen(rows, columns)
        fcntl.ioctl(self.other, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, seconds=0.1):
        if select.select([self.terminal], [], [], seconds)[0]:
            text = self.decoder.decode(os.read(self.terminal, 65536))
            self.seen += text
            self.screen.take(text)
            return True
        return False

    def wait_for_screen(self, pattern):
        end = time.monotonic() + harness.TIMEOUT
        while not (found := re.search(pattern, self.screen.text(), re.M)):
            self.assertIsNone(self.top.poll(), self.screen.text())
            self.assertLess(time.monotonic(), end, f"{pattern}\n{self.screen.text()}")
            self.read()
        return found

    def press(self, keys):
        os.write(self.terminal, keys.encode())

    def assert_restored(self):
        """Requires a restored terminal, and no file left behind."""
        while select.select([self.terminal], [], [], 0.1)[0]:
            self.read()
        self.assertEqual(termios.tcgetattr(self.other), self.modes)
        self.assertGreater(self.seen.count(OTHER_SCREEN), 0)
        self.assertEqual(self.seen.count(OTHER_SCREEN), self.seen.count(FIRST_SCREEN))
        self.assertGreater(self.seen.rfind(CURSOR), self.seen.rfind(NO_CURSOR))
        self.assertGreater(self.seen.rfind(FIRST_SCREEN), self.seen.rfind("\x1b[H"))
        self.assertEqual(self.names("subscriptions"), [])

    def end(self, status=0):
        end = time.monotonic() + harness.TIMEOUT
        while self.top.poll() is None:
            self.assertLess(time.monotonic(), end, self.screen.text())
            self.read()
        self.assertEqual(self.top.returncode, status, self.top.stderr.read())
        self.assert_restored()

    def start_counter(self):
        """Emits counter:count until it is stopped."""
        return self.start_provider(harness.program("counter"), "1", "0", "20")

    def test_shows_rates_then_values_and_quits(self):
        self.start_counter()
        self.open_top("-e", "counter:*", "--interval", "200ms")
        self.wait_for_screen(r"^> counter +[\d.]+k? +[\d.]+[kM]? ")
        self.wait_for_screen(r"^    count +[1-9][\d.]*[kM]? +[\d.]+[kM]? +[▁▂▃▄▅▆▇█]+$")
        self.assertIn("q quit", self.screen.lines[23])
        self.press(DOWN)
        self.wait_for_screen(r"^>   count ")
        self.press(ENTER)
        self.wait_for_screen(r"^counter:count  ")
        self.wait_for_screen(r"^number +u64 +min \d+ +avg [\d.e+]+ +max \d+$")
        self.press(ESCAPE)
        self.wait_for_screen(r"^>   count ")
        self.press("q")
        self.end()

    def test_does_not_update_while_frozen(self):
        self.start_counter()
        self.open_top("-e", "counter:*", "--interval", "100ms")
        self.wait_for_screen(r"^    count +[1-9]")
        self.press(" ")
        self.wait_for_screen(r"frozen")
        while self.read():  # the rest of this screen
            pass
        before = self.seen
        for _ in range(3):
            self.read()
        self.assertEqual(self.seen, before)
        self.press(" ")
        self.wait_for_screen(r"\A(?!.*frozen)")
        self.press("q")
        self.end()

    def test_pauses_the_events_of_programs(self):
        program = self.start_counter()
        self.open_top("-e", "counter:*", "--interval", "100ms")
        self.wait_for_screen(r"^    count +[1-9]")
        (provider,) = self.providers_of(program.pid)
        self.assertNotEqual(provider.gate()[0] & 0xFFFF, 0)
        self.press("p")
        self.wait_for_screen(r"\A.*paused")
        self.assertEqual(provider.gate()[0] & 0xFFFF, 0)
        self.wait_for_screen(r"^    count +0 ")
        self.press("p")
        self.wait_for_screen(r"\A(?!.*paused)")
        self.wait_for_screen(r"^    count +[1-9]")
        self.press("q")
        self.end()

    def test_follows_the_size_of_the_terminal(self):
        self.start_counter()
        self.open_top("-e", "counter:*", "--interval", "100ms")
        self.wait_for_screen(r"^    count +[1-9]")
        self.assertNotIn("BYTES/S", self.screen.text())
        self.resize(40, 140)
        self.wait_for_screen(r"BYTES/S")
        self.wait_for_screen(r"q quit.*\Z")
        self.press("q")
        self.end()

    def test_restores_terminal_on_signal(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            with self.subTest(signal=number):
                self.open_top("--interval", "100ms")
                self.wait_for_screen(r"No events yet")
                self.top.send_signal(number)
                self.end()

    def test_interrupt_key_ends_it(self):
        self.open_top()
        self.wait_for_screen(r"No events yet")
        self.press("\x03")
        self.end()

    def test_restores_terminal_while_stopped(self):
        self.start_counter()
        self.open_top("-e", "counter:*", "--interval", "100ms")
        self.wait_for_screen(r"^    count +[1-9]")
        # A session leader's group is orphaned: the terminal's key would not stop it.
        self.top.send_signal(signal.SIGTSTP)
        end = time.monotonic() + harness.TIMEOUT
        while FIRST_SCREEN not in self.seen:
            self.assertLess(time.monotonic(), end)
            self.read()
        self.top.send_signal(signal.SIGCONT)
        while self.seen.count(OTHER_SCREEN) < 2:
            self.assertLess(time.monotonic(), end)
            self.read()
        self.wait_for_screen(r"^    count +[1-9]")
        self.press("q")
        self.end()

    def test_restores_terminal_after_error(self):
        for part in (0, 0.001, 0.5):  # truncated to nothing, within the mapped part, after the mapped part
            self.open_top("--interval", "100ms")
            self.wait_for_screen(r"No events yet")
            (name,) = self.names("subscriptions")
            path = os.path.join(self.directory, "subscriptions", name)
            os.truncate(path, int(os.path.getsize(path) * part))
            end = time.monotonic() + harness.TIMEOUT
            while self.top.poll() is None:
                self.assertLess(time.monotonic(), end, self.screen.text())
                self.read()
            self.assertEqual(self.top.returncode, 1)
            self.expect(self.top, 1)
            self.assert_one_message(self.top.stderr.read(), "cut short")
            self.assert_restored()

    def test_has_no_colours_invisible_on_light_background(self):
        self.start_counter()
        self.open_top("-e", "counter:*", "--interval", "100ms")
        self.wait_for_screen(r"^    count +[1-9]")
        self.press(DOWN + ENTER)
        self.wait_for_screen(r"^number +u64 +min ")
        self.press(" ")
        self.wait_for_screen(r"frozen")
        self.press("q")
        self.end()
        # Bold, faint, reversed, red, magenta, and green (for bars only).
        codes = set(re.findall(r"\x1b\[([\d;]*)m", self.seen))
        self.assertLessEqual(codes, {"0", "1", "2", "7", "1;31", "32", "1;35"})
        self.assertIn("7", codes)
        for painted in re.findall(r"\x1b\[32m([^\x1b]*)", self.seen):
            self.assertRegex(painted, r"\A[ ▁▂▃▄▅▆▇█▏▎▍▌▋▊▉]*\Z")

    def test_has_no_colours_with_no_color(self):
        self.start_counter()
        self.environment["NO_COLOR"] = "1"
        self.open_top("-e", "counter:*", "--interval", "100ms")
        self.wait_for_screen(r"^    count +[1-9]")
        self.press("q")
        self.end()
        # The reset of all attributes belongs to restoring the terminal.
        self.assertEqual(re.findall(r"\x1b\[(?!0m)[\d;]*m", self.seen), [])

    def test_counts_only_selected_events(self):
        self.start_counter()
        self.open_top("-e", "counter:*", "--where", "worker > 99", "--interval", "100ms")
        self.wait_for_screen(r"^> counter +0 +0 ")
        self.press("q")
        self.end()


class WithoutTerminal(harness.Case):
    def test_is_an_error_that_suggests_alternatives(self):
        errors = self.run_elog("top", status=2).stderr
        self.assert_one_message(errors, "--iterations", "elog agg --interval", "elog stat")

    def test_requires_terminal_for_keys(self):
        terminal, other = pty.openpty()
        self.addCleanup(os.close, terminal)
        self.addCleanup(os.close, other)
        result = self.run_elog("top", status=1, stdin=subprocess.DEVNULL, stdout=other)
        self.assert_one_message(result.stderr, "Standard input is no terminal")

    def test_prints_requested_number_of_screens(self):
        self.start_provider(harness.program("counter"), "1", "0", "20")
        output = self.run_elog("top", "-e", "counter:*", "--iterations", "3", "--interval", "300ms").stdout
        frames = output.split("\n\n")
        self.assertEqual(len(frames), 3, output)
        for frame in frames:
            self.assertTrue(frame.startswith("elog top  counter:*"), frame)
        self.assertRegex(frames[2], r"(?m)^    count +[1-9][\d.]*[kM]? ")
        self.assertNotIn("\x1b", output)
        self.assertNotIn("q quit", output)

    def test_pattern_without_match_is_an_error_unless_waiting(self):
        result = self.run_elog("top", "-e", "absent:*", "--iterations", "1", status=1)
        self.assert_one_message(result.stderr, "absent:*")
        output = self.run_elog(
            "top", "-e", "absent:*", "--iterations", "1", "--interval", "100ms", "--wait"
        ).stdout
        self.assertIn("No events yet", output)

    def test_losses_are_counted_with_their_provider(self):
        top = self.start(
            harness.ELOG, "top", "-e", "counter:*", "--wait", "--buffer-size", "128K",
            "--iterations", "300", "--interval", "100ms",
        )
        self.wait_for(lambda: self.is_mapped(top, "subscriptions"), "a subscription")
        # A recorder that is stopped as long loses as many.
        recording = self.start_recording("-e", "counter:*", "--wait", "--buffer-size", "128K",
                                         "-o", self.path("run.elog"))
        for process in (top, recording):
            process.send_signal(signal.SIGSTOP)
        # One ring has room for slightly fewer events: the rest is lost.
        attempted = 11500
        cpu = min(os.sched_getaffinity(0))
        self.finish(self.start("taskset", "-c", str(cpu), harness.program("counter"), "1",
                               str(attempted)))
        for process in (top, recording):
            process.send_signal(signal.SIGCONT)
        _, _, lost = self.summary(self.stop(recording)[1])
        self.assertGreater(lost, 0)
        shown = ("", "")
        while shown != (scaled(attempted - lost), scaled(lost)):
            line = top.stdout.readline()
            self.assertNotEqual(line, "", shown)
            found = re.match(r"  counter +\S+ +(\S+) +(\S+)", line)
            shown = found.groups() if found else shown
        self.stop(top)

    def test_interval_that_is_too_short_is_a_usage_error(self):
        self.run_elog("top", "--interval", "1ms", "--iterations", "1", status=2)


if __name__ == "__main__":
    harness.main()
