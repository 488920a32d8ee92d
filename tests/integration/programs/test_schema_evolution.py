#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Providers change without changes of readers: decoding follows the schema in the recording.

Each version is a schema as text and a program made from it. elog has no built-in version, so an
old reader with a new writer and the reverse are the same test.
"""

import json
import re

import harness

FIRST = "provider shop { event order info { number: u32 name: text } }"
APPENDED_FIELD = "provider shop { event order info { number: u32 name: text price: u64 gift: bool? } }"
APPENDED_EVENT = (
    "provider shop { event order info { number: u32 name: text } event refund warn { by: text } }"
)
RETYPED_FIELD = "provider shop { event order info { number: f32 name: text } }"
SWAPPED_FIELDS = "provider shop { event order info { name: text number: u32 } }"
NUMBER_AS_TEXT = "provider shop { event order info { number: text name: text price: u64 } }"
PRICE_AS_TEXT = "provider shop { event order info { number: u32 name: text price: text } }"
APPENDED_BOTH = (
    "provider shop { event order info { number: u32 name: text price: u64 gift: bool? } "
    "event refund warn { by: text price: u64 } }"
)

PROGRAM = """
import sys, time
sys.path.insert(0, sys.argv[1])
import shop
print("ready", flush=True)
for line in sys.stdin:
    exec(line)
    print("done", flush=True)
"""


class Evolution(harness.Case):
    def setUp(self):
        super().setUp()
        self.folders = 0

    def start_version(self, schema):
        """Starts a program with this version of the provider; it emits on request."""
        self.folders += 1
        folder = self.path(f"version{self.folders}")
        source = folder + ".schema"
        with open(source, "w", encoding="utf-8") as file:
            file.write(schema)
        self.run_elog("schema", "gen", "--lang", "python", source, "-o", self.make_folder(folder) + "/shop.py")
        program = self.start_python(self.start, "-c", PROGRAM, folder)
        self.assertEqual(program.stdout.readline(), "ready\n")
        return program

    def make_folder(self, folder):
        harness.os.mkdir(folder)
        return folder

    def send_line(self, program, line):
        program.stdin.write(line + "\n")
        program.stdin.flush()
        self.assertEqual(program.stdout.readline(), "done\n")

    def hash_of(self, schema):
        source = self.path("hash.schema")
        with open(source, "w", encoding="utf-8") as file:
            file.write(schema)
        self.run_elog("schema", "show", source, "--binary", "--force", "-o", self.path("hash.bin"))
        with open(self.path("hash.bin"), "rb") as file:
            return file.read()[16:24]

    def all_events_have_a_listener(self):
        providers = json.loads(self.run_elog("list", "--json").stdout)["providers"]
        return all(event["listeners"] for provider in providers for event in provider["events"])

    def record(self, schemas, calls):
        """Records several versions at once."""
        programs = [self.start_version(schema) for schema in schemas]
        output = self.path("run.elog")
        recording = self.start_recording("-e", "shop:*", "-o", output)
        # The subscription is visible shortly before all gates are open.
        self.wait_for(self.all_events_have_a_listener, "open gates")
        for which, call in calls:
            self.send_line(programs[which], call)
        self.stop(recording)
        return output

    @staticmethod
    def said(output):
        """The emitted lines, in order."""
        return [line.split(" shop:", 1)[1] for line in output.splitlines() if " shop:" in line]

    def record_both(self, schemas, calls):
        return self.said(self.run_elog("print", self.record(schemas, calls)).stdout)

    def record_three(self):
        """A file of three versions: without a price, with one, and with a number that is a text."""
        return self.record(
            [FIRST, APPENDED_BOTH, NUMBER_AS_TEXT],
            [
                (0, "shop.order(1, 'ann')"),
                (1, "shop.order(2, 'ben', 20, None)"),
                (2, "shop.order('three', 'eve', 30)"),
                (1, "shop.order(4, 'ann', 40, True)"),
                (1, "shop.refund('ben', 20)"),
                (2, "shop.order('five', 'ann', 50)"),
            ],
        )

    def left_out(self, count, source, column, what):
        return (
            f"elog: {count} events of shop:order by another version of its provider were left out:"
            f" {source}, column {column}: 'number' of shop:order is a text{what}\n"
        )

    def test_appended_field_is_shown_for_versions_that_have_it(self):
        said = self.record_both(
            [FIRST, APPENDED_FIELD],
            [
                (0, "shop.order(1, 'old')"),
                (1, "shop.order(2, 'new', 3, True)"),
                (1, "shop.order(4, 'new', 5, None)"),
                (0, "shop.order(6, 'old')"),
            ],
        )
        self.assertEqual(
            said,
            [
                'order number=1 name="old"',
                'order number=2 name="new" price=3 gift=true',
                'order number=4 name="new" price=5 gift=-',
                'order number=6 name="old"',
            ],
        )

    def test_appended_event_does_not_affect_other_events(self):
        said = self.record_both(
            [APPENDED_EVENT, FIRST],
            [(0, "shop.refund('ann')"), (1, "shop.order(1, 'b')"), (0, "shop.order(2, 'c')")],
        )
        self.assertEqual(
            said, ['refund by="ann"', 'order number=1 name="b"', 'order number=2 name="c"']
        )

    def test_a_retyped_field_is_never_misread(self):
        said = self.record_both(
            [FIRST, RETYPED_FIELD],
            [(0, "shop.order(1065353216, 'u32')"), (1, "shop.order(1.0, 'f32')")],
        )
        # The bytes of both numbers are the same.
        self.assertEqual(
            said, ['order number=1065353216 name="u32"', 'order number=1 name="f32"']
        )

    def test_swapped_fields_are_never_misread(self):
        said = self.record_both(
            [FIRST, SWAPPED_FIELDS],
            [(0, "shop.order(1, 'first')"), (1, "shop.order('second', 2)")],
        )
        self.assertEqual(
            said, ['order number=1 name="first"', 'order name="second" number=2']
        )

    def test_missing_field_is_unknown_in_predicates(self):
        path = self.record_three()
        for predicate, expected in (
            ("price > 20", ['order number="three" name="eve" price=30',
                            'order number=4 name="ann" price=40 gift=true',
                            'order number="five" name="ann" price=50']),
            ("!(price > 20)", ['order number=2 name="ben" price=20 gift=-',
                               'refund by="ben" price=20']),
            ("!has(price)", ['order number=1 name="ann"']),
            ('name == "ann" && has(gift)', ['order number=4 name="ann" price=40 gift=true']),
            ('by == "ben" || price > 40', ['refund by="ben" price=20',
                                           'order number="five" name="ann" price=50']),
        ):
            result = self.run_elog("print", path, "--where", predicate)
            self.assertEqual(self.said(result.stdout), expected, predicate)
            self.assertEqual(result.stderr, "", predicate)

    def test_predicate_applies_to_versions_with_matching_types(self):
        path = self.record_three()
        message = self.left_out(2, "--where", 11, ", and this is a number: they cannot be compared.")
        result = self.run_elog("print", path, "--where", "number >= 2")
        self.assertEqual(self.said(result.stdout), ['order number=2 name="ben" price=20 gift=-',
                                                    'order number=4 name="ann" price=40 gift=true'])
        self.assertEqual(result.stderr, message)
        other = self.run_elog("print", path, "--where", 'number ~ "f*"')
        self.assertEqual(self.said(other.stdout), ['order number="five" name="ann" price=50'])
        # Of both versions, each time for the same reason.
        self.assertRegex(other.stderr, "^elog: 3 events of shop:order by another version of its "
                                       "provider were left out: --where, column 10: .*\n$")

    def test_every_command_reports_type_mismatches_once(self):
        path = self.record_three()
        message = self.left_out(2, "--where", 11, ", and this is a number: they cannot be compared.")
        where = ["--where", "number >= 2"]
        jsonl = self.run_elog("convert", "--to", "jsonl", path, *where)
        self.assertEqual([json.loads(line)["fields"]["number"] for line in jsonl.stdout.split("\n")
                          if line], [2, 4])
        csv = self.run_elog("convert", "--to", "csv", path, *where)
        self.assertEqual(len(csv.stdout.splitlines()), 3)
        stat = self.run_elog("stat", path, *where)
        cut = self.run_elog("cut", path, *where, "-o", self.path("part.elog"))
        for result in (jsonl, csv, stat):
            self.assertEqual(result.stderr, message)
        self.assertIn(message, cut.stderr)
        part = self.run_elog("print", self.path("part.elog"), *where)
        self.assertEqual((len(self.said(part.stdout)), part.stderr), (2, ""))
        # A time range without such events reports no mismatch.
        none = self.run_elog("print", path, *where, "--until", "+0s")
        self.assert_one_message(none.stderr, "No event is before +0s: the recording")

    def test_predicate_without_matching_version_is_an_error(self):
        path = self.record_three()
        result = self.run_elog("print", path, "--where", "number == 10.0.0.1", status=2)
        self.assertEqual(result.stdout, "")
        self.assert_one_message(result.stderr, "'number' of shop:order is a")

    def test_version_without_field_does_not_affect_other_versions(self):
        path = self.record([FIRST, PRICE_AS_TEXT],
                           [(0, "shop.order(1, 'ann')"), (1, "shop.order(2, 'ben', 'free')")])
        result = self.run_elog("print", path, "--where", "price > 5", status=2)
        self.assertEqual(result.stdout, "")
        self.assert_one_message(result.stderr, "'price' of shop:order is a text")

    def test_aggregation_uses_versions_that_have_the_field(self):
        path = self.record_three()

        def groups(*arguments):
            result = self.run_elog("agg", *arguments, path, "--json")
            said = json.loads(result.stdout)
            found = {tuple(group["key"].values()): list(group["values"].values())
                     for group in said["groups"]}
            message = re.findall(r"(\d+) events of shop:order by another version", result.stderr)
            self.assertEqual(said["type_mismatches"], sum(map(int, message)))
            return found, result.stderr

        found, errors = groups("count(), sum(price) by name")
        self.assertEqual(found, {("ann",): [3, 90], ("ben",): [1, 20], ("eve",): [1, 30]})
        self.assertEqual(errors, "")
        found, errors = groups("sum(number)")
        self.assertEqual(found, {(): [7]})
        message = self.left_out(2, "The aggregation", 5, "; sum(number) computes with numbers.")
        self.assertEqual(errors, message)
        # --where reports its mismatches; the aggregation does not report events that --where drops.
        found, errors = groups("sum(number)", "--where", "price > 30")
        self.assertEqual(found, {(): [4]})
        self.assertEqual(errors, message.replace("2 events", "1 events"))
        found, errors = groups("count()", "--where", "number > 1")
        self.assertEqual(found, {(): [2]})
        self.assertEqual(errors, self.left_out(2, "--where", 10, ", and this is a number: they "
                                               "cannot be compared."))
        result = self.run_elog("agg", "sum(name)", path, status=2)
        self.assert_one_message(result.stderr, "'name' of shop:order is a text")

    def test_selected_fields_are_shown_for_versions_that_have_them(self):
        path = self.record_three()
        lines = self.said(self.run_elog("print", path, "--fields", "price,number").stdout)
        self.assertEqual(lines, ["order number=1", "order price=20 number=2",
                                 'order price=30 number="three"', "order price=40 number=4",
                                 "refund price=20", 'order price=50 number="five"'])
        lines = self.run_elog("print", path, "--format", "{.number} {gift}").stdout.splitlines()
        self.assertEqual(lines, ["1 -", "2 -", '"three" -', "4 true", "- -", '"five" -'])

    def test_late_version_in_recording_is_counted_and_reported(self):
        old = self.start_version(FIRST)
        output = self.path("run.elog")
        recording = self.start_recording("-e", "shop:*", "-o", output, "--where", "number >= 2")
        self.wait_for(self.all_events_have_a_listener, "open gates")
        self.send_line(old, "shop.order(1, 'ann')")
        new = self.start_version(NUMBER_AS_TEXT)
        self.wait_for(self.all_events_have_a_listener, "open gates")
        for _ in range(3):
            self.send_line(new, "shop.order('two', 'ben', 20)")
        self.send_line(old, "shop.order(4, 'eve')")
        _, errors = self.stop(recording)
        message = self.left_out(3, "--where", 11, ", and this is a number: they cannot be compared.")
        self.assertIn("\n1 events passed --where\n" + message, errors)
        self.assertEqual(self.said(self.run_elog("print", output).stdout),
                         ['order number=4 name="eve"'])

    def test_late_version_in_followed_file_is_counted_and_reported(self):
        old = self.start_version(FIRST)
        path = self.path("run.elog")
        recording = self.start_recording("-e", "shop:*", "-o", path)
        self.wait_for(self.all_events_have_a_listener, "open gates")
        self.send_line(old, "shop.order(2, 'ann')")
        follower = self.start(harness.ELOG, "print", "--follow", path, "--where", "number >= 2")
        self.assertEqual(self.said(follower.stdout.readline()), ['order number=2 name="ann"'])
        new = self.start_version(NUMBER_AS_TEXT)
        self.wait_for(self.all_events_have_a_listener, "open gates")
        for _ in range(2):
            self.send_line(new, "shop.order('two', 'ben', 20)")
        self.send_line(old, "shop.order(4, 'eve')")
        self.stop(recording)
        output, errors = self.finish(follower)
        self.assertEqual(self.said(output), ['order number=4 name="eve"'])
        reason = "--where, column 11: 'number' of shop:order is a text"
        self.assertEqual(errors.count(reason), 2)  # at the event, and at the end
        self.assertIn(self.left_out(2, "--where", 11, ", and this is a number: they cannot be "
                                    "compared."), errors)

    def test_existing_versions_are_recorded_if_types_match(self):
        programs = [self.start_version(schema) for schema in (NUMBER_AS_TEXT, FIRST)]
        commands = [["record", "-e", "shop:*", "--where", "number >= 2"],
                    ["agg", "sum(number)", "-e", "shop:*"]]
        running = [self.start_recording(*commands[0][1:])]
        running.append(self.start(harness.ELOG, *commands[1]))
        self.wait_for(lambda: self.listeners() == {2}, "open gates of both")
        self.send_line(programs[0], "shop.order('two', 'ben', 20)")
        self.send_line(programs[1], "shop.order(3, 'eve')")
        shown, errors = self.stop(running[0])
        self.assertEqual(self.said(shown), ['order number=3 name="eve"'])
        self.assertIn(self.left_out(1, "--where", 11, ", and this is a number: they cannot be "
                                    "compared."), errors)
        shown, errors = self.stop(running[1])
        self.assertIn("3", shown)
        self.assertIn(self.left_out(1, "The aggregation", 5, "; sum(number) computes with "
                                    "numbers."), errors)
        for command in (["record", "-e", "shop:*", "--where", "number == 10.0.0.1"],
                        ["agg", "sum(name)", "-e", "shop:*"]):
            self.assert_one_message(self.run_elog(*command, status=2).stderr, "of shop:order is a")

    def listeners(self):
        """The number of listeners of each event; equal numbers once."""
        providers = json.loads(self.run_elog("list", "--json").stdout)["providers"]
        return {len(event["listeners"]) for provider in providers for event in provider["events"]}

    def test_every_change_alters_the_hash(self):
        schemas = [FIRST, APPENDED_FIELD, APPENDED_EVENT, RETYPED_FIELD, SWAPPED_FIELDS]
        self.assertEqual(len({self.hash_of(schema) for schema in schemas}), len(schemas))

    def test_two_versions_are_listed_side_by_side_and_their_schemas_once_each(self):
        programs = [self.start_version(s) for s in (FIRST, APPENDED_FIELD, FIRST)]
        listed = self.run_elog("list").stdout
        both = ", ".join(str(pid) for pid in sorted((programs[0].pid, programs[2].pid)))
        self.assertIn(f"  processes python3 {both}\n", listed)
        self.assertIn(f"  processes python3 {programs[1].pid}\n", listed)
        self.assertEqual(listed.count("  number: u32, name: text\n"), 1, listed)
        self.assertEqual(listed.count("  number: u32, name: text, price: u64, gift: bool?\n"), 1)
        schemas = self.run_elog("schema", "show", "shop").stdout
        self.assertEqual(len(re.findall("^# shop with hash 0x[0-9a-f]{16}$", schemas, re.M)), 2)
        self.assertEqual(schemas.count("provider shop {"), 2, schemas)
        self.assertEqual(schemas.count("price: u64"), 1)
        result = self.run_elog("schema", "show", "shop", "--binary", "-o", self.path("b"), status=1)
        self.assert_one_message(result.stderr, "There are 2 schemas")


if __name__ == "__main__":
    harness.main()
