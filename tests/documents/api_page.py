#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that docs/api.md lists every public name of the headers, and no other.

usage: api_page.py PAGE HEADERS

HEADERS is the folder of the public headers. A section of PAGE, `## FILE`, has a table with the
names of that header: `| `name` | purpose | manual page |`. Public names are the types, functions,
variables and macros outside of namespace detail. Members and enumerators belong to their types.
"""

import os
import re
import sys

from man_pages import PROTOTYPE

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
TEXT = re.compile(r'R"\(.*?\)"|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)\'', re.DOTALL)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(EVENTLOG_\w+)", re.MULTILINE)
GUARD = re.compile(r"^EVENTLOG_\w+_H$")
TYPE = re.compile(r"(?:enum\s+(?:class|struct)|enum|struct|class|union)\s+(?:EVENTLOG_\w+\s+)?(\w+)")
ROW = re.compile(r"^\| `(\w+)` \| (.*\S) \| (\S.*\S) \|$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)]+)\)")


def without_brackets(text):
    """Without template parameters, arguments and attributes."""
    text = re.sub(r"\[\[.*?\]\]", " ", text, flags=re.DOTALL)
    previous = None
    while previous != text:
        previous, text = text, re.sub(r"<[^<>]*>", " ", text)
    return text


def name_of(declaration):
    """The name that a declaration at the scope of a namespace declares; None for none."""
    text = " ".join(without_brackets(declaration).split())
    text = re.sub(r"^(?:template )+", "", text)
    text = re.sub(r"\brequires ?(?:\((?:[^()]|\([^()]*\))*\)|[\w:]+)", "", text).strip()
    if not text or text.startswith(("static_assert", "namespace")):
        return None
    alias = re.match(r"using (\w+) ?=", text)
    kind = TYPE.match(text)
    if alias or kind and "(" not in text:
        return (alias or kind)[1]
    found = re.search(r"([\w:]+) ?\(", text.partition("=")[0]) or re.search(
        r"([\w:]+) ?$", text.partition("=")[0].partition("{")[0].strip())
    return None if found is None or "::" in found[1] else found[1]


def declarations(code):
    """The declarations at the scope of namespaces other than detail, without their bodies."""
    begin, at, skipped, parentheses = 0, 0, 0, 0
    while at < len(code):
        if skipped:
            skipped += {"{": 1, "}": -1}.get(code[at], 0)
            if skipped == 0:
                begin = at + 1
        elif parentheses or code[at] == "(":
            parentheses += {"(": 1, ")": -1}.get(code[at], 0)
        elif code[at] == ";":
            yield code[begin:at]
            begin = at + 1
        elif code[at] == "}":
            begin = at + 1
        elif code[at] == "{":
            head = code[begin:at].strip()
            inside = re.search(r"(?:namespace \w+|extern \"\")$", head)
            if inside and not head.endswith("namespace detail"):
                begin = at + 1
            else:
                if not inside:
                    yield head + " {"
                skipped = 1
        at += 1


def is_forward(declaration):
    """Whether it declares a type that is defined elsewhere, or nowhere."""
    text = " ".join(without_brackets(declaration).split())
    return re.fullmatch(r"(?:template )?(?:struct|class) \w+", text) is not None


def names_in(path):
    """The names that a header declares, and those of types that it does not define."""
    with open(path, encoding="utf-8") as file:
        text = COMMENT.sub(" ", file.read())
    names = {name for name in MACRO.findall(text) if not GUARD.match(name)}
    code = TEXT.sub('""', DIRECTIVE.sub("", text))
    if path.endswith(".h"):
        # Functions are found by their prototypes.
        names |= {name for _, name, _ in PROTOTYPE.findall(text)}
        found = (TYPE.match(" ".join(each.split())) for each in declarations(code)
                 if "(" not in each.partition("{")[0])
        return names | {each[1] for each in found if each}, set()
    declared = list(declarations(code))
    forward = {name_of(each) for each in declared if is_forward(each)}
    names |= {name_of(each) for each in declared if not is_forward(each)} - {None}
    return names, forward


def check(page, folder):
    with open(page, encoding="utf-8") as file:
        parts = re.split(r"^## `?(\w+\.hpp|\w+\.h)`?$", file.read(), flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], parts[2::2]))
    headers = sorted(name for name in os.listdir(folder) if name.endswith((".h", ".hpp")))
    if not headers:
        yield f"{folder}: has no headers"
    for header in sorted(set(sections) - set(headers)):
        yield f"{page}: there is no header {header}"
    found = {header: names_in(os.path.join(folder, header)) for header in headers}
    defined = set().union(*(names for names, _ in found.values()))
    for header in headers:
        if header not in sections:
            yield f"{page}: has no section of {header}"
        names, forward = found[header]
        names = names | (forward - defined)
        rows = ROW.findall(sections.get(header, ""))
        listed = {name for name, _, _ in rows}
        for name in sorted(names - listed):
            yield f"{page}: does not list {name} of {header}"
        for name in sorted(listed - names):
            yield f"{page}: {header} does not declare {name}"
        for name, _, place in rows:
            for target in LINK.findall(place) or [""]:
                if not os.path.isfile(os.path.join(os.path.dirname(page), target)):
                    yield f"{page}: {name} has no page at '{target}'"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    complaints = list(check(sys.argv[1], sys.argv[2]))
    for complaint in complaints:
        print(complaint)
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
