# SPDX-License-Identifier: MIT
"""What recordings have of the events of user_events_load, for tests that make some in a guest."""

import json
import os
import subprocess

import parts


def shown(path, *options):
    """What is in a file, line for line."""
    command = [os.environ["ELOG"], "print", "-j", *options, path]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [json.loads(line) for line in lines.splitlines()]


def loads(path):
    """Number, amount and word of each event in a file, and how many are missing."""
    lines = shown(path)
    found = [tuple(line["fields"][name] for name in ("number", "amount", "word"))
             for line in lines if "event" in line]
    return found, sum(line["lost"] for line in lines if "event" not in line)


def summary(lines):
    """What elog record -o -j says at the end."""
    return next(json.loads(line) for line in lines if line.startswith('{"'))


class Case(parts.Case):
    """One guest, in which COUNT events were also counted and watched: parts agg and top."""

    COUNT = 50_000

    def collected(self, name):
        return os.path.join(self.result.files, "tmp", name)

    def test_counts_as_it_counts_of_memory(self):
        (line,) = self.part("agg")
        (group,) = json.loads(line)["groups"]
        self.assertEqual(list(group.values()), [
            {"event": "item"}, {"count()": self.COUNT, "sum(number)": sum(range(self.COUNT))}])

    def test_is_watched_as_memory_is(self):
        *_, last = map(json.loads, self.part("top"))
        self.assertEqual((last["events"], last["lost"]), (self.COUNT, 0))
