#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that each row of the tables in some pages of docs names tests, and that these tests exist.

usage: tested_rows.py [PROJECT]

The last column of these tables is "test"; a page may also have others. References in it are separated by
commas; text in parentheses is not checked. A reference is one of

  `FOLDER/test_NAME.py`        a script in tests/integration, all of it, or with a class, a method, or
                               CLASS.METHOD behind it
  vm.NAME, vm.NAME METHOD      a script in tests/vm, or one test of it
  kunit.SUITE.CASE             a case in kernel/eventlog/tests
  fuzz                         a kind of tests
  unit.SUITE, unit.SUITE.CASE  any other name of the inventory, or of a group in it; it may be in backticks
  open (REASON)                in pages that allow it: a test is missing, for that reason
"""

import dataclasses
import pathlib
import re
import sys

from problems import PROJECT, report

sys.path.insert(0, str(PROJECT / "scripts"))
import inventory  # noqa: E402

LISTS = "tests/inventory"
SCRIPTS = "tests/integration"
KUNIT = "kernel/eventlog/tests"
COLUMN = "test"
OPEN = re.compile(r"\bopen \([^()]+\)")


@dataclasses.dataclass(frozen=True)
class Page:
    path: str
    # Whether a row may name a reason instead of a test.
    may_be_open: bool = False
    # Whether other tables may be among those with tests.
    has_others: bool = False


PAGES = (
    Page("docs/explanation/security.md"),
    Page("docs/ancestors.md", may_be_open=True, has_others=True),
)


def read_names(project):
    """The names that tests have now: those of the lists, after the renames, and those of KUnit."""
    folder = project / LISTS
    names = set(inventory.read_inventory(folder))
    renamed = folder / inventory.RENAMED
    text = renamed.read_text(encoding="utf-8") if renamed.exists() else ""
    renames = inventory.parse_renames(text, names)
    return {inventory.present_name(name, renames) for name in names} | read_kunit(project / KUNIT)


def read_kunit(folder):
    names = set()
    for path in folder.glob("*_kunit.c"):
        text = path.read_text(encoding="utf-8")
        suite = re.search(r"struct kunit_suite \w+ = \{\s*\.name = \"(\w+)\"", text)
        if suite:
            cases = re.findall(r"KUNIT_CASE\w*\((\w+)", text)
            names |= {f"kunit.{suite[1]}.{case}" for case in cases}
    return names


def cells_of(line):
    """The cells of a row; a vertical bar in a cell is written as \\|."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]


def rows_of(text):
    """(line number, header of the table, cells) for each row."""
    header = None
    for number, line in enumerate(text.splitlines(), 1):
        if not line.lstrip().startswith("|"):
            header = None
        elif header is None:
            header = cells_of(line)
        elif not re.fullmatch(r"[|\s:-]+", line):
            yield number, header, cells_of(line)


def has_script(kind, script, member, names):
    """Whether the inventory has the script, with that class, method or CLASS.METHOD."""
    prefix = f"{kind}/{script}:"
    tests = [name[len(prefix):].split(".") for name in names if name.startswith(prefix)]
    wanted = member.split(".") if member else []
    return any(wanted in ([], test, test[:1], test[1:]) for test in tests)


def is_known(reference, names, project):
    script = re.fullmatch(r"`(\w+/(test_\w+)\.py)`(?: ([\w.]+))?", reference)
    if script:
        path, name, member = script.groups()
        return (project / SCRIPTS / path).is_file() and has_script("integration", name, member, names)
    machine = re.fullmatch(r"vm\.(\w+)(?: ([\w.]+))?", reference)
    if machine:
        name, member = machine.groups()
        return f"vm.{name}" in names and (not member or has_script("vm", f"test_{name}", member, names))
    word = re.fullmatch(r"(`?)([\w./:+-]+)\1", reference)
    return bool(word) and any(
        name == word[2] or name.startswith(word[2] + ".") for name in names
    )


def problems_of_row(page, cell, names, project):
    open_count = 0
    if page.may_be_open:
        cell, open_count = OPEN.subn("", cell)
    text = re.sub(r"\s*\([^()]*\)", "", cell)
    references = [reference.strip() for reference in text.split(",")]
    if open_count:
        references = [reference for reference in references if reference]
    if references == [""]:
        yield "the row names no test. Name the one that fails without what the row states."
        return
    for reference in references:
        if reference == "open" and page.may_be_open:
            yield "the row does not say what is missing. Write: open (WHAT IS MISSING)."
        elif not is_known(reference, names, project):
            yield f'there is no test "{reference}" in {LISTS}. Correct its name.'


def problems_of_page(page, names, project):
    rows = 0
    for number, header, cells in rows_of((project / page.path).read_text(encoding="utf-8")):
        where = f"{page.path}:{number}:"
        if header[-1] != COLUMN and page.has_others:
            continue
        rows += 1
        if header[-1] != COLUMN or len(cells) != len(header):
            yield f'{where} the row has no column "{COLUMN}". Add it as the last one.'
            continue
        for problem in problems_of_row(page, cells[-1], names, project):
            yield f"{where} {problem}"
    if rows == 0:
        yield f"{page.path}: the page has no tables of tests. Restore them."


def find_problems(project, pages=PAGES):
    names = read_names(project)
    return [problem for page in pages for problem in problems_of_page(page, names, project)]


if __name__ == "__main__":
    report(find_problems)
