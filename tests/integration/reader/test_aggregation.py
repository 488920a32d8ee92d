#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""elog agg, of recordings and live: its numbers match those of the printed lines."""

import collections
import fractions
import json
import math
import os
import re
import subprocess

import harness


class Aggregation(harness.Case):
    def record(self, threads="3", events="4000"):
        path = self.path("run.elog")
        result = self.run_elog(
            "record", "-e", "counter:*", "-o", path, "--",
            harness.program("counter"), threads, events,
        )
        self.assertEqual(self.summary(result.stderr)[2], 0, result.stderr)
        return path

    def rows(self, path):
        """(number, check, worker, text) of each printed line."""
        found = [
            re.search(r"number=(\d+) check=(\d+) worker=(\d+) text=\"(.*)\"$", line)
            for line in self.run_elog("print", path).stdout.splitlines()
        ]
        return [(int(row[1]), int(row[2]), int(row[3]), row[4]) for row in found]

    def agg(self, *arguments):
        """The only result, from JSON."""
        result = self.run_elog("agg", "--json", *arguments)
        self.assertEqual(result.stderr, "")
        return json.loads(result.stdout)

    def test_numbers_match_printed_lines(self):
        path = self.record()
        expected = collections.defaultdict(list)
        for number, check, worker, text in self.rows(path):
            expected[worker, text].append((number, check))
        result = self.agg(
            "count(), sum(check), avg(check), min(number), max(check), stddev(check) "
            "by worker, text", path,
        )
        self.assertEqual(result["events"], 12000)
        self.assertEqual(result["lost"], 0)
        self.assertEqual(len(result["groups"]), len(expected))
        for group in result["groups"]:
            rows = expected[group["key"]["worker"], group["key"]["text"]]
            checks = [check for _, check in rows]
            values = group["values"]
            self.assertEqual(values["count()"], len(rows))
            self.assertEqual(values["sum(check)"], sum(checks))
            self.assertEqual(values["min(number)"], min(number for number, _ in rows))
            self.assertEqual(values["max(check)"], max(checks))
            average = fractions.Fraction(sum(checks), len(checks))
            self.assertAlmostEqual(values["avg(check)"] / float(average), 1, delta=1e-15)
            variance = sum((check - average) ** 2 for check in checks) / len(checks)
            self.assertAlmostEqual(values["stddev(check)"] / math.sqrt(variance), 1, delta=1e-14)

    def test_where_filters_records(self):
        path = self.record()
        expected = [row for row in self.rows(path) if row[0] >= 100 and row[2] != 1]
        result = self.agg("count(), sum(number)", "--where", "number >= 100 && worker != 1", path)
        self.assertEqual(
            result["groups"],
            [{"key": {}, "values": {"count()": len(expected),
                                    "sum(number)": sum(row[0] for row in expected)}}],
        )

    def test_limit_and_tail_are_of_the_first_and_last_events(self):
        path = self.record()
        rows = self.rows(path)
        for options, wanted in (
                ((), rows), (("--where", "worker == 1"), [row for row in rows if row[2] == 1])):
            for number in (3, len(wanted) + 5):
                for option, expected in (("--limit", wanted[:number]), ("--tail", wanted[-number:])):
                    result = self.agg("count(), sum(number)", path, option, str(number), *options)
                    self.assertEqual(
                        result["groups"],
                        [{"key": {}, "values": {"count()": len(expected),
                                                "sum(number)": sum(row[0] for row in expected)}}])
        for words, message in (
                (("count()", path, "--limit", "3", "--tail", "3"), "--tail"),
                (("count()", "-e", "counter:*", "--tail", "3"), "--tail and --clock are for a rec"),
                (("latency(a:b, a:c by x)", path, "--tail", "3"), "--tail, --json and --push-down")):
            self.assertIn(message, self.run_elog("agg", *words, status=2).stderr)

    def test_distributions_match_printed_lines(self):
        path = self.record()
        numbers = [row[0] for row in self.rows(path)]
        values = self.agg("quantize(number), hist(number), hist(number, 100)", path)
        values = values["groups"][0]["values"]
        for name in ("quantize(number)", "hist(number)", "hist(number, 100)"):
            buckets = values[name]["buckets"]
            self.assertEqual(values[name]["outside"], 0)
            self.assertEqual(sum(bucket["count"] for bucket in buckets), len(numbers))
            for bucket in buckets:
                self.assertEqual(
                    bucket["count"],
                    sum(bucket["from"] <= number < bucket["to"] for number in numbers),
                )
        self.assertEqual(len(values["hist(number, 100)"]["buckets"]), 40)

    def test_top_is_sorted_and_short(self):
        path = self.record()
        counts = collections.Counter(row[3] for row in self.rows(path))
        groups = self.agg("top(3, text)", path)["groups"]
        self.assertEqual(
            [group["values"]["count()"] for group in groups],
            [count for _, count in counts.most_common(3)],
        )

    def test_intervals_add_up_to_the_total(self):
        path = self.path("run.elog")
        self.run_elog(
            "record", "-e", "counter:*", "-o", path, "--",
            harness.program("counter"), "1", "400", "1000",
        )
        result = self.run_elog("agg", "--json", "--interval", "100ms", "count(), sum(number)", path)
        intervals = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertGreaterEqual(len(intervals), 4)
        begins = [harness.nanoseconds(interval["start_time"]) for interval in intervals]
        self.assertEqual(begins, sorted(set(begins)))
        self.assertTrue(all(begin % 100_000_000 == 0 for begin in begins))
        self.assertEqual(sum(interval["events"] for interval in intervals), 400)
        self.assertEqual(
            sum(interval["groups"][0]["values"]["sum(number)"] for interval in intervals),
            sum(range(400)),
        )

    def test_keys_beyond_the_limit_are_counted_and_reported(self):
        path = self.record(threads="1")
        result = self.run_elog("agg", "--json", "--keys", "10", "count() by number", path)
        self.assertEqual(json.loads(result.stdout)["overflowed"], 3990)
        self.assertEqual(len(json.loads(result.stdout)["groups"]), 10)
        self.assertIn("3990 events had other keys than the first 10", result.stderr)

    def test_table_is_human_readable(self):
        path = self.record()
        lines = self.run_elog("agg", "count() by worker | top 2", path).stdout.splitlines()
        self.assertEqual(lines[0], "worker  count()")
        self.assertRegex(lines[1], r"^\d +4000  \S+$")
        self.assertEqual(lines[3:], ["... and 1 more", "12000 events, 0 lost"])
        self.assertLessEqual(max(len(line) for line in lines), 80)

    def test_live_counts_until_the_duration_ends(self):
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        result = self.run_elog(
            "agg", "--json", "count(), max(number) by event", "-e", "counter:*",
            "--where", "number > 0", "--interval", "200ms", "--duration", "1s",
        )
        intervals = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertGreaterEqual(len(intervals), 2)
        for interval in intervals:
            self.assertEqual(interval["groups"][0]["key"], {"event": "count"})
            self.assertEqual(interval["groups"][0]["values"]["count()"], interval["events"])
        greatest = [interval["groups"][0]["values"]["max(number)"] for interval in intervals]
        self.assertEqual(greatest, sorted(set(greatest)))
        self.assertEqual(self.names("subscriptions"), [])

    def test_live_shows_interval_of_stopped_clock_that_is_ahead(self):
        with open(self.path("shown"), "wb") as shown:
            process = self.start(
                harness.ELOG, "agg", "--json", "count()", "-e", "simulation", "--wait",
                "--where", "number == 1", "--interval", "200ms", stdout=shown,
            )
            self.wait_for(lambda: self.is_mapped(process, "subscriptions"), "a subscription")
            self.start(harness.program("custom_clock"), stdin=subprocess.PIPE)
            self.wait_for(lambda: os.path.getsize(shown.name) > 0, "a result")
        with open(shown.name, encoding="utf-8") as file:
            self.assertEqual(json.loads(file.readline())["events"], 1)

    def test_live_prints_one_result_on_interrupt(self):
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        process = self.start(harness.ELOG, "agg", "--json", "count()", "-e", "counter")
        self.wait_for(lambda: self.is_mapped(process, "subscriptions"), "a subscription")

        def counters():
            listed = json.loads(self.run_elog("list", "--json", "counter").stdout)
            return listed["providers"][0]["processes"][0]["counters"]

        # Each thread has at most one event between counting and publishing it.
        self.wait_for(lambda: counters()["written"] > 1, "an event")
        output, _ = self.stop(process)
        self.assertGreater(json.loads(output)["events"], 0)

    def test_live_counts_only_selected_processes(self):
        selected, _ = [
            self.start_provider(harness.program("counter"), "1", "0", "1000") for _ in range(2)
        ]
        for options, pids in (
            (("-p", str(selected.pid)), {selected.pid}),
            (("--comm", "count*"), {process.pid for process in self.processes}),
            (("--comm", "absent"), set()),
        ):
            result = self.agg("count() by pid", "-e", "counter:*", "--duration", "300ms",
                              "--buffer-size", "128K", "--wait", *options)
            self.assertEqual({group["key"]["pid"] for group in result["groups"]}, pids)

    def test_live_of_selected_process_needs_no_pattern(self):
        selected, _ = [
            self.start_provider(harness.program("counter"), "1", "0", "1000") for _ in range(2)
        ]
        result = self.agg("count() by pid, event", "-p", str(selected.pid), "--duration", "300ms",
                          "--buffer-size", "128K")
        self.assertEqual([group["key"] for group in result["groups"]],
                         [{"pid": selected.pid, "event": "count"}])
        errors = self.run_elog("agg", "count()", status=2).stderr
        self.assertIn("elog agg has no events to aggregate. Give a recording, or select", errors)
        self.assertIn("  -e 'counter:*'  1 event\n", errors)
        self.assertTrue(errors.endswith("Try: elog agg --help\n"), errors)

    def test_time_range_matches_print(self):
        path = self.record()
        times = [line.split(" ")[0] for line in self.run_elog("print", path).stdout.splitlines()]
        part = ("--since", times[3000], "--until", times[9000])
        expected = len(self.run_elog("print", path, *part).stdout.splitlines())
        self.assertEqual(self.agg("count()", path, *part)["events"], expected)

    def test_lost_events_are_shown(self):
        path = self.path("lossy.elog")
        result = self.run_elog(
            "record", "-e", "counter:*", "--buffer-size", "128K", "-o", path, "--",
            harness.program("counter"), "4", "300000",
        )
        events, _, lost = self.summary(result.stderr)
        aggregated = self.agg("count()", path)
        self.assertEqual((aggregated["events"], aggregated["lost"]), (events, lost))

    def test_invalid_aggregations_are_rejected(self):
        path = self.record(threads="1", events="10")
        for text, said in (
            ("summ(number)", "The aggregation, column 1: 'summ' is no function"),
            ("sum(text)", "column 5: 'text' of counter:count is a text"),
            ("sum(numbr)", "Did you mean 'number'?"),
            ("count() by wrker", "Did you mean 'worker'?"),
            ("count(", "column 7"),
        ):
            result = self.run_elog("agg", text, path, status=2)
            self.assertIn(said, result.stderr)
            self.assertEqual(result.stdout, "")
        result = self.run_elog("agg", path, "count()", status=2)
        self.assertIn(f"The expression comes first: elog agg 'count()' {path}", result.stderr)
        for arguments in (["count()"], ["count()", path, "-e", "counter"],
                          ["count()", path, "--interval", "fast"], ["count()", path, "--keys", "0"],
                          ["count()", path, "--duration", "1s"], ["count()", path, "-p", "1"],
                          ["count()", path, "--buffer-size", "1M"],
                          ["count()", path, "--since", "soon"],
                          ["count()", "-e", "counter", "--since", "+1s"],
                          ["count()", "-e", "counter", "--until", "+1s"]):
            self.run_elog("agg", *arguments, status=2)

    def test_damaged_file_shows_remaining_records_and_fails(self):
        path = self.record()
        harness.damage_records(path)
        result = self.run_elog("agg", "--json", "count()", path, status=1)
        self.assertLess(json.loads(result.stdout)["events"], 12000)
        self.assertIn("is damaged", result.stderr)


class PushedDown(harness.Case):
    """The requests to the kernel; tests/vm tests their results on real kernels."""

    def test_reports_where_it_is_computed(self):
        self.start_provider(harness.example("order_service"), "600")
        result = self.run_elog("agg", "count()", "-e", "shop:*", "--explain")
        self.assertIn("only via tracefs and perf does the kernel count", result.stdout)

    def test_pushdown_with_interval_is_a_usage_error(self):
        result = self.run_elog("agg", "count()", "-e", "a", "--push-down", "often", status=2)
        self.assert_one_message(result.stderr, "--push-down is auto or never")

    def test_of_a_file_cannot_be_pushed_down(self):
        for option in (("--push-down", "never"), ("--explain",)):
            result = self.run_elog("agg", "count()", "x.elog", *option, status=2)
            self.assert_one_message(result.stderr, "are for live events")


if __name__ == "__main__":
    harness.main()
