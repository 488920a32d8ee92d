#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The files that commands write: readable by their user only, and never those of other users that
wait under their name in a folder of several users.
"""

import os
import stat
import unittest

import harness

COMMAND = harness.program("counter"), "1", "100"
OTHER_USER = 65534
PRECIOUS = "precious\n"
as_root = unittest.skipUnless(os.geteuid() == 0, "takes root")


class OutputFiles(harness.Case):
    def setUp(self):
        super().setUp()
        self.shared = self.path("shared")
        os.mkdir(self.shared)
        os.chmod(self.shared, 0o1777)
        self.precious = self.path("precious")
        with open(self.precious, "w", encoding="utf-8") as file:
            file.write(PRECIOUS)

    def in_shared(self, name):
        return os.path.join(self.shared, name)

    def record(self, path, *options, status=0):
        return self.run_elog("record", "-o", path, *options, "--", *COMMAND, status=status)

    def mode(self, path):
        return stat.S_IMODE(os.stat(path).st_mode)

    def assert_precious(self):
        with open(self.precious, encoding="utf-8") as file:
            self.assertEqual(file.read(), PRECIOUS)


class Modes(OutputFiles):
    def test_files_with_events_are_for_their_user_alone(self):
        self.addCleanup(os.umask, os.umask(0o022))
        self.record(self.path("run.elog"))
        written = ["run.elog"]
        for name, *command in (
                ("cut.elog", "cut", self.path("run.elog")),
                ("merged.elog", "merge", self.path("run.elog"), self.path("cut.elog")),
                ("run.jsonl", "convert", self.path("run.elog"), "--to", "jsonl"),
                ("run.csv", "convert", self.path("run.elog"), "--to", "csv")):
            self.run_elog(*command, "-o", self.path(name))
            written.append(name)
        for name in written:
            self.assertEqual(self.mode(self.path(name)), 0o600, name)

    def test_snapshots_are_for_their_user_alone(self):
        self.addCleanup(os.umask, os.umask(0o022))
        self.run_elog("flight", "start", "flight", "-e", "counter:*")
        self.run_elog("flight", "snapshot", "flight", "-o", self.path("snapshot.elog"))
        self.run_elog("flight", "stop", "flight", "-o", self.path("last.elog"))
        self.assertEqual(self.mode(self.path("snapshot.elog")), 0o600)
        self.assertEqual(self.mode(self.path("last.elog")), 0o600)

    def test_schemas_and_generated_source_follow_the_umask(self):
        self.record(self.path("run.elog"))
        self.addCleanup(os.umask, os.umask(0o027))
        self.run_elog("schema", "show", self.path("run.elog"), "-o", self.path("shown.txt"))
        self.assertEqual(self.mode(self.path("shown.txt")), 0o640)


class SharedFolder(OutputFiles):
    def check_rejected(self, reason):
        """Requires that no command writes to the file x there, or through it."""
        self.assertIn(reason, self.record(self.in_shared("x"), "--force", status=1).stderr)
        self.record(self.path("run.elog"), "--force")
        for command in (["convert", self.path("run.elog"), "--to", "jsonl"],
                        ["cut", self.path("run.elog")]):
            self.run_elog(*command, "--force", "-o", self.in_shared("x"), status=1)
        self.assert_precious()

    def test_symbolic_link_is_not_followed(self):
        os.symlink(self.precious, self.in_shared("x"))
        self.check_rejected("symbolic link")

    def test_hard_link_is_not_emptied(self):
        os.link(self.precious, self.in_shared("x"))
        result = self.record(self.in_shared("x"), "--force", status=1)
        self.assertIn("has 2 names", result.stderr)
        self.assert_precious()

    @as_root
    def test_file_of_another_user_is_not_taken_over(self):
        with open(self.in_shared("x"), "wb"):
            pass
        os.chown(self.in_shared("x"), OTHER_USER, OTHER_USER)
        result = self.record(self.in_shared("x"), "--force", status=1)
        self.assertIn(f"belongs to user {OTHER_USER}", result.stderr)
        self.assertEqual(os.path.getsize(self.in_shared("x")), 0)

    @as_root
    def test_unfinished_file_of_another_user_is_not_taken_over(self):
        self.record(self.path("run.elog"))
        for folder in (self.shared, self.scratch):
            unfinished = os.path.join(folder, "new.jsonl.unfinished")
            with open(unfinished, "wb"):
                pass
            os.chown(unfinished, OTHER_USER, OTHER_USER)
            result = self.run_elog("convert", self.path("run.elog"), "--to", "jsonl", "-o",
                                   os.path.join(folder, "new.jsonl"), status=1)
            self.assertIn(f"belongs to user {OTHER_USER}", result.stderr)
            self.assertEqual(os.path.getsize(unfinished), 0)

    def test_unfinished_hard_link_is_not_emptied(self):
        self.record(self.path("run.elog"))
        os.link(self.precious, self.in_shared("new.jsonl.unfinished"))
        result = self.run_elog("convert", self.path("run.elog"), "--to", "jsonl", "-o",
                               self.in_shared("new.jsonl"), status=1)
        self.assertIn("has 2 names", result.stderr)
        self.assert_precious()

    def test_own_file_is_replaced(self):
        self.record(self.in_shared("x"))
        self.record(self.in_shared("x"), "--force")
        self.assertIn(": whole: ", self.run_elog("verify", self.in_shared("x")).stdout)

    def test_link_in_own_folder_is_followed(self):
        os.mkdir(self.path("disk"))
        os.symlink(self.path("disk/run.elog"), self.path("link.elog"))
        self.record(self.path("link.elog"), "--force")
        self.assertTrue(os.path.islink(self.path("link.elog")))
        self.assertIn(": whole: ", self.run_elog("verify", self.path("disk/run.elog")).stdout)


if __name__ == "__main__":
    harness.main()
