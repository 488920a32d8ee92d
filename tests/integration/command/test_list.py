#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""elog list shows providers and their listeners."""

import fcntl
import json
import os
import pty
import re
import signal
import struct
import termios

import harness

PLANT = r"""# SPDX-License-Identifier: MIT
provider plant "A plant that is \xff watered" {
    keyword water = 3
    keyword light = 5
    enum state : i8 { wet = 1, dry = -1 }
    flags parts : u32 { leaf = 1, root = 2 }
    event watered warn [water, light] "A gardener came" when "it was dry" {
        amount: u64 format byte_size
        by: ip4?
        then: state "what it is now"
        row: i16[3]
        took: i64 format duration unit "!"
    }
    event grown trace gauge session {
        session: u64
        what: parts
    }
}
"""
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


class List(harness.Case):
    def start_plant(self, schema=PLANT):
        """Starts a program with exactly this schema."""
        folder = self.path(f"plant{len(self.processes)}")
        os.mkdir(folder)
        with open(f"{folder}/plant.schema", "w", encoding="utf-8") as file:
            file.write(schema)
        self.run_elog("schema", "gen", "--lang", "python", f"{folder}/plant.schema", "-o",
                      f"{folder}/plant.py")
        return self.start_python(self.start_provider, "-c", "import plant; input()",
                                 PYTHONPATH=folder)

    def list_json(self, *arguments):
        return json.loads(self.run_elog("list", "--json", *arguments).stdout)

    def list_on_terminal(self, columns=None, **environment):
        """The output of elog list on a terminal of this width."""
        controller, terminal = pty.openpty()
        if columns is not None:
            fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 25, columns, 0, 0))
        variables = {"TERM": "xterm", **environment}
        kept = {name: value for name, value in self.environment.items()
                if name not in ("COLUMNS", "NO_COLOR")}
        process = self.start(harness.ELOG, "list", env={**kept, **variables}, stdout=terminal)
        os.close(terminal)
        output = b""
        try:
            while part := os.read(controller, 65536):
                output += part
        except OSError:  # EIO: the other end is closed
            pass
        os.close(controller)
        self.assertEqual(process.wait(harness.TIMEOUT), 0)
        return output.decode()

    def test_shows_provider_process_events_and_fields(self):
        service = self.start_provider(harness.example("order_service"), "30")
        lines = self.run_elog("list", "shop").stdout.splitlines()
        self.assertEqual(
            lines[:4],
            [
                "shop",
                f"  processes order_service {service.pid}",
                "  order_placed     info",
                "      order: u64, customer: text, items: u32, cents: u32",
            ],
        )
        self.assertEqual(len(lines), 12)

    def test_names_types_as_the_schema_does(self):
        process = self.start_plant()
        self.assertEqual(
            self.run_elog("list").stdout,
            "plant A plant that is \\xff watered\n"
            f"  processes python3 {process.pid}\n"
            "  watered  warn   /water, light\n"
            "      A gardener came when it was dry\n"
            "      amount: u64 format byte_size, by: ip4?, then: state, row: i16[3],\n"
            '      took: i64 format duration unit "!"\n'
            "  grown    trace  gauge session\n"
            "      session: u64, what: parts\n",
        )
        words = self.run_elog("schema", "show", "plant").stdout
        for word in ("amount: u64 format byte_size\n", "by: ip4?\n", "row: i16[3]\n"):
            self.assertIn(word, words)

    def test_groups_processes_with_the_same_schema(self):
        pids = sorted(
            self.start_provider(harness.program("counter"), "1", "0", "1000").pid
            for _ in range(3)
        )
        output = self.run_elog("list").stdout
        self.assertEqual(output.count("counter\n"), 1)
        self.assertIn(f"  processes counter {pids[0]}, {pids[1]}, {pids[2]}\n", output)

    def test_distinguishes_schemas_of_one_name(self):
        self.start_plant()
        self.start_plant(PLANT.replace("row: i16[3]", "row: i16[4]"))
        output = self.run_elog("list", "plant:watered").stdout
        hashes = re.findall(r"^plant \(schema ([0-9a-f]{16})\) ", output, re.MULTILINE)
        self.assertEqual(len(set(hashes)), 2)
        self.assertIn("row: i16[3],", output)
        self.assertIn("row: i16[4],", output)

    def test_shows_listeners_per_event(self):
        service = self.start_provider(harness.example("order_service"), "30")
        listener = self.start_recording("-e", "shop:order_*", "-o", self.path("run.elog"))
        output = self.run_elog("list").stdout
        self.assertIn(f"  listeners [0] elog {listener.pid}\n", output)
        self.assertIn("  order_placed     info   [0]\n", output)
        self.assertIn("  payment_retry    info\n", output)
        shown = self.list_json()
        self.assertEqual(
            shown["subscriptions"],
            [{"slot": 0, "pid": listener.pid, "comm": "elog", "rules": ["shop:order_*"],
              "process_rules": [], "sessions": [], "paused": False}],
        )
        listeners = {event["event"]: event["listeners"] for event in shown["providers"][0]["events"]}
        self.assertEqual(
            listeners["order_done"],
            [{"slot": 0, "only_in_sessions": False, "pids": [service.pid]}],
        )
        self.assertEqual(listeners["queue_length"], [])
        self.stop(listener)
        self.assertNotIn("[0]", self.run_elog("list").stdout)

    def test_shows_listeners_without_events(self):
        recording = self.start_recording("--wait", "-e", "absent:*", "-e", "shop:order_*@info",
                                         "-o", self.path("run.elog"))
        expected = ("Listeners without an event of a running program\n"
                    f"  [0] elog {recording.pid} absent:* shop:order_*@info\n")
        self.assertEqual(self.run_elog("list").stdout, expected)
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        self.assertIn("\n\n" + expected, self.run_elog("list").stdout)
        self.assertNotIn("absent", self.run_elog("list", "counter").stdout)
        self.start_provider(harness.example("order_service"), "30")
        output = self.run_elog("list").stdout
        self.assertIn(f"  listeners [0] elog {recording.pid}\n", output)
        self.assertNotIn("Listeners", output)

    def test_shows_written_and_lost_counts(self):
        program = self.start_provider(harness.program("counter"), "1", "0", "1000")
        recording = self.start_recording("-e", "counter:*", "-o", self.path("run.elog"))

        def counters():
            return self.list_json("counter")["providers"][0]["processes"][0]["counters"]

        self.wait_for(lambda: counters()["written"] > 0, "an event")
        _, errors = self.stop(recording)
        events, _, lost = self.summary(errors)
        self.assertEqual(lost, 0)
        written = counters()["written"]
        # Each ring accepts at most one more event after the recorder's last poll.
        self.assertIn(written - events, range(os.cpu_count() + 2))
        self.assertRegex(
            self.run_elog("list", "--stats", "counter").stdout,
            rf"\n  counted   counter {program.pid}: {written} written 0 lost\n",
        )
        self.assertNotIn("counted", self.run_elog("list", "counter").stdout)

    def test_shows_session_listeners(self):
        self.start_plant()
        self.start_recording("-e", "plant:*#", "--session", "7", "-o", self.path("run.elog"))
        output = self.run_elog("list").stdout
        self.assertIn("  grown    trace  gauge session [0]#\n", output)
        self.assertIn("  watered  warn   /water, light\n", output)
        shown = self.list_json("plant:grown")
        self.assertEqual(shown["subscriptions"][0]["sessions"], [7])
        self.assertTrue(shown["providers"][0]["events"][0]["listeners"][0]["only_in_sessions"])

    def test_shows_everything_as_json(self):
        process = self.start_plant()
        (plant,) = self.list_json()["providers"]
        self.assertEqual(plant["description"], "A plant that is \ufffd watered")
        nothing = dict.fromkeys(("written", "truncated", "lost"), 0)
        nothing["lost_by_reason"] = dict.fromkeys(
            ("full", "too_large", "busy", "unattached", "refused"), 0
        )
        self.assertEqual(
            plant["processes"],
            [{"pid": process.pid, "comm": "python3", "uid": os.getuid(), "instances": 1,
              "counters": nothing, "user_events": nothing}],
        )
        self.assertEqual(
            plant["keywords"], [{"name": "water", "bit": 3}, {"name": "light", "bit": 5}]
        )
        self.assertEqual(
            plant["enumerations"],
            [
                {"name": "state", "type": "i8", "bitmask": False,
                 "values": [{"name": "wet", "value": 1}, {"name": "dry", "value": -1}]},
                {"name": "parts", "type": "u32", "bitmask": True,
                 "values": [{"name": "leaf", "value": 1}, {"name": "root", "value": 2}]},
            ],
        )
        watered, grown = plant["events"]
        self.assertEqual(
            {name: watered[name] for name in ("event_id", "level", "kind", "keywords", "when")},
            {"event_id": 0, "level": "warn", "kind": "instant", "keywords": ["water", "light"],
             "when": "it was dry"},
        )
        self.assertEqual([field["type"] for field in grown["fields"]], ["u64", "parts"])
        then = watered["fields"][2]
        self.assertEqual(
            {name: then[name] for name in ("name", "base_type", "enumeration", "description")},
            {"name": "then", "base_type": "i8", "enumeration": "state",
             "description": "what it is now"},
        )
        self.assertEqual((watered["fields"][3]["count"], watered["fields"][1]["optional"]),
                         (3, True))

    def test_json_has_no_invisible_characters_of_process_names(self):
        name = "a\u009b2J\u202e\x7f"
        os.symlink(harness.program("counter"), self.path(name))
        self.start_provider(self.path(name), "1", "0", "100000")
        shown = self.run_elog("list", "--json").stdout
        self.assertIn('"a\\u009b2J\\u202e\\u007f"', shown)
        self.assertEqual(json.loads(shown)["providers"][0]["processes"][0]["comm"], name)

    def test_text_escapes_invisible_characters_of_process_names(self):
        name = "a\u009b2J\u202e\x7f"
        os.symlink(harness.program("counter"), self.path(name))
        self.start_provider(self.path(name), "1", "0", "100000")
        shown = self.run_elog("list", "counter").stdout
        self.assertIn(r"a\xc2\x9b2J\xe2\x80\xae\x7f", shown)
        for character in "\u009b\u202e\x7f":
            self.assertNotIn(character, shown)

    def test_is_json_even_if_nothing_runs(self):
        self.assertEqual(self.list_json(), {"version": 1, "providers": [], "subscriptions": []})

    def test_accepts_provider_or_event(self):
        self.start_provider(harness.example("order_service"), "30")
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        output = self.run_elog("list", "shop").stdout
        self.assertIn("payment_retry", output)
        self.assertNotIn("counter", output)
        output = self.run_elog("list", "shop:payment_*").stdout
        self.assertIn("payment_retry", output)
        self.assertNotIn("order_placed", output)

    def test_fits_the_width(self):
        self.start_plant()
        for columns in (None, 40, 60, 120):
            if columns is not None:
                self.environment["COLUMNS"] = str(columns)
            lines = self.run_elog("list").stdout.splitlines()
            self.assertLessEqual(max(map(len, lines)), columns or 80)
        self.assertGreater(max(map(len, lines)), 80)

    def test_fits_the_terminal(self):
        self.start_plant()
        plain = ESCAPE.sub("", self.list_on_terminal(columns=50))
        widths = [len(line) for line in plain.splitlines()]
        self.assertTrue(40 < max(widths) <= 50, widths)
        plain = ESCAPE.sub("", self.list_on_terminal(columns=50, COLUMNS="100"))
        self.assertGreater(max(len(line) for line in plain.splitlines()), 50)

    def test_has_colours_on_a_terminal_only(self):
        self.start_plant()
        self.assertIn("\x1b[1;35mwarn\x1b[0m", self.list_on_terminal())
        self.assertNotIn("\x1b", self.run_elog("list").stdout)

    def test_has_no_colours_invisible_on_light_background(self):
        self.start_plant()
        self.start_recording("-e", "plant", "-o", self.path("run.elog"))
        shown = self.list_on_terminal()
        self.assertIn("listeners", shown)
        # Bold, faint, red, magenta, and the end of each.
        self.assertLessEqual(set(ESCAPE.findall(shown)), {
            f"\x1b[{code}m" for code in ("0", "1", "2", "1;31", "1;35")
        })

    def test_has_no_colours_with_no_color(self):
        self.start_plant()
        self.assertNotIn("\x1b", self.list_on_terminal(NO_COLOR="1"))
        self.assertNotIn("\x1b", self.list_on_terminal(TERM="dumb"))
        self.assertIn("\x1b", self.list_on_terminal(NO_COLOR=""))

    def test_reports_empty_list(self):
        result = self.run_elog("list")
        self.assertEqual(result.stdout, "")
        self.assertIn("No running program of yours offers events.", result.stderr)
        self.assertEqual(self.names("processes", may_be_missing=True), [])

    def test_pattern_without_match_fails(self):
        result = self.run_elog("list", "absent:*", status=1)
        self.assertEqual(result.stdout, "")
        self.assert_one_message(result.stderr, "absent:*")

    def test_suggests_the_nearest_name(self):
        self.start_provider(harness.example("order_service"), "30")
        for pattern, name in (("shp", "shop"), ("shop:ordr_done", "shop:order_done"),
                              ("order_done", "shop:order_done")):
            result = self.run_elog("list", pattern, status=1)
            self.assert_one_message(result.stderr, f"Did you mean '{name}'?")

    def test_reports_mismatch_of_level_or_keyword(self):
        self.start_provider(harness.example("order_service"), "30")
        result = self.run_elog("list", "shop:order_*@error", status=1)
        self.assert_one_message(result.stderr, "shop:order_placed has another level")

    def test_removes_files_of_killed_program(self):
        program = self.start_provider(harness.program("counter"), "1", "0", "1000")
        program.send_signal(signal.SIGKILL)
        program.wait()
        self.assertEqual(len(self.names("processes")), 1)
        self.assertEqual(self.run_elog("list").stdout, "")
        self.assertEqual(self.names("processes"), [])

    def test_reports_damaged_process_file_and_shows_the_rest(self):
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        with open(f"{self.directory}/processes/junk", "wb") as file:
            file.write(b"junk")
        result = self.run_elog("list")
        self.assertIn("counter", result.stdout)
        self.assertIn("junk", result.stderr)


if __name__ == "__main__":
    harness.main()
