#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that docs/api.md lists every public name of the headers, and no other.

usage: api_page.py PAGE HEADERS

HEADERS is the folder of the public headers, with its subfolders except detail. A section of PAGE,
`## FILE`, has a table with the names of that header: `| `name` | purpose | manual page |`. Public names
are the types, functions, variables and macros outside of namespace detail. Members and enumerators
belong to their types.

Each row of the section Limits names the constants of its limits, in the order of the numbers in the
next column, which must be those of the headers: `| what (`NAME_max`) | number | ... |`.
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
HEADING = re.compile(r"^## (?:`([\w/]+\.hpp|[\w/]+\.h)`|Limits)$", re.MULTILINE)
CONSTANT = re.compile(r"^inline constexpr std::size_t (\w+_max) = ([^;]+);", re.MULTILINE)
LIMIT = re.compile(r"^\| ([^|]*) \| ([^|]*\d[^|]*) \|", re.MULTILINE)
UNITS = {"": 1, " KiB": 1 << 10, " MiB": 1 << 20}


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


def find_headers(folder):
    """The headers in a folder and below it, by their path in it."""
    return sorted(os.path.relpath(os.path.join(place, name), folder)
                  for place, _, names in os.walk(folder) for name in names
                  if name.endswith((".h", ".hpp")))


def value_of(expression):
    """The value of a constant: numbers with -, + and <<, for example 1U << 20U."""
    terms = re.fullmatch(r"(\w+?)U?(?: (<<|[-+]) (\w+?)U?)?", expression)
    if not terms:
        raise ValueError(f"{expression} is no number and no simple expression")
    first, operator, second = terms.groups()
    one, other = int(first, 0), int(second or "0", 0)
    return {None: one, "<<": one << other, "-": one - other, "+": one + other}[operator]


def read_limits(folder, names):
    """{name: value} of the constants that the headers, also those in detail, define and a page names."""
    found = {}
    for header in find_headers(folder):
        with open(os.path.join(folder, header), encoding="utf-8") as file:
            found |= {name: value_of(text) for name, text in CONSTANT.findall(file.read())
                      if name in names}
    return found


def numbers_in(cell):
    return [int(number) * UNITS[unit] for number, unit in re.findall(r"\b(\d+)( [KM]iB)?", cell)]


def check_limits(page, section, folder):
    rows = [(what, re.findall(r"`(?:\w+::)?(\w+_max)`", what), numbers)
            for what, numbers in LIMIT.findall(section)]
    if not rows:
        yield f"{page}: has no table of limits"
    limits = read_limits(folder, {name for _, names, _ in rows for name in names})
    for what, names, cell in rows:
        expected = [limits.get(name) for name in names]
        if not names or numbers_in(cell) != expected:
            yield f"{page}: {what}: the page has {cell}, the headers have {expected}"


def check(page, folder):
    with open(page, encoding="utf-8") as file:
        parts = HEADING.split(file.read())
    sections = {name or "Limits": text for name, text in zip(parts[1::2], parts[2::2])}
    yield from check_limits(page, sections.pop("Limits", ""), folder)
    headers = [name for name in find_headers(folder) if not name.startswith("detail" + os.sep)]
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
