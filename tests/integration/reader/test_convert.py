#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""elog convert writes the events that elog print shows."""

import csv
import io
import json
import os
import re
import signal
import subprocess
import unittest

import harness


class Convert(harness.Case):
    def record(self):
        return self.create_once("run.elog", lambda path: self.run_elog(
            "record", "-e", "counter:*", "-o", path, "--", harness.program("counter"), "3", "4000",
        ))

    def test_does_not_write_a_file_that_another_command_writes(self):
        path = self.record()
        output = self.path("out.jsonl")
        first = self.start(harness.ELOG, "convert", "--to", "jsonl", "-", "-o", output,
                           stdin=subprocess.PIPE, encoding=None)
        self.wait_for(lambda: os.path.exists(output + ".unfinished"), "the temporary file")
        result = self.run_elog("convert", "--to", "jsonl", path, "-o", output, status=1)
        self.assert_one_message(result.stderr, "is being written by another")
        with open(path, "rb") as file:
            first.communicate(file.read(), timeout=harness.TIMEOUT)
        self.assertEqual(first.returncode, 0)
        with open(output, encoding="utf-8") as file:
            self.assertEqual(file.read(),
                             self.run_elog("convert", "--to", "jsonl", path).stdout)

    def test_does_not_write_through_a_symbolic_link(self):
        path = self.record()
        with open(self.path("precious"), "w", encoding="utf-8") as file:
            file.write("precious")
        os.symlink("precious", self.path("out.jsonl.unfinished"))
        self.run_elog("convert", "--to", "jsonl", path, "-o", self.path("out.jsonl"))
        with open(self.path("precious"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "precious")

    def printed(self, path, *options):
        """(thread, number, check, worker, text) of each line."""
        found = [
            re.search(r"-(\d+) counter:count number=(\d+) check=(\d+) worker=(\d+) text=\"(.*)\"$",
                      line)
            for line in self.run_elog("print", path, *options).stdout.splitlines()
            if not line.startswith("--")
        ]
        return [(*map(int, row.groups()[:4]), row[5]) for row in found]

    def lines(self, path, *options):
        output = self.run_elog("convert", "--to", "jsonl", path, *options).stdout
        return [json.loads(line) for line in output.splitlines()]

    def rows(self, path, *options):
        output = self.run_elog("convert", "--to", "csv", path, *options).stdout
        return list(csv.DictReader(io.StringIO(output)))

    @staticmethod
    def of_line(line):
        fields = line["fields"]
        return (line["tid"], fields["number"], fields["check"], fields["worker"],
                fields["text"])

    @staticmethod
    def of_row(row):
        return (*(int(row[name]) for name in ("tid", "number", "check", "worker")), row["text"])

    def test_has_every_event_with_its_values(self):
        path = self.record()
        expected = self.printed(path)
        self.assertEqual(len(expected), 12000)
        lines = self.lines(path)
        self.assertEqual([self.of_line(line) for line in lines], expected)
        self.assertEqual({(line["provider"], line["event"]) for line in lines},
                         {("counter", "count")})
        self.assertEqual([self.of_row(row) for row in self.rows(path)], expected)

    def test_has_only_selected_events(self):
        path = self.record()
        expected = self.printed(path, "--where", "worker == 1 && number < 10")
        self.assertEqual(len(expected), 10)
        where = ("--where", "worker == 1 && number < 10")
        self.assertEqual([self.of_line(line) for line in self.lines(path, *where)], expected)
        self.assertEqual([self.of_row(row) for row in self.rows(path, *where)], expected)
        times = [line["time"] for line in self.lines(path)]
        self.assertEqual(times, sorted(times))
        middle = times[len(times) // 2]
        later = self.lines(path, "--since", middle)
        earlier = self.lines(path, "--until", middle)
        self.assertEqual(len(earlier) + len(later), len(times))
        self.assertEqual([line["time"] for line in later], times[len(earlier):])

    def test_reports_all_losses(self):
        path = self.path("lossy.elog")
        _, events, lost, _ = self.record_with_losses(path, 4, 20000)
        lines = self.lines(path)
        self.assertEqual(sum(line.get("lost", 0) for line in lines), lost)
        self.assertEqual(sum("fields" in line for line in lines), events)
        rows = self.rows(path)
        self.assertEqual(sum(int(row["lost"] or 0) for row in rows), lost)
        self.assertEqual(sum(row["event"] != "" for row in rows), events)
        self.assertEqual({len(row) for row in rows}, {18})

    @unittest.skipUnless(harness.can_trace(), "strace cannot trace here")
    def test_reports_events_that_came_after_the_columns_were_chosen(self):
        path, calls = self.path("growing.elog"), self.path("calls")
        # Leaks cannot be searched under a tracer.
        sanitizer = self.environment.get("ASAN_OPTIONS")
        self.environment["ASAN_OPTIONS"] = f"{sanitizer or ''}:detect_leaks=0".lstrip(":")
        self.start_recording("-e", "counter:*", "--wait", "-o", path)

        def convert(*faults):
            return self.start("strace", "-qq", "-o", calls, "-P", path, "-e", "trace=openat",
                              *faults, harness.ELOG, "convert", "--to", "csv", path,
                              start_new_session=True)

        def called():
            with open(calls, encoding="utf-8") as file:
                return file.read()

        self.finish(convert())
        # The second pass opens the file last: it stops there.
        last = called().count("openat(")
        converting = convert("-e", f"inject=openat:signal=SIGSTOP:when={last}")
        self.wait_for(lambda: "stopped by SIGSTOP" in called(), "the second pass")
        self.finish(self.start(harness.program("counter"), "1", "10"))
        self.wait_for(lambda: len(self.printed(path)) == 10, "the events in the file")
        os.killpg(converting.pid, signal.SIGCONT)
        output, errors = self.finish(converting)
        self.assertEqual(output.count(",counter,count,"), 10, output)
        self.assertIn("elog: 10 events were recorded while elog read the file, and the table has no "
                      "columns for their fields. Convert it again after the recording has ended.\n",
                      errors)

    def test_rejects_unsupported_options(self):
        path = self.record()
        result = self.run_elog("convert", "--to", "xml", path, status=2)
        self.assertIn("'xml' is no format", result.stderr)
        self.run_elog("convert", path, status=2)
        self.run_elog("convert", "--to", "csv", path, "--where", "nonsense == 1", status=2)
        result = self.run_elog("convert", "--to", "csv", self.path("missing"), status=1)
        self.assert_one_message(result.stderr, "cannot be opened")

    def test_shows_remaining_records_of_damaged_file(self):
        path = self.record()
        harness.damage_records(path)
        whole = self.printed_of_damaged(path)
        for form in ("jsonl", "csv"):
            result = self.run_elog("convert", "--to", form, path, status=1)
            self.assertRegex(result.stderr, harness.DAMAGE)
            self.assertEqual(result.stderr.count(" is damaged;"), 1)
            self.assertEqual(result.stdout.count("counter"), whole * 2)

    def printed_of_damaged(self, path):
        output = self.run_elog("print", path, status=1).stdout
        return sum("counter:count" in line for line in output.splitlines())


if __name__ == "__main__":
    harness.main()
