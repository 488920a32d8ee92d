#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs clang-tidy on every source that a build compiles.

Usage: clang_tidy.py BUILD_DIRECTORY [--all]

clang-tidy spends most of its time on headers of other projects: a source has about 200 lines, and its
headers have 50,000. Therefore one batch includes many sources with the same flags. Sources that do not
compile together, for example because two define the same name, are in different batches; the compiler
finds them. The findings are the same.

Sources that an earlier run found clean and that have not changed are left out. If more than
SAMPLE_MAX remain, sources with recent commits are checked, and a sample of the rest, which differs
after each commit. --all checks all that remain.

Exit status 1 when there are findings, when a source does not compile, or when clang-tidy fails.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

from clean_sources import CleanSources

PROJECT = pathlib.Path(__file__).resolve().parents[2]
KERNEL = PROJECT / "kernel"
BATCH_MAX = 80
SAMPLE_MAX = 60
RECENT_COMMITS = 10
# Flags that change the generated code but not the findings of clang-tidy.
FLAGS_OF_CODE = re.compile(r"-f(PIC|PIE|pic|pie|visibility.*)$")
# Warnings that only batches cause: the local names of one source may be those of a namespace in
# another one, and a renamed main must return a value. The builds check both; all other warnings
# stay.
FLAGS_OF_BATCH = ["-Wno-shadow", "-Wno-return-type"]


def is_precompiled(path):
    """Whether it is a header that CMake precompiles. Sources do not depend on it."""
    return pathlib.Path(path).name.startswith("cmake_pch.")


def is_of_the_kernel(path):
    """What keeps to the kernel's coding style: the kernel's own checks look at it, see vm.series."""
    return pathlib.Path(path).resolve().is_relative_to(KERNEL)


def flags_of(entry):
    """The flags that decide how a source is read, and the folders in which it looks for headers."""
    flags = []
    folders = []
    words = iter(shlex.split(entry["command"])[1:])
    for word in words:
        if word in ("-o", "-c", "-MF", "-MT"):
            next(words)
        elif word == "-include":
            included = next(words)
            if not is_precompiled(included):
                flags += [word, included]
        elif word in ("-I", "-isystem"):
            folders.append((word, next(words)))
        elif word.startswith("-I"):
            folders.append(("-I", word[2:]))
        elif word not in ("-MD", "-Winvalid-pch") and not FLAGS_OF_CODE.match(word):
            flags.append(word)
    return tuple(flags), folders


def groups_of(database):
    """Lists of the sources of one folder that can be read with the same flags."""
    groups = {}
    seen = set()
    for entry in database:
        source = entry["file"]
        if source in seen or is_precompiled(source) or is_of_the_kernel(source):
            continue
        seen.add(source)
        flags, folders = flags_of(entry)
        key = (flags, source.endswith(".c"), pathlib.Path(source).parent)
        sources, all_folders = groups.setdefault(key, ([], {}))
        sources.append(source)
        all_folders.update(dict.fromkeys(folders))
    for (flags, is_c, _), (sources, folders) in sorted(
            groups.items(), key=lambda item: -len(item[1][0])):
        looked_in = [word for folder in folders for word in folder]
        # Equal parts, so that the cores end together.
        parts = -(-len(sources) // BATCH_MAX)
        for part in range(parts):
            yield (*flags, *looked_in), is_c, sorted(sources)[part::parts]


def run(*words):
    """Returns the output of a tool, and whether it succeeded; False if it cannot be run."""
    try:
        result = subprocess.run(words, capture_output=True, text=True, check=False)
    except OSError as mistake:
        return f"{words[0]} cannot be run ({mistake}). Install it with: ./dev setup", False
    # If clang-tidy cannot read .clang-tidy, it prints a message, continues without it and exits
    # with 0.
    return (result.stdout + result.stderr,
            result.returncode == 0 and not re.search(r"^Error\b|\berror:", result.stderr, re.M))


class Batches:
    """Writes the sources that include others, and checks them."""

    def __init__(self, directory, clean):
        self.directory = directory
        self.clean = clean
        self.count = 0

    def write(self, sources, is_c):
        self.count += 1
        path = self.directory / f"batch_{self.count}.{'c' if is_c else 'cpp'}"
        # Each program has its own main.
        lines = [f"#define main main_{number}  // NOLINT(readability-identifier-naming)\n"
                 f'#include "{source}"  // NOLINT(bugprone-suspicious-include)\n'
                 "#undef main\n"
                 for number, source in enumerate(sources)]
        path.write_text("".join(lines), encoding="utf-8")
        return path

    def check(self, flags, is_c, sources):
        """Returns the output of clang-tidy for these sources, and whether it succeeded."""
        output = []
        content = True
        keys = {source: self.clean.key(source, flags) for source in sources}
        left = [source for source in sources if not self.clean.knows(keys[source])]
        if len(left) < len(sources):
            output.append(f"{len(sources) - len(left)} of {len(sources)} are as they were")
        while left:
            batch, left, path = self.next_batch(flags, is_c, left)
            said, is_clean = run("clang-tidy", "--quiet", "--warnings-as-errors=*", str(path), "--",
                                 *flags, *FLAGS_OF_BATCH)
            output += [pathlib.Path(source).name for source in batch]
            if is_clean:
                self.clean.add(keys[source] for source in batch)
            else:
                content = False
                output.append(said)
        return "\n".join(output), content

    def next_batch(self, flags, is_c, sources):
        """The sources that compile together, those that do not, and the file with the first."""
        batch, left = list(sources), []
        while True:
            path = self.write(batch, is_c)
            said, compiles = run("clang" if is_c else "clang++", "-fsyntax-only", "-ferror-limit=0",
                                 *flags, *FLAGS_OF_BATCH, str(path))
            if compiles or len(batch) == 1:
                return batch, left, path
            blamed = set(re.findall(r"^(/[^:\n]+):\d+:\d+: (?:fatal )?error:", said, re.M))
            # The first source stays, so that the loop ends whatever source has the errors.
            moved = [source for source in batch[1:] if source in blamed] or batch[1:]
            left += moved
            batch = [source for source in batch if source not in moved]


def git(*words):
    """The output of git; nothing where there is no repository."""
    return subprocess.run(("git", "-C", str(PROJECT), *words), stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, check=False).stdout


def sampled(groups, known):
    """At most SAMPLE_MAX of the sources that are not known to be clean, in their groups: first those
    of recent commits, then whole groups in an order that each commit changes."""
    changed = git("log", f"-{RECENT_COMMITS}", "--format=", "--name-only").split()
    changed += git("diff", "--name-only", "HEAD").split()
    recent = {str(PROJECT / name) for name in changed}
    head = git("rev-parse", "HEAD")

    def turn(group):
        sources = group[2]
        digest = hashlib.sha256((head + sources[0]).encode()).digest()
        return not recent.intersection(sources), digest

    left = SAMPLE_MAX
    for flags, is_c, sources in sorted(groups, key=turn):
        unknown = [source for source in sources if not known.knows(known.key(source, flags))]
        chosen = sorted(unknown, key=lambda source: source not in recent)[:left]
        left -= len(chosen)
        if chosen:
            yield flags, is_c, chosen
        if left == 0:
            return


def main():
    build = pathlib.Path(sys.argv[1])
    with open(build / "compile_commands.json", encoding="utf-8") as file:
        groups = list(groups_of(json.load(file)))
    known = CleanSources()
    if "--all" not in sys.argv[2:]:
        total = sum(len(sources) for _, _, sources in groups)
        groups = list(sampled(groups, known))
        print(f"{sum(len(sources) for _, _, sources in groups)} of {total} sources are checked")
    directory = build.absolute() / "clang_tidy"
    directory.mkdir(exist_ok=True)
    clean = True
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        batches = Batches(directory, known)
        work = [pool.submit(batches.check, *group) for group in groups]
        for done in concurrent.futures.as_completed(work):
            output, content = done.result()
            clean = clean and content
            print(output, flush=True)
    known.save()
    sys.exit(0 if clean else 1)


if __name__ == "__main__":
    main()
