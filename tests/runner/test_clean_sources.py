#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Sources that clang-tidy need not check again, by the inputs of its results."""

import contextlib
import io
import os
import pathlib
import shutil
import sys
import tempfile
import unittest
import unittest.mock

PROJECT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT / "scripts" / "testing"))

import clang_tidy  # noqa: E402
import clean_sources  # noqa: E402


class CleanSources(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = pathlib.Path(folder.name).resolve()
        self.project = root / "project"
        (self.project / "include").mkdir(parents=True)
        self.write("source.cpp", '#include "near.hpp"\n#include <vector>\nint a;\n')
        self.write("near.hpp", "#  include <far.hpp>\n")
        self.write("include/far.hpp", "int far();\n")
        self.write(".clang-tidy", "Checks: 'bugprone-*'\n")
        self.replace(clean_sources, "PROJECT", self.project)
        home = os.environ.get("XDG_CACHE_HOME")
        os.environ["XDG_CACHE_HOME"] = str(root / "cache")
        self.addCleanup(lambda: os.environ.pop("XDG_CACHE_HOME") if home is None
                        else os.environ.update(XDG_CACHE_HOME=home))
        self.flags = ("-O2", "-I", str(self.project / "include"))
        known = clean_sources.CleanSources()
        known.add([self.key(known)])
        known.save()

    def replace(self, where, name, value):
        self.addCleanup(setattr, where, name, getattr(where, name))
        setattr(where, name, value)

    def write(self, name, text):
        (self.project / name).write_text(text, encoding="utf-8")

    def key(self, known, flags=None):
        return known.key(str(self.project / "source.cpp"), flags or self.flags)

    def is_clean(self, flags=None):
        known = clean_sources.CleanSources()
        return known.knows(self.key(known, flags))

    def test_stays_clean_while_nothing_changes(self):
        self.write("other.hpp", "int other();\n")
        self.assertTrue(self.is_clean())

    def test_is_checked_when_it_has_changed(self):
        self.write("source.cpp", '#include "near.hpp"\n#include <vector>\nint b;\n')
        self.assertFalse(self.is_clean())

    def test_is_checked_when_a_header_of_a_header_has_changed(self):
        self.write("include/far.hpp", "long far();\n")
        self.assertFalse(self.is_clean())

    def test_is_checked_when_another_header_is_found_first(self):
        self.write("vector", "int mine();\n")
        self.assertTrue(self.is_clean())
        self.write("include/vector", "int mine();\n")
        self.assertFalse(self.is_clean())

    def test_is_checked_when_other_checks_are_asked_for(self):
        self.write("include/.clang-tidy", "Checks: '*'\n")
        self.assertFalse(self.is_clean())

    def test_is_checked_with_other_flags(self):
        self.assertFalse(self.is_clean(("-O2", "-DA", *self.flags[1:])))

    def test_is_checked_when_cache_is_unreadable(self):
        clean_sources.place().write_text("{", encoding="utf-8")
        self.assertFalse(self.is_clean())

    def test_is_checked_when_precompiled_header_has_changed(self):
        self.write("front.hpp", "int front();\n")
        flags = ("-include", str(self.project / "front.hpp"), *self.flags)
        known = clean_sources.CleanSources()
        known.add([self.key(known, flags)])
        known.save()
        self.assertTrue(self.is_clean(flags))
        self.write("front.hpp", "long front();\n")
        self.assertFalse(self.is_clean(flags))

    def test_headers_of_similarly_named_folder_are_external(self):
        other = pathlib.Path(str(self.project) + "-other")
        other.mkdir()
        (other / "far.hpp").write_text("int others();\n", encoding="utf-8")
        flags = ("-I", str(other), *self.flags)
        before = self.key(clean_sources.CleanSources(), flags)
        (other / "far.hpp").unlink()
        self.assertEqual(self.key(clean_sources.CleanSources(), flags), before)

    def test_is_checked_when_any_forced_include_has_changed(self):
        for flag in ("-include", "-imacros", "-include-pch"):
            for words in ((flag, str(self.project / "front.hpp")),
                          ("-Xclang", flag, "-Xclang", str(self.project / "front.hpp"))):
                with self.subTest(words=words):
                    self.write("front.hpp", "int front();\n")
                    before = self.key(clean_sources.CleanSources(), (*self.flags, *words))
                    self.write("front.hpp", "long front();\n")
                    self.assertNotEqual(
                        before, self.key(clean_sources.CleanSources(), (*self.flags, *words)))

    def test_is_checked_when_checks_are_inherited_from_above_the_project(self):
        (self.project.parent / ".clang-tidy").write_text("Checks: '*'\n", encoding="utf-8")
        self.assertFalse(self.is_clean())

    def test_is_shared_between_work_trees(self):
        def keys():
            known = clean_sources.CleanSources()
            return [self.key(known, ("-I", str(self.project) + folder))
                    for folder in ("/include", "-other/include")]

        before = keys()
        other = self.project.parent / "other"
        shutil.copytree(self.project, other)
        clean_sources.PROJECT = self.project = other
        after = keys()
        self.assertEqual(before[0], after[0])
        self.assertNotEqual(before[1], after[1])

    def test_leaves_no_partial_files(self):
        known = clean_sources.CleanSources()
        clean_sources.place().unlink()
        clean_sources.place().mkdir()
        with contextlib.redirect_stderr(io.StringIO()) as output:
            known.save()
        self.assertIn("not kept", output.getvalue())
        self.assertEqual(list(clean_sources.place().parent.glob("*.json.*")), [])

    def run_without_tools(self, work):
        path = os.environ["PATH"]
        os.environ["PATH"] = str(self.project)
        try:
            with contextlib.redirect_stderr(io.StringIO()) as output:
                work()
        finally:
            os.environ["PATH"] = path
        return output.getvalue()

    def test_all_are_checked_when_tool_version_is_unknown(self):
        def work():
            known = clean_sources.CleanSources()
            self.assertFalse(known.knows(self.key(known)))
            known.add([self.key(known)])
            known.save()

        self.assertIn("all sources are checked", self.run_without_tools(work))
        self.assertTrue(self.is_clean())

    def test_continues_without_writable_cache(self):
        clean_sources.place().unlink()
        clean_sources.place().parent.rmdir()
        clean_sources.place().parent.write_text("a file", encoding="utf-8")
        with contextlib.redirect_stderr(io.StringIO()) as output:
            clean_sources.CleanSources().save()
        self.assertIn("not kept", output.getvalue())

    def test_evicts_the_oldest(self):
        self.replace(clean_sources, "KEPT_MAX", 1)
        known = clean_sources.CleanSources()
        known.add(["another"])
        known.save()
        self.assertFalse(self.is_clean())
        self.assertTrue(clean_sources.CleanSources().knows("another"))


class Batches(unittest.TestCase):
    """With a tool instead of clang-tidy that reports sources that contain 'wrong'."""

    TOOL = """#!/bin/sh
for word; do case $word in *batch_*) file=$word ;; esac; done
for each in $(sed -n 's/^#include "\\(.*\\)".*/\\1/p' "$file"); do
    if grep -q wrong "$each"; then echo "$each: finding"; exit 1; fi
done
"""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()
        for name, text in (("clang-tidy", self.TOOL), ("clang++", "#!/bin/sh\n"),
                           ("dpkg-query", "#!/bin/sh\n")):
            (self.folder / name).write_text(text, encoding="utf-8")
            (self.folder / name).chmod(0o755)
        self.enterContext(unittest.mock.patch.dict(os.environ, {
            "PATH": f"{self.folder}:{os.environ['PATH']}", "XDG_CACHE_HOME": str(self.folder)}))
        self.enterContext(unittest.mock.patch.object(clean_sources, "PROJECT", self.folder))

    def source(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    def check(self, *sources):
        known = clean_sources.CleanSources()
        output, content = clang_tidy.Batches(self.folder, known).check((), False, list(sources))
        known.save()
        return output, content

    def test_skip_clean_sources_only(self):
        good = self.source("good.cpp", "int good;\n")
        self.assertEqual(self.check(good), ("good.cpp", True))
        bad = self.source("bad.cpp", "int wrong;\n")
        for _ in range(2):
            output, content = self.check(good, bad)
            self.assertFalse(content)
            self.assertIn("1 of 2 are as they were\nbad.cpp\n", output)
            self.assertIn("bad.cpp: finding", output)
        self.source("bad.cpp", "int right;\n")
        self.assertEqual(self.check(good, bad), ("1 of 2 are as they were\nbad.cpp", True))
        self.assertEqual(self.check(good, bad), ("2 of 2 are as they were", True))

    def test_clean_source_is_not_cached_if_another_of_its_batch_is_not(self):
        good = self.source("good.cpp", "int good;\n")
        bad = self.source("bad.cpp", "int wrong;\n")
        self.assertFalse(self.check(good, bad)[1])
        self.assertNotIn("as they were", self.check(good, bad)[0])

    def test_are_not_cached_when_the_tool_fails(self):
        good = self.source("good.cpp", "int good;\n")
        tool = self.folder / "clang-tidy"
        # The last two are errors of a .clang-tidy and of a flag, after which clang-tidy continues.
        for how in ("exit 1", "kill -KILL $$", "echo 'Error parsing .clang-tidy' >&2",
                    "echo 'error: unknown argument' >&2"):
            with self.subTest(how=how):
                tool.write_text(f'#!/bin/sh\n[ "$1" = --version ] || {{ {how}; }}\n',
                                encoding="utf-8")
                self.assertFalse(self.check(good)[1])
                self.assertNotIn("as they were", self.check(good)[0])

    def test_are_not_cached_when_the_tool_cannot_be_run(self):
        good = self.source("good.cpp", "int good;\n")
        known = clean_sources.CleanSources()
        (self.folder / "clang-tidy").unlink()
        os.environ["PATH"] = str(self.folder)
        output, content = clang_tidy.Batches(self.folder, known).check((), False, [good])
        self.assertFalse(content)
        self.assertIn("clang-tidy cannot be run", output)
        self.assertEqual(known.kept, {})


class Sample(unittest.TestCase):
    """The order of checks if many sources are not known to be clean."""

    class Known:
        """Replaces CleanSources: a source's key is its name."""

        def __init__(self, *clean):
            self.clean = clean

        def key(self, source, _):
            return source

        def knows(self, key):
            return key in self.clean

    def sample(self, head, recent=(), known=Known()):
        answers = {"log": "\n".join(recent), "diff": "", "rev-parse": head}
        groups = [(("-O2",), False, [str(clang_tidy.PROJECT / f"{folder}/{number}.cpp")
                                     for number in range(20)]) for folder in range(10)]
        with unittest.mock.patch.object(clang_tidy, "git", lambda word, *_: answers[word]):
            return [str(pathlib.Path(source).relative_to(clang_tidy.PROJECT))
                    for _, _, sources in clang_tidy.sampled(groups, known) for source in sources]

    def test_has_a_limit_and_no_source_twice(self):
        sources = self.sample("a")
        self.assertEqual(len(sources), clang_tidy.SAMPLE_MAX)
        self.assertEqual(len(set(sources)), clang_tidy.SAMPLE_MAX)

    def test_changes_with_each_commit_and_covers_everything_eventually(self):
        self.assertNotEqual(self.sample("a"), self.sample("b"))
        met = {source for head in range(100) for source in self.sample(str(head))}
        self.assertEqual(len(met), 200)

    def test_has_the_sources_of_recent_commits(self):
        recent = ["3/7.cpp", "8/0.cpp"]
        for head in "abcdef":
            self.assertLessEqual(set(recent), set(self.sample(head, recent)))

    def test_excludes_clean_sources(self):
        clean = str(clang_tidy.PROJECT / "3/7.cpp")
        self.assertNotIn("3/7.cpp", self.sample("a", ["3/7.cpp"], self.Known(clean)))

    def test_is_empty_if_all_is_clean(self):
        everything = [str(clang_tidy.PROJECT / f"{folder}/{number}.cpp")
                      for folder in range(10) for number in range(20)]
        self.assertEqual(self.sample("a", (), self.Known(*everything)), [])


if __name__ == "__main__":
    unittest.main()
