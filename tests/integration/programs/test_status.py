#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A program can query the result of publishing its provider, and continues in any case."""

import os

import harness


class Status(harness.Case):
    def ask(self):
        output, _ = self.finish(self.start(harness.program("status")))
        code, sentence = output.splitlines()
        return int(code), sentence

    def test_published(self):
        code, sentence = self.ask()
        self.assertEqual(code, 0)
        self.assertIn(self.directory, sentence)
        self.assert_no_files_left()

    def test_disabled_by_environment(self):
        self.environment["EVENTLOG"] = "off"
        code, sentence = self.ask()
        self.assertEqual(code, 1)
        self.assertIn("EVENTLOG=off", sentence)
        self.assertFalse(os.path.exists(self.directory))

    def test_directory_accessible_to_other_users(self):
        os.mkdir(self.directory)
        os.chmod(self.directory, 0o755)
        code, sentence = self.ask()
        self.assertEqual(code, 2)
        self.assertIn("chmod 700", sentence)

    def test_directory_that_cannot_be_created(self):
        self.environment["EVENTLOG_DIR"] = "/proc/no/such/place"
        code, sentence = self.ask()
        self.assertEqual(code, 2)
        self.assertIn("EVENTLOG_DIR", sentence)

    def test_directory_with_relative_path(self):
        self.environment["EVENTLOG_DIR"] = "relative"
        code, sentence = self.ask()
        self.assertEqual(code, 2)
        self.assertRegex(sentence, "EVENTLOG_DIR is relative, .* begins with /")
        self.assertFalse(os.path.exists("relative"))


if __name__ == "__main__":
    harness.main()
