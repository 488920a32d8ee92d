# SPDX-License-Identifier: MIT
"""A reader of .elog files, written from elog(5) alone; prints the same as
programs/dump_recording.
"""

import bisect
import heapq
import struct
import subprocess
import sys

HEADS = [0, 208, 40, 16, 64, 88, 24, 160, 32, 32, 48, 32, 48]  # sizes in version 3.0, by type
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

    def skip_attributes(count):
        for _ in range(count):
            take(f"{take('BH')[1]}s")

    _, version, events, _, enumerations, keywords, attributes, _ = take("IHHIHBBQ")
    if version != 3:
        raise ValueError("no schema of version 3")
    name, _ = text(), text()
    skip_attributes(attributes)
    [(take("B"), text()) for _ in range(keywords)]
    for _ in range(enumerations):
        for _ in range((take("BH")[1], text())[0]):
            take("Q"), text()
    parsed = []
    for _ in range(events):
        attributes, _, field_count = take("BBBBHHQ")[3:6]
        event, _, _, fields = text(), text(), text(), []
        skip_attributes(attributes)
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
        self.host, self.segment, self.end, self.identity, self.complete = None, None, None, None, 0
        self.clocks, self.schemas, self.processes, self.providers = [], {}, {}, {}
        self.provider_heads, self.rings, self.losses, self.events = {}, {}, {}, {}
        self.scope, self.omitted, self.omitted_events, self.pauses = None, None, [], set()
        head = self.data.ljust(64, b"\0")
        magic, major, _, identity, required = struct.unpack_from("<8sHHIQ", head)
        has_magic = len(self.data) >= 64 and magic == b"ELOG\r\n\x1a\n"
        sound = has_magic and crc32c(self.data[:60]) == int.from_bytes(self.data[60:64], "little")
        first = len(self.data) >= 64 and self.header(64)
        if sound and (major != 3 or required) or has_magic and major != 3 and not first:
            raise ValueError("no .elog file of version 3")
        if len(self.data) < 64 or not (has_magic or first or self.find(64, 2162688)):
            raise ValueError("no .elog file")
        self.damaged, self.identity = not sound, identity if sound else None
        self.walk()
        if not self.segment:
            raise ValueError("no segment")
        self.host = self.host or (b"", 0, b"")

    def header(self, at):
        """(type, flags, size, checksum, number, identity)"""
        head = self.data[at : at + 32]
        if head[:4] != b"EBLK" or crc32c(head[:28]) != int.from_bytes(head[28:], "little"):
            return None
        found = struct.unpack_from("<HHIIQI", head, 4)
        return found if self.identity in (None, found[5]) and found[2] <= 2097152 else None

    def find(self, at, limit):
        return any(self.header(place) for place in range(at, min(limit, len(self.data)), 8))

    def walk(self):
        at, number, seen = 64, 0, set()
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
            number = head[4] + 1
            if (head[4], head[3], head[2]) in seen:
                continue
            seen.add((head[4], head[3], head[2]))
            if head[0] >= 32768:
                raise ValueError("a block that a reader must know")
            if head[0] >= len(HEADS):
                continue
            if head[1] & 0xFE or crc32c(payload) != head[3]:
                self.damaged = True
                continue
            size = int.from_bytes(payload[:2], "little") if len(payload) > 1 else 0
            if not HEADS[head[0]] <= size <= min(len(payload), 2048):
                self.damaged = True
                continue
            if head[1] & 1:
                command = ["zstd", "-dcq"]
                frame = subprocess.run(command, input=payload[size:], stdout=-1, check=True)
                payload = payload[:size] + frame.stdout
            self.block(head[0], payload[:size], payload[size:])

    def block(self, kind, head, body):
        if kind == 1 and not self.host:
            _, major, part, required, _, _, _, name, _, _ = struct.unpack_from(
                "<HHIQQQ16s64s64s32s", head)
            if major != 3 or required:
                raise ValueError("no .elog file of version 3")
            self.host = name.split(b"\0")[0], part, body
        elif kind == 2:
            reading = struct.unpack_from("<QQqQ", head, 8)
            self.complete = max(self.complete, reading[3])
            last = self.clocks[-1] if self.clocks else (-1, 0)
            if reading[0] > last[0] and reading[1] >= last[1]:
                self.clocks.append(reading[:3])
        elif kind == 3:
            size, schema_hash = struct.unpack_from("<IQ", head, 4)
            try:
                self.schemas[schema_hash] = parse_schema(body[:size])
            except (struct.error, ValueError):
                self.damaged = True
        elif kind == 4:
            encoding, _, segment, ring, count = struct.unpack_from("<BBHHQ", head, 2)
            if encoding > 1 or segment:
                self.damaged = True
            else:
                (lost,) = struct.unpack_from("<Q", head, 24)
                context, size = struct.unpack_from("<QI", head, 48)
                run = encoding, count, size, context, body
                self.rings.setdefault(ring, []).append((self.complete, lost, *run))
        elif kind == 5:
            scope, _, _, index = struct.unpack_from("<BBHH", head, 2)
            counts = struct.unpack_from("<QQQQQQQI4x16s", head, 8)
            self.losses[scope, index] = *counts, body[1 : 1 + body[0]].decode("latin-1")
        elif kind == 6:
            reason, _, records, lost = struct.unpack_from("<HIQQ", head, 2)
            self.end = reason, records, lost
        elif kind == 9 and not self.segment:
            self.segment = struct.unpack_from("<II", head, 4)
        elif kind == 10:
            number, pid, uid, _, _, _, name = struct.unpack_from("<IIIQII16s", head, 4)
            self.processes.setdefault(number, (pid, uid, name.split(b"\0")[0]))
        elif kind == 11:
            number, _, process, *events, _, schema = struct.unpack_from("<HHIIIIQ", head, 4)
            self.events.setdefault(number, events)
            if number in self.provider_heads:
                self.damaged |= head[:32] != self.provider_heads[number]
                return
            self.damaged |= schema not in self.schemas or process not in self.processes
            if schema in self.schemas:
                self.provider_heads[number] = head[:32]
                process = self.processes.get(process, (0, 0, b""))
                self.providers.setdefault(number, (*process, *self.schemas[schema]))
        elif kind == 12:
            self.note(struct.unpack_from("<HHHQQQQQ", head, 2), body)

    def note(self, note, body):
        if note[0] in (1, 2):
            self.pauses.add((note[3], note[4], "pause" if note[0] == 1 else "resume"))
        elif note[0] == 6:
            self.scope = note[3:6]
        elif note[0] == 5:
            provider = body[1 : 1 + body[0]].decode("latin-1")
            event = body[2 + len(provider) :].decode("latin-1")
            if provider:
                self.omitted_events.append((f"{provider}:{event}", *note[3:7]))
            else:
                self.omitted = note[4:8]

    def realtime(self, clock):
        if not self.clocks:
            return (clock + 2**63) % 2**64 - 2**63
        after = bisect.bisect_right(self.clocks, (clock, 1 << 64))
        near = self.clocks[after - 1 : after + 1] if 0 < after < len(self.clocks) else self.clocks
        base, first, last = self.clocks[max(after - 1, 0)], near[0], near[-1]
        ticks = last[0] - first[0] if self.segment[0] == 2 and first != last else 0
        return base[2] + int((clock - base[0]) * ((last[1] - first[1]) / ticks if ticks else 1.0))

    def records(self, ring):
        """(place, ring, lost before, head, payload) of each record of a ring. A head is provider,
        event, time, thread, CPU and flags."""
        last = 0
        for complete, lost, encoding, count, size, context, data in self.rings[ring]:
            for record in (
                self.compacted(count, size, data) if encoding else
                self.verbatim(count, ring, context, data)
            ):
                *head, payload = record
                _, _, time, _, _, flags = head
                last = last if flags & 2 else time
                place = max(last, complete) if flags & 2 else last
                yield (place, time), ring, lost, head, payload
                lost = 0

    def verbatim(self, count, ring, context, data):
        """The records before damage."""
        at = 0
        while at < len(data):
            words = struct.unpack_from("<4Q", data[at : at + 32].ljust(32, b"\0"))
            number, kind, size = words[0] >> 42, words[0] >> 40 & 3, words[0] >> 32 & 255
            begin, own, cpu, flags, named = at + 8 * (kind + 1), words[1], ring, 0, 0
            good = number != 0 and kind != 3 and (kind != 0 or context != 0)
            if kind == 0:
                own = context
            elif kind == 2:
                good = good and size == 0 and words[2] >> 57 == 0
                begin += 8 * (words[2] >> 48 & 255)
                cpu, flags, size = (words[2] >> shift & 65535 for shift in (32, 16, 0))
                named = words[2] >> 56 & 1
                good = good and (not named or words[2] >> 48 & 255)
            end = (begin + size + 7) // 8 * 8
            if not good or size > 65512 or end - at > 65544 or end > len(data):
                self.damaged = True
                return
            context = own if kind == 1 else context
            event = (words[3] >> 32, words[3] & 65535) if named else self.event(number)
            time = (own & 0xFFFFFFFF) << 32 | words[0] & 0xFFFFFFFF
            yield *event, time, own >> 32, cpu, flags, data[begin : begin + size]
            at, count = end, count - 1
        self.damaged |= count != 0

    def compacted(self, count, size, data):
        """The records before damage: at most `count`, which `size` bytes have room for."""
        for record in compacted_records(data):
            size -= (32 + len(record[-1]) + 7) // 8 * 8 if record else 0
            if not record or count == 0 or size < 0:
                self.damaged = True
                return
            count -= 1
            yield *self.event(record[0]), *record[1:]
        self.damaged |= count != 0 or size != 0

    def event(self, number):
        """(provider, position in its schema)"""
        for provider, (first, count) in self.events.items():
            if first <= number < first + count:
                return provider, number - first
        return None, 0

    def dump(self):
        clock, rings = self.segment
        name, part, command = self.host
        yield f"host {clock} {rings} {name.hex()} {part} {command.hex()}"
        merged = heapq.merge(*map(self.records, sorted(self.rings)), key=lambda record: record[0])
        for _, ring, lost, head, payload in merged:
            provider, event, time, thread, cpu, flags = head
            line = f"record {ring} {lost} {time} {self.realtime(time)} {cpu} {thread} {flags} "
            known = self.providers.get(provider)
            if flags & 255 & ~3 or not known or event >= len(known[4]):
                yield line + f"? {len(payload)}"
                continue
            pid, uid, process, provider_name, events = known
            fields = "".join(f" {field[0]}={value(field, payload)}" for field in events[event][1])
            yield line + f"{pid} {uid} {process.hex()} {provider_name}:{events[event][0]}" + fields
        for key, (full, large, busy, damaged, over, unwritten, start, pid, process, provider) in (
            self.losses.items()):
            process = process.split(b"\0")[0].hex()
            yield " ".join(map(str, ("loss", *key, full, large, busy, damaged, over, unwritten, pid,
                                     start, process, provider)))
        for time, number, kind in sorted(self.pauses):
            yield f"{kind} {number} {time}"
        if self.scope:
            yield "scope " + " ".join(map(str, self.scope))
        for words in ([self.omitted] if self.omitted else []) + self.omitted_events:
            yield "omitted " + " ".join(map(str, words))
        if self.end:
            yield "end " + " ".join(map(str, self.end))
        yield "damaged" if self.damaged else "whole"


def compacted_records(data):
    """(event, time, thread, cpu, flags, payload) of each record; then None if there is damage."""
    at, time, thread, cpu, entries, defined = 0, 0, 0, 0, {}, 0

    def take(size):
        nonlocal at
        at += size
        if at > len(data):
            raise LookupError
        return data[at - size : at]

    def number(size):
        return int.from_bytes(take(size), "little")

    try:
        while at < len(data):
            tag = number(1)
            if tag == 252:
                event, mode, fixed, word = struct.unpack("<IBBB", take(7))
                if mode > 2 or not (not word, not fixed and not word, word + 4 <= fixed)[mode]:
                    raise LookupError
                entries[defined % 63], defined = (event, mode, fixed, word), defined + 1
            elif tag == 253:
                thread = number(4)
            elif tag == 254:
                time, thread, cpu = struct.unpack("<QIH", take(14))
            elif tag == 255:
                event, its_thread, its_time, its_cpu, flags, size = struct.unpack(
                    "<IIQHHH", take(22))
                if size > 65512:
                    raise LookupError
                yield event, its_time, its_thread, its_cpu, flags, take(size)
            else:
                event, mode, fixed, word = entries[tag >> 2]
                time = (time + number((tag & 3) + 1)) % 2**64
                if mode == 2:
                    part, n = take(fixed - 4), number(1)
                    text = take(n - 1) + b"\0" if n else b""
                    place = struct.pack("<I", n << 16 | fixed - word - 4 if n else 0)
                    payload = part[:word] + place + part[word:] + text
                else:
                    payload = take(number(1) if mode else fixed)
                yield event, time, thread, cpu, 0, payload
    except LookupError:
        yield None


def value(field, payload):
    """The value of an event's field."""
    _, kind, count, offset, presence = field
    size = struct.calcsize(NUMBERS.get(kind, "Q" if kind == 12 else "I"))
    if presence != 65535 and (presence >= len(payload) or not payload[presence]):
        return "none" if presence < len(payload) else "damaged"
    if offset + (size * count or 4) > len(payload):
        return "damaged"
    if count == 0:  # a sequence
        payload, offset = variable(payload, offset), 0
        if payload is None or len(payload) % size:
            return "damaged"
    number = count or len(payload) // size
    each = [element(kind, payload, offset + i * size, size) for i in range(number)]
    return each[0] if count == 1 else "[" + ",".join(each) + "]"


def variable(payload, at):
    """The bytes of a text, byte string or sequence whose word is there; None: damaged."""
    (word,) = struct.unpack_from("<I", payload, at)
    data = payload[at + 4 + (word & 65535) :][: word >> 16]
    return data if len(data) == word >> 16 else None


def element(kind, payload, at, size):
    """A value, or an element of an array."""
    if kind in (11, 12):
        return "f" + payload[at : at + size].hex()
    if kind < 11:
        number = struct.unpack_from("<" + NUMBERS[kind], payload, at)[0]
        return str(number if kind != 1 else number != 0).lower()
    if payload[at : at + 4] == bytes(4):
        return "null" if kind == 13 else "x"
    data = variable(payload, at)
    if data is None or (kind == 13 and data[-1:] != b"\0"):
        return "damaged"
    return "x" + (data[:-1] if kind == 13 else data).hex()


if __name__ == "__main__":
    try:
        print("\n".join(File(sys.argv[1]).dump()))
    except ValueError:
        print("refused")
