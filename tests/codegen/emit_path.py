#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks what an emit calls and how much stack it needs, with its slow path and an attach.

usage: emit_path.py SOURCES RULES PLANTED -- COMPILER [FLAGS...]

Compiles the library's sources (a list of files beside the list) with -fcallgraph-info=su and walks
the graph of calls from the functions that emit. Fails if one of them comes to a function outside of
the library that RULES does not allow, or calls through a pointer that RULES does not name, or needs
more stack than RULES allows. PLANTED is a source with such mistakes, which must all be found.

RULES has one rule a line, and says why:

    limit BYTES                  of the stack of an emit
    root FUNCTION [BYTES [without TEXT]]   a function that emits, and its limit if it has another
                                 one, if it calls no function with TEXT in its symbol
    call BYTES FUNCTION REASON   a function of the C library, and the stack that it needs
    pointer FUNCTION REASON      a function of the library that calls the program through a pointer
    apart FUNCTION REASON        a function whose stack is documented on its own
    again FUNCTION FUNCTION REASON  a call that closes a circle, or that no emit makes: it is
                                 not followed
    tail FUNCTION FUNCTION REASON   a jump that ends the first function: its stack is free by then.
                                 Checked in the machine code
"""

import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

SKIPPED = 77
RETURN_ADDRESS = 8
NODE = re.compile(r'node: \{ title: "([^"]+)" label: "([^"]*)"( shape : ellipse)?')
EDGE = re.compile(r'edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"')
FRAME = re.compile(r"(\d+) bytes \((static|dynamic,bounded|dynamic)\)")
# The complete-object and the base-object constructor are one function here.
ALIAS = re.compile(r"([CD])1(E|I)")
POINTER = "__indirect_call"


class Rules:
    def __init__(self, path):
        self.limit = 0
        self.roots, self.calls = [], {}
        self.pointers, self.apart, self.circles, self.tails = set(), set(), set(), set()
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                words = line.split("#", 1)[0].split()
                if words and not self.take(words):
                    sys.exit(f"{path}:{number}: no rule, or a rule without a reason")

    def take(self, words):
        kind, *rest = words
        if kind == "limit" and len(rest) == 1:
            self.limit = int(rest[0])
        elif kind == "root" and (len(rest) in (1, 2) or rest[2:3] == ["without"]):
            limit = int(rest[1]) if len(rest) > 1 else self.limit
            self.roots.append((rest[0], limit, rest[3] if len(rest) == 4 else None))
        elif kind == "call" and len(rest) > 2:
            self.calls[rest[1]] = int(rest[0])
        elif kind == "pointer" and len(rest) > 1:
            self.pointers.add(rest[0])
        elif kind == "apart" and len(rest) > 1:
            self.apart.add(rest[0])
        elif kind == "again" and len(rest) > 2:
            self.circles.add((rest[0], rest[1]))
        elif kind == "tail" and len(rest) > 2:
            self.tails.add((rest[0], rest[1]))
        else:
            return False
        return True


class Graph:
    """The functions of the library, their frames and calls."""

    def __init__(self):
        self.frames, self.names, self.edges = {}, {}, {}
        self.unbounded, self.jumps = set(), set()

    def read(self, path):
        with open(path, encoding="utf-8") as file:
            for line in file:
                if match := NODE.match(line):
                    self.add_node(*match.groups())
                elif match := EDGE.match(line):
                    self.edges.setdefault(match[1], set()).add(match[2])

    def add_node(self, title, label, is_declared):
        if is_declared:
            return
        frame = FRAME.search(label)
        self.frames[title] = int(frame[1]) if frame else 0
        if frame and frame[2] == "dynamic":
            self.unbounded.add(title)
        signature = label.split("\\n")[0].split(" [with ")[0]
        # The name without return type, arguments and namespaces, as in `bool a::b::c(int)`.
        name = re.match(r"(?:.*[ :*&])?(~?\w+)\(", signature.replace("(* ", "")) if (
            "(" in signature) else None
        self.names[title] = name[1] if name else title

    def resolve(self, title):
        if title in self.frames:
            return title
        base = ALIAS.sub(r"\g<1>2\g<2>", title)
        return base if base in self.frames else None

    def name(self, title):
        return self.names.get(title, title)


class Walk:
    """One emitting function: what it comes to, and its deepest path."""

    def __init__(self, graph, rules, without=None):
        self.graph, self.rules, self.without = graph, rules, without
        self.known = {}
        self.complaints = set()

    def depth(self, title, path=()):
        """(stack of the function and what it calls, the functions of the deepest path)"""
        name = self.graph.name(title)
        if title in self.known:
            return self.known[title]
        if title in path:
            circle = " -> ".join(self.graph.name(each) for each in path[path.index(title):])
            self.complaints.add(f"calls itself without an end that is known: {circle} -> {name}")
            return 0, ()
        if title in self.graph.unbounded:
            self.complaints.add(f"{name}: its frame has no bound")
        own = 0 if name in self.rules.apart else self.graph.frames[title] + RETURN_ADDRESS
        deepest = own, (f"{own} {name}",)
        for target in sorted(self.graph.edges.get(title, ())):
            stack, below = self.depth_of_call(title, target, path + (title,))
            callee = self.graph.name(self.graph.resolve(target) or target)
            if (name, callee) not in self.rules.tails:
                stack, below = own + stack, (f"{own} {name}",) + below
            deepest = max(deepest, (stack, below))
        self.known[title] = deepest
        return deepest

    def depth_of_call(self, title, target, path):
        name = self.graph.name(title)
        if target == POINTER:
            if name not in self.rules.pointers:
                self.complaints.add(f"{name} calls through a pointer")
            return 0, ()
        if (found := self.graph.resolve(target)) is not None:
            if (name, self.graph.name(found)) in self.rules.circles:
                return 0, ()
            if self.without is not None and self.without in found:
                return 0, ()
            return self.depth(found, path)
        if target not in self.rules.calls:
            self.complaints.add(f"{name} calls {target}")
            return 0, ()
        return self.rules.calls[target] + RETURN_ADDRESS, (f"{self.rules.calls[target]} {target}",)


def check(graph, rules):
    """Returns the complaints about all functions that emit; prints the deepest paths."""
    complaints = []
    for root, limit, without in rules.roots:
        if root not in graph.frames:
            complaints.append(f"{root}: there is no such function")
            continue
        walk = Walk(graph, rules, without)
        stack, path = walk.depth(root)
        complaints.extend(f"{root}: {each}" for each in sorted(walk.complaints))
        print(f"{root}: {stack} bytes of stack: {', '.join(path)}")
        if stack > limit:
            complaints.append(f"{root}: needs {stack} bytes of stack, more than {limit}")
    complaints.extend(f"{caller} does not end with a jump to {callee}"
                      for caller, callee in sorted(rules.tails)
                      if caller in graph.names.values() and (caller, callee) not in graph.jumps)
    return complaints


def read_jumps(path, names):
    """The pairs of functions of an object file of which the first jumps to the second one, and does
    not call it."""
    of_symbol = {title.rsplit(":", 1)[-1]: name for title, name in names.items()}
    listing = subprocess.run(["objdump", "-dr", "--no-show-raw-insn", path], check=True,
                             capture_output=True, encoding="utf-8").stdout
    found = {"call": set(), "jump": set()}
    caller = kind = ""
    for line in listing.splitlines():
        if match := re.match(r"[0-9a-f]+ <(.*)>:$", line):
            caller = match[1].removesuffix(".cold")
        elif match := re.match(r" +[0-9a-f]+:\t(call|bl|jmp|b) +[0-9a-f]+ <([^+>]+)", line):
            kind = "call" if match[1] in ("call", "bl") else "jump"
            found[kind].add((caller, match[2]))
        elif match := re.match(r"\t+[0-9a-f]+: R_\w+_(?:PLT32|PC32|CALL26|JUMP26)\t([^-+]+)", line):
            found[kind or "call"].add((caller, match[1]))
    return {(of_symbol.get(one, one), of_symbol.get(other, other))
            for one, other in found["jump"] - found["call"]}


def compile_graph(command, sources):
    graph = Graph()
    with tempfile.TemporaryDirectory(prefix="eventlog-emit-path-") as directory:

        def compile_one(index):
            target = os.path.join(directory, f"{index}.o")
            arguments = ["-std=c++20", "-O2", "-DNDEBUG", "-fPIC", "-fcallgraph-info=su"]
            subprocess.run([*command, *arguments, "-c", sources[index], "-o", target], check=True)
            return target.removesuffix(".o") + ".ci"

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for path in pool.map(compile_one, range(len(sources))):
                graph.read(path)
                graph.jumps |= read_jumps(path.removesuffix(".ci") + ".o", graph.names)
    return graph


def has_option(command):
    result = subprocess.run(
        [*command, "-fcallgraph-info=su", "-x", "c++", "-", "-fsyntax-only"],
        stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return result.returncode == 0


def read_list(path):
    folder = os.path.dirname(path)
    with open(path, encoding="utf-8") as file:
        names = [line.strip() for line in file]
    return [os.path.join(folder, name) for name in names if name and not name.startswith("#")]


def check_planted(path, rules, command):
    """Every mistake that the file names must be found, and no other."""
    with open(path, encoding="utf-8") as file:
        expected = re.findall(r"^// expect: (.*\S)$", file.read(), re.MULTILINE)
    found = check(compile_graph(command, [path]), rules)
    missing = [each for each in expected if not any(each in one for one in found)]
    surplus = [one for one in found if not any(each in one for each in expected)]
    return [f"{path}: not found: {each}" for each in missing] + [
        f"{path}: found, but not expected: {one}" for one in surplus] or (
            [] if expected else [f"{path}: expects nothing"])


def main():
    arguments = sys.argv[1:]
    separator = arguments.index("--") if "--" in arguments else 0
    if separator != 3:
        sys.exit(__doc__)
    sources, rules, planted = arguments[:3]
    command = arguments[4:]
    if not has_option(command):
        print("Skipped: the compiler has no -fcallgraph-info=su.")
        sys.exit(SKIPPED)
    rules = Rules(rules)
    complaints = check(compile_graph(command, read_list(sources)), rules)
    complaints += check_planted(planted, rules, command)
    if complaints:
        sys.exit("\n".join(complaints))


if __name__ == "__main__":
    main()
