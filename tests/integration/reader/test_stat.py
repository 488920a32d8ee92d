#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""elog stat: its numbers match those of the printed lines."""

import collections
import json
import re
import subprocess

import harness


class Stat(harness.Case):
    def record_two(self):
        """Records two processes of one provider, and one of another."""
        path = self.path("run.elog")
        recording = self.start_recording("-e", "*", "-o", path, "--wait")
        for command in (["counter", "1", "3000"], ["counter", "2", "1000"]):
            self.finish(self.start(harness.program(command[0]), *command[1:]))
        self.finish(self.start(harness.program("c_sessions")))
        self.stop(recording)
        return path

    def lines(self, path, *options):
        output = self.run_elog("print", path, *options).stdout
        return [harness.LINE.match(line) for line in output.splitlines()]

    def stat(self, path, *options):
        return json.loads(self.run_elog("stat", "--json", path, *options).stdout)

    def test_counts_by_event(self):
        path = self.record_two()
        counted = collections.Counter(
            f"{line['provider']}:{line['event']}" for line in self.lines(path)
        )
        self.assertGreater(len(counted), 1)
        found = self.stat(path)
        self.assertEqual({f"{each['provider']}:{each['event']}": each["events"] for each in found["by_event"]}, counted)
        self.assertEqual(found["events"], sum(counted.values()))
        self.assertEqual(found["bytes"], sum(each["bytes"] for each in found["by_event"]))
        numbers = [each["events"] for each in found["by_event"]]
        self.assertEqual(numbers, sorted(numbers, reverse=True))

    def test_counts_by_process(self):
        found = self.stat(self.record_two())["by_process"]
        self.assertEqual(sorted(each["events"] for each in found if each["comm"] == "counter"),
                         [2000, 3000])
        self.assertEqual(len({each["pid"] for each in found}), 3)

    def test_counts_only_selected_events(self):
        path = self.record_two()
        where = ("--where", "provider == \"counter\" && number < 100")
        self.assertEqual(len(self.lines(path, *where)), 300)
        self.assertEqual(self.stat(path, *where)["events"], 300)
        self.assertEqual(self.stat(path, "--since", "+1h")["events"], 0)

    def test_shows_a_table_of_both(self):
        text = self.run_elog("stat", self.record_two()).stdout
        self.assertRegex(text, r"^event +count +per second +bytes +bytes each\ncounter:count +5000 ")
        self.assertRegex(text, r"\n\nprocess +count +per second +bytes +bytes each +lost\n"
                               r"counter-\d+ +3000 .*\ncounter-\d+ +2000 ")

    def test_shows_losses_by_reason(self):
        path = self.path("lossy.elog")
        attempted, _, lost, _ = self.record_with_losses(path, 4, 20000)
        found = self.stat(path)
        self.assertEqual(found["events"] + found["lost"], attempted)
        self.assertEqual(found["lost"], lost)
        self.assertEqual(sum(found["lost_by_reason"].values()), lost)
        (process,) = found["by_process"]
        self.assertEqual(process["lost"], lost)
        part = self.stat(path, "--since", "+0s")
        self.assertEqual([each["lost"] for each in part["by_process"]], [None])
        self.assertIsNone(part["lost_by_provider"])
        text = self.run_elog("stat", path).stdout
        told = [int(each) for each in re.findall(r"^  (\d+) lost: \w+ \(", text, re.M)]
        self.assertEqual(sum(told), lost)
        self.assertRegex(text, rf"(?m)^process .* lost\ncounter-\d+ +{found['events']} .* {lost}$")

    def test_times_of_custom_clocks_enclose_all_events(self):
        path = self.path("own.elog")
        self.run_elog("record", "-e", "*", "-o", path, "--", harness.program("custom_clock"),
                      stdin=subprocess.DEVNULL)
        text = self.run_elog("stat", path, "--clock", "monotonic").stdout
        seconds = float(re.search(r"\n4 events in (\d+\.\d+) s", text)[1])
        first, last = map(float, re.search(r"\nfrom @(\S+) to @(\S+)\n", text).groups())
        self.assertGreaterEqual(seconds, 60)
        self.assertAlmostEqual(last - first, seconds, delta=0.002)
        found = self.stat(path, "--clock", "monotonic")
        times = sorted(float(json.loads(line)["time"]) for line in self.run_elog(
            "print", path, "--json", "--clock", "monotonic").stdout.splitlines())
        self.assertEqual([float(found["first_time"]), float(found["last_time"])],
                         [times[0], times[-1]])

    def test_of_an_empty_recording_is_zero(self):
        path = self.path("empty.elog")
        self.run_elog("record", "-e", "*", "--wait", "--duration", "10ms", "-o", path)
        self.assertEqual(self.stat(path)["events"], 0)
        self.assertIn("\n0 events in 0.000 s, 0 lost\n", self.run_elog("stat", path).stdout)


if __name__ == "__main__":
    harness.main()
