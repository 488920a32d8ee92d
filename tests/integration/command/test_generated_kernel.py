#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Code of elog schema gen --lang kernel-c compiles as part of a module for every kernel with installed
headers, and defines trace events with the fields of the schema.

EVENTLOG_KERNEL_HEADERS names more headers, with : between the directories.
"""

import glob
import os
import re
import shutil
import subprocess

import harness
from kernel_object import KernelObject

GENERATED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "generated")
ZOO = os.path.join(GENERATED, "kernel_zoo.schema")
DOCUMENT = "docs/how-to/generate-code.md"
KBUILD = "obj-m := kernel_zoo.o\nccflags-y := -I$(src) -Werror\n"

TYPES = {
    "bool": ("bool", 1), "char": ("char", 1), "i8": ("s8", 1), "u8": ("u8", 1),
    "i16": ("s16", 2), "u16": ("u16", 2), "i32": ("s32", 4), "u32": ("u32", 4),
    "i64": ("s64", 8), "u64": ("u64", 8),
    "text": ("__data_loc char[]", 4), "bytes": ("__data_loc u8[]", 4),
}
ADDRESSES = {"ip4": 4, "ip6": 16, "mac": 6}
# The count of a sequence is empty.
FIELD = re.compile(r"^        (\w+): (\w+)(?: as \w+)?(?:\[(\d*)\])?(\?)?")


def find_headers():
    """The folders of kernel headers, one per kernel version, not only of the running kernel."""
    places = glob.glob("/usr/src/linux-headers-*") + glob.glob("/lib/modules/*/build")
    places += filter(None, os.environ.get("EVENTLOG_KERNEL_HEADERS", "").split(":"))
    return sorted(
        {
            os.path.realpath(place)
            for place in places
            if os.path.exists(os.path.join(place, "Makefile"))
            and os.path.exists(os.path.join(place, ".config"))
        }
    )


def read_layout(text):
    """{event: its expected fields in the kernel, by the rule of elog-schema(5)}"""
    enumerations = dict(re.findall(r"^    (?:enum|flags) (\w+)(?: called \w+)? : (\w+)", text, re.M))
    layout, fields = {}, []
    for line in text.splitlines():
        if event := re.match(r"    event (\w+) ", line):
            fields = layout[event[1]] = []
        elif layout and (field := FIELD.match(line)):
            fields.append(field.groups())
    return {event: place(fields, enumerations) for event, fields in layout.items()}


def place(fields, enumerations):
    sized = []
    for name, word, count, _optional in fields:
        word = enumerations.get(word, word)
        if word in ADDRESSES:
            word, count = "u8", ADDRESSES[word]
        kernel_type, size = TYPES[word]
        if count == "":
            kernel_type, size = f"__data_loc {kernel_type}[]", 4
        array = f"[{count}]" if count else ""
        sized.append((size, kernel_type + array, name, size * int(count or 1)))
    placed, offset = [], 0
    for alignment in (8, 4, 2, 1):
        for unit, kernel_type, name, size in sized:
            if unit == alignment:
                placed.append((kernel_type, name, offset, size))
                offset += size
    names = {name for name, *_ in fields}
    for name, _word, _count, optional in fields:
        if optional:
            presence = "has_" + name
            while presence in names:
                presence += "_"
            placed.append(("bool", presence, offset, 1))
            offset += 1
    return placed


class GeneratedKernel(harness.Case):
    def setUp(self):
        super().setUp()
        self.headers = find_headers()

    def need_headers(self):
        if not self.headers:
            self.skipTest(
                "there are no kernel headers in /usr/src or /lib/modules: ./dev setup installs "
                "Debian's linux-headers-amd64"
            )
        if shutil.which("make") is None:
            self.skipTest("make is not installed: ./dev setup")

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def prepare(self, folder):
        """Writes a module's sources; returns the path of its header."""
        os.mkdir(self.path(folder))
        header = self.path(os.path.join(folder, "kernel_zoo.h"))
        self.run_elog("schema", "gen", "--lang", "kernel-c", ZOO, "--force", "-o", header)
        shutil.copy(os.path.join(GENERATED, "kernel_zoo.c"), self.path(folder))
        self.write(os.path.join(folder, "Kbuild"), KBUILD)
        return header

    def make(self, headers, folder):
        # BTF for modules needs pahole, and is not tested here.
        return subprocess.run(
            ["make", "-C", headers, f"M={self.path(folder)}", "W=1",
             "CONFIG_DEBUG_INFO_BTF_MODULES=", "modules"],
            capture_output=True, encoding="utf-8", check=False,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C"},
        )

    def test_compiles_without_a_warning_for_every_kernel(self):
        self.need_headers()
        for number, headers in enumerate(self.headers):
            with self.subTest(headers):
                folder = f"module{number}"
                self.prepare(folder)
                result = self.make(headers, folder)
                self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
                self.assertNotIn("warning: ", result.stderr)
                module = self.path(os.path.join(folder, "kernel_zoo.ko"))
                self.check_fields(KernelObject(module))

    def check_fields(self, module):
        """Compares names, types, offsets and sizes with the schema."""
        layout = read_layout(self.run_elog("schema", "show", ZOO).stdout)
        self.assertEqual(len(layout), 10)
        self.assertEqual(module.system("kernel_zoo"), "eventlog")
        self.assertEqual(module.events(), sorted("kernel_zoo_" + event for event in layout))
        for event, fields in layout.items():
            self.assertEqual(module.fields("kernel_zoo_" + event), fields, event)
            text = module.print_format("kernel_zoo_" + event)
            for kernel_type, name, _offset, _size in fields:
                read = f"({name})" if kernel_type.startswith("__data_loc") else f"REC->{name}"
                self.assertIn(read, text)

    def test_documented_schema_compiles_with_documented_module(self):
        self.need_headers()
        (schema,) = harness.read_blocks(DOCUMENT, "schema")
        (source,) = [
            text for text in harness.read_blocks(DOCUMENT, "c") if "module_init" in text
        ]
        os.mkdir(self.path("documented"))
        self.run_elog("schema", "gen", "--lang", "kernel-c", self.write("spool.schema", schema),
                      "-o", self.path("documented/spool_trace.h"))
        self.write("documented/spool.c", source)
        self.write("documented/Kbuild", KBUILD.replace("kernel_zoo", "spool"))
        result = self.make(self.headers[0], "documented")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        module = KernelObject(self.path("documented/spool.ko"))
        self.assertEqual(module.events(), ["spool_refused", "spool_stored"])

    def test_two_providers_are_defined_in_one_source(self):
        self.need_headers()
        os.mkdir(self.path("two"))
        items = """ {
            enum e : u8 { a = 0 }
            event e info truncates {
                v: text f: e n: u32 format ip_address r: i32 format error_number
            }
        }"""
        for name in ("one", "other"):
            source = self.write(f"{name}.schema", "provider " + name + items)
            self.run_elog("schema", "gen", "--lang", "kernel-c", source, "-o", self.path(f"two/{name}.h"))
        self.write(
            "two/two.c",
            "#include <linux/module.h>\n#define CREATE_TRACE_POINTS\n#include \"one.h\"\n"
            '#include "other.h"\nMODULE_LICENSE("GPL");\nMODULE_DESCRIPTION("two");\n',
        )
        self.write("two/Kbuild", KBUILD.replace("kernel_zoo", "two"))
        result = self.make(self.headers[0], "two")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        module = KernelObject(self.path("two/two.ko"))
        self.assertEqual(module.events(), ["one_e", "other_e"])

    def build_module(self, name, schema):
        """A module of a folder of that name, which exists, with the events of the schema."""
        source = self.write(f"{name}.schema", schema)
        self.run_elog("schema", "gen", "--lang", "kernel-c", source, "-o",
                      self.path(f"{name}/events.h"))
        self.write(
            f"{name}/{name}.c",
            "#include <linux/module.h>\n#define CREATE_TRACE_POINTS\n#include \"events.h\"\n"
            f'MODULE_LICENSE("GPL");\nMODULE_DESCRIPTION("{name}");\n',
        )
        self.write(f"{name}/Kbuild", KBUILD.replace("kernel_zoo", name))
        result = self.make(self.headers[0], name)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return KernelObject(self.path(f"{name}/{name}.ko"))

    def test_hostile_texts_compile(self):
        self.need_headers()
        os.mkdir(self.path("texts"))
        # A backslash at the end of a comment makes the next line a part of it.
        texts = ["\\\\", "a \\\\ ", "*/ #error \\\"", "/* //", "a\\n#error b\\r#error c", "%s %n", "\\x1b[2J",
                 "\\xe2\\x80\\xae", "@a: b", "\\n */ #error", "$(x) `x`", "??/"]
        units = ["%s", "%", "*/", "//", "??/", "'", "REC->a", "$(x)", "(", ",", "#a", "\\xc3\\xa9"]
        events = "".join(
            f'event e{i} info "{text}" when "{text}" {{ a: u8 "{text}" b: kind unit "{unit}" }}\n'
            for i, (text, unit) in enumerate(zip(texts, units)))
        module = self.build_module("texts", f'provider texts "{texts[0]}" {{\n'
                                            f'enum kind : u8 {{ a = 0, b = 1 }}\n{events}}}\n')
        self.assertEqual(module.events(), sorted(f"texts_e{i}" for i in range(len(texts))))
        for event in module.events():
            self.assertEqual([field[1] for field in module.fields(event)], ["a", "b"])

    def test_fields_named_like_user_space_macros_compile(self):
        self.need_headers()
        os.mkdir(self.path("names"))
        names = ["EOF", "BUFSIZ", "RTT", "assert", "errno", "stdin", "major", "minor", "makedev"]
        fields = " ".join(f"{name}: u32" for name in names)
        module = self.build_module("names", f"provider names {{ event e info {{ {fields} }} "
                                            f"event errno info {{ {fields} }} }}")
        for event in ("names_e", "names_errno"):
            self.assertEqual([field[1] for field in module.fields(event)], names)

    def macros_in(self, headers):
        """Names that the headers included by generated code define as macros."""
        header = self.prepare("macros")
        result = subprocess.run(
            ["make", "-C", headers, f"M={os.path.dirname(header)}", "KCFLAGS=-dM", "kernel_zoo.i"],
            capture_output=True, encoding="utf-8", check=False,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C"},
        )
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        with open(self.path("macros/kernel_zoo.i"), encoding="utf-8") as file:
            defined = re.findall(r"^#define (\w+)(?: (.*))?$", file.read(), re.M)
        names = {name for name, text in defined if text != name}
        # Without the header's own macros for this provider, and those of compilers.
        return {name for name in names if not re.match(r"_|TRACE_|TP_|(?i:.*zoo)", name)}

    def test_rejects_fields_named_like_kernel_macros(self):
        self.need_headers()
        # The list is from Linux 6.1; other versions have other macros.
        headers = [path for path in self.headers if "-6.1." in os.path.basename(path)]
        if not headers:
            self.skipTest("there are no headers of Linux 6.1: ./dev setup")
        names = self.macros_in(headers[0])
        self.assertLessEqual(
            {"current", "SIGKILL", "POLLIN", "si_pid", "rcu_head", "MSR_EFER", "EPERM"}, names
        )
        families = {name for name in names if re.fullmatch(r"(?=.*_)[A-Z0-9_]+|arch_.*", name)}
        some = sorted(names - families)[::7] + sorted(families)[::500]
        self.assertGreater(len(some), 100)
        for name in some:
            with self.subTest(name):
                source = self.write("m.schema", f"provider p {{ event e info {{ {name}: u8 }} }}")
                result = self.run_elog("schema", "gen", "--lang", "kernel-c", source, status=1)
                self.assert_one_message(
                    result.stderr, "m.schema:1:29: The kernel shows fields by their names in C"
                )

    def test_misplaced_field_does_not_compile(self):
        self.need_headers()
        header = self.prepare("module")
        with open(header, encoding="utf-8") as file:
            text = file.read()
        swapped = text.replace(
            "\t\t__field(s32, i4)\n\t\t__field(u32, u4)\n",
            "\t\t__field(u32, u4)\n\t\t__field(s32, i4)\n",
        )
        self.assertNotEqual(swapped, text)
        self.write("module/kernel_zoo.h", swapped)
        result = self.make(self.headers[0], "module")
        self.assertNotEqual(result.returncode, 0)
        self.assertRegex(result.stderr, r"static assertion failed: .*trace_event_raw_kernel_zoo_numbers")

    def test_has_valid_kernel_doc_comments(self):
        self.need_headers()
        scripts = [
            script
            for headers in self.headers
            if os.path.exists(script := os.path.join(headers, "scripts", "kernel-doc"))
        ]
        if not scripts or shutil.which("perl") is None:
            self.skipTest("these kernel headers have no scripts/kernel-doc, or there is no perl")
        header = self.prepare("module")
        result = subprocess.run(
            [scripts[0], "-none", header], capture_output=True, encoding="utf-8", check=False
        )
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_respects_kernel_line_width(self):
        header = self.prepare("module")
        with open(header, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                self.assertLessEqual(len(line.rstrip("\n").expandtabs(8)), 100, f"{number}: {line}")
                self.assertEqual(line, line.rstrip() + "\n")
                self.assertNotRegex(line, r"^        ")

    def test_documents_level_keywords_and_meaning(self):
        header = self.prepare("module")
        with open(header, encoding="utf-8") as file:
            text = file.read()
        self.assertIn(
            "/**\n * kernel_zoo_numbers - All numbers\n * @b: bool\n", text
        )
        self.assertIn(
            " * Logged when the zoo is counted.\n * Level info, keywords animals plants.\n */\n"
            "TRACE_EVENT(kernel_zoo_numbers,\n",
            text,
        )

    def test_default_file_name_is_that_of_provider(self):
        text = self.run_elog("schema", "gen", "--lang", "kernel-c", ZOO).stdout
        self.assertIn("#define TRACE_INCLUDE_FILE eventlog_kernel_zoo\n", text)

    def test_unsuitable_output_file_is_a_usage_error(self):
        for name in ("kernel-zoo.h", "kernel_zoo.c", "kernel_zoo"):
            result = self.run_elog(
                "schema", "gen", "--lang", "kernel-c", ZOO, "-o", self.path(name), status=2
            )
            self.assert_one_message(result.stderr, "-o eventlog_kernel_zoo.h", f"not {name}.")
            self.assertFalse(os.path.exists(self.path(name)))

    def test_rejects_unsupported_types(self):
        for items, complaint in (
            ("event e info { f: f32 }", "1:29: The kernel computes nothing in floating point"),
            ("event e info { f: f64[2]? }", "1:29: The kernel computes nothing in floating point"),
            ("event e info { default: u8 }", "1:29: The kernel shows fields by their names in C"),
            ("event e info { current: u8 }", "1:29: The kernel shows fields by their names in C"),
            ("event e info { __x: u8 }", "1:29: The kernel shows fields by their names in C"),
            ("event e info { EPERM: u8 }", "1:29: The kernel shows fields by their names in C"),
            ("event e info { INT_MAX: u8 }", "1:29: The kernel shows fields by their names in C"),
            ("event e info { NULL: u8 }", "1:29: The kernel shows fields by their names in C"),
            ("event e info { linux: u8 }", "1:29: The kernel shows fields by their names in C"),
            ("event e info { SIGKILL: u8 }", "1:29: The kernel shows fields by their names in C"),
            ("event e info { POLLIN: u8 }", "1:29: The kernel shows fields by their names in C"),
            ("event e info { si_pid: u8 }", "1:29: The kernel shows fields by their names in C"),
            ("event e info { rcu_head: u8 }", "1:29: The kernel shows fields by their names in C"),
            ("event e info { MSR_EFER: u8 }", "1:29: The kernel shows fields by their names in C"),
            ("event e info { READ: u8 }", "1:29: The kernel shows fields by their names in C"),
            ("event e info { ent: u8 }", "1:29: The kernel shows fields by their names in C"),
            ("event e info { common_pid: u8 }", "1:29: The kernel shows fields by their names in C"),
            ("event e info truncates { a: text a_ptr_: text }", "1:47: The kernel's macros need the name"),
            ('event e info { a: u8 unit "\\"" }', "1:29: The unit of a stands in the format"),
            ('event e info { a: u8 unit "\\xe2\\x80\\xae" }', "1:29: The unit of a stands in the format"),
            ('event e info { a: u8 unit "\\n" }', "1:29: The unit of a stands in the format"),
            ("event e info { a: text }", "1:20: The kernel would drop this event silently"),
            ("event e info { a: bytes? }", "1:20: The kernel would drop this event silently"),
            ("event e info { a: u32[] }", "1:20: The kernel would drop this event silently"),
            ("event e info truncates { a: f32[] }", "1:39: The kernel computes nothing in floating point"),
            ("event e info truncates { a: u64[499] b: u16[] }", "1:20: The fields of this event take 4012"),
            ("event e info { a: u64[501] }", "1:20: The fields of this event take 4008 bytes"),
            ("event e info truncates { a: u64[499] b: text }", "1:20: The fields of this event take 4012"),
            ("event e info {} event e_enabled info {}", "1:36: The kernel has a function trace_p_e_en"),
        ):
            source = self.write("p.schema", f"provider p {{ {items} }}")
            result = self.run_elog("schema", "gen", "--lang", "kernel-c", source, status=1)
            self.assert_one_message(result.stderr, "p.schema:1:", complaint)
            self.assertEqual(result.stdout, "")

    def test_accepts_largest_fields(self):
        source = self.write(
            "p.schema", "provider p { event e info truncates { a: u64[495] b: text c: bytes } }"
        )
        text = self.run_elog("schema", "gen", "--lang", "kernel-c", source).stdout
        self.assertIn("p_text_size(b, 16)", text)

    def test_cuts_sequences_between_elements(self):
        source = self.write("p.schema", "provider p { event e info truncates { a: u64[] b: i16[]? } }")
        text = self.run_elog("schema", "gen", "--lang", "kernel-c", source).stdout
        # Each has half of 4000 bytes less the fixed part.
        self.assertIn("__dynamic_array(u64, a, p_bytes_size(a, a_count, 249))\n", text)
        self.assertIn("__dynamic_array(s16, b, p_bytes_size(b, b_count, 997))\n", text)
        self.assertIn("const s16 *b, size_t b_count", text)


if __name__ == "__main__":
    harness.main()
