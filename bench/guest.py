# SPDX-License-Identifier: MIT
"""Runs benchmarks in virtual machines of tests/vm."""

import pathlib
import sys

from figures import Problem

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "vm" / "harness"))

# Benchmarks import the modules of the harness from here, because the path is set here.
# pylint: disable=wrong-import-position,unused-import
import kernel_module
import kernels
import machine
import paths


def run_in_guest(kernel, run, folder):
    """Returns the result of a machine.Run; raises Problem if it failed."""
    result = machine.execute(kernel, run, folder)
    problem = result.problem()
    if problem is None and result.status != 0:
        problem = result.errors.strip() or f"the program ended with {result.status}."
    if problem is not None:
        raise Problem(f"in a virtual machine: {problem}")
    return result
