#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A second reader of a subscription's region, written from the text of linux/eventlog.h alone.

It stores nothing, so the owner may read at the same time, be stopped or be dead. As a program it
lists the rings of a region: second_reader.py /dev/shm/eventlog-1000/subscriptions/00
"""

import bisect
import collections
import os
import struct
import sys

MAGIC, VERSION = 0x4E4F494745524C45, 2
FEATURES_KNOWN = 4  # the shared ring is allocated late, which does not concern readers
PROVIDERS_MAX, RINGS_MAX, BUFFERS_MAX = 16384, 8193, 64
BUFFER_SIZE_MIN, BUFFER_SIZE_MAX = 0x20000, 0x2000000
SCHEMA_SIZE_MAX, SCHEMAS_SIZE_MAX, RECORD_SIZE_MAX = 0x100000, 1 << 40, 0x10000
UNIT, SEALED, RECORD_FLAGS, REQUIRED_FLAGS = 8, 0xFFFFFF, 3, 0xFF
SHORT, CONTEXT, EXTENDED = range(3)
NO_GENERATION = (1 << 64) - 1

# Sizes of the structures, and their layouts.
REGION_SIZE, PAUSE_LOG_SIZE = 704 + 2048, 64 + 32 * 16
RING_SIZE, BUFFER_SIZE, ENTRY_SIZE = 128, 32, 128
HEADER = struct.Struct("=QIIQ6I6Q")
RING = struct.Struct("=QQQQII")
BUFFER = struct.Struct("=4Q")
ENTRY = struct.Struct("=4I3Q16s5Q2I")
PROVIDER_COUNT_OFFSET = 320

Header = collections.namedtuple(
    "Header",
    "magic version features serial clock ring_count ring_stride buffer_count buffer_size "
    "filter_size rings_offset providers_offset schemas_offset schemas_size buffers_offset "
    "total_size",
)
Descriptor = collections.namedtuple("Descriptor", "generation records_before lost_before sealed")
Provider = collections.namedtuple("Provider", "pid uid process schema event_base")
Record = collections.namedtuple(
    "Record", "ring sequence provider event time thread cpu flags payload"
)


class InvalidRegion(Exception):
    """The region is unreadable for this reader; the text is the reason."""


def round_up(value, unit):
    return (value + unit - 1) // unit * unit


class Control:
    """The decoded control word."""

    def __init__(self, value):
        self.units = value & 0xFFFFFF
        self.count = value >> 24 & 0x3FFFFF
        self.generation = value >> 46  # the low 18 bits

    def names(self, generation):
        return self.generation == generation & 0x3FFFF


class Ring:
    """The records and losses read from one ring."""

    def __init__(self, number):
        self.number = number
        self.records = []
        self.gaps = []  # (next sequence number, events lost in the gap, total losses)
        self.lost = 0
        self.damaged = 0
        self.overwritten = 0  # overwritten, not lost: the owner had read them


class Region:
    def __init__(self, path):
        self.file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            self.header = self.check_header()
        except InvalidRegion:
            self.close()
            raise
        self.ranges = []

    def close(self):
        os.close(self.file)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def read_at(self, offset, size):
        data = os.pread(self.file, size, offset)
        if len(data) != size:
            raise InvalidRegion(f"the region ends before byte {offset + size}")
        return data

    def unpack(self, layout, offset):
        return layout.unpack(self.read_at(offset, layout.size))

    def check_header(self):
        header = Header._make(self.unpack(HEADER, 0))
        if header.magic != MAGIC:
            raise InvalidRegion("this is no region")
        if header.version != VERSION or header.features & ~FEATURES_KNOWN:
            raise InvalidRegion(
                f"version {header.version} with features {header.features:#x} is not known here"
            )
        stride = round_up(RING_SIZE + BUFFER_SIZE * header.buffer_count, 64)
        rings = REGION_SIZE + PAUSE_LOG_SIZE
        providers = round_up(rings + header.ring_count * stride, 64)
        schemas = round_up(providers + ENTRY_SIZE * PROVIDERS_MAX, 0x10000)
        buffers = schemas + header.schemas_size
        total = buffers + header.ring_count * header.buffer_count * header.buffer_size
        powers = all(n & (n - 1) == 0 for n in (header.buffer_count, header.buffer_size))
        if not (
            powers
            and 2 <= header.ring_count <= RINGS_MAX
            and 2 <= header.buffer_count <= BUFFERS_MAX
            and BUFFER_SIZE_MIN <= header.buffer_size <= BUFFER_SIZE_MAX
            and header.schemas_size % 0x10000 == 0
            and header.schemas_size <= SCHEMAS_SIZE_MAX
            and header.serial not in (0, NO_GENERATION)
            and header.ring_stride == stride
            and header[10:] == (rings, providers, schemas, header.schemas_size, buffers, total)
            and os.fstat(self.file).st_size >= total
        ):
            raise InvalidRegion("the header contradicts itself")
        return header

    # Providers ------------------------------------------------------------------------------------

    def provider(self, number):
        """The provider that a record names; None if its entry is invalid."""
        if number >= PROVIDERS_MAX:
            return None
        offset = self.header.providers_offset + number * ENTRY_SIZE
        state, pid, uid, size, schema, _, _, process, *_, event_base = self.unpack(ENTRY, offset)
        end = self.header.buffers_offset
        if (
            state != 1
            or size > SCHEMA_SIZE_MAX
            or not self.header.schemas_offset <= schema <= end
            or end - schema < size
        ):
            return None
        name = process.split(b"\0")[0].decode("utf-8", "replace")
        return Provider(pid, uid, name, self.read_at(schema, size), event_base)

    def event_ranges(self):
        """[(number of the first event, provider)], in order"""
        (count,) = struct.unpack("=I", self.read_at(PROVIDER_COUNT_OFFSET, 4))
        bases = [
            (found.event_base, number)
            for number in range(min(count, PROVIDERS_MAX))
            if (found := self.provider(number)) is not None
        ]
        return sorted(bases)

    def event_of(self, number):
        """The provider, and the position in its schema, that an event number names."""
        index = bisect.bisect_right(self.ranges, (number, PROVIDERS_MAX)) - 1
        if index < 0:
            return None, number
        base, provider = self.ranges[index]
        return provider, number - base

    # Rings ----------------------------------------------------------------------------------------

    def ring_offset(self, ring):
        return self.header.rings_offset + ring * self.header.ring_stride

    def control(self, ring):
        return Control(self.unpack(RING, self.ring_offset(ring))[0])

    def descriptor(self, ring, index):
        offset = self.ring_offset(ring) + RING_SIZE + index * BUFFER_SIZE
        return Descriptor._make(self.unpack(BUFFER, offset))

    def read_rings(self):
        """All rings with memory, each from its oldest record on."""
        for number in range(self.header.ring_count):
            if self.unpack(RING, self.ring_offset(number))[4] != 0:
                yield self.read_ring(number)

    def find_active(self, number):
        """(control word, full generation of the active buffer, all generations)"""
        for _ in range(100):
            control = self.control(number)
            generations = {
                self.descriptor(number, i).generation for i in range(self.header.buffer_count)
            } - {NO_GENERATION}
            # An unfinished buffer switch has a descriptor as well, after the one that the control
            # word names.
            named = [g for g in generations if control.names(g)]
            if len(named) == 1:
                return control, named[0], generations
        raise InvalidRegion(f"ring {number} has no buffer that is in use")

    def read_ring(self, number):
        ring = Ring(number)
        control, active, generations = self.find_active(number)
        for generation in range(active - self.header.buffer_count + 1, active + 1):
            if generation in generations:
                self.read_buffer(ring, generation, control)
        ring.lost = self.unpack(RING, self.ring_offset(number))[1]
        return ring

    def read_buffer(self, ring, generation, control):
        index = generation % self.header.buffer_count
        descriptor = self.descriptor(ring.number, index)
        is_active = control.names(generation) and control.units != SEALED
        filled = control if is_active else Control(descriptor.sealed)
        end = min(filled.units * UNIT, self.header.buffer_size)
        offset = (
            self.header.buffers_offset
            + (ring.number * self.header.buffer_count + index) * self.header.buffer_size
        )
        copy = self.read_at(offset, end)
        # The copy is valid if the buffer was not reused meanwhile.
        now = self.control(ring.number)
        after = self.descriptor(ring.number, index)
        ahead = (now.generation - generation) & 0x3FFFF
        if after.generation != generation or ahead >= self.header.buffer_count:
            ring.overwritten += filled.count
            return
        sequence = descriptor.records_before + descriptor.lost_before
        before = ring.gaps[-1][2] if ring.gaps else 0
        if descriptor.lost_before > before:
            ring.gaps.append((sequence, descriptor.lost_before - before, descriptor.lost_before))
        self.ranges = self.event_ranges()  # after the control word was loaded
        found = list(self.walk(copy, ring.number, sequence))
        ring.records += found
        ring.damaged += max(0, filled.count - len(found))

    def walk(self, copy, ring, sequence):
        offset, context = 0, None
        while offset + 8 <= len(copy):
            (head,) = struct.unpack_from("=Q", copy, offset)
            number, kind, size = head >> 42, head >> 40 & 3, head >> 32 & 0xFF
            header = 8 * (kind + 1)
            if number == 0 or kind > EXTENDED or offset + header > len(copy):
                return
            if kind == CONTEXT:
                (context,) = struct.unpack_from("=Q", copy, offset + 8)
            own, cpu, flags = context, ring, 0
            if kind == EXTENDED:
                own, extended = struct.unpack_from("=QQ", copy, offset + 8)
                if size != 0 or extended >> 56 != 0:
                    return
                header += 8 * (extended >> 48 & 0xFF)
                cpu, flags = extended >> 32 & 0xFFFF, extended >> 16 & 0xFFFF
                size = extended & 0xFFFF
            end = offset + header + size
            if own is None or header + size > RECORD_SIZE_MAX or end > len(copy):
                return
            known = flags & REQUIRED_FLAGS & ~RECORD_FLAGS == 0
            payload = copy[offset + header : end] if known else None
            time = (own & 0xFFFFFFFF) << 32 | head & 0xFFFFFFFF
            provider, event = self.event_of(number)
            yield Record(ring, sequence, provider, event, time, own >> 32, cpu, flags, payload)
            sequence += 1
            offset = round_up(end, UNIT)


def main():
    with Region(sys.argv[1]) as region:
        for ring in region.read_rings():
            print(f"ring {ring.number}: {len(ring.records)} records, {ring.lost} lost")


if __name__ == "__main__":
    main()
