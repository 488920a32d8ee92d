#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A keyword in a pattern that no matching provider has is an error, or a warning while programs may
still start.
"""

import harness

MESSAGE = ("elog: No running provider that matches 'http:*/netwrok' has a keyword 'netwrok'. "
           "Did you mean 'network'? See the keywords with: elog list.")
ADVICE = " To wait for a program that has it, add --wait."
FLIGHT_ADVICE = " To wait for a program that has it, leave out --require-match."


class Keywords(harness.Case):
    """All events of the example http_server have one of the keywords network and requests."""

    def start_server(self):
        return self.start_provider(harness.example("http_server"))

    def line_of(self, recording):
        """The next line on a recording's standard error; empty at its end."""
        return recording.stderr.readline().rstrip("\n")

    def test_unknown_keyword_is_an_error(self):
        self.start_server()
        for command in (["record", "-e"], ["agg", "count()", "-e"], ["top", "--json", "-e"]):
            result = self.run_elog(*command, "http/netwrok", status=1)
            self.assertEqual(result.stderr, MESSAGE + ADVICE + "\n", command)
            self.assertEqual(result.stdout, "", command)
        result = self.run_elog("flight", "start", "flight", "-e", "http/netwrok", "--require-match",
                               status=1)
        self.assertEqual((result.stdout, result.stderr), ("", MESSAGE + FLIGHT_ADVICE + "\n"))
        self.assertEqual(self.names("subscriptions"), [])

    def test_unknown_keyword_beside_a_known_one_is_an_error(self):
        self.start_server()
        result = self.run_elog("record", "-e", "http/network,requets", "--duration", "10ms",
                               status=1)
        self.assert_one_message(result.stderr, "'requets'. Did you mean 'requests'?")
        self.run_elog("record", "-e", "http/net*,requests", "--duration", "10ms")

    def test_unknown_keyword_is_an_error_with_any_route(self):
        self.start_server()
        for route in "memory", "auto":
            result = self.run_elog("record", "--via", route, "-e", "http/netwrok", status=1)
            self.assertIn(MESSAGE + ADVICE, result.stderr)

    def test_list_rejects_unknown_keyword(self):
        self.start_server()
        result = self.run_elog("list", "http/netwrok", status=1)
        self.assertEqual((result.stdout, result.stderr), ("", MESSAGE + "\n"))
        self.assertIn("connection_opened", self.run_elog("list", "http/network").stdout)

    def test_numbers_of_levels_and_bits_of_keywords_select_events(self):
        self.start_server()
        named = self.run_elog("list", "http@error/network").stdout
        bits = self.run_elog("list", "http@1/0x1").stdout
        self.assertEqual(bits, named)
        self.assertNotEqual(bits, self.run_elog("list", "http/0x2").stdout)
        result = self.run_elog("list", "http@6", status=2)
        self.assert_one_message(result.stderr, "'http@6' is not a pattern for events", "1 to 5")
        result = self.run_elog("list", "http/0x1g", status=2)
        self.assert_one_message(result.stderr, "'http/0x1g' is not a pattern for events", "0x3")

    def test_waiting_recording_warns_of_running_program(self):
        self.start_server()
        recording = self.start_recording("--wait", "-e", "http/netwrok")
        self.assertEqual(self.line_of(recording), MESSAGE)
        self.assertNotIn("netwrok", self.stop(recording)[1])

    def test_waiting_recording_warns_as_soon_as_a_program_lacks_the_keyword(self):
        recording = self.start_recording("--wait", "-e", "http/netwrok", "-e", "counter:*")
        # Another provider without the keyword does not match.
        self.finish(self.start(harness.program("counter"), "1", "10"))
        self.start_server()
        self.assertEqual(self.line_of(recording), MESSAGE)
        self.stop(recording)

    def test_waiting_recording_accepts_keyword_of_later_program(self):
        # Long enough for a search for providers, which takes place once a second.
        recording = self.start_recording("--wait", "-e", "http/network", "--duration", "2500ms")
        self.start_server()
        self.assertNotIn("keyword", self.finish(recording)[1])

    def test_recording_of_a_command_warns(self):
        result = self.run_elog("record", "-e", "counter:*/fast", "--",
                               harness.program("counter"), "1", "10")
        self.assertEqual(
            result.stderr.count("elog: No running provider that matches 'counter:*/fast' has a "
                                "keyword 'fast'. See the keywords with: elog list.\n"), 1)
        self.assertEqual(self.summary(result.stderr)[::2], (10, 0))

    def test_waiting_flight_recorder_warns(self):
        self.start_server()
        result = self.run_elog("flight", "start", "flight", "-e", "http/netwrok", "--buffer-size",
                               "128K")
        self.assertIn(MESSAGE + "\n", result.stderr)
        self.assertEqual(self.names("subscriptions"), ["00"])


if __name__ == "__main__":
    harness.main()
