// SPDX-License-Identifier: MIT
//
// Fixed parts of a generated Python module; those with parameters are fmt formats.
#pragma once

#include <string_view>

namespace elog::python_templates {

/// 0: provider and description, 1: hash, 2: provider.
inline constexpr char introduction[] = R"(# Provider {0}
#
# Made by elog schema gen --lang python. Change the schema and make it anew; this is overwritten.
# The hash of the schema is 0x{1:016x}.
#
# The program that imports it is published. Optional fields and texts may be None. If the
# values of an event are expensive to compute, check first: if EVENT_enabled(): EVENT(...)
"""Provider {2}"""

import atexit
import ctypes
import enum
import mmap
import struct
import warnings
)";

/// 0: number of events, 1: bytes of the schema.
inline constexpr char schema[] = R"(

_EVENT_COUNT = {0}
_schema = bytes([
{1}
])
)";

inline constexpr std::string_view registration = R"(

class _Definition(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint32),
        ("event_count", ctypes.c_uint32),
        ("gate", ctypes.c_void_p),
        ("gate_size", ctypes.c_size_t),
        ("schema", ctypes.c_void_p),
        ("schema_size", ctypes.c_size_t),
    ]


class _Piece(ctypes.Structure):
    _fields_ = [("data", ctypes.c_char_p), ("size", ctypes.c_size_t)]


_library = ctypes.CDLL("libeventlog.so.0")
_library.eventlog_raw_provider_register.argtypes = [ctypes.POINTER(_Definition)]
_library.eventlog_raw_provider_register.restype = ctypes.c_void_p
_library.eventlog_raw_provider_unregister.argtypes = [ctypes.c_void_p]
_library.eventlog_raw_provider_unregister.restype = None
_library.eventlog_emit_raw_parts.argtypes = [
    ctypes.c_void_p,
    ctypes.c_uint32,
    ctypes.POINTER(_Piece),
    ctypes.c_size_t,
    ctypes.c_uint32,
]
_library.eventlog_emit_raw_parts.restype = None
_library.eventlog_has_listener.argtypes = [ctypes.c_void_p, ctypes.c_uint32]
_library.eventlog_has_listener.restype = ctypes.c_bool

# One word for each event, and room for counters. The library maps shared memory over it: these
# pages belong to this module alone.
_page = mmap.mmap(-1, max(mmap.PAGESIZE, 8192))
_gate = (ctypes.c_uint32 * 1024).from_buffer(_page)
_definition = _Definition(
    ctypes.sizeof(_Definition),
    _EVENT_COUNT,
    ctypes.addressof(_gate),
    len(_page),
    ctypes.cast(_schema, ctypes.c_void_p),
    len(_schema),
)
_provider = _library.eventlog_raw_provider_register(ctypes.byref(_definition))


def _unregister():
    global _provider
    provider, _provider = _provider, None
    _library.eventlog_raw_provider_unregister(provider)


atexit.register(_unregister)


def _has_listener(event):
    """Whether an event with an open gate has a listener: a gate may be open without one."""
    return _gate[event] & 0x7FFEFFFF != 0 or _library.eventlog_has_listener(_provider, event)


_PAYLOAD_SIZE_MAX = 65536 - 24


class _Event:
    """The layout of an event's payload.

    Each field is (name, code of the module struct or "text" or "bytes", count or 0 for a sequence,
    offset, offset of its presence byte or None).
    """

    def __init__(self, number, name, fixed_size, truncates, fields):
        self.number = number
        self.name = name
        self.fixed_size = fixed_size
        self.truncates = truncates
        self.fields = fields


def _cut_longest(parts, fixed_size):
    """Cuts the longest so that all fit into a record, texts between two characters of UTF-8.

    Each part is (its bytes, whether it is a text, size of an element).
    """
    fixed_size += sum(is_text for _, is_text, _ in parts)
    low, high = 0, _PAYLOAD_SIZE_MAX + 1
    while high - low > 1:
        middle = (low + high) // 2
        if fixed_size + sum(min(len(part), middle) for part, _, _ in parts) <= _PAYLOAD_SIZE_MAX:
            low = middle
        else:
            high = middle
    for i, (part, is_text, unit) in enumerate(parts):
        if len(part) > low:
            size = low - low % unit
            while is_text and size > 0 and part[size] & 0xC0 == 0x80:
                size -= 1
            parts[i] = (part[:size], is_text, unit)


def _encode(event, values):
    """The payload, and whether values of it are truncated."""
    fixed = bytearray(event.fixed_size)
    parts = []
    words = []
    for (name, code, count, offset, presence), value in zip(event.fields, values):
        if presence is not None:
            fixed[presence] = value is not None
        if value is None and (presence is not None or code == "text"):
            continue
        if code == "text":
            parts.append((value.encode("utf-8", "surrogateescape"), True, 1))
            words.append(offset)
        elif code == "bytes":
            parts.append((bytes(memoryview(value)), False, 1))
            words.append(offset)
        elif count == 0:
            elements = list(value)
            packed = struct.pack(f"={len(elements)}{code}", *elements)
            parts.append((packed, False, struct.calcsize("=" + code)))
            words.append(offset)
        elif code == "s":
            text = value.encode() if isinstance(value, str) else bytes(memoryview(value))
            if len(text) > count:
                raise ValueError(f"{name} has more than {count} bytes")
            struct.pack_into(f"={count}s", fixed, offset, text)
        elif count == 1:
            struct.pack_into("=" + code, fixed, offset, value)
        else:
            struct.pack_into(f"={count}{code}", fixed, offset, *value)
    size = len(fixed) + sum(len(part) + is_text for part, is_text, _ in parts)
    cut = event.truncates and size > _PAYLOAD_SIZE_MAX
    if cut:
        _cut_longest(parts, len(fixed))
    payload = bytearray(fixed)
    for offset, (part, is_text, _) in zip(words, parts):
        size = len(part) + is_text
        if size != 0:
            distance = len(payload) - offset - 4
            struct.pack_into("=I", payload, offset, (size & 0xFFFF) << 16 | distance & 0xFFFF)
        payload += part + b"\0" * is_text
    return bytes(payload), cut


def _emit(event, *values):
    # A listener must not make the program fail: a value that cannot be encoded is a warning.
    try:
        payload, cut = _encode(event, values)
    except (TypeError, ValueError, AttributeError, OverflowError, struct.error) as error:
        warnings.warn(f"{event.name} is not emitted: {error}", RuntimeWarning, stacklevel=3)
        return
    piece = _Piece(payload, len(payload))
    _library.eventlog_emit_raw_parts(_provider, event.number, ctypes.byref(piece), 1, 1 if cut else 0)
)";

/// 0: function that tests the gate, 1: event, 2: number of the event.
inline constexpr char enabled[] = R"(])


def {0}():
    """Whether {1} has a listener now."""
    return _gate[{2}] != 0 and _has_listener({2})


)";

}  // namespace elog::python_templates
