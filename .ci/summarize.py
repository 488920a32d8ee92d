#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts the tests in a JUnit file of CTest or Meson.

usage: summarize.py NAME FILE

Writes `PASSED FAILED SKIPPED` to stdout and, to stderr, every skipped test with its reason and
every failed test with its output. NAME says which run it was.
"""

import re
import sys
import xml.etree.ElementTree


# What a reader of a whole run can bear of one test; what went wrong is said last.
LINES_FIRST = 20
LINES_LAST = 180


def shortened(text):
    lines = text.splitlines()
    left_out = len(lines) - LINES_FIRST - LINES_LAST
    if left_out <= 0:
        return text
    middle = [f"... {left_out} lines are left out ..."]
    return "\n".join(lines[:LINES_FIRST] + middle + lines[-LINES_LAST:])


def output_of(case):
    """All that the file has to say about a test case."""
    texts = [(element.text or element.get("message") or "") for element in case]
    return "\n".join(text.strip() for text in texts if text.strip())


def skip_reason(case):
    """GoogleTest's message, or else the last line that the test printed."""
    # Meson hands GoogleTest's through as `FILE:LINE`, newline, message.
    placed = re.match(r"\S+:\d+\n(.+)", case.find("skipped").text or "")
    # CTest keeps the output: `FILE:LINE: Skipped`, newline, message.
    printed = re.search(r": Skipped\n(.+)", output_of(case))
    if placed or printed:
        return (placed or printed).group(1).strip()
    printed = [element.text or "" for element in case if element.tag.startswith("system-")]
    lines = "\n".join(printed).strip().splitlines()
    return lines[-1] if lines else "no reason given"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    run, path = sys.argv[1:]
    passed = failed = skipped = 0
    for suite in xml.etree.ElementTree.parse(path).iter("testsuite"):
        for case in suite.findall("testcase"):
            # CTest has no suites and says so.
            parts = [run, suite.get("name"), case.get("name")]
            title = ": ".join(part for part in parts if part != "(empty)")
            if case.find("skipped") is not None or case.get("status") == "disabled":
                skipped += 1
                print(f"skipped: {title}: {skip_reason(case)}", file=sys.stderr)
            elif case.find("failure") is not None or case.find("error") is not None:
                failed += 1
                print(f"FAILED: {title}\n{shortened(output_of(case))}", file=sys.stderr)
            else:
                passed += 1
    print(passed, failed, skipped)


if __name__ == "__main__":
    main()
