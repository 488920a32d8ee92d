#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that every command of elog has a page in section 1, with its options.

usage: command_pages.py ELOG PAGES

`elog COMMAND --help` lists the options, and the commands of a group. A page has exactly these
options in its synopsis and in a list, with all of their names. The page of a group has a synopsis
for each of its commands, and a subsection in COMMANDS. elog(1) names all pages, and has the options
of `elog --help`.
"""

import glob
import os
import re
import subprocess
import sys


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, encoding="utf-8", check=True).stdout


def listed_options(help_text):
    """The options of a command as sets of names, without those that all commands have."""
    options = set()
    for names in re.findall(r"^  (-\S+)", help_text, re.MULTILINE):
        options.add(frozenset(names.split(",")))
    return options - {frozenset({"-h", "--help"})}


def listed_commands(help_text):
    """The commands of a group; none if it is no group."""
    if not re.search(r"^(?:.*\. )?Usage: .* SUBCOMMAND$", help_text, re.MULTILINE):
        return []
    return re.findall(r"^  ([a-z]+) {2,}[A-Z]", help_text, re.MULTILINE)


def overview_options(help_text):
    """The options of elog itself, several on a line: `  --user USER, --at PID   Run ...`."""
    options = set()
    for names in re.findall(r"^  (-.*?)  ", help_text, re.MULTILINE):
        for words in names.split(", "):
            options.add(frozenset(words.split(" ")[0].split(",")))
    return options


def names_of(words):
    """The names in .Fl's arguments: `o , Fl -output Ar FILE` are -o and --output."""
    found = re.findall(r"(?:^|Fl )(-?[a-z][a-z-]*)", words)
    return frozenset("-" + name for name in found)


def described_options(text):
    return {names_of(words) for words in re.findall(r"^\.It Fl (-?[a-z].*)$", text, re.MULTILINE)}


def check_list(page, text, options):
    listed = described_options(text)
    for option in sorted(options - listed, key=sorted):
        yield f"{page}: does not describe {', '.join(sorted(option))}"
    for option in sorted(listed - options, key=sorted):
        yield f"{page}: there is no option {', '.join(sorted(option))}"


def check(page, synopsis, description, options):
    yield from check_list(page, description, options)
    shown = set()
    for words in re.findall(r"^\.(?:Op )?Fl (-?[a-z].*)$", synopsis, re.MULTILINE):
        shown |= names_of(words)
    for option in sorted(options, key=sorted):
        if not option & shown:
            yield f"{page}: does not show {', '.join(sorted(option))} in its synopsis"
    for name in sorted(shown - frozenset().union(*options)):
        yield f"{page}: shows {name} in its synopsis, which there is not"


def check_group(elog, page, group, names, synopsis, description):
    shown = dict(re.findall(rf"^\.Cm {group} (\S+)\n((?:(?!\.Nm ).*\n)*)", synopsis, re.MULTILINE))
    commands = description.partition(".Sh COMMANDS\n")[2].partition("\n.Sh ")[0]
    parts = re.split(r"^\.Ss (\S+)\n", commands, flags=re.MULTILINE)
    described = dict(zip(parts[1::2], parts[2::2]))
    for name in sorted((set(shown) | set(described)) - set(names)):
        yield f"{page}: there is no command {group} {name}"
    for name in names:
        if name not in shown or name not in described:
            yield f"{page}: has no synopsis or no subsection of {group} {name}"
            continue
        options = listed_options(run(elog, group, name, "--help"))
        yield from check(f"{page}, {name}", shown[name], described[name], options)


def check_page(elog, command, path):
    page = os.path.basename(path)
    with open(path, encoding="utf-8") as file:
        synopsis, _, description = file.read().partition(".Sh DESCRIPTION\n")
    synopsis = synopsis.partition(".Sh SYNOPSIS\n")[2]
    help_text = run(elog, command, "--help")
    names = listed_commands(help_text)
    if names:
        yield from check_group(elog, page, command, names, synopsis, description)
    else:
        yield from check(page, synopsis, description, listed_options(help_text))


def check_all(elog, folder):
    with open(os.path.join(folder, "elog.1"), encoding="utf-8") as file:
        overview = file.read()
    options = overview.partition(".Sh OPTIONS\n")[2].partition("\n.Sh ")[0]
    yield from check_list("elog.1", options, overview_options(run(elog, "--help")))
    commands = re.findall(r"^(\S+)\t", run(elog, "__complete", "--", ""), re.MULTILINE)
    commands = [command for command in commands if not command.startswith("-")]
    if "record" not in commands:
        yield f"{elog} does not say which commands it has"
    pages = {os.path.basename(path)[len("elog-"):-len(".1")]: path
             for path in glob.glob(os.path.join(folder, "elog-*.1"))}
    for command in commands:
        if command not in pages:
            yield f"elog {command} has no page: write elog-{command}.1"
            continue
        yield from check_page(elog, command, pages[command])
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
