# SPDX-License-Identifier: MIT
"""Compares JSON objects with the tables of elog-json(5)."""

import os
import re

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "docs", "man",
                    "elog-json.5")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z")


def is_integer(value):
    return isinstance(value, int) and not isinstance(value, bool)


TYPES = {
    "text": lambda value: isinstance(value, str),
    "time": lambda value: isinstance(value, str) and TIME.fullmatch(value) is not None,
    "integer": is_integer,
    "number": lambda value: is_integer(value) or isinstance(value, float),
    "boolean": lambda value: isinstance(value, bool),
    "texts": lambda value: isinstance(value, list) and all(isinstance(one, str) for one in value),
    "integers": lambda value: isinstance(value, list) and all(map(is_integer, value)),
    "fields": lambda value: isinstance(value, dict),
    "values": lambda value: isinstance(value, dict),
}


class Member:
    """A row of a table: `TYPE [or null][, optional]`."""

    def __init__(self, text):
        text, self.is_optional = text.removesuffix(", optional"), text.endswith(", optional")
        text, self.may_be_null = text.removesuffix(" or null"), text.endswith(" or null")
        self.type, _, self.table = text.partition(": ")


def read_tables():
    """{name of a table: {name of a member: Member}}"""
    with open(PAGE, encoding="utf-8") as file:
        parts = re.split(r"^\.Ss (.+)$", file.read(), flags=re.M)
    tables = {}
    for name, text in zip(parts[1::2], parts[2::2]):
        rows = re.findall(r"^\.It Va (\S+) Ta (.+?) Ta ", text.partition(".Sh ")[0], re.M)
        if name not in ("Names", "Types"):
            tables[name] = {member: Member(words) for member, words in rows}
    return {name: table for name, table in tables.items() if table}


class JsonPage:
    """The tables, and which of their members were found in objects."""

    def __init__(self):
        self.tables = read_tables()
        self.seen = set()

    def check(self, name, value):
        """Yields what differs between an object and the table of that name."""
        table = self.tables[name]
        if not isinstance(value, dict):
            yield f"{name}: {value!r} is no object"
            return
        for key in value.keys() - table.keys():
            yield f"{name}: {key} is not documented"
        for key in table.keys() - value.keys():
            if not table[key].is_optional:
                yield f"{name}: {key} is missing"
        for key in value.keys() & table.keys():
            self.seen.add((name, key))
            yield from self.check_member(f"{name}.{key}", table[key], value[key])

    def check_member(self, place, member, value):
        if value is None:
            if not member.may_be_null:
                yield f"{place} is null"
        elif member.type == "object":
            yield from self.check(member.table, value)
        elif member.type == "objects":
            if not isinstance(value, list):
                yield f"{place}: {value!r} is no array"
                return
            for each in value:
                yield from self.check(member.table, each)
        elif member.type not in TYPES:
            yield f"{place} has the type {member.type}, which is unknown"
        elif not TYPES[member.type](value):
            yield f"{place}: {value!r} is not of the type {member.type}"
        if place == "group.values" and isinstance(value, dict):
            for each in value.values():
                if isinstance(each, dict):
                    yield from self.check("distribution", each)

    def check_line(self, value):
        """The same for a line of events, whose first member names the table."""
        first = next(iter(value))
        return self.check("event" if first == "time" else "loss" if first == "lost" else first,
                          value)

    def unseen(self):
        return {(name, key) for name, table in self.tables.items()
                for key in table} - self.seen
