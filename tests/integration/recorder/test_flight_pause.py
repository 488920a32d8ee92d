#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""elog flight pause and elog flight resume: programs drop events without a loss and at no cost in
between, also programs that start then and after commands were killed. flight_pause_test.cpp counts
each event under load.
"""

import json
import os
import time

import flight_recorder
import harness

LIVE, PAUSED = 0x4556494C, 0x53554150
SUBSCRIPTIONS, NOTIFICATION = 0xFFFF, 0x10000


class FlightPause(flight_recorder.Case):
    def pause(self, *options, status=0):
        return self.run_elog("flight", "pause", "flight", *options, status=status)

    def resume(self, *options, status=0):
        return self.run_elog("flight", "resume", "flight", *options, status=status)

    def gate_of(self, program):
        (provider,) = self.providers_of(program.pid)
        return provider.gate()[0] & (SUBSCRIPTIONS | NOTIFICATION)

    def count(self):
        """The events that were recorded; checks that none was lost."""
        (shown,) = self.status()
        self.assertEqual(shown["lost"], 0)
        return shown["events"] + shown["overwritten"]

    def start_counter(self, interval="1000"):
        return self.start_provider(harness.program("counter"), "1", "0", interval)

    def wait_for_more(self):
        before = self.count()
        self.wait_for(lambda: self.count() > before, "an event")

    def assert_silent(self):
        before = self.count()
        time.sleep(0.1)
        self.assertEqual(self.count(), before)

    def assert_message(self, errors, *parts):
        self.assertEqual(len(errors.splitlines()), 1, errors)
        self.assertTrue(errors.startswith("elog: "), errors)
        for part in parts:
            self.assertIn(part, errors)

    def test_pause_stops_events_and_leaves_no_gate_bit(self):
        self.begin()
        program = self.start_counter()
        self.wait_for_more()
        self.assertEqual(self.gate_of(program), 1)
        self.assertIn("Resume it with: elog flight resume flight", self.pause().stderr)
        self.assertEqual(self.gate_of(program) & SUBSCRIPTIONS, 0)
        # The next event takes the notification; events before it have been written.
        self.wait_for(lambda: self.gate_of(program) == 0, "an event of the program")
        self.assert_silent()
        self.assertTrue(self.is_mapped(program, "subscriptions"))
        self.resume()
        self.assertEqual(self.gate_of(program), 1)
        self.wait_for_more()
        program.kill()
        self.run_elog("flight", "stop", "flight", "--discard")

    def test_programs_started_while_paused_record_after_resume(self):
        self.begin()
        self.pause()
        self.assertEqual(self.emit(1, 100), 100)
        self.assertEqual(self.count(), 0)
        program = self.start_counter()
        self.assert_silent()
        self.assertEqual(self.gate_of(program), 0)
        self.resume()
        self.wait_for_more()
        program.kill()
        program.wait()
        numbers = self.numbers(self.snapshot()[0])[0]
        self.assertGreater(numbers[0], 0)
        self.assertEqual(numbers, list(range(numbers[0], numbers[0] + len(numbers))))
        self.run_elog("flight", "stop", "flight", "--discard")

    def test_resumed_recorder_has_events_from_before_and_after(self):
        for options in ((), ("--keep-first",)):
            self.begin(*options)
            self.emit(1, 10)
            self.pause()
            self.emit(1, 20)
            self.resume()
            self.emit(1, 5)
            self.assertEqual(self.numbers(self.snapshot()[0]), {0: [*range(10), *range(5)]})
            self.assertEqual(self.count(), 15)
            self.run_elog("flight", "stop", "flight", "--discard")

    def test_snapshot_and_stop_work_while_paused(self):
        self.begin()
        self.emit(1, 10)
        program = self.start_counter()
        self.wait_for_more()
        self.pause()
        self.wait_for(lambda: self.gate_of(program) == 0, "an event of the program")
        held = self.count()
        self.assertEqual(self.snapshot()[1], held)
        last = self.path("last.elog")
        result = self.run_elog("flight", "stop", "flight", "-o", last)
        self.assertEqual(self.summary(result.stderr)[0], held)
        self.run_elog("verify", last)
        # No gate had its bit, and the program unmaps the region all the same.
        self.wait_for(lambda: not self.is_mapped(program, "subscriptions"), "the unmapping")
        self.assertEqual(self.names("subscriptions"), [])
        program.kill()

    def test_second_pause_and_second_resume_are_errors(self):
        self.begin()
        result = self.resume(status=1)
        self.assert_message(result.stderr, "'flight' is not paused", "elog flight pause")
        self.pause()
        result = self.pause(status=1)
        self.assert_message(result.stderr, "'flight' is already paused", "elog flight resume")
        self.resume()
        result = self.resume(status=1)
        self.assert_message(result.stderr, "'flight' is not paused")
        self.region_word(flight_recorder.STATE, 0)
        for command in (self.pause, self.resume):
            result = command(status=1)
            self.assert_message(result.stderr, "'flight' has ended", "elog flight stop")
        self.run_elog("flight", "stop", "flight", "--discard")
        for verb in ("pause", "resume"):
            result = self.run_elog("flight", verb, "flight", status=1)
            self.assert_message(result.stderr, "There is no flight recorder 'flight'")
            self.run_elog("flight", verb, status=2)

    def test_status_and_list_show_pauses(self):
        self.begin()
        (shown,) = self.status()
        self.assertEqual((shown["paused"], shown["pause_count"], shown["pauses"]), (False, 0, []))
        said = json.loads(self.pause("--json").stdout)
        self.assertEqual(said, {"version": 1, "name": "flight", "paused": True})
        (shown,) = self.status()
        self.assertEqual((shown["paused"], shown["pause_count"]), (True, 1))
        self.assertIsNone(shown["pauses"][0]["end_time"])
        self.assertGreaterEqual(shown["pauses"][0]["start_time"], shown["start_time"])
        self.assertRegex(self.run_elog("flight", "status").stdout,
                         r"\n  paused      since \d{4}-\S+ [\d:]{8}: .*elog flight resume flight\n")
        self.assertIn("flight (elog flight start, paused)", self.run_elog("list").stdout)
        (listed,) = json.loads(self.run_elog("list", "--json").stdout)["subscriptions"]
        self.assertTrue(listed["paused"])
        said = json.loads(self.resume("--json").stdout)
        self.assertEqual(said, {"version": 1, "name": "flight", "paused": False})
        (shown,) = self.status()
        self.assertEqual((shown["paused"], shown["pause_count"]), (False, 1))
        (pause,) = shown["pauses"]
        self.assertGreater(pause["end_time"], pause["start_time"])
        text = self.run_elog("flight", "status").stdout
        self.assertRegex(text, r"\n  pauses      1, the last from \d{4}-\S+ [\d:]{8} to ")
        self.assertNotIn("\n  paused ", text)

    def test_many_pauses_under_load_keep_the_recorder_valid(self):
        self.begin()
        program = self.start_provider(harness.program("counter"), str(harness.THREADS), "0")
        for _ in range(40):
            self.pause()
            self.resume()
        self.wait_for_more()
        path = self.path("some.elog")
        self.run_elog("flight", "snapshot", "flight", "-o", path)
        self.run_elog("verify", path)
        for numbers in self.numbers(self.run_elog("print", path).stdout).values():
            self.assertEqual(len(numbers), len(set(numbers)))
        program.kill()
        (shown,) = self.status()
        self.assertEqual((shown["pause_count"], len(shown["pauses"])), (40, 32))
        times = [time for each in shown["pauses"] for time in (each["start_time"], each["end_time"])]
        self.assertEqual(times, sorted(times))

    def kill_during(self, verb, state):
        """Kills a command as soon as it has changed the recorder's state."""
        command = self.start(harness.ELOG, "flight", verb, "flight")
        self.wait_for(
            lambda: self.region_word(flight_recorder.STATE) == state or command.poll() is not None,
            "a change of state",
        )
        self.expect(command, 0, -9)
        command.kill()
        command.wait()

    def test_killed_commands_leave_a_recorder_that_can_be_resumed(self):
        self.begin()
        program = self.start_counter("100")
        for i in range(5000):  # invalid files slow down the search for processes
            with open(os.path.join(self.directory, "processes", f"behind.{i}"), "wb"):
                pass
        self.wait_for_more()
        for _ in range(5):
            self.kill_during("pause", PAUSED)
            time.sleep(0.01)
            self.assert_silent()
            self.kill_during("resume", LIVE)
            (shown,) = self.status()
            self.assertFalse(shown["paused"])
            if shown["pauses"][-1]["end_time"] is None:
                self.assertIn("Complete it with: elog flight resume flight",
                              self.run_elog("flight", "status").stdout)
                self.resume()
            self.assertEqual(self.gate_of(program) & SUBSCRIPTIONS, 1)
            self.wait_for_more()
        (shown,) = self.status()
        self.assertEqual(shown["pause_count"], 5)
        program.kill()

    def test_pause_completes_a_killed_one(self):
        self.begin()
        program = self.start_counter()
        self.wait_for_more()
        # As after a pause was killed before it cleared the gates.
        self.region_word(flight_recorder.STATE, PAUSED)
        time.sleep(0.01)
        self.assert_silent()
        self.assertEqual(self.gate_of(program) & SUBSCRIPTIONS, 1)
        self.pause(status=1)
        self.assertEqual(self.gate_of(program) & SUBSCRIPTIONS, 0)
        self.resume()
        self.wait_for_more()
        program.kill()


if __name__ == "__main__":
    harness.main()
