# SPDX-License-Identifier: MIT
"""The same as zoo.c, through the module of elog schema gen --lang python."""

import struct
import sys

import zoo

zoo.numbers(
    True, "x", -(2**7), -(2**15), -(2**31), -(2**63), 2**8 - 1, 2**16 - 1, 2**32 - 1, 2**64 - 1,
    0.5, -0.25,
)
zoo.named(
    zoo.Size.LARGE, zoo.Balance.DEBT, zoo.Diet.GRASS | zoo.Diet.FISH,
    [zoo.Size.LARGE, zoo.Size.HUGE],
)
zoo.formats(
    0xDEADBEEF, -2, 1500000, 1700000000123456789, 12345678901, 2048, bytes([192, 0, 2, 1]),
    bytes([0x20, 0x01, 0x0D, 0xB8]) + bytes(11) + b"\1", bytes([0, 1, 2, 0xFD, 0xFE, 0xFF]),
    "label", struct.unpack("=I", bytes([127, 0, 0, 1]))[0], 50,
)
zoo.texts("name", b"\x01\xff", "\u00e9", [1, 2, 65535])
zoo.options(0, "", b"", True, zoo.Size.HUGE, bytes([10, 0, 0, 1]), [-1, 2])
zoo.options(None, None, None, None, None, None, None)
zoo.long_texts("short", bytes(2), 7, "text")
zoo.long_texts("\u00e9" * 35000, bytes(30001), 7, "short")
zoo.sequences(
    [150, 2**32 - 1], (True, False, True), [0.5, -0.25], [zoo.Size.LARGE, zoo.Size.HUGE],
    [zoo.Balance.DEBT], [zoo.Diet.GRASS | zoo.Diet.FISH, zoo.Diet.MEAT], iter([1500, 2500000]), "den",
    [-(2**7), 0],
)
zoo.sequences([], [], [], [], [], [], [], "", None)
zoo.long_sequences("short", range(3), [-1, 2], range(2))
zoo.long_sequences("short", range(10000), [-1, 2], range(15000))
zoo.visit(1500, 7, "dawn")
zoo.pause(2500000)
zoo.visitors(3)
zoo.nothing()
zoo.delete(1, 2, 3, 4, 5, "text")
zoo.nothing()
sys.exit(0 if zoo.nothing_enabled() and zoo.delete_enabled() else 1)
