#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""elog record pauses and resumes by signals; files have the pauses, and all commands keep or show
them.
"""

import json
import re
import signal
import socket
import struct
import time

import flight_recorder
import harness

LIVE, PAUSED = 0x4556494C, 0x53554150
SUBSCRIPTIONS = 0xFFFF
LINE = re.compile(r"-- (paused|resumed) at \d\d:\d\d:\d\d\.\d{6} --")


class RecordPause(flight_recorder.Case):
    def send(self, recording, number, state):
        recording.send_signal(number)
        self.wait_for(lambda: self.region_word(flight_recorder.STATE) == state, "the state")

    def pause(self, recording):
        self.send(recording, signal.SIGUSR1, PAUSED)

    def resume(self, recording):
        self.send(recording, signal.SIGUSR2, LIVE)

    def listeners(self, program):
        (provider,) = self.providers_of(program.pid)
        return provider.gate()[0] & SUBSCRIPTIONS

    def lines(self, *arguments):
        return [json.loads(line)
                for line in self.run_elog(*arguments, "--json").stdout.splitlines()]

    def notes(self, *arguments):
        """(kind, number) of the notes in JSON Lines."""
        return [(line["note"], line["number"]) for line in self.lines(*arguments)
                if "note" in line]

    def record_a_pause(self, name="run.elog"):
        """10 events before the pause, 20 in it, 5 behind it."""
        path = self.path(name)
        recording = self.start_recording("-e", "counter:*", "--wait", "-o", path)
        self.emit(1, 10)
        self.pause(recording)
        self.emit(1, 20)
        self.resume(recording)
        self.emit(1, 5)
        _, errors = self.stop(recording)
        events, _, lost = self.summary(errors)
        self.assertEqual((events, lost), (15, 0))
        return path

    def assert_explained(self, events, pauses, attempted):
        """Checks that all numbers of a worker that are missing lie in pauses; returns how many."""
        missing = 0
        before, then = -1, ""
        for number, now in [*events, (attempted, "~")]:
            if number != before + 1:
                self.assertGreater(number, before)
                self.assertTrue(any(begin <= now and then <= end for begin, end in pauses),
                                f"{before} at {then}, {number} at {now}: {pauses}")
                missing += number - before - 1
            before, then = number, now
        return missing

    def test_conserves_events_of_two_threads(self):
        path, each = self.path("run.elog"), 20000
        recording = self.start_recording("-e", "counter:*", "--wait", "--buffer-size", "4M", "-o",
                                         path)
        program = self.start_provider(harness.program("counter"), "2", str(each), "20")
        cycles = 0
        while program.poll() is None:
            time.sleep(0.02)
            self.pause(recording)
            time.sleep(0.02)
            self.resume(recording)
            cycles += 1
        attempted = int(self.finish(program)[0].split()[1])
        self.assertEqual(attempted, 2 * each)
        _, errors = self.stop(recording)
        read, _, lost = self.summary(errors)
        self.assertEqual(lost, 0)
        events, notes = {0: [], 1: []}, []
        for line in self.lines("print", path):
            if "note" in line:
                notes.append(line)
            else:
                fields = line["fields"]
                events[fields["worker"]].append((fields["number"], line["time"]))
        self.assertEqual([(note["note"], note["number"]) for note in notes],
                         [(kind, number + 1) for number in range(cycles)
                          for kind in ("pause", "resume")])
        times = [note["time"] for note in notes]
        self.assertEqual(times, sorted(times))
        pauses = list(zip(times[0::2], times[1::2]))
        paused = sum(self.assert_explained(events[worker], pauses, each) for worker in events)
        self.assertEqual(len(events[0]) + len(events[1]), read)
        self.assertEqual(attempted, read + lost + paused)
        self.assertGreater(paused, 0)
        self.run_elog("verify", path)

    def test_programs_have_no_listener_while_paused(self):
        recording = self.start_recording("-e", "counter:*", "--wait", "-o", self.path("run.elog"))
        program = self.start_provider(harness.program("counter"), "1", "0", "1000")
        self.wait_for(lambda: self.listeners(program) != 0, "a listener")
        self.pause(recording)
        self.wait_for(lambda: self.listeners(program) == 0, "closed gates")
        self.assertTrue(self.is_mapped(program, "subscriptions"))
        self.assertIn("(paused)", self.run_elog("list").stdout)
        (shown,) = json.loads(self.run_elog("list", "--json").stdout)["subscriptions"]
        self.assertTrue(shown["paused"])
        later = self.start_provider(harness.program("counter"), "1", "0", "1000")
        time.sleep(0.05)
        self.assertEqual(self.listeners(later), 0)
        self.resume(recording)
        self.wait_for(lambda: self.listeners(program) != 0 and self.listeners(later) != 0,
                      "open gates")
        program.kill()
        later.kill()
        self.stop(recording)

    def test_prints_pauses_between_events(self):
        recording = self.start_recording("-e", "counter:*", "--wait")
        self.emit(1, 2)
        self.pause(recording)
        self.emit(1, 3)
        self.resume(recording)
        self.emit(1, 1)
        output, errors = self.stop(recording)
        lines = output.splitlines()
        self.assertEqual(len(lines), 5, output)
        self.assertEqual([LINE.fullmatch(line)[1] for line in lines[2:4]], ["paused", "resumed"])
        self.assertEqual(self.numbers(output), {0: [0, 1, 0]})
        self.assertIn(f"elog: Paused. To resume: kill -USR2 {recording.pid}\n", errors)
        self.assertIn("elog: Resumed.\n", errors)

    def test_ignores_a_second_request(self):
        recording = self.start_recording("-e", "counter:*", "--wait", "-o", self.path("run.elog"))
        recording.send_signal(signal.SIGUSR2)
        time.sleep(0.05)
        self.pause(recording)
        recording.send_signal(signal.SIGUSR1)
        time.sleep(0.05)
        _, errors = self.stop(recording)
        self.assertEqual(errors.count("Paused"), 1)
        self.assertEqual(self.notes("print", self.path("run.elog")), [("pause", 1)])
        self.assertIn("paused 1 time, for 0.000 s in all, and at its end\n",
                      self.run_elog("stat", self.path("run.elog")).stdout)

    def test_commands_keep_pauses(self):
        path, both = self.record_a_pause(), [("pause", 1), ("resume", 1)]
        self.assertEqual(self.notes("print", path), both)
        lines = self.run_elog("print", path).stdout.splitlines()
        self.assertEqual([bool(LINE.fullmatch(line)) for line in lines],
                         [False] * 10 + [True] * 2 + [False] * 5)
        self.assertRegex(self.run_elog("stat", path).stdout,
                         r"(?m)^paused 1 time, for \d+\.\d{3} s in all$")
        (pause,) = json.loads(self.run_elog("stat", path, "--json").stdout)["pauses"]
        self.assertLess(pause["start_time"], pause["end_time"])
        for command in (["cut", path], ["cut", path, "--where", "number > 7"],
                        ["merge", path], ["repair", path]):
            copy = self.path("copy.elog")
            self.run_elog(*command, "--force", "-o", copy)
            self.assertEqual(self.notes("print", copy), both, command)
            self.run_elog("verify", copy)
        self.assertEqual(len(self.run_elog("convert", "--to", "csv", path).stdout.splitlines()),
                         16)
        text = self.run_elog("convert", "--to", "jsonl", path).stdout
        self.assertEqual(text, self.run_elog("print", path, "--json").stdout)

    def test_parts_have_the_pauses_that_overlap_them(self):
        path, both = self.record_a_pause(), [("pause", 1), ("resume", 1)]
        lines = self.lines("print", path)
        first, last = lines[0]["time"], lines[-1]["time"]
        begin, end = (line["time"] for line in lines if "note" in line)
        for since, until, expected in ((first, begin, []), (begin, last, both), (end, last, both),
                                       (last, last, [])):
            part = ("--since", since, "--until", until)
            self.assertEqual(self.notes("print", path, *part), expected, part)
            self.run_elog("cut", path, *part, "--force", "-o", self.path("part.elog"))
            self.assertEqual(self.notes("print", self.path("part.elog")), expected, part)
        self.assertEqual(self.notes("print", path, "--limit", "3"), [])
        self.assertEqual(self.notes("print", path, "--tail", "3"), [])
        self.assertEqual(self.notes("print", path, "--tail", "6"), both)

    def test_stat_has_the_pauses_that_are_printed(self):
        path = self.record_a_pause()
        for part in ([], ["--limit", "3"], ["--tail", "3"], ["--tail", "6"],
                     ["--clock", "monotonic"]):
            times = [line["time"] for line in self.lines("print", path, *part) if "note" in line]
            found = json.loads(self.run_elog("stat", path, "--json", *part).stdout)
            self.assertEqual([time for pause in found.get("pauses", [])
                              for time in (pause["start_time"], pause["end_time"])], times, part)
            text = self.run_elog("stat", path, *part).stdout
            self.assertEqual("\npaused 1 time" in text, bool(times), part)

    def test_merged_pauses_get_different_numbers(self):
        one, other = self.record_a_pause("one.elog"), self.record_a_pause("other.elog")
        self.run_elog("merge", one, other, "-o", self.path("both.elog"))
        self.assertEqual(self.notes("print", self.path("both.elog")),
                         [("pause", 1), ("resume", 1), ("pause", 2), ("resume", 2)])

    def test_is_followed(self):
        path = self.path("run.elog")
        recording = self.start_recording("-e", "counter:*", "--wait", "-o", path)
        with open(self.path("followed"), "w", encoding="utf-8") as output:
            follower = self.start(harness.ELOG, "print", "--follow", path, stdout=output)
            self.emit(1, 2)
            self.pause(recording)

            def shown():
                with open(self.path("followed"), encoding="utf-8") as file:
                    return file.read().splitlines()

            self.wait_for(lambda: len(shown()) == 3, "the line of the pause")
            self.assertEqual(LINE.fullmatch(shown()[2])[1], "paused")
            self.resume(recording)
            self.emit(1, 1)
            self.stop(recording)
            self.finish(follower)
        self.assertEqual([bool(LINE.fullmatch(line)) for line in shown()],
                         [False, False, True, True, False])

    def test_overwriting_recording_has_pauses(self):
        path = self.path("run.elog")
        recording = self.start_recording("-e", "counter:*", "--wait", "--overwrite", "-o", path)
        self.emit(1, 3)
        self.pause(recording)
        self.emit(1, 3)
        self.resume(recording)
        self.stop(recording)
        self.assertEqual([line.get("note") for line in self.lines("print", path)],
                         [None] * 3 + ["pause", "resume"])

    def test_killed_while_paused_leaves_nothing_behind(self):
        path = self.path("run.elog")
        recording = self.start_recording("-e", "counter:*", "--wait", "-o", path)
        program = self.start_provider(harness.program("counter"), "1", "0", "1000")
        self.wait_for(lambda: self.is_mapped(program, "subscriptions"), "an event")
        self.pause(recording)
        # The recorder writes it after the state of the region.
        self.wait_for(lambda: ("pause", 1) in self.notes("print", path), "the note")
        self.expect(recording, -signal.SIGKILL)
        recording.kill()
        recording.wait()
        self.run_elog("flight", "start", "flight", "-e", "counter:none")  # removes what is dead
        self.run_elog("flight", "stop", "flight", "--discard")
        self.assertEqual(self.names("subscriptions"), [])
        self.wait_for(lambda: not self.is_mapped(program, "subscriptions"), "the unmapping")
        program.kill()
        self.assertIn(("pause", 1), self.notes("print", path))

    def test_killed_while_resuming_leaves_nothing_behind(self):
        recording = self.start_recording("-e", "counter:*", "--wait", "-o", self.path("run.elog"))
        program = self.start_provider(harness.program("counter"), "1", "0", "1000")
        self.wait_for(lambda: self.is_mapped(program, "subscriptions"), "an event")
        self.pause(recording)
        self.wait_for(lambda: self.listeners(program) == 0, "closed gates")
        self.expect(recording, -signal.SIGKILL)
        recording.kill()
        recording.wait()
        self.region_word(flight_recorder.STATE, LIVE)  # the first step of a resume
        self.run_elog("flight", "start", "flight", "-e", "counter:none")  # removes what is dead
        self.run_elog("flight", "stop", "flight", "--discard")
        self.assertEqual(self.names("subscriptions"), [])
        self.wait_for(lambda: not self.is_mapped(program, "subscriptions"), "the unmapping")
        program.kill()

    def test_write_error_at_a_pause_ends_the_recording(self):
        listener = socket.create_server(("127.0.0.1", 0))
        output = socket.create_connection(listener.getsockname())
        reader, _ = listener.accept()
        recording = self.start(harness.ELOG, "record", "-e", "counter:*", "--wait", "-o", "-",
                               stdout=output)
        output.close()
        self.wait_for(lambda: self.is_mapped(recording, "subscriptions"), "a subscription")
        reader.recv(64)
        # The next write fails once with another error than that of a closed pipe.
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        reader.close()
        listener.close()
        recording.send_signal(signal.SIGUSR1)
        _, errors = self.finish(recording, 1)
        self.assertIn("The output cannot be written (Connection reset by peer).", errors)
        self.assertNotIn("Paused", errors)

    def test_snapshots_of_flight_recorders_have_pauses(self):
        self.begin()
        self.emit(1, 2)
        for _ in range(2):
            self.run_elog("flight", "pause", "flight")
            self.run_elog("flight", "resume", "flight")
        self.emit(1, 1)
        self.run_elog("flight", "pause", "flight")
        text = self.snapshot()[0].splitlines()
        self.assertEqual([bool(LINE.fullmatch(line)) for line in text],
                         [False] * 2 + [True] * 4 + [False, True])
        path = self.path("snapshot.elog")
        self.snapshot("-o", path)
        self.assertEqual(self.notes("print", path),
                         [("pause", 1), ("resume", 1), ("pause", 2), ("resume", 2), ("pause", 3)])
        self.run_elog("flight", "resume", "flight")
        for _ in range(32):
            self.run_elog("flight", "pause", "flight")
            self.run_elog("flight", "resume", "flight")
        self.snapshot("-o", path, "--force")
        self.assertEqual(self.notes("print", path),
                         [(kind, number) for number in range(4, 36)
                          for kind in ("pause", "resume")])
        self.run_elog("flight", "stop", "flight", "--discard")

    def test_command_does_not_get_the_signals(self):
        path = self.path("run.elog")
        recording = self.start_recording("-o", path, "--", harness.program("counter"), "1", "0",
                                         "1000")
        self.wait_for(lambda: self.lines("print", path), "events")
        self.pause(recording)
        self.resume(recording)
        _, errors = self.stop(recording)
        self.assertEqual(self.summary(errors)[2], 0)
        self.assertEqual(self.notes("print", path), [("pause", 1), ("resume", 1)])


if __name__ == "__main__":
    harness.main()
