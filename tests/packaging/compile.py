#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles programs against the installed library in the ways in which people compile theirs, runs
them and reads their events.

flags: one small program with a shared object of its own, by both compilers, with many flags.
many_events: a provider with as many events as there can be.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import tempfile

import run

COUNT = 100
FLAGS = {
    "O0": ["-O0"],
    "O1": ["-O1"],
    "O2": ["-O2"],
    "O3": ["-O3"],
    "lto": ["-O2", "-flto"],
    "hidden": ["-O2", "-fvisibility=hidden", "-fvisibility-inlines-hidden"],
    "bare": ["-O2", "-fno-exceptions", "-fno-rtti"],
}
# How it is linked, and with which flags of the above. The shared object has what the program has.
LINKS = {
    "shared": (list(FLAGS), ["-fPIE", "-pie"], "libeventlog.so"),
    "static": (["O2", "lto", "bare"], ["-fno-pie", "-no-pie"], "libeventlog.a"),
    "static_pie": (["hidden"], ["-fPIE", "-pie"], "libeventlog.a"),
}


class Installed:
    """An installed eventlog, and a directory to build in."""

    def __init__(self, arguments, directory):
        self.directory = directory
        self.prefix = run.install(arguments.builder, arguments.build, directory / "installed")
        self.libraries = run.find_library_directory(self.prefix)

    def compile(self, compiler, source, output, *flags):
        run.run(compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-I", self.prefix / "include",
                source, "-o", output, *flags)

    def link(self, library):
        return [self.libraries / library, "-pthread", f"-Wl,-rpath,{self.libraries}"]

    def record(self, pattern, *command):
        """Runs a command and returns its events, as `elog record` shows them."""
        # Each in a directory of its own: several run at once.
        with tempfile.TemporaryDirectory(prefix="eventlog-packaging-", dir="/dev/shm") as directory:
            result = subprocess.run(
                [self.prefix / "bin/elog", "record", "-e", pattern, "--", *command],
                env={**os.environ, "EVENTLOG_DIR": f"{directory}/eventlog",
                     "LD_LIBRARY_PATH": str(self.libraries)},
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", check=False,
            )
        assert result.returncode == 0 and " 0 lost" in result.stderr, result.stderr
        return result.stdout.splitlines()


def check_build(installed, compiler, link, flags_name):
    _, link_flags, library = LINKS[link]
    flags = FLAGS[flags_name]
    name = f"{compiler}_{link}_{flags_name}"
    # clang's objects of -flto are for its own linker.
    if compiler == "clang++" and flags_name == "lto":
        flags = [*flags, "-fuse-ld=lld"]
    part = installed.directory / f"lib{name}.so"
    source = run.HERE / "part.cpp"
    installed.compile(compiler, source, part, *flags, "-DPART", "-fPIC", "-shared",
                      *installed.link(library))
    program = installed.directory / name
    installed.compile(compiler, source, program, *flags, *link_flags, part,
                      f"-Wl,-rpath,{installed.directory}", *installed.link(library))
    events = [line.partition(" lab:measured ")[2] for line in
              installed.record("lab:*", program, str(COUNT))]
    expected = [f'number={number} value={value} by="{by}"'
                for by, value in (("program", 0.25), ("part", 0.5)) for number in range(COUNT)]
    assert events == expected, f"{name}: {events}"


def test_flags(installed, _compiler):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        builds = [
            pool.submit(check_build, installed, compiler, link, flags)
            for compiler in ("g++", "clang++") for link in LINKS for flags in LINKS[link][0]
        ]
    for build in builds:
        build.result()
    print(len(builds), "builds")


def test_many_events(installed, compiler):
    count = 1024
    names = [f"event_number_{i}" for i in range(count)]
    source = installed.directory / "many_events.cpp"
    source.write_text(
        "#include <cstdint>\n#include <eventlog/eventlog.hpp>\n"
        + "".join(f"struct {name} {{ std::uint32_t number; }};\n" for name in names)
        + f'using many = eventlog::provider<"many", {", ".join(names)}>;\n'
        + "int main() {\n"
        + "".join(f"    many::emit({names[i]}{{{i}}});\n" for i in (0, 511, count - 1))
        + "}\n",
        encoding="utf-8",
    )
    program = installed.directory / "many_events"
    installed.compile(compiler, source, program, *installed.link("libeventlog.so"))
    events = [re.sub("^.* many:", "", line) for line in installed.record("many:*", program)]
    assert events == [f"{names[i]} number={i}" for i in (0, 511, count - 1)], events


TESTS = {"flags": test_flags, "many_events": test_many_events}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("test", choices=sorted(TESTS))
    parser.add_argument("--builder", choices=["cmake", "meson"], required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--compiler", required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="eventlog-packaging-") as directory:
        TESTS[arguments.test](Installed(arguments, pathlib.Path(directory)), arguments.compiler)


if __name__ == "__main__":
    main()
