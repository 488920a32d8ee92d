#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs commands on real kernels in virtual machines: `./dev vm`."""

import argparse
import concurrent.futures
import os
import shutil
import sys
import tempfile

import cache
import kernels
from initramfs import applets
from machine import Run, execute
from paths import HarnessError, PackageUnavailable, cache_directory

# A status that is not the command's, as in env(1) and docker(1).
FAILED = 125


def print_status(text):
    print(f"vm: {text}", file=sys.stderr, flush=True)


def parse():
    parser = argparse.ArgumentParser(
        prog="./dev vm",
        usage="./dev vm KERNEL [OPTIONS] [-- COMMAND...]\n"
        "       ./dev vm --list | --prepare [KERNEL...] | --clean",
        description="Boots a kernel in QEMU and runs a command, or a shell, in it. The command's "
        "program and its libraries are copied from this machine to the same paths; all else is "
        "busybox. The exit status is the command's; 125 if the guest failed or its kernel reported "
        "a fault.",
        epilog=f"Kernels: {', '.join(kernels.NAMES)}.",
    )
    parser.add_argument("kernels", nargs="*", metavar="KERNEL", help="a name that --list shows")
    parser.add_argument("--list", action="store_true", help="show all kernels, their keys and sizes")
    parser.add_argument(
        "--prepare",
        action="store_true",
        help="fetch or build kernels, all unless some are named; those that are not available on this "
        "machine are named with the reason",
    )
    parser.add_argument("--clean", action="store_true", help="remove cached kernels that are outdated")
    parser.add_argument(
        "--add",
        action="append",
        default=[],
        metavar="PATH[:PLACE]",
        help="add a file or folder to the guest, with its libraries",
    )
    parser.add_argument("--python", action="store_true", help="add Python to the guest")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE", help="set a variable")
    parser.add_argument("--user", default="root", help="run as user, other, tracer or nobody")
    parser.add_argument("--cpus", type=int, default=2, metavar="N", help="processors (2)")
    parser.add_argument("--memory", type=int, default=1024, metavar="MIB", help="memory (1024)")
    parser.add_argument("--module", action="append", default=[], metavar="NAME",
                        help="load a module of the kernel")
    parser.add_argument("--time-limit", type=float, default=600, metavar="SECONDS",
                        help="time limit of the machine in seconds (600)")
    parser.add_argument("--collect", action="append", default=[], metavar="PATH",
                        help="collect a file or folder of the guest into --to")
    parser.add_argument("--to", default="collected", metavar="FOLDER",
                        help="folder for collected files (collected)")
    parser.add_argument("--log", action="store_true", help="show the kernel's log in any case")
    words = sys.argv[1:]
    command = []
    if "--" in words:
        position = words.index("--")
        words, command = words[:position], words[position + 1 :]
    options = parser.parse_args(words)
    if not (options.list or options.prepare or options.clean) and len(options.kernels) != 1:
        parser.error(f"name one kernel: {', '.join(kernels.NAMES)}")
    return options, command


def show_list():
    current = set()
    print(f"in {cache_directory()}:")
    for entry in kernels.RECIPES:
        try:
            kernel, key = kernels.find(entry.name)
        except PackageUnavailable as problem:
            print(f"{entry.name:17} {'unavailable':16} {problem}")
            continue
        if kernel is None:
            state = "not built" if entry.built else "not fetched"
        else:
            current.add(kernel.directory)
            state = f"{cache.size_of(kernel.directory) / 1e6:.0f} MB, {kernel.release}"
        print(f"{entry.name:17} {key:16} {entry.purpose}: {state}")
    for path in cache.entries("sources"):
        print(f"source of kernels: {path.name}: {cache.size_of(path) / 1e6:.0f} MB")
    for path in cache.entries("kernels"):
        if path not in current:
            print(f"outdated: {path.name}: {cache.size_of(path) / 1e6:.0f} MB; --clean removes it")


def prepare(names):
    """Returns the exit status. Kernels that are not available here are no failure."""
    # Two at once, because unpacking, configuring and linking use one processor.
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        return max(pool.map(prepare_one, names or kernels.NAMES))


def prepare_one(name):
    try:
        kernel = kernels.obtain(name, print_status)
        print(f"{name}: {kernel.release}", flush=True)
    except PackageUnavailable as problem:
        print(f"{name} is not available: {problem}", flush=True)
    except HarnessError as problem:
        print(f"{name}: {problem}", flush=True)
        return 1
    return 0


def clean():
    """Removes outdated folders; keeps current kernels and their sources."""
    current, sources = set(), set()
    for name in kernels.NAMES:
        try:
            kernel, _ = kernels.find(name)
        except PackageUnavailable:
            continue
        if kernel is not None:
            current.add(kernel.directory)
            sources.add((kernel.directory / "build" / "source").resolve())
    for path in cache.entries("kernels"):
        if path not in current:
            cache.remove(path)
            print(f"removed {path.name}")
    for path in cache.entries("sources"):
        if path not in sources:
            cache.remove(path)
            print(f"removed {path.name}")


def files_of(options, command):
    """The files of the guest: path in the guest to path on the host."""
    files = {}
    for text in options.add:
        source, _, place = text.partition(":")
        files[os.path.abspath(place or source)] = os.path.abspath(source)
    if command:
        found = shutil.which(command[0])
        # A command without a path is busybox's, if busybox has it.
        if "/" not in command[0] and (command[0] in applets() or options.python):
            return files
        if command[0] in files:
            return files
        if found is None:
            raise HarnessError(f"there is no program {command[0]} here for the guest.")
        if "/" in command[0]:
            command[0] = os.path.abspath(found)
            files.setdefault(command[0], command[0])
        else:
            files.setdefault(f"/usr/bin/{command[0]}", found)
    return files


def variables_of(options):
    for text in options.env:
        if "=" not in text:
            raise HarnessError(f"--env {text} has no value: write NAME=VALUE.")
    return dict(text.split("=", 1) for text in options.env)


def run_guest(options, command):
    kernel = kernels.obtain(options.kernels[0], print_status)
    options.python = options.python or command[:1] == ["python3"]
    run = Run(
        command=command,
        environment=variables_of(options),
        files=files_of(options, command),
        collect=tuple(options.collect),
        modules=tuple(options.module),
        python=options.python,
        user=options.user,
        processors=options.cpus,
        memory=options.memory,
        time_limit=options.time_limit,
        interactive=not command,
    )
    with tempfile.TemporaryDirectory(prefix="eventlog-vm-") as scratch:
        result = execute(
            kernel,
            run,
            scratch,
            lambda content: _forward(sys.stdout, content),
            lambda content: _forward(sys.stderr, content),
        )
        if options.collect:
            shutil.copytree(result.files, options.to, dirs_exist_ok=True, symlinks=True)
        problem = result.problem()
        if problem:
            print_status(problem)
            return FAILED
        if options.log:
            print_status("the kernel's log:\n" + result.log)
        return result.status


def _forward(stream, content):
    stream.buffer.write(content)
    stream.flush()


def main():
    options, command = parse()
    try:
        if options.list:
            show_list()
            return 0
        if options.prepare:
            return prepare(options.kernels)
        if options.clean:
            clean()
            return 0
        return run_guest(options, command)
    except HarnessError as problem:
        print_status(str(problem))
        return FAILED


if __name__ == "__main__":
    sys.exit(main())
