#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares this tree's benchmarks with those of another revision.

Builds both trees with the same compiler and flags, runs them in turns in the order ABBA, and prints
for each figure both medians, their ratio with a 95 % confidence interval, and a verdict. The exit
status is 1 if a figure is slower by more than the limit, 2 after an error.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile

from against_areas import AREAS, Tree
from figures import TOLERABLE_LOSS, Problem, run
from paired import LEAST_PAIRS, MOST_PAIRS, SLOWER, interval_of, verdict_on

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGETS = ("bench_programs", "elog")
# Settings that affect compilation and are not part of a tree.
SETTINGS = re.compile(
    r"^((?:CMAKE_(?:C|CXX)_(?:COMPILER|COMPILER_LAUNCHER|FLAGS|FLAGS_RELWITHDEBINFO)"
    r"|CMAKE_BUILD_TYPE|CMAKE_(?:EXE|SHARED)_LINKER_FLAGS)):\w+=(.*)$", re.M)
DEFAULT_PAIRS, DEFAULT_LIMIT = 10, 3.0


# Command line ------------------------------------------------------------------------------------


def area_name(text):
    if text not in AREAS:
        raise argparse.ArgumentTypeError(
            f"'{text}' cannot be compared with another tree; these areas can: "
            f"{', '.join(sorted(AREAS))}")
    return text


def pair_count(text):
    if not re.fullmatch(r"[0-9]+", text) or not LEAST_PAIRS <= int(text) <= MOST_PAIRS:
        raise argparse.ArgumentTypeError(
            f"'{text}' is no number of pairs from {LEAST_PAIRS} to {MOST_PAIRS}")
    return int(text)


def percentage(text):
    if not re.fullmatch(r"[0-9]+(\.[0-9]+)?", text) or not 0 < float(text) <= 100:
        raise argparse.ArgumentTypeError(f"'{text}' is no percentage above 0 and up to 100")
    return float(text)


def make_parser():
    parser = argparse.ArgumentParser(
        prog="./dev bench", description=__doc__, usage="%(prog)s AREA --against REV [OPTIONS]",
        formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    parser.add_argument("area", metavar="AREA", type=area_name, help=", ".join(sorted(AREAS)))
    parser.add_argument("--against", metavar="REV", required=True, help="a revision for git")
    parser.add_argument("--pairs", metavar="N", type=pair_count, default=DEFAULT_PAIRS,
                        help=f"how many runs of each tree (default: {DEFAULT_PAIRS})")
    parser.add_argument("--limit", metavar="PERCENT", type=percentage, default=DEFAULT_LIMIT,
                        help=f"how much slower is too slow (default: {DEFAULT_LIMIT:g})")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path,
                        help="write figures, intervals and verdicts to FILE")
    return parser


# The trees ---------------------------------------------------------------------------------------


def find_commit(root, revision):
    """Returns the full hash of the commit."""
    if not revision:
        raise Problem("--against needs a revision, for example --against HEAD~1.")
    words = ["git", "-C", root, "rev-parse", "--verify", "--quiet", "--end-of-options",
             f"{revision}^{{commit}}"]
    found = subprocess.run(words, check=False, capture_output=True, text=True)
    if found.returncode == 0:
        return found.stdout.strip()
    if found.stderr:
        raise Problem(f"git cannot look up the revision '{revision}': {found.stderr.strip()}")
    raise Problem(f"There is no revision '{revision}' in this repository. `git log --oneline` and "
                  "`git tag` list revisions.")


def check_out(root, commit):
    """Extracts the commit's files to build/against, completely or not at all."""
    folder = root / "build/against" / commit
    if folder.exists():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as partial:
        files = pathlib.Path(partial, "files")
        files.mkdir()
        archive = pathlib.Path(partial, "files.tar")
        run("git", "-C", root, "archive", "--format=tar", f"--output={archive}", commit)
        run("tar", "-xf", archive, "-C", files)
        files.rename(folder)
    return folder


def run_logged(log, *words, **options):
    """Runs a build command with its output in a file."""
    with open(log, "a", encoding="utf-8") as output:
        result = subprocess.run(words, check=False, stdin=subprocess.DEVNULL, stdout=output,
                                stderr=subprocess.STDOUT, **options)
    if result.returncode != 0:
        last = "\n".join(log.read_text("utf-8", "replace").splitlines()[-30:])
        raise Problem(f"{words[0]} has failed; {log} ends with:\n{last}")


def settings_of(cache):
    """The options of cmake that the other tree's build must share."""
    return [f"-D{name}={value}" for name, value in SETTINGS.findall(cache)]


def build_other(root, folder):
    log = root / f"build/logs/against_{folder.name[:10]}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.unlink(missing_ok=True)
    build = folder / "build/release"
    cache = (root / "build/release/CMakeCache.txt").read_text("utf-8")
    default_cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or
                                 pathlib.Path.home() / ".cache") / "eventlog/ccache"
    environment = dict({"CCACHE_DIR": str(default_cache)}, **os.environ)
    environment |= {"CCACHE_BASEDIR": str(folder), "CCACHE_NOHASHDIR": "1"}
    run_logged(log, "cmake", "-S", folder, "-B", build, "-G", "Ninja",
               "-DEVENTLOG_BUILD_TESTS=OFF", *settings_of(cache), env=environment)
    run_logged(log, "cmake", "--build", build, "--parallel", str(len(os.sched_getaffinity(0))),
               "--target", *TARGETS, env=environment)
    return build


def find_program(build, name):
    """Finds the program in the tree's build folder."""
    for path in sorted(build.rglob(name)):
        if path.is_file() and os.access(path, os.X_OK):
            return path
    raise Problem(f"{build} has no program {name} after the build.")


def prepare(options, commit):
    """Returns both trees, with the programs of the area built."""
    ours = Tree("this tree", ROOT)
    theirs = Tree(commit[:10], check_out(ROOT, commit))
    if AREAS[options.area].needs_programs:
        if subprocess.run([ROOT / "scripts/build.sh", "release", *TARGETS],
                          check=False).returncode != 0:
            raise Problem("This tree's benchmarks cannot be built. See above.")
        print(f"building {theirs.name} ({options.against})", flush=True)
        for tree, build in ((ours, ROOT / "build/release"),
                            (theirs, build_other(ROOT, theirs.root))):
            tree.programs = find_program(build, "eventlog_bench").parent
            tree.elog = find_program(build, "elog")
        note_other_programs(ours, theirs)
    return ours, theirs


def programs_of(root):
    """The sources of the benchmark programs."""
    return {path.relative_to(root): path.read_bytes()
            for path in (root / "bench").rglob("*.?pp")}


def note_other_programs(ours, theirs):
    if programs_of(ours.root) != programs_of(theirs.root):
        print("The benchmark programs differ between the trees, too: a difference can be theirs.")


# Figures -----------------------------------------------------------------------------------------


def order_of(pair, trees):
    """ABBA, so that a steady drift affects both trees alike."""
    return list(trees) if pair % 2 == 0 else list(reversed(trees))


def measure(area, trees, pairs):
    """Returns {name of tree: [Sample of each pair]}, and shows the losses of each run."""
    samples = {tree.name: [] for tree in trees}
    for pair in range(pairs):
        taken = area.measure_pair(order_of(pair, trees))
        losses = []
        for tree in trees:
            sample = taken[tree.name]
            samples[tree.name].append(sample)
            if sample.attempted:
                losses.append(f"{tree.name} {sample.lost} of {sample.attempted}")
        text = f": lost by {', by '.join(losses)}" if losses else ""
        print(f"pair {pair + 1} of {pairs}{text}", flush=True)
    return samples


def compare(ours, theirs, limit):
    """{name of figure: its medians, ratio, interval and verdict}, of samples in pairs."""
    results = {}
    for name in ours[0].figures:
        if name not in theirs[0].figures:
            print(f"{name} is not compared: only this tree has it.")
            continue
        above = [sample.figures[name] for sample in ours]
        below = [sample.figures[name] for sample in theirs]
        if min(above + below) <= 0:
            raise Problem(f"{name} is not above 0 in each run, so it has no ratio.")
        interval = interval_of(above, below)
        verdict = verdict_on(interval, len(above), limit)
        results[name] = {
            "ours": statistics.median(above), "theirs": statistics.median(below),
            "ratio": interval.ratio, "low": interval.low, "high": interval.high,
            "verdict": verdict.kind, "text": verdict.text,
        }
    return results


def show(results, ours, theirs):
    print(f"\n{'median':<28} {ours:>10} {theirs:>10}   {'ratio':>5}   95 % interval    verdict")
    for name, each in results.items():
        print(f"{name:<28} {each['ours']:>10.3f} {each['theirs']:>10.3f}   {each['ratio']:>5.3f}   "
              f"{each['low']:.3f} to {each['high']:.3f}   {each['text']}")


def lost_share(samples):
    attempted = sum(sample.attempted for sample in samples)
    return sum(sample.lost for sample in samples) / attempted if attempted else 0


def warn_of_losses(samples):
    for name, taken in samples.items():
        if lost_share(taken) > TOLERABLE_LOSS:
            print(f"{name} has LOST MORE THAN {100 * TOLERABLE_LOSS:g} % OF ITS EVENTS. A lost "
                  "event is not written, so the figures say little. Run again on an idle machine.")


def write_json(options, commit, samples, results):
    """Writes the results and the losses of each pair."""
    lost = {side: [sample.lost for sample in taken]
            for side, taken in zip(("ours", "theirs"), samples.values())}
    content = {"area": options.area, "against": commit, "pairs": options.pairs,
               "limit_percent": options.limit, "lost": lost, "figures": results}
    options.json.write_text(json.dumps(content, indent=2) + "\n", "utf-8")


def compare_trees(options):
    """Returns the exit status."""
    if options.json and not options.json.absolute().parent.is_dir():
        raise Problem(f"There is no folder for {options.json}. Name another file with --json.")
    commit = find_commit(ROOT, options.against)
    trees = prepare(options, commit)
    folder = tempfile.mkdtemp(prefix=f"eventlog-bench-{os.getpid()}.", dir="/dev/shm")
    try:
        samples = measure(AREAS[options.area](pathlib.Path(folder)), trees, options.pairs)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    results = compare(*samples.values(), options.limit)
    show(results, *samples)
    warn_of_losses(samples)
    if options.json:
        write_json(options, commit, samples, results)
    return 1 if any(each["verdict"] == SLOWER for each in results.values()) else 0


def main():
    parser = make_parser()
    options = parser.parse_args()
    # A signal raises an exception, so that running programs and files are removed.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    try:
        status = compare_trees(options)
    except (Problem, OSError) as problem:
        print(f"{parser.prog}: {problem}", file=sys.stderr)
        status = 2
    sys.exit(status)


if __name__ == "__main__":
    main()
