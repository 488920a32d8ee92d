#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--where: elog print, elog record and live text show the events that match a predicate, and reject
an invalid one before any effect.
"""

import os
import re

import harness


class Where(harness.Case):
    def record(self, *arguments, name="run.elog", events="3000"):
        """Records the counter; returns the path."""
        path = self.path(name)
        result = self.run_elog(
            "record", "-e", "counter:*", *arguments, "-o", path, "--",
            harness.program("counter"), "3", events,
        )
        self.assertEqual(self.summary(result.stderr)[2], 0, result.stderr)
        return path, result

    @staticmethod
    def fields(line):
        found = re.search(r"number=(\d+) check=(\d+) worker=(\d+) text=\"(.*)\"$", line)
        return int(found[1]), int(found[2]), int(found[3]), found[4]

    def expected(self, path, wanted):
        """The lines of a whole recording for which the function holds for the fields."""
        lines = self.run_elog("print", path).stdout.splitlines()
        self.assertEqual(len(lines), 9000)
        return [line for line in lines if wanted(*self.fields(line))]

    CASES = (
        ("number >= 10 && number < 20", lambda n, c, w, t: 10 <= n < 20),
        ('text ~ "ab*e" && !(worker == 1)', lambda n, c, w, t: t.startswith("ab")
         and t.endswith("e") and w != 1),
        ("worker == 2 && number > 2.9k || check == 0", lambda n, c, w, t: w == 2 and n > 2900
         or c == 0),
        ('text == "" && number & 2', lambda n, c, w, t: t == "" and n & 2),
        ("check > 0x8000000000000000 && worker < 1", lambda n, c, w, t: c > 1 << 63 and w < 1),
        ('comm == "counter" && level == info && event ~ "counter:c*" && cpu < 8193 && number == 7',
         lambda n, c, w, t: n == 7),
    )

    def test_print_shows_only_matches(self):
        path, _ = self.record()
        for text, wanted in self.CASES:
            lines = self.run_elog("print", "--where", text, path).stdout.splitlines()
            expected = self.expected(path, wanted)
            self.assertNotEqual(expected, [], text)
            self.assertEqual(lines, expected, text)

    def test_explanation_shows_evaluation_place_and_records_nothing(self):
        path = self.path("none.elog")
        result = self.run_elog("record", "-e", "counter", "--wait", "--where", "number > 5",
                               "--explain", "-o", path)
        self.assertEqual(result.stdout.splitlines(), [
            "gates of         counter:*",
            "programs ask     which events -e, --session, -p and --comm want",
            "elog asks        all of --where",
        ])
        self.assertFalse(os.path.exists(path))

    def test_explanation_shows_part_evaluated_by_programs(self):
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        predicate = 'level <= info && (event == "count" || event ~ "x*") && number > 5'
        result = self.run_elog("record", "-e", "counter", "--where", predicate, "--explain")
        self.assertEqual(result.stdout.splitlines(), [
            "gates of         counter:count@info, counter:x*@info",
            "programs ask     which events -e, --session, -p and --comm want,",
            "                 and of --where level, event",
            "elog asks        all of --where",
        ])

    def test_programs_do_not_emit_unmatchable_events(self):
        process = self.start_provider(harness.program("counter"), "1", "0", "1000")
        for predicate, comes in (("level <= info && number >= 0", True),
                                 ("level <= warn && number >= 0", False),
                                 (f"pid == {process.pid}", True), (f"pid == {process.pid + 1}", False),
                                 ('event == "none" || event ~ "*:co?nt"', True)):
            result = self.run_elog("record", "-e", "counter:*", "--where", predicate, "-o",
                                   self.path(f"{comes}.elog"), "--duration", "200ms")
            os.unlink(self.path(f"{comes}.elog"))
            self.assertEqual(self.summary(result.stderr)[0] > 0, comes, predicate)

    def test_late_process_without_matches_is_recorded(self):
        result = self.run_elog("record", "-e", "counter:*", "--where", "level <= warn && number > 5",
                               "--", harness.program("counter"), "1", "10")
        self.assertIn("0 events passed --where", result.stderr)

    def test_recording_keeps_only_matches(self):
        for number, (text, wanted) in enumerate(self.CASES[:3]):
            path, result = self.record("--where", text, name=f"{number}.elog")
            lines = self.run_elog("print", path).stdout.splitlines()
            self.assertNotEqual(lines, [])
            self.assertTrue(all(wanted(*self.fields(line)) for line in lines))
            self.assertIn(f"{len(lines)} events passed --where", result.stderr)
            # The file is consistent.
            self.run_elog("stat", path)

    def test_recording_matches_print(self):
        path, _ = self.record("--where", "number >= 10 && number < 20")
        numbers = [self.fields(line)[0] for line in
                   self.run_elog("print", path).stdout.splitlines()]
        self.assertEqual(sorted(numbers), sorted(list(range(10, 20)) * 3))

    def test_live_text_shows_matches(self):
        result = self.run_elog(
            "record", "-e", "counter:*", "--where", "number % 2", "--",
            harness.program("counter"), "1", "10", status=2,
        )
        self.assertIn("--where, column 8: '%' means nothing here.", result.stderr)
        result = self.run_elog(
            "record", "-e", "counter:*", "--where", "number == 5 || number == 8", "--",
            harness.program("counter"), "2", "1000",
        )
        shown = [self.fields(line)[0] for line in result.stdout.splitlines()
                 if harness.LINE.match(line)]
        self.assertEqual(sorted(shown), [5, 5, 8, 8])
        self.assertIn("4 events passed --where", result.stderr)

    def test_type_mismatch_is_rejected_before_recording(self):
        program = self.start_provider(harness.program("counter"), "1", "0", "1000")
        for text, said in (
            ("numbr > 5", "--where, column 1: No event has a field 'numbr'. Did you mean 'number'?"),
            ('number == "5"', "column 11: 'number' of counter:count is a number"),
            ("text > 5", "column 8: 'text' of counter:count is a text"),
            ("number > 5ms", "column 10: 'number' of counter:count is no time"),
            ("number >", "column 9: A field or a value is missing"),
        ):
            path = self.path("never.elog")
            result = self.run_elog("record", "-e", "counter:*", "--where", text, "-o", path,
                                   status=2)
            self.assertIn(said, result.stderr)
            self.assertEqual(len(result.stderr.splitlines()), 1)
            self.assertFalse(harness.os.path.exists(path))
        self.assertEqual(self.names("subscriptions"), [])
        program.kill()

    def test_other_events_are_not_evaluated(self):
        # mirror_chosen has no field session, but it is not selected.
        result = self.run_elog(
            "record", "-e", "downloads:chunk", "--where", "bytes >= 1KiB && session == 3", "--",
            harness.example("sessions"), "2",
        )
        lines = [line for line in result.stdout.splitlines() if harness.LINE.match(line)]
        self.assertEqual(len(lines), 2)
        self.assertTrue(all("session=3" in line for line in lines))

    def test_unknown_name_is_reported_at_the_end(self):
        result = self.run_elog(
            "record", "-e", "counter:*", "--where", "numbr > 5", "--",
            harness.program("counter"), "1", "10", status=2,
        )
        self.assertIn("Did you mean 'number'?", result.stderr)

    def test_print_rejects_type_mismatch(self):
        path, _ = self.record()
        for text in ("numbr > 5", 'number == "x"', "text", "("):
            result = self.run_elog("print", "--where", text, path, status=2)
            self.assertEqual(result.stdout, "")
            self.assertRegex(result.stderr, r"^elog: --where, column \d+: ")

    def test_unknown_event_of_a_recording_is_named_and_no_error(self):
        path, _ = self.record()
        note = ("elog: --where, column 10: No event has the name \"cuont\". "
                "Did you mean 'count'?\n")
        for command in (("print",), ("agg", "count()")):
            result = self.run_elog(*command, path, "--where", 'event == "cuont"')
            self.assertIn(note, result.stderr)
        result = self.run_elog("print", path, "--where", 'event == "count" && number == 1')
        self.assertEqual(result.stderr, "")

    def test_time_range_shows_matches(self):
        path, _ = self.record()
        wanted = "number & 1"
        lines = self.run_elog("print", path, "--where", wanted).stdout.splitlines()
        middle = lines[len(lines) // 2].split()[0]
        begin = self.run_elog("print", path, "--where", wanted, "--until", middle).stdout
        end = self.run_elog("print", path, "--where", wanted, "--since", middle).stdout
        self.assertEqual(begin.splitlines() + end.splitlines(), lines)
        self.assertNotEqual(begin, "")

    def test_follow_shows_matches_of_late_programs(self):
        path = self.path("run.elog")
        recording = self.start_recording("-e", "counter:*", "-o", path, "--wait")
        self.wait_for(lambda: harness.os.path.exists(path), "the file")
        follower = self.start(harness.ELOG, "print", "--follow", path, "--where", "number < 5")
        self.finish(self.start(harness.program("counter"), "2", "1000"))
        self.stop(recording)
        output, _ = self.finish(follower)
        self.assertEqual(output, self.run_elog("print", path, "--where", "number < 5").stdout)
        numbers = sorted(self.fields(line)[0] for line in output.splitlines())
        self.assertEqual(numbers, sorted(2 * list(range(5))))

    def test_follow_reports_unknown_name_at_the_end(self):
        path = self.path("run.elog")
        recording = self.start_recording("-e", "counter:*", "-o", path, "--wait")
        self.wait_for(lambda: harness.os.path.exists(path), "the file")
        follower = self.start(harness.ELOG, "print", "--follow", path, "--where", "numbr < 5")
        self.finish(self.start(harness.program("counter"), "1", "10"))
        self.stop(recording)
        output, errors = self.finish(follower, status=2)
        self.assertEqual(output, "")
        self.assertIn("Did you mean 'number'?", errors)

    def test_rotated_files_have_matches_and_are_complete(self):
        path = self.path("run.elog")
        self.run_elog(
            "record", "-e", "counter:*", "--where", "number & 1", "-o", path, "--compress",
            "--rotate", "1MiB", "--buffer-size", "8M", "--", harness.program("counter"), "1",
            "60000",
        )
        parts = sorted(name for name in harness.os.listdir(self.scratch)
                       if name.endswith(".elog"))
        numbers = []
        for part in parts:
            self.assertIn(": whole: ", self.run_elog("verify", self.path(part)).stdout)
            lines = self.run_elog("print", self.path(part)).stdout.splitlines()
            numbers += [self.fields(line)[0] for line in lines if harness.LINE.match(line)]
        self.assertEqual(numbers, list(range(1, 60000, 2)))

    def test_times_select_records(self):
        path, _ = self.record()
        lines = self.run_elog("print", path).stdout.splitlines()
        middle = lines[len(lines) // 2].split()[0]
        shown = self.run_elog("print", "--where", f'time < "{middle}"', path).stdout.splitlines()
        rest = self.run_elog("print", "--where", f'time >= "{middle}"', path).stdout.splitlines()
        self.assertEqual(shown + rest, lines)
        self.assertNotEqual(shown, [])


if __name__ == "__main__":
    harness.main()
