#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that Meson and the symbol map have the version of eventlog/version.h, as CMake has.

usage: version.py [PROJECT]
"""

import re

from problems import report

HEADER = "sdk/include/eventlog/version.h"
MESON = "meson.build"
MAP = "sdk/src/eventlog.map"


def find_problems(project):
    header = (project / HEADER).read_text(encoding="utf-8")
    parts = dict(re.findall(r"^#define EVENTLOG_VERSION_(MAJOR|MINOR|PATCH) (\d+)$", header, re.M))
    missing = [name for name in ("MAJOR", "MINOR", "PATCH") if name not in parts]
    if missing:
        return [f"{HEADER}: EVENTLOG_VERSION_{missing[0]} is missing. Define it as a number."]
    version = f"{parts['MAJOR']}.{parts['MINOR']}.{parts['PATCH']}"
    problems = []
    meson = re.search(r"^    version: '([^']*)'", (project / MESON).read_text(encoding="utf-8"), re.M)
    if meson is None or meson.group(1) != version:
        problems.append(f"{MESON}: the version is not {version}, that of {HEADER}. Change one.")
    symbols = f"EVENTLOG_{parts['MAJOR']}.{parts['MINOR']} {{"
    if symbols not in (project / MAP).read_text(encoding="utf-8"):
        problems.append(f"{MAP}: there is no {symbols[:-2]}, the version of {HEADER}. Add it.")
    return problems


if __name__ == "__main__":
    report(find_problems)
