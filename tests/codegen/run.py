#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles call sites and checks the cost of a disabled emit in their machine code.

usage: run.py FILE... -- COMPILER [FLAGS...]

Walks each function of a FILE with an expectation (see there) along the path for a disabled
event. Between the calls of begin() and end() there must be one load of the gate word, directly
from its address, one test of it and one jump that is not taken. Before begin() the function may
only save its arguments.

For functions that emit an event in memory it checks the path for an enabled event: they must
read each byte of the event once, in words of eight bytes or more, and only move the words.
"""

import dataclasses
import functools
import os
import re
import subprocess
import sys
import tempfile

SKIPPED = 77

# The gate word at an address that the linker puts into the instruction. A load through the global
# offset table (R_X86_64_REX_GOTPCRELX) would be a second load, also in a shared object.
DIRECT_RELOCATIONS = {"R_X86_64_PC32", "R_X86_64_32", "R_X86_64_32S"}

# How a function saves its arguments across a call: its frame, and moves between registers or to its
# stack.
CALLEE_SAVED = re.compile(
    r"endbr64|nop.*|push +%\w+|(sub|add) +\$0x[0-9a-f]+,%rsp|(lea) +-?0x[0-9a-f]+\(%rsp\),%rsp|"
    r"mov\w* +%\w+,(%\w+|(-?0x[0-9a-f]+)?\(%r[sb]p\))"
)
GATE_LOAD = re.compile(r"mov +0x0(?:\(%rip\))?,(%e\w+|%r\d+d)\b.*")
GATE_TEST = re.compile(r"test +(%\w+),(%\w+)")
GATE_COMPARISON = re.compile(r"cmpl +\$0x0,0x0(\(%rip\))?.*")
JUMP = re.compile(r"(j\w+) +([0-9a-f]+)\b.*")
# An operand in the event, to which the first argument points; a move to that register ends the
# event.
IN_EVENT = re.compile(r"(-?0x[0-9a-f]+)?\(%rdi\)")
ENDS_EVENT = re.compile(r".*,%[re]di( +#.*)?")
WORD_READ = re.compile(r"(?:mov|push|pushq|movq) +(-?0x[0-9a-f]+)?\(%rdi\)(?:,(%r\w+|%xmm\d+))?")
TWO_WORDS_READ = re.compile(r"mov(?:up[sd]|dqu|ap[sd]|dqa) +(-?0x[0-9a-f]+)?\(%rdi\),%xmm\d+")
NARROW = {"b": 1, "w": 2, "l": 4}
# Besides reading: moves to argument registers, their frame, and the return.
MOVING = re.compile(
    r"(mov|movq|mov[au]p[sd]|movdq[au]|push|pushq|pop|sub|add|lea|test|jne|je|jmp|call|ret|endbr64|"
    r"nop\w*|xchg|data16|cs)\b.*"
)
PADDING = re.compile(r"nop.*|xchg +%ax,%ax|jmp .*")


@dataclasses.dataclass
class Instruction:
    address: int
    text: str
    relocation: str = ""  # its type
    symbol: str = ""

    def named(self):
        """For messages: with the name of the called or read symbol."""
        return f"{self.text.split()[0]} {self.symbol}" if self.symbol else self.text

    def is_call_of(self, name):
        return self.text.startswith("call") and self.symbol == name

    def reads_gate(self):
        # provider_state<...>::gate, mangled; its words lie at offsets from it.
        return (
            self.relocation in DIRECT_RELOCATIONS
            and "provider_state" in self.symbol
            and self.symbol.endswith("4gateE")
        )


class Unexpected(Exception):
    """A hot path has more instructions than allowed."""


def read_expectations(path):
    """{function: (check of its instructions, expected complaint or None)}"""
    with open(path, encoding="utf-8") as file:
        source = file.read()
    gates = re.findall(
        r"^// expect(?:: gate| complaint: (.*\S))\nint (\w+)\(", source, re.MULTILINE
    )
    copies = re.findall(
        r"^// expect copy(?:: (\d+) bytes| complaint: (.*\S))\nvoid (\w+)\(", source, re.MULTILINE
    )
    if len(gates) + len(copies) != len(re.findall(r"^// expect", source, re.MULTILINE)):
        sys.exit(f"{path}: an `// expect` does not stand above a function")
    found = {function: (check_gates, complaint or None) for complaint, function in gates}
    for size, complaint, function in copies:
        check = functools.partial(check_copy, size=int(size or 0))
        found[function] = (check, complaint or None)
    return found


def compile_object(command, path, target):
    result = subprocess.run([*command, "-std=c++20", "-O2", "-c", path, "-o", target], check=False)
    if result.returncode != 0:
        sys.exit(f"{path}: does not compile")


def disassemble(path):
    """{function: its instructions}"""
    listing = subprocess.run(
        ["objdump", "--disassemble", "--reloc", "--no-show-raw-insn", path],
        env={**os.environ, "LC_ALL": "C"},
        stdout=subprocess.PIPE, encoding="utf-8", check=True,
    ).stdout
    if "elf64-x86-64" not in listing:
        print("Skipped: only x86-64's instructions are known here.")
        sys.exit(SKIPPED)
    functions = {}
    instructions = []
    for line in listing.splitlines():
        if match := re.fullmatch(r"[0-9a-f]+ <(.*)>:", line):
            instructions = functions.setdefault(match[1], [])
        elif match := re.fullmatch(r"\s+[0-9a-f]+: (R_\w+)\s+(\S+?)(?:[-+]0x[0-9a-f]+)?", line):
            instructions[-1].relocation, instructions[-1].symbol = match.groups()
        elif match := re.fullmatch(r"\s*([0-9a-f]+):\s+(.*\S)\s*", line):
            instructions.append(Instruction(int(match[1], 16), match[2]))
    return functions


def require(condition, instruction, why):
    if not condition:
        raise Unexpected(f"{instruction.named()}: {why}")


def hot_path(instructions):
    """The instructions up to the call of end(), while all gate words are zero."""
    at = {instruction.address: index for index, instruction in enumerate(instructions)}
    index = 0
    path = []
    # Longer than any path without a loop.
    while len(path) <= len(instructions):
        instruction = instructions[index]
        path.append(instruction)
        index += 1
        if instruction.is_call_of("end"):
            return path
        require(not instruction.text.startswith("ret"), instruction, "returns before end()")
        jump = JUMP.fullmatch(instruction.text)
        # After a test of zero, je is taken and jne is not. check_gate rejects other jumps.
        if jump and jump[1] in ("jmp", "je"):
            require(int(jump[2], 16) in at, instruction, "leaves the function")
            index = at[int(jump[2], 16)]
    raise Unexpected("does not come to end()")


def check_gate(instructions):
    """Between begin() and end() there must be one load, one test, one jump."""
    expected = ["load", "test", "jump"]
    surplus = []
    word = None  # the register with the gate word
    for step in instructions:
        load = GATE_LOAD.fullmatch(step.text) if step.reads_gate() else None
        test = GATE_TEST.fullmatch(step.text)
        if load and expected[:1] == ["load"]:
            word = load[1]
            expected = expected[1:]
        elif step.reads_gate() and GATE_COMPARISON.fullmatch(step.text) and len(expected) == 3:
            expected = ["jump"]
        elif test and test[1] == test[2] == word and expected[:1] == ["test"]:
            expected = ["jump"]
        elif JUMP.fullmatch(step.text) and expected == ["jump"]:
            expected = []
        elif not PADDING.fullmatch(step.text):
            surplus.append(step.named())
    if surplus:
        raise Unexpected(f"beside the gate: {'; '.join(surplus)}")
    if expected:
        raise Unexpected(f"no gate: missing {', '.join(expected)}")


def read_of_event(step):
    """(offset, size) of an instruction's read from the event; None if it has none."""
    operand = IN_EVENT.search(step.text)
    if operand is None or step.text.startswith("lea"):
        return None
    offset = int(operand[1] or "0", 16)
    if TWO_WORDS_READ.fullmatch(step.text):
        return offset, 16
    word = WORD_READ.fullmatch(step.text)
    if word and (word[2] is None or re.fullmatch(r"%r(\w\w|\d+)|%xmm\d+", word[2])):
        return offset, 8
    # movzbl, movzwl, movss, mov to a register of four bytes; any other read counts as one byte.
    width = re.match(r"movz([bw])", step.text)
    narrow = NARROW[width[1]] if width else 4 if re.match(r"mov(ss|d)? ", step.text) else 1
    require(False, step, f"reads {narrow} bytes of the event")
    return None


def check_copy(instructions, size):
    """Requires an event of this size, at the first argument, to be read once and moved."""
    read = []
    for step in instructions:
        if (found := read_of_event(step)) is not None:
            read.extend(range(found[0], found[0] + found[1]))
        require(MOVING.fullmatch(step.text), step, "does more than move the event's words")
        if ENDS_EVENT.fullmatch(step.text):
            break
    else:
        raise Unexpected("hands over no event")
    if sorted(read) != list(range(size)):
        raise Unexpected(f"the event's {size} bytes are not read once each: {sorted(read)}")


def check_gates(instructions):
    path = hot_path(instructions)
    starts = [index for index, step in enumerate(path) if step.is_call_of("begin")]
    if len(starts) != 1:
        raise Unexpected("begin() is not called once")
    for step in path[: starts[0]]:
        require(CALLEE_SAVED.fullmatch(step.text), step, "stands in front of begin()")
    check_gate(path[starts[0] + 1 : -1])


def judge(check, expected, instructions):
    """Returns the error, or None."""
    try:
        check(instructions)
    except Unexpected as unexpected:
        if expected is None:
            return str(unexpected)
        return None if expected in str(unexpected) else f"{unexpected}; expected: {expected}"
    return None if expected is None else f"nothing to complain about; expected: {expected}"


def check_file(path, command):
    """Returns whether the machine code of each function of the file is as its comment expects."""
    expectations = read_expectations(path)
    with tempfile.TemporaryDirectory(prefix="eventlog-codegen-") as directory:
        target = os.path.join(directory, "sites.o")
        compile_object(command, path, target)
        functions = disassemble(target)
    is_right = bool(expectations)
    for function, (check, expected) in expectations.items():
        complaint = judge(check, expected, functions[function])
        if complaint is not None:
            is_right = False
            print(f"{function}: {complaint}")
            for instruction in functions[function]:
                print(f"    {instruction.address:x}: {instruction.text} {instruction.symbol}")
    return is_right


def main():
    arguments = sys.argv[1:]
    separator = arguments.index("--") if "--" in arguments else 0
    paths, command = arguments[:separator], arguments[separator + 1:]
    if not paths or not command:
        sys.exit(__doc__)
    wrong = [path for path in paths if not check_file(path, command)]
    if wrong:
        sys.exit(f"{', '.join(wrong)}: the machine code differs from what the functions expect")


if __name__ == "__main__":
    main()
