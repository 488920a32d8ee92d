#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The series of patches for Linux under a compiler: each patch compiles without a warning on
top of those before it, sparse accepts the result, and the kernel's selftests compile."""

import os
import pathlib
import re
import shutil
import tempfile
import unittest

import cache
import selftests
import source
import vm_case
from paths import cache_directory
from series_tree import (
    CODE, PACKAGE, SAMPLES, begin_history, changed_files, git, pristine_or_skip, run,
)

# Changes whenever the same ingredients are to give another result.
RECIPE = 3


def make(tree, *words):
    """Builds with the same flags each time: other flags would have make build all objects again.
    ccache keeps the objects of earlier runs with their warnings."""
    compiler = ["CC=ccache gcc"] if shutil.which("ccache") else []
    return run(tree, "make", "-s", "O=build", "W=1", f"-j{os.cpu_count()}", *compiler, *words)


def configure(tree):
    """Configures the build. Options of later patches are in the list, too, and are ignored."""
    make(tree, f"KCONFIG_ALLCONFIG={tree / 'build' / 'wanted.config'}", "allnoconfig")


def prepared_source():
    """Debian's source with a build in it that has everything but the objects. A copy of it can be
    built from there."""
    pristine = pristine_or_skip()
    wanted = source.configuration(("series",))

    def fill(folder):
        tree = folder / "tree"
        run(folder, "cp", "-al", str(pristine), str(tree))
        (tree / "build").mkdir()
        (tree / "build" / "wanted.config").write_text(wanted, encoding="utf-8")
        configure(tree)
        make(tree, "prepare")

    key = cache.key_of(RECIPE, pristine.name, wanted)
    return cache.obtain("series", PACKAGE, key, fill) / "tree"


class Builds(unittest.TestCase):
    """The patches, one after the other, in a copy of the kernel's source."""

    @classmethod
    def setUpClass(cls):
        prepared = prepared_source()
        # On the disk of the original: the files that no patch changes are links to it.
        scratch = tempfile.mkdtemp(prefix="eventlog-series-", dir=cache_directory())
        cls.addClassCleanup(shutil.rmtree, scratch, ignore_errors=True)
        cls.tree = pathlib.Path(scratch, "tree")
        run(scratch, "cp", "-al", str(prepared), str(cls.tree))
        shutil.rmtree(cls.tree / "build")
        run(scratch, "cp", "-a", str(prepared / "build"), str(cls.tree / "build"))
        patches = source.patch_series()
        begin_history(cls.tree, patches.values())
        cls.output = {}
        for path in source.write_patches(patches, scratch):
            git(cls.tree, "am", "--quiet", path)
            cls.output[path.name] = cls.compile(patches[path.name])

    @classmethod
    def compile(cls, patch):
        """The compiler's messages for the objects that a patch affects."""
        names = changed_files(patch)
        # Other changes of a Kconfig leave the values of options: make itself reads it again.
        if re.search(r"(?m)^\+config ", patch):
            configure(cls.tree)
        goals = [name[:-1] + "o" for name in names
                 if name.startswith("kernel/trace/") and name.endswith(".c")
                 and not name.startswith(CODE)]
        if any(name.startswith(CODE) for name in names):
            goals.append(CODE)
        if any(name.startswith(SAMPLES) for name in names):
            goals.append(SAMPLES)
        return make(cls.tree, *goals) if goals else ""

    def test_each_patch_compiles_without_a_warning(self):
        self.assertEqual({name: output for name, output in self.output.items() if output}, {})
        built = {path.stem for path in (self.tree / "build" / CODE).rglob("*.o")}
        built |= {path.stem for path in (self.tree / "build" / SAMPLES).rglob("*.o")}
        for folder in (CODE, SAMPLES):
            for path in (self.tree / folder).rglob("*.c"):
                self.assertIn(path.stem, built)

    def test_sparse_reports_nothing(self):
        if shutil.which("sparse") is None:
            self.skipTest("there is no sparse. `./dev setup` installs it.")
        self.assertEqual(re.sub(r"(?m)^ +CHECK .*\n", "", make(self.tree, "C=2", CODE)), "")

    def test_selftests_compile(self):
        for name in selftests.NAMES:
            selftests.build(self.tree, name, self.tree.parent)


if __name__ == "__main__":
    vm_case.main()
