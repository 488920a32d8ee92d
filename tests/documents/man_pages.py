#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that every function of the C headers has a page in section 3, with its prototype.

Pages of libelog, a C++ library with classes, are not checked.

usage: man_pages.py PAGES HEADER...

A page shows a prototype as .Ft and .Fn, or .Fo, .Fa and .Fc, in its synopsis. PAGES/links
contains the functions that share a page with another one. Every error of the headers is
described on some page.
"""

import glob
import os
import re
import shlex
import sys

PROTOTYPE = re.compile(
    r"(?:EVENTLOG_API(?:\s+EVENTLOG_CALLED_DIRECTLY)?|static inline)\s+"
    r"([^;{}()]+?)\b(eventlog_\w+)\((.*?)\)\s*[;{]",
    re.DOTALL,
)


def tokens(text):
    """The tokens of a declaration in C, without white space."""
    return tuple(re.findall(r"\w+|[^\w\s]", text))


def split_arguments(text):
    """Splits at the commas outside of parentheses."""
    arguments, depth, begin = [], 0, 0
    for at, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            arguments.append(text[begin:at])
            begin = at + 1
    return [*arguments, text[begin:]]


def read_header(path):
    """({name: (type, arguments)} of the functions, names of the errors)"""
    with open(path, encoding="utf-8") as file:
        code = re.sub(r"/\*.*?\*/", " ", file.read(), flags=re.DOTALL)
    functions = {
        name: (tokens(result), [tokens(argument) for argument in split_arguments(arguments)])
        for result, name, arguments in PROTOTYPE.findall(code)
    }
    return functions, re.findall(r"\b(EVENTLOG_ERROR_\w+) =", code)


def read_page(path):
    """(functions with a prototype, functions named, the whole text)"""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    functions, named, section = {}, [], ""
    result, open_name, arguments = (), "", []
    for line in text.splitlines():
        macro, _, rest = line.partition(" ")
        words = shlex.split(rest) if macro in (".Fn", ".Fo", ".Fa") else []
        if macro == ".Sh":
            section = rest
        elif macro == ".Nm" and section == "NAME":
            named.append(rest.split()[0])
        elif section != "SYNOPSIS":
            continue
        elif macro == ".Ft":
            result = tokens(rest)
        elif macro == ".Fn":
            functions[words[0]] = (result, [tokens(word) for word in words[1:]])
        elif macro == ".Fo":
            open_name, arguments = words[0], []
        elif macro == ".Fa":
            arguments += [tokens(word) for word in words]
        elif macro == ".Fc":
            functions[open_name] = (result, arguments)
    return functions, named, text


def check_links(folder, pages):
    """Yields the errors of links, and adds each valid one to the pages."""
    for path in sorted(glob.glob(os.path.join(folder, "links", "*.3"))):
        name = os.path.basename(path)[:-2]
        with open(path, encoding="utf-8") as file:
            found = re.fullmatch(r'\.\\" SPDX.*\n\.so man3/(\w+)\.3\n', file.read())
        if found is None or found[1] not in pages:
            yield f"{path}: is not a link to a page"
        elif name in pages:
            yield f"{path}: there is a page of that name"
        elif name not in pages[found[1]][1]:
            yield f"{path}: the page {found[1]}.3 does not have it in its NAME"
        else:
            pages[name] = pages[found[1]]


def check(folder, headers):
    pages = {
        os.path.basename(path)[:-2]: read_page(path)
        for path in glob.glob(os.path.join(folder, "eventlog*.3"))
    }
    written = dict(pages)
    yield from check_links(folder, pages)
    all_text = "".join(text for _, _, text in pages.values())
    declared = {}
    for header in headers:
        functions, errors = read_header(header)
        declared.update(functions)
        for error in errors:
            if f"Dv {error}" not in all_text:
                yield f"{header}: no page describes {error}"
    if not declared:
        yield "there is no function in the headers"
    for name, prototype in sorted(declared.items()):
        if name not in pages:
            yield f"{name}: has no page in section 3; write one, or a link to one"
        elif name not in pages[name][0]:
            yield f"{name}: its page does not show its prototype"
        elif pages[name][0][name] != prototype:
            yield f"{name}: its page shows another prototype than its header"
    for page, (functions, named, _) in sorted(written.items()):
        for name in sorted({*functions, *named} - set(declared)):
            yield f"{page}.3: there is no function {name}"


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    complaints = list(check(sys.argv[1], sys.argv[2:]))
    for complaint in complaints:
        print(complaint)
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
