#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""elog record --rotate continues in new files, each of them complete; their number or size is
limited.
"""

import glob
import os
import re
import signal

import harness

MIB = 1 << 20


class Rotation(harness.Case):
    def record(self, *options, count=120000, threads=2, run=()):
        """Records a program with some threads; returns the summary's numbers."""
        result = self.run_elog(
            "record", "-e", "counter:*", "-o", self.path("run.elog"), "--buffer-size", "16M",
            *options, "--", *run, harness.program("counter"), str(threads), str(count // threads),
        )
        self.assertIn(f"in {self.path('run-*.elog')}", result.stderr)
        return self.summary(result.stderr)

    def parts(self):
        return sorted(glob.glob(self.path("run-*.elog")))

    def numbers(self, path):
        """(worker, number) of the events in a file; unique over all files."""
        printed = self.run_elog("print", path).stdout
        return re.findall(r"number=(\d+) .* worker=(\d+)", printed)

    def test_by_size_loses_nothing_and_files_are_self_contained(self):
        events, _, lost = self.record("--rotate", "1MiB")
        self.assertEqual(events + lost, 120000)
        parts = self.parts()
        self.assertGreater(len(parts), 3)
        self.assertEqual(os.path.basename(parts[0]), "run-000001.elog")
        seen = []
        for part in parts:
            self.assertLessEqual(os.path.getsize(part), MIB)
            self.assertIn("whole", self.run_elog("verify", part).stdout)
            found = self.numbers(part)
            # The last file may have been started for a clock reading.
            self.assertTrue(found or part == parts[-1])
            seen += found
        self.assertEqual(len(seen), events)
        self.assertEqual(len(set(seen)), events)

    def test_keeps_the_newest_files(self):
        # On one CPU: several full rings are read one after the other.
        cpu = min(os.sched_getaffinity(0))
        self.record(
            "--rotate", "1MiB", "--keep", "2", threads=1, run=("taskset", "-c", str(cpu))
        )
        parts = self.parts()
        self.assertEqual(len(parts), 2)
        self.assertGreater(int(parts[0][-11:-5]), 1)
        last = self.numbers(parts[-1])
        self.assertIn("119999", {number for number, _ in last})

    def test_respects_total_size_limit(self):
        events, _, _ = self.record("--max-total", "4MiB", "--compress", "1")
        self.assertEqual(events, 120000)
        self.record("--max-total", "4MiB")
        sizes = [os.path.getsize(part) for part in self.parts()]
        self.assertGreater(len(sizes), 2)
        self.assertLessEqual(sum(sizes), 4 * MIB)

    def test_by_time(self):
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        recording = self.start_recording(
            "-e", "counter:*", "-o", self.path("run.elog"), "--rotate", "1s"
        )
        self.wait_for(lambda: len(self.parts()) > 2, "three files")
        self.stop(recording)
        for part in self.parts():
            self.assertIn("whole", self.run_elog("verify", part).stdout)
        for part in self.parts()[:-1]:
            self.assertGreater(len(self.numbers(part)), 0)

    def follow_first(self):
        """Follows a recording that has just started; returns when its file is open."""
        path = self.path("run-000001.elog")
        self.wait_for(lambda: os.path.exists(path) and os.path.getsize(path) > 500, "a file")
        following = self.start(harness.ELOG, "print", "--follow", path)
        files = f"/proc/{following.pid}/fd"
        self.wait_for(lambda: path in self.links_in(files), "an open file")
        return following

    def links_in(self, folder):
        """The targets of links that may disappear meanwhile."""
        found = set()
        for name in os.listdir(folder):
            try:
                found.add(os.readlink(os.path.join(folder, name)))
            except FileNotFoundError:
                pass
        return found

    def test_follow_continues_in_next_file(self):
        recording = self.start_recording("-e", "counter:*", "--wait", "-o", self.path("run.elog"),
                                         "--buffer-size", "16M", "--rotate", "1MiB", "--compress")
        following = self.follow_first()
        self.finish(self.start(harness.program("counter"), "2", "60000"))
        _, errors = self.stop(recording)
        events, _, _ = self.summary(errors)
        self.assertGreater(len(self.parts()), 1)
        output, errors = self.finish(following)
        self.assertEqual(errors, "")
        seen = re.findall(r"number=(\d+) .* worker=(\d+)", output)
        self.assertEqual(len(seen), events)
        self.assertEqual(len(set(seen)), events)

    def test_late_follower_reports_removed_files(self):
        cpu = min(os.sched_getaffinity(0))
        recording = self.start_recording("-e", "counter:*", "--wait", "-o", self.path("run.elog"),
                                         "--buffer-size", "16M", "--rotate", "1MiB", "--keep", "2")
        following = self.follow_first()
        following.send_signal(signal.SIGSTOP)
        self.finish(self.start("taskset", "-c", str(cpu), harness.program("counter"), "1", "90000"))
        self.stop(recording)
        parts = self.parts()
        self.assertEqual(len(parts), 2)
        following.send_signal(signal.SIGCONT)
        output, errors = self.finish(following)
        # It had the first file open.
        missed = int(parts[0][-11:-5]) - 2
        self.assertGreater(missed, 0)
        self.assertEqual(errors, f"elog: {missed} files of the recording were removed before they "
                                 "could be shown.\n")
        kept = sum((self.numbers(part) for part in parts), [])
        seen = re.findall(r"number=(\d+) .* worker=(\d+)", output)
        self.assertEqual(seen[-len(kept):], kept)
        self.assertEqual(len(set(seen)), len(seen))

    def test_continues_numbering_of_earlier_recording(self):
        self.record("--rotate", "64MiB", count=100)
        with open(self.parts()[0], "rb") as file:
            first = file.read()
        self.record("--rotate", "64MiB", count=100)
        self.assertEqual(len(self.parts()), 2)
        with open(self.parts()[0], "rb") as file:
            self.assertEqual(file.read(), first)
        self.record("--rotate", "64MiB", "--keep", "1", count=100)
        self.assertEqual([os.path.basename(part) for part in self.parts()], ["run-000003.elog"])

    def test_reports_exhausted_numbers(self):
        last = self.path("run-999999999999999999.elog")
        with open(last, "w", encoding="utf-8") as file:
            file.write("mine")
        result = self.run_elog("record", "-e", "*", "--wait", "-o", self.path("run.elog"),
                               "--rotate", "1MiB", status=1)
        self.assert_one_message(result.stderr, last, "the last number")
        self.assertEqual(self.parts(), [last])
        os.rename(last, self.path("run-999999999999999998.elog"))
        self.record("--rotate", "64MiB", count=100)
        self.assertEqual(len(self.numbers(last)), 100)

    def test_converts_times_consistently_across_files(self):
        self.record("--rotate", "1MiB")
        times = {}
        for part in self.parts():
            lines = self.run_elog("print", part).stdout.splitlines()
            shown = [line.split(" ")[0] for line in lines if not line.startswith("--")]
            self.assertEqual(shown, sorted(shown))
            for line in lines:
                if found := re.search(r" number=(\d+) .* worker=(\d+) ", line):
                    times[int(found[2]), int(found[1])] = line.split(" ")[0]
        # The rings whose newest events are in a file vary. A worker's earlier event has the earlier
        # time, in any file.
        for worker in (0, 1):
            of_worker = [times[key] for key in sorted(times) if key[0] == worker]
            self.assertGreater(len(of_worker), 0)
            self.assertEqual(of_worker, sorted(of_worker))


if __name__ == "__main__":
    harness.main()
