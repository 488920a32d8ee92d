# SPDX-License-Identifier: MIT
"""A reader of .elog files, written from elog(5) alone; prints the same as
programs/dump_recording.
"""

import bisect
import heapq
import struct
import subprocess
import sys

HEADS = {3: 32, 4: 48}  # the uncompressed part of blocks that may be compressed
NUMBERS = {1: "B", 2: "B", 3: "b", 4: "h", 5: "i", 6: "q", 7: "B", 8: "H", 9: "I", 10: "Q"}

CRC = list(range(256))
for _ in range(8):
    CRC = [value >> 1 ^ (0x82F63B78 if value & 1 else 0) for value in CRC]


def crc32c(data):
    value = 0xFFFFFFFF
    for byte in data:
        value = CRC[(value ^ byte) & 0xFF] ^ value >> 8
    return value ^ 0xFFFFFFFF


def parse_schema(data):
    """(provider name, [(event name, fields)])"""
    at = 0

    def take(form):
        nonlocal at
        at += struct.calcsize("<" + form)
        return struct.unpack_from("<" + form, data, at - struct.calcsize("<" + form))

    def text():
        return take(f"{take('B')[0]}s")[0].decode("latin-1")

    _, _, events, _, enumerations, keywords, _, _ = take("IHHIHBBQ")
    name, _ = text(), text()
    [(take("B"), text()) for _ in range(keywords)]
    for _ in range(enumerations):
        for _ in range((take("BH")[1], text())[0]):
            take("Q"), text()
    parsed = []
    for _ in range(events):
        field_count = take("BBBBHHQ")[5]
        event, _, _, fields = text(), text(), text(), []
        for _ in range(field_count):
            kind, _, count, offset, presence, _ = take("BBHHHH")
            field, _, _ = text(), text(), text()
            fields.append((field, kind, count, offset, presence))
        parsed.append((event, fields))
    return name, parsed


class File:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        self.host, self.end, self.identity, self.complete = None, None, None, 0
        self.clocks, self.providers, self.rings, self.losses = [], {}, {}, []
        magic, version, identity = struct.unpack_from("<8sII", self.data.ljust(32, b"\0"))
        is_ours = len(self.data) >= 32 and magic == b"ELOG\r\n\x1a\n"
        sound = is_ours and crc32c(self.data[:28]) == int.from_bytes(self.data[28:32], "little")
        if (sound and version != 2) or not (is_ours or self.header(32)):
            raise ValueError("no .elog file of version 2")
        self.damaged, self.identity = not sound, identity if sound else None
        self.walk()
        if not self.host:
            raise ValueError("no host")

    def header(self, at):
        """(type, flags, size, checksum, number, identity)"""
        head = self.data[at : at + 32]
        if head[:4] != b"EBLK" or crc32c(head[:28]) != int.from_bytes(head[28:], "little"):
            return None
        found = struct.unpack_from("<HHIIQI", head, 4)
        return found if self.identity in (None, found[5]) and found[2] <= 2097152 else None

    def walk(self):
        at, number = 32, 0
        while at < len(self.data):
            head = self.header(at)
            if not head or at + 32 + head[2] > len(self.data):
                self.damaged = True
                at += 8
                continue
            self.identity = head[5]
            payload = self.data[at + 32 : at + 32 + head[2]]
            end = at + 32 + (head[2] + 7) // 8 * 8
            self.damaged |= any(self.data[at + 32 + head[2] : end]) or head[4] != number
            at = end
            is_late, number = head[4] < number, max(number, head[4] + 1)
            if is_late or head[1] & ~1 or not 1 <= head[0] <= 7:
                continue
            if crc32c(payload) != head[3]:
                self.damaged = True
                continue
            if head[1] & 1:
                plain, command = HEADS[head[0]], ["zstd", "-dcq"]
                frame = subprocess.run(command, input=payload[plain:], stdout=-1, check=True)
                payload = payload[:plain] + frame.stdout
            self.block(head[0], payload)

    def block(self, kind, data):
        if kind == 1 and not self.host:
            self.host = struct.unpack_from("<II64s64s32sQI", data)
        elif kind == 2:
            self.complete = max(self.complete, struct.unpack_from("<Q", data, 24)[0])
            pair = struct.unpack_from("<QQQ", data)
            last = self.clocks[-1] if self.clocks else (-1, 0)
            if pair[0] > last[0] and pair[1] >= last[1]:
                self.clocks.append(pair)
        elif kind == 3:
            number, _, pid, uid, size, name = struct.unpack_from("<HHIII16s", data)
            schema = parse_schema(data[32 : 32 + size])
            self.providers.setdefault(number, (pid, uid, name.split(b"\0")[0], *schema))
        elif kind == 4:
            number = int.from_bytes(data[:4], "little")
            self.rings.setdefault(number, []).append((self.complete, data))
        elif kind == 5:
            self.losses.append(struct.unpack_from("<IIQQQQ", data))
        elif kind == 6:
            self.end = struct.unpack_from("<QQ", data)

    def realtime(self, clock):
        if not self.clocks:
            return (clock + 2**63) % 2**64 - 2**63
        after = bisect.bisect_right(self.clocks, (clock, 1 << 64))
        near = self.clocks[after - 1 : after + 1] if 0 < after < len(self.clocks) else self.clocks
        base, first, last = self.clocks[max(after - 1, 0)], near[0], near[-1]
        ticks = last[0] - first[0] if self.host[0] == 2 and first != last else 0
        return base[2] + int((clock - base[0]) * ((last[1] - first[1]) / ticks if ticks else 1.0))

    def records(self, ring):
        """(place, ring, lost before, header, payload) of each record of a ring."""
        last = 0
        for complete, data in self.rings[ring]:
            at, lost = 48, struct.unpack_from("<Q", data, 24)[0]
            while at < len(data):
                head = struct.unpack_from("<IHHQIHH", data, at)
                last = last if head[6] & 2 else head[3]
                place = max(last, complete) if head[6] & 2 else last
                yield (place, head[3]), ring, lost, head, data[at + 24 : at + head[0]]
                at, lost = at + (head[0] + 7) // 8 * 8, 0

    def dump(self):
        clock, rings, name, _, _, _, part = self.host
        yield f"host {clock} {rings} " + name.split(b"\0")[0].hex() + f" {part}"
        merged = heapq.merge(*map(self.records, sorted(self.rings)), key=lambda record: record[0])
        for _, ring, lost, head, payload in merged:
            _, provider, event, time, thread, cpu, flags = head
            line = f"record {ring} {lost} {time} {self.realtime(time)} {cpu} {thread} {flags} "
            known = self.providers.get(provider)
            if flags & ~3 or not known or event >= len(known[4]):
                yield line + f"? {len(payload)}"
                continue
            pid, uid, process, provider_name, events = known
            fields = "".join(f" {field[0]}={value(field, payload)}" for field in events[event][1])
            yield line + f"{pid} {uid} {process.hex()} {provider_name}:{events[event][0]}" + fields
        for loss in self.losses:
            yield "loss " + " ".join(map(str, loss))
        if self.end:
            yield f"end {self.end[0]} {self.end[1]}"
        yield "damaged" if self.damaged else "whole"


def value(field, payload):
    """The value of an event's field."""
    _, kind, count, offset, presence = field
    size = struct.calcsize(NUMBERS.get(kind, "Q" if kind == 12 else "I"))
    if presence != 65535 and (presence >= len(payload) or not payload[presence]):
        return "none" if presence < len(payload) else "damaged"
    if offset + size * count > len(payload):
        return "damaged"
    each = [element(kind, payload, offset + i * size, size) for i in range(count)]
    return each[0] if count == 1 else "[" + ",".join(each) + "]"


def element(kind, payload, at, size):
    """A value, or an element of an array."""
    if kind in (11, 12):
        return "f" + payload[at : at + size].hex()
    if kind < 11:
        number = struct.unpack_from("<" + NUMBERS[kind], payload, at)[0]
        return str(number if kind != 1 else number != 0).lower()
    (word,) = struct.unpack_from("<I", payload, at)
    if word == 0:
        return "null" if kind == 13 else "x"
    data = payload[at + 4 + (word & 65535) :][: word >> 16]
    if len(data) < word >> 16 or (kind == 13 and data[-1:] != b"\0"):
        return "damaged"
    return "x" + (data[:-1] if kind == 13 else data).hex()


if __name__ == "__main__":
    try:
        print("\n".join(File(sys.argv[1]).dump()))
    except ValueError:
        print("refused")
