# SPDX-License-Identifier: MIT
"""Reads the results of a CTest run: its JUnit file, and GoogleTest's reports of grouped suites.

A CTest entry KIND.SUITE that runs a suite of GoogleTest leaves a report KIND/SUITE.xml; the
cases of that report replace the entry. An entry that crashed has no report, or a failed status that
no case explains: the entry itself counts as failed then.
"""

import dataclasses
import re
import xml.etree.ElementTree

# The shown part of a long output: its end, where the cause of a failure usually is.
LINES_FIRST = 20
LINES_LAST = 180


@dataclasses.dataclass
class Case:
    """One test and its outcome: passed, failed or skipped. `text` is its output or the reason."""

    name: str
    outcome: str
    seconds: float
    text: str = ""


def shortened(text):
    lines = text.splitlines()
    omitted = len(lines) - LINES_FIRST - LINES_LAST
    if omitted <= 0:
        return text
    middle = [f"... {omitted} lines are omitted ..."]
    return "\n".join(lines[:LINES_FIRST] + middle + lines[-LINES_LAST:])


def output_of(element):
    texts = [(child.text or child.get("message") or "") for child in element]
    return "\n".join(text.strip() for text in texts if text.strip())


def skip_reason(element):
    """GoogleTest's message (`FILE:LINE: Skipped`, newline, message), or the last line printed."""
    own = element.find("skipped")
    message = (own.get("message") or own.text or "") if own is not None else ""
    printed = re.search(r": Skipped\n(.+)", output_of(element))
    if printed:
        return printed.group(1).strip()
    lines = "\n".join(child.text or "" for child in element
                      if child.tag.startswith("system-")).strip().splitlines()
    if lines:
        return lines[-1]
    return message.strip().splitlines()[-1] if message.strip() else "no reason given"


def case_of(element, name):
    seconds = float(element.get("time") or 0)
    if element.find("failure") is not None or element.find("error") is not None:
        return Case(name, "failed", seconds, shortened(output_of(element)))
    # CTest calls a test without an executable "notrun": its target was not built.
    if element.get("status") in ("fail", "notrun") and element.find("skipped") is None:
        return Case(name, "failed", seconds, shortened(output_of(element)) or "the test did not run")
    if element.find("skipped") is not None or element.get("status") == "disabled":
        return Case(name, "skipped", seconds, skip_reason(element))
    return Case(name, "passed", seconds)


def report_of(entry, folder):
    """The cases of GoogleTest's report of a CTest entry, or nothing if it left no whole report."""
    kind, _, name = entry.name.partition(".")
    try:
        root = xml.etree.ElementTree.parse(folder / kind / f"{name}.xml").getroot()
    except (OSError, xml.etree.ElementTree.ParseError):
        return []
    return [case_of(element, f"{kind}.{suite.get('name')}.{element.get('name')}")
            for suite in root.iter("testsuite") for element in suite.findall("testcase")]


def read(path, reports=None):
    """The cases of a JUnit file; `reports` is the folder of GoogleTest's reports, if there is one."""
    cases = []
    for suite in xml.etree.ElementTree.parse(path).iter("testsuite"):
        for element in suite.findall("testcase"):
            entry = case_of(element, element.get("name"))
            grouped = report_of(entry, reports) if reports else []
            unexplained = entry.outcome == "failed" and all(
                case.outcome != "failed" for case in grouped)
            cases += grouped
            if not grouped or unexplained:
                cases.append(entry)
    return cases
