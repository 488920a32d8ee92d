#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rejects words for which vocabulary.txt names a better term.

usage: vocabulary.py [PROJECT]
"""

import fnmatch
import pathlib
import re
import sys

from problems import report
from structure import files_of

# Texts from elsewhere, and the list of words itself.
EXCLUDED = re.compile(r"LICENSES/|tests/fuzz/corpus/|scripts/lint/vocabulary\.txt$")
WORD = re.compile(r"[a-z]+(?:'[a-z]+)?", re.I)


def read_words(text, where):
    """{word: (term, exceptions)}, of lines WORD[, WORD...] -> TERM [| EXCEPTION...]."""
    words = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        listed, arrow, rest = line.partition(" -> ")
        term, _, exceptions = rest.partition(" | ")
        if not arrow or not term.strip():
            sys.exit(f"{where}:{number}: the line has not the form WORD[, WORD...] -> TERM "
                     "[| EXCEPTION...].")
        for word in listed.split(","):
            words[word.strip().lower()] = (term.strip(), exceptions.split())
    return words


def words_of(line):
    """The words of a line, including those of identifiers: eventlog_is_enabled has three."""
    return [word.lower() for word in WORD.findall(line.replace("_", " "))]


def problems_in(path, text, words):
    for number, line in enumerate(text.splitlines(), 1):
        for word in words_of(line):
            if word in words:
                term, exceptions = words[word]
                if not any(fnmatch.fnmatch(path, pattern) for pattern in exceptions):
                    yield f'{path}:{number}: "{word}": write about {term} instead.'


def find_problems(project):
    listed = pathlib.Path(__file__).resolve().parent / "vocabulary.txt"
    words = read_words(listed.read_text(encoding="utf-8"), listed.name)
    problems = []
    for path in files_of(project):
        if EXCLUDED.match(path):
            continue
        try:
            text = (project / path).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        problems += problems_in(path, text, words)
    return problems


if __name__ == "__main__":
    report(find_problems)
