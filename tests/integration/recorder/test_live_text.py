#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""elog record without -o shows events when they are emitted."""

import datetime
import json
import signal
import statistics
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

    def delays(self, count, *options):
        """Seconds from an event to its line."""
        recording = self.start_recording("-e", "counter:*", "--json", *options)
        found = []
        for _ in range(count):
            line = json.loads(recording.stdout.readline())
            arrived = time.time()
            second, fraction = line["time"].rstrip("Z").split(".")
            emitted = datetime.datetime.fromisoformat(f"{second}+00:00").timestamp()
            found.append(arrived - emitted - float(f"0.{fraction}"))
        self.stop(recording)
        return found

    def test_comes_within_the_latency(self):
        self.start_provider(harness.program("counter"), "1", "0", "20000")
        quick = statistics.median(self.delays(30))
        # Events of one poll appear together, at most one latency old; half of one on average.
        slow = statistics.median(self.delays(30, "--latency", "1s"))
        self.assertLess(quick, 1)
        self.assertGreater(slow, 0.4)
        self.assertLess(slow, 1 + quick + 1)

    def test_uses_little_cpu_when_idle(self):
        """A reader without input sleeps; polling continuously would take a whole CPU."""
        self.start_provider(harness.program("counter"), "1", "0", "20000")
        recording = self.start_recording("-e", "counter:*")
        recording.stdout.readline()
        # Meanwhile the pipe has room for the output.
        self.assertLess(self.cpu_share(recording), 0.25)
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
