#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""elog schema show prints the schema of a program, a recording, a binary schema or a text."""

import json
import os
import re
import subprocess

import harness

TEXT = """provider p "A provider" {
    event e info { a: u8 b: text? }
}
"""


def fnv1a(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


class Schema(harness.Case):
    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content)
        return self.path(name)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def test_of_running_program_round_trips(self):
        self.start_provider(harness.example("order_service"), "30")
        text = self.run_elog("schema", "show", "shop").stdout
        self.assertTrue(text.startswith("provider shop {\n"), text)
        self.assertIn("        customer: text\n", text)
        self.run_elog("schema", "show", "shop", "--binary", "-o", self.path("running.bin"))
        source = self.write("shop.schema", text.encode())
        self.run_elog("schema", "show", source, "--binary", "-o", self.path("text.bin"))
        self.assertEqual(self.read("running.bin"), self.read("text.bin"))

    def test_without_a_name_is_of_all_running_programs(self):
        self.start_provider(harness.example("order_service"), "30")
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        text = self.run_elog("schema", "show").stdout
        self.assertRegex(text, r"# counter with hash 0x[0-9a-f]{16}\nprovider counter {\n")
        self.assertRegex(text, r"# shop with hash 0x[0-9a-f]{16}\nprovider shop {\n")

    def test_without_any_program_fails(self):
        self.assertIn("No running program", self.run_elog("schema", "show").stderr)

    def test_of_recording_matches_program(self):
        self.run_elog("record", "-e", "counter:*", "-o", self.path("run.elog"), "--",
                      harness.program("counter"), "1", "1")
        text = self.run_elog("schema", "show", self.path("run.elog")).stdout
        self.assertTrue(text.startswith("provider counter {\n"), text)

    def piped(self, path, *words):
        """The output of elog schema with a pipe: standard input by two names, and another pipe."""
        results = []
        for name in ("-", "/dev/stdin", None):
            with subprocess.Popen(["cat", path], stdout=subprocess.PIPE) as cat:
                number = cat.stdout.fileno()
                results.append(self.run_elog("schema", *words, name or f"/dev/fd/{number}",
                                             stdin=cat.stdout, pass_fds=(number,)).stdout)
        self.assertEqual(results[1:], results[:1] * 2)
        return results[0]

    def test_reads_pipes(self):
        recording = self.path("run.elog")
        self.run_elog("record", "-e", "counter:*", "-o", recording, "--",
                      harness.program("counter"), "1", "1")
        shown = self.run_elog("schema", "show", recording).stdout
        text = self.write("counter.schema", shown.encode())
        self.run_elog("schema", "show", text, "--binary", "-o", self.path("counter.bin"))
        for source in (recording, text, self.path("counter.bin"), harness.program("counter")):
            self.assertEqual(self.piped(source, "show", "--no-source"),
                             self.run_elog("schema", "show", "--no-source", source).stdout)
        for words in (("bpftrace",), ("gen", "--lang", "c")):
            self.assertEqual(self.piped(text, *words), self.run_elog("schema", *words, text).stdout)
        self.assertEqual(self.piped(recording, "bpftrace"), self.piped(text, "bpftrace"))
        with open(text, encoding="utf-8") as file:
            self.assertEqual(self.run_elog("schema", "show", "-", stdin=file).stdout, shown)

    def test_names_the_pipe_in_messages(self):
        for words in (("show", "-"), ("gen", "--lang", "c", "-")):
            result = self.run_elog("schema", *words, input="provider p {\n  evnt\n", status=1)
            self.assertIn("elog: standard input:2:3: ", result.stderr)

    def test_of_program_file_matches_running_program(self):
        self.start_provider(harness.example("order_service"), "30")
        self.assertEqual(
            self.run_elog("schema", "show", harness.example("order_service")).stdout,
            self.run_elog("schema", "show", "shop").stdout,
        )

    def test_names_the_lines_that_declare_events(self):
        root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
        with open(os.path.join(root, "examples", "http_server", "events.hpp"), encoding="utf-8") as file:
            text = file.read()
        # The last lines of the metadata.
        infos, (provider,) = (
            [text.count("\n", 0, match.end()) + 1
             for match in re.finditer(kind + r"\{.*?\};", text, re.S)]
            for kind in ("event_info info", "provider_info"))
        program = harness.example("http_server")
        (shown,) = json.loads(self.run_elog("schema", "show", program, "--json").stdout)["providers"]
        self.assertEqual((shown["source_file"], shown["source_line"]), ("events.hpp", provider))
        places = [(each["source_file"], each["source_line"]) for each in shown["events"]]
        self.assertEqual([place for place in places if place[0]], [("events.hpp", n) for n in infos])
        self.assertEqual({place for place in places if not place[0]}, {(None, None)})
        text = self.run_elog("schema", "show", program).stdout
        self.assertRegex(text, f'^provider http .*at "events.hpp":{provider} {{\n')
        self.assertIn(f'at "events.hpp":{infos[0]} {{\n', text)
        source = self.write("http.schema", text.encode())
        self.assertEqual(self.run_elog("schema", "show", source).stdout, text)

    def test_lines_are_left_out_on_request(self):
        def write(line):
            text = TEXT.replace('"A provider" {', f'"A provider" at "p.cpp":{line} {{')
            return self.write(f"{line}.schema", text.replace(" info {", f' info at "p.hpp":{line} {{').encode())

        def shown(source, *options):
            self.run_elog("schema", "show", source, *options, "--force", "-o", self.path("shown"))
            return self.read("shown")

        first, moved, plain = write(8), write(9), self.write("plain.schema", TEXT.encode())
        for options in ([], ["--json"], ["--binary"]):
            self.assertNotEqual(shown(first, *options), shown(moved, *options))
            self.assertEqual(shown(first, "--no-source", *options), shown(plain, *options))
            self.assertEqual(shown(moved, "--no-source", *options), shown(plain, *options))

    def test_of_a_newer_version_mentions_what_is_missing(self):
        source = self.write("p.schema", TEXT.encode())
        self.run_elog("schema", "show", source, "--binary", "-o", self.path("p.bin"))
        newer = bytearray(self.read("p.bin"))
        begin = 24 + 2 + 1 + newer[26]  # behind the name and the description of the provider
        newer[15] += 1
        newer[begin:begin] = b"\xf0\x02\0\1\2"
        newer[8:12] = len(newer).to_bytes(4, "little")
        newer[16:24] = fnv1a(newer[:16] + bytes(8) + newer[24:]).to_bytes(8, "little")
        binary = self.write("newer.bin", bytes(newer))
        text = self.run_elog("schema", "show", binary).stdout
        self.assertIn("# from it: An attribute of a kind that this version does not know is missing.",
                      text)
        self.assertTrue(text.endswith(self.run_elog("schema", "show", source).stdout), text)
        (shown,) = json.loads(self.run_elog("schema", "show", binary, "--json").stdout)["providers"]
        self.assertEqual(shown["unknown_attributes"], 1)
        copied = self.run_elog("schema", "show", binary, "--binary", "-o", self.path("copy.bin"))
        self.assertEqual(copied.stderr, "")
        self.assertEqual(self.read("copy.bin"), bytes(newer))
        written = self.run_elog("schema", "show", binary, "--binary", "--no-source", "-o",
                                self.path("without.bin"))
        self.assertIn("attributes that only a newer version of elog knows (1)", written.stderr)

    def test_of_a_shared_object_is_found(self):
        text = self.run_elog("schema", "show", harness.program("plugin_shared.so")).stdout
        self.assertTrue(text.startswith("provider plugin {\n"), text)

    def test_of_damaged_program_file_is_rejected(self):
        with open(harness.example("order_service"), "rb") as file:
            whole = file.read()
        # Changes a byte of the provider's name (after the header and the name's length) at each
        # copy of the schema: debug information may repeat constants.
        damaged = bytearray(whole)
        for schema in re.finditer(b"ESCH\x03", whole):
            damaged[schema.start() + 25] ^= 1
        self.assertNotEqual(damaged, whole)
        result = self.run_elog("schema", "show", self.write("damaged", bytes(damaged)), status=1)
        self.assert_one_message(result.stderr, "No provider has been compiled into")

    def test_of_a_program_is_found_at_the_end_of_a_large_file(self):
        with open(harness.example("order_service"), "rb") as file:
            whole = file.read()
        start = whole.index(b"ESCH\x03")
        # Across a boundary of the 4 MiB read at once, with the first bytes on both sides.
        for before in ((4 << 20) - 2, (8 << 20) + 5):
            content = whole[:4] + bytes(before - 4) + whole[start:]
            text = self.run_elog("schema", "show", self.write("large", content)).stdout
            self.assertTrue(text.startswith("provider shop {\n"), text)

    def test_of_text_is_canonical_form(self):
        source = self.write("p.schema", TEXT.encode())
        normal = self.run_elog("schema", "show", source).stdout
        self.assertIn("\n    event e info {\n        a: u8\n        b: text?\n    }\n", normal)
        again = self.write("again.schema", normal.encode())
        self.assertEqual(self.run_elog("schema", "show", again).stdout, normal)

    def test_accepts_example_of_manual(self):
        page = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "docs", "man")
        with open(os.path.join(page, "elog-schema.5"), encoding="utf-8") as file:
            example = file.read().split(".Bd -literal -offset indent\n")[1].split(".Ed\n")[0]
        text = self.run_elog("schema", "show", self.write("tcp.schema", example.encode())).stdout
        self.assertIn("event loss warn [retransmit]", text)

    def test_of_binary_form_matches_text(self):
        source = self.write("p.schema", TEXT.encode())
        self.run_elog("schema", "show", source, "--binary", "-o", self.path("p.bin"))
        self.assertTrue(self.read("p.bin").startswith(b"ESCH"))
        self.assertEqual(
            self.run_elog("schema", "show", self.path("p.bin")).stdout,
            self.run_elog("schema", "show", source).stdout,
        )

    def test_of_damaged_binary_form_is_rejected(self):
        source = self.write("p.schema", TEXT.encode())
        self.run_elog("schema", "show", source, "--binary", "-o", self.path("p.bin"))
        whole = self.read("p.bin")
        for damaged in (whole[:-1], whole + b"\0", whole[:-1] + b"\1"):
            result = self.run_elog("schema", "show", self.write("d.bin", damaged), status=1)
            self.assertEqual(result.stdout, "")
            self.assertIn("damaged", result.stderr)

    def test_error_names_file_line_and_column(self):
        source = self.write("p.schema", TEXT.replace("u8", "u9").encode())
        result = self.run_elog("schema", "show", source, status=1)
        self.assert_one_message(result.stderr, f"{source}:2:23: A field's type is")

    def test_of_missing_source_fails(self):
        self.assert_one_message(
            self.run_elog("schema", "show", "absent", status=1).stderr, "No running program", "absent"
        )
        self.assert_one_message(self.run_elog("schema", "show", "./absent", status=1).stderr, "./absent")
        self.assert_one_message(self.run_elog("schema", "show", self.scratch, status=1).stderr, "read")

    def test_output_named_dash_is_standard_output(self):
        source = self.write("p.schema", TEXT.replace("info", "info truncates").encode())
        for command in (("show",), ("gen", "--lang", "c"), ("gen", "--lang", "kernel-c"),
                        ("bpftrace",)):
            expected = self.run_elog("schema", *command, source).stdout
            result = self.run_elog("schema", *command, source, "-o", "-", cwd=self.scratch)
            self.assertEqual(result.stdout, expected)
            self.assertFalse(os.path.exists(self.path("-")))

    def test_output_replaces_file_only_with_force(self):
        source = self.write("p.schema", TEXT.replace("info", "info truncates").encode())
        for command in (("show",), ("show", "--json"), ("show", "--binary"), ("gen", "--lang", "c"),
                        ("bpftrace",)):
            self.write("out", b"mine")
            words = ("schema", *command, source, "-o", self.path("out"))
            result = self.run_elog(*words, status=1)
            self.assert_one_message(result.stderr, "out exists", "--force")
            self.assertEqual(self.read("out"), b"mine")
            self.run_elog(*words, "--force")
            self.assertNotIn(b"mine", self.read("out"))

    def test_in_binary_form_requires_output_file(self):
        source = self.write("p.schema", TEXT.encode())
        result = self.run_elog("schema", "show", source, "--binary", status=2)
        self.assert_one_message(result.stderr, "-o FILE")

    def test_write_error_is_reported(self):
        source = self.write("p.schema", TEXT.encode())
        target = os.path.join(self.scratch, "missing", "out")
        result = self.run_elog("schema", "show", source, "-o", target, status=1)
        self.assert_one_message(result.stderr, "missing/out")


BPFTRACE_TEXT = """provider p "A provider" {
    event sent info "One was sent" {
        size: u32 change: i16 name: text data: bytes level: f64 counts: u16[3]
    }
    event received info { delays: u32[] fed: bool[] ratio: f64[]? }
    event idle info { }
}
"""


class Bpftrace(harness.Case):
    def generate(self, *options, status=0):
        with open(self.path("p.schema"), "w", encoding="utf-8") as file:
            file.write(BPFTRACE_TEXT)
        return self.run_elog("schema", "bpftrace", self.path("p.schema"), *options, status=status)

    def test_script_prints_trace_events(self):
        self.assertEqual(self.generate().stdout, """#!/usr/bin/env bpftrace
// p: A provider

struct f64 { unsigned long long values[1]; };
struct u16x3 { unsigned short values[3]; };

// One was sent.
tracepoint:eventlog:p_sent
{
    // not printed: data
    printf("p:sent size=%llu change=%lld name=%s level=0x%llx counts=[%llu,%llu,%llu]\\n", args->size, args->change, str(args->name), args->level.values[0], args->counts.values[0], args->counts.values[1], args->counts.values[2]);
}

tracepoint:eventlog:p_received
{
    // not printed: delays, fed, ratio
    printf("p:received\\n");
}

tracepoint:eventlog:p_idle
{
    printf("p:idle\\n");
}
""")

    def test_hostile_descriptions_stay_comments(self):
        texts = (r"\nBEGIN { system(\x22id\x22) }\r//", r"a \\", r"*/ BEGIN { } /*", r"\x1b[2J\xe2\x80\xa8")
        events = "".join(f'event e{i} info "{text}" when "{text}" {{ a: u8 "{text}" }}\n'
                         for i, text in enumerate(texts))
        with open(self.path("p.schema"), "w", encoding="utf-8") as file:
            file.write(f'provider p "{texts[0]}" {{\n{events}}}\n')
        shown = self.run_elog("schema", "bpftrace", self.path("p.schema")).stdout
        code = [line for line in shown.splitlines() if line and not line.lstrip().startswith(("//", "#!"))]
        expected = [line for i in range(len(texts)) for line in (
            f"tracepoint:eventlog:p_e{i}", "{", f'    printf("p:e{i} a=%llu\\n", args->a);', "}")]
        self.assertEqual(code, expected)
        self.assertTrue(all(character == "\n" or character.isprintable() for character in shown), shown)
        self.assertEqual(shown.count("BEGIN"), 5)

    def test_script_prints_probes_of_program(self):
        text = self.generate("--usdt", "./server").stdout
        self.assertNotIn("struct", text)
        # bpftrace has no more than six arguments.
        self.assertIn("// not printed: counts\n", text)
        self.assertIn("usdt:./server:p:sent\n", text)
        self.assertIn('printf("p:sent size=%llu change=%lld name=%s data=%r level=0x%llx\\n", arg0, '
                      "arg1, str(arg2), buf(arg3, arg4), arg5);", text)
        self.assertIn('printf("p:received delays=%r fed=%r ratio=%r\\n", buf(arg0, arg1 * 4), '
                      "buf(arg2, arg3), buf(arg4, arg5 * 8));", text)

    def test_program_that_bpftrace_cannot_name_is_a_usage_error(self):
        result = self.generate("--usdt", "a:b", status=2)
        self.assert_one_message(result.stderr, "bpftrace cannot name the program 'a:b'")

    def test_several_schemas_are_refused(self):
        result = self.run_elog("schema", "bpftrace", harness.example("dynamic"), status=1)
        self.assertEqual(result.stdout, "")


if __name__ == "__main__":
    harness.main()
