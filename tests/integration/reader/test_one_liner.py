#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""elog -n and elog run run a script of one clause as elog record or elog agg, with their options."""

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

    def test_accepts_further_options(self):
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        shown = self.run_elog("-n", "counter:*", "--limit", "3").stdout
        self.assertEqual(len(shown.splitlines()), 3)
        shown = json.loads(self.run_elog("--json", "-n", "counter:* { @ = count() }", "--limit",
                                         "3").stdout)
        self.assertEqual(shown["events"], 3)

    def test_is_rejected_with_column(self):
        self.assertIn("-n, column 11: the brace is not closed",
                      self.run_elog("-n", "counter:* {", status=2).stderr)
        self.run_elog("-n", status=2)
        self.assertIn("-n, column 17: 'sume' is no function",
                      self.run_elog("-n", "counter:* { @ = sume(number) }", status=2).stderr)

    def test_contains_no_options(self):
        self.assertIn("-n, column 17: ",
                      self.run_elog("-n", "counter:* { @ = --help }", status=2).stderr)
        self.assertIn("-n, column 1: ", self.run_elog("-n", "--help {}", status=2).stderr)

    def test_completes_options_of_equivalent_command(self):
        self.assertIn("--interval\t", self.run_elog("__complete", "--", "-n", "a:* { @ = count() }",
                                                 "--int").stdout)
        self.assertIn("--output\t", self.run_elog("__complete", "--", "-n", "a:*", "--ou").stdout)


class Script(harness.Case):
    def write(self, text):
        path = self.path("x.script")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def test_has_comments_and_several_lines(self):
        path = self.write("#!/usr/bin/env -S elog run\n  # all of them\ncounter:*\n  /number >= 0/ {\n"
                          "    @[worker] = count();\n    trunc(@, 5)\n}\n")
        self.start(harness.program("counter"), "2", "0", "200")
        for words in (("run", path), ("--json", "run", path)):
            shown = json.loads(self.run_elog(*words, "--wait", "--duration", "1s",
                                             *(() if "--json" in words else ("-j",))).stdout)
            self.assertEqual(sorted(group["key"]["worker"] for group in shown["groups"]), [0, 1])

    def test_error_names_file_line_and_column(self):
        path = self.write("# sums\ncounter:* {\n  @ = sume(number)\n}\n")
        result = self.run_elog("run", path, status=2)
        self.assertIn(f"elog: {path}:3:7: 'sume' is no function", result.stderr)
        result = self.run_elog("run", self.write("counter:* " * 7000), status=2)
        self.assert_one_message(result.stderr, f"{path} is no script", "65536")

    def test_file_precedes_options(self):
        self.assert_one_message(self.run_elog("run", self.path("absent"), status=1).stderr,
                                "Cannot open", "absent")
        self.assert_one_message(self.run_elog("run", "--wait", status=2).stderr, "The script is missing")
        self.assertEqual(self.run_elog("run", "--output", status=2).stderr.splitlines()[-1],
                         "Try: elog run --help")

    def test_completes_options_of_equivalent_command(self):
        path = self.write("counter:* { @ = count() }")
        self.assertIn("--keys\t", self.run_elog("__complete", "--", "run", path, "--ke").stdout)
        self.assertEqual(self.run_elog("__complete", "--", "run", "x").stdout, ":files\n")


if __name__ == "__main__":
    harness.main()
