#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""elog -n does in one line what elog record and elog agg do with options."""

import json

import harness


class OneLiner(harness.Case):
    def test_shows_events_that_match_predicate(self):
        said = self.run_elog("-n", "counter:count /worker == 1 && number < 3/", "--wait", "--",
                             harness.program("counter"), "2", "100").stdout
        # The program prints lines of its own.
        shown = [line for line in said.splitlines() if " counter:count " in line]
        self.assertEqual([line.split(" number=")[1].split()[0] for line in shown], ["0", "1", "2"])
        self.assertTrue(all(" worker=1 " in line for line in shown), shown)

    def test_computes_for_each_value_of_the_keys(self):
        self.start(harness.program("counter"), "2", "0", "200")
        shown = json.loads(self.run_elog(
            "-n", "counter:* /number >= 0/ { @[worker] = count(), max(number) }", "--wait",
            "--duration", "1s", "--json").stdout)
        self.assertEqual(sorted(group["key"]["worker"] for group in shown["groups"]), [0, 1])
        self.assertEqual(sum(group["values"]["count()"] for group in shown["groups"]),
                         shown["events"])

    def test_is_rejected_with_column(self):
        self.assert_one_message(self.run_elog("-n", "counter:* {", status=2).stderr,
                                 "one-liner, column 11: the brace is not closed")
        self.run_elog("-n", status=2)
        self.assertIn("one-liner, column 17: 'sume' is no function",
                      self.run_elog("-n", "counter:* { @ = sume(number) }", status=2).stderr)

    def test_contains_no_options(self):
        self.assert_one_message(self.run_elog("-n", "counter:* { @ = --help }", status=2).stderr,
                                 "one-liner, column 17: ")
        self.assert_one_message(self.run_elog("-n", "--help {}", status=2).stderr,
                                 "one-liner, column 1: ")

    def test_completes_options_of_equivalent_command(self):
        self.assertIn("--interval\t", self.run_elog("completion", "--", "-n",
                                                    "a:* { @ = count() }", "--int").stdout)
        self.assertIn("--output\t", self.run_elog("completion", "--", "-n", "a:*", "--ou").stdout)


if __name__ == "__main__":
    harness.main()
