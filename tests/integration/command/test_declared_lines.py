#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Schemas name the lines that declare events, whatever paths a compiler gets."""

import os
import re

import compiling
import harness
from compiling import INCLUDE, LINK, WARNINGS


class DeclaredLines(compiling.Case):
    def generate(self, name):
        self.run_elog("schema", "gen", "--lang", "c++", self.path("s.schema"), "--force", "-o",
                      self.path(name))

    def check_sources(self, schema, compiler):
        """Requires code that names no lines, and the hash of the text without its own."""
        with open(self.path("s.schema"), "w", encoding="utf-8") as file:
            file.write(schema)
        self.generate("with.hpp")
        with open(self.path("s.schema"), "w", encoding="utf-8") as file:
            file.write(re.sub(r' at ".*?":\d+', "", schema))
        self.generate("without.hpp")
        with open(self.path("with.hpp"), encoding="utf-8") as one, \
                open(self.path("without.hpp"), encoding="utf-8") as other:
            self.assertEqual(one.read(), other.read())
        with open(self.path("s.cpp"), "w", encoding="utf-8") as file:
            file.write('#include "with.hpp"\nint main() { spool::provider::emit(spool::done{}); }\n')
        # The header asserts that its schema has the hash of the text's.
        self.compile(compiler, "-std=c++20", *WARNINGS, f"-I{INCLUDE}", "-fsyntax-only", "s.cpp")

    def test_code_ignores_the_lines_that_declare_events(self):
        schema = ('provider spool "A spool" at "spool.cpp":3 {\n'
                  '    event done info at "done.hpp":70 {}\n'
                  '    event failed warn "It failed" at "failed.hpp":71 { code: i32 }\n}\n')
        for compiler in ("g++", "clang++"):
            self.check_sources(schema, compiler)

    def check_paths_of_a_header(self, compiler):
        for folder in ("include", "one", "one/more"):
            os.makedirs(self.path(folder), exist_ok=True)
        for name, text in (
            ("include/spool.hpp", "#include <eventlog/eventlog.hpp>\n"
             "struct done {\n    static constexpr eventlog::event_info info{\n"
             '        .description = "It is done"};\n    int number;\n};\n'
             'using spool = eventlog::provider<"spool", done>;\n'),
            ("one/more/first.cpp", '#include "../../include/spool.hpp"\n'
             "void second();\nint main() { spool::emit(done{1}); second(); }\n"),
            ("one/second.cpp", "#include <spool.hpp>\nvoid second() { spool::emit(done{2}); }\n"),
        ):
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write(text)
        options = ["-std=c++20", "-O0", *WARNINGS, f"-I{INCLUDE}"]
        program = self.path("spool")
        # The linker keeps the first schema, and the second program has it in the other order.
        for objects in (["first.o", "second.o"], ["second.o", "first.o"]):
            self.compile(compiler, *options, "-c", self.path("one/more/first.cpp"), "-o", "first.o")
            self.compile(compiler, *options, "-Iinclude", "-c", "one/second.cpp", "-o", "second.o")
            self.compile(compiler, *objects, *LINK, "-o", program)
            text = self.run_elog("schema", "show", program).stdout
            self.assertIn('    event done info "It is done" at "spool.hpp":4 {\n', text)
            self.assertEqual(self.recorded("spool", ["-e", "spool:*"], program),
                             ["done number=1", "done number=2"])

    def test_one_header_by_two_paths_has_one_schema(self):
        for compiler in ("g++", "clang++"):
            self.check_paths_of_a_header(compiler)


if __name__ == "__main__":
    harness.main()
