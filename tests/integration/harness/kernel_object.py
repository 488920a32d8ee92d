# SPDX-License-Identifier: MIT
"""The trace events in a kernel module (ELF, 64 bits, little-endian).

The kernel makes events/*/format from them: a list of fields and the text of TP_printk.
"""

import struct

SECTION = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
RELOCATION = struct.Struct("<QQq")
# struct trace_event_fields: type, name, size, align, more.
FIELD = struct.Struct("<QQii16x")
TRACE_ENTRY_SIZE = 8


class KernelObject:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        begin = struct.unpack_from("<Q", self.data, 40)[0]
        count = struct.unpack_from("<H", self.data, 60)[0]
        self.sections = [
            SECTION.unpack_from(self.data, begin + i * SECTION.size) for i in range(count)
        ]
        self.symbols = self._read_symbols()
        self.named = {name: (section, value) for name, section, value in self.symbols}
        self.pointers = self._read_relocations()

    def _text(self, offset):
        return self.data[offset : self.data.index(b"\0", offset)].decode()

    def _read_symbols(self):
        table = next(section for section in self.sections if section[1] == 2)
        names = self.sections[table[6]][4]
        symbols = []
        for offset in range(table[4], table[4] + table[5], SYMBOL.size):
            name, _info, _other, section, value, _size = SYMBOL.unpack_from(self.data, offset)
            symbols.append((self._text(names + name), section, value))
        return symbols

    def _read_relocations(self):
        """{(section, offset) of a pointer: (section, offset) of its target}"""
        pointers = {}
        for section in self.sections:
            if section[1] != 4:
                continue
            for offset in range(section[4], section[4] + section[5], RELOCATION.size):
                place, info, addend = RELOCATION.unpack_from(self.data, offset)
                _name, target, value = self.symbols[info >> 32]
                pointers[section[7], place] = (target, value + addend)
        return pointers

    def _text_behind(self, section, offset):
        target, place = self.pointers[section, offset]
        return self._text(self.sections[target][4] + place)

    def events(self):
        begin = "trace_event_fields_"
        return sorted(name[len(begin) :] for name in self.named if name.startswith(begin))

    def fields(self, event):
        """(type, name, offset after struct trace_entry, size) of each field, as the kernel lays
        them out."""
        section, place = self.named["trace_event_fields_" + event]
        found, offset = [], TRACE_ENTRY_SIZE
        while (section, place) in self.pointers:
            _, _, size, align = FIELD.unpack_from(self.data, self.sections[section][4] + place)
            offset = (offset + align - 1) // align * align
            found.append(
                (
                    self._text_behind(section, place),
                    self._text_behind(section, place + 8),
                    offset - TRACE_ENTRY_SIZE,
                    size,
                )
            )
            offset += size
            place += FIELD.size
        return found

    def print_format(self, event):
        section, place = self.named["print_fmt_" + event]
        return self._text(self.sections[section][4] + place)

    def system(self, provider):
        section, place = self.named[f"str__eventlog_{provider}__trace_system_name"]
        return self._text(self.sections[section][4] + place)
