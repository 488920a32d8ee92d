#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The output of elog print for each event: --fields, --delta, --utc, --format; and the number of
events: --limit.
"""

import datetime
import re
import struct
import time

import harness
import independent_reader

DAY = 86400 * 10**9
# Where elog(5) places CLOCK_REALTIME, or its distance to CLOCK_MONOTONIC, in the payloads of blocks
# of types 2 (clock) and 7 (index).
REALTIME = {2: (24,), 7: (80, 112, 128, 136)}
INDEX, INDEX_HEAD = 7, 160


def add_checksum(data, begin, size, place):
    struct.pack_into("<I", data, place, independent_reader.crc32c(data[begin : begin + size]))


def move_in_time(path, nanoseconds):
    """Changes CLOCK_REALTIME in a recording by that much."""
    with open(path, "r+b") as file:
        data = bytearray(file.read())
        at = harness.FILE_HEADER_SIZE
        while at < len(data):
            kind, _, size = struct.unpack_from("<HHI", data, at + 4)
            payload = at + harness.BLOCK_HEADER.size
            for offset in REALTIME.get(kind, ()):
                before = struct.unpack_from("<q", data, payload + offset)[0]
                struct.pack_into("<q", data, payload + offset, before + nanoseconds)
            if kind == INDEX:
                add_checksum(data, payload + 8, INDEX_HEAD - 8, payload + 4)
            add_checksum(data, payload, size, at + 12)
            add_checksum(data, at, 28, at + 28)
            at = payload + (size + 7) // 8 * 8
        file.seek(0)
        file.write(data)


class PrintOptions(harness.Case):
    def setUp(self):
        super().setUp()
        self.file = self.path("run.elog")
        self.run_elog(
            "record", "-e", "shop:*", "-o", self.file, "--", harness.example("order_service"),
            "0.5",
        )

    def lines(self, *options, **settings):
        return self.run_elog("print", self.file, *options, **settings).stdout.splitlines()

    def refusal(self, *options):
        result = self.run_elog("print", self.file, *options, status=2)
        self.assertEqual(result.stdout, "")
        return result.stderr

    def test_fields_select_and_order_fields(self):
        lines = self.lines("--fields", "customer,order", "--where", 'event == "order_placed"')
        self.assertGreater(len(lines), 0)
        for line in lines:
            self.assertRegex(harness.LINE.match(line)["fields"], r'^ customer=".*" order=\d+$')

    def test_missing_fields_are_omitted(self):
        whole = self.lines()
        chosen = self.lines("--fields", "customer")
        self.assertEqual(len(whole), len(chosen))
        found = 0
        for line, other in zip(chosen, whole):
            customer = re.search(r' customer="[^"]*"', other)
            found += customer is not None
            self.assertEqual(harness.LINE.match(line)["fields"], customer[0] if customer else "")
        self.assertTrue(0 < found < len(whole))

    def test_unknown_names_are_rejected_with_suggestion(self):
        self.assertEqual(
            self.refusal("--fields", "order,custmer"),
            "elog: --fields, column 7: No event has a field 'custmer'. Did you mean 'customer'?\n",
        )
        self.assertEqual(
            self.refusal("--format", "{time} {custmer}"),
            "elog: --format, column 9: No event has a field 'custmer'. Did you mean 'customer'?\n",
        )
        self.assertNotIn("Did you mean 'time'?", self.refusal("--format", "{.time}"))
        self.assertIn("--format, column 3: This { has no }.", self.refusal("--format", "a {time"))
        self.assertIn("--delta", self.refusal("--format", "{time}", "--delta"))

    def test_count_limits_matching_events(self):
        for wanted in ((), ("--where", 'event == "order_placed"'), ("--json",), ("--follow",)):
            whole = self.lines(*wanted)
            self.assertGreater(len(whole), 3)
            self.assertEqual(self.lines(*wanted, "--limit", "3"), whole[:3])
            self.assertEqual(self.lines(*wanted, "--limit", str(len(whole) + 1)), whole)
        for number in ("0", "-1", "1000000001"):
            self.assertIn("--limit", self.refusal(f"--limit={number}"))

    def test_count_ends_follow(self):
        path = self.path("growing.elog")
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        recording = self.start_recording("-e", "counter:*", "-o", path)
        shown = self.run_elog("print", path, "--follow", "--limit", "4").stdout
        self.assertEqual(len(shown.splitlines()), 4)
        self.stop(recording)

    def test_delta_adds_up_to_the_time_between_the_first_and_the_last(self):
        def in_microseconds(text):
            hours, minutes, seconds = text.split(":")
            return round((int(hours) * 3600 + int(minutes) * 60 + float(seconds)) * 1e6)

        lines = self.lines("--delta")
        times = [in_microseconds(line.split(" ")[0]) for line in lines]
        deltas = [float(re.search(r"^\S+ < *(-?\d+\.\d{6})> \[", line)[1]) for line in lines]
        self.assertEqual(deltas[0], 0)
        between = (times[-1] - times[0]) % (86400 * 1000000)
        # Each is truncated to a microsecond.
        self.assertLess(abs(sum(deltas) * 1e6 - between), len(lines) + 2)

    def test_number_elapsed_and_date_are_added_to_lines(self):
        plain = self.lines()
        numbered = self.lines("--number", "--elapsed", "--date")
        self.assertEqual(len(numbered), len(plain))
        pattern = r"^ *(\d+) \d{4}-\d\d-\d\d (\S+) \+(\d+\.\d{6}) (\[\d+\] .*)$"
        found = [re.fullmatch(pattern, line) for line in numbered]
        self.assertEqual([int(line[1]) for line in found], list(range(1, len(plain) + 1)))
        self.assertEqual([f"{line[2]} {line[4]}" for line in found], plain)
        elapsed = [float(line[3]) for line in found]
        self.assertEqual(elapsed[0], 0)
        self.assertEqual(elapsed, sorted(elapsed))
        # Among the selected events, as names of a template.
        shown = self.lines("--format", "{number} {elapsed} {delta}", "--limit", "2")
        self.assertEqual(shown[0], "1 0.000000 0.000000")
        self.assertRegex(shown[1], r"^2 (\d+\.\d{6}) \1$")
        for option in "--number", "--elapsed", "--date":
            self.assertIn(option, self.refusal("--format", "{time}", option))
            self.assertIn(option, self.refusal("--json", option))

    def test_clock_option_selects_clock(self):
        clocks = {"realtime": time.CLOCK_REALTIME, "monotonic": time.CLOCK_MONOTONIC,
                  "boottime": time.CLOCK_BOOTTIME, "tai": time.CLOCK_TAI}
        before = {name: time.clock_gettime(clock) for name, clock in clocks.items()}
        self.run_elog("record", "-e", "shop:*", "--force", "-o", self.file, "--",
                      harness.example("order_service"), "0.1")
        after = {name: time.clock_gettime(clock) for name, clock in clocks.items()}
        parts = self.path("parts.elog")
        self.run_elog("cut", self.file, "-o", parts, "--where", "pid > 0")
        merged = self.path("merged.elog")
        self.run_elog("merge", parts, "-o", merged)
        for name in clocks:
            whole = self.lines("--clock", name)
            for line in whole:
                shown = line.split(" ")[0]
                if ":" in shown:
                    day = time.strftime("%Y-%m-%d ", time.gmtime(before[name]))
                    parsed = datetime.datetime.fromisoformat(day + shown + "+00:00").timestamp()
                    # Around midnight it may be the next day.
                    found = min((parsed, parsed + 86400), key=lambda each: abs(each - after[name]))
                else:
                    found = float(shown)
                self.assertGreater(found, before[name] - 0.001, name)
                self.assertLess(found, after[name] + 0.001, name)
            # Copies keep them.
            for copy in (parts, merged):
                copied = self.run_elog("print", copy, "--clock", name).stdout.splitlines()
                self.assertEqual(copied, whole)
            self.assertIn("whole", self.run_elog("verify", merged).stdout)
            rows = self.run_elog("convert", "--to", "csv", self.file, "--clock", name).stdout
            self.assertIn(whole[0].split(" ")[0], rows.splitlines()[1])
        self.assertEqual(len(self.lines("--clock", "tai", "--since", "+0.05s")),
                         len(self.lines("--since", "+0.05s")))

    def test_unavailable_clocks_are_rejected(self):
        self.assertIn("realtime, monotonic, boottime or tai", self.refusal("--clock", "sun"))
        self.assertIn("--clock realtime", self.refusal("--clock", "tai", "--utc"))
        self.assertEqual({line.split(" ")[0] for line in self.lines(
            "--clock", "monotonic", "--format", "{date} {time}")}, {"-"})

    def test_utc_and_local_time_are_those_of_the_zone(self):
        self.environment["TZ"] = "EST5"
        local, utc = self.lines(), self.lines("--utc")
        for one, other in zip(local, utc):
            self.assertRegex(other, r"^\d\d:\d\d:\d\d\.\d{6}Z \[")
            self.assertEqual((int(other[:2]) - int(one[:2])) % 24, 5)
            self.assertEqual(one[2:15], other[2:15])
        # Printed times are accepted as ranges.
        middle = next(at for at in range(1, len(utc)) if utc[at][:16] != utc[at - 1][:16])
        for lines, width, options in ((local, 15, ()), (utc, 16, ("--utc",))):
            self.assertEqual(
                self.lines("--since", lines[middle][:width], *options), lines[middle:]
            )

    def test_date_is_shown_for_another_day(self):
        whole = [harness.LINE.match(line) for line in self.lines()]
        move_in_time(self.file, -10 * DAY)
        days = self.lines("--format", "{date}")
        dated = self.lines()
        for line, other, day in zip(dated, whole, days):
            found = harness.LINE.match(line)
            self.assertEqual(found["date"], day)
            for name in ("time", "cpu", "process", "thread", "event", "fields"):
                self.assertEqual(found[name], other[name])
        self.assertEqual(self.lines("--follow"), dated)
        self.assertTrue(self.lines("--utc", "--delta")[0].startswith(days[0] + " "))
        self.assertRegex(self.lines("--clock", "monotonic")[0], r"^\d+\.\d{6} \[")
        # The time of day of a template has no date.
        self.assertEqual(self.lines("--format", "{time}"), [line["time"] for line in whole])

    def test_format_applies_custom_template(self):
        whole = self.lines()
        made = self.lines("--format", r"{comm}-{tid} {provider}:{event} {fields}")
        self.assertEqual(made, [line.split("] ", 1)[1] for line in whole])
        made = self.lines("--format", r"{time}\t{{{cpu}}}\t{pid}", "--where", "has(customer)")
        for line, other in zip(made, [line for line in whole if " customer=" in line]):
            time, cpu, pid = line.split("\t")
            self.assertTrue(other.startswith(f"{time} [{int(cpu[1:-1]):03}] "), (line, other))
            self.assertGreater(int(pid), 0)

    def test_format_shows_dash_for_missing_fields(self):
        customers = self.lines("--format", "{customer}")
        self.assertIn("-", customers)
        self.assertTrue(any(re.fullmatch('".+"', customer) for customer in customers))

    def test_format_and_fields_apply_to_follow(self):
        for options in (["--fields", "customer"], ["--format", "{customer}"]):
            self.assertEqual(self.lines(*options, "--follow"), self.lines(*options))
        result = self.run_elog("print", self.file, "--follow", "--fields", "no_such", status=2)
        self.assertIn("No event has a field 'no_such'", result.stderr)


if __name__ == "__main__":
    harness.main()
