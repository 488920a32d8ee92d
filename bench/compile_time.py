#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures what emitting events costs to compile.

usage: compile_time.py [--json FILE] [--include FOLDER] [--quick] [COMPILER...]

Compiles one translation unit of 50 events with 16 fields each, each emitted in a function of its
own, in five forms, and compares their processor time:

    without    emit does nothing; the only headers are standard ones: those that eventlog's headers
               include, and some that most sources of applications include anyway
    empty      the unit as in an application, but emit does nothing
    declared   the same, and the provider is declared and published
    emitted    as in an application
    pfr        the same, with Boost.PFR as reflection (EVENTLOG_REFLECTION_PFR)

The forms of a round are compiled in direct succession, in random order. The ratios are medians of
those within a round, which reduces the influence of other processes. Default compilers: g++ and
clang++.
"""

import argparse
import json
import pathlib
import random
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

from figures import Problem

BY_PFR = "eventlog/detail/members_by_pfr.hpp"
INCLUDE = pathlib.Path(__file__).resolve().parent.parent / "sdk/include"

EVENTS, QUICK_EVENTS = 50, 2
FIELDS = 16
TARGET = 3.0  # emitted_vs_empty, at most
ROUNDS = 9
COMPILERS = ["g++", "clang++"]

# Each type twice, a quarter texts, in another order for each event: the compiler must not profit
# from the types of an earlier event.
TYPES = [
    "std::uint64_t", "std::uint32_t", "std::string_view", "std::int64_t",
    "std::uint16_t", "std::uint8_t", "std::string_view", "std::int32_t",
] * (FIELDS // 8)  # fmt: skip

# Headers that most sources of applications include, and eventlog's do not. They make the ratios
# comparable to those of versions whose headers included them.
APPLICATION_HEADERS = {"atomic", "string"}

FORMS = ["without", "empty", "declared", "emitted", "pfr"]
RATIOS = {
    "emitted_vs_empty": ("emitted", "empty"),
    "declared_vs_empty": ("declared", "empty"),
    "emitted_vs_without": ("emitted", "without"),
    "header_vs_without": ("empty", "without"),
    "pfr_vs_emitted": ("pfr", "emitted"),
}


def standard_headers(include):
    """The standard headers of the unit, without those of Boost.PFR. Their cost is not eventlog's."""
    found = set(APPLICATION_HEADERS)
    seen = set()
    waiting = ["eventlog/eventlog.hpp"]
    while waiting:
        path = waiting.pop()
        if path in seen or path == BY_PFR:
            continue
        seen.add(path)
        text = (include / path).read_text(encoding="utf-8")
        for name in re.findall(r"^#include <(.+)>", text, re.MULTILINE):
            (waiting.append if name.startswith("eventlog/") else found.add)(name)
    return sorted(found)


def types_of(event):
    return random.Random(event).sample(TYPES, FIELDS)


def write_events(events):
    for event in range(events):
        yield f"struct event_{event} {{"
        yield from (f"    {name} field_{field};" for field, name in enumerate(types_of(event)))
        yield "};"


def write_function(event):
    values = (
        "text" if name == "std::string_view" else f"static_cast<{name}>(number + {field})"
        for field, name in enumerate(types_of(event))
    )
    yield f"void emit_{event}(std::uint64_t number, std::string_view text) {{"
    yield f"    emitter::emit(event_{event}{{{', '.join(values)}}});"
    yield "}"


def write_unit(form, headers, events=EVENTS):
    if form == "pfr":
        yield "#define EVENTLOG_REFLECTION_PFR"
        form = "emitted"
    yield from (f"#include <{header}>" for header in headers)
    if form != "without":
        yield "#include <eventlog/eventlog.hpp>"
    yield from write_events(events)
    names = ", ".join(f"event_{event}" for event in range(events))
    if form in ("declared", "emitted"):
        yield f'using provider = eventlog::provider<"measured", {names}>;'
    if form == "emitted":
        yield "using emitter = provider;"
    else:
        yield "struct emitter {"
        yield "    template <class Event> static void emit(Event) noexcept {}"
        yield "};"
    if form == "declared":
        yield "auto published() { return provider::status().code; }"
    for event in range(events):
        yield from write_function(event)


def compile_once(compiler, include, source):
    """Returns the processor time in seconds of the compiler and its child processes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = subprocess.run(
        [compiler, "-std=c++20", "-O2", "-c", f"-I{include}", source, "-o", "/dev/null"],
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if result.returncode != 0:
        raise Problem(f"{compiler} cannot compile {source.name}. See above.")
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def measure(compiler, include, sources, rounds):
    """{form: seconds of each round}, without the first of several, which fills caches."""
    seconds = {form: [] for form in FORMS}
    for _ in range(rounds):
        for form in random.sample(FORMS, len(FORMS)):
            seconds[form].append(compile_once(compiler, include, sources[form]))
    return {form: taken[1:] or taken for form, taken in seconds.items()}


def compare(seconds):
    """{name: median of the ratios within a round}"""
    return {
        name: statistics.median(above / below for above, below in zip(seconds[one], seconds[other]))
        for name, (one, other) in RATIOS.items()
    }


def report(compiler, seconds, ratios, events):
    print(f"{compiler:<25} {'median ms':>9}   {'spread':>6}")
    for form in FORMS:
        median = statistics.median(seconds[form])
        spread = (max(seconds[form]) - min(seconds[form])) / median
        print(f"{form:<25} {1000 * median:>9.0f}   {100 * spread:>4.0f} %")
    for name, ratio in ratios.items():
        verdict = ""
        if name == "emitted_vs_empty":
            verdict = f"   at most {TARGET}: {'met' if ratio <= TARGET else 'MISSED'}"
        print(f"{name:<25} {ratio:>9.2f}{verdict}")
    each = statistics.median(
        emitted - header for emitted, header in zip(seconds["emitted"], seconds["empty"])
    )
    print(f"{'ms for each field':<25} {1000 * each / events / FIELDS:>9.2f}\n")


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("compilers", nargs="*", metavar="COMPILER", default=COMPILERS)
    parser.add_argument("--json", metavar="FILE", help="write the ratios to FILE")
    parser.add_argument(
        "--include", metavar="FOLDER", type=pathlib.Path, default=INCLUDE,
        help="where eventlog/eventlog.hpp is (default: here), to compare another version",
    )  # fmt: skip
    parser.add_argument(
        "--quick", action="store_true", help="one round of a small unit: shows that it runs"
    )
    arguments = parser.parse_args()
    if not (arguments.include / "eventlog/eventlog.hpp").is_file():
        parser.error(f"there is no eventlog/eventlog.hpp in {arguments.include}.")
    for compiler in arguments.compilers:
        if shutil.which(compiler) is None:
            parser.error(f"there is no compiler {compiler}. Install it or name another.")
    return arguments


def main():
    arguments = parse_arguments()
    results = {}
    rounds = 1 if arguments.quick else ROUNDS + 1
    events = QUICK_EVENTS if arguments.quick else EVENTS
    with tempfile.TemporaryDirectory(prefix="eventlog-compile-time-") as directory:
        headers = standard_headers(arguments.include)
        sources = {form: pathlib.Path(directory, f"{form}.cpp") for form in FORMS}
        for form, source in sources.items():
            source.write_text("\n".join(write_unit(form, headers, events)) + "\n", encoding="utf-8")
        for compiler in arguments.compilers:
            try:
                seconds = measure(compiler, arguments.include, sources, rounds)
            except Problem as problem:
                sys.exit(f"compile_time.py: {problem}")
            ratios = compare(seconds)
            report(compiler, seconds, ratios, events)
            # Names in the form of the main benchmark's file, so that both can be merged.
            results |= {f"compile_{name}.{compiler}": ratio for name, ratio in ratios.items()}
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(results, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
