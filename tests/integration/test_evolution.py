#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Providers change, readers do not notice: what is decoded is what the schema that came along says.

Each version is a schema as text and a program made from it. There is no reader of a version: elog
knows nothing but what arrives, so old reader with new writer and the reverse are the same test.
"""

import json
import re

import harness
from test_generated import LIBRARY_DIRECTORY

FIRST = "provider shop { event order info { number: u32 name: text } }"
APPENDED_FIELD = "provider shop { event order info { number: u32 name: text price: u64 gift: bool? } }"
APPENDED_EVENT = (
    "provider shop { event order info { number: u32 name: text } event refund warn { by: text } }"
)
RETYPED_FIELD = "provider shop { event order info { number: f32 name: text } }"
SWAPPED_FIELDS = "provider shop { event order info { name: text number: u32 } }"

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
        self.environment["LD_LIBRARY_PATH"] = LIBRARY_DIRECTORY
        self.folders = 0

    def start_version(self, schema):
        """A program whose provider is of that version, and which does what it is told."""
        self.folders += 1
        folder = self.path(f"version{self.folders}")
        source = folder + ".schema"
        with open(source, "w", encoding="utf-8") as file:
            file.write(schema)
        self.run_elog("gen", "--lang", "python", source, "-o", self.make_folder(folder) + "/shop.py")
        program = self.start("python3", "-B", "-c", PROGRAM, folder, stdin=harness.subprocess.PIPE)
        self.assertEqual(program.stdout.readline(), "ready\n")
        return program

    def make_folder(self, folder):
        harness.os.mkdir(folder)
        return folder

    def tell(self, program, line):
        program.stdin.write(line + "\n")
        program.stdin.flush()
        self.assertEqual(program.stdout.readline(), "done\n")

    def hash_of(self, schema):
        source = self.path("hash.schema")
        with open(source, "w", encoding="utf-8") as file:
            file.write(schema)
        self.run_elog("schema", source, "--binary", "-o", self.path("hash.bin"))
        with open(self.path("hash.bin"), "rb") as file:
            return file.read()[16:24]

    def all_events_have_a_listener(self):
        providers = json.loads(self.run_elog("list", "--json").stdout)["providers"]
        return all(event["listeners"] for provider in providers for event in provider["events"])

    def record_both(self, schemas, calls):
        """Two versions at once, in one recording; what was said, in order."""
        programs = [self.start_version(schema) for schema in schemas]
        output = self.path("run.elog")
        recording = self.start_recording("-e", "shop:*", "-o", output)
        # It can be seen a moment before it has opened the gates of those who are there.
        self.wait_for(self.all_events_have_a_listener, "open gates")
        for which, call in calls:
            self.tell(programs[which], call)
        self.stop(recording)
        lines = self.run_elog("print", output).stdout.splitlines()
        return [line.split(" shop:", 1)[1] for line in lines]

    def test_an_appended_field_is_there_for_those_who_have_it(self):
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

    def test_an_appended_event_changes_nothing_for_the_others(self):
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

    def test_every_change_is_another_hash(self):
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
        schemas = self.run_elog("schema", "shop").stdout
        self.assertEqual(len(re.findall("^# shop with hash 0x[0-9a-f]{16}$", schemas, re.M)), 2)
        self.assertEqual(schemas.count("provider shop {"), 2, schemas)
        self.assertEqual(schemas.count("price: u64"), 1)
        result = self.run_elog("schema", "shop", "--binary", "-o", self.path("b"), status=1)
        self.assert_one_sentence(result.stderr, "There are 2 schemas")


if __name__ == "__main__":
    harness.main()
