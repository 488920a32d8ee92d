# SPDX-License-Identifier: MIT
"""Programs of the host for the guest: at the same path, with their libraries."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from paths import HarnessError

# Unused parts of Python, half of its size.
PYTHON_EXCLUDED = {
    "dist-packages",
    "distutils",
    "ensurepip",
    "idlelib",
    "lib2to3",
    "pydoc_data",
    "site-packages",
    "test",
    "tkinter",
    "turtledemo",
}

# Larger files are stripped of debug information, because the guest keeps all files in memory.
LARGE = 1 << 20


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def libraries_of(path):
    """The shared objects that the loader loads for a program or library, and the loader itself."""
    result = subprocess.run(
        ["ldd", str(path)],
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    if "not a dynamic executable" in result.stdout or "statically linked" in result.stdout:
        return []
    missing = re.findall(r"^\s*(\S+) => not found", result.stdout, re.MULTILINE)
    if missing or result.returncode != 0:
        raise HarnessError(f"{path} lacks {', '.join(missing) or 'something'}:\n{result.stdout}".rstrip())
    return re.findall(r"(/\S+) \(0x", result.stdout)


def add_file(archive, source, place=None):
    """Adds a file with its libraries, at `place` in the guest or at the same path."""
    place = place or os.path.abspath(source)
    if place in archive:
        return
    if is_elf(source):
        _add_elf(archive, source, place)
        for library in libraries_of(source):
            add_file(archive, library)
    else:
        archive.file(place, source)
        _add_interpreter(archive, source)


def _add_elf(archive, source, place):
    if os.path.getsize(source) < LARGE or shutil.which("strip") is None:
        archive.file(place, source)
        return
    with tempfile.TemporaryDirectory(prefix="eventlog-vm-") as scratch:
        stripped = os.path.join(scratch, "stripped")
        # This machine's strip does not support other architectures.
        command = ["strip", "--strip-debug", "-o", stripped, source]
        known = subprocess.run(command, check=False, stderr=subprocess.DEVNULL).returncode == 0
        archive.file(place, stripped if known else source)


def _add_interpreter(archive, source):
    """Adds the interpreter of a script, unless the guest has it."""
    with open(source, "rb") as file:
        found = re.match(rb"#!\s*(/\S+)", file.readline(200))
    if found and os.path.isfile(found[1].decode()):
        add_file(archive, found[1].decode())


def add_tree(archive, source, place=None):
    """Adds a folder with its contents, or a single file."""
    if not os.path.isdir(source):
        add_file(archive, source, place)
        return
    place = pathlib.Path(place or os.path.abspath(source))
    archive.directory(place)
    for folder, _, names in os.walk(source):
        here = place / os.path.relpath(folder, source)
        archive.directory(here)
        for name in names:
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                add_file(archive, path, str(here / name))


def add_python(archive):
    """Adds Debian's Python, or this interpreter, as /usr/bin/python3 with its library."""
    interpreter = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
    root = subprocess.run(
        [interpreter, "-c", "import sysconfig; print(sysconfig.get_path('stdlib'))"],
        check=True,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    ).stdout.strip()
    add_file(archive, os.path.realpath(interpreter), "/usr/bin/python3")
    for folder, folders, names in os.walk(root):
        folders[:] = [
            name
            for name in folders
            if name not in PYTHON_EXCLUDED and not name.startswith("config-")
        ]
        for name in names:
            if not name.startswith("_tkinter"):
                add_file(archive, os.path.join(folder, name))
