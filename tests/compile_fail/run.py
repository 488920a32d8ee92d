#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles a file that must be rejected and checks the compiler's message.

usage: run.py FILE -- COMPILER [FLAGS...]

FILE states its expectations:
    // expect: TEXT        the compilation fails, and the diagnostics contain TEXT (repeatable)
    // expect-pfr: TEXT    the same with EVENTLOG_REFLECTION_PFR, instead of all other expectations
    // expect-success      the compilation succeeds: a control for the failing files
    // language: OPTION    in that language, instead of -std=c++20

A FILE that changes macros before its includes, or the language, is compiled without the compiler's
-include option, if there is one: the precompiled headers were read with others.
"""

import os
import re
import subprocess
import sys


def read_expectations(path, by_pfr):
    with open(path, encoding="utf-8") as file:
        source = file.read()
    texts = re.findall(r"^\s*// expect: (.*\S)\s*$", source, re.MULTILINE)
    if by_pfr:
        texts = re.findall(r"^\s*// expect-pfr: (.*\S)\s*$", source, re.MULTILINE) or texts
    success = re.search(r"^\s*// expect-success\s*$", source, re.MULTILINE) is not None
    changes_macros = re.search(r"^#\s*(define|undef)\b", source, re.MULTILINE) is not None
    language = re.search(r"^\s*// language: (\S+)\s*$", source, re.MULTILINE)
    return texts, success, changes_macros, language and language[1]


def without_precompiled(command):
    """The command without -include and its argument, if it has them."""
    if "-include" not in command:
        return command
    place = command.index("-include")
    return command[:place] + command[place + 2 :]


def main():
    if len(sys.argv) < 4 or sys.argv[2] != "--":
        sys.exit(__doc__)
    path, command = sys.argv[1], sys.argv[3:]
    texts, success, changes_macros, language = read_expectations(
        path, "-DEVENTLOG_REFLECTION_PFR" in command)
    if changes_macros or language:
        command = without_precompiled(command)
    if success == bool(texts):
        sys.exit(f"{path}: needs either `// expect: TEXT` lines or one `// expect-success`")

    # The C locale keeps the compiler's messages untranslated and undecorated.
    result = subprocess.run(
        [*command, language or "-std=c++20", "-fsyntax-only", path],
        env={**os.environ, "LC_ALL": "C"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    complaints = []
    if success and result.returncode != 0:
        complaints.append("should compile and does not")
    if not success and result.returncode == 0:
        complaints.append("should not compile and does")
    complaints += [f"not in the diagnostics: {text}" for text in texts if text not in result.stdout]
    if complaints:
        print(result.stdout)
        sys.exit("\n".join(f"{path}: {complaint}" for complaint in complaints))


if __name__ == "__main__":
    main()
