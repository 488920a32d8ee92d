#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names of processes, texts of events, descriptions and paths are written by other users: no command
prints a character of them that a terminal executes, or that breaks JSON or CSV."""

import csv
import io
import json
import os
import shutil

import harness

# Control sequences with one byte and with two, a change of the direction of writing, the end of a line,
# and the quotes of all outputs. A name of a process has 15 bytes.
NAME = "\x1b[2J\u202e\u009b\"\n`,;"
TEXT = f"=1+{NAME}\r\t\x7f\u2066\u2028'$(x)\\"
HOSTILE = {*map(chr, range(0x20)), *map(chr, range(0x7F, 0xA0)), *"\u200e\u200f\u2028\u2029",
           *map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2066, 0x206A))} - {"\n", "\t"}
SCHEMA = r"""# SPDX-License-Identifier: MIT
provider plant "A \x1b[2J\xe2\x80\xae plant\nthat */ grows" {
    enum state : u8 { dry = 0, wet = 1 }
    event watered info "By\r\x1b[31m \xc2\x9b2J" when "it\nwas\x07 dry" {
        name: text "to \x1b]0;x\x07"
        amount: u32 unit "\x1b[1m"
        then: state
    }
}
"""
PROGRAM = """
import ctypes, sys
ctypes.CDLL(None).prctl(15, NAME.encode())
import plant
input()
for i in range(10):
    plant.watered(TEXT, i, 1)
print("emitted", flush=True)
input()
"""


class Case(harness.Case):
    def setUp(self):
        super().setUp()
        folder = self.path("dir \x1b[31m\u202e")
        os.mkdir(folder)
        self.schema = f"{folder}/plant.schema"
        with open(self.schema, "w", encoding="utf-8") as file:
            file.write(SCHEMA)
        self.run_elog("schema", "gen", "--lang", "python", self.schema, "-o", f"{folder}/plant.py")
        self.run_elog("flight", "start", "box", "-e", "plant:*")
        program = f"NAME, TEXT = {NAME!r}, {TEXT!r}\n{PROGRAM}"
        self.program = self.start_python(self.start_provider, "-c", program, PYTHONPATH=folder)
        self.file = f"{folder}/run.elog"
        recording = self.start_recording("-e", "plant:*", "-o", self.file)
        self.go_on()
        self.assertEqual(self.program.stdout.readline(), "emitted\n")
        self.messages = self.stop(recording)[1]
        # What the recorder of a damaged file could not read is named by process.
        self.damaged = f"{folder}/damaged.elog"
        shutil.copy(self.file, self.damaged)
        harness.damage_records(self.damaged)

    def go_on(self):
        self.program.stdin.write("\n")
        self.program.stdin.flush()


class Terminal(Case):
    def check(self, *arguments, status=0, names=True):
        """Requires harmless output, which has the hostile name or text escaped."""
        result = self.run_elog(*arguments, status=status)
        shown = result.stdout + result.stderr
        self.assertEqual(HOSTILE & set(shown), set(), arguments)
        self.assertEqual("\\x1b[" in shown, names, f"{arguments}\n{shown}")

    def test_events(self):
        self.assertIn("10 events", self.messages)
        self.assertEqual(HOSTILE & set(self.messages), set())
        self.check("print", self.file)
        self.check("print", self.file, "--fields", "name")
        for place in ("comm", "name", "fields"):
            self.check("print", self.file, "--format", f"{{time}} {{{place}}}")
        self.assertEqual(len(self.run_elog("print", self.file).stdout.splitlines()), 10)
        self.check("print", self.damaged, status=1)

    def test_output_of_scripts(self):
        for value in ("name", "comm"):
            script = f'plant:watered {{ printf("%s|", {value}) }}'
            self.check("run", "-n", script, "-i", self.file)
            counts = f"plant:watered {{ @[{value}] = count() }}"
            self.check("run", "-n", counts, "-i", self.file)

    def test_tables(self):
        self.check("stat", self.file)
        for keys in ("comm", "name", "comm,name"):
            self.check("agg", f"count() by {keys}", self.file)
        self.check("agg", "hist(amount) by name", self.file)
        self.check("verify", self.file)
        self.check("verify", self.damaged, status=1)
        self.check("flight", "status", names=False)

    def test_running_programs(self):
        for arguments in ((), ("plant",), ("--stats",), ("plant:watered",)):
            self.check("list", *arguments)
        self.check("list", "plants", status=1, names=False)

    def test_schemas_and_code(self):
        for source in ("plant", self.schema, self.file):
            self.check("schema", "show", source)
        self.check("schema", "bpftrace", self.schema)
        for language in ("c", "c++", "python", "rust"):
            result = self.run_elog("schema", "gen", "--lang", language, self.schema)
            self.assertEqual(HOSTILE & set(result.stdout), set(), language)
        # A format of the kernel has no escapes.
        self.check("schema", "gen", "--lang", "kernel-c", self.schema, status=1)

    def test_messages(self):
        self.check("print", self.file, "--where", f"{NAME} == 1", status=2, names=False)
        self.check("record", "-e", NAME, status=2)
        self.check("record", "-e", f"{TEXT}:*", "-o", self.path("new"), status=2)
        self.check("cut", self.file, "-o", self.file, status=1)
        self.check("merge", self.file, self.path(NAME), "-o", self.path("new"), status=1)
        self.check(NAME, status=2)


class Machines(Case):
    def read_lines(self, *arguments):
        """The objects of the lines that a command prints."""
        text = self.run_elog(*arguments).stdout
        self.assertEqual(HOSTILE & set(text), set(), arguments)
        return [json.loads(line) for line in text.splitlines()]

    def test_json_lines(self):
        lines = [line for line in self.read_lines("print", self.file, "--json") if "fields" in line]
        self.assertEqual({line["fields"]["name"] for line in lines}, {TEXT})
        self.assertEqual({line["comm"] for line in lines}, {NAME})
        self.assertEqual(len(lines), 10)

    def test_json_documents(self):
        for arguments in (("list",), ("stat", self.file), ("verify", self.file),
                          ("flight", "status"), ("agg", "count() by comm,name", self.file)):
            text = self.run_elog(*arguments, "--json").stdout
            self.assertEqual(HOSTILE & set(text), set(), arguments)
            found = json.loads(text)
            if arguments == ("list",):
                self.assertEqual(found["providers"][0]["processes"][0]["comm"], NAME)

    def test_csv(self):
        self.run_elog("convert", self.file, "--to", "csv", "-o", self.path("run.csv"))
        with open(self.path("run.csv"), encoding="utf-8", newline="") as file:
            text = file.read()
        self.assertEqual(HOSTILE & set(text.replace("\r\n", "\n")), set())
        rows = list(csv.reader(io.StringIO(text)))
        self.assertEqual({len(row) for row in rows}, {len(rows[0])})
        self.assertEqual(len(rows), 11)


if __name__ == "__main__":
    harness.main()
