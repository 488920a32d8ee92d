#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks docs/why.md against what it relies on: the peers and figures of the benchmarks.

usage: why_page.py PROJECT

The page compares eventlog with each peer that `./dev bench peers` measures, in the table of uses and
in that of costs. Each figure and each area of the benchmarks that it names exists. README.md links
to it.
"""

import pathlib
import re
import sys

USES, COSTS = "When to use something else", "Costs compared"
# The file of a peer's program, and the peer's name on the page.
PEERS = {"lttng_peer.c": "LTTng-UST", "spdlog_peer.cpp": "spdlog", "usdt_peer.c": "USDT probe"}


def sections(page):
    parts = re.split(r"^## (.*)$", page, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2]))


def first_cells(text):
    return " ".join(re.findall(r"^\| ([^|]*) \|", text, re.MULTILINE))


def problems_of(project):
    page = (project / "docs/why.md").read_text(encoding="utf-8")
    if "docs/why.md" not in (project / "README.md").read_text(encoding="utf-8"):
        yield "README.md has no link to docs/why.md"
    peers = sorted((project / "bench/peers").glob("*_peer.*"))
    if {file.name for file in peers} != set(PEERS):
        yield "bench/peers has other peers than this check"
    for file in peers:
        name = PEERS.get(file.name, file.name)
        for section in (USES, COSTS):
            if name not in first_cells(sections(page)[section]):
                yield f"docs/why.md: the table of {section!r} lacks {name}"
    for figure in re.findall(r"`(\w+_vs_\w+)`", page):
        if figure not in test_quick.LIMITS and all(figure not in names
                                                   for names in test_quick.FIGURES.values()):
            yield f"docs/why.md: there is no figure {figure}"
    for area in re.findall(r"`\./dev bench (\w+)`", page):
        if area not in test_quick.FIGURES:
            yield f"docs/why.md: the benchmarks have no area {area}"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.path.insert(0, f"{sys.argv[1]}/bench")
    import test_quick
    sys.exit("\n".join(problems_of(pathlib.Path(sys.argv[1]))) or None)
