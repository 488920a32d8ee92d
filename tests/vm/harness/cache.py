# SPDX-License-Identifier: MIT
"""Cached folders, each under a name and a key that determines its contents.

A folder appears under its name only when it is complete. A process that needs a folder which another
process is creating waits for it.
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
    """A short text that differs if any ingredient does. Ingredients are JSON values."""
    text = json.dumps(ingredients, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def place(kind, name, key):
    return cache_directory() / kind / f"{name}-{key}"


@contextlib.contextmanager
def locked(path):
    """Locks the creation of a folder. The end of the process releases the lock."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path.parent / f".{path.name}.lock", "w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def obtain(kind, name, key, make):
    """The folder of that name and key. If it does not exist, make(path) fills an empty one first."""
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
    """All complete folders of a kind, including unused ones."""
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
    """Removes a folder, after renaming it, so that no process finds a part of it."""
    path = pathlib.Path(path)
    with locked(path):
        doomed = path.parent / f".{path.name}.removed"
        path.rename(doomed)
        shutil.rmtree(doomed)
