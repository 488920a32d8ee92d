#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The files that commands write: readable by their user only, and never those of other users that
wait under their name in a folder of several users.
"""

import os
import signal
import stat
import subprocess
import time
import unittest

import harness

COMMAND = harness.program("counter"), "1", "100"
SCHEMA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "generated",
                      "tour.schema")
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
                ("repaired.elog", "repair", self.path("run.elog")),
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

    def test_mode_option_is_exact(self):
        self.addCleanup(os.umask, os.umask(0o077))
        self.record(self.path("run.elog"), "--mode", "664")
        self.assertEqual(self.mode(self.path("run.elog")), 0o664)
        self.record(self.path("rotated.elog"), "--mode", "640", "--rotate", "1MiB")
        self.assertEqual(self.mode(self.path("rotated-000001.elog")), 0o640)
        self.run_elog("flight", "start", "flight", "-e", "counter:*")
        for name, *command in (
                ("cut.elog", "cut", self.path("run.elog")),
                ("merged.elog", "merge", self.path("run.elog"), self.path("cut.elog")),
                ("repaired.elog", "repair", self.path("run.elog")),
                ("snapshot.elog", "flight", "snapshot", "flight"),
                ("run.csv", "convert", self.path("run.elog"), "--to", "csv")):
            self.run_elog(*command, "--mode", "440", "-o", self.path(name))
            self.assertEqual(self.mode(self.path(name)), 0o440, name)
        self.run_elog("flight", "stop", "flight", "--discard")

    def test_mode_option_takes_octal_digits_and_a_file(self):
        for mode in ("", "8", "1777", "u=rw", "-1", "0x1ff"):
            result = self.record(self.path("run.elog"), f"--mode={mode}", status=2)
            self.assertIn("--mode", result.stderr)
            self.assertFalse(os.path.exists(self.path("run.elog")))
        self.run_elog("record", "--mode", "600", "--", *COMMAND, status=2)
        self.run_elog("record", "--mode", "600", "-o", "/dev/stdout", "--", *COMMAND, status=2)

    def test_replaced_recording_is_a_new_file(self):
        self.record(self.path("run.elog"))
        os.chmod(self.path("run.elog"), 0o644)
        with open(self.path("run.elog"), "rb") as opened_before:
            self.record(self.path("run.elog"), "--force")
            self.assertNotEqual(os.fstat(opened_before.fileno()).st_ino,
                                os.stat(self.path("run.elog")).st_ino)
            self.assertGreater(len(opened_before.read()), 0)
        self.assertEqual(self.mode(self.path("run.elog")), 0o600)
        self.assertEqual(os.listdir(self.scratch).count("run.elog"), 1)
        self.assertFalse([name for name in os.listdir(self.scratch) if "unfinished" in name])

    def test_schemas_and_generated_source_follow_the_umask(self):
        self.record(self.path("run.elog"))
        self.addCleanup(os.umask, os.umask(0o027))
        self.run_elog("schema", "show", self.path("run.elog"), "-o", self.path("shown.txt"))
        self.run_elog("schema", "gen", "--lang", "c", SCHEMA, "-o", self.path("tour.h"))
        for name in ("shown.txt", "tour.h"):
            self.assertEqual(self.mode(self.path(name)), 0o640, name)


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

    def plant(self, path, owner=None):
        """Puts in turn what must not be written to under a name; yields the kind and a check of it."""
        def make_file():
            with open(path, "w", encoding="utf-8") as file:
                file.write(PRECIOUS)
            os.chmod(path, 0o666)

        for make in (make_file, lambda: os.symlink(self.precious, path),
                     lambda: os.symlink(self.path("missing"), path),
                     lambda: os.link(self.precious, path), lambda: os.mkfifo(path)):
            make()
            if owner is not None:
                os.chown(path, owner, owner, follow_symlinks=False)
            yield os.lstat(path)
            os.unlink(path)
            if owner is not None:
                os.chown(self.precious, os.geteuid(), os.getegid())

    def check_planted(self, name, *command, owner=None):
        """Whatever has the temporary name of a file, the file is a new one."""
        self.record(self.path("run.elog"), "--force")
        for folder in (self.shared, self.scratch):
            unfinished = os.path.join(folder, f"{name}.unfinished")
            for planted in self.plant(unfinished, owner):
                output = os.path.join(folder, name)
                self.run_elog(*command, "-o", output)
                made, left = os.lstat(output), os.lstat(unfinished)
                self.assertEqual((made.st_uid, stat.S_IMODE(made.st_mode), made.st_nlink),
                                 (os.geteuid(), 0o600, 1))
                self.assertEqual((left.st_ino, left.st_size, left.st_mode, left.st_uid),
                                 (planted.st_ino, planted.st_size, planted.st_mode, planted.st_uid))
                self.assertFalse(os.path.lexists(self.path("missing")))
                if stat.S_ISREG(planted.st_mode):
                    with open(unfinished, encoding="utf-8") as file:
                        self.assertEqual(file.read(), PRECIOUS)
                self.assert_precious()
                os.unlink(output)
                self.assertEqual([each for each in os.listdir(folder)
                                  if each.startswith(f"{name}.unfinished.")], [])

    def test_unfinished_name_is_not_reused(self):
        run = self.path("run.elog")
        self.check_planted("new.jsonl", "convert", run, "--to", "jsonl")
        self.check_planted("new.elog", "cut", run)

    @as_root
    def test_unfinished_name_of_another_user_is_not_reused(self):
        run = self.path("run.elog")
        self.check_planted("new.jsonl", "convert", run, "--to", "jsonl", owner=OTHER_USER)
        self.check_planted("new.elog", "cut", run, owner=OTHER_USER)

    def check_parts(self, owner=None):
        """Whatever has the name of a part, the next number is used, and --keep does not remove it."""
        for folder in (self.shared, self.scratch):
            first = os.path.join(folder, "part-000001.elog")
            for planted in self.plant(first, owner):
                self.record(os.path.join(folder, "part.elog"), "--rotate", "1MiB", "--keep", "2")
                left = os.lstat(first)
                self.assertEqual((left.st_ino, left.st_size), (planted.st_ino, planted.st_size))
                self.assert_precious()
                self.assertFalse(os.path.lexists(self.path("missing")))
                second = os.path.join(folder, "part-000002.elog")
                self.assertEqual(self.mode(second), 0o600)
                self.assertIn(": whole: ", self.run_elog("verify", second).stdout)
                os.unlink(second)

    def test_name_of_a_part_is_not_reused(self):
        self.check_parts()

    @as_root
    def test_name_of_a_part_of_another_user_is_not_reused(self):
        self.check_parts(OTHER_USER)

    @as_root
    def test_recording_of_another_user_is_not_removed_by_keep(self):
        first = self.in_shared("part-000001.elog")
        self.record(first)
        os.chown(first, OTHER_USER, OTHER_USER)
        planted = os.lstat(first)
        for number in (2, 3):
            self.record(self.in_shared("part.elog"), "--rotate", "1MiB", "--keep", "1")
            left = os.lstat(first)
            self.assertEqual((left.st_ino, left.st_size), (planted.st_ino, planted.st_size))
            own = self.in_shared(f"part-{number:06}.elog")
            self.assertIn(": whole: ", self.run_elog("verify", own).stdout)
        self.assertEqual(sorted(os.listdir(self.shared)), ["part-000001.elog", "part-000003.elog"])

    def test_name_of_a_snapshot_is_not_reused(self):
        self.run_elog("flight", "start", "flight", "-e", "counter:*")
        # Emits until the end, so that each command finds its event.
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        for name in ("box-000001.elog", "box-000001.elog.unfinished"):
            for planted in self.plant(self.in_shared(name)):
                self.run_elog("flight", "snapshot", "flight", "-o", self.in_shared("box.elog"),
                              "--when", "number > 0", "--iterations", "1")
                self.assertEqual(os.lstat(self.in_shared(name)).st_ino, planted.st_ino)
                self.assert_precious()
                self.assertEqual(self.mode(self.in_shared("box-000002.elog")), 0o600)
                os.unlink(self.in_shared("box-000002.elog"))

    def test_link_to_it_is_checked_by_its_rules(self):
        os.link(self.precious, self.in_shared("x"))
        os.symlink(self.in_shared("x"), self.path("link.elog"))
        result = self.record(self.path("link.elog"), "--force", status=1)
        self.assertIn("has 2 names", result.stderr)
        os.remove(self.in_shared("x"))
        os.symlink(self.precious, self.in_shared("x"))
        self.record(self.path("run.elog"))
        for command in (["record", "--force", "-o", self.path("link.elog"), "--", *COMMAND],
                        ["cut", self.path("run.elog"), "--force", "-o", self.path("link.elog")]):
            self.assertIn("symbolic link", self.run_elog(*command, status=1).stderr)
        self.assert_precious()

    def test_link_to_it_is_checked_when_a_recording_continues(self):
        os.symlink(self.in_shared("x"), self.path("link.elog"))
        recording = self.start_recording("-e", "counter:*", "--wait", "-o", self.path("link.elog"),
                                         "--force", "--rotate", "reopen")
        self.wait_for(lambda: os.path.exists(self.in_shared("x")), "a file")
        with open(self.path("empty"), "wb"):
            pass
        os.link(self.path("empty"), self.in_shared("other"))
        os.rename(self.in_shared("other"), self.in_shared("x"))
        self.assertIn("has 2 names", self.finish(recording, 1)[1])
        self.assertEqual(os.path.getsize(self.path("empty")), 0)

    @as_root
    def test_link_to_file_of_another_user_is_not_taken_over(self):
        with open(self.in_shared("x"), "wb"):
            pass
        os.chown(self.in_shared("x"), OTHER_USER, OTHER_USER)
        os.symlink(self.in_shared("x"), self.path("link.elog"))
        self.record(self.path("run.elog"))
        for command in (["record", "--force", "-o", self.path("link.elog"), "--", *COMMAND],
                        ["cut", self.path("run.elog"), "--force", "-o", self.path("link.elog")]):
            result = self.run_elog(*command, status=1)
            self.assertIn(f"belongs to user {OTHER_USER}", result.stderr)
        self.assertEqual(os.path.getsize(self.in_shared("x")), 0)

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


class Descriptors(OutputFiles):
    """The paths that a shell gives for its redirections and for >(COMMAND)."""

    def bash(self, script, status=0):
        result = subprocess.run(["bash", "-c", script, harness.ELOG, *COMMAND],
                                capture_output=True, cwd=self.scratch, env=self.environment,
                                timeout=harness.TIMEOUT, check=False)
        self.assertEqual(result.returncode, status, result.stderr)
        return result

    def assert_whole(self, name):
        self.assertIn(": whole: ", self.run_elog("verify", self.path(name)).stdout)

    def test_process_substitution_gets_the_recording(self):
        self.bash('"$0" record -o >(cat > run.elog) -- "$@" > command.txt; wait $!')
        self.assert_whole("run.elog")
        self.bash('"$0" cut run.elog -o >(cat > cut.elog); wait $!')
        self.assert_whole("cut.elog")
        self.bash('"$0" convert run.elog --to jsonl -o >(cat > run.jsonl); wait $!')
        with open(self.path("run.jsonl"), encoding="utf-8") as lines:
            self.assertEqual(len(lines.readlines()), 100)

    def test_standard_output_has_several_names(self):
        for name in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
            self.bash(f'"$0" record -o {name} -- "$@" > run.elog')
            self.assert_whole("run.elog")

    def test_command_does_not_get_the_descriptor(self):
        self.bash('"$0" record --exit-status -o /dev/fd/7 -- '
                  """sh -c '! test -e /proc/self/fd/7 && exec "$@"' sh "$@" 7> run.elog""")
        self.assert_whole("run.elog")

    def test_standard_error_belongs_to_the_command(self):
        result = self.bash('"$0" record -o /dev/stderr -- "$@"', 2)
        self.assertIn(b"write to standard error", result.stderr)

    def test_descriptor_must_be_open_for_writing(self):
        self.assertIn(b"is not open", self.bash('"$0" record -o /dev/fd/9 -- "$@"', 1).stderr)
        result = self.bash('"$0" record -o /dev/fd/9 -- "$@" 9< /dev/null', 1)
        self.assertIn(b"for reading only", result.stderr)


class Interrupted(OutputFiles):
    """A signal that ends a command leaves no file of it."""

    def setUp(self):
        super().setUp()
        self.output = self.path("output")
        with open(self.output, "w", encoding="utf-8") as file:
            file.write(PRECIOUS)

    def unfinished(self):
        return [name for name in os.listdir(self.scratch) if ".unfinished" in name]

    def start_writing(self, *command, **options):
        """Starts a command whose input has no end yet, and waits until it has its file."""
        process = self.start(harness.ELOG, *command, "--force", "-o", self.output,
                             stdin=subprocess.PIPE, **options)
        self.wait_for(lambda: self.unfinished() or process.poll() is not None, "a file")
        self.assertIsNone(process.poll())
        return process

    def assert_unchanged(self):
        self.assertEqual(self.unfinished(), [])
        with open(self.output, encoding="utf-8") as file:
            self.assertEqual(file.read(), PRECIOUS)

    def test_command_removes_its_file(self):
        for command in (["cut", "-"], ["merge", "-"], ["convert", "-", "--to", "jsonl"],
                        ["convert", "-", "--to", "csv"]):
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                with self.subTest(command=command, number=number):
                    self.stop(self.start_writing(*command), number, -number)
                    self.assert_unchanged()

    def test_command_removes_a_file_with_a_unique_name(self):
        with open(f"{self.output}.unfinished", "w", encoding="utf-8") as file:
            file.write(PRECIOUS)
        process = self.start(harness.ELOG, "cut", "-", "--force", "-o", self.output,
                             stdin=subprocess.PIPE)
        self.wait_for(lambda: len(self.unfinished()) == 2, "a file")
        self.stop(process, signal.SIGTERM, -signal.SIGTERM)
        self.assertEqual(self.unfinished(), ["output.unfinished"])

    def test_ignored_signal_stays_ignored(self):
        process = self.start_writing(
            "cut", "-", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        process.send_signal(signal.SIGHUP)
        time.sleep(0.1)
        self.assertEqual(self.unfinished(), ["output.unfinished"])
        self.stop(process, signal.SIGTERM, -signal.SIGTERM)
        self.assert_unchanged()


class Streams(OutputFiles):
    """FIFOs and devices are written as they are."""

    def setUp(self):
        super().setUp()
        self.fifo = self.path("fifo")
        os.mkfifo(self.fifo)

    def start_reader(self, *command):
        """Starts a command that reads the FIFO."""
        return self.start("/bin/sh", "-c", 'exec "$@" < "$0"', self.fifo, *command)

    def check_content(self, *command):
        """Requires that elog print reads all events from the FIFO that elog COMMAND writes."""
        reader = self.start_reader(harness.ELOG, "print", "-")
        self.run_elog(*command)
        shown, errors = self.finish(reader)
        self.assertEqual(shown.count("counter:count "), 100, errors)
        self.assertTrue(stat.S_ISFIFO(os.stat(self.fifo).st_mode))
        self.assertFalse([name for name in os.listdir(self.scratch) if "unfinished" in name])

    def test_fifo_gets_the_recording(self):
        self.check_content("record", "-o", self.fifo, "--", *COMMAND)
        os.symlink(self.fifo, self.path("link"))
        self.check_content("record", "--force", "-o", self.path("link"), "--", *COMMAND)

    def test_fifo_gets_copies(self):
        run = self.path("run.elog")
        self.record(run)
        for command in ("cut", "merge", "repair"):
            with self.subTest(command=command):
                self.check_content(command, run, "-o", self.fifo)
        reader = self.start_reader("cat")
        self.run_elog("convert", run, "--to", "jsonl", "-o", self.fifo)
        self.assertEqual(len(self.finish(reader)[0].splitlines()), 100)

    def test_fifo_is_opened_when_its_reader_opens_it(self):
        recorder = self.start(harness.ELOG, "record", "-o", self.fifo, "--", "/bin/sh", "-c",
                              'touch "$0" && exec "$@"', self.path("started"), *COMMAND)
        time.sleep(0.2)
        self.assertIsNone(recorder.poll())
        self.assertFalse(os.path.exists(self.path("started")))
        reader = self.start_reader("wc", "-c")
        self.finish(recorder)
        self.assertGreater(int(self.finish(reader)[0]), 0)
        self.assertTrue(os.path.exists(self.path("started")))

    def test_wait_for_the_reader_is_ended_by_a_signal(self):
        recorder = self.start(harness.ELOG, "record", "-o", self.fifo, "--", *COMMAND)
        time.sleep(0.2)
        self.stop(recorder, signal.SIGTERM, -signal.SIGTERM)

    def test_device_discards_the_content(self):
        run = self.path("run.elog")
        self.record(run)
        self.record("/dev/null")
        for command in (["cut", run], ["merge", run], ["repair", run],
                        ["convert", run, "--to", "jsonl"], ["convert", run, "--to", "csv"]):
            self.run_elog(*command, "-o", "/dev/null")
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))

    def test_options_for_new_files_are_rejected(self):
        run = self.path("run.elog")
        self.record(run)
        self.record(self.fifo, "--mode", "640", status=2)
        self.record(self.fifo, "--rotate", "1MiB", status=2)
        self.run_elog("cut", run, "--mode", "640", "-o", self.fifo, status=2)

    def test_link_to_a_fifo_in_a_shared_folder_is_not_followed(self):
        os.symlink(self.fifo, self.in_shared("x"))
        result = self.record(self.in_shared("x"), status=1)
        self.assertIn("symbolic link", result.stderr)

    @as_root
    def test_fifo_of_another_user_is_not_written(self):
        run, fifo = self.path("run.elog"), self.in_shared("x")
        self.record(run)
        os.mkfifo(fifo)
        os.chown(fifo, OTHER_USER, OTHER_USER)
        for command in (["record", "-o", fifo, "--", *COMMAND], ["cut", run, "-o", fifo],
                        ["convert", run, "--to", "jsonl", "-o", fifo]):
            result = self.run_elog(*command, status=1)
            self.assertIn(f"belongs to user {OTHER_USER}", result.stderr)


if __name__ == "__main__":
    harness.main()
