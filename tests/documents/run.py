#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles the C++ in a document.

usage: run.py DOCUMENT.md -- COMPILER [FLAGS...]

A block ```cpp in which `int main` stands is a program, and compiled alone. The others are pieces of
one file, in their order, as a reader would write them.
"""

import os
import re
import subprocess
import sys

FENCE = re.compile(r"^```(\S*)\s*$")
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]


def read_blocks(path):
    """Line number and text of each block of C++."""
    blocks, language, begin, lines = [], None, 0, []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            fence = FENCE.match(line)
            if fence is None:
                lines.append(line)
            elif language is None:
                language, begin, lines = fence[1], number + 1, []
            else:
                if language in ("c++", "cxx", "C++", "hpp", "cc"):
                    sys.exit(f"{path}:{begin}: begin it with ```cpp, so that it is compiled")
                if language == "cpp":
                    blocks.append((begin, "".join(lines)))
                language = None
    if language is not None:
        sys.exit(f"{path}:{begin}: the block has no end")
    return blocks


def translation_units(path, blocks):
    """Each is a text that says where its lines come from."""
    pieces = ""
    for begin, text in blocks:
        placed = f'#line {begin} "{path}"\n{text}'
        if re.search(r"\bint main\b", text):
            yield placed
        else:
            pieces += placed
    if pieces:
        yield pieces


def main():
    if len(sys.argv) < 4 or sys.argv[2] != "--":
        sys.exit(__doc__)
    path, command = sys.argv[1], sys.argv[3:]
    blocks = read_blocks(path)
    if not blocks:
        sys.exit(f"{path}: has no block that begins with ```cpp. Take it off the list.")
    failed = False
    for unit in translation_units(path, blocks):
        result = subprocess.run(
            [*command, *WARNINGS, "-std=c++20", "-fsyntax-only", "-x", "c++", "-"],
            input=unit,
            env={**os.environ, "LC_ALL": "C"},
            encoding="utf-8",
            check=False,
        )
        failed = failed or result.returncode != 0
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
