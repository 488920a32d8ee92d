# SPDX-License-Identifier: MIT
"""Reads the file in which a process publishes its providers: see uapi/linux/eventlog.h."""

import dataclasses
import struct

REGION_FEATURES = 12  # offset in the header
DIRECTORY = 1024
BLOCK = struct.Struct("=QII48x")
ENTRY = struct.Struct("=IIIIQQQIIII72x")
READY = 1
GATE_SIZE = 4096  # counters are behind it
SCHEMA_HEADER = 24  # in front of the length of the provider's name


@dataclasses.dataclass
class Provider:
    path: str
    events: int
    schema: bytes
    gate_offset: int
    gate_mapped: bool

    def gate(self, count=None):
        """The first words of its own gate; by default those of its events."""
        count = self.events if count is None else count
        with open(self.path, "rb") as file:
            file.seek(self.gate_offset)
            return struct.unpack(f"={count}I", file.read(4 * count))

    @property
    def name(self):
        length = self.schema[SCHEMA_HEADER]
        return self.schema[SCHEMA_HEADER + 1:SCHEMA_HEADER + 1 + length].decode()

    @property
    def counters_offset(self):
        return self.gate_offset + GATE_SIZE


def providers(path):
    """The providers that are published in a process file."""
    found = []
    with open(path, "rb") as file:
        content = file.read()
    block = DIRECTORY
    while block:
        following, _, used = BLOCK.unpack_from(content, block)
        for i in range(used):
            (state, _, events, size, schema, _, gate, mapped, _, _, _) = ENTRY.unpack_from(
                content, block + BLOCK.size + i * ENTRY.size)
            if state == READY:
                found.append(Provider(path, events, content[schema:schema + size], gate,
                                      bool(mapped)))
        block = following
    return found
