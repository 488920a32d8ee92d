#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The programs of examples/first_steps emit what their text says, in C++ and in C."""

import re
import subprocess

import harness


class FirstPrograms(harness.Case):
    def run_program(self, name, *arguments, **variables):
        """Runs a program to its end, without a listener or with its own."""
        result = subprocess.run(
            [name, *arguments], env={**self.environment, **variables}, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, encoding="utf-8", timeout=harness.TIMEOUT, check=False,
        )
        self.assertNotRegex(result.stderr, harness.SANITIZER_REPORT)
        return result

    def record(self, name, pattern, *options):
        """Records a program; returns the lines that elog prints, and what the program printed."""
        file = self.path("run.elog")
        result = self.run_elog(
            "record", "-e", pattern, *options, "--force", "-o", file, "--", harness.example(name)
        )
        self.assertEqual(self.summary(result.stderr)[2], 0, result.stderr)
        lines = self.run_elog("print", file).stdout.splitlines()
        found = [harness.LINE.match(line) for line in lines]
        self.assertNotIn(None, found, lines)
        return found, result.stdout

    def events(self, name, pattern, *options):
        """The recorded events without time, CPU, process and thread; durations are replaced."""
        found, _ = self.record(name, pattern, *options)
        return [
            re.sub(r"duration=[\d.]+[nmu]?s", "duration=N",
                   f"{line['provider']}:{line['event']}{line['fields']}")
            for line in found
        ]


class Cpp(FirstPrograms):
    def test_first_event(self):
        self.assertEqual(
            self.events("01_first_event", "greeter"),
            ['greeter:greeting number=1 text="hello, listener"'],
        )

    def test_enum_and_optional(self):
        self.assertEqual(
            self.events("02_enum_and_optional", "checkout"),
            [
                "checkout:order_placed order=4711 paid_by=card bank=accepted discount=15",
                "checkout:order_placed order=4712 paid_by=invoice bank=declined discount=-",
            ],
        )

    def test_texts_and_arrays(self):
        self.assertEqual(
            self.events("03_texts_and_arrays", "mailbox"),
            ['mailbox:mail_received sender="ann@example.org" address=192.0.2.7 '
             "scores=[0.5,0.25,2] part_sizes=[120,4096] begin=<48690a>"],
        )

    def test_levels_and_keywords(self):
        lost = 'modem:signal_lost operator_name="Example Mobile"'
        changed = "modem:cell_changed cell=17"
        name = "04_levels_and_keywords"
        on = "modem:switched_on"
        self.assertEqual(self.events(name, "modem:*"), [on, changed, lost])
        self.assertEqual(self.events(name, "modem@warn"), [lost])
        self.assertEqual(self.events(name, "modem/radio"), [on, changed, lost])
        self.assertEqual(self.events(name, "modem/billing"), [on, lost])

    def test_timed_scope(self):
        self.assertEqual(
            self.events("05_timed_scope", "web_shop"),
            ['web_shop:query duration=N sql="select * from cart" rows=3',
             "web_shop:page duration=N items=3"],
        )

    def test_timed_scope_ends_in_another_thread(self):
        (query, page), _ = self.record("05_timed_scope", "web_shop")
        self.assertNotEqual(query["thread"], page["thread"])

    def test_sessions(self):
        self.assertEqual(
            self.events("06_sessions", "web:*"),
            [
                "web:listening port=8080",
                "web:session_begin session=1",
                'web:received session=1 path="/index"',
                "web:session_begin session=2",
                'web:received session=2 path="/missing"',
                "web:answered session=2 status=404",
                "web:answered session=1 status=200",
                "web:session_end session=2",
                "web:session_end session=1",
            ],
        )

    def test_one_session(self):
        self.assertEqual(
            self.events("06_sessions", "web:answered", "--session", "2"),
            ["web:answered session=2 status=404"],
        )

    def test_gauge(self):
        self.assertEqual(
            self.events("07_gauge", "printer"),
            [f"printer:queue_length jobs={jobs}" for jobs in (1, 3, 2, 0)],
        )

    def test_dynamic_provider(self):
        self.assertEqual(
            self.events("08_dynamic_provider", "sensor"),
            ['sensor:measured room="attic" temperature=21.5 battery=80%',
             'sensor:measured room="cellar" temperature=12.25 battery=-'],
        )

    def test_dynamic_provider_reports_error_of_definition(self):
        result = self.run_program(harness.example("08_dynamic_provider"), "two words")
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"^Event 0 \(measured\).*two words.*\n$")

    def test_costly_values(self):
        lines, output = self.record("09_costly_values", "index_tree")
        self.assertEqual(
            [f"{line['event']}{line['fields']}" for line in lines],
            ['tree_changed nodes=5 text="((a b) c)"', "tree_checked sorted=true"],
        )
        self.assertEqual(output, "2 calculations\n")

    def test_costly_values_without_listener(self):
        result = self.run_program(harness.example("09_costly_values"))
        self.assertEqual((result.returncode, result.stdout), (0, "0 calculations\n"))

    def test_test_of_events(self):
        result = self.run_program(harness.example("10_test_of_events"))
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_test_of_events_needs_no_directory(self):
        for program in ("10_test_of_events", "10_test_of_events_c"):
            result = self.run_program(harness.example(program), EVENTLOG_DIR="/proc/none")
            self.assertEqual((result.returncode, result.stderr), (0, ""), program)

    def test_test_of_events_fails_for_another_event(self):
        result = self.run_program(harness.example("10_test_of_events"), "bob@example.org")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr, "expected one mail to ann@example.org, found 0\n")


class C(FirstPrograms):
    def test_first_event(self):
        self.assertEqual(
            self.events("01_first_event_c", "greeter"),
            ['greeter:greeting number=1 text="hello, listener"'],
        )

    def test_enum_and_optional(self):
        self.assertEqual(
            self.events("02_enum_and_optional_c", "checkout"),
            [
                "checkout:order_placed order=4711 paid_by=card discount=15",
                "checkout:order_placed order=4712 paid_by=invoice discount=-",
            ],
        )

    def test_texts_and_arrays(self):
        self.assertEqual(
            self.events("03_texts_and_arrays_c", "mailbox"),
            ['mailbox:mail_received sender="ann@example.org" address=192.0.2.7 '
             "scores=[0.5,0.25,2] part_sizes=[120,4096] begin=<48690a>"],
        )

    def test_levels_and_keywords(self):
        lost = "modem:signal_lost"
        changed = "modem:cell_changed cell=17"
        name = "04_levels_and_keywords_c"
        on = "modem:switched_on"
        self.assertEqual(self.events(name, "modem:*"), [on, changed, lost])
        self.assertEqual(self.events(name, "modem@warn"), [lost])
        self.assertEqual(self.events(name, "modem/radio"), [on, changed, lost])
        self.assertEqual(self.events(name, "modem/billing"), [on, lost])

    def test_timed_scope(self):
        self.assertEqual(
            self.events("05_timed_scope_c", "web_shop"),
            ['web_shop:query duration=N sql="select * from cart" rows=3',
             "web_shop:page duration=N items=3"],
        )

    def test_timed_scope_ends_in_another_thread(self):
        (query, page), _ = self.record("05_timed_scope_c", "web_shop")
        self.assertNotEqual(query["thread"], page["thread"])

    def test_sessions(self):
        self.assertEqual(
            self.events("06_sessions_c", "web:*"),
            [
                "web:session_begin session=1",
                "web:session_begin session=2",
                "web:answered session=2 status=404",
                "web:answered session=1 status=200",
                "web:session_end session=2",
                "web:session_end session=1",
            ],
        )

    def test_one_session(self):
        self.assertEqual(
            self.events("06_sessions_c", "web:answered", "--session", "2"),
            ["web:answered session=2 status=404"],
        )

    def test_gauge(self):
        self.assertEqual(
            self.events("07_gauge_c", "printer"),
            [f"printer:queue_length jobs={jobs}" for jobs in (1, 3, 2, 0)],
        )

    def test_costly_values(self):
        lines, output = self.record("09_costly_values_c", "index_tree")
        self.assertEqual(
            [f"{line['event']}{line['fields']}" for line in lines],
            ['tree_changed nodes=5 text="((a b) c)"'],
        )
        self.assertEqual(output, "1 calculations\n")

    def test_costly_values_without_listener(self):
        result = self.run_program(harness.example("09_costly_values_c"))
        self.assertEqual((result.returncode, result.stdout), (0, "0 calculations\n"))

    def test_test_of_events(self):
        result = self.run_program(harness.example("10_test_of_events_c"))
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_test_of_events_fails_for_invalid_value(self):
        result = self.run_program(harness.example("10_test_of_events_c"), "300")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(
            result.stderr,
            "Event 0 (mail_sent), field 1 (attempts): The number 300 does not fit into "
            "unsigned_8. Define a wider field.\n",
        )


class CMistakes(FirstPrograms):
    def test_are_reported_with_their_remedy(self):
        result = self.run_program(harness.program("c_mistakes"))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(
            [re.sub(r"which is \d+", "which is N", line) for line in result.stdout.splitlines()],
            [
                "definition_without_sizes: The definition gives 0 as the size of struct "
                "eventlog_definition, which is N. Begin it with EVENTLOG_DEFINITION_SIZES.",
                "keyword_without_name: Event 0 (cell_changed): It has keywords that the provider "
                "does not name (0x2). List them in the provider's keywords.",
                "definition_without_event_count: Provider mistaken has 0 events; a provider has 1 "
                "to 1024. Give it one, or split it in two.",
                "event_not_defined: The provider has no event 4, but 0 to 3. Hand over its "
                "position in the definition.",
                "value_forgotten: Event 0 (greeting): It has 2 fields, not 1. Hand over one value "
                "for each.",
                "absent_value_of_required_field: Event 0 (greeting), field 1 (text): It is not "
                "optional. Hand over a value.",
                "values_in_wrong_order: Event 0 (greeting), field 0 (number): It takes "
                "unsigned_32, not a text. Hand over a value of its type.",
                "array_of_doubles_for_floats: Event 1 (scored), field 0 (scores): It takes an "
                "array of 3 float_32, not an array of another type. Hand over one.",
                "session_event_through_provider: Event 2 (answered): It has 2 fields with the "
                "session, not 1. Hand over one value for each, or emit it with "
                "eventlog_session_emit.",
                "negative_value_of_unsigned_gauge: Event 3 (queue_length), field 0 (jobs): The "
                "number -1 does not fit into unsigned_64. Define a signed field.",
            ],
        )


if __name__ == "__main__":
    harness.main()
