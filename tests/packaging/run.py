#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs one packaging test. The tests of a build keep their files in --directory, the installed
trees among them; a consumed tree comes from the test `install` of that builder.
"""

import argparse
import os
import pathlib
import tempfile

import compile_ways
import consumers
import first_steps
import install
import new_machine

TESTS = {**compile_ways.TESTS, **consumers.TESTS, **first_steps.TESTS, **install.TESTS,
         **new_machine.TESTS}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("test", choices=sorted(TESTS))
    parser.add_argument("--builder", choices=["cmake", "meson"], default="cmake",
                        help="what has installed the tree that the test consumes")
    parser.add_argument("--build", type=pathlib.Path, required=True, help="the CMake build")
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--directory", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="eventlog-packaging-") as directory:
        # The consumers must not be listed among the programs of the user who runs the tests.
        os.environ["EVENTLOG_DIR"] = directory
        TESTS[arguments.test](arguments)


if __name__ == "__main__":
    main()
