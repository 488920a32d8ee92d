#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""elog-json(5): each member of real output is documented with its type, and each documented one is
written."""

import csv
import io
import json
import signal

import harness
import json_page

SCHEMA = """\
provider bakery {
    keyword oven = 1
    enum state: u8 { cold = 0, hot = 1 }
    event heated info [oven] { now: u8 as state  celsius: u32 }
}
"""

# These tables are checked with root or in guests: tests/integration/access, tests/vm.
ELSEWHERE = {"places", "place", "kernel event", "kernel field", "kernel setting",
             "kernel registration"}
# Members of events without a schema, of damage and of newer versions: tests/unit/elog/output.
RARE = {("event", name) for name in ("provider_id", "event_id", "payload_bytes", "truncated", "damaged")}
RARE |= {("unsupported", "unsupported"), ("loss", "provider")}
RARE |= {("reasons", "unwritten")}  # of a full disk: tests/integration/recorder/test_no_space.py
RARE |= {("lossy provider", "lost_no_memory")}  # of a full tmpfs: tests/unit/elog/import

# The names of an event that predicates, templates, keys, JSON and CSV share.
SHARED = ("time", "cpu", "comm", "pid", "tid", "provider", "event", "level")


class JsonPage(harness.Case):
    def setUp(self):
        super().setUp()
        self.page = json_page.JsonPage()

    def assert_document(self, name, text):
        """Checks an output of one object."""
        self.assert_object(name, json.loads(text))

    def assert_object(self, name, value):
        self.assertEqual(list(value)[0], "version", name)
        self.assertEqual(value["version"], 1, name)
        self.assertEqual(list(self.page.check(name, value)), [])

    def assert_events(self, text):
        """Checks lines of events, losses and notes. Returns the tables' first members."""
        lines = [json.loads(line) for line in text.splitlines()]
        self.assertEqual([problem for line in lines for problem in self.page.check_line(line)], [])
        return {next(iter(line)) for line in lines}

    def run_json(self, name, *arguments):
        self.assert_document(name, self.run_elog(*arguments, "--json").stdout)

    def record_losses(self, path):
        """Records with losses, because elog does not run meanwhile."""
        recording = self.start_recording("-e", "counter:*", "--wait", "--buffer-size", "128K",
                                         "-o", path, "--json")
        recording.send_signal(signal.SIGSTOP)
        self.finish(self.start(harness.program("counter"), "2", "50000"))
        recording.send_signal(signal.SIGCONT)
        output, _ = self.stop(recording)
        self.assert_document("recording", output)

    def check_sampled_command(self):
        result = self.run_elog("record", "-e", "counter:* 1/10", "-o", self.path("sampled.elog"),
                               "--json", "--", harness.program("counter"), "1", "100")
        line = next(each for each in result.stdout.splitlines() if each.startswith("{"))
        self.assert_document("recording", line)
        self.run_json("stat", "stat", self.path("sampled.elog"))

    def check_files(self):
        path, other = self.path("run.elog"), self.path("other.elog")
        self.record_losses(path)
        self.assertEqual(self.assert_events(self.run_elog("print", path, "--json").stdout),
                         {"time", "lost"})
        self.run_json("stat", "stat", path)
        self.run_json("verify", "verify", path)
        self.run_json("repair", "repair", path, "-o", other)
        self.run_json("copy", "cut", path, "-o", self.path("cut.elog"))
        self.run_json("copy", "merge", path, other, "-o", self.path("merged.elog"))
        result = self.run_elog("agg", "count(), avg(number), quantize(number) by worker", path,
                               "--interval", "1s", "--json")
        for line in result.stdout.splitlines():
            self.assert_document("aggregation", line)

    def check_overwritten(self):
        path = self.path("newest.elog")
        self.run_elog("record", "-e", "counter:*", "--overwrite", "--buffer-size", "128K", "-o",
                      path, "--", harness.program("counter"), "1", "50000")
        text = self.run_elog("convert", "--to", "jsonl", path).stdout
        self.assertIn("overwritten", self.assert_events(text))

    def check_running_programs(self):
        with open(self.path("bakery.schema"), "w", encoding="utf-8") as file:
            file.write(SCHEMA)
        self.run_json("list", "schema", "show", self.path("bakery.schema"))
        self.run_elog("flight", "start", "other", "-e", "shop:*", "--json")
        self.start_provider(harness.example("order_service"), "600")
        self.run_json("list", "list")
        result = self.run_elog("top", "-e", "shop:*", "--iterations", "2", "--interval", "500ms",
                               "--json")
        for line in result.stdout.splitlines():
            self.assert_document("top", line)
        self.run_json("flight stop", "flight", "stop", "other", "--discard")

    def check_flight_recorders(self):
        self.run_json("flight start", "flight", "start", "flight", "-e", "counter:*")
        self.finish(self.start(harness.program("counter"), "1", "100"))
        self.run_json("flight pause", "flight", "pause", "flight")
        self.run_json("flight pause", "flight", "resume", "flight")
        self.run_json("flight status", "flight", "status")
        self.assertIn("note", self.assert_events(
            self.run_elog("flight", "snapshot", "flight", "--json").stdout))
        self.run_json("recording", "flight", "snapshot", "flight", "-o", self.path("now.elog"))
        self.run_json("stat", "stat", self.path("now.elog"))
        self.run_json("recording", "flight", "stop", "flight", "-o", self.path("last.elog"))

    def check_machine(self):
        for option in ((), ("--all",)):
            process = self.start(harness.ELOG, "doctor", "--json", *option)
            self.expect(process, 1)  # something may be missing on this machine
            output, _ = process.communicate(timeout=harness.TIMEOUT)
            self.assert_document("doctor", output)

    def test_documents_exactly_what_commands_write(self):
        self.check_files()
        self.check_overwritten()
        self.check_sampled_command()
        self.check_running_programs()
        self.check_flight_recorders()
        self.check_machine()
        unseen = {each for each in self.page.unseen() if each[0] not in ELSEWHERE} - RARE
        self.assertEqual(unseen, set())

    def test_tables_refer_to_tables(self):
        used = {member.table for table in self.page.tables.values() for member in table.values()}
        self.assertLessEqual(used - {""}, set(self.page.tables))
        for name, table in self.page.tables.items():
            for key, member in table.items():
                self.assertIn(member.type, {*json_page.TYPES, "object", "objects"}, (name, key))

    def test_names_of_events_are_shared(self):
        path = self.path("run.elog")
        self.run_elog("record", "-e", "counter:*", "-o", path, "--", harness.program("counter"),
                      "1", "5")
        line = json.loads(self.run_elog("print", "--json", path).stdout.splitlines()[0])
        self.assertEqual(set(SHARED) | {"fields"}, set(line))
        template = self.run_elog("print", path, "--format", "{tid} {cpu} {pid} {comm} {level}")
        self.assertEqual(template.stdout.splitlines()[0].split(),
                         [str(line[name]) for name in ("tid", "cpu", "pid", "comm", "level")])
        row = next(csv.DictReader(io.StringIO(
            self.run_elog("convert", "--to", "csv", path).stdout)))
        for name in SHARED:
            self.assertEqual(row[name], str(line[name]), name)
            where = self.run_elog("agg", "count()", path, "--where", f"has({name})", "--json")
            self.assertEqual(json.loads(where.stdout)["events"], 5, name)
            self.run_elog("print", path, "--format", f"{{{name}}}")
        for name in SHARED[1:]:
            result = self.run_elog("agg", f"count() by {name}", path, "--where",
                                   f"tid == {line['tid']}", "--json")
            keys = [group["key"] for group in json.loads(result.stdout)["groups"]]
            self.assertIn({name: line[name]}, keys)

    def test_columns_of_csv_are_members(self):
        path = self.path("run.elog")
        self.run_elog("record", "-e", "counter:*", "-o", path, "--", harness.program("counter"),
                      "1", "5")
        text = self.run_elog("convert", "--to", "csv", path).stdout
        columns = text.splitlines()[0].split(",")
        names = {name for table in ("event", "loss", "overwritten", "unsupported")
                 for name in self.page.tables[table]}
        absent = {"fields", "provider_id", "event_id", "payload_bytes"}
        self.assertEqual(set(columns[:14]), names - absent)


if __name__ == "__main__":
    harness.main()
