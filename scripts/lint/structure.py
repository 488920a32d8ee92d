#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the folders and includes of sources. layers.txt lists the folders in their order.

usage: structure.py [PROJECT]

Rejects: an include that points to a higher layer or names no folder, a header path that exists in
two trees, a source folder without a README, a folder with more than 40 files, a source with more
than 500 lines.
"""

import collections
import pathlib
import re
import subprocess
import sys

from problems import report

FILES_MAX = 40
LINES_MAX = 500
INCLUDE = re.compile(r'^#\s*include "([^"]+)"', re.M)
SOURCE = re.compile(r"\.(c|cpp|hpp|h|py|sh|rs|pml)$|/(init|dev)$")
COMPILED = re.compile(r"\.(c|cpp|hpp|h)$")
# Folders that are flat by convention, or contain data.
LARGE_FOLDERS = re.compile(
    r"kernel/eventlog$|docs/man$|docs/man/links$|tests/fuzz/corpus/|LICENSES$")
# Layouts that other programs read; each is a single file.
LONG_FILES = re.compile(r"kernel/include/uapi/")


def read_layers(path):
    """{tree: [folder, ...]}, both from the lowest to the highest."""
    trees = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if not line[0].isspace():
            trees[line.strip()] = []
        elif not trees:
            sys.exit(f"{path}:{number}: a folder without a tree. Add a line that names the tree.")
        else:
            trees[list(trees)[-1]].append(line.strip())
    return trees


class Structure:
    """The files of a project, as paths relative to it, and their problems."""

    def __init__(self, project, files, trees):
        self.project = project
        self.files = set(files)
        self.trees = trees
        self.problems = []

    def check(self):
        for path in sorted(self.files):
            if SOURCE.search("/" + path):
                self.check_length(path)
            if COMPILED.search(path) and self.place_of(path):
                self.check_includes(path)
        self.check_twins()
        self.check_folders()
        return self.problems

    def place_of(self, path):
        """Returns (tree, folder) of a file, as positions in layers.txt; None: in no tree."""
        for number, (tree, folders) in enumerate(self.trees.items()):
            if path.startswith(tree + "/"):
                first, slash, _ = path[len(tree) + 1:].partition("/")
                folder = first if slash else "."
                if folder not in folders:
                    self.problems.append(f"{path}: layers.txt does not list the folder {folder} of "
                                         f"{tree}. Add it there, in its order.")
                    return None
                return number, folders.index(folder)
        return None

    def check_length(self, path):
        lines = (self.project / path).read_bytes().count(b"\n")
        if lines > LINES_MAX and not LONG_FILES.match(path):
            self.problems.append(f"{path}: {lines} lines, more than {LINES_MAX}. Split the file by "
                                 "responsibility.")

    def check_includes(self, path):
        place = self.place_of(path)
        text = (self.project / path).read_text(encoding="utf-8")
        for name in INCLUDE.findall(text):
            found = [tree for tree in self.trees if f"{tree}/{name}" in self.files]
            if not found:
                self.problems.append(f'{path}: "{name}" is in no tree of layers.txt. Write the path '
                                     "from the tree's root, or <...> for a public header.")
            elif (target := self.place_of(f"{found[0]}/{name}")) and target > place:
                self.problems.append(f"{path}: {found[0]}/{name} belongs to a higher layer. Move what "
                                     "is needed down, or this file up.")

    def check_twins(self):
        trees = collections.defaultdict(list)
        for path in self.files:
            for tree in self.trees:
                if path.startswith(tree + "/") and path.endswith((".h", ".hpp")):
                    trees[path[len(tree) + 1:]].append(tree)
        for name, found in sorted(trees.items()):
            if len(found) > 1:
                self.problems.append(f"{name}: exists in {' and '.join(sorted(found))}, so an include "
                                     "of it is ambiguous. Rename one.")

    def check_folders(self):
        counts = collections.Counter(str(pathlib.PurePath(path).parent) for path in self.files)
        for folder, count in sorted(counts.items()):
            if count > FILES_MAX and not LARGE_FOLDERS.match(folder):
                self.problems.append(f"{folder}: {count} files, more than {FILES_MAX}. Split the folder "
                                     "by purpose.")
        for tree, folders in self.trees.items():
            for folder in folders:
                readme = tree + ("" if folder == "." else f"/{folder}") + "/README.md"
                if readme not in self.files:
                    self.problems.append(f"{readme}: missing. Write its purpose, what goes in and out, "
                                         "the invariants, and what the folder includes.")


def files_of(project):
    listed = subprocess.run(
        ("git", "-C", str(project), "ls-files", "-z", "--cached", "--others", "--exclude-standard"),
        check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout.split("\0")
    return [path for path in listed if path and (project / path).is_file()]


def find_problems(project):
    layers = read_layers(pathlib.Path(__file__).resolve().parent / "layers.txt")
    return Structure(project, files_of(project), layers).check()


if __name__ == "__main__":
    report(find_problems)
