#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Options and inputs that all commands that read recordings share: pipes, --since and --until on
every clock, --limit and --tail, and -o of converted files."""

import json
import os
import re

import harness

SPAN = re.compile(r"^elog: No event is (.+): the recording (\S+) is from (.+) to (.+)\.$", re.M)


class ReaderOptions(harness.Case):
    def record(self, name="run.elog", *options, count=1000):
        return self.create_once(name, lambda path: self.run_elog(
            "record", "-e", "counter:*", "-o", path, *options, "--",
            harness.program("counter"), "1", str(count), "100"))

    def lines(self, path, *options):
        return self.run_elog("print", path, *options).stdout.splitlines()

    COMMANDS = (
        ("print",), ("stat",), ("stat", "--json"), ("agg", "count() by number"),
        ("convert", "--to", "jsonl"), ("convert", "--to", "csv"),
    )

    # pipes ----------------------------------------------------------------------------------------

    def piped(self, path, *command):
        """The output of a command that reads the file from a pipe."""
        return self.finish(self.start("/bin/sh", "-c", 'cat "$0" | "$@"', path, harness.ELOG,
                                      *command))[0]

    def test_pipes_have_the_results_of_files(self):
        for path in (self.record(), self.record("packed.elog", "--compress")):
            for command in self.COMMANDS:
                expected = self.run_elog(*command, path).stdout
                for name in ("-", "/dev/stdin"):
                    self.assertEqual(self.piped(path, *command, name), expected, command)
            text = self.piped(path, "verify", "-")
            self.assertRegex(text, r"^standard input: whole: .* 1000 records ")
            for command in ("cut", "merge", "repair"):
                copy = self.path("copy.elog")
                self.piped(path, command, "-", "--force", "-o", copy)
                self.assertEqual(self.lines(copy), self.lines(path))

    def test_pipes_may_be_one_of_several_inputs(self):
        path, other = self.record(), self.record("other.elog")
        merged = self.path("merged.elog")
        self.piped(path, "merge", "-", other, "-o", merged)
        self.assertEqual(len(self.lines(merged)), 2000)
        with open(path, "rb") as file:
            result = self.run_elog("merge", "-", "-", "-o", merged, "--force", status=1, stdin=file)
        self.assert_one_message(result.stderr, "named twice")

    def test_standard_input_may_be_a_file(self):
        path = self.record()
        for name in ("-", "/dev/stdin"):
            with open(path, "rb") as file:
                self.assertEqual(self.run_elog("print", name, stdin=file).stdout.splitlines(),
                                 self.lines(path))

    def test_pipes_with_other_content_are_rejected(self):
        result = self.run_elog("print", "-", status=1, input="this is a text\n" * 100)
        self.assert_one_message(result.stderr, "standard input", "is not an .elog file")
        result = self.run_elog("print", "-", status=1, input="")
        self.assert_one_message(result.stderr, "is not an .elog file")
        self.run_elog("print", "-", "--follow", status=1, input="")

    def test_damaged_pipes_are_named(self):
        path = self.record("long.elog", count=5000)
        harness.damage_records(path)
        process = self.start("/bin/sh", "-c", 'cat "$0" | "$1" print -', path, harness.ELOG)
        _, errors = self.finish(process, 1)
        self.assertIn("The file standard input is damaged", errors)
        self.assertNotIn("/proc/", errors)

    # times ----------------------------------------------------------------------------------------

    def test_empty_range_shows_span_of_recording(self):
        path = self.record()
        day = self.lines(path, "--limit", "1", "--format", "{date} {time}")[0]
        for command in (*self.COMMANDS, ("cut", "--force", "-o", self.path("cut.elog"))):
            for options, said in ((("--since", "+1h"), "at or after +1h"),
                                  (("--until", "@0"), "before @0"),
                                  (("--since", "+1h", "--until", "+2h"), "between +1h and +2h")):
                errors = self.run_elog(*command, path, *options).stderr
                (found,) = SPAN.findall(errors)
                self.assertEqual(found[:2], (said, path))
                self.assertLessEqual(found[2], day)
                self.assertGreaterEqual(found[3], day)
                # The printed times are accepted.
                self.assertEqual(self.lines(path, "--since", found[2], "--until", found[3]),
                                 self.lines(path))
        self.assertEqual(self.run_elog("print", path, "--since", "+0s").stderr, "")
        self.assertEqual(
            self.run_elog("print", path, "--since", "+0s", "--where", "number > 1G").stderr, "")

    def test_utc_holds_for_given_times(self):
        path = self.record()
        self.environment["TZ"] = "EST5"
        whole = self.lines(path, "--utc")
        time = whole[500].split(" ")[0].rstrip("Z")
        first = next(at for at, line in enumerate(whole) if line.startswith(time))
        part = ("--utc", "--since", time)
        self.assertEqual(self.lines(path, *part), whole[first:])
        self.assertEqual(json.loads(self.run_elog("stat", "--json", path, *part).stdout)["events"],
                         1000 - first)
        self.assertNotEqual(self.lines(path, "--since", time), whole[first:])
        text = self.run_elog("stat", path, "--utc").stdout
        self.assertRegex(text, r"\nfrom [-\d]+ [:.\d]+Z to [-\d]+ [:.\d]+Z\n")

    def test_clock_holds_for_given_times(self):
        path = self.record()
        for clock in ("monotonic", "boottime", "tai"):
            whole = self.lines(path, "--clock", clock)
            time = whole[500].split(" ")[0]
            first = next(at for at, line in enumerate(whole) if line.startswith(time + " "))
            since = time if clock == "tai" else f"@{time}"
            part = ("--clock", clock, "--since", since)
            self.assertEqual(self.lines(path, *part), whole[first:], clock)
            copy = self.path("cut.elog")
            self.run_elog("cut", path, "--force", "-o", copy, *part)
            self.assertEqual(self.lines(copy, "--clock", clock), whole[first:], clock)
            errors = self.run_elog("stat", path, "--clock", clock, "--until", "@0").stderr
            self.assertRegex(errors, SPAN)
        result = self.run_elog("print", path, "--clock", "monotonic", "--since", "14:03", status=2)
        self.assert_one_message(result.stderr, "'14:03' is not a time of --clock monotonic", "+10s")
        for command in (("stat",), ("agg", "count()"), ("print",)):
            result = self.run_elog(*command, path, "--clock", "sun", status=2)
            self.assert_one_message(result.stderr, "'sun' is no clock")

    def test_clock_holds_for_shown_times(self):
        path = self.record()
        text = self.run_elog("stat", path, "--clock", "monotonic").stdout
        first, last = re.search(r"^from @([\d.]+) to @([\d.]+)$", text, re.M).groups()
        lines = self.lines(path, "--clock", "monotonic")
        self.assertEqual(lines[0].split(" ")[0], first)
        self.assertEqual(lines[-1].split(" ")[0], last)
        said = json.loads(self.run_elog("stat", path, "--clock", "monotonic", "--json").stdout)
        self.assertTrue(said["first_time"].startswith(first), said)
        results = self.run_elog("agg", "count()", path, "--interval", "100ms", "--clock",
                                "monotonic").stdout
        begins = re.findall(r"^-- @(\d+\.\d)00000 --$", results, re.M)
        self.assertGreater(len(begins), 0)
        self.assertLessEqual(float(begins[0]), float(first))

    # numbers of events ----------------------------------------------------------------------------

    def test_limit_and_tail_select_events(self):
        path = self.record()
        where = ("--where", "number >= 100")
        whole = self.lines(path, *where)
        self.assertEqual(len(whole), 900)
        self.assertEqual(self.lines(path, *where, "--limit", "7"), whole[:7])
        self.assertEqual(self.lines(path, *where, "--tail", "7"), whole[-7:])
        self.assertEqual(self.lines(path, *where, "--tail", "901"), whole)
        for option, first, last in (("--limit", 100, 106), ("--tail", 993, 999)):
            rows = self.run_elog("convert", "--to", "csv", path, *where, option, "7").stdout
            self.assertEqual(len(rows.splitlines()), 8)
            lines = self.run_elog("convert", "--to", "jsonl", path, *where, option, "7").stdout
            numbers = [json.loads(line)["fields"]["number"] for line in lines.splitlines()]
            self.assertEqual((numbers[0], numbers[-1], len(numbers)), (first, last, 7))
            stat = self.run_elog("stat", "--json", path, *where, option, "7").stdout
            self.assertEqual(json.loads(stat)["events"], 7)
        for options in (("--limit", "0"), ("--tail", "0"), ("--tail", "1", "--limit", "1"),
                        ("--tail", "1", "--follow")):
            self.run_elog("print", path, *options, status=2)

    def test_tail_of_a_growing_recording_is_complete(self):
        path = self.path("growing.elog")
        self.start_provider(harness.program("counter"), "2", "0", "100")
        recording = self.start_recording("-e", "counter:*", "-o", path, "--buffer-size", "16M")
        self.wait_for(lambda: os.path.getsize(path) > 1 << 16, "events")
        for _ in range(20):
            lines = self.lines(path, "--tail", "5")
            self.assertEqual(len([line for line in lines if not line.startswith("-- ")]), 5)
            found = self.run_elog("stat", "--json", path, "--tail", "5").stdout
            self.assertEqual(json.loads(found)["events"], 5)
        self.stop(recording)

    def test_aggregation_ends_at_limits(self):
        path = self.record()
        said = json.loads(self.run_elog("agg", "--json", "max(number)", path, "--limit", "7").stdout)
        self.assertEqual(said["events"], 7)
        self.assertEqual(said["groups"][0]["values"]["max(number)"], 6)
        whole = self.run_elog("agg", "--json", "count()", path, "--interval", "10ms").stdout
        self.assertGreater(len(whole.splitlines()), 3)
        part = self.run_elog("agg", "--json", "count()", path, "--interval", "10ms",
                             "--iterations", "2").stdout
        self.assertEqual(part.splitlines(), whole.splitlines()[:2])
        self.run_elog("agg", "count()", path, "--iterations", "2", status=2)

    def test_live_aggregation_ends_at_limits(self):
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        live = ("agg", "--json", "count()", "-e", "counter:*")
        self.assertEqual(json.loads(self.run_elog(*live, "--limit", "7").stdout)["events"], 7)
        results = self.run_elog(*live, "--interval", "100ms", "--iterations", "2").stdout
        self.assertEqual(len(results.splitlines()), 2)
        self.run_elog(*live, "--clock", "monotonic", status=2)
        self.assertEqual(self.names("subscriptions"), [])

    # converted files ------------------------------------------------------------------------------

    def test_convert_writes_files(self):
        path, new = self.record(), self.path("new")
        for form in ("jsonl", "csv"):
            expected = self.run_elog("convert", "--to", form, path).stdout
            self.assertEqual(self.run_elog("convert", "--to", form, path, "-o", "-").stdout, expected)
            self.run_elog("convert", "--to", form, path, "--force", "-o", new)
            with open(new, encoding="utf-8") as file:
                self.assertEqual(file.read(), expected)
        result = self.run_elog("convert", "--to", "csv", path, "--force", "-o", path, status=1)
        self.assert_one_message(result.stderr, "would be overwritten")
        self.run_elog("convert", "--to", "csv", path, "-o", self.path("no/such/folder"), status=1)
        self.assertFalse(os.path.exists("-"))

    def test_removed_spellings_are_rejected(self):
        path = self.record()
        for command in (("print", path, "--from", "+0s"), ("print", path, "--to", "+1s"),
                        ("print", path, "--count", "1"), ("agg", "count()", path, "--every", "1s"),
                        ("top", "--frames", "1"), ("top", "--every", "1s")):
            self.run_elog(*command, status=2)


if __name__ == "__main__":
    harness.main()
