#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The series of patches for Linux without a compiler: what the generator writes, that it applies to
Debian's source, that the result is the sources, and that checkpatch accepts it."""

import fnmatch
import pathlib
import re
import tempfile
import unittest

import source
import vm_case
from series_tree import (
    CODE, begin_history, changed_files, copy_changed, git, pristine_or_skip, run,
)
from source import make_series

# That a file is new is said of each, whether or not MAINTAINERS covers it: a test here does that.
CHECKPATCH = ("scripts/checkpatch.pl", "--strict", "--no-tree", "--quiet", "--color=never",
              "--ignore=FILE_PATH_CHANGES")


class Sources(unittest.TestCase):
    """The list of the patches, and what is generated from it."""

    def test_file_that_no_patch_has_is_an_error(self):
        texts = {**make_series.sources(), CODE + "forgotten.c": ""}
        with self.assertRaisesRegex(make_series.Problem, "forgotten.c is in no patch. Name it in"):
            make_series.check_list(texts)

    def test_name_without_a_file_is_an_error(self):
        texts = make_series.sources()
        del texts[CODE + "layout.c"]
        with self.assertRaisesRegex(make_series.Problem, "names .*layout.c, but there is no such"):
            make_series.check_list(texts)

    def test_each_new_file_is_added_by_one_patch(self):
        added = [name for text in make_series.make().values()
                 for name in re.findall(r"(?m)^new file mode 100644\n.*\n--- /dev/null\n\+\+\+ b/(\S+)$",
                                        text)]
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

    def test_patches_are_what_the_sources_make(self):
        self.assertEqual(make_series.present(make_series.HERE), make_series.make(),
                         "Run kernel/patches/make_series.py, and commit what it writes.")


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

    def test_result_is_the_sources(self):
        for name, text in make_series.result().items():
            self.assertEqual((self.tree / name).read_text(encoding="utf-8"), text, name)
        there = {str(path.relative_to(self.tree)) for path in (self.tree / CODE).rglob("*")
                 if path.is_file()}
        self.assertEqual(there, {name for name in make_series.result() if name.startswith(CODE)})

    def test_each_patch_is_a_commit_with_its_subject(self):
        subjects = git(self.tree, "log", "--reverse", "--format=%s").splitlines()
        self.assertEqual(subjects[1:], [patch.subject for patch in make_series.SERIES])

    def test_checkpatch_has_nothing_to_say(self):
        # It takes a keyword of C11 for a name in mixed case.
        texts = {name: text.replace("_Static_assert", "static_assert")
                 for name, text in self.patches.items()}
        folder = self.scratch / "checked"
        folder.mkdir()
        script, *options = CHECKPATCH
        self.assertEqual(run(self.tree, self.pristine / script, *options,
                             *source.write_patches(texts, folder)), "")


if __name__ == "__main__":
    vm_case.main()
