#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""elog run and elog -n run scripts of several clauses, live and over recordings, and reject mistakes
with their place before anything runs.
"""

import os
import re

import harness

PAIRS = "counter:* { @lat[worker] = latency(counter:count, counter:count by worker) }"


class Scripts(harness.Case):
    def record(self, workers="2", events="100"):
        path = self.path("run.elog")
        self.run_elog("record", "-e", "counter:*", "--force", "-o", path, "--",
                      harness.program("counter"), workers, events)
        return path

    def write(self, text):
        path = self.path("x.script")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path


class OverRecording(Scripts):
    def run_over(self, text, *options, status=0):
        return self.run_elog("run", "-n", text, "-i", self.record(), *options, status=status)

    def test_runs_clauses_in_order(self):
        shown = self.run_over(
            'BEGIN { printf("begin\\n") } counter:count /worker == 1 && number < 2/ { '
            'printf("%d of %s%%", number, worker) } END { printf("end") }').stdout
        self.assertEqual(shown, "begin\n0 of 1%\n1 of 1%\nend\n")

    def test_prints_events_as_print_does(self):
        path = self.record()
        shown = self.run_elog("run", self.write("counter:count\n/number == 7/\n{ print }"), "-i",
                              path).stdout
        self.assertEqual(shown, self.run_elog("print", path, "--where", "number == 7").stdout)
        self.assertEqual(len(shown.splitlines()), 2)

    def test_mixes_events_and_lines_in_order(self):
        lines = self.run_over('counter:* /number < 2 && worker == 0/ { printf("before"); print; '
                              'printf("behind") }').stdout.splitlines()
        self.assertEqual([line if "number=" not in line else "event" for line in lines],
                         ["before", "event", "behind"] * 2)

    def test_aggregates_with_several_keys_and_names(self):
        shown = self.run_over("counter:* { @n[worker] = count(); @m = max(number), sum(number) } "
                              "counter:* /number >= 50/ { @late[worker] = quantize(number) }").stdout
        self.assertRegex(shown, r"@n\nworker  count\(\).*\n0 +100.*\n1 +100")
        self.assertRegex(shown, r"@m\nmax\(number\)  sum\(number\)\n +99 +9900\n200 events")
        self.assertRegex(shown, r"@late\nquantize\(number\) of worker=0\n +32 +14 .*\n +64 +36 ")

    def test_aggregates_like_agg(self):
        path = self.record()
        script = "counter:* /number > 9/ { @[worker] = count(), stddev(number), lquantize(number, 30) }"
        self.assertEqual(self.run_elog("run", "-n", script, "-i", path).stdout,
                         self.run_elog("agg", "count(), stddev(number), lquantize(number, 30) by worker",
                                       path, "--where", "number > 9").stdout)

    def test_exit_ends_the_script(self):
        shown = self.run_over('counter:* { @ = count() } counter:* /number == 5/ { exit() } '
                              'END { printf("end") }').stdout
        found = re.match(r"end\ncount\(\)\n +(\d+)\n", shown)
        self.assertLess(int(found[1]), 200)

    def test_latency_counts_pairs_and_unmatched_events(self):
        path = self.record()
        shown = self.run_elog("run", "-n", PAIRS, "-i", path).stdout
        self.assertRegex(shown, r"@lat\nworker  count +avg +min +max\n0 +99 .*\n1 +99 ")
        self.assertIn("198 events, 0 lost\nunmatched: 2 begins, 0 ends\n", shown)
        by_agg = self.run_elog(
            "agg", "latency(counter:count, counter:count by worker) by worker", path).stdout
        self.assertEqual(shown, "@lat\n" + by_agg)

    def test_latency_of_agg_has_predicate_and_limit(self):
        shown = self.run_elog("agg", "latency(counter:count, counter:count by worker) by worker | top 1",
                              self.record(), "--where", "number < 10").stdout
        self.assertIn("unmatched: 2 begins, 0 ends\n", shown)
        self.assertIn("... and 1 more\n18 events", shown)

    def test_ticks_have_the_time_of_events(self):
        path = self.path("slow.elog")
        self.run_elog("record", "-e", "counter:*", "-o", path, "--", harness.program("counter"), "1",
                      "20", "20000")
        lines = self.run_elog("run", "-n", 'tick-50ms { printf("tick") } counter:* { printf("%d", '
                              'number) }', "-i", path).stdout.splitlines()
        self.assertGreaterEqual(lines.count("tick"), 7)
        self.assertEqual([line for line in lines if line != "tick"], [str(i) for i in range(20)])

    def test_selects_a_part_of_the_recording(self):
        path = self.record()
        for options in (("--limit", "3"), ("--tail", "3"), ("--where", "number > 90"),
                        ("--where", "worker == 1", "--limit", "4"),
                        ("--where", "worker == 1", "--tail", "4"), ("--tail", "1000")):
            self.assertEqual(
                self.run_elog("run", "-n", "counter:* { print }", "-i", path, *options).stdout,
                self.run_elog("print", path, *options).stdout)
        shown = self.run_elog("run", "-n", "counter:* /number & 1/ { @ = count() }", "-i", path,
                              "--where", "worker == 1").stdout
        self.assertIn("50 events, 0 lost", shown)
        for options, message in (
                (("-i", path, "--limit", "1", "--tail", "1"), "--tail"),
                (("-i", path, "--where", "nmber > 1"), "Did you mean 'number'?"),
                (("--tail", "3"), "are for a recording: add --input")):
            result = self.run_elog("run", "-n", "counter:* { print; exit }", *options, status=2)
            self.assertIn(message, result.stderr)

    def test_rejects_what_a_recording_cannot_do(self):
        result = self.run_over('counter:* { snapshot("x") }', status=2)
        self.assert_one_message(result.stderr, "snapshot() is for live events")
        self.assert_one_message(self.run_over("counter:* { exit }", "--wait", status=2).stderr,
                                "are for live events")


class Live(Scripts):
    def test_runs_until_exit(self):
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        shown = self.run_elog(
            "-n", 'BEGIN { printf("begin") } counter:* { @ = count() } '
            'counter:* /number >= 0/ { printf("%s", comm); exit() }').stdout
        self.assertEqual(shown, "begin\ncounter\ncount()\n      1\n1 events, 0 lost\n")

    def test_ticks_and_clear(self):
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        shown = self.run_elog("-n", "counter:* { @n = count() } tick-200ms { print(@n); clear(@n) }",
                              "--duration", "1s").stdout
        counts = [int(each) for each in re.findall(r"count\(\)\n +(\d+)\n", shown)]
        self.assertGreaterEqual(len(counts), 3)
        self.assertTrue(all(0 < each < 1000 for each in counts), counts)

    def test_latency_of_agg_counts_pairs(self):
        self.start_provider(harness.program("counter"), "2", "0", "1000")
        shown = self.run_elog("agg", "latency(counter:count, counter:count by worker)",
                              "--duration", "1s").stdout
        # The last event of each thread waits for its next one. Events before the program had
        # attached are lost.
        found = re.search(r"count +avg +min +max\n +(\d+) .*\n(?s:.*)\n(\d+) events, \d+ lost\n"
                          r"unmatched: 2 begins, 0 ends\n", shown)
        self.assertTrue(found, shown)
        self.assertEqual(found[1], found[2])
        self.assertGreater(int(found[1]), 10)

    def test_requests_snapshot(self):
        self.run_elog("flight", "start", "box", "-e", "counter:*")
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        self.run_elog("-n", 'counter:* { snapshot("slow order"); exit() }')
        self.assertIn("slow order", self.run_elog("flight", "status").stdout)
        self.run_elog("flight", "stop", "box", "--discard")

    def test_snapshot_without_flight_recorder_is_reported(self):
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        result = self.run_elog("-n", 'counter:* { snapshot("x"); exit() }')
        self.assertIn("No flight recorder is running", result.stderr)

    def test_explanation_shows_gates_and_runs_nothing(self):
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        result = self.run_elog("-n", 'BEGIN { printf("no") } counter:count /number > 5/ { print; exit }',
                               "--explain")
        self.assertEqual(result.stdout.splitlines()[:2],
                         ["--where          (number > 5)", "gates of         counter:count"])
        self.assertIn("programs ask     which events", result.stdout)
        self.assertNotIn("no\n", result.stdout)
        result = self.run_elog("-n", "counter:* { @ = count() }", "--explain")
        self.assertIn("elog counts      all of it", result.stdout)


class Mistakes(Scripts):
    def assert_mistake(self, result, place, caret):
        lines = result.stderr.splitlines()
        self.assertIn(place, lines[0])
        self.assertEqual(lines[-1], caret)
        self.assertEqual(len(lines), 3, result.stderr)
        self.assertEqual(result.stdout, "")

    def test_show_line_and_caret(self):
        path = self.write('BEGIN { printf("x") }\ncounter:* {\n  @ = sume(number)\n}\n')
        self.assert_mistake(self.run_elog("run", path, status=2),
                            f"elog: {path}:3:7: 'sume' is no function", "        ^")
        self.assert_mistake(self.run_elog("-n", "counter:* { pritn }", status=2),
                            "elog: -n, column 13: this is no action", " " * 14 + "^")

    def test_of_names_and_types_are_found_before_anything_runs(self):
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        path = self.record()
        for options in (("-i", path), ()):
            for text, column in (('counter:* { printf("%s", numbr) }', 52),
                                 ("counter:* /numbr > 1/ { exit }", 38),
                                 ("counter:* { @ = sum(numbr); exit }", 47),
                                 ('counter:* { printf("%d", text) }', 52)):
                result = self.run_elog("run", "-n", 'BEGIN { printf("began") } ' + text,
                                       *options, status=2)
                self.assertIn(f"-n, column {column}: ", result.stderr)
                self.assertEqual(result.stdout, "")

    def test_of_unknown_event_in_recording(self):
        self.assert_mistake(
            self.run_elog("run", "-n", "counter:cuont { exit }", "-i", self.record(), status=2),
            "-n, column 1: No event of the recording matches 'counter:cuont'", "  ^")

    def test_of_options(self):
        path = self.write("counter:* { exit }")
        for words, message in (
                (("run",), "The script is missing: give it as FILE or with -n."),
                (("run", path, "-n", "a:b {exit}"), "The script is given twice"),
                (("run", path, "--utc"), "add --input"),
                (("run", path, "--keys", "0"), "--keys is a number"),
                (("agg", "latency(a:b, a:c by x)", "-e", "a:*"), "leave -e out"),
                (("agg", "latency(a:b, a:c by x)", "-j"), "leave them out"),
                (("agg", "latency(a:b by x)", "--wait"), "The aggregation, column ")):
            self.assertIn(message, self.run_elog(*words, status=2).stderr)
        self.assertFalse(os.path.exists(self.path("none.elog")))


if __name__ == "__main__":
    harness.main()
