#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The series of patches for Linux without a compiler: the generator's output, that it applies to Debian's
source and results in the sources, and that checkpatch accepts it."""

import fnmatch
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import source
import vm_case
from series_tree import (
    CODE, begin_history, changed_files, copy_changed, git, pristine_or_skip, run,
)
from source import make_series

# git's lines of a file that a patch adds.
ADDED = re.compile(r"(?m)^new file mode 100644\n.*\n--- /dev/null\n\+\+\+ b/(\S+)$")
# That a file is new is output of each, whether or not MAINTAINERS covers it: a test here does that.
CHECKPATCH = ("scripts/checkpatch.pl", "--strict", "--no-tree", "--quiet", "--color=never",
              "--ignore=FILE_PATH_CHANGES")


def texts_in(folder):
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.patch"))}


class Scratch(unittest.TestCase):
    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="eventlog-series-"))
        self.scratch = pathlib.Path(folder)


class Sources(unittest.TestCase):
    """The list of the patches, and what is generated from it."""

    def test_file_missing_in_patches_is_an_error(self):
        texts = {**make_series.sources(), CODE + "forgotten.c": ""}
        with self.assertRaisesRegex(make_series.Problem, "forgotten.c is in no patch. Name it in"):
            make_series.check_list(texts)

    def test_missing_file_is_an_error(self):
        texts = make_series.sources()
        del texts[CODE + "layout.c"]
        with self.assertRaisesRegex(make_series.Problem, "names .*layout.c, but there is no such"):
            make_series.check_list(texts)

    def test_each_new_file_is_added_by_one_patch(self):
        added = [name for text in make_series.make().values() for name in ADDED.findall(text)]
        self.assertEqual(sorted(added), sorted(make_series.result()))

    def test_only_the_makefile_and_kconfig_of_eventlog_change_after_they_are_added(self):
        seen = set()
        for name, text in make_series.make().items():
            names = set(changed_files(text))
            self.assertLessEqual(seen & names, {make_series.MAKEFILE, make_series.KCONFIG}, name)
            seen |= names & set(make_series.result())

    def test_patches_are_in_the_order_of_their_names(self):
        names = list(make_series.make())
        self.assertEqual(names, sorted(names))
        self.assertEqual([name[:4] for name in names],
                         [f"{number:04}" for number in range(1, len(make_series.SERIES) + 1)])

    def test_new_files_have_a_maintainer(self):
        entry = (make_series.IN_TREE / "maintainers.diff").read_text(encoding="utf-8")
        covered = [pattern + "*" if pattern.endswith("/") else pattern
                   for pattern in re.findall(r"(?m)^\+F:\t(.*)$", entry)]
        for name in make_series.result():
            self.assertTrue(any(fnmatch.fnmatch(name, pattern) for pattern in covered), name)

    def test_readme_lists_the_patches(self):
        page = (make_series.KERNEL / "README.md").read_text(encoding="utf-8")
        listed = re.findall(r"(?m)^\| (\d+) \| (.*) \|$", page)
        self.assertEqual(listed, [(str(number), patch.subject)
                                  for number, patch in enumerate(make_series.SERIES, start=1)],
                         "kernel/README.md lists other patches than kernel/patches/series.py.")


class Command(Scratch):
    """The script, as `./dev patches` runs it."""

    def generate(self, *words, **environment):
        return subprocess.run(
            [sys.executable, "-B", make_series.HERE / "make_series.py", *words],
            cwd=self.scratch, env={**os.environ, **environment}, check=False,
            stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
        )

    def test_is_deterministic(self):
        for seed in ("1", "2"):
            made = self.generate(seed, PYTHONHASHSEED=seed, LC_ALL="C")
            self.assertEqual((made.returncode, made.stderr), (0, ""))
            self.assertEqual(texts_in(self.scratch / seed), make_series.make())

    def test_prints_location_and_instructions(self):
        folder = self.scratch / "a folder"
        self.assertEqual(
            self.generate("a folder").stdout,
            f"{len(make_series.SERIES)} patches for Linux 6.12 are in {folder}.\n"
            f"Apply them in the kernel's source: git am '{folder}'/*.patch\n")

    def test_adds_signed_off_by(self):
        self.generate("patches", "--author", "Ann <ann@example.org>")
        for name, text in texts_in(self.scratch / "patches").items():
            self.assertIn("\nFrom: Ann <ann@example.org>\n", text, name)
            self.assertIn("\n\nSigned-off-by: Ann <ann@example.org>\n---\n", text, name)

    def test_cover_letter_lists_the_patches(self):
        self.generate("patches", "--author", "Ann <ann@example.org>")
        text = (self.scratch / "patches" / make_series.COVER_LETTER).read_text(encoding="utf-8")
        count = len(make_series.SERIES)
        self.assertTrue(text.startswith("From: Ann <ann@example.org>\n"), text[:80])
        self.assertIn(f"\nSubject: [PATCH 00/{count}] ", text)
        for number, patch in enumerate(make_series.SERIES, start=1):
            self.assertIn(f"\n  {number:2} {patch.subject}\n", text)

    def test_patches_of_an_earlier_run_are_replaced(self):
        folder = self.scratch / "patches"
        folder.mkdir()
        for name in ("0001-another-subject.patch", "0099-one-more.patch"):
            (folder / name).write_text("Subject:\n" + make_series.SIGNATURE, encoding="utf-8")
        self.assertEqual(self.generate("patches").returncode, 0)
        self.assertEqual(texts_in(folder), make_series.make())

    def test_patch_of_another_series_is_an_error(self):
        folder = self.scratch / "patches"
        folder.mkdir()
        (folder / "other.patch").write_text("Subject: [PATCH]\n", encoding="utf-8")
        made = self.generate("patches")
        self.assertEqual(made.returncode, 1)
        self.assertIn(f"{folder / 'other.patch'} is not a patch of this series", made.stderr)
        self.assertIn("Move it, or name another directory.", made.stderr)
        self.assertEqual(list(texts_in(folder)), ["other.patch"])

    def test_folder_that_cannot_be_created_is_an_error(self):
        (self.scratch / "file").touch()
        made = self.generate("file")
        self.assertEqual(made.returncode, 1)
        self.assertEqual(
            made.stderr,
            f"make_series: The patches cannot be written to {self.scratch / 'file'}: File exists. "
            "Name a directory that you may write to.\n")


class Applied(unittest.TestCase):
    """The patches on those files of Debian's source that they change."""

    @classmethod
    def setUpClass(cls):
        cls.pristine = pristine_or_skip()
        cls.patches = source.patch_series()
        cls.scratch = pathlib.Path(cls.enterClassContext(
            tempfile.TemporaryDirectory(prefix="eventlog-series-")))
        cls.tree = cls.scratch / "tree"
        cls.tree.mkdir()
        copy_changed(cls.pristine, cls.tree, cls.patches.values())
        begin_history(cls.tree, cls.patches.values())
        git(cls.tree, "am", "--quiet", *source.write_patches(cls.patches, cls.scratch))

    def test_result_equals_sources(self):
        for name, text in make_series.result().items():
            self.assertEqual((self.tree / name).read_text(encoding="utf-8"), text, name)
        there = {str(path.relative_to(self.tree)) for path in (self.tree / CODE).rglob("*")
                 if path.is_file()}
        self.assertEqual(there, {name for name in make_series.result() if name.startswith(CODE)})

    def test_each_patch_is_a_commit_with_its_subject(self):
        subjects = git(self.tree, "log", "--reverse", "--format=%s").splitlines()
        self.assertEqual(subjects[1:], [patch.subject for patch in make_series.SERIES])

    def test_checkpatch_reports_nothing(self):
        # checkpatch reports a keyword of C11 as a name in mixed case.
        texts = {name: text.replace("_Static_assert", "static_assert")
                 for name, text in self.patches.items()}
        folder = self.scratch / "checked"
        folder.mkdir()
        script, *options = CHECKPATCH
        self.assertEqual(run(self.tree, self.pristine / script, *options,
                             *source.write_patches(texts, folder)), "")


if __name__ == "__main__":
    vm_case.main()
