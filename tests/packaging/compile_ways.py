# SPDX-License-Identifier: MIT
"""Compiles programs against the installed library in common ways, runs them and reads their events.

flags: one program with a shared object of its own, by both compilers, with many flags; and
without any shared object at all.
many_events: a provider with the maximum number of events.
"""

import concurrent.futures
import os
import re
import subprocess
import tempfile
import threading

from tools import CACHE, HERE, empty_directory, find_library_directory, installed_tree, run

COUNT = 100
LANGUAGE = ("-std=c++20", "-Wall", "-Wextra", "-Werror", "-pthread")
FLAGS = {
    "O0": ["-O0"],
    "O1": ["-O1"],
    "O2": ["-O2"],
    "O3": ["-O3"],
    "lto": ["-O2", "-flto"],
    "hidden": ["-O2", "-fvisibility=hidden", "-fvisibility-inlines-hidden"],
    "bare": ["-O2", "-fno-exceptions", "-fno-rtti"],
}
# By the way to link: the flags above that suit it, the program's compile flags, link flags, and
# library. The shared object has the program's flags; in a program that loads nothing at run time it
# is an ordinary object.
LINKS = {
    "shared": (list(FLAGS), ["-fPIE"], "-pie", "libeventlog.so"),
    "static": (["O2", "lto", "bare"], ["-fno-pie"], "-no-pie", "libeventlog.a"),
    "static_pie": (["hidden"], ["-fPIE"], "-pie", "libeventlog.a"),
    "alone": (["O0", "O2", "bare"], [], "-static", "libeventlog.a"),
    "alone_pie": (["O2"], ["-fPIE"], "-static-pie", "libeventlog.a"),
}


class Installed:
    """An installed eventlog, and a directory to build in."""

    def __init__(self, arguments, name):
        self.directory = empty_directory(arguments, name)
        self.prefix = installed_tree(arguments)
        self.libraries = find_library_directory(self.prefix)
        self.objects = {}
        self.lock = threading.Lock()

    def object(self, compiler, *flags):
        """part.cpp compiled with these flags, once for all programs that link it."""
        with self.lock:
            number = len(self.objects)
            place, its_lock = self.objects.setdefault(
                (compiler, flags), (self.directory / f"part_{number}.o", threading.Lock()))
        with its_lock:
            if not place.exists():
                self.compile(compiler, HERE / "part.cpp", place, *flags)
        return place

    def compile(self, compiler, source, output, *flags):
        run(*CACHE, compiler, *LANGUAGE, *flags, "-I", self.prefix / "include", "-c", source,
            "-o", output)

    def link(self, library):
        # No run path where nothing is loaded: with one, static PIEs crash in Debian 12's C library.
        path = [f"-Wl,-rpath,{self.libraries}"] if library.endswith(".so") else []
        return [self.libraries / library, "-pthread", *path]

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


def compile_part(installed, compiler, link, flags, linker, name):
    """Returns the program's link inputs."""
    _, place, _, library = LINKS[link]
    if link.startswith("alone"):
        return [installed.object(compiler, *flags, *place, "-DPART")]
    part = installed.directory / f"lib{name}.so"
    run(compiler, *flags, *linker, "-fPIC", "-shared", "-o", part,
            installed.object(compiler, *flags, "-fPIC", "-DPART"), *installed.link(library))
    return [part, f"-Wl,-rpath,{installed.directory}"]


def expected_events():
    for number in range(COUNT):
        yield f'measured number={number} value=0.25 by="program"'
    for number in range(COUNT):
        is_even = number % 2 == 0
        took = f"{number}ms" if number else "0ns"
        yield (
            f"described is_even={str(is_even).lower()} colour={'red' if is_even else 'green'} "
            f"at_x={-number} at_y=7 counts=[{number},0,65535] limit={number if is_even else '-'} "
            f'name="{"abcdefghij"[: number % 11]}" bytes=<{"0102fe"[: number % 4 * 2]}> took={took}'
        )
    for number in range(COUNT):
        yield f'measured number={number} value=0.5 by="part"'


def check_build(installed, compiler, link, flags_name):
    _, place, link_flag, library = LINKS[link]
    flags = FLAGS[flags_name]
    name = f"{compiler}_{link}_{flags_name}"
    # clang's objects of -flto need its own linker.
    linker = ["-fuse-ld=lld"] if compiler == "clang++" and flags_name == "lto" else []
    part = compile_part(installed, compiler, link, flags, linker, name)
    program = installed.directory / name
    run(compiler, *flags, *linker, link_flag, "-o", program,
            installed.object(compiler, *flags, *place), *part, *installed.link(library))
    events = [line.partition(" lab:")[2] for line in
              installed.record("lab:*", program, str(COUNT))]
    assert events == list(expected_events()), f"{name}: {events}"


def test_flags(arguments):
    installed = Installed(arguments, "flags")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        builds = [
            pool.submit(check_build, installed, compiler, link, flags)
            for compiler in ("g++", "clang++") for link in LINKS for flags in LINKS[link][0]
        ]
    for build in builds:
        build.result()
    print(len(builds), "builds")


def test_many_events(arguments):
    installed = Installed(arguments, "many_events")
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
    installed.compile(arguments.compiler, source, program.with_suffix(".o"))
    run(arguments.compiler, program.with_suffix(".o"), "-o", program,
        *installed.link("libeventlog.so"))
    events = [re.sub("^.* many:", "", line) for line in installed.record("many:*", program)]
    assert events == [f"{names[i]} number={i}" for i in (0, 511, count - 1)], events


TESTS = {"flags": test_flags, "many_events": test_many_events}
