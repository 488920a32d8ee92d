#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""elog record without -o shows events when they are emitted."""

import json
import os
import re
import select
import signal
import subprocess
import time

import harness


class LiveText(harness.Case):
    def test_comes_line_by_line_while_the_program_runs(self):
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        recording = self.start_recording("-e", "counter:*")
        lines = [recording.stdout.readline() for _ in range(50)]
        for line in lines:
            self.assertRegex(line, harness.LINE)
        self.assertIsNone(recording.poll())
        recording.send_signal(signal.SIGINT)
        rest = recording.stdout.read()
        errors = recording.stderr.read()
        self.assertEqual(recording.wait(timeout=harness.TIMEOUT), 0)
        events, _, lost = self.summary(errors)
        self.assertEqual(events, 50 + len(rest.splitlines()))
        self.assertEqual(lost, 0)

    def test_invalid_format_is_rejected_first(self):
        for more in ([], ["--explain"]):
            run = self.run_elog("record", "-e", "counter:*", "--format", "{bad", "--wait", *more,
                                status=2)
            self.assertEqual(run.stderr, "elog: --format, column 1: This { has no }. One that is "
                                         "meant as such is written {{.\n")

    def test_options_for_lines_are_those_of_print(self):
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        recording = self.start_recording("-e", "counter:*", "--limit", "3", "--format",
                                         "{number} {event} {number} {worker}")
        self.assertEqual(recording.stdout.read(), "1 count 1 0\n2 count 2 0\n3 count 3 0\n")
        self.assertEqual(recording.wait(timeout=harness.TIMEOUT), 0)
        recording = self.start_recording("-e", "counter:*", "--limit", "2", "--number", "--date",
                                         "--fields", "worker")
        for number, line in enumerate(recording.stdout.read().splitlines(), 1):
            self.assertRegex(line, rf"^ *{number} \d{{4}}-\d\d-\d\d \S+ \[\d+\] .* worker=\d+$")
        self.assertEqual(recording.wait(timeout=harness.TIMEOUT), 0)
        result = self.run_elog("record", "-e", "counter:*", "--date", "-o", self.path("x.elog"),
                               status=2)
        self.assert_one_message(result.stderr, "--date", "-o writes a recording")
        self.assertFalse(os.path.exists(self.path("x.elog")))

    def test_unknown_names_of_running_programs_are_rejected_first(self):
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        for options, complaint in (
            (("--fields", "nmber"),
             "--fields, column 1: No event has a field 'nmber'. Did you mean 'number'?"),
            (("--format", "{elapsd} {number}"),
             "--format, column 2: No event has a field 'elapsd'. Did you mean 'elapsed'?"),
            (("--format", "{session}"), "--format, column 2: No event belongs to a session."),
        ):
            for more in ((), ("--explain",)):
                run = self.run_elog("record", "-e", "counter:*", "--limit", "2", *options, *more,
                                    status=2)
                self.assertEqual((run.stdout, run.stderr), ("", f"elog: {complaint}\n"))
        self.assertEqual(self.names("subscriptions"), [])

    def test_unknown_names_are_reported_after_the_events_of_a_command(self):
        complaint = "elog: --fields, column 8: No event has a field 'wrker'. Did you mean 'worker'?"
        run = self.run_elog("record", "--fields", "number,wrker", "--",
                            harness.program("counter"), "1", "3", status=2)
        self.assertEqual(len(re.findall(r"(?m)count number=\d$", run.stdout)), 3)
        self.assertEqual(run.stderr.splitlines()[-1], complaint)
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        run = self.run_elog("record", "-e", "counter:*", "--wait", "--fields", "number,wrker",
                            "--limit", "1", status=2)
        self.assertEqual(len(run.stdout.splitlines()), 1)
        self.assertEqual(run.stderr.splitlines()[-1], complaint)

    def test_names_of_programs_that_start_later_are_accepted(self):
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        recording = self.start_recording("-e", "shop", "--wait", "--format", "{customer}",
                                         "--limit", "1")
        self.start(harness.example("order_service"), "5")
        self.assertEqual(len(recording.stdout.read().splitlines()), 1)
        self.assertEqual(recording.wait(timeout=harness.TIMEOUT), 0)

    def read_line(self, recording):
        """The next line of a recording whose earlier lines have all been read."""
        ready, _, _ = select.select([recording.stdout], [], [], harness.TIMEOUT)
        self.assertTrue(ready, "no line has come")
        return recording.stdout.readline()

    def test_shows_a_single_event(self):
        """An event is shown without others behind it, and before its program ends."""
        recording = self.start_recording("-e", "counter:*", "--wait")
        an_hour = str(3600 * 1000 * 1000)
        program = self.start(harness.program("counter"), "1", "0", an_hour)
        self.assertIn(" number=0 ", harness.LINE.match(self.read_line(recording))["fields"])
        self.assertIsNone(program.poll())
        self.assertIsNone(recording.poll())
        self.stop(recording)

    def delays_until(self, is_enough, *options):
        """Seconds from each event to its line, until `is_enough` says so of one, or of 500 events."""
        recording = self.start_recording("-e", "counter:*", "--json", *options)
        found = []
        while len(found) < 500 and not (found and is_enough(found[-1])):
            line = json.loads(recording.stdout.readline())
            found.append((time.time_ns() - harness.nanoseconds(line["time"])) / 1e9)
        self.stop(recording)
        return found

    def test_comes_within_the_latency(self):
        self.start_provider(harness.program("counter"), "1", "0", "20000")
        # An event is held back for half of the latency to all of it. On a busy machine many are
        # late, but not each of hundreds, and none is early. The default is 10 ms.
        quick = self.delays_until(lambda delay: delay < 0.03)
        self.assertLess(min(quick), 0.03)
        slow = self.delays_until(lambda delay: delay < 0.75, "--latency", "1s")
        self.assertLess(min(slow), 0.75)
        self.assertGreater(min(slow), 0.45)

    def test_uses_little_cpu_when_idle(self):
        """A reader without input sleeps; polling continuously would take a whole CPU."""
        self.start_provider(harness.program("counter"), "1", "0", "20000")
        recording = self.start_recording("-e", "counter:*")
        recording.stdout.readline()
        # Meanwhile the pipe has room for the output.
        self.assertLess(self.cpu_share(recording), 0.25)
        # It looks for events every 5 ms, half of its latency, and writes what it has found.
        self.assertLess(self.wakeups(recording), 2 * 200)
        self.stop(recording)

    def test_is_in_the_order_of_time_across_cpus(self):
        result = self.run_elog(
            "record", "-e", "counter:*", "--", harness.program("counter"), "4", "5000"
        )
        lines = [line for line in result.stdout.splitlines() if harness.LINE.match(line)]
        times = [line.split()[0] for line in lines]
        self.assertEqual(times, sorted(times))
        events, _, lost = self.summary(result.stderr)
        self.assertEqual(events, len(lines))
        self.assertEqual(events + lost, 20000)

    def test_does_not_mix_lines_with_command_output(self):
        result = self.run_elog(
            "record", "-e", "counter:*", "--", harness.program("counter"), "4", "5000"
        )
        others = [line for line in result.stdout.splitlines() if not harness.LINE.match(line)]
        self.assertEqual(others, ["attempted 20000"])

    def test_names_the_process_and_the_thread(self):
        program = self.start_provider(harness.example("hello"), "1000")
        recording = self.start_recording("-e", "hello")
        line = harness.LINE.match(recording.stdout.readline())
        self.assertEqual(line["process"], "hello")
        self.assertEqual(int(line["thread"]), program.pid)
        self.assertEqual(line["provider"], "hello")
        self.assertEqual(line["event"], "greeting")
        self.assertRegex(line["fields"], r'^ number=\d+ text="hello, listener"$')
        self.stop(recording)

    def test_names_the_emitting_thread(self):
        """Two threads emit; neither is the first one, whose number is that of the process."""
        program = self.start_provider(harness.program("counter"), "2", "0", "1000")
        text = self.start_recording("-e", "counter:*")
        in_json = self.start_recording("-e", "counter:*", "--json")
        seen = {"text": set(), "json": set()}
        for _ in range(1000):
            line = json.loads(in_json.stdout.readline())
            self.assertEqual(line["pid"], program.pid)
            seen["json"].add(line["tid"])
            seen["text"].add(int(harness.LINE.match(text.stdout.readline())["thread"]))
            if all(len(threads) == 2 for threads in seen.values()):
                break
        self.assertEqual(len(seen["text"]), 2)
        self.assertEqual(seen["text"], seen["json"])
        threads = set(map(int, os.listdir(f"/proc/{program.pid}/task")))
        self.assertEqual(seen["text"] - (threads - {program.pid}), set())
        self.stop(text)
        self.stop(in_json)

    def test_ends_quietly_on_closed_pipe(self):
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        recording = self.start_recording("-e", "counter:*")
        recording.stdout.readline()
        recording.stdout.close()
        recording.wait(timeout=harness.TIMEOUT)
        self.assertEqual(recording.returncode, 0)
        self.assertEqual(recording.stderr.read(), "")
        self.assertEqual(self.names("subscriptions"), [])

    def test_print_ends_quietly_on_closed_pipe(self):
        self.run_elog(
            "record", "-e", "counter:*", "-o", self.path("run.elog"), "--",
            harness.program("counter"), "1", "50000",
        )
        printing = self.start(harness.ELOG, "print", self.path("run.elog"))
        printing.stdout.readline()
        printing.stdout.close()
        self.assertEqual(printing.wait(timeout=harness.TIMEOUT), 0)
        self.assertEqual(printing.stderr.read(), "")

    def test_blocked_output_does_not_prevent_exit(self):
        self.start_provider(harness.program("counter"), "2", "0", "20")
        recording = self.start_recording("-e", "counter:*", "--duration", "200ms")
        # The pipe is neither read nor closed.
        self.expect(recording, 1)
        self.assertEqual(recording.wait(timeout=harness.TIMEOUT), 1)
        self.assertIn("The output accepts no data", recording.stderr.read())
        self.assertEqual(self.names("subscriptions"), [])

    def test_reports_an_output_that_is_full(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            result = self.run_elog(
                "record", "-e", "counter:*", "--", harness.program("counter"), "1", "100",
                status=1, stdout=full, stderr=subprocess.PIPE,
            )
        # It may also report that the command continues.
        told = [line for line in result.stderr.splitlines() if "still running" not in line]
        self.assert_one_message("\n".join(told), "output cannot be written")
        self.assertEqual(self.names("subscriptions"), [])


if __name__ == "__main__":
    harness.main()
