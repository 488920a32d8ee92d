#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The series of patches for Linux: it is what the sources make, it applies to the source as Debian
has it, each patch compiles, and nothing that looks at patches has anything to say."""

import fnmatch
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import cache
import kernels
import selftests
import source
import vm_case
from paths import HERE, Unavailable, cache_directory

PATCHES = HERE.parent.parent / "kernel" / "patches"
sys.path.insert(0, str(PATCHES))

import make_series  # pylint: disable=wrong-import-position

PACKAGE = "linux-source-6.12"
FOLDER = "kernel/trace/eventlog/"
SAMPLES = "samples/eventlog/"
# That a file is new is said of each, whether or not MAINTAINERS covers it: we look ourselves.
CHECKPATCH = ("scripts/checkpatch.pl", "--strict", "--no-tree", "--quiet", "--color=never",
              "--ignore=FILE_PATH_CHANGES")
# Changes whenever the same ingredients are to give another result.
RECIPE = 2


def run(folder, *command, **options):
    """What a command says, in any case. Throws an AssertionError with that if it fails."""
    result = subprocess.run(
        command, cwd=folder, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", **options,
    )
    if result.returncode != 0:
        raise AssertionError(f"`{' '.join(command)}` failed:\n{result.stdout}")
    return result.stdout


def make(tree, *words):
    """Most of the objects are what they were in an earlier run, warnings included: ccache has both."""
    compiler = ["CC=ccache gcc"] if shutil.which("ccache") else []
    return run(tree, "make", "-s", "O=build", f"-j{os.cpu_count()}", *compiler, *words)


def prepared_source():
    """Debian's source with a build in it that has all but the objects, so that any copy of it
    can go on from there."""
    entry = kernels.Recipe("series", "", "6.12", PACKAGE, ("series",))
    try:
        package, version = kernels._package(entry)  # pylint: disable=protected-access
        pristine = source.unpacked_source(package, version, ())
    except Unavailable as problem:
        raise unittest.SkipTest(f"{PACKAGE} cannot be had: {problem}") from problem
    wanted = source.configuration(entry.fragments)

    def fill(folder):
        tree = folder / "tree"
        run(folder, "cp", "-al", str(pristine), str(tree))
        (tree / "build").mkdir()
        (tree / "build" / "wanted.config").write_text(wanted, encoding="utf-8")
        configure(tree)
        make(tree, "prepare")

    key = cache.key_of(RECIPE, pristine.name, wanted)
    return cache.obtain("series", package, key, fill) / "tree"


def configure(tree, more=""):
    """Configures the build. What is not known yet is no error: the options of a later patch."""
    wanted = tree / "build" / "wanted.config"
    with open(wanted, "a", encoding="utf-8") as file:
        file.write(more)
    make(tree, f"KCONFIG_ALLCONFIG={wanted}", "allnoconfig")


def changed_files(patch):
    return re.findall(r"(?m)^diff --git a/\S+ b/(\S+)$", patch)


class Sources(unittest.TestCase):
    """What needs no kernel."""

    def test_patches_are_what_the_sources_make(self):
        self.assertEqual(make_series.present(PATCHES), make_series.make(),
                         "Run kernel/patches/make_series.py, and commit what it writes.")

    def test_file_that_no_patch_has_is_an_error(self):
        texts = {**make_series.sources(), FOLDER + "forgotten.c": ""}
        with self.assertRaisesRegex(make_series.Problem, "forgotten.c is in no patch. Name it in"):
            make_series.check_list(texts)

    def test_name_without_a_file_is_an_error(self):
        texts = make_series.sources()
        del texts[FOLDER + "layout.c"]
        with self.assertRaisesRegex(make_series.Problem, "names .*layout.c, but there is no such"):
            make_series.check_list(texts)

    def test_new_files_have_a_maintainer(self):
        entry = (PATCHES / "in-tree" / "maintainers.diff").read_text(encoding="utf-8")
        covered = [pattern + "*" if pattern.endswith("/") else pattern
                   for pattern in re.findall(r"(?m)^\+F:\t(.*)$", entry)]
        for name in make_series.result():
            self.assertTrue(any(fnmatch.fnmatch(name, pattern) for pattern in covered), name)


class Applied(unittest.TestCase):
    """The patches, one after the other, in a copy of the kernel's source."""

    @classmethod
    def setUpClass(cls):
        prepared = prepared_source()
        # On the disk of the original, of which it has the files that nobody changes.
        scratch = tempfile.mkdtemp(prefix="eventlog-series-", dir=cache_directory())
        cls.addClassCleanup(shutil.rmtree, scratch, ignore_errors=True)
        cls.tree = pathlib.Path(scratch, "tree")
        run(scratch, "cp", "-al", str(prepared), str(cls.tree))
        shutil.rmtree(cls.tree / "build")
        run(scratch, "cp", "-a", str(prepared / "build"), str(cls.tree / "build"))
        cls.patches = [make_series.HERE / name for name in sorted(make_series.present(PATCHES))]
        cls.begin_history()
        cls.said = {}
        for path in cls.patches:
            cls.git("am", "--quiet", str(path))
            cls.said[path.name] = cls.compile(path.read_text(encoding="utf-8"))

    @classmethod
    def git(cls, *words):
        identity = ("-c", "user.name=eventlog", "-c", "user.email=eventlog@example.org",
                    "-c", "commit.gpgsign=false")
        environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
        return run(cls.tree, "git", *identity, *words, env=environment)

    @classmethod
    def begin_history(cls):
        """Of the files that are changed: that of all others would take a minute."""
        names = {name for path in cls.patches
                 for name in changed_files(path.read_text(encoding="utf-8"))}
        cls.git("init", "--quiet")
        cls.git("add", "--force", *(name for name in sorted(names) if (cls.tree / name).exists()))
        cls.git("commit", "--quiet", "-m", "the source as Debian has it")

    @classmethod
    def compile(cls, patch):
        """What the compiler says of the objects that a patch has something to do with."""
        names = changed_files(patch)
        if any(name.endswith("Kconfig") for name in names):
            configure(cls.tree, "CONFIG_EVENTLOG=y\nCONFIG_EVENTLOG_KUNIT_TEST=y\n")
        goals = [name[:-1] + "o" for name in names
                 if name.startswith("kernel/trace/") and name.endswith(".c")
                 and not name.startswith(FOLDER)]
        if any(name.startswith(FOLDER) for name in names):
            goals.append(FOLDER)
        if any(name.startswith(SAMPLES) for name in names):
            configure(cls.tree, "CONFIG_BLOCK=y\nCONFIG_SAMPLES=y\nCONFIG_SAMPLE_EVENTLOG=m\n")
            goals.append(SAMPLES)
        return make(cls.tree, "W=1", *goals) if goals else ""

    def test_each_patch_compiles_without_a_warning(self):
        self.assertEqual({name: said for name, said in self.said.items() if said}, {})
        built = {path.stem for path in (self.tree / "build" / FOLDER).rglob("*.o")}
        built |= {path.stem for path in (self.tree / "build" / SAMPLES).rglob("*.o")}
        for folder in (FOLDER, SAMPLES):
            for path in (self.tree / folder).rglob("*.c"):
                self.assertIn(path.stem, built)

    def test_result_is_the_sources(self):
        for name, text in make_series.result().items():
            self.assertEqual((self.tree / name).read_text(encoding="utf-8"), text, name)
        there = {str(path.relative_to(self.tree)) for path in (self.tree / FOLDER).rglob("*")
                 if path.is_file()}
        self.assertEqual(there, {name for name in make_series.result() if name.startswith(FOLDER)})

    def test_sparse_has_nothing_to_say(self):
        if shutil.which("sparse") is None:
            self.skipTest("there is no sparse. `./dev setup` installs it.")
        self.assertEqual(re.sub(r"(?m)^ +CHECK .*\n", "", make(self.tree, "C=2", FOLDER)), "")

    def test_checkpatch_has_nothing_to_say(self):
        # It takes a keyword of C11 for a name in mixed case.
        copies = pathlib.Path(tempfile.mkdtemp(dir=self.tree.parent))
        for path in self.patches:
            text = path.read_text(encoding="utf-8").replace("_Static_assert", "static_assert")
            (copies / path.name).write_text(text, encoding="utf-8")
        copied = (str(copies / path.name) for path in self.patches)
        self.assertEqual(run(self.tree, *CHECKPATCH, *copied), "")

    def test_selftests_compile(self):
        for name in selftests.NAMES:
            selftests.build(self.tree, name, self.tree.parent)


if __name__ == "__main__":
    vm_case.main()
