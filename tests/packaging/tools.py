# SPDX-License-Identifier: MIT
"""Shared by the packaging tests: running commands, installed trees, emitters and readers."""

import os
import pathlib
import re
import shutil
import subprocess

# Meson looks for one file too many if the number of sources of a library is a multiple of this.
MESON_UNITY_SIZE = "--unity-size=16"

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
CACHE = ("ccache",) if shutil.which("ccache") else ()
# Launchers for CMake's compilers.
LAUNCHERS = [f"-DCMAKE_{language}_COMPILER_LAUNCHER={program}"
             for language in ("C", "CXX") for program in CACHE]


def run(*command, cwd=None, **environment):
    """Runs a command. The command is printed, as a failure leaves only the test's log."""
    words = [str(word) for word in command]
    print("+", *words, flush=True)
    subprocess.run(words, cwd=cwd, env={**os.environ, **environment}, check=True)


def output_of(*command, **environment):
    words = [str(word) for word in command]
    print("+", *words, flush=True)
    return subprocess.run(
        words, check=True, stdout=subprocess.PIPE, encoding="utf-8",
        env={**os.environ, **environment},
    ).stdout


def empty_directory(arguments, name):
    """A directory for one test, at the same place in every run, so that ccache knows its files."""
    directory = arguments.directory / name
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    return directory


def installed_tree(arguments):
    """The prefix that the builder's install test has filled."""
    return arguments.directory / "installed" / arguments.builder


def find_library_directory(prefix):
    (library,) = prefix.glob("**/libeventlog.so")
    return library.parent


def cache_entry(build, name):
    """The value of a variable in the cache of a CMake build."""
    cache = (build / "CMakeCache.txt").read_text(encoding="utf-8")
    (value,) = re.findall(rf"^{name}:\w+=(.*)$", cache, re.M)
    return value


def with_compiler_cache(compiler):
    """The compiler as one string, as Meson and makefiles expect it in CXX."""
    return " ".join([*CACHE, str(compiler)])
