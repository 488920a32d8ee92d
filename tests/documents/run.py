#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles the code in a document.

usage: run.py DOCUMENT -- C++-COMPILER [FLAGS...]

The code, by the kind of document:

  Markdown        a block ```cpp; one with `int main` is a program, and compiled alone; a
                  block ```c that includes a header of eventlog is a program in C
  header          lines of a comment that are indented by five spaces, after an empty line of it
  manual page     the text between .Bd -literal, without an -offset, and .Ed

The blocks of a document are parts of one file, in their order. In headers and manual pages,
which have no room for a surrounding function, statements become a function's body; a block with
:: is C++, another one C. The declarations that the blocks need are in assumed/DOCUMENT, with
.hpp or .h added if it lacks that ending. A header is compiled alone, too: it must include what
it needs.
"""

import os
import re
import subprocess
import sys

FENCE = re.compile(r"^```(\S*)\s*$")
COMMENT = re.compile(r"^\s*(///|//|\*)(?: (.*))?$")
COMMENTED = re.compile(r"\s*(//.*|/\*.*\*/\s*)$")
DECLARATION = re.compile(
    r"(struct|class|enum|using|template|namespace|constinit|consteval|constexpr|inline|static|const|"
    r"extern)\b"
)
ROFF = {r"\e": "\\", r"\(dq": '"', r"\(aq": "'", r"\&": "", r"\-": "-"}
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
OURS = re.compile(r"^#include <eventlog/", re.MULTILINE)
TABLE = re.compile(r"^static const struct \w+ (\w+)\[", re.MULTILINE)
ASSUMED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "assumed")


def read_markdown(path, lines):
    """(language, line number, text) of each block to compile."""
    blocks, language, begin, block = [], None, 0, []
    for number, line in enumerate(lines, 1):
        fence = FENCE.match(line)
        if fence is None:
            block.append(line)
        elif language is None:
            language, begin, block = fence[1], number + 1, []
        else:
            if language in ("c++", "cxx", "C++", "hpp", "cc"):
                sys.exit(f"{path}:{begin}: begin it with ```cpp, so that it is compiled")
            if language == "cpp" or language == "c" and OURS.search("".join(block)):
                blocks.append((language, begin, block))
            language, block = None, []
    if language is not None:
        sys.exit(f"{path}:{begin}: the block has no end")
    return blocks


def read_header(lines):
    blocks, before, inside = [], None, False
    for number, line in enumerate(lines, 1):
        comment = COMMENT.match(line)
        text = None if comment is None else (comment[2] or "")
        begins = before == "" and text is not None and re.match(r" {4}\S", text)
        if begins and not inside:
            blocks.append((number, []))
        inside = text is not None and (bool(begins) or inside and text[:4].isspace() or
                                       inside and text == "")
        if inside:
            blocks[-1][1].append(text[4:] + "\n")
        before = text
    return blocks


def read_manual(path, lines):
    blocks, inside = [], False
    for number, line in enumerate(lines, 1):
        if line.rstrip() == ".Bd -literal":
            blocks.append((number + 1, []))
            inside = True
        elif line.startswith(".Ed"):
            inside = False
        elif inside:
            if line.startswith("."):
                sys.exit(f"{path}:{number}: a request inside of code")
            for escaped, plain in ROFF.items():
                line = line.replace(escaped, plain)
            blocks[-1][1].append(line)
    if not blocks:
        sys.exit(f"{path}: has no .Bd -literal without -offset. Take it off the list.")
    return blocks


def statements(begin, lines):
    """(line number, text) of declarations and statements; each starts at the margin."""
    found, ended = [], True
    for number, line in enumerate(lines, begin):
        if ended and line.strip() and not line[0].isspace() and line[0] != "}":
            found.append((number, []))
        if found:
            found[-1][1].append(line)
        code = COMMENTED.sub("", line.rstrip())
        ended = code.endswith((";", "}")) or (ended and not code)
    return found


def with_line_directive(path, begin, lines):
    return f'#line {begin} "{path}"\n{"".join(lines)}'


def enclosed(path, begin, lines):
    """A block as a part of a file: declarations, then a function with everything else."""
    declared, done = "", ""
    for number, part in statements(begin, lines):
        first = next((line for line in part if COMMENTED.sub("", line).strip()), "")
        if DECLARATION.match(first):
            declared += with_line_directive(path, number, part)
        else:
            done += with_line_directive(path, number, part)
    function = f"void piece_{begin}(void);\nvoid piece_{begin}(void) {{\n{done}}}\n"
    return declared + (function if done else "")


def assumed_declarations(path, ending):
    name = os.path.basename(path)
    file = os.path.join(ASSUMED, name if name.endswith(ending) else name + ending)
    return f'#include "{file}"\n' if os.path.exists(file) else ""


def markdown_units(path, blocks):
    """(language, text with line directives) of each unit."""
    pieces = ""
    for language, begin, lines in blocks:
        text = with_line_directive(path, begin, lines)
        if language == "c":
            yield "c", text
        elif re.search(r"\bint main\b", text):
            yield "c++", text
        else:
            pieces += text
    if pieces:
        yield "c++", pieces


def var_field_units(path, blocks):
    for language, ending in (("c++", ".hpp"), ("c", ".h")):
        pieces = [
            enclosed(path, begin, lines)
            for begin, lines in blocks
            if ("::" in "".join(lines)) == (language == "c++")
        ]
        if pieces:
            yield language, assumed_declarations(path, ending) + "".join(pieces)


def translation_units(path):
    with open(path, encoding="utf-8") as file:
        lines = file.readlines()
    if path.endswith(".md"):
        return markdown_units(path, read_markdown(path, lines))
    if path.endswith((".h", ".hpp")):
        # A declaration, because a unit in C is not empty, and a header may have macros only.
        alone = ("c++" if path.endswith(".hpp") else "c",
                 f'#include "{path}"\nextern const int not_empty;\n')
        return [alone, *var_field_units(path, read_header(lines))]
    return var_field_units(path, read_manual(path, lines))


def use_of_tables(unit):
    """Uses the tables of a unit, as the reader's code would."""
    uses = [f"const void *use_{name}(void);\nconst void *use_{name}(void) {{ return {name}; }}\n"
            for name in sorted(set(TABLE.findall(unit)))]
    return "\n" + "".join(uses)


def main():
    if len(sys.argv) < 4 or sys.argv[2] != "--":
        sys.exit(__doc__)
    path, command = sys.argv[1], sys.argv[3:]
    failed = False
    for language, unit in translation_units(path):
        standard = {"c++": ["-std=c++20"], "c": ["-std=c11"]}[language]
        if language == "c":
            unit += use_of_tables(unit)
        result = subprocess.run(
            [*command, *WARNINGS, *standard, "-fsyntax-only", "-x", language, "-"],
            input=unit,
            env={**os.environ, "LC_ALL": "C"},
            encoding="utf-8",
            check=False,
        )
        failed = failed or result.returncode != 0
        print(f"{path}: {unit.count('#line')} pieces in {language}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
