#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What long work says of how far it is: a line on a terminal that is gone at the end, and nothing
anywhere else."""

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

READING = re.compile(r"\relog: (\d+)% of [\d.]+[kM]B read  [\d.]+[kMG]?B/s  \d+ s left\x1b\[K")
RECORDING = re.compile(
    r"\relog: \d+ s  ([\d.]+k?) events  [\d.]+k?B  0 lost  [\d.]+k? events/s\x1b\[K"
)
# Work is long if it lies stopped for that time.
LONG = 0.7
ATTEMPTS = 50


class Progress(harness.Case):
    def setUp(self):
        super().setUp()
        self.environment.update(TERM="xterm", LC_ALL="C.UTF-8")
        self.environment.pop("NO_COLOR", None)

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
        while self.read(0.1):
            pass
        return self.seen

    def left(self):
        """What one sees of it at last."""
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

    def record(self, name="run.elog"):
        self.run_elog("record", "-e", "counter:*", "--buffer-size", "64M", "-o", self.path(name),
                      "--", harness.program("counter"), str(harness.THREADS),
                      str(400000 // harness.THREADS))
        return self.path(name)

    @staticmethod
    def bytes_read_by(process):
        try:
            with open(f"/proc/{process.pid}/io", encoding="utf-8") as file:
                return int(re.search(r"rchar: (\d+)", file.read())[1])
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            return 0

    def start_and_stop(self, *arguments, **options):
        """Starts elog, and stops it while it reads a recording. It may have been too quick."""
        process = self.start(harness.ELOG, *arguments, **options)
        end = time.monotonic() + harness.PATIENCE
        while process.poll() is None and self.bytes_read_by(process) < 1 << 20:
            self.assertLess(time.monotonic(), end)
        process.send_signal(signal.SIGSTOP)
        time.sleep(LONG)
        return process

    def run_long(self, *arguments, **options):
        process = self.start_and_stop(*arguments, **options)
        process.send_signal(signal.SIGCONT)
        return self.finish(process)

    def run_until_seen(self, *arguments, **options):
        """Whether it ever shows how far it is; none of the rest of what is seen is in the way."""
        for _ in range(ATTEMPTS):
            self.open_terminal()
            self.run_long(*arguments, stderr=self.other, **options)
            if READING.search(self.read_rest()):
                return
        self.fail(f"{arguments}: {self.seen!r}")

    def test_commands_that_read_files_show_it_and_take_it_away(self):
        path, other = self.record(), self.record("other.elog")
        new = self.path("new.elog")
        for command, said in (
            (("verify", path), ""),
            (("stat", path), ""),
            (("agg", "count() by worker", path), ""),
            (("cut", path, "-o", new), r"\d+ events, \d+ bytes, 0 lost, in .*\n"),
            (("merge", path, other, "-o", new), r"\d+ events, \d+ bytes, 0 lost, in .*\n"),
            (("repair", path, "-o", new), r"\d+ records, \d+ bytes, in .*\n"),
        ):
            with self.subTest(command=command[0]):
                self.run_until_seen(*command)
                self.assertRegex(self.left(), rf"\A{said}\Z")
                self.assertLessEqual(int(READING.search(self.seen)[1]), 100)

    def test_lines_of_records_show_it_beside_a_file_only(self):
        path = self.record()
        with open(self.path("lines"), "w", encoding="utf-8") as lines:
            for command in (("print", path), ("convert", "--to", "jsonl", path)):
                self.run_until_seen(*command, stdout=lines)
                self.assertEqual(self.left(), "")
        # A pipe may lead to the same terminal.
        taker = self.start("/bin/cat", stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        self.open_terminal()
        self.run_long("print", path, stderr=self.other, stdout=taker.stdin)
        self.assertEqual(self.read_rest(), "")

    def test_nothing_is_written_where_there_is_no_terminal(self):
        path = self.record()
        self.assertEqual(self.run_long("verify", path)[1], "")
        with open(self.path("lines"), "w", encoding="utf-8") as lines:
            self.assertEqual(self.run_long("print", path, stdout=lines)[1], "")
        self.environment["TERM"] = "dumb"
        self.open_terminal()
        self.run_long("verify", path, stderr=self.other)
        self.assertEqual(self.read_rest(), "")

    def test_quick_work_is_not_told_of(self):
        path = self.path("small.elog")
        self.run_elog("record", "-e", "counter:*", "-o", path, "--", harness.program("counter"),
                      "1", "10")
        self.open_terminal()
        self.run_elog("verify", path, stderr=self.other)
        self.assertEqual(self.read_rest(), "")

    def test_is_gone_when_it_is_interrupted(self):
        path = self.record()
        for _ in range(ATTEMPTS):
            self.open_terminal()
            with open(self.path("lines"), "w", encoding="utf-8") as lines:
                process = self.start_and_stop("print", path, stdout=lines, stderr=self.other)
            process.send_signal(signal.SIGCONT)
            while not self.read() and process.poll() is None:
                pass
            process.send_signal(signal.SIGINT)
            if process.wait(harness.PATIENCE) == -signal.SIGINT and READING.search(self.seen):
                break
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.assertEqual(self.left(), "")

    def test_recording_to_a_file_shows_what_it_has(self):
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        self.open_terminal()
        self.run_elog("record", "-e", "counter:*", "-o", self.path("run.elog"), "--duration",
                      "1500ms", stderr=self.other)
        shown = RECORDING.findall(self.read_rest())
        self.assertGreaterEqual(len(shown), 2, self.seen)
        self.assertNotEqual(shown[0], shown[-1])
        left = self.left()
        self.assertRegex(left, rf"\A{harness.SUMMARY.pattern}, in .*\n\Z")

    def test_recording_goes_on_while_the_terminal_is_stopped(self):
        path = self.path("run.elog")
        recording = self.start(harness.ELOG, "record", "-e", "counter:*", "-o", path, "--wait",
                               stderr=self.open_terminal())
        self.wait_for(lambda: self.read() and RECORDING.search(self.seen), "the line")
        termios.tcflow(self.other, termios.TCOOFF)
        time.sleep(LONG)
        self.run_program_until_heard(path)
        recording.kill()
        termios.tcflow(self.other, termios.TCOON)

    def run_program_until_heard(self, path):
        self.finish(self.start(harness.program("counter"), "1", "1000"))
        self.wait_for(lambda: self.run_elog("print", path).stdout.count("counter:count") == 1000,
                      "events")

    def test_recording_in_the_background_leaves_the_terminal_alone(self):
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        command = '"$@" -o "$RUN" & wait $!'
        for monitor, is_shown in (("-m", False), ("+m", True)):
            self.open_terminal()
            shell = self.start(
                "/bin/bash", monitor, "-c", command, "bash", harness.ELOG, "record", "-e",
                "counter:*", "--duration", "1s", stdin=self.other, stderr=self.other,
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
                      "1s", stderr=self.other)
        shown = re.findall(r"\r(elog: [^\x1b]*)\x1b\[K", self.read_rest())
        self.assertGreater(len(shown), 0)
        for line in shown:
            self.assertEqual(len(line), 19)

    def test_recording_does_not_mix_it_with_what_others_say(self):
        self.start_provider(harness.program("counter"), "1", "0", "100000")
        for command in (
            ("-o", self.path("run.elog"), "--", "/bin/sleep", "1"),
            ("--duration", "1s"),
        ):
            self.open_terminal()
            self.run_elog("record", "-e", "counter:*", *command, stderr=self.other,
                          stdout=self.other)
            self.assertNotIn("\x1b", self.read_rest())


if __name__ == "__main__":
    harness.main()
