#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Options of one letter may share a word, in every command with several such options."""

import re

import harness


class ShortOptions(harness.Case):
    def record(self):
        path = self.path("run.elog")
        self.run_elog("record", "-e", "counter:*", "-o", path, "--", harness.program("counter"),
                      "1", "10")
        return path

    def test_every_command_accepts_combined_flags(self):
        several = 0
        for command in self.commands():
            text = self.run_elog(*command, "--help").stdout
            # Options without a value.
            letters = re.findall(r"^  -(\w),--[\w-]+ {2,}", text, re.M)
            self.assertIn("h", letters)
            several += len(letters) > 1
            # -h is last: the letters before it must be valid.
            word = "-" + "".join(letter for letter in letters if letter != "h") + "h"
            self.assertEqual(self.run_elog(*command, word).stdout, text, word)
        self.assertGreaterEqual(several, 15)

    def test_combined_flags_equal_separate_flags(self):
        path = self.record()
        apart = self.run_elog("print", path, "--utc", "--delta").stdout
        self.assertEqual(self.run_elog("print", path, "-ud").stdout, apart)
        self.assertEqual(self.run_elog("print", "-du", path).stdout, apart)
        self.assertEqual(self.run_elog("print", "-dfu", path).stdout, apart)
        self.assertEqual(
            self.run_elog("print", "-fj", path).stdout,
            self.run_elog("print", "--follow", "--json", path).stdout,
        )
        self.start_provider(harness.example("order_service"), "600")
        self.assertTrue(self.run_elog("list", "-js").stdout.startswith("{"))

    def test_last_combined_flag_may_take_a_value(self):
        for number, words in enumerate((
            ("-wjo", "{}", "-ecounter:*"), ("-wjo{}", "-e", "counter:*"),
            ("-jo", "{}", "-we", "counter:*"), ("-jwecounter:*", "-o{}"),
        )):
            path = self.path(f"{number}.elog")
            words = [word.format(path) for word in words]
            result = self.run_elog("record", *words, "--", harness.program("counter"), "1", "10")
            self.assertIn(f'{{"version":1,"file":"{path}","events":10,', result.stdout)

    def test_unknown_flag_is_named(self):
        path = self.record()
        self.assertIn("-x", self.run_elog("stat", "-jx", path, status=2).stderr)
        self.assertIn("-x", self.run_elog("print", "-fxu", path, status=2).stderr)

    def test_exclusive_flags_conflict_when_combined(self):
        errors = self.run_elog("print", "-jd", self.record(), status=2).stderr
        self.assertRegex(errors, "--(json|delta) excludes --(delta|json)")

    def test_shells_complete_value_of_last_flag(self):
        def candidates(*words):
            return self.run_elog("__complete", "--", *words).stdout.splitlines()

        self.assertEqual(candidates("record", "-wjo", "x"), [":files"])
        self.assertEqual(candidates("record", "-we", "shop:*@w"), ["shop:*@warn\t"])
        # The word contains the value; the next word is an option.
        self.assertEqual(candidates("record", "-wox", "--js"), [
            line for line in candidates("record", "--js") if line.startswith("--json\t")
        ])
        self.assertEqual(candidates("record", "-wj", "--js"), [])


if __name__ == "__main__":
    harness.main()
