#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Commands on .elog files besides printing them whole: time ranges, following, verify, repair, and
compression.
"""

import os
import re
import shutil
import time

import harness


class FileCommands(harness.Case):
    def record(self, name="run.elog", *options, count=2000):
        self.run_elog(
            "record", "-e", "counter:*", "--force", "-o", self.path(name), *options, "--",
            harness.program("counter"), "2", str(count),
        )
        return self.path(name)

    def test_print_shows_time_range(self):
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        path = self.path("run.elog")
        recording = self.start_recording("-e", "counter:*", "-o", path)
        self.wait_for(lambda: len(self.run_elog("print", path).stdout.splitlines()) > 100, "events")
        self.stop(recording)
        lines = self.run_elog("print", path).stdout.splitlines()
        times = [line.split(" ")[0] for line in lines]
        middle = next(at for at in range(len(times) // 2, len(times)) if times[at] != times[at - 1])
        # A printed time is truncated to a microsecond: --since includes its first event, --until
        # excludes it.
        begin = self.run_elog("print", path, "--until", times[middle]).stdout.splitlines()
        end = self.run_elog("print", path, "--since", times[middle]).stdout.splitlines()
        self.assertEqual(begin, lines[:middle])
        self.assertEqual(end, lines[middle:])
        day = time.strftime("%Y-%m-%d", time.gmtime(os.path.getmtime(path)))
        for form in (f"{day}T{times[middle]}", f"{day} {times[middle]}"):
            self.assertEqual(
                self.run_elog("print", path, "--since", form).stdout.splitlines(), end
            )
        self.assertEqual(self.run_elog("print", path, "--since", "+0s").stdout.splitlines(), lines)
        self.assertEqual(self.run_elog("print", path, "--since", "+1h").stdout, "")
        self.assertEqual(self.run_elog("print", path, "--until", "@0").stdout, "")
        self.assertEqual(
            self.run_elog("print", path, "--since", "@0", "--until", "+1h").stdout.splitlines(), lines
        )

    def test_print_rejects_invalid_times(self):
        path = self.record(count=10)
        for text in ("", "soon", "14", "14:3", "14:03:61", "25:00:00", "2026-13-01T00:00:00", "@",
                     "@x", "+", "+x", "14:03:07.", "14:03:07,5", "@99999999999999999999"):
            result = self.run_elog("print", path, f"--since={text}", status=2)
            self.assertNotEqual(result.stderr, "")
        self.run_elog("print", path, "--follow", "--since", "+1s", status=2)

    def test_print_of_time_range_reads_part_of_file(self):
        path = self.record("large.elog", "--buffer-size", "32M", count=300000)
        size = os.path.getsize(path)
        self.assertGreater(size, 16 << 20)
        none = self.bytes_read_by("--version")
        part = self.bytes_read_by("print", path, "--since", "+1h") - none
        whole = self.bytes_read_by("print", path, "--since", "@0") - none
        self.assertGreater(whole, size)
        self.assertLess(part, size // 10)

    def test_print_follows_a_recording_to_its_end(self):
        self.start_provider(harness.program("counter"), "2", "0", "1000")
        recording = self.start_recording("-e", "counter:*", "-o", self.path("run.elog"))
        self.wait_for(lambda: os.path.exists(self.path("run.elog")), "the file")
        with open(self.path("followed"), "wb") as output:
            follower = self.start(
                harness.ELOG, "print", "--follow", self.path("run.elog"), stdout=output
            )
            self.wait_for(lambda: os.path.getsize(self.path("followed")) > 0, "a line")
            self.assertIsNone(follower.poll())
            self.stop(recording)
            self.finish(follower)
        with open(self.path("followed"), encoding="utf-8") as followed:
            self.assertEqual(
                followed.read(), self.run_elog("print", self.path("run.elog")).stdout
            )

    def test_print_follows_standard_input_that_is_a_growing_file(self):
        path = self.path("run.elog")
        recording = self.start_recording("-e", "counter:*", "-o", path, "--wait")
        self.finish(self.start(harness.program("counter"), "1", "1"))
        with open(path, "rb") as file:
            follower = self.start(harness.ELOG, "print", "--follow", "-", stdin=file)
        first = follower.stdout.readline()
        self.assertIsNone(follower.poll())
        self.finish(self.start(harness.program("counter"), "1", "1"))
        second = follower.stdout.readline()
        self.stop(recording)
        rest, _ = self.finish(follower)
        self.assertEqual(first + second + rest, self.run_elog("print", path).stdout)
        self.assertEqual(len((first + second + rest).splitlines()), 2)

    def test_print_follows_standard_input_to_the_next_file(self):
        self.run_elog("record", "-o", self.path("run.elog"), "--rotate", "1MiB", "--buffer-size",
                      "16M", "--", harness.program("counter"), "1", "100000")
        self.assertTrue(os.path.exists(self.path("run-000002.elog")))
        with open(self.path("run-000001.elog"), "rb") as file:
            lines = self.run_elog("print", "--follow", "-", stdin=file).stdout.splitlines()
        self.assertEqual(len(lines), 100000)

    def test_print_follow_ends_on_interrupt(self):
        recording = self.start_recording("-e", "counter:*", "-o", self.path("run.elog"), "--wait")
        self.wait_for(lambda: os.path.exists(self.path("run.elog")), "the file")
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        follower = self.start(harness.ELOG, "print", "--follow", self.path("run.elog"))
        self.assertNotEqual(follower.stdout.readline(), "")
        follower.send_signal(harness.signal.SIGINT)
        _, errors = self.finish(follower)
        self.assertIn("still being written", errors)
        self.stop(recording)

    def test_verify_summarizes_intact_file(self):
        result = self.run_elog("verify", self.record())
        self.assertRegex(result.stdout, r"run\.elog: whole: \d+ blocks in \d+ bytes, 4000 records")
        self.assertEqual(result.stderr, "")

    def test_verify_reports_offset_of_damage(self):
        path = self.record()
        harness.damage_records(path)
        result = self.run_elog("verify", path, status=1)
        self.assertRegex(result.stderr, harness.DAMAGE)
        self.assertRegex(result.stderr, r"\d+ of 4000 records are missing")
        self.assertIn("elog repair", result.stderr)
        self.assertIn(": damaged: ", result.stdout)

    def test_verify_explains_missing_end(self):
        recording = self.start_recording("-e", "counter:*", "-o", self.path("run.elog"), "--wait")
        self.wait_for(lambda: os.path.exists(self.path("run.elog")), "the file")
        self.assertIn(
            "still being written", self.run_elog("verify", self.path("run.elog")).stdout
        )
        self.run_elog("repair", self.path("run.elog"), "-o", self.path("new.elog"), status=1)
        recording.kill()
        recording.communicate()
        self.assertIn("was killed", self.run_elog("verify", self.path("run.elog")).stdout)

    def test_repair_writes_intact_file_and_reports_losses(self):
        path = self.record()
        whole = self.run_elog("print", path).stdout.splitlines()
        harness.damage_records(path)
        before = self.run_elog("print", path, status=1).stdout.splitlines()
        result = self.run_elog("repair", path, "-o", self.path("sound.elog"))
        self.assertRegex(result.stderr, harness.DAMAGE)
        missing = int(re.search(r"(\d+) records were in omitted blocks", result.stderr)[1])
        after = self.run_elog("print", self.path("sound.elog")).stdout.splitlines()
        self.assertEqual([line for line in after if not line.startswith("--")], before)
        self.assertEqual(len(before) + missing, len(whole))
        told = re.findall(r"-- lost (\d+) events (?:on|in) ", "\n".join(after))
        self.assertEqual(sum(map(int, told)), missing)
        self.assertIn(": whole: ", self.run_elog("verify", self.path("sound.elog")).stdout)

    def test_repair_never_overwrites_input(self):
        path = self.record()
        with open(path, "rb") as file:
            content = file.read()
        os.symlink(path, self.path("link.elog"))
        for target in (path, self.path("link.elog")):
            result = self.run_elog("repair", path, "-o", target, status=1)
            self.assert_one_message(result.stderr, "would be overwritten")
        with open(path, "rb") as file:
            self.assertEqual(file.read(), content)

    def test_repair_of_other_file_creates_nothing(self):
        shutil.copy(harness.ELOG, self.path("no.elog"))
        result = self.run_elog("repair", self.path("no.elog"), "-o", self.path("new"), status=1)
        self.assert_one_message(result.stderr, "is not an .elog file")
        self.assertFalse(os.path.exists(self.path("new")))

    def test_compressed_recordings_are_smaller_and_equal(self):
        plain = self.record("plain.elog", count=5000)
        for options in (["--compress"], ["--compress=9"], ["--compress", "1"]):
            path = self.record("compressed.elog", *options, count=5000)
            self.assertLess(os.path.getsize(path), os.path.getsize(plain) // 2)
            self.assertIn("10000 records", self.run_elog("verify", path).stdout)
            fields = [sorted(line.split(":count ")[1] for line in
                             self.run_elog("print", each).stdout.splitlines())
                      for each in (plain, path)]
            self.assertEqual(fields[0], fields[1])

    def test_invalid_options_are_usage_errors(self):
        for options in (
            ["--compress"],
            ["--rotate", "1MiB"],
            ["--force"],
            ["-o", "x", "--compress=0"],
            ["-o", "x", "--compress=20"],
            ["-o", "x", "--compress=fast"],
            ["-o", "x", "--rotate", "soon"],
            ["-o", "x", "--rotate", "10"],
            ["-o", "x", "--rotate", "1K"],
            ["-o", "x", "--rotate", "10ms"],
            ["-o", "x", "--keep", "3"],
            ["-o", "x", "--rotate", "1MiB", "--keep", "0"],
            ["-o", "x", "--rotate", "1MiB", "--keep", "-1"],
            ["-o", "x", "--max-total", "1MiB"],
        ):
            self.run_elog("record", "-e", "*", *options, status=2, cwd=self.scratch)
        self.assertFalse(os.path.exists(self.path("x")))


if __name__ == "__main__":
    harness.main()
