#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Progress of long operations: a line on a terminal that is removed at the end, and no output
elsewhere.
"""

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

READING = re.compile(r"\relog: (\d+)% of [\d.]+[kMGT]?B read  [\d.]+[kMGT]?B/s  \d+ s left\x1b\[K")
RECORDING = re.compile(
    r"\relog: \d+ s  ([\d.]+k?) events  [\d.]+k?B  0 lost  [\d.]+k? events/s\x1b\[K"
)
# The delay of the line, unless EVENTLOG_TEST_PROGRESS_MS sets another.
LINE_TIMEOUT = 0.5
ENDLESS = 1 << 42


class Progress(harness.Case):
    def setUp(self):
        super().setUp()
        self.environment.update(TERM="xterm", LC_ALL="C.UTF-8")
        self.environment.pop("NO_COLOR", None)
        # The line appears at once, and again at each step.
        self.environment["EVENTLOG_TEST_PROGRESS_MS"] = "0"

    def open_terminal(self, columns=80):
        self.terminal, self.other = pty.openpty()
        self.addCleanup(os.close, self.terminal)
        self.addCleanup(os.close, self.other)
        fcntl.ioctl(self.other, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.seen = ""
        return self.other

    def read(self, seconds=0.0):
        if select.select([self.terminal], [], [], seconds)[0]:
            self.seen += os.read(self.terminal, 65536).decode()
            return True
        return False

    def read_rest(self):
        """All that has been written. Bytes written to one end are readable at the other at once."""
        while self.read(0.02):
            pass
        return self.seen

    def wait_until_shown(self, is_enough):
        def look():
            self.read(0.1)
            return is_enough()
        self.wait_for(look, "the line")

    def left(self):
        """The final content of the screen."""
        lines = [""]
        column = 0
        rest = self.read_rest()
        while rest:
            if rest.startswith("\x1b[K"):
                lines[-1], rest = lines[-1][:column], rest[3:]
                continue
            self.assertNotEqual(rest[0], "\x1b", rest[:20])
            if rest[0] == "\r":
                column = 0
            elif rest[0] == "\n":
                lines.append("")
                column = 0
            else:
                lines[-1] = lines[-1][:column] + rest[0] + lines[-1][column + 1 :]
                column += 1
            rest = rest[1:]
        return "\n".join(lines)

    def record(self, name="run.elog", events=500):
        """Records so few events that a terminal has room for all lines."""
        return self.create_once(name, lambda path: self.run_elog(
            "record", "-e", "counter:*", "-o", path, "--", harness.program("counter"),
            str(harness.THREADS), str(events)))

    def endless(self):
        """A recording without end block, followed by zeros, whose reading takes long."""
        path = self.record("endless.elog", events=10)
        os.truncate(path, ENDLESS)
        return path

    def test_file_commands_show_and_erase_it(self):
        path, other = self.record(), self.record("other.elog")
        new = self.path("new.elog")
        for command, said in (
            (("verify", path), ""),
            (("stat", path), ""),
            (("agg", "count() by worker", path), ""),
            (("cut", path, "--force", "-o", new), r"\d+ events, 0 lost, in .* \(\d+ bytes\)\n"),
            (("merge", path, other, "--force", "-o", new), r"\d+ events, 0 lost, in .* \(\d+ bytes\)\n"),
            (("repair", path, "--force", "-o", new), r"\d+ records, \d+ bytes, in .*\n"),
        ):
            with self.subTest(command=command[0]):
                self.open_terminal()
                self.run_elog(*command, stderr=self.other)
                self.assertRegex(self.left(), rf"\A{said}\Z")
                self.assertRegex(self.seen, READING)
                self.assertLessEqual(int(READING.search(self.seen)[1]), 100)

    def test_shown_with_lines_only_if_output_is_a_file(self):
        path = self.record()
        with open(self.path("lines"), "w", encoding="utf-8") as lines:
            for command in (("print", path), ("convert", "--to", "jsonl", path)):
                self.open_terminal()
                self.run_elog(*command, stdout=lines, stderr=self.other)
                self.assertEqual(self.left(), "")
                self.assertRegex(self.seen, READING)
        # A pipe may lead to the same terminal.
        taker = self.start("/bin/cat", stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        self.open_terminal()
        self.run_elog("print", path, stderr=self.other, stdout=taker.stdin)
        self.assertEqual(self.read_rest(), "")

    def test_nothing_is_written_without_terminal(self):
        path = self.record()
        self.assertEqual(self.run_elog("verify", path).stderr, "")
        with open(self.path("lines"), "w", encoding="utf-8") as lines:
            self.assertEqual(self.run_elog("print", path, stdout=lines).stderr, "")
        self.environment["TERM"] = "dumb"
        self.open_terminal()
        self.run_elog("verify", path, stderr=self.other)
        self.assertEqual(self.read_rest(), "")

    def test_short_operations_show_nothing(self):
        path = self.record()
        self.environment["EVENTLOG_TEST_PROGRESS_MS"] = "3600000"
        self.open_terminal()
        self.run_elog("verify", path, stderr=self.other)
        self.assertEqual(self.read_rest(), "")

    def test_appears_after_half_a_second_and_is_erased_on_interrupt(self):
        path = self.endless()
        del self.environment["EVENTLOG_TEST_PROGRESS_MS"]
        for number in (signal.SIGINT, signal.SIGTERM):
            self.open_terminal()
            begin = time.monotonic()
            process = self.start(harness.ELOG, "verify", path, stderr=self.other)
            self.wait_until_shown(lambda: READING.search(self.seen))
            self.assertGreaterEqual(time.monotonic() - begin, LINE_TIMEOUT)
            self.assertIsNone(process.poll())
            process.send_signal(number)
            self.assertEqual(process.wait(harness.TIMEOUT), -number)
            self.assertEqual(self.left(), "")

    def test_invalid_delay_is_an_error(self):
        for value in ("", "soon", "-1", "3600001"):
            self.environment["EVENTLOG_TEST_PROGRESS_MS"] = value
            result = self.run_elog("verify", self.path("run.elog"), status=1)
            self.assert_one_message(result.stderr, "EVENTLOG_TEST_PROGRESS_MS", f"'{value}'")

    def test_recording_to_a_file_shows_counts(self):
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        recording = self.start(harness.ELOG, "record", "-e", "counter:*", "-o",
                               self.path("run.elog"), stderr=self.open_terminal())
        self.wait_until_shown(lambda: len(set(RECORDING.findall(self.seen))) >= 2)
        recording.send_signal(signal.SIGINT)
        self.wait_until_shown(lambda: recording.poll() is not None)
        self.finish(recording)
        left = self.left()
        self.assertRegex(left, rf"\A{harness.SUMMARY.pattern}, in .*\n\Z")

    def test_recording_continues_while_terminal_is_stopped(self):
        path = self.path("run.elog")
        recording = self.start(harness.ELOG, "record", "-e", "counter:*", "-o", path, "--wait",
                               stderr=self.open_terminal())
        self.wait_until_shown(lambda: RECORDING.search(self.seen))
        termios.tcflow(self.other, termios.TCOOFF)
        # The recorder polls before or after it has written the line.
        for events in (1000, 2000):
            self.run_program_until_recorded(path, events)
        recording.kill()
        termios.tcflow(self.other, termios.TCOON)

    def run_program_until_recorded(self, path, events):
        self.finish(self.start(harness.program("counter"), "1", "1000"))
        self.wait_for(lambda: self.run_elog("print", path).stdout.count("counter:count") == events,
                      "events")

    def test_background_recording_does_not_write_to_terminal(self):
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        command = '"$@" --force -o "$RUN" & wait $!'
        for monitor, is_shown in (("-m", False), ("+m", True)):
            self.open_terminal()
            shell = self.start(
                "/bin/bash", monitor, "-c", command, "bash", harness.ELOG, "record", "-e",
                "counter:*", "--duration", "300ms", stdin=self.other, stderr=self.other,
                env={**self.environment, "RUN": self.path("run.elog")}, start_new_session=True,
                preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
            )
            self.finish(shell)
            self.assertEqual(RECORDING.search(self.read_rest()) is not None, is_shown, self.seen)
            self.assertRegex(self.seen, harness.SUMMARY)

    def test_recording_is_never_wider_than_the_terminal(self):
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        self.open_terminal(columns=20)
        self.run_elog("record", "-e", "counter:*", "-o", self.path("run.elog"), "--duration",
                      "300ms", stderr=self.other)
        shown = re.findall(r"\r(elog: [^\x1b]*)\x1b\[K", self.read_rest())
        self.assertGreater(len(shown), 0)
        for line in shown:
            self.assertEqual(len(line), 19)

    def test_recording_does_not_mix_it_with_other_output(self):
        self.start_provider(harness.program("counter"), "1", "0", "100000")
        for command in (
            ("-o", self.path("run.elog"), "--all-processes", "--", "/bin/sleep", "0.3"),
            ("--duration", "300ms"),
        ):
            self.open_terminal()
            self.run_elog("record", "-e", "counter:*", *command, stderr=self.other,
                          stdout=self.other)
            self.assertNotIn("\x1b[K", self.read_rest())


if __name__ == "__main__":
    harness.main()
