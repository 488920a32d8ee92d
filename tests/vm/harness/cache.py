# SPDX-License-Identifier: MIT
"""Folders that are made once and kept, each under a name and a key that its content follows from.

A folder appears under its name only when it is complete. Who wants one that somebody else is making
waits for it.
"""

import contextlib
import fcntl
import hashlib
import json
import pathlib
import shutil
import subprocess

from paths import cache_directory


def key_of(*ingredients):
    """A short text that differs when any ingredient does. They are what JSON can express."""
    text = json.dumps(ingredients, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def place(kind, name, key):
    return cache_directory() / kind / f"{name}-{key}"


@contextlib.contextmanager
def locked(path):
    """Keeps others from making the same folder. A process that dies gives the lock back."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path.parent / f".{path.name}.lock", "w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def obtain(kind, name, key, make):
    """The folder of that name and key. If there is none, make(path) fills an empty one first."""
    path = place(kind, name, key)
    if path.is_dir():
        return path
    with locked(path):
        if path.is_dir():
            return path
        unfinished = path.parent / f".{path.name}.unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir()
        make(unfinished)
        unfinished.rename(path)
    return path


def entries(kind):
    """All complete folders of a kind, also those that nothing needs any more."""
    folder = cache_directory() / kind
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if path.is_dir() and path.name[0] != ".")


def size_of(path):
    """Bytes on disk; files with several names count once."""
    output = subprocess.run(
        ["du", "-s", "-B1", str(path)], check=True, stdout=subprocess.PIPE, encoding="ascii"
    ).stdout
    return int(output.split()[0])


def remove(path):
    """Takes a folder away: first from its name, so that nobody finds half of it."""
    path = pathlib.Path(path)
    with locked(path):
        doomed = path.parent / f".{path.name}.removed"
        path.rename(doomed)
        shutil.rmtree(doomed)
