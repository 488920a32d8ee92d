# SPDX-License-Identifier: MIT
"""Remembers between runs in which sources clang-tidy found nothing.

The key of a source covers everything that affects the findings: its bytes and those of every file of
the project that it includes, directly or by a flag; the flags; the enabled checks; and the packages of
this machine, which represent the tools and external headers. After any change the source is checked
again.
"""

import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

PROJECT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.M)
# Flags that include a file in front of the source.
IN_FRONT = ("-include", "-imacros", "-include-pch")
# About twenty times the number of sources.
KEPT_MAX = 10000


def place():
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(home) / "eventlog" / "clean-sources.json"


def flag_of_project(flag):
    """A flag with paths relative to the project, so that it is equal in all work trees."""
    return re.sub(rf"{re.escape(str(PROJECT))}(?![^/\"'\s])", "/", flag)


def surroundings():
    """The part of the key that all sources share; None: unknown."""
    found = hashlib.sha256()
    for words in (("clang-tidy", "--version"), ("dpkg-query", "--show")):
        try:
            found.update(subprocess.run(words, capture_output=True, check=True).stdout)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"clang-tidy: all sources are checked: {error}", file=sys.stderr)
            return None
    for name in ("clang_tidy.py", "clean_sources.py"):
        found.update((pathlib.Path(__file__).parent / name).read_bytes())
    return found.digest()


class CleanSources:
    """The keys of clean sources. The oldest are removed beyond a limit."""

    def __init__(self):
        self.common = surroundings()
        self.files = {}
        self.kept = {}
        if self.common is None:
            return
        try:
            self.kept = dict.fromkeys(json.loads(place().read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            pass

    def file(self, path):
        """The hash of a file's bytes, and what it includes, as (whether quoted, name)."""
        if path not in self.files:
            content = path.read_bytes()
            self.files[path] = (hashlib.sha256(content).digest(),
                                [(kind == b'"', name.decode(errors="replace"))
                                 for kind, name in INCLUDE.findall(content)])
        return self.files[path]

    def included(self, sources, folders):
        """Returns these files and all files of the project that they include, in order."""
        met = dict.fromkeys(sources)
        left = list(sources)
        while left:
            path = left.pop()
            for is_quoted, name in self.file(path)[1]:
                for folder in ([path.parent] if is_quoted else []) + folders:
                    # Symbolic links are not resolved: an include is searched beside the link.
                    found = pathlib.Path(os.path.normpath(folder / name))
                    if found.is_file():
                        if found not in met:
                            met[found] = None
                            left.append(found)
                        break
        return met

    def checks(self, paths):
        """The files that ask for checks of these: the nearest, and those above it, of which it may
        inherit."""
        folders = {folder for path in paths for folder in path.parents}
        return sorted(folder / ".clang-tidy" for folder in folders
                      if (folder / ".clang-tidy").is_file())

    def key(self, source, flags):
        """`flags` name the folders, too, by -I and -isystem and in their order, and by IN_FRONT
        what is read in front of the source. Those of others are packages', as their headers are."""
        # Options for clang's frontend are preceded by -Xclang: -Xclang -include -Xclang FILE.
        words = [flag for flag in flags if flag != "-Xclang"]
        named = [(kind, pathlib.Path(os.path.abspath(path))) for kind, path in zip(words, words[1:])
                 if kind in ("-I", "-isystem", *IN_FRONT)]
        named = [(kind, path) for kind, path in named if path.is_relative_to(PROJECT)]
        folders = [path for kind, path in named if kind not in IN_FRONT]
        in_front = [path for kind, path in named if kind in IN_FRONT and path.is_file()]
        key = hashlib.sha256(self.common or b"")
        key.update("\0".join(map(flag_of_project, flags)).encode())
        met = list(self.included([*in_front, pathlib.Path(source)], folders))
        for path in met + self.checks(met):
            key.update(flag_of_project(str(path)).encode() + b"\0" + self.file(path)[0])
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
        """Writes the keys. Of concurrent runs the last one wins; lost keys are checked again."""
        if self.common is None:
            return
        path = place()
        unfinished = path.with_name(f"{path.name}.{os.getpid()}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                unfinished.write_text(json.dumps(list(self.kept)[-KEPT_MAX:]), encoding="utf-8")
                unfinished.replace(path)
            finally:
                unfinished.unlink(missing_ok=True)
        except OSError as error:
            print(f"clang-tidy: which sources are clean is not kept: {error}", file=sys.stderr)
