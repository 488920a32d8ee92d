#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""elog record -o - | elog print -: events are printed while they are recorded, and each side ends in
order when the other one does."""

import os
import signal

import harness

# Events of a program that does not end; the delay between two is 100 ms.
SLOW = harness.program("counter"), "1", "0", "100000"


class Streams(harness.Case):
    def start_stream(self, *options, record=("-e", "counter:*"), first=()):
        """(recorder, printer) with a pipe between them."""
        recorder = self.start(harness.ELOG, "record", "-o", "-", *record, *first, encoding=None)
        printer = self.start(harness.ELOG, "print", "-", *options, stdin=recorder.stdout,
                             encoding=None)
        recorder.stdout.close()  # only the printer reads it
        return recorder, printer

    def read_lines(self, printer, count):
        return [printer.stdout.readline().decode() for _ in range(count)]

    def test_events_are_printed_while_they_are_recorded(self):
        self.start_provider(*SLOW)
        for record in (("-e", "counter:*"), ("-e", "counter:*", "--compress")):
            recorder, printer = self.start_stream(record=record)
            for line in self.read_lines(printer, 5):
                self.assertIn("counter:count", line)
            self.assertIsNone(recorder.poll())
            self.assertIsNone(printer.poll())
            recorder.terminate()
            rest = printer.stdout.read()
            self.assertEqual((printer.wait(timeout=harness.TIMEOUT), printer.stderr.read()), (0, b""))
            self.assertEqual(recorder.wait(timeout=harness.TIMEOUT), 0)
            events, _, lost = self.summary(recorder.stderr.read().decode())
            self.assertEqual((len(rest.splitlines()) + 5, 0), (events, lost))

    def test_json_lines_and_predicates_are_live(self):
        self.start_provider(*SLOW)
        recorder, printer = self.start_stream("--json", "--where", "number > 2")
        for line in self.read_lines(printer, 3):
            self.assertIn('"event":"count"', line)
        recorder.terminate()
        printer.communicate(timeout=harness.TIMEOUT)
        self.assertEqual(printer.returncode, 0)

    def test_results_are_those_of_a_file(self):
        path = self.path("run.elog")
        shell = self.start("/bin/sh", "-c",
                           '"$0" record -o - -- "$1" 3 5000 | tee "$2" | "$0" print -',
                           harness.ELOG, harness.program("counter"), path)
        printed, _ = self.finish(shell)
        self.assertEqual(printed, self.run_elog("print", path).stdout)
        self.assertIn(": whole: ", self.run_elog("verify", path).stdout)

    def test_limit_ends_both_sides(self):
        self.start_provider(*SLOW)
        recorder, printer = self.start_stream("--limit", "3")
        lines, errors = printer.communicate(timeout=harness.TIMEOUT)
        self.assertEqual((printer.returncode, len(lines.splitlines()), errors), (0, 3, b""))
        self.expect(recorder, 1)
        self.assertEqual(recorder.wait(timeout=harness.TIMEOUT), 1)
        self.assertIn(b"has ended before the recording", recorder.stderr.read())
        self.assertEqual(self.names("subscriptions"), [])

    def test_killed_recorder_leaves_what_has_arrived(self):
        self.start_provider(*SLOW)
        recorder, printer = self.start_stream()
        self.read_lines(printer, 3)
        self.expect(recorder, -signal.SIGKILL)
        recorder.kill()
        _, errors = printer.communicate(timeout=harness.TIMEOUT)
        self.assertEqual(printer.returncode, 0)
        self.assertIn(b"standard input has no end: its recorder was killed", errors)

    def test_signal_of_printer_alone_ends_it(self):
        self.start_provider(*SLOW)
        recorder, printer = self.start_stream()
        self.read_lines(printer, 1)
        printer.terminate()
        _, errors = printer.communicate(timeout=harness.TIMEOUT)
        self.assertEqual(printer.returncode, 0)
        self.assertIn(b"still being written", errors)
        self.expect(recorder, 1)
        self.assertEqual(recorder.wait(timeout=harness.TIMEOUT), 1)

    def test_fifo_is_read_like_standard_input(self):
        fifo = self.path("fifo")
        os.mkfifo(fifo)
        printer = self.start(harness.ELOG, "print", fifo, encoding=None)
        with open(fifo, "wb") as pipe:
            self.run_elog("record", "-o", "-", "--", harness.program("counter"), "1", "100",
                          stdout=pipe)
        lines, _ = printer.communicate(timeout=harness.TIMEOUT)
        self.assertEqual((printer.returncode, len(lines.splitlines())), (0, 100))

    def test_names_of_no_event_are_reported_at_the_end(self):
        recorder, printer = self.start_stream("--where", "nonsense == 1", record=(),
                                              first=("--", harness.program("counter"), "1", "10"))
        self.expect(printer, 2)
        _, errors = printer.communicate(timeout=harness.TIMEOUT)
        self.assertEqual(printer.returncode, 2)
        self.assertIn(b"nonsense", errors)
        self.assertEqual(recorder.wait(timeout=harness.TIMEOUT), 0)


if __name__ == "__main__":
    harness.main()
