#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which sources clang-tidy need not look at again, by what decides what it finds."""

import os
import pathlib
import sys
import tempfile
import unittest

PROJECT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT / ".ci"))

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

    def test_is_checked_when_what_was_kept_cannot_be_read(self):
        clean_sources.place().write_text("{", encoding="utf-8")
        self.assertFalse(self.is_clean())

    def test_forgets_the_oldest(self):
        self.replace(clean_sources, "KEPT_MAX", 1)
        known = clean_sources.CleanSources()
        known.add(["another"])
        known.save()
        self.assertFalse(self.is_clean())
        self.assertTrue(clean_sources.CleanSources().knows("another"))


if __name__ == "__main__":
    unittest.main()
