#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the tests: ./dev test and ./dev lint. The last line is `N passed, N failed, N skipped`."""

import argparse
import contextlib
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "testing"))

import affected  # noqa: E402
import tiers  # noqa: E402
from progress import Progress  # noqa: E402
from stages import Run  # noqa: E402

os.chdir(pathlib.Path(__file__).resolve().parents[1])


def arguments():
    parser = argparse.ArgumentParser(prog="./dev test", description=__doc__)
    parser.add_argument("regex", nargs="?", help="run the tests with these names only")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--full", action="store_true", help="run the full tier")
    which.add_argument("--since", metavar="REV", help="run what changes since REV can affect")
    which.add_argument("--lint", action="store_true", help="run the checks of sources only")
    parser.add_argument("--fresh", action="store_true",
                        help="with --full: repeat what an interrupted run has finished")
    parser.add_argument("--preset", default="release", help="with REGEX: the build (release)")
    parser.add_argument("--repeat", type=int, default=1, metavar="N",
                        help="with REGEX: run each test N times, until it fails")
    parser.add_argument("--load", action="store_true",
                        help="run a busy loop on each processor beside the tests")
    given = parser.parse_args()
    if given.regex and (given.full or given.since or given.lint):
        parser.error("REGEX goes with --preset, --repeat and --load only")
    if given.repeat < 1:
        parser.error("--repeat takes a number from 1")
    return given


@contextlib.contextmanager
def busy_processors(wanted):
    """A busy loop on each processor for the time of the block."""
    count = os.cpu_count() or 1
    loops = [subprocess.Popen(("sh", "-c", "while :; do :; done")) for _ in range(count)
             ] if wanted else []
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def build_of(preset):
    return affected.Build(f"build/{preset}", tiers.QUICK)


def stages_since(revision):
    """Builds the quick tier's tests first, because only the build knows their dependencies."""
    known = subprocess.run(("git", "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}"),
                           stdout=subprocess.DEVNULL, check=False)
    if known.returncode != 0:
        sys.exit(f"./dev test: git knows no revision {revision}. `git log --oneline` lists them.")
    changed = affected.changed_files(revision)
    print(f"{len(changed)} files differ from {revision}", flush=True)
    if not changed:
        return []
    names, unknown = {}, changed
    for preset in tiers.QUICK_PRESETS:
        if subprocess.run(("scripts/build.sh", preset, "quick_tests"), check=False).returncode != 0:
            sys.exit(f"./dev test: the tests of the preset {preset} do not build.")
        # A file may have an effect in one build only, such as a test of virtual machines.
        names[preset], unknown_here = build_of(preset).affected_by(changed)
        unknown = unknown & unknown_here
    if unknown:
        print(f"all tests run, as the effect of these files is unknown: {sorted(unknown)[:5]}")
        return tiers.quick_stages()
    stages = tiers.lint_stages(every_source=False)
    for preset, affected_names in names.items():
        if affected_names:
            stages += tiers.affected_stages(preset, affected_names)
    return stages


def chosen_stages(given):
    if given.lint:
        return tiers.lint_stages(every_source=False)
    if given.full:
        return tiers.full_stages()
    if given.since:
        return stages_since(given.since)
    if given.regex:
        repeat = ("--repeat", f"until-fail:{given.repeat}") if given.repeat > 1 else ()
        return tiers.filtered_stages(given.preset, ("-R", given.regex, *repeat))
    return tiers.quick_stages()


def main():
    given = arguments()
    progress = None
    if given.full:
        progress = Progress()
        if given.fresh:
            progress.forget()
    stages = chosen_stages(given)
    if not stages:
        print("nothing to test\n0 passed, 0 failed, 0 skipped")
        return
    with busy_processors(given.load):
        good = Run(stages, progress).run()
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
