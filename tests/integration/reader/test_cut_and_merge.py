#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""elog cut keeps a part of a recording, elog merge combines several recordings."""

import json
import os
import re
import shutil
import signal

import harness

LOST = re.compile(r"-- lost (\d+) events ")
COPIED = re.compile(r"(\d+) events, (\d+) lost, in .* \((\d+) bytes\)")


class CutAndMerge(harness.Case):
    def record(self, name="run.elog", *options, count=2000):
        return self.create_once(name, lambda path: self.run_elog(
            "record", "-e", "counter:*", "-o", path, *options, "--",
            harness.program("counter"), "2", str(count),
        ))

    def record_with_gaps(self):
        return self.create_once("lossy.elog", self.make_with_gaps)

    def make_with_gaps(self, path):
        """Emits several times more than the buffers hold at once: there are gaps between events."""
        recording = self.start_recording(
            "-e", "counter:*", "-o", path, "--buffer-size", "128K", "--wait"
        )
        for _ in range(3):
            recording.send_signal(signal.SIGSTOP)
            self.finish(self.start(harness.program("counter"), "2", "20000"))
            recording.send_signal(signal.SIGCONT)
            self.finish(self.start(harness.program("counter"), "2", "10", "20000"))
        _, errors = self.stop(recording)
        self.assertGreater(self.summary(errors)[2], 0)

    def print(self, path, *options):
        return self.run_elog("print", path, *options).stdout.splitlines()

    def events(self, path, *options):
        return [line for line in self.print(path, *options) if not line.startswith("-- ")]

    def told(self, path, *options):
        """The number of lost events in the lines."""
        return sum(int(found[1]) for found in map(LOST.match, self.print(path, *options)) if found)

    def assert_intact(self, path, errors):
        """Requires a consistent file that matches its summary. Returns its counters."""
        events, lost, size = map(int, COPIED.search(errors).groups())
        self.assertEqual(size, os.path.getsize(path))
        result = self.run_elog("verify", path)
        self.assertEqual(result.stderr, "")
        self.assertRegex(result.stdout, rf": whole: .* {events} records of \d+ bytes, {lost} lost")
        self.assertEqual(len(self.events(path)), events)
        self.assertEqual(self.told(path), lost)
        return events, lost

    def stat(self, path):
        return json.loads(self.run_elog("stat", "--json", path).stdout)

    def cut(self, path, *options, name="cut.elog"):
        errors = self.run_elog("cut", path, "--force", "-o", self.path(name), *options).stderr
        self.assert_intact(self.path(name), errors)
        return self.path(name)

    def merge(self, *paths, name="merged.elog"):
        errors = self.run_elog("merge", *paths, "--force", "-o", self.path(name)).stderr
        self.assert_intact(self.path(name), errors)
        return self.path(name)

    def middle(self, path):
        """The times of two lines within the recording."""
        lines = self.events(path)
        times = [line.split(" ")[0] for line in lines]
        return times[len(times) // 3], times[2 * len(times) // 3]

    # cut ------------------------------------------------------------------------------------------

    def test_cut_of_time_range_prints_like_range_of_source(self):
        for path in (self.record(), self.record_with_gaps(),
                     self.record("packed.elog", "--compress")):
            begin, end = self.middle(path)
            for part in (["--since", begin], ["--until", end], ["--since", begin, "--until", end]):
                self.assertEqual(self.print(self.cut(path, *part)), self.print(path, *part))

    def test_cut_by_predicate_keeps_matches_and_all_losses(self):
        path = self.record_with_gaps()
        wanted = ["--where", "worker == 1"]
        cut = self.cut(path, *wanted)
        self.assertEqual(self.events(cut), self.events(path, *wanted))
        self.assertLess(len(self.events(cut)), len(self.events(path)))
        self.assertEqual(self.told(cut), self.told(path))
        nothing = self.cut(path, "--where", "number > 1G")
        self.assertEqual(self.events(nothing), [])
        self.assertEqual(self.told(nothing), self.told(path))

    def test_cut_of_everything_equals_source(self):
        path = self.record_with_gaps()
        for options in ([], ["--compress"]):
            cut = self.cut(path, *options)
            self.assertEqual(self.print(cut), self.print(path))
            self.assertEqual(
                self.run_elog("stat", cut).stdout, self.run_elog("stat", path).stdout
            )

    def test_cut_of_a_cut(self):
        path = self.record()
        begin, end = self.middle(path)
        cut = self.cut(self.cut(path, "--since", begin), "--until", end, name="again.elog")
        self.assertEqual(self.print(cut), self.print(path, "--since", begin, "--until", end))
        self.assertEqual(self.print(self.cut(cut, "--since", "+1h", name="none.elog")), [])

    def test_cut_compresses(self):
        path = self.record("large.elog", count=5000)
        self.assertLess(os.path.getsize(self.cut(path, "--compress")), os.path.getsize(path) // 2)

    def test_compresses_at_level_1_by_default(self):
        path = self.record("large.elog", count=5000)
        default, first, third = (
            os.path.getsize(self.cut(path, option, name=f"cut{number}.elog"))
            for number, option in enumerate(("--compress", "--compress=1", "--compress=3")))
        self.assertEqual(default, first)
        self.assertNotEqual(default, third)

    def test_cut_and_merge_never_write_over_what_they_read(self):
        path = self.record()
        with open(path, "rb") as file:
            content = file.read()
        os.symlink(path, self.path("link.elog"))
        for target in (path, self.path("link.elog")):
            for command in ("cut", "merge"):
                result = self.run_elog(command, path, "-o", target, status=1)
                self.assert_one_message(result.stderr, "would be overwritten")
        with open(path, "rb") as file:
            self.assertEqual(file.read(), content)

    def test_cut_replaces_existing_file_only_on_success(self):
        path = self.record()
        old = self.path("old.elog")
        with open(old, "w", encoding="utf-8") as file:
            file.write("precious")
        force = ("--force", "-o", old)
        self.run_elog("cut", path, *force, "--where", "numbr == 1", status=2)
        self.run_elog("cut", path, *force, "--since", "soon", status=2)
        self.run_elog("cut", self.path("missing"), *force, status=1)
        with open(old, encoding="utf-8") as file:
            self.assertEqual(file.read(), "precious")
        self.cut(path, name="old.elog")
        self.run_elog("cut", path, "-o", self.path("no/such/folder"), status=1)
        self.run_elog("cut", path, status=2)

    def test_existing_files_need_force(self):
        path, old = self.record(), self.path("old.elog")
        for command in (("cut", path), ("merge", path), ("repair", path),
                        ("convert", "--to", "csv", path)):
            with open(old, "w", encoding="utf-8") as file:
                file.write("precious")
            result = self.run_elog(*command, "-o", old, status=1)
            self.assert_one_message(result.stderr, old, "exists", "--force")
            with open(old, encoding="utf-8") as file:
                self.assertEqual(file.read(), "precious")
            self.run_elog(*command, "-o", old, "--force")
            with open(old, "rb") as file:
                self.assertNotEqual(file.read(), b"precious")
        self.assertFalse(os.path.exists(old + ".unfinished"))

    def test_standard_output_is_a_recording(self):
        path = self.record_with_gaps()
        for command in (("cut", path), ("merge", path), ("repair", path)):
            for options in ((), ("--compress",)) if command[0] != "repair" else ((),):
                copy = self.path("copy.elog")
                with open(copy, "wb") as output:
                    self.run_elog(*command, *options, "-o", "-", stdout=output)
                self.assertIn(": whole: ", self.run_elog("verify", copy).stdout)
                self.assertEqual(self.without_times(self.events(copy)),
                                 self.without_times(self.events(path)))
                self.assertEqual(self.told(copy), self.told(path))
            self.run_elog(*command, "-o", "-", "--json", status=2)
        self.assertFalse(os.path.exists("-"))
        piped = self.start("/bin/sh", "-c", '"$0" cut "$1" --where "worker == 1" -o - | '
                           '"$0" print -', harness.ELOG, path)
        output, _ = self.finish(piped)
        self.assertEqual([line for line in output.splitlines() if not line.startswith("-- ")],
                         self.events(path, "--where", "worker == 1"))

    def test_cut_keeps_first_and_last_events(self):
        path = self.record_with_gaps()
        events = self.events(path)
        self.assertEqual(self.events(self.cut(path, "--limit", "70")), events[:70])
        last = self.cut(path, "--tail", "70", name="last.elog")
        self.assertEqual(self.print(last), self.print(path, "--tail", "70"))
        self.assertEqual(self.events(last), events[-70:])

    def test_cut_of_damaged_file_keeps_intact_records_and_fails(self):
        path = self.record()
        harness.damage_records(path)
        whole = self.run_elog("print", path, status=1).stdout.splitlines()
        for command in ("cut", "merge"):
            result = self.run_elog(command, path, "--force", "-o", self.path("rest.elog"),
                                   status=1)
            self.assertRegex(result.stderr, harness.DAMAGE)
            self.assertRegex(result.stderr, r"damaged; everything else in (it|them) has been copied")
            self.assert_intact(self.path("rest.elog"), result.stderr)
            self.assertEqual(self.events(self.path("rest.elog")), whole)

    def test_cut_of_open_recording_copies_current_contents(self):
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        recording = self.start_recording("-e", "counter:*", "-o", self.path("live.elog"))
        self.wait_for(lambda: self.print(self.path("live.elog")), "events")
        result = self.run_elog("cut", self.path("live.elog"), "-o", self.path("cut.elog"))
        self.assertIn("still being written", result.stderr)
        self.assertGreater(self.assert_intact(self.path("cut.elog"), result.stderr)[0], 0)
        self.stop(recording)

    # merge ----------------------------------------------------------------------------------------

    @staticmethod
    def without_times(lines):
        """Times are converted with all clock readings, and may differ by a microsecond."""
        return sorted(line.split(" ", 1)[1] for line in lines)

    def assert_in_order(self, path):
        times = [line.split(" ")[0] for line in self.events(path)]
        self.assertEqual(times, sorted(times))

    def test_merge_orders_all_events_by_time(self):
        one, other = self.record("one.elog"), self.record("other.elog", "--compress")
        merged = self.merge(other, one)
        self.assert_in_order(merged)
        self.assertEqual(
            self.without_times(self.events(merged)),
            self.without_times(self.events(one) + self.events(other)),
        )
        self.assertEqual(len(self.print(merged)), 8000)

    def test_merge_of_concurrent_recordings_keeps_events_and_losses(self):
        first = self.start_recording("-e", "counter:*", "-o", self.path("one.elog"), "--wait")
        second = self.path("second.elog")
        self.make_with_gaps(second)
        self.stop(first)
        merged = self.merge(self.path("one.elog"), second)
        self.assert_in_order(merged)
        self.assertEqual(
            self.without_times(self.events(merged)),
            self.without_times(self.events(self.path("one.elog")) + self.events(second)),
        )
        self.assertEqual(self.told(merged), self.told(self.path("one.elog")) + self.told(second))

    def test_merge_of_rotated_files_equals_recording(self):
        self.run_elog(
            "record", "-e", "counter:*", "-o", self.path("part.elog"), "--rotate", "1MiB",
            "--buffer-size", "4M", "--", harness.program("counter"), "2", "50000",
        )
        parts = [self.path(name) for name in sorted(os.listdir(self.scratch))
                 if name.startswith("part-")]
        self.assertGreater(len(parts), 3)
        lines = sum((self.events(part) for part in parts), [])
        merged = self.merge(*reversed(parts))
        self.assert_in_order(merged)
        self.assertEqual(self.without_times(self.events(merged)), self.without_times(lines))
        # A process in several recordings is one provider.
        self.assertIn(", 1 providers,", self.run_elog("verify", merged).stdout)

    def test_merge_of_cuts_equals_source(self):
        path = self.record_with_gaps()
        middle, _ = self.middle(path)
        before = self.cut(path, "--until", middle, name="before.elog")
        behind = self.cut(path, "--since", middle, name="behind.elog")
        merged = self.merge(behind, before)
        self.assertEqual(self.without_times(self.events(merged)),
                         self.without_times(self.events(path)))

    def merged_then_cut(self, paths, *options):
        """The lines of a merge with these options, which are those of the whole with them."""
        whole, part = self.path("whole.elog"), self.path("part.elog")
        result = self.run_elog("merge", *paths, *options, "-o", part)
        self.assert_intact(part, result.stderr)
        if not os.path.exists(whole):
            self.run_elog("merge", *paths, "-o", whole)
        events = self.print(part)
        self.assertEqual(events, self.print(whole, *options))
        os.remove(part)
        return events

    def test_merge_selects_a_part_of_all_files(self):
        paths = [self.record(name, count=100) for name in ("small.elog", "small2.elog")]
        for options, count in ((("--where", "number < 10"), 40),
                               (("--limit", "7", "--where", "worker == 0"), 7),
                               (("--tail", "250"), 250),
                               (("--since", "+0s", "--until", "+1h"), 400)):
            self.assertEqual(len(self.merged_then_cut(paths, *options)), count)

    def test_merge_of_empty_range_reports_span(self):
        one, other = self.record("one.elog"), self.record("small.elog", count=100)
        for number, (paths, name) in enumerate((([one], one), ([one, other], "merged of 2 files"))):
            result = self.run_elog("merge", *paths, "--since", "@0.5", "--until", "@1", "--clock",
                                   "monotonic", "-o", self.path(f"none{number}.elog"))
            self.assertIn(f"elog: No event is between @0.5 and @1: the recording {name} is from @",
                          result.stderr)
        with open(one, "rb") as file:
            result = self.run_elog("merge", "-", "--since", "@0.5", "--until", "@1", "--clock",
                                   "monotonic", "-o", self.path("none.elog"), stdin=file)
        self.assertIn("the recording standard input is from @", result.stderr)

    def test_merge_rejects_duplicate_file(self):
        path = self.record()
        result = self.run_elog("merge", path, path, "-o", self.path("new.elog"), status=1)
        self.assert_one_message(result.stderr, "is named twice")
        self.assertFalse(os.path.exists(self.path("new.elog")))

    def test_merge_rejects_other_files_before_writing(self):
        path = self.record()
        shutil.copy(harness.ELOG, self.path("no.elog"))
        for other in (self.path("no.elog"), self.path("missing")):
            result = self.run_elog("merge", path, other, "-o", self.path("new"), status=1)
            self.assert_one_message(result.stderr, other)
        self.run_elog("merge", "-o", self.path("new"), status=2)
        self.run_elog("merge", path, status=2)
        self.assertFalse(os.path.exists(self.path("new")))


    def check_aggregated(self, path, known):
        """elog agg and elog run have the numbers of elog stat."""
        names = ("events", "lost", "overwritten")
        counted = json.loads(self.run_elog("agg", "--json", "count()", path).stdout)
        self.assertEqual([counted[name] for name in names], [known[name] for name in names])
        result = self.run_elog("run", "-n", "counter:count { @ = count() }", "-i", path)
        self.assertIn("{events} events, {lost} lost, {overwritten} overwritten\n".format(**known),
                      result.stdout)
        self.assertEqual(re.findall(r"did not see (\d+) events", result.stderr),
                         [str(known["overwritten"])])

    def test_overwritten_and_lost_stay_separate(self):
        path = self.path("newest.elog")
        recording = self.start_recording("-e", "counter:*", "--overwrite", "--buffer-size", "128K",
                                         "--wait", "-o", path)
        self.finish(self.start(harness.program("counter"), "2", "100000"))
        self.stop(recording)
        known = self.stat(path)
        self.assertGreater(known["overwritten"], 0)
        self.assertEqual(known["events"] + known["overwritten"], 200000)
        self.check_aggregated(path, known)
        for command in (["cut", path, "-o", self.path("cut.elog")],
                        ["merge", path, "-o", self.path("merged.elog")]):
            errors = self.run_elog(*command).stderr
            self.assertIn(f"{known['overwritten']} older events had been overwritten", errors)
            copied = self.stat(command[-1])
            for each in ("events", "overwritten"):
                self.assertEqual(copied[each], known[each])
            self.assertEqual(copied["lost"], 0)
            self.assertRegex(self.run_elog("verify", command[-1]).stdout,
                             rf" {known['overwritten']} overwritten,")

    def test_trailing_overwritten_is_not_counted_as_lost(self):
        path, none, again = (self.path(name) for name in ("run.elog", "none.elog", "again.elog"))
        result = self.run_elog("record", "-e", "counter:*", "--overwrite", "--buffer-size", "128K",
                               "-o", path, "--", harness.program("counter"), "1", "50000")
        overwritten = self.stat(path)["overwritten"]
        self.assertGreater(overwritten, 0)
        recorded = self.run_elog("record", "-e", "counter:*", "--overwrite", "--buffer-size", "128K",
                                 "--where", "number == 999999", "-o", self.path("filtered.elog"), "--",
                                 harness.program("counter"), "1", "50000")
        filtered = self.stat(self.path("filtered.elog"))
        self.assertGreater(filtered["overwritten"], 0)
        self.assertIn(f"{filtered['overwritten']} older events were overwritten", recorded.stderr)
        self.assertEqual((filtered["events"], filtered["lost"]), (0, 0))
        self.run_elog("cut", path, "--where", "number == 999999", "-o", none)
        self.run_elog("merge", none, self.path("filtered.elog"), "-o", again)
        for file, known in ((none, overwritten), (again, overwritten + filtered["overwritten"])):
            found = self.stat(file)
            self.assertEqual((found["events"], found["overwritten"], found["lost"]),
                             (0, known, 0))
            self.check_aggregated(file, found)
            told = re.findall(r"^-- overwritten (\d+) events (?:on CPU|in the shared)",
                              self.run_elog("print", file).stdout, re.MULTILINE)
            self.assertEqual(sum(map(int, told)), known)
            lines = self.run_elog("convert", "--to", "jsonl", file).stdout.splitlines()
            self.assertEqual(sum(json.loads(line)["overwritten"] for line in lines), known)
            self.assertRegex(self.run_elog("verify", file).stdout,
                             rf" 0 lost, {known} overwritten,")
        self.assertEqual(self.summary(result.stderr)[2], 0)

    def damage_schemas(self, path):
        """Nothing describes the events of the recording then."""
        with open(path, "r+b") as file:
            data = file.read()
            for found in re.finditer(b"EBLK\x03\x00", data):  # type 3
                file.seek(found.start() + 32 + 16)
                file.write(b"\xff")

    def test_left_out_events_count_for_a_merged_part(self):
        paths = [self.record(name, count=count) for name, count in (("named.elog", 100),
                                                                    ("nameless.elog", 50))]
        self.damage_schemas(paths[1])
        for number, (options, events) in enumerate((((), 200), (("--where", "number < 10"), 20))):
            result = self.run_elog("merge", "--json", *paths, *options, "-o",
                                   self.path(f"new{number}.elog"), status=1)
            copied = json.loads(result.stdout)
            self.assertEqual([copied[name] for name in ("events", "lost", "lost_left_out")],
                             [events, 100, 100])
            self.assertIn("1 of 2 files are damaged", result.stderr)


if __name__ == "__main__":
    harness.main()
