#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that every command of elog has a page in section 1, with its options.

usage: command_pages.py ELOG PAGES

`elog COMMAND --help` lists the options. A page has exactly these in its synopsis and in a list,
with all of their names; elog(1) names all pages.
"""

import glob
import os
import re
import subprocess
import sys


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, encoding="utf-8", check=True).stdout


def listed_options(elog, command):
    """The options of a command as sets of names, without those that all commands have."""
    options = set()
    for names in re.findall(r"^  (-\S+)", run(elog, command, "--help"), re.MULTILINE):
        options.add(frozenset(names.split(",")))
    return options - {frozenset({"-h", "--help"})}


def names_of(words):
    """The names in .Fl's arguments: `o , Fl -output Ar FILE` are -o and --output."""
    found = re.findall(r"(?:^|Fl )(-?[a-z][a-z-]*)", words)
    return frozenset("-" + name for name in found)


def check(page, text, options):
    synopsis, _, description = text.partition(".Sh DESCRIPTION\n")
    synopsis = synopsis.partition(".Sh SYNOPSIS\n")[2]
    listed = {names_of(words) for words in re.findall(r"^\.It Fl (-?[a-z].*)$", description, re.M)}
    shown = set()
    for words in re.findall(r"^\.(?:Op )?Fl (-?[a-z].*)$", synopsis, re.MULTILINE):
        shown |= names_of(words)
    for option in sorted(options - listed, key=sorted):
        yield f"{page}: does not describe {', '.join(sorted(option))}"
    for option in sorted(listed - options, key=sorted):
        yield f"{page}: there is no option {', '.join(sorted(option))}"
    for option in sorted(options, key=sorted):
        if not option & shown:
            yield f"{page}: does not show {', '.join(sorted(option))} in its synopsis"
    for name in sorted(shown - frozenset().union(*options)):
        yield f"{page}: shows {name} in its synopsis, which there is not"


def check_all(elog, folder):
    with open(os.path.join(folder, "elog.1"), encoding="utf-8") as file:
        overview = file.read()
    commands = re.findall(r"^(\S+)\t", run(elog, "completion", "--", ""), re.MULTILINE)
    commands = [command for command in commands if not command.startswith("-")]
    if "record" not in commands:
        yield f"{elog} does not say which commands it has"
    pages = {os.path.basename(path)[len("elog-"):-len(".1")]: path
             for path in glob.glob(os.path.join(folder, "elog-*.1"))}
    for command in commands:
        if command not in pages:
            yield f"elog {command} has no page: write elog-{command}.1"
            continue
        with open(pages[command], encoding="utf-8") as file:
            yield from check(f"elog-{command}.1", file.read(), listed_options(elog, command))
        if f".It Xr elog-{command} 1\n" not in overview:
            yield f"elog.1 does not list elog-{command}.1"
    for name in sorted(set(pages) - set(commands)):
        yield f"elog-{name}.1: there is no such command"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    complaints = list(check_all(sys.argv[1], sys.argv[2]))
    for complaint in complaints:
        print(complaint)
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
