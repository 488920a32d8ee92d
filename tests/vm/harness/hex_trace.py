# SPDX-License-Identifier: MIT
"""Converts traces of user_events of kernels before Linux 6.4, which show each record in hexadecimal, to
the text that later kernels show. The kernel's format files of the events describe the bytes."""

import dataclasses
import re
import struct

FIELD = re.compile(
    r"\tfield:(.*?)([A-Za-z_]\w*)(?:\[-?\d*\])?;\toffset:(\d+);\tsize:(\d+);\tsigned:\d;"
)
DUMP = re.compile(r"\b([0-9a-f]{8}): ((?:[0-9a-f]{2} ){1,16})")


@dataclasses.dataclass
class Field:
    name: str
    type: str
    offset: int
    size: int

    def text(self, record):
        """The text of kernels since 6.4, which depends on sizes, and on types of texts and bytes."""
        raw = record[self.offset:self.offset + self.size]
        if self.type.startswith("__rel_loc"):
            (word,) = struct.unpack("<I", raw)
            begin = self.offset + 4 + (word & 0xFFFF)
            held = record[begin:begin + (word >> 16)]
            return held[:-1].decode() if "char" in self.type else held.hex(",")
        if self.type == "char" and self.size > 1:
            return raw.split(b"\0")[0].decode()
        number = int.from_bytes(raw, "little")
        if self.size == 1:
            printable = 0x20 <= number < 0x7F or number >= 0xA0  # in Latin-1
            return (f"'{chr(number)}'" if printable else "") + f"({number})"
        if self.size == 2:
            return f"0x{number:x} ({number})"
        if self.size in (4, 8):
            return f"0x{number:x} ({int.from_bytes(raw, 'little', signed=True)})"
        return "<INVALID-SIZE>"


def read_formats(text):
    """{number of the event: (its name, its fields)} of concatenated format files."""
    events = {}
    for part in re.split(r"^(?=name: )", text, flags=re.MULTILINE)[1:]:
        name, number = re.match(r"name: (\S+)\nID: (\d+)\n", part).groups()
        fields = [
            Field(found[2], found[1].strip(), int(found[3]), int(found[4]))
            for found in FIELD.finditer(part)
            if not found[2].startswith("common_")
        ]
        events[int(number)] = (name, fields)
    return events


def read_records(text):
    """The records in a trace, in order."""
    records = []
    for offset, line in DUMP.findall(text):
        if int(offset, 16) == 0:
            records.append(b"")
        if int(offset, 16) != len(records[-1]):
            raise AssertionError(f"{line} does not follow its predecessor")
        records[-1] += bytes.fromhex(line)
    return records


def lines(text, formats):
    """A line for each record of a trace."""
    shown = []
    for record in read_records(text):
        name, fields = formats[int.from_bytes(record[:2], "little")]
        values = "".join(f" {field.name}={field.text(record)}" for field in fields)
        shown.append(f"{name}:{values or 'No fields found'}")
    return shown
