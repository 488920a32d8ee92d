#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that each row of the tables in docs/explanation/security.md names tests, and that tests/inventory
has each of them.

usage: security.py [PROJECT]

The last column of each table is "test". References are separated by commas; text in parentheses is not
checked. A reference is one of

  `FOLDER/test_NAME.py`        a script in tests/integration, all of it, or with a class, a method, or
                               CLASS.METHOD behind it
  vm.NAME, vm.NAME METHOD      a script in tests/vm, or one test of it
  fuzz                         a kind of tests
  unit.SUITE, unit.SUITE.CASE  any other name of the inventory, or of a group in it
"""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import inventory  # noqa: E402

PAGE = "docs/explanation/security.md"
LISTS = "tests/inventory"
SCRIPTS = "tests/integration"
COLUMN = "test"


def read_names(folder):
    """The names that tests have now: those of the lists, after the renames."""
    names = set(inventory.read_inventory(folder))
    renamed = folder / inventory.RENAMED
    text = renamed.read_text(encoding="utf-8") if renamed.exists() else ""
    renames = inventory.parse_renames(text, names)
    return {inventory.present_name(name, renames) for name in names}


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
    is_word = re.fullmatch(r"[\w./-]+", reference)
    return bool(is_word) and any(
        name == reference or name.startswith(reference + ".") for name in names
    )


def find_problems(project):
    names = read_names(project / LISTS)
    problems, rows = [], 0
    for number, header, cells in rows_of((project / PAGE).read_text(encoding="utf-8")):
        where = f"{PAGE}:{number}:"
        rows += 1
        if header[-1] != COLUMN or len(cells) != len(header):
            problems.append(f'{where} the row has no column "{COLUMN}". Add it as the last one.')
            continue
        text = re.sub(r"\s*\([^()]*\)", "", cells[-1])
        references = [reference.strip() for reference in text.split(",")]
        if references == [""]:
            problems.append(f"{where} the row names no test. Name the one that fails without the protection.")
            continue
        problems += [
            f'{where} there is no test "{reference}" in {LISTS}. Correct its name.'
            for reference in references
            if not is_known(reference, names, project)
        ]
    if rows == 0:
        problems.append(f"{PAGE}: the page has no tables. Restore them.")
    return problems


def main():
    here = pathlib.Path(__file__).resolve().parent
    problems = find_problems(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here.parents[1])
    print("".join(problem + "\n" for problem in problems), end="")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
