# SPDX-License-Identifier: MIT
"""What the tests in virtual machines share.

Each test file is a program: it exits with 0, with 1 if a test failed, with 77 if all were skipped.
The environment says where what they take into the guest lies: ELOG, EXAMPLES, PROGRAMS, TESTS.
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

# Tests of the harness itself run on the first of these that is there: the smallest boots fastest.
PREFERRED = ("user-events-6.12", "debian-6.12", "debian-6.1", "status-page-6.1")

# Lines of a guest that failed. Who reads of it may have a log that shows no more.
SHOWN_CHARACTERS = 60


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
    """Kernels of Debian's are fetched in seconds. Those that take minutes have to be there."""
    try:
        kernel, _ = kernels.find(name)
        if kernel is None and not kernels.recipe(name).built:
            kernel = kernels.obtain(name, print)
    except PackageUnavailable as problem:
        raise unittest.SkipTest(f"{name} cannot be had: {problem}") from problem
    if kernel is None:
        raise unittest.SkipTest(f"{name} is not built. `./dev vm --prepare {name}` builds it.")
    try:
        emulator_of(kernel)
    except HarnessError as problem:
        raise unittest.SkipTest(f"{problem} `./dev setup` does it.") from problem
    return kernel


def module_or_skip(kernel, *options):
    """The kernel module for that kernel, built if its sources have changed, with options of make's."""
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
    """The path of something that has been built."""
    return os.path.join(os.environ[variable], *names)


class Case(unittest.TestCase):
    """A test with folders of its own for the guests that it runs."""

    result = None  # of a guest that has run before the tests, if there is one

    @classmethod
    def run_guest(cls, kernel, command, **settings):
        """Runs a command; what became of it is for the caller to judge."""
        scratch = tempfile.mkdtemp(prefix="eventlog-vm-")
        cls.addClassCleanup(shutil.rmtree, scratch, ignore_errors=True)
        return execute(kernel, Run(list(command), **settings), scratch)

    @classmethod
    def run_successfully(cls, kernel, command, **settings):
        """As run_guest, but everything has to go well, and the command to end with 0."""
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
        """As run_successfully: a script of the shell, whose $0, $1 and so on are programs of ours, which the
        guest gets with the other files, and behind them words."""
        return cls.run_successfully(
            kernel, ["sh", "-c", script, *programs, *words],
            files={**dict(files), **{program: program for program in programs}}, **settings)

    def collected(self, name):
        """A file that the guest had in /tmp, brought back."""
        return os.path.join(self.result.files, "tmp", name)


def tail(name, content):
    """The end of what a guest has said, which says why it failed, and how much that leaves out."""
    lines = content.splitlines(keepends=True)
    if len(lines) <= SHOWN_CHARACTERS:
        return content
    return f"[{len(lines) - SHOWN} lines of {name} before]\n" + "".join(lines[-SHOWN_CHARACTERS:])


def text(result, path):
    """A file that was brought back."""
    return pathlib.Path(result.files, path.lstrip("/")).read_text(encoding="utf-8")


def main():
    result = unittest.main(exit=False, verbosity=2, testLoader=_Loader()).result
    for test, reason in result.skipped:
        print(f"skipped: {test}: {reason}")
    if not result.wasSuccessful():
        sys.exit(1)
    # A class that is skipped as a whole counts no test.
    if result.skipped and len(result.skipped) >= result.testsRun:
        sys.exit(77)
