#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The last events of threads, of processes that end without cleanup, and of signal handlers are
recorded.
"""

import re

import harness

LIFE = re.compile(r" number=(\d+) check=(\d+)$", re.MULTILINE)
SAID = re.compile(r" signal_storm:interruption number=(\d+) text=\"(\w*)\"$", re.MULTILINE)
LETTERS = "abcdefghijklmnopqrstuvwxyz"


class ShortLives(harness.Case):
    def record(self, program, *arguments, buffer="8M"):
        """Records a program; returns the result of the record command."""
        result = self.run_elog(
            "record", "-e", f"{program}:*", "-o", self.path("run.elog"), "--buffer-size",
            buffer, "--", harness.program(program), *arguments,
        )
        self.assertNotIn("were damaged", result.stderr)
        return result

    def check_lives(self, result, count):
        """The recorded text."""
        self.assertEqual(self.summary(result.stderr)[::2], (count, 0))
        text = self.run_elog("print", self.path("run.elog")).stdout
        numbers = [(int(number), int(check)) for number, check in LIFE.findall(text)]
        self.assertEqual(
            sorted(numbers), [(i, i * 0x9E3779B97F4A7C15 % 2**64) for i in range(count)]
        )
        return text

    def test_of_threads(self):
        count = 4000
        text = self.check_lives(self.record("short_lived", "threads", str(count)), count)
        threads = [harness.LINE.match(line)["thread"] for line in text.splitlines()]
        # Thread ids may be reused.
        self.assertGreater(len(set(threads)), count // 2)
        self.assert_no_files_left()

    def test_of_a_process_that_exits_at_once(self):
        self.check_lives(self.record("short_lived", "exit", "1000"), 1000)

    def test_of_a_process_leave_file_until_next_elog(self):
        process = self.start(harness.program("short_lived"), "exit", "1")
        self.finish(process)
        (name,) = self.names("processes")
        self.assertRegex(name, rf"^{process.pid}\.\d+$")
        self.assertNotIn("short_lived", self.run_elog("list").stdout)
        self.assert_no_files_left()

    def check_interruptions(self, buffer):
        """Counts millions of events, and reads those of the handlers."""
        # A third of a second of a timer with ten thousand ticks per second; more on a slow machine.
        ticks = 3000
        result = self.record("signal_storm", str(ticks), buffer=buffer)
        attempted = {name: int(count) for name, count in
                     re.findall(r"^(work|interruption) (\d+)$", result.stdout, re.MULTILINE)}
        self.assertGreaterEqual(attempted["interruption"], ticks)
        events, _, lost = self.summary(result.stderr)
        self.assertEqual(events + lost, sum(attempted.values()))

        received = {name: int(count) for name, count in re.findall(
            r"^signal_storm:(\w+) +(\d+) ", self.run_elog("stat", self.path("run.elog")).stdout,
            re.MULTILINE)}
        self.assertEqual(sum(received.values()), events)
        printing = self.start(harness.ELOG, "print", self.path("run.elog"))
        said = SAID.findall("".join(line for line in printing.stdout if ":interruption" in line))
        self.assertEqual(len(said), received["interruption"])
        self.assertGreater(len(said), 0)
        numbers = [int(number) for number, _ in said]
        self.assertEqual(len(set(numbers)), len(numbers))
        self.assertLess(max(numbers), attempted["interruption"])
        for number, letters in said:
            self.assertEqual(letters, LETTERS[: int(number) % 26])

    def test_of_signal_handlers_are_all_accounted_for(self):
        self.check_interruptions("16M")

    def test_of_signal_handlers_are_all_accounted_for_with_losses(self):
        self.check_interruptions("128K")

    def test_of_signal_handlers_are_all_accounted_for_without_rseq(self):
        self.environment["EVENTLOG_RSEQ"] = "off"
        self.check_interruptions("16M")


if __name__ == "__main__":
    harness.main()
