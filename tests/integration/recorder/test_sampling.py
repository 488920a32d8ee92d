#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Events that elog record omits on request, by 1/N of a pattern and by --max-rate: every one is
counted, none is lost.
"""

import json
import re

import harness

OMITTED = re.compile(
    r"^(\d+) events:((?: \d+ omitted \([^)]*\),)+) (\d+) kept$", re.MULTILINE
)
PER_THREAD = 5000
EVENTS = harness.THREADS * PER_THREAD


class Sampling(harness.Case):
    COUNTER = harness.program("counter"), str(harness.THREADS), str(PER_THREAD)

    def record(self, *options, status=0):
        """The result of recording the program into the file run.elog."""
        return self.run_elog("record", *options, "--buffer-size", "16M", "-o",
                             self.path("run.elog"), "--", *self.COUNTER, status=status)

    def events_in_file(self):
        path = self.path("run.elog")
        self.assertIn(": whole: ", self.run_elog("verify", path).stdout)
        return json.loads(self.run_elog("stat", path, "--json").stdout)["events"]

    def counts(self, result):
        """(all, {reason: omitted}, kept) in the summary, which has no losses."""
        self.assertEqual(self.summary(result.stderr)[2], 0, result.stderr)
        found = OMITTED.search(result.stderr)
        self.assertIsNotNone(found, result.stderr)
        reasons = {reason: int(number)
                   for number, reason in re.findall(r"(\d+) omitted \(([^)]*)\)", found[2])}
        self.assertEqual(int(found[1]), sum(reasons.values()) + int(found[3]))
        return int(found[1]), reasons, int(found[3])

    def test_every_hundredth_event_is_kept(self):
        result = self.record("-e", "counter:* 1/100", "--fail-on-loss")
        kept = EVENTS // 100
        self.assertEqual(self.counts(result), (EVENTS, {"1/100": EVENTS - kept}, kept))
        self.assertEqual(self.events_in_file(), kept)

    def test_file_has_the_counts_of_omitted_events(self):
        summary = json.loads(
            self.record("-e", "counter:* 1/10", "--json").stdout.splitlines()[-1])
        self.assertEqual(summary["command"].pop("lost_outside"), 0)  # not in the file
        path = self.path("run.elog")
        found = json.loads(self.run_elog("stat", path, "--json").stdout)
        for name in ("omitted", "omitted_by_reason", "omitted_by_event", "command"):
            self.assertEqual(found[name], summary[name])
        self.assertEqual(found["omitted"], EVENTS - EVENTS // 10)
        kept = EVENTS // 10
        self.assertIn(f"when recorded, {EVENTS} events: {EVENTS - kept} omitted (1/10), {kept} kept",
                      self.run_elog("stat", path).stdout)
        self.assertIn(f"elog: when recorded, {EVENTS} events: ",
                      self.run_elog("print", path).stderr)
        # A repaired file still has them.
        self.run_elog("repair", path, "-o", self.path("repaired.elog"))
        repaired = json.loads(self.run_elog("stat", self.path("repaired.elog"), "--json").stdout)
        self.assertEqual(repaired["omitted_by_event"], found["omitted_by_event"])

    def test_copies_have_the_counts_of_omitted_events(self):
        self.record("-e", "counter:* 1/10")
        path, copy = self.path("run.elog"), self.path("copy.elog")
        names = ("omitted", "omitted_by_reason", "omitted_by_event", "command")
        whole = json.loads(self.run_elog("stat", path, "--json").stdout)
        # Of a part, the counts are those of the whole recording, for all commands alike.
        for command in (["cut", path], ["merge", path], ["cut", path, "--limit", "5"],
                        ["cut", path, "--since", "+0s"], ["merge", path, "--tail", "5"]):
            self.run_elog(*command, "--force", "-o", copy)
            self.assertIn(": whole: ", self.run_elog("verify", copy).stdout)
            found = json.loads(self.run_elog("stat", copy, "--json").stdout)
            part = json.loads(self.run_elog("stat", path, *command[2:], "--json").stdout)
            for name in names:
                self.assertEqual(found[name], whole[name], command)
                self.assertEqual(part[name], whole[name], command)
            self.assertEqual(self.run_elog("print", copy).stderr,
                             self.run_elog("print", path, *command[2:]).stderr, command)
        self.run_elog("merge", path, copy, "--force", "-o", self.path("both.elog"))
        both = json.loads(self.run_elog("stat", self.path("both.elog"), "--json").stdout)
        self.assertEqual(both["omitted"], 2 * whole["omitted"])

    def test_first_event_is_kept_at_lowest_rate(self):
        result = self.record("-e", "counter:* 1/1000000000")
        self.assertEqual(self.counts(result), (EVENTS, {"1/1000000000": EVENTS - 1}, 1))
        self.assertEqual(self.events_in_file(), 1)

    def test_lines_are_sampled(self):
        result = self.run_elog("record", "-e", "counter:* 1/10", "--buffer-size", "16M", "--",
                               *self.COUNTER)
        shown = [line for line in result.stdout.splitlines() if harness.LINE.match(line)]
        self.assertEqual(len(shown), EVENTS // 10)
        self.assertNotIn("lost", result.stdout)
        self.assertEqual(self.counts(result)[2], EVENTS // 10)

    def test_densest_of_overlapping_patterns_applies(self):
        result = self.record("-e", "counter:* 1/1000", "-e", "counter:count 1/10", "-e",
                             "*:* 1/500")
        self.assertEqual(self.counts(result),
                         (EVENTS, {"1/10": EVENTS - EVENTS // 10}, EVENTS // 10))

    def test_pattern_without_rate_keeps_all(self):
        result = self.record("-e", "counter:* 1/1000", "-e", "counter:count")
        self.assertIn(f"\n{EVENTS} events: 0 omitted, {EVENTS} kept\n", result.stderr)
        self.assertEqual(self.events_in_file(), EVENTS)

    def test_summary_as_json_counts_by_event(self):
        result = self.record("-e", "counter:* 1/100", "--json")
        # The program prints lines of its own.
        (said,) = (json.loads(line) for line in result.stdout.splitlines() if line[0] == "{")
        kept = EVENTS // 100
        omitted = EVENTS - kept
        reasons = {"sampling": omitted, "max_rate": 0}
        self.assertEqual(said["events"], EVENTS)
        self.assertEqual(said["lost"], 0)
        self.assertEqual(said["omitted"], omitted)
        self.assertEqual(said["omitted_by_reason"], reasons)
        self.assertEqual(said["omitted_by_event"], [
            {"provider": "counter", "event": "count", "every": 100, "kept": kept,
             "omitted": omitted, "omitted_by_reason": reasons},
        ])

    def test_summary_as_json_without_request_has_no_omitted(self):
        result = self.record("-e", "counter:*", "--json")
        (said,) = (json.loads(line) for line in result.stdout.splitlines() if line[0] == "{")
        self.assertEqual((said["omitted"], said["omitted_by_event"]), (0, []))
        self.assertNotIn("omitted", result.stderr)

    def test_rate_is_limited_in_each_second(self):
        result = self.record("-e", "counter:*", "--max-rate", "20")
        everything, reasons, kept = self.counts(result)
        self.assertEqual((everything, set(reasons)), (EVENTS, {"--max-rate 20"}))
        # A recording of S seconds is within at most S + 2 whole seconds of the clock.
        seconds = int(float(harness.SUMMARY.search(result.stderr)[4])) + 2
        self.assertGreaterEqual(kept, 20)
        self.assertLessEqual(kept, 20 * seconds)
        self.assertEqual(self.events_in_file(), kept)

    def test_rate_above_that_of_program_omits_nothing(self):
        result = self.record("-e", "counter:*", "--max-rate", "1000M")
        self.assertEqual(self.counts(result), (EVENTS, {"--max-rate 1000000000": 0}, EVENTS))

    def test_rate_limits_what_sampling_keeps(self):
        result = self.record("-e", "counter:* 1/10", "--max-rate", "0.02k")
        everything, reasons, kept = self.counts(result)
        sampled = EVENTS - EVENTS // 10
        self.assertEqual((everything, reasons["1/10"]), (EVENTS, sampled))
        self.assertEqual(reasons["--max-rate 20"], EVENTS - sampled - kept)

    def test_only_matching_events_are_sampled(self):
        result = self.record("-e", "counter:* 1/10", "--where", "number >= 1000")
        passed = harness.THREADS * (PER_THREAD - 1000)
        self.assertEqual(self.counts(result),
                         (passed, {"1/10": passed - passed // 10}, passed // 10))
        self.assertEqual(self.events_in_file(), passed // 10)

    def test_count_is_of_kept_events(self):
        result = self.record("-e", "counter:* 1/10", "--limit", "30")
        self.assertEqual(self.events_in_file(), 30)
        self.assertGreaterEqual(self.counts(result)[2], 30)

    def test_one_liner_is_sampled(self):
        result = self.run_elog("-n", "counter:* 1/10 /number >= 1000/", "-o",
                               self.path("run.elog"), "--buffer-size", "16M", "--", *self.COUNTER)
        self.assertEqual(self.counts(result)[2], harness.THREADS * (PER_THREAD - 1000) // 10)

    def test_explain_names_sampling(self):
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        for options, line in (
                (("-e", "counter:*"), None),
                (("-e", "counter:* 1/10"), "events by 1/N of -e"),
                (("-e", "counter:*", "--max-rate", "5"), "events over --max-rate")):
            shown = self.run_elog("record", *options, "--explain").stdout
            found = re.search(r"^elog omits +(.*)$", shown, re.MULTILINE)
            self.assertEqual(found and found[1], line, shown)

    def test_invalid_rates_are_rejected(self):
        for rate in ("1/0", "2/3", "1/x", "1/1000000001", "100", "1/5 1/6"):
            self.assertIn(
                f"'{rate}' behind the pattern 'counter:*' is not a sampling rate: write 1/N",
                self.run_elog("record", "-e", f"counter:* {rate}", "--wait", status=2).stderr)
        for rate in ("0", "-1", "1.5", "x", "10kk", "nan", "inf", "1001M"):
            self.assertIn(
                "--max-rate is a whole number of events per second from 1 to 1000000000",
                self.run_elog("record", "-e", "counter:*", f"--max-rate={rate}", status=2).stderr)

    def test_commands_that_need_every_event_reject_sampling(self):
        pattern = "counter:* 1/10"
        for command, reason in (
                (("agg", "count()", "--wait"), "count() and sum() would be wrong without them"),
                (("top", "--wait"), "The rates of elog top would be wrong without them")):
            self.assertIn(f"'{pattern}' omits events. {reason}",
                          self.run_elog(*command, "-e", pattern, status=2).stderr)


if __name__ == "__main__":
    harness.main()
