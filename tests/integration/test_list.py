#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""elog list shows who can be listened to, and nobody else."""

import signal

import harness


class List(harness.Case):
    def test_shows_provider_events_fields_and_process(self):
        service = self.start_provider(harness.example("order_service"), "30")
        output = self.run_elog("list").stdout
        self.assertIn(f"shop  (order_service, process {service.pid})\n", output)
        self.assertRegex(
            output, r"\n  order_placed +order:u64 customer:text items:u32 cents:u32\n"
        )
        self.assertRegex(output, r"\n  queue_length +orders:u32\n")

    def test_shows_each_process_of_several(self):
        first = self.start_provider(harness.program("counter"), "1", "0", "1000")
        second = self.start_provider(harness.program("counter"), "1", "0", "1000")
        output = self.run_elog("list").stdout
        self.assertIn(f"process {first.pid})", output)
        self.assertIn(f"process {second.pid})", output)

    def test_takes_a_pattern(self):
        self.start_provider(harness.example("order_service"), "30")
        output = self.run_elog("list", "shop:payment_*").stdout
        self.assertIn("payment_retry", output)
        self.assertNotIn("order_placed", output)

    def test_says_in_words_that_there_is_nothing(self):
        result = self.run_elog("list")
        self.assertEqual(result.stdout, "")
        self.assertIn("No running program of yours offers events.", result.stderr)
        self.assertEqual(self.names("providers"), [])

    def test_of_a_pattern_that_matches_nothing_fails_in_words(self):
        result = self.run_elog("list", "nobody:*", status=1)
        self.assert_one_sentence(result.stderr, "nobody:*")

    def test_leaves_out_and_removes_what_a_killed_program_has_left(self):
        program = self.start_provider(harness.program("counter"), "1", "0", "1000")
        program.send_signal(signal.SIGKILL)
        program.wait()
        self.assertEqual(len(self.names("providers")), 1)
        self.assertEqual(self.run_elog("list").stdout, "")
        self.assertEqual(self.names("providers"), [])

    def test_mentions_a_damaged_provider_file_and_shows_the_others(self):
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        with open(f"{self.directory}/providers/junk", "wb") as file:
            file.write(b"junk")
        result = self.run_elog("list")
        self.assertIn("counter", result.stdout)
        self.assertIn("junk", result.stderr)


if __name__ == "__main__":
    harness.main()
