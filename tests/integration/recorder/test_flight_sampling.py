#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""elog flight start -e 'PATTERN 1/N' and --max-rate: snapshots omit events and count them exactly:
emitted = kept + omitted + overwritten + lost.
"""

import json

import flight_recorder
import harness

PER_THREAD = 1500
EVENTS = harness.THREADS * PER_THREAD


class FlightSampling(flight_recorder.Case):
    def start_sampled(self, *options, size="4M"):
        self.run_elog("flight", "start", "flight", *options, "--buffer-size", size)

    def take(self, *options, name="snapshot", command="snapshot"):
        """The summary of a snapshot in a file as JSON, checked against the file."""
        path = self.path(f"{name}.elog")
        shown = json.loads(
            self.run_elog("flight", command, "flight", "-o", path, "--json", *options).stdout)
        self.assertIn(": whole: ", self.run_elog("verify", path).stdout)
        in_file = json.loads(self.run_elog("stat", path, "--json").stdout)
        for member in ("omitted", "omitted_by_reason", "omitted_by_event", "lost", "overwritten"):
            self.assertEqual(in_file[member], shown[member], member)
        self.assertEqual(in_file["events"], shown["file_events"])
        return shown

    def stop_it(self):
        self.run_elog("flight", "stop", "flight", "--discard")
        self.assert_no_files_left()

    def test_every_hundredth_event_is_kept(self):
        self.start_sampled("-e", "counter:* 1/100")
        self.assertEqual(self.emit(harness.THREADS, PER_THREAD), EVENTS)
        shown = self.take()
        kept = EVENTS // 100
        self.assertEqual((shown["events"], shown["file_events"]), (EVENTS, kept))
        self.assertEqual((shown["lost"], shown["overwritten"]), (0, 0))
        self.assertIsNone(shown["where_matched"])
        self.assertEqual(shown["omitted_by_reason"], {"sampling": EVENTS - kept, "max_rate": 0})
        self.assertEqual(shown["omitted_by_event"], [
            {"provider": "counter", "event": "count", "every": 100, "kept": kept,
             "omitted": EVENTS - kept, "omitted_by_reason": shown["omitted_by_reason"]}])
        # A snapshot does not continue the one before it.
        self.assertEqual(self.take(name="again")["omitted"], EVENTS - kept)
        # stop writes the same.
        self.assertEqual(self.take(name="last", command="stop")["file_events"], kept)
        self.assert_no_files_left()

    def test_overwritten_events_are_counted_apart(self):
        self.start_sampled("-e", "counter:* 1/10", size="128K")
        attempted = self.emit(harness.THREADS, 50000)
        shown = self.take()
        self.assertGreater(shown["overwritten"], 0)
        self.assertEqual(shown["lost"], 0)
        self.assertEqual(shown["events"] + shown["overwritten"], attempted)
        self.assertEqual(shown["file_events"] + shown["omitted"], shown["events"])
        self.assertEqual(shown["file_events"], -(-shown["events"] // 10))
        self.stop_it()

    def test_lost_events_are_counted_apart(self):
        self.start_sampled("-e", "counter:* 1/10", "--keep-first", size="128K")
        attempted = self.emit(harness.THREADS, 50000)
        shown = self.take()
        self.assertGreater(shown["lost"], 0)
        self.assertEqual(shown["file_events"] + shown["omitted"] + shown["lost"], attempted)
        self.stop_it()

    def test_rate_is_limited_in_each_second(self):
        self.start_sampled("-e", "counter:*", "--max-rate", "20")
        self.emit(harness.THREADS, PER_THREAD)
        shown = self.take()
        self.assertEqual(shown["omitted_by_reason"]["sampling"], 0)
        self.assertEqual(shown["file_events"] + shown["omitted_by_reason"]["max_rate"], EVENTS)
        # The events are within few seconds of the clock.
        self.assertGreaterEqual(shown["file_events"], 20)
        self.assertLess(shown["file_events"], EVENTS)
        # Each snapshot counts the seconds anew.
        self.assertEqual(self.take(name="again")["file_events"], shown["file_events"])
        self.stop_it()

    def test_rates_of_patterns_and_limit_apply_together(self):
        self.start_sampled("-e", "counter:* 1/1000", "-e", "*:count 1/10", "--max-rate", "0.02k")
        self.emit(harness.THREADS, PER_THREAD)
        (status,) = self.status()
        self.assertEqual(status["rules"], ["counter:* 1/1000", "*:count 1/10"])
        self.assertEqual(status["max_rate"], 20)
        shown = self.take()
        sampled = EVENTS - EVENTS // 10
        self.assertEqual(shown["omitted_by_reason"]["sampling"], sampled)
        self.assertEqual(shown["omitted_by_reason"]["max_rate"],
                         EVENTS - sampled - shown["file_events"])
        self.stop_it()

    def test_status_shows_what_a_snapshot_omits(self):
        self.start_sampled("-e", "counter:* 1/100")
        self.emit(harness.THREADS, PER_THREAD)
        kept = EVENTS // 100
        text = self.run_elog("flight", "status").stdout
        self.assertIn("  events      counter:* 1/100\n", text)
        self.assertIn(f"  holds       {EVENTS} events, ", text)
        self.assertIn(f"  snapshot    {EVENTS} events: {EVENTS - kept} omitted (1/100), {kept} kept\n",
                      text)
        (status,) = self.status()
        self.assertEqual((status["events"], status["omitted"], status["lost"]),
                         (EVENTS, EVENTS - kept, 0))
        self.assertIsNone(status["max_rate"])
        self.assertEqual(status["omitted_by_event"][0]["kept"], kept)
        self.stop_it()

    def test_status_without_sampling_omits_nothing(self):
        self.begin()
        self.emit(1, 10)
        self.assertNotIn("  snapshot ", self.run_elog("flight", "status").stdout)
        (status,) = self.status()
        self.assertEqual((status["omitted"], status["omitted_by_event"], status["max_rate"]),
                         (0, [], None))
        self.assertNotIn("omitted", self.run_elog("flight", "snapshot", "flight").stderr)
        self.stop_it()

    def test_text_of_snapshot_is_sampled(self):
        self.start_sampled("-e", "counter:* 1/10")
        self.emit(1, 100)
        result = self.run_elog("flight", "snapshot", "flight")
        self.assertEqual(sum(len(found) for found in self.numbers(result.stdout).values()), 10)
        self.assertNotIn("lost", result.stdout)
        self.assertIn("\n100 events: 90 omitted (1/10), 10 kept\n", result.stderr)
        self.stop_it()

    def test_predicate_comes_before_sampling(self):
        self.start_sampled("-e", "counter:* 1/10")
        self.emit(1, 1000)
        shown = self.take("--where", "number >= 500")
        self.assertEqual((shown["where_matched"], shown["file_events"], shown["omitted"]),
                         (500, 50, 450))
        self.stop_it()

    def test_rates_survive_pause_and_resume(self):
        self.start_sampled("-e", "counter:* 1/10")
        self.emit(1, 100)
        self.run_elog("flight", "pause", "flight")
        self.emit(1, 100)
        self.run_elog("flight", "resume", "flight")
        self.emit(1, 200)
        shown = self.take()
        self.assertEqual((shown["events"], shown["file_events"], shown["omitted"]), (300, 30, 270))
        self.assertEqual((shown["lost"], shown["overwritten"]), (0, 0))
        self.stop_it()

    def test_sessions_and_rates_are_stored_together(self):
        self.start_sampled("-e", "counter:* 1/10", "--session", "7")
        (status,) = self.status()
        self.assertEqual((status["rules"], status["sessions"]), (["counter:*# 1/10"], [7]))
        self.stop_it()

    def test_programs_ignore_invalid_rates_in_memory(self):
        """Programs of the user may overwrite the filter."""
        self.start_sampled("-e", "counter:* 1/100")
        (name,) = self.names("subscriptions")
        with open(f"{self.directory}/subscriptions/{name}", "r+b") as file:
            file.seek(flight_recorder.FILTER)
            self.assertEqual(file.read(15), b"counter:*\0%100\0")
            file.seek(flight_recorder.FILTER + len("counter:*\0%"))
            file.write(b"9x9")
        self.emit(1, 100)
        result = self.run_elog("flight", "snapshot", "flight", "-o", self.path("all.elog"))
        self.assertEqual(self.summary(result.stderr)[0], 100)
        self.assertNotIn("omitted", result.stderr)
        self.assertEqual(len(self.run_elog("print", self.path("all.elog")).stdout.splitlines()), 100)
        self.stop_it()

    def test_recording_that_overwrites_is_sampled(self):
        for options, omitted in ((("-e", "counter:* 1/10"), (90,)),
                                 # The events are within at most two seconds of the clock.
                                 (("-e", "counter:*", "--max-rate", "5"), range(90, 96))):
            shown = json.loads(self.run_elog(
                "record", *options, "--overwrite", "--json", "-o",
                self.path(f"run{len(options)}.elog"), "--", harness.program("counter"), "1",
                "100").stdout.splitlines()[-1])
            self.assertEqual(shown["events"], 100)
            self.assertEqual(shown["file_events"] + shown["omitted"], 100)
            self.assertIn(shown["omitted"], omitted)

    def test_invalid_rates_are_rejected(self):
        for options, message in (
                (("-e", "counter:* 1/0"), "'1/0' behind the pattern 'counter:*' is not a sampling rate"),
                (("-e", "counter:*", "--max-rate", "0"), "--max-rate is a whole number")):
            self.assertIn(message, self.run_elog("flight", "start", "flight", *options, status=2).stderr)
        self.assertEqual(self.names("subscriptions", may_be_missing=True), [])


if __name__ == "__main__":
    harness.main()
