#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""elog record --split-by writes a file for each session or value of a field."""

import json
import os
import re
import stat
import unittest

import harness

OTHER_USER = 65534

# Names that no event of the program counter has, and the messages.
UNKNOWN_NAMES = (
    ("wroker", "elog: --split-by: No event has a field 'wroker'. Did you mean 'worker'?\n"),
    ("nofield",
     "elog: --split-by: No event has a field 'nofield'. See the fields with: elog list\n"),
    ("session", "elog: --split-by: No event belongs to a session. Name a field instead; see the "
                "fields with: elog list\n"),
)


class SplitCase(harness.Case):
    def setUp(self):
        super().setUp()
        self.folder = self.path("out")

    def record(self, name, *command, options=(), status=0):
        """Records a command, and returns the summary's numbers and elog's messages."""
        result = self.run_elog("record", "-o", self.folder + "/", "--split-by", name, *options,
                               "--", *command, status=status)
        return self.summary(result.stderr), result.stderr

    def files(self):
        return sorted(os.listdir(self.folder))

    def printed(self, name):
        return self.run_elog("print", f"{self.folder}/{name}").stdout.splitlines()

    def described(self, name):
        return json.loads(self.run_elog("stat", "--json", f"{self.folder}/{name}").stdout)


class Split(SplitCase):
    def test_each_session_has_a_file(self):
        (events, _, lost), errors = self.record(
            "session", harness.example("sessions"), "3", options=("-e", "downloads:*@trace"))
        self.assertEqual(lost, 0)
        self.assertIn(f"in {self.folder}/*.elog", errors)
        self.assertEqual(self.files(), ["other.elog"] + [f"session={n}.elog" for n in range(1, 5)])
        total = 0
        for number in range(1, 5):
            name = f"session={number}.elog"
            self.assertIn("whole", self.run_elog("verify", f"{self.folder}/{name}").stdout)
            lines = self.printed(name)
            total += len(lines)
            for line in lines:
                self.assertRegex(line, f" session={number}( |$)")
            found = [re.search(r"downloads:(\w+)", line)[1] for line in lines]
            self.assertEqual(found.count("chunk"), 3)
            self.assertEqual(found.count("started"), 1)
            self.assertEqual(found.count("stalled"), 3 if number == 4 else 0)
        others = self.printed("other.elog")
        self.assertIn("mirror_chosen", others[0])
        self.assertEqual(total + len(others), events)

    def test_each_value_of_a_field_has_a_file(self):
        (events, _, _), _ = self.record("worker", harness.program("counter"), "3", "500")
        self.assertEqual(events, 1500)
        self.assertEqual(self.files(), ["other.elog"] + [f"worker={n}.elog" for n in range(3)])
        self.assertEqual(self.printed("other.elog"), [])
        for worker in range(3):
            lines = self.printed(f"worker={worker}.elog")
            numbers = [int(re.search(r" number=(\d+) ", line)[1]) for line in lines]
            self.assertEqual(numbers, list(range(500)))
            self.assertTrue(all(f" worker={worker} " in line for line in lines))

    def test_texts_name_their_files(self):
        self.record("text", harness.program("counter"), "1", "52")
        letters = "abcdefghijklmnopqrstuvwxyz"
        expected = [f"text={letters[:size]}.elog" for size in range(26)]
        self.assertEqual(self.files(), sorted(["other.elog"] + expected))
        for name in expected:
            self.assertEqual(len(self.printed(name)), 2)

    def test_names_that_every_event_has(self):
        self.record("event", harness.example("sessions"), "1", options=("-e", "downloads:*@trace"))
        self.assertIn("event=chunk.elog", self.files())
        self.assertEqual(len(self.printed("event=chunk.elog")), 4)

    def test_predicate_and_compression_apply_to_all_files(self):
        self.record("worker", harness.program("counter"), "2", "500",
                    options=("--where", "number < 10", "--compress"))
        for worker in range(2):
            self.assertEqual(len(self.printed(f"worker={worker}.elog")), 10)

    def test_each_file_has_all_losses(self):
        attempted, recorded, lost, _ = self.record_with_losses(
            self.folder, 2, 20000, "--split-by", "text")
        found = [self.described(name) for name in self.files()]
        self.assertEqual([each["lost"] for each in found], [lost] * 27)
        self.assertEqual(sum(each["events"] for each in found), recorded)
        self.assertEqual(recorded + lost, attempted)

    def test_merged_files_have_each_loss_once(self):
        attempted, recorded, lost, _ = self.record_with_losses(
            self.folder, 2, 20000, "--split-by", "worker")
        merged = self.path("merged.elog")
        self.run_elog("merge", *(f"{self.folder}/{name}" for name in self.files()), "-o", merged)
        self.assertIn(": whole: ", self.run_elog("verify", merged).stdout)
        found = json.loads(self.run_elog("stat", "--json", merged).stdout)
        self.assertEqual((found["events"], found["lost"]), (recorded, lost))
        self.assertEqual(recorded + lost, attempted)

    def test_overwrite_splits_the_newest_events(self):
        self.record("worker", harness.program("counter"), "2", "500", options=("--overwrite",))
        for worker in range(2):
            self.assertEqual(len(self.printed(f"worker={worker}.elog")), 500)


class Limits(SplitCase):
    def test_further_values_are_in_one_file_with_a_message(self):
        (events, _, lost), errors = self.record("number", harness.program("counter"), "1", "300")
        self.assertEqual((events, lost), (300, 0))
        self.assertIn("44 events have other values of number than the first 256", errors)
        self.assertIn(f"{self.folder}/other.elog", errors)
        self.assertEqual(len(self.files()), 257)
        self.assertEqual(len(self.printed("other.elog")), 44)
        for number in (0, 255):
            self.assertEqual(len(self.printed(f"number={number}.elog")), 1)

    def test_few_descriptors_allow_fewer_files(self):
        recorder = self.start(
            "prlimit", "--nofile=80", harness.ELOG, "record", "-o", self.folder,
            "--split-by", "number", "--", harness.program("counter"), "1", "30",
        )
        _, errors = self.finish(recorder)
        self.assertEqual(self.summary(errors)[0], 30)
        self.assertIn("22 events have other values of number than the first 8", errors)
        self.assertEqual(len(self.files()), 9)
        self.assertEqual(len(self.printed("other.elog")), 22)


class Directory(SplitCase):
    def modes(self):
        names = ["."] + self.files()
        return {stat.S_IMODE(os.stat(f"{self.folder}/{name}").st_mode) for name in names}

    def test_directory_and_files_are_private(self):
        self.record("worker", harness.program("counter"), "1", "1")
        self.assertEqual(self.modes(), {0o700, 0o600})

    def test_directory_can_be_searched_by_readers_of_the_files(self):
        self.record("worker", harness.program("counter"), "1", "1", options=("--mode", "640"))
        self.assertEqual(self.modes(), {0o750, 0o640})

    def test_existing_files_are_replaced_with_force_only(self):
        os.mkdir(self.folder)
        self.record("worker", harness.program("counter"), "1", "5")  # into an empty directory
        result = self.run_elog("record", "-o", self.folder, "--split-by", "worker", "--",
                               harness.program("counter"), "1", "3", status=1)
        self.assert_one_message(result.stderr, self.folder, "not empty", "--force")
        self.assertEqual(len(self.printed("worker=0.elog")), 5)
        self.record("worker", harness.program("counter"), "1", "3", options=("--force",))
        self.assertEqual(len(self.printed("worker=0.elog")), 3)

    def test_a_file_in_the_place_of_the_directory_stays(self):
        with open(self.folder, "w", encoding="utf-8") as file:
            file.write("text")
        result = self.run_elog("record", "-o", self.folder, "--split-by", "worker", "--",
                               harness.program("counter"), "1", "3", status=1)
        self.assert_one_message(result.stderr, self.folder, "no directory")
        with open(self.folder, encoding="utf-8") as file:
            self.assertEqual(file.read(), "text")

    @unittest.skipUnless(os.geteuid() == 0, "takes root")
    def test_directory_of_another_user_is_not_used(self):
        os.mkdir(self.path("shared"))
        os.chmod(self.path("shared"), 0o1777)
        self.folder = self.path("shared/out")
        os.mkdir(self.folder, 0o700)
        os.chown(self.folder, OTHER_USER, OTHER_USER)
        for options in ((), ("--force",)):
            result = self.run_elog("record", "-o", self.folder, "--split-by", "worker", *options,
                                   "--", harness.program("counter"), "1", "3", status=1)
            self.assert_one_message(result.stderr, self.folder, f"belongs to user {OTHER_USER}")
            self.assertEqual(self.files(), [])
        os.chown(self.folder, os.geteuid(), os.getegid())
        self.record("worker", harness.program("counter"), "1", "3")
        self.assertEqual(len(self.printed("worker=0.elog")), 3)

    def test_a_failing_file_ends_the_recording_with_all_events(self):
        """Another program takes the name of a file while elog records."""
        os.mkdir(self.folder)
        command = (f"touch '{self.folder}/worker=1.elog'; exec {harness.program('counter')} 2 50 "
                   "1000")
        result = self.run_elog("record", "-o", self.folder, "--split-by", "worker", "-e", "counter",
                               "--", "sh", "-c", command, status=1)
        self.assertIn("worker=1.elog", result.stderr)
        events = self.summary(result.stderr)[0]
        self.assertEqual(os.path.getsize(f"{self.folder}/worker=1.elog"), 0)
        kept = [name for name in self.files() if name != "worker=1.elog"]
        self.assertEqual(sum(len(self.printed(name)) for name in kept), events)
        self.assertGreater(len(self.printed("other.elog")), 0)


class Mistakes(SplitCase):
    def rejected(self, *arguments, status=2):
        """Runs elog record, which records nothing; returns its message."""
        result = self.run_elog("record", *arguments, "--", harness.program("counter"), "1", "3",
                               status=status)
        self.assertFalse(os.path.exists(self.folder))
        for kind in ("subscriptions", "processes"):
            self.assertEqual(self.names(kind, may_be_missing=True), [])
        return result.stderr

    def test_names_the_word_and_the_remedy(self):
        for name in ("../x", "a b", "", "1st"):
            self.assert_one_message(self.rejected("-o", self.folder, "--split-by", name),
                                    f"'{name}'", "--split-by customer")
        self.assert_one_message(self.rejected("--split-by", "worker"), "--split-by", "-o FILE")
        self.assert_one_message(self.rejected("--split-by", "worker", "-o", "-"), "directory")
        self.assert_one_message(self.rejected("-o", self.folder + "/"), "directory", "--split-by")
        for limit in (("--rotate", "1MiB"), ("--max-total", "8MiB")):
            self.assert_one_message(
                self.rejected("--split-by", "worker", "-o", self.folder, *limit), "--rotate")
        missing = self.rejected("--split-by", "worker", "-o", self.path("no/such"), status=1)
        self.assertIn("no/such", missing)

    def test_unknown_name_of_running_programs_is_rejected_before_the_recording(self):
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        for name, complaint in UNKNOWN_NAMES:
            result = self.run_elog("record", "-e", "counter", "-o", self.folder, "--split-by", name,
                                   "--duration", "10s", status=2)
            self.assertEqual(result.stderr, complaint)
            self.assertFalse(os.path.exists(self.folder))

    def test_unknown_name_of_a_command_is_reported_with_the_events_kept(self):
        for name, complaint in UNKNOWN_NAMES:
            for options in ((), ("--exit-status",)):
                result = self.run_elog(
                    "record", "-o", self.folder, "--force", "--split-by", name, *options, "--",
                    harness.program("counter"), "1", "3", status=2)
                self.assertTrue(result.stderr.endswith("\n" + complaint), result.stderr)
                self.assertEqual(self.files(), ["other.elog"])
                self.assertEqual(len(self.printed("other.elog")), 3)


if __name__ == "__main__":
    harness.main()
