#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Applies the faults of tests/mutations one by one and counts those that the tests find.

usage: mutate.py [--tier quick|full] [--only NUMBER]... [--no-baseline] [--scratch DIRECTORY]

Works in a copy of the tree, which it keeps for the next run: build/mutations. In the quick tier
only tests with the label quick count. Fails if the quick tier kills fewer than 9 of 10 mutations,
or the full tier any fewer than all.
"""

import argparse
import collections
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "tests" / "mutations"
TIERS = ("quick", "full")
# A fault may make a test hang.
TEST_SECONDS = 1800
BUILD_SECONDS = 3600
# The part of all mutations that a tier must kill.
REQUIRED = {"quick": 0.9, "full": 1.0}

# A set of tests: a regular expression for CTest, a preset, and the targets to build.
Suite = collections.namedtuple("Suite", "tier preset targets tests")
Mutation = collections.namedtuple("Mutation", "name diff suites")


class Problem(Exception):
    """A failure, as a sentence for stderr: the object, the fault and the remedy."""


def parse_suites(text):
    """{mutation: [suite]} of lines MUTATION TIER PRESET TARGET,TARGET REGULAR_EXPRESSION."""
    suites = collections.defaultdict(list)
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        words = line.split()
        if len(words) != 5 or words[1] not in TIERS:
            raise Problem(f"suites.txt:{number}: the line does not have the form "
                          "MUTATION quick|full PRESET TARGET,TARGET REGULAR_EXPRESSION.")
        name, tier, preset, targets, tests = words
        re.compile(tests)
        suites[name].append(Suite(tier, preset, tuple(targets.split(",")), tests))
    return suites


def read_mutations(folder=FOLDER):
    suites = parse_suites((folder / "suites.txt").read_text())
    mutations = [Mutation(diff.stem, diff, suites.pop(diff.stem, []))
                 for diff in sorted(folder.glob("*.diff"))]
    for mutation in mutations:
        if not mutation.suites:
            raise Problem(f"suites.txt names no tests for {mutation.name}. Add a line.")
    if suites:
        raise Problem(f"suites.txt names {', '.join(suites)}. Remove these lines or add the diffs.")
    return mutations


def choose(mutations, numbers):
    """Those whose names begin with one of the numbers; all without a number."""
    wanted = [f"{int(number):02}-" for number in numbers]
    return [each for each in mutations if not wanted or each.name.startswith(tuple(wanted))]


def files_of(diff):
    return re.findall(r"^\+\+\+ b/(\S+)", diff.read_text(), re.MULTILINE)


def is_enough(killed, count, tier):
    return killed >= count * REQUIRED[tier]


class Scratch:
    """A copy of the tree in which mutations are built and tested."""

    def __init__(self, directory):
        self.directory = directory
        self.log = directory / "mutations.log"
        cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        self.environment = {
            "CCACHE_DIR": f"{cache}/eventlog/ccache",
            "CCACHE_SLOPPINESS": "pch_defines,time_macros",
            "CCACHE_BASEDIR": str(directory),
            "CCACHE_NOHASHDIR": "1",
            "CMAKE_C_COMPILER_LAUNCHER": "ccache",
            "CMAKE_CXX_COMPILER_LAUNCHER": "ccache",
            **os.environ,
        }

    def copy(self):
        """Copies only changed files, so that little is built again."""
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
            check=True, capture_output=True, text=True,
        ).stdout.split("\0")
        files = {name for name in listed if name and (ROOT / name).is_file()}
        for name in files:
            self.restore(name)
        self.directory.mkdir(parents=True, exist_ok=True)
        record = self.directory / "copied_files"
        before = record.read_text().splitlines() if record.exists() else []
        for name in set(before) - files:
            (self.directory / name).unlink(missing_ok=True)
        record.write_text("".join(f"{name}\n" for name in sorted(files)))
        self.log.write_text("")

    def restore(self, name):
        source, copy = ROOT / name, self.directory / name
        content = source.read_bytes()
        if not copy.is_file() or copy.read_bytes() != content:
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(content)
        copy.chmod(source.stat().st_mode)

    def run(self, seconds, *command):
        """Returns the exit code, or None after a timeout, which kills the command and its children."""
        with self.log.open("a") as log:
            print("$", *command, file=log, flush=True)
            process = subprocess.Popen(command, cwd=self.directory, stdout=log, stderr=log,
                                       stdin=subprocess.DEVNULL, env=self.environment,
                                       start_new_session=True)
            try:
                return process.wait(seconds)
            except BaseException as error:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                if isinstance(error, subprocess.TimeoutExpired):
                    return None
                raise

    def apply(self, mutation):
        return self.run(60, "patch", "--batch", "--no-backup-if-mismatch", "--fuzz=1", "-p1",
                        "--input", str(mutation.diff)) == 0

    def revert(self, mutation):
        for name in files_of(mutation.diff):
            self.restore(name)
            for left in (".orig", ".rej"):
                (self.directory / (name + left)).unlink(missing_ok=True)

    def build(self, suite):
        build = self.directory / "build" / suite.preset
        if not (build / "build.ninja").exists():
            if self.run(BUILD_SECONDS, "cmake", "--preset", suite.preset) != 0:
                return False
        return self.run(BUILD_SECONDS, "cmake", "--build", "--preset", suite.preset, "--target",
                        *suite.targets) == 0

    def test(self, suite, only_quick):
        """As run(): 0 if all tests pass."""
        label = ("-L", "^quick$") if only_quick else ()
        return self.run(TEST_SECONDS, "ctest", "--preset", suite.preset, "-R", suite.tests, *label,
                        "--no-tests=error", "--stop-on-failure")


def suites_of(mutation, tier):
    """Returns the suites of a tier. The full tier runs the quick suites first."""
    return sorted((each for each in mutation.suites if tier == "full" or each.tier == "quick"),
                  key=lambda each: TIERS.index(each.tier))


def check_baseline(scratch, mutations, tier):
    """Fails unless all tests pass without a mutation, because otherwise they prove nothing."""
    suites = {suite._replace(tier="") for each in mutations for suite in suites_of(each, tier)}
    for suite in sorted(suites):
        begin = time.monotonic()
        if not scratch.build(suite):
            raise Problem(f"{' '.join(suite.targets)} cannot be built in {suite.preset} without a "
                          f"mutation. See {scratch.log}.")
        if scratch.test(suite, tier == "quick") != 0:
            raise Problem(f"tests {suite.tests} in {suite.preset} fail without a mutation, or "
                          f"there are none of the tier. See {scratch.log}.")
        print(f"baseline: {suite.preset} {suite.tests}: {time.monotonic() - begin:.0f} s",
              flush=True)


def judge(scratch, mutation, tier):
    """Returns the outcome of a mutation, and the suite that decided it."""
    for suite in suites_of(mutation, tier):
        if not scratch.build(suite):
            return "does not build", f"{suite.preset} {' '.join(suite.targets)}"
        result = scratch.test(suite, tier == "quick")
        if result != 0:
            how = "killed" if result is not None else "killed by its time"
            return how, f"{suite.preset} {suite.tests}"
    return "survived", ""


def try_mutation(scratch, mutation, tier):
    try:
        if not scratch.apply(mutation):
            return "does not apply", ""
        return judge(scratch, mutation, tier)
    finally:
        scratch.revert(mutation)


def run(scratch, mutations, tier, with_baseline):
    scratch.copy()
    if with_baseline:
        check_baseline(scratch, mutations, tier)
    killed = 0
    for mutation in mutations:
        begin = time.monotonic()
        outcome, where = try_mutation(scratch, mutation, tier)
        killed += outcome.startswith("killed")
        seconds = time.monotonic() - begin
        print(f"{mutation.name:<40} {outcome:<18} {seconds:5.0f} s  {where}", flush=True)
    print(f"{tier} tier: {killed} of {len(mutations)} mutations killed")
    return 0 if is_enough(killed, len(mutations), tier) else 1


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tier", choices=TIERS, default="full", help="the tests that count")
    parser.add_argument("--only", action="append", default=[], type=int, metavar="NUMBER",
                        help="this mutation; may be given several times")
    parser.add_argument("--no-baseline", action="store_true",
                        help="do not run the tests without a mutation first")
    parser.add_argument("--scratch", type=pathlib.Path, metavar="DIRECTORY",
                        default=ROOT / "build" / "mutations", help="where the copy is kept")
    chosen = parser.parse_args(arguments)
    try:
        mutations = choose(read_mutations(), chosen.only)
        if not mutations:
            raise Problem("there is no mutation of that number. See tests/mutations.")
        return run(Scratch(chosen.scratch.resolve()), mutations, chosen.tier,
                   not chosen.no_baseline)
    except Problem as problem:
        print(f"mutate.py: {problem}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
