#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds the library, the examples and some of the tests for aarch64, and runs them.

usage: run.py build FOLDER       configures and builds below FOLDER; a warning is an error
       run.py emulated FOLDER    runs what was built, in qemu-aarch64-static: a process without
                                 restartable sequences, since QEMU has none for a single program

Exit code 77 means skipped.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
EMULATOR = "qemu-aarch64-static"


def skip(reason):
    print(f"skipped: {reason} `./dev setup` installs it.")
    sys.exit(77)


def run(*command, **environment):
    """Runs a command and prints it, for the test's log."""
    words = [str(word) for word in command]
    print("+", *words, flush=True)
    subprocess.run(words, env={**os.environ, **environment}, check=True)


def build(folder):
    if shutil.which("aarch64-linux-gnu-g++") is None:
        skip("there is no aarch64-linux-gnu-g++.")
    # A new folder: files of earlier builds must not be used.
    shutil.rmtree(folder, ignore_errors=True)
    run("cmake", "-S", HERE, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
        "-DCMAKE_C_FLAGS_RELEASE=-O2 -DNDEBUG", "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG",
        f"-DCMAKE_TOOLCHAIN_FILE={HERE / 'toolchain.cmake'}")
    run("cmake", "--build", folder, "--parallel", "2")


def emulated(folder):
    if shutil.which(EMULATOR) is None:
        skip(f"there is no {EMULATOR}.")
    if not folder.is_dir():
        skip("nothing has been built for aarch64: there is no aarch64-linux-gnu-g++.")
    with tempfile.TemporaryDirectory(prefix="eventlog-test-", dir="/dev/shm") as directory:
        for example, arguments in (("hello", ["2"]), ("c_api", ["2"])):
            run(EMULATOR, "-L", "/usr/aarch64-linux-gnu", folder / "eventlog" / "examples" / example,
                *arguments, EVENTLOG_DIR=directory)
        # QEMU emulates a process's own files in /proc, with a wrong start time: a child regards its parent
        # as a dead process whose number was reused. It has no seccomp, by which a test counts calls; the
        # virtual machine of vm.aarch64 runs that test.
        run(EMULATOR, folder / "aarch64_tests", "--gtest_filter=-*dead_thread*:*costs_few_system_calls",
            EVENTLOG_TEST_EMULATED="1")


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("build", "emulated"):
        sys.exit(__doc__)
    {"build": build, "emulated": emulated}[sys.argv[1]](pathlib.Path(sys.argv[2]))


if __name__ == "__main__":
    main()
