#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Code of elog schema gen compiles without warnings and emits the events of its schema."""

import ast
import os
import random
import re
import shlex
import shutil
import subprocess

import compiling
import harness
from compiling import INCLUDE, LIBRARY_DIRECTORY, LINK, ROOT, WARNINGS

GENERATED = os.path.join(ROOT, "tests", "generated")
ZOO = os.path.join(GENERATED, "zoo.schema")
TOUR = os.path.join(GENERATED, "tour.schema")
DOCUMENT = "docs/how-to/generate-code.md"
# Headers with macros that have plausible names of events.
USUAL_HEADERS = ["stdio.h", "assert.h", "limits.h", "errno.h", "sys/sysmacros.h"]
INCLUDED = {
    "c": ["stdbool.h", "stddef.h", "stdint.h", "string.h", "eventlog/abi.h"],
    "c++": ["array", "chrono", "cstddef", "cstdint", "optional", "span", "string_view",
            "eventlog/eventlog.hpp"],
}

# A record holds 65512 bytes: fixed part 13, "short" with its NUL 6, data 30001, one more NUL, and
# as many characters of two bytes as fit.
LONG = (65512 - 13 - 6 - 30001 - 1) // 2
# Fixed part 16, "short" with its NUL 6, 15000 elements of two bytes, and as many of eight bytes as fit.
LONG_COUNT = (65512 - 16 - 6 - 2 * 15000) // 8


def numbers_text(count):
    return "[" + ",".join(map(str, range(count))) + "]"


EXPECTED = [
    "numbers b=true c='x' i1=-128 i2=-32768 i4=-2147483648 i8=-9223372036854775808 u1=255"
    " u2=65535 u4=4294967295 u8=18446744073709551615 f4=0.5 f8=-0.25",
    "named how_large=large money=debt eats=grass|fish sizes=[large,huge]",
    "formats hexadecimal=0xdeadbeef error=-2(ENOENT) took=1.5ms! at=2023-11-14T22:13:20.123456789Z"
    " since=12.345678901s bytes=2KiB four=192.0.2.1 six=2001:db8::1 hardware=00:01:02:fd:fe:ff"
    ' label="label" network=127.0.0.1 percent=50%',
    'texts name="name" data=<01ff> other="\u00e9" last=[1,2,65535]',
    'options number=0 name="" data=<> flag=true how_large=huge where=10.0.0.1 row=[-1,2]',
    "options number=- name=- data=- flag=- how_large=- where=- row=-",
    'long_texts name="short" data=<0000> small=7 other="text"',
    'long_texts name="' + "\u00e9" * LONG + '" data=<' + "00" * 64 + "...30001 bytes> small=7"
    ' other="short" (truncated)',
    "sequences delays=[150,4294967295]us fed=[true,false,true] weights=[0.5,-0.25] sizes=[large,huge]"
    ' money=[debt] eats=[grass|fish,meat] took=[1.5us,2.5ms] place="den" levels=[-128,0]',
    'sequences delays=[]us fed=[] weights=[] sizes=[] money=[] eats=[] took=[] place="" levels=-',
    'long_sequences name="short" numbers=[0,1,2] row=[-1,2] delays=[0,1]',
    f'long_sequences name="short" numbers={numbers_text(LONG_COUNT)} row=[-1,2]'
    f" delays={numbers_text(15000)} (truncated)",
    'visit duration=1.5us animals=7 label="dawn"',
    "pause duration=2.5ms",
    "visitors number=3",
    "nothing",
    'delete class=1 default=2 errno=3 self=4 type=5 payload="text"',
    "nothing",
]


# The events of tour.schema: those without a session, and those of each session.
WEATHER = "weather rain=true"
SESSIONS = {
    number: [
        f"session_begin session={number}",
        f'step session={number} number={step} place="bridge"',
        f'glance session={number} at="river"',
        f"glance session={number} at=-",
        f"session_end session={number}",
    ]
    for step, number in ((0, 1), (10, 2), (20, 0xFEDCBA9876543210))
}


class Generated(compiling.Case):
    def setUp(self):
        super().setUp()
        # Keeps the source folder free of bytecode.
        self.environment["PYTHONDONTWRITEBYTECODE"] = "1"

    def generate(self, language, name, source=ZOO):
        self.run_elog("schema", "gen", "--lang", language, source, "--force", "-o", self.path(name))

    def assert_schema_arrived(self, source):
        """Requires the last recording's schema to equal the text."""
        for file in (source, self.path("run.elog")):
            self.run_elog("schema", "show", file, "--binary", "--force", "-o",
                          self.path(os.path.basename(file)))
        with open(self.path(os.path.basename(source)), "rb") as first, \
                open(self.path("run.elog"), "rb") as second:
            self.assertEqual(first.read(), second.read())

    def assert_emits_everything(self, *command):
        self.assertEqual(self.recorded("zoo", ["-e", "zoo:*"], *command), EXPECTED)
        self.assert_schema_arrived(ZOO)

    def assert_emits_in_sessions(self, *command):
        """Records all sessions, each session alone, and one session at a finer level than the
        rest."""
        everything = [WEATHER, *(line for lines in SESSIONS.values() for line in lines)]
        self.assertEqual(self.recorded("tour", ["-e", "tour:*"], *command), everything)
        self.assert_schema_arrived(TOUR)
        for number, lines in SESSIONS.items():
            arguments = ["-e", "tour:*", "--session", str(number)]
            self.assertEqual(self.recorded("tour", arguments, *command), lines)
        arguments = ["-e", "tour@info", "-e", "tour:*@trace#", "--session", "2"]
        self.assertEqual(
            self.recorded("tour", arguments, *command),
            [line for line in everything if not line.startswith("glance") or "session=2 " in line],
        )

    def check_c(self, compiler):
        self.generate("c", "zoo.h")
        options = ["-std=c11", "-O2", *WARNINGS, f"-I{INCLUDE}", "-I."]
        source = os.path.join(GENERATED, "zoo.c")
        self.compile(compiler, *options, "-c", "-DELSEWHERE", source, "-o", "elsewhere.o")
        self.compile(compiler, *options, "-c", source, "-o", "zoo.o")
        self.compile(compiler, "zoo.o", "elsewhere.o", "-o", "zoo", *LINK)
        self.assert_emits_everything(self.path("zoo"))

    def test_c_with_gcc(self):
        self.check_c("gcc")

    def test_c_with_clang(self):
        self.check_c("clang")

    def test_c_header_names_the_remedy_in_cpp(self):
        self.generate("c", "zoo.h")
        result = subprocess.run(
            ["g++", "-fsyntax-only", f"-I{INCLUDE}", "-x", "c++", self.path("zoo.h")],
            stderr=subprocess.PIPE, encoding="utf-8", check=False)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("elog schema gen --lang c++", result.stderr)

    def check_cpp(self, compiler):
        self.generate("c++", "zoo.hpp")
        source = os.path.join(GENERATED, "zoo.cpp")
        options = ["-std=c++20", "-O2", *WARNINGS, f"-I{INCLUDE}", "-I."]
        self.compile(compiler, *options, "-c", source, "-o", "zoo.o")
        self.compile(compiler, "zoo.o", "-o", "zoo", *LINK)
        self.assert_emits_everything(self.path("zoo"))

    def test_cpp_with_gcc(self):
        self.check_cpp("g++")

    def test_cpp_with_clang(self):
        self.check_cpp("clang++")

    def compile_rust(self, name):
        """Compiles and links NAME_main.rs."""
        shutil.copy(os.path.join(GENERATED, f"{name}_main.rs"), self.scratch)
        options = ["--edition", "2021", "-O", "-D", "warnings"]
        # Not rustup's wrapper, which first looks for a toolchain.
        rustc = "/usr/bin/rustc" if os.path.exists("/usr/bin/rustc") else "rustc"
        self.compile(rustc, *options, "--emit=metadata", f"{name}_main.rs")
        self.compile(rustc, *options, f"-L{LIBRARY_DIRECTORY}",
                     f"-Clink-arg=-Wl,-rpath,{LIBRARY_DIRECTORY}", f"{name}_main.rs", "-o", name)

    def test_rust(self):
        self.generate("rust", "zoo.rs")
        self.compile_rust("zoo")
        self.assert_emits_everything(self.path("zoo"))

    def test_python(self):
        self.generate("python", "zoo.py")
        shutil.copy(os.path.join(GENERATED, "zoo_main.py"), self.scratch)
        self.compile("python3", "-W", "error", "-c", "import ast, pathlib; ast.parse(pathlib.Path('zoo.py').read_text())")
        self.assert_emits_everything("python3", "-W", "error", self.path("zoo_main.py"))

    def compile_tour(self, compiler, name, *options):
        """Compiles and links tour.c or tour.cpp."""
        source = os.path.join(GENERATED, name)
        self.compile(compiler, *options, "-O2", *WARNINGS, f"-I{INCLUDE}", "-I.", "-c", source,
                     "-o", "tour.o")
        self.compile(compiler, "tour.o", "-o", "tour", *LINK)

    def test_c_in_sessions(self):
        self.generate("c", "tour.h", TOUR)
        self.compile_tour("gcc", "tour.c", "-std=c11")
        self.assert_emits_in_sessions(self.path("tour"))

    def test_cpp_in_sessions(self):
        self.generate("c++", "tour.hpp", TOUR)
        self.compile_tour("g++", "tour.cpp", "-std=c++20")
        self.assert_emits_in_sessions(self.path("tour"))

    def test_rust_in_sessions(self):
        self.generate("rust", "tour.rs", TOUR)
        self.compile_rust("tour")
        self.assert_emits_in_sessions(self.path("tour"))

    def test_python_in_sessions(self):
        self.generate("python", "tour.py", TOUR)
        shutil.copy(os.path.join(GENERATED, "tour_main.py"), self.scratch)
        self.assert_emits_in_sessions("python3", "-W", "error", self.path("tour_main.py"))

    def test_python_warns_about_encoding_errors_and_continues(self):
        self.generate("python", "zoo.py")
        result = self.run_elog(
            "record", "-e", "zoo:*", "--", "python3", "-c",
            f"import sys; sys.path.insert(0, {self.scratch!r}); import zoo\n"
            "zoo.delete(1, 256, 3, 4, 5, 'text')\nzoo.delete('one', 2, 3, 4, 5, 6)\n"
            "for numbers in (None, 7, [-1], ['one']):\n"
            "    zoo.long_sequences('', numbers, [1, 2], [])\nzoo.nothing()\n",
        )
        self.assertEqual(result.stderr.count("zoo:delete is not emitted"), 2, result.stderr)
        self.assertEqual(result.stderr.count("zoo:long_sequences is not"), 4, result.stderr)
        self.assertEqual(len(result.stdout.splitlines()), 1, result.stdout)

    def test_cpp_leaves_builtin_session_and_dump_events_to_provider(self):
        with open(self.path("s.schema"), "w", encoding="utf-8") as file:
            file.write(
                """provider s {
                    enum color : u64 { none = 18446744073709551615, red = 0 }
                    enum shade : i64 { least = -9223372036854775808, dark = -1, light = 4096 }
                    event in_session info session { session: u64 color: color shade: shade[2] }
                    event session_begin info session_begin session "A session begins"
                        when "the application opens a session" { session: u64 }
                    event session_end info session_end session "A session ends"
                        when "the application closes a session" { session: u64 }
                    event state_complete error state_complete "The current state is complete"
                        when "a listener came late and all of the state has been emitted to it alone"
                        {}
                }"""
            )
        self.generate("c++", "s.hpp", self.path("s.schema"))
        with open(self.path("s.cpp"), "w", encoding="utf-8") as file:
            file.write('#include "s.hpp"\n')
        # The header asserts that its schema has the hash of the text's.
        for compiler in ("g++", "clang++"):
            self.compile(compiler, "-std=c++20", *WARNINGS, f"-I{INCLUDE}", "-fsyntax-only", "s.cpp")

    def check_cpp_header(self, source):
        """Requires the header for C++ to compile, which asserts that it has the schema's hash.
        Returns its text."""
        with open(self.path("s.schema"), "w", encoding="utf-8") as file:
            file.write(source)
        self.generate("c++", "s.hpp", self.path("s.schema"))
        with open(self.path("s.cpp"), "w", encoding="utf-8") as file:
            file.write('#include "s.hpp"\n')
        for compiler in ("g++", "clang++"):
            self.compile(compiler, "-std=c++20", *WARNINGS, f"-I{INCLUDE}", "-fsyntax-only", "s.cpp")
        with open(self.path("s.hpp"), encoding="utf-8") as file:
            return file.read()

    def test_cpp_wraps_timed_events_and_gauges(self):
        text = self.check_cpp_header(
            """provider s {
                event timed info end { duration: i64 format duration place: text number: u8 }
                event only info end { duration: i64 format duration }
                event in_session info end session {
                    session: u64 duration: i64 format duration number: u16
                }
                event described info end { duration: i64 format duration "of a step" }
                event unsigned_one info end { duration: u64 format duration }
                event second info end { number: u8 duration: i64 format duration }
                event begins info begin { duration: i64 format duration }
                event level info gauge session { session: u64 degrees: i16 place: text? }
                event empty info gauge {}
                event session_begin info session_begin session "A session begins"
                    when "the application opens a session" { session: u64 }
                event session_end info session_end session "A session ends"
                    when "the application closes a session" { session: u64 }
            }"""
        )
        listed = re.search(r"eventlog::provider<(.*?)>;", text, re.DOTALL).group(1)
        self.assertEqual(
            re.split(r",\s+", listed)[1:],
            ["eventlog::timed<timed>", "eventlog::timed<only>", "eventlog::timed<in_session>",
             "described", "unsigned_one", "second", "begins", "eventlog::gauge<level>", "empty"],
        )

    def test_names_of_the_library_and_the_provider_compile_in_cpp(self):
        self.check_cpp_header(
            """provider info {
                keyword info = 3
                enum info : u8 { none = 0, info = 1, describe = 200 }
                event info info [info] { info: info? describe: u8 event: u8 eventlog: info }
                event describe info end { duration: i64 format duration info: text event: u16 }
            }"""
        )
        self.check_cpp_header(
            """provider backup {
                keyword disk = 1
                enum speed : u8 { slow = 0 }
                event backup info [disk] { backup: speed? }
                event other info [disk] { speeds: speed[3] }
            }"""
        )

    def test_documented_schema_compiles_with_documented_program(self):
        (schema,) = harness.read_blocks(DOCUMENT, "schema")
        (source,) = [text for text in harness.read_blocks(DOCUMENT, "c") if "main" in text]
        for name, text in (("spool.schema", schema), ("spool.c", source)):
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write(text)
        commands = [
            shlex.split(line, comments=True)
            for text in harness.read_blocks(DOCUMENT, "sh")
            for line in text.splitlines()
            if "spool.schema" in line
        ]
        self.assertEqual([command[1:3] for command in commands],
                         [["schema", "show"], ["schema", "gen"], ["schema", "gen"]])
        for command in commands:
            self.run_elog(*command[1:], cwd=self.scratch)
        self.assertTrue(os.path.exists(self.path("spool_trace.h")))
        self.compile("gcc", "-std=c11", *WARNINGS, f"-I{INCLUDE}", "-I.", "spool.c", "-o", "spool",
                     *LINK)
        lines = self.run_elog("record", "-e", "spool", "--", self.path("spool")).stdout.splitlines()
        self.assertEqual(
            [line.split(" spool:", 1)[1] for line in lines],
            ["stored number=1 size=2KiB", 'refused number=2 why=too_large sender="ann@example.org"'],
        )

    def compile_rust_library(self, name):
        rustc = "/usr/bin/rustc" if os.path.exists("/usr/bin/rustc") else "rustc"
        self.compile(rustc, "--edition", "2021", "-A", "dead_code", "--crate-type", "lib",
                     "--emit=metadata", name)

    def compile_in_all_languages(self, source):
        """Requires what is made from the schema to compile with each compiler."""
        with open(self.path("s.schema"), "w", encoding="utf-8") as file:
            file.write(source)
        for language, name in (("c", "s.h"), ("c++", "s.hpp"), ("python", "s.py"), ("rust", "s.rs")):
            self.generate(language, name, self.path("s.schema"))
        for suffix, name in (("h", "s.c"), ("hpp", "s.cpp")):
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write(f'#include "s.{suffix}"\n')
        # The header for C++ asserts that its schema has the hash of the text's.
        for compiler in ("g++", "clang++"):
            self.compile(compiler, "-std=c++20", *WARNINGS, f"-I{INCLUDE}", "-fsyntax-only", "s.cpp")
        for compiler in ("gcc", "clang"):
            self.compile(compiler, "-std=c11", *WARNINGS, f"-I{INCLUDE}", "-fsyntax-only", "s.c")
        with open(self.path("s.py"), encoding="utf-8") as file:
            ast.parse(file.read())
        self.compile_rust_library("s.rs")

    def test_enumerations_of_one_name_compile(self):
        self.compile_in_all_languages(
            """provider s {
                enum state : u8 { open = 0, shut = 1 }
                enum state_2 called state : u16 { off = 1, on = 300 }
                flags state_3 called state : u32 { low = 1, high = 0x80000000 }
                event e info { front: state kitchen: state_2 hall: state_3 others: state_2[2] }
            }"""
        )

    def test_hostile_texts_compile(self):
        # A backslash at the end of a comment makes the next line a part of it.
        pieces = ["\\\\", '\\"', "*/", "/*", "//", "'''", '\\"\\"\\"', "#", "%s", "{}", "$(x)", "`x`",
                  " ", "\\t", "\u00e9", "x", "]]", "\\n"]
        ends = ["\\\\", "a \\\\", "a \\\\ ", "a. \\\\\\\\"]
        for seed in range(9, 9 + harness.trials(1, 6)):
            chosen = random.Random(seed)
            texts = ["".join(chosen.choices(pieces, k=chosen.randint(1, 6))) for _ in range(40)]
            events = "".join(
                f'event e{i} info "{text}" when "{text}" '
                f'{{ a{i}: u8 "{text}" b{i}: u8 unit "{text}" c{i}: u8 }}\n'
                for i, text in enumerate(ends + texts))
            with self.subTest(seed=seed):
                self.compile_in_all_languages(f'provider s "a \\\\" {{\n{events}}}\n')

    def test_field_named_like_enumerator_compiles_in_rust(self):
        with open(self.path("s.schema"), "w", encoding="utf-8") as file:
            file.write("provider s { enum state : u8 { open = 0, None = 1 } "
                       "event e info { Open: state None: state? } }")
        self.generate("rust", "s.rs", self.path("s.schema"))
        self.compile_rust_library("s.rs")

    def usual_macros(self, compiler, language, options):
        """Names that are macros after the usual headers and after the headers that generated code
        includes, with parameters or without."""
        text = "".join(f"#include <{header}>\n" for header in USUAL_HEADERS + INCLUDED[language])
        result = subprocess.run(
            [compiler, "-x", language, *options, f"-I{INCLUDE}", "-D_GNU_SOURCE", "-dM", "-E", "-"],
            input=text, capture_output=True, encoding="utf-8", check=True,
        )
        names = set(re.findall(r"^#define (\w{1,60})\b", result.stdout, re.MULTILINE))
        expected = {"EOF", "assert", "INT_MAX", "errno", "stdin", "NULL", "major", "minor", "linux",
                    "unix", "EPERM", "__linux__"}
        self.assertLessEqual(expected, names)
        return sorted(names)

    def write_macro_schema(self, names):
        """Writes a schema that uses these names wherever a name is free."""
        types = ("u32", "text", "bytes", "i16[3]", "u8?", "text?", "f64", "kind", "u16[]")
        items = [f"keyword {name} = {bit}" for bit, name in enumerate(names[:48])]
        items.append("enum kind : u32 {" + ", ".join(
            f"{name} = {number}" for number, name in enumerate(names[:250])) + "}")
        in_an_event = 20
        for begin in range(0, len(names), in_an_event):
            part = names[begin:begin + in_an_event]
            fields = " ".join(f"{name}: {types[i % len(types)]}" for i, name in enumerate(part))
            keyword = f"[{names[begin // in_an_event]}] " if begin < 48 * in_an_event else ""
            items.append(f"event {part[0]} info {keyword}{{ {fields} }}")
        with open(self.path("macros.schema"), "w", encoding="utf-8") as file:
            file.write("provider macros {\n" + "\n".join(items) + "\n}\n")

    def check_macros(self, language, options, *compilers):
        """Requires names of macros to compile after the headers that define them."""
        suffix = {"c": "h", "c++": "hpp"}[language]
        for compiler in compilers:
            if shutil.which(compiler) is None:
                self.skipTest(f"{compiler} is not installed: ./dev setup")
            names = self.usual_macros(compiler, language, options)
            if language == "c++":
                # Two thirds of the macros are predefined by the compiler, and follow one rule.
                own = [name for name in names if name.startswith("_")]
                names = [name for name in names if name not in own] + own[::20]
            self.write_macro_schema(names)
            self.generate(language, f"macros.{suffix}", self.path("macros.schema"))
            with open(self.path(f"macros.{language}"), "w", encoding="utf-8") as file:
                file.write("".join(f"#include <{header}>\n" for header in USUAL_HEADERS))
                file.write(f'#include "macros.{suffix}"\n')
            self.compile(compiler, "-x", language, *options, "-D_GNU_SOURCE", *WARNINGS,
                         f"-I{INCLUDE}", "-fsyntax-only", f"macros.{language}")

    def test_macro_names_compile_in_c_after_system_headers(self):
        self.check_macros("c", ["-std=gnu11"], "gcc", "clang")

    def test_macro_names_compile_in_cpp_after_system_headers(self):
        # The header asserts that its schema, with all these names, has the hash of the text's.
        self.check_macros("c++", ["-std=gnu++20"], "g++", "clang++")

    def test_macro_names_are_emitted_unchanged(self):
        with open(self.path("m.schema"), "w", encoding="utf-8") as file:
            file.write("provider m { enum state : u8 { EOF = 1, delete = 2, open = 3 } "
                       "event errno info { EOF: u32 NULL: text major: state INT_MAX: bytes } }")
        self.generate("c", "m.h", self.path("m.schema"))
        self.generate("c++", "m.hpp", self.path("m.schema"))
        headers = "".join(f"#include <{header}>\n" for header in USUAL_HEADERS)
        with open(self.path("m.c"), "w", encoding="utf-8") as file:
            file.write(headers + '#include "m.h"\n'
                       'int main(void) { m_errno(7, "no", M_STATE_EOF, "ab", 2); return 0; }\n')
        with open(self.path("m.cpp"), "w", encoding="utf-8") as file:
            file.write(headers + '#include "m.hpp"\n'
                       "int main() {\n"
                       "    const std::byte bytes[] = {std::byte{0x61}, std::byte{0x62}};\n"
                       "    m::provider::emit(m::errno_{.EOF_ = 7, .NULL_ = \"no\", "
                       ".major = m::state::EOF_, .INT_MAX_ = bytes}); }\n")
        for compiler, source in (("gcc", "m.c"), ("g++", "m.cpp"), ("clang++", "m.cpp")):
            standard = "-std=c11" if source == "m.c" else "-std=c++20"
            self.compile(compiler, standard, *WARNINGS, f"-I{INCLUDE}", "-I.", source, "-o", "m",
                         *LINK)
            self.assertEqual(self.recorded("m", ["-e", "m:*"], self.path("m")),
                             ['errno EOF=7 NULL="no" major=EOF INT_MAX=<6162>'])
            self.assert_schema_arrived(self.path("m.schema"))

    def test_rejects_names_invalid_in_cpp(self):
        for items, complaint in (
            ("enum a : u8 {} event e info {}", "1:19: In C++ enumerations stand in the order"),
            ("enum a : u8 {} enum b : u8 {} event e info { b: b a: a }", "1:19: In C++ enumerations"),
            ("enum a : u8 {} event e info { b: a c: u16 as a }", "1:44: In C++ the enumeration a"),
            ("enum int : u8 {} event e info { b: int }", "1:19: int means something else in C++"),
            ("enum EOF : u8 {} event e info { b: EOF }", "1:19: EOF means something else in C++"),
            ("enum describe : u8 {} event e info { b: describe }",
             "1:19: In C++ describe is the function that describes an enumeration."),
            ("event e info { data: u8[] }", "1:29: A sequence of u8 is a byte string in C++, and data"),
            ("event e info { label: char[8] }", "1:29: An array of char is shown as a text in C++"),
            ('event e info "\\x00" {}', "1:20: A description in C++ cannot contain \\x00"),
            ("event e info session { session: u64 }", "1:20: A provider in C++ that has events of"),
            ('event e info session { session: u64 "d" } event session_begin info session_begin '
             'session "A session begins" when "the application opens a session" { session: u64 } '
             'event session_end info session_end session "A session ends" when "the application '
             'closes a session" { session: u64 }', "1:37: In C++ the session of an event is"),
            ("enum a : u16 { x = 1000, " + ", ".join(f"v{i} = {i}" for i in range(256)) +
             " } event e info { b: a }", "1:19: In C++ an enumeration has up to 256 values."),
            ("event e info {" + " ".join(f'f{i}: u8 unit "B"' for i in range(33)) + "}",
             "In C++ up to 32 fields of an event"),
        ):
            with open(self.path("p.schema"), "w", encoding="utf-8") as file:
                file.write(f"provider p {{ {items} }}")
            result = self.run_elog("schema", "gen", "--lang", "c++", self.path("p.schema"), status=1)
            self.assert_one_message(result.stderr, "p.schema:1:", complaint)

    def test_rejects_schema_error_with_position_and_writes_nothing(self):
        with open(self.path("p.schema"), "w", encoding="utf-8") as file:
            file.write("provider p {\n    event e info {\n        a: u9\n    }\n}\n")
        result = self.run_elog(
            "schema", "gen", "--lang", "c", self.path("p.schema"), "-o", self.path("out"), status=1
        )
        self.assert_one_message(result.stderr, "p.schema:3:12: A field's type is ", "not 'u9'.")
        self.assertFalse(os.path.exists(self.path("out")))

    def test_unknown_language_is_a_usage_error(self):
        result = self.run_elog("schema", "gen", "--lang", "cobol", ZOO, status=2)
        self.assert_one_message(result.stderr, "'cobol' is no language")


if __name__ == "__main__":
    harness.main()
