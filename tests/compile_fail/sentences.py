#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that each static_assert message of the headers has a file that triggers it.

usage: sentences.py HEADERS...

HEADERS are folders of public headers. Each message in them must contain the `// expect: TEXT` of
one of the files next to this one.
"""

import pathlib
import re
import sys

LITERAL = r'"(?:[^"\\]|\\.)*"'
SENTENCE = re.compile(rf'"(?:eventlog|libelog): (?:[^"\\]|\\.)*"(?:\s*{LITERAL})*')


def sentences_in(text):
    """The messages, joined from their literals."""
    for found in SENTENCE.finditer(text):
        yield "".join(literal[1:-1] for literal in re.findall(LITERAL, found.group()))


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    cases = pathlib.Path(__file__).resolve().parent.rglob("*.cpp")
    expected = [
        text
        for case in cases
        for text in re.findall(
            r"^\s*// expect: (.*\S)\s*$", case.read_text(encoding="utf-8"), re.MULTILINE
        )
    ]
    sentences = set()
    for folder in sys.argv[1:]:
        found = {
            sentence
            for header in pathlib.Path(folder).rglob("*.hpp")
            for sentence in sentences_in(header.read_text(encoding="utf-8"))
        }
        if not found:
            sys.exit(f"{folder}: no header here refuses anything")
        sentences |= found
    missing = [
        sentence for sentence in sentences if not any(text in sentence for text in expected)
    ]
    if missing:
        sys.exit("\n".join(f"no case expects: {sentence}" for sentence in sorted(missing)))


if __name__ == "__main__":
    main()
