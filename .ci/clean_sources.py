# SPDX-License-Identifier: MIT
"""Which sources clang-tidy has found nothing in, kept from one run to the next.

A source is known by all that decides what is found: its bytes and those of every file of the project
that it includes, the flags, the checks that are asked for, and the packages of this machine, which
stand for the tools and for the headers of others. If any of it changes, it is checked again.
"""

import hashlib
import json
import os
import pathlib
import re
import subprocess

PROJECT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.M)
# Some twenty times as many as there are.
KEPT_MAX = 10000


def place():
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(home) / "eventlog" / "clean-sources.json"


def output_of(*words):
    try:
        return subprocess.run(words, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return b""


def surroundings():
    """What all sources have in common."""
    found = hashlib.sha256()
    for words in (("clang-tidy", "--version"), ("dpkg-query", "--show")):
        found.update(output_of(*words))
    for path in sorted(pathlib.Path(__file__).parent.glob("*.py")):
        found.update(path.read_bytes())
    return found.digest()


class CleanSources:
    """Keys of sources; forgets the oldest when there are too many."""

    def __init__(self):
        self.common = surroundings()
        self.files = {}
        try:
            self.kept = dict.fromkeys(json.loads(place().read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            self.kept = {}

    def file(self, path):
        """The hash of a file's bytes, and what it includes, as (whether quoted, name)."""
        if path not in self.files:
            content = path.read_bytes()
            self.files[path] = (hashlib.sha256(content).digest(),
                                [(kind == b'"', name.decode(errors="replace"))
                                 for kind, name in INCLUDE.findall(content)])
        return self.files[path]

    def included(self, source, folders):
        """The source and all files of the project behind it, in the order in which they are met."""
        met = {source: None}
        left = [source]
        while left:
            path = left.pop()
            for is_quoted, name in self.file(path)[1]:
                for folder in ([path.parent] if is_quoted else []) + folders:
                    # Not resolved: what is looked for beside a link is found beside it.
                    found = pathlib.Path(os.path.normpath(folder / name))
                    if found.is_file():
                        if found not in met:
                            met[found] = None
                            left.append(found)
                        break
        return met

    def checks(self, paths):
        """The files that ask for checks of these."""
        folders = {folder for path in paths for folder in path.parents
                   if folder.is_relative_to(PROJECT)}
        return sorted(folder / ".clang-tidy" for folder in folders
                      if (folder / ".clang-tidy").is_file())

    def key(self, source, flags):
        """`flags` name the folders, too, by -I and -isystem and in their order."""
        folders = [pathlib.Path(folder) for kind, folder in zip(flags, flags[1:])
                   if kind in ("-I", "-isystem") and folder.startswith(str(PROJECT))]
        key = hashlib.sha256(self.common)
        # In another work tree it is the same.
        key.update("\0".join(flags).replace(str(PROJECT), "").encode())
        met = list(self.included(pathlib.Path(source), folders))
        for path in met + self.checks(met):
            key.update(str(path.relative_to(PROJECT)).encode() + b"\0" + self.file(path)[0])
        return key.hexdigest()

    def knows(self, key):
        if key not in self.kept:
            return False
        self.add([key])
        return True

    def add(self, keys):
        for key in keys:
            self.kept.pop(key, None)
            self.kept[key] = None

    def save(self):
        """Others may do so at once: then the last one's stay."""
        path = place()
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f"{path.name}.{os.getpid()}")
        unfinished.write_text(json.dumps(list(self.kept)[-KEPT_MAX:]), encoding="utf-8")
        unfinished.replace(path)
