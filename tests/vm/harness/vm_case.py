# SPDX-License-Identifier: MIT
"""The base of tests in virtual machines.

Each test file is a program: it exits with 0, with 1 if a test failed, with 77 if all were skipped.
Environment variables have the paths of files for the guest: ELOG, EXAMPLES, PROGRAMS, TESTS.
EVENTLOG_TEST_TIER=full selects the full tier: every class, and the long trials.
"""

import os
import pathlib
import shutil
import sys
import tempfile
import unittest

import kernel_module
import kernels
from machine import Run, emulator_of, execute
from paths import HarnessError, PackageUnavailable

IS_FULL = os.environ.get("EVENTLOG_TEST_TIER") == "full"

# Tests of the harness run on the first of these that is cached: the smallest boots fastest.
PREFERRED = ("user-events-6.12", "debian-6.12", "debian-6.1", "status-page-6.1")

# Limit of a failed guest's output: logs of continuous integration may show no more.
SHOWN_LINES = 60


def by_tier(quick, full):
    """The size of a trial in the quick tier and in the full tier."""
    return full if IS_FULL else quick


def full_tier(tested):
    """Marks a class or a test of the full tier. The quick tier does not load it, so that the test
    is not counted as skipped. The mark does not extend to derived classes."""
    tested.is_of_full_tier = True
    return tested


class _Loader(unittest.TestLoader):
    """Loads the tests of the selected tier."""

    def getTestCaseNames(self, testCaseClass):
        names = super().getTestCaseNames(testCaseClass)
        if IS_FULL:
            return names
        if "is_of_full_tier" in vars(testCaseClass):
            return []
        return [name for name in names
                if not hasattr(getattr(testCaseClass, name), "is_of_full_tier")]


def kernel_or_skip(name):
    """The kernel, or skips the test. Debian's kernels are fetched; kernels that are built must be cached."""
    try:
        kernel, _ = kernels.find(name)
        if kernel is None and not kernels.recipe(name).built:
            kernel = kernels.obtain(name, print)
    except PackageUnavailable as problem:
        raise unittest.SkipTest(f"{name} is not available: {problem}") from problem
    if kernel is None:
        raise unittest.SkipTest(f"{name} is not built. `./dev vm --prepare {name}` builds it.")
    try:
        emulator_of(kernel)
    except HarnessError as problem:
        raise unittest.SkipTest(f"{problem} `./dev setup` does it.") from problem
    return kernel


def module_or_skip(kernel, *options):
    """The kernel module for that kernel, built if its sources have changed, with options of make."""
    try:
        return str(kernel_module.module_for(kernel, options))
    except PackageUnavailable as problem:
        raise unittest.SkipTest(f"modules for {kernel.name} cannot be built: {problem}") from problem


def perf_or_skip():
    perf = shutil.which("perf")
    if perf is None:
        raise unittest.SkipTest("there is no perf. `./dev setup` installs it.")
    return perf


def any_kernel():
    reasons = []
    for name in PREFERRED:
        try:
            return kernel_or_skip(name)
        except unittest.SkipTest as reason:
            reasons.append(str(reason))
    raise unittest.SkipTest(" ".join(reasons))


def built(variable, *names):
    """The path of a file of the build."""
    return os.path.join(os.environ[variable], *names)


class Case(unittest.TestCase):
    """A test with separate folders for its guests."""

    result = None  # of a guest that has run before the tests, if there is one

    @classmethod
    def run_guest(cls, kernel, command, **settings):
        """Runs a command in a guest. The caller checks the result."""
        scratch = tempfile.mkdtemp(prefix="eventlog-vm-")
        cls.addClassCleanup(shutil.rmtree, scratch, ignore_errors=True)
        return execute(kernel, Run(list(command), **settings), scratch)

    @classmethod
    def run_successfully(cls, kernel, command, **settings):
        """As run_guest, but fails unless the guest has no fault and the command ends with 0."""
        result = cls.run_guest(kernel, command, **settings)
        problem = result.problem()
        if problem is None and result.status != 0:
            problem = f"the command ended with {result.status}"
        if problem is not None:
            raise AssertionError(f"{problem}\n{tail('output', result.output)}"
                                 f"{tail('errors', result.errors)}")
        return result

    @classmethod
    def run_script(cls, kernel, script, programs, *words, files=(), **settings):
        """As run_successfully, with a shell script: its $0, $1 and so on are the programs, which are added to
        the guest's files, followed by the words."""
        return cls.run_successfully(
            kernel, ["sh", "-c", script, *programs, *words],
            files={**dict(files), **{program: program for program in programs}}, **settings)

    def collected(self, name):
        """The collected file of that name in the guest's /tmp."""
        return os.path.join(self.result.files, "tmp", name)


def tail(name, content):
    """The end of a failed guest's output, with the number of omitted lines."""
    lines = content.splitlines(keepends=True)
    if len(lines) <= SHOWN_LINES:
        return content
    return f"[{len(lines) - SHOWN_LINES} lines of {name} before]\n" + "".join(lines[-SHOWN_LINES:])


def text(result, path):
    """A collected file."""
    return pathlib.Path(result.files, path.lstrip("/")).read_text(encoding="utf-8")


def main():
    result = unittest.main(exit=False, verbosity=2, testLoader=_Loader()).result
    for test, reason in result.skipped:
        print(f"skipped: {test}: {reason}")
    if not result.wasSuccessful():
        sys.exit(1)
    # A class that is skipped as a whole has no counted tests.
    if result.skipped and len(result.skipped) >= result.testsRun:
        sys.exit(77)
