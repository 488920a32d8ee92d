#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""elog shows the events that a program in C emits."""

import os

import harness


class CApi(harness.Case):
    def lines(self, arguments, *command):
        """[(event, fields)] of each line of a recording."""
        self.run_elog("record", *arguments, "--force", "-o", self.path("run.elog"), "--", *command)
        lines = self.run_elog("print", self.path("run.elog")).stdout.splitlines()
        found = [harness.LINE.match(line) for line in lines]
        self.assertNotIn(None, found, lines)
        return [(record["event"], record["fields"].strip()) for record in found]

    def recorded(self, *command):
        """{name: fields} of the events."""
        return dict(self.lines(["-e", "*:*"], *command))

    @staticmethod
    def spoken(number):
        return [("said", f'session={number} word="aloud" number={number}00'),
                ("whispered", f'session={number} word="aloud"')]

    def test_values_of_every_type_arrive(self):
        recorded = self.recorded(harness.program("c_values"))
        self.assertEqual(
            recorded["single"],
            "boolean=true character='x' signed_8=-128 signed_16=-32768 signed_32=-2147483648 "
            "signed_64=-9223372036854775808 unsigned_8=255 unsigned_16=65535 "
            "unsigned_32=4294967295 unsigned_64=18446744073709551615 float_32=0.25 "
            "float_64=-1e+300 paint=green may=may_read|may_write absent=- present=5",
        )
        self.assertEqual(
            recorded["arrays"], 'numbers=[-1,0,1] reals=[0.5,2.5] address=192.0.2.1 tag="tag"'
        )
        self.assertEqual(
            recorded["texts"], 'terminated="to the NUL" counted="counted" null=(null) bytes=<01ff>'
        )
        self.assertEqual(recorded["nothing"], "")
        self.assertEqual(recorded["in_session"], "session=77 step=1")

    def test_provider_left_registered_is_removed_at_exit(self):
        output, _ = self.finish(self.start(harness.program("c_values")))
        self.assertEqual(output, "5 emitted, status 0\n")
        self.assert_no_files_left()

    def test_error_is_reported_and_program_continues(self):
        output, _ = self.finish(self.start(harness.program("c_values"), "wrong"))
        lines = output.splitlines()
        self.assertEqual(lines[0], "4")
        self.assertEqual(
            lines[1], "Event 3 (single): Event 0 has the same name. Rename one of them."
        )
        self.assertEqual(
            lines[2:7], ["The handle has no definition, or not any more. Define the provider first."] * 5
        )
        self.assertEqual(lines[7], "0 emitted, status 6")

    def test_switched_off_by_the_environment_checks_and_emits_nothing(self):
        self.environment["EVENTLOG"] = "off"
        output, _ = self.finish(self.start(harness.program("c_values")))
        self.assertEqual(output, "5 emitted, status 1\n")
        self.assertFalse(os.path.exists(self.directory))

    def test_example_in_c(self):
        recorded = self.recorded(harness.example("c_api"), "2")
        self.assertEqual(recorded["station_found"], 'station="harbour" address=192.0.2.17')
        self.assertEqual(
            recorded["measured"], 'session=2 station="hill" temperature=18.75C sky=cloudy wind=-'
        )

    def test_example_session_is_selected_by_id(self):
        lines = self.lines(["-e", "weather", "--session", "1"], harness.example("c_api"), "4")
        self.assertEqual([event for event, _ in lines],
                         ["session_begin", "measured", "measured", "session_end"])
        self.assertTrue(lines[1][1].startswith('session=1 station="harbour" '), lines)

    def test_sessions_begin_emit_and_end(self):
        lines = self.lines(["-e", "c_sessions"], harness.program("c_sessions"))
        self.assertEqual(
            lines,
            [("session_begin", f"session={number}") for number in (1, 2, 3)]
            + [("announced", 'word="all"')]
            + [line for number in (1, 2, 3) for line in self.spoken(number)]
            + [("session_end", f"session={number}") for number in (1, 2, 3)],
        )

    def test_session_is_recorded_alone(self):
        lines = self.lines(
            ["-e", "c_sessions", "--session", "2"], harness.program("c_sessions")
        )
        self.assertEqual(
            lines,
            [("session_begin", "session=2"), *self.spoken(2), ("session_end", "session=2")],
        )

    def test_session_is_recorded_at_more_verbose_level(self):
        lines = self.lines(
            ["-e", "c_sessions@info", "-e", "c_sessions:*@trace#", "--session", "2"],
            harness.program("c_sessions"),
        )
        self.assertEqual([fields for event, fields in lines if event == "whispered"],
                         ['session=2 word="aloud"'])
        self.assertEqual(sum(event == "said" for event, _ in lines), 3)

    def test_disabled_sessions_still_report_errors(self):
        output, _ = self.finish(self.start(harness.program("c_sessions")))
        self.assertEqual(
            output,
            "The event does not belong to a session, and the call does, or the reverse. Use the "
            "functions of sessions for session_bound events only.\n13 emitted, 0 enabled\n",
        )
        self.assert_no_files_left()

    def test_example_in_cpp(self):
        recorded = self.recorded(harness.example("dynamic"), "1", "door_opened:door,floor",
                                 "lamp_lit:lamp")
        self.assertEqual(recorded, {"door_opened": "door=0 floor=0", "lamp_lit": "lamp=0"})

    def test_example_in_cpp_reports_error(self):
        process = self.start(harness.example("dynamic"), "door opened:door")
        _, errors = self.finish(process, status=1)
        self.assertIn("dynamic: Event 0 (door opened): It cannot be called that", errors)

    def test_small_event_of_unpublished_provider_does_not_touch_thread(self):
        self.environment["EVENTLOG"] = "off"
        output, _ = self.finish(self.start(harness.program("unpublished_site")))
        self.assertEqual(output, "2 longer ways, 5 in a thread\n")


if __name__ == "__main__":
    harness.main()
