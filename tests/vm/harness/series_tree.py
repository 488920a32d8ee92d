# SPDX-License-Identifier: MIT
"""A git tree of the kernel for the tests of the series of patches."""

import os
import pathlib
import re
import shutil
import subprocess
import unittest

import kernels
import source
from paths import PackageUnavailable

PACKAGE = "linux-source-6.12"
CODE = "kernel/trace/eventlog/"
SAMPLES = "samples/eventlog/"


def run(folder, *command, **options):
    """The output of a command. Raises an AssertionError with it if the command fails."""
    result = subprocess.run(
        command, cwd=folder, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", **options,
    )
    if result.returncode != 0:
        raise AssertionError(f"`{' '.join(map(str, command))}` failed:\n{result.stdout}")
    return result.stdout


def git(tree, *words):
    """Runs git without the configuration of this machine."""
    identity = ("-c", "user.name=eventlog", "-c", "user.email=eventlog@example.org",
                "-c", "commit.gpgsign=false", "-c", "core.fsync=none")
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
    return run(tree, "git", *identity, *words, env=environment)


def pristine_or_skip():
    """Debian's source of Linux 6.12. It is read-only by convention: other folders link to its files."""
    entry = kernels.Recipe("series", "", "6.12", PACKAGE, ("series",))
    try:
        package, version = kernels._package(entry)  # pylint: disable=protected-access
        return source.unpacked_source(package, version)
    except PackageUnavailable as problem:
        raise unittest.SkipTest(f"{PACKAGE} is not available: {problem}") from problem


def changed_files(patch):
    return re.findall(r"(?m)^diff --git a/\S+ b/(\S+)$", patch)


def begin_history(tree, patches):
    """Commits the files that patches (texts) change. Committing all files would last a minute."""
    names = {name for patch in patches for name in changed_files(patch)}
    git(tree, "init", "--quiet")
    git(tree, "add", "--force", *(name for name in sorted(names) if (tree / name).exists()))
    git(tree, "commit", "--quiet", "-m", "the source as Debian has it")


def copy_changed(pristine, tree, patches):
    """Creates a tree of only the files that patches (texts) change."""
    for name in {name for patch in patches for name in changed_files(patch)}:
        if (pristine / name).exists():
            path = pathlib.Path(tree, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(pristine / name, path)
