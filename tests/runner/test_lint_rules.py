#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The checks of scripts/lint: each finds a planted violation, and accepts a project without any."""

import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts" / "lint"))
import structure  # noqa: E402
import tested_rows  # noqa: E402
import version  # noqa: E402
import vocabulary  # noqa: E402

LAYERS = """\
sdk/src
    base
    ring
elog/src
    file
    .
"""
GOOD = {
    "sdk/src/base/README.md": "",
    "sdk/src/ring/README.md": "",
    "elog/src/file/README.md": "",
    "elog/src/README.md": "",
    "sdk/src/base/error.hpp": "#include <string>\n",
    "sdk/src/ring/ring.hpp": '#include "base/error.hpp"\n',
    "sdk/src/ring/x86_64/rseq.hpp": '#include "ring/ring.hpp"\n',
    "elog/src/file/writer.cpp": '#include "ring/ring.hpp"\n#include "file/writer.hpp"\n',
    "elog/src/file/writer.hpp": "",
    "elog/src/main.cpp": '#include "file/writer.hpp"\n',
}


class Structure(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.project = pathlib.Path(folder.name)

    def problems(self, changes):
        files = {**GOOD, **changes}
        for name, text in files.items():
            path = self.project / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        layers = self.project / "layers.txt"
        layers.write_text(LAYERS, encoding="utf-8")
        return structure.Structure(self.project, files, structure.read_layers(layers)).check()

    def assert_problem(self, words, changes):
        problems = self.problems(changes)
        self.assertEqual(len(problems), 1, problems)
        self.assertIn(words, problems[0])

    def test_accept_layered_sources(self):
        self.assertEqual(self.problems({}), [])

    def test_reject_an_include_of_a_higher_folder(self):
        self.assert_problem("higher layer", {"sdk/src/base/error.hpp": '#include "ring/ring.hpp"\n'})

    def test_reject_an_include_of_a_higher_tree(self):
        self.assert_problem("higher layer", {"sdk/src/ring/ring.cpp": '#include "file/writer.hpp"\n'})

    def test_reject_an_include_without_its_folder(self):
        self.assert_problem("in no tree", {"sdk/src/ring/ring.cpp": '#include "ring.hpp"\n'})

    def test_reject_a_header_path_in_two_trees(self):
        files = {"sdk/src/base/error.hpp", "elog/src/base/error.hpp"}
        found = structure.Structure(self.project, files, {"sdk/src": ["base"], "elog/src": ["base"]})
        found.check_twins()
        self.assertEqual(len(found.problems), 1)
        self.assertIn("ambiguous", found.problems[0])

    def test_reject_a_folder_that_no_layer_lists(self):
        self.assert_problem("does not list", {"sdk/src/new/a.hpp": ""})

    def test_reject_a_folder_without_readme(self):
        del GOOD["sdk/src/ring/README.md"]
        self.addCleanup(GOOD.update, {"sdk/src/ring/README.md": ""})
        self.assert_problem("sdk/src/ring/README.md: missing", {})

    def test_reject_a_long_source(self):
        self.assert_problem("501 lines", {"sdk/src/ring/long.cpp": "\n" * 501})

    def test_reject_a_large_folder(self):
        self.assert_problem("more than 40", {f"tests/some/{number}.txt": "" for number in range(41)})


class Vocabulary(unittest.TestCase):
    words = vocabulary.read_words("heard -> enabled | docs/*\nsomebody, nobody -> the reader\n", "list")

    def problems(self, text, path="sdk/src/a.cpp"):
        return list(vocabulary.problems_in(path, text, self.words))

    def test_names_place_and_remedy(self):
        self.assertEqual(self.problems("good\nNobody reads\n"),
                         ['sdk/src/a.cpp:2: "nobody": write about the reader instead.'])

    def test_finds_words_within_identifiers(self):
        self.assertEqual(len(self.problems("bool is_heard = true;\n")), 1)

    def test_accepts_other_words_that_contain_one(self):
        self.assertEqual(self.problems("unheard\n"), [])

    def test_accepts_exceptions(self):
        self.assertEqual(self.problems("heard\n", "docs/a.md"), [])

    def test_rejects_a_line_without_a_term(self):
        with self.assertRaises(SystemExit):
            vocabulary.read_words("heard\n", "list")


class Version(unittest.TestCase):
    def problems(self, header="#define EVENTLOG_VERSION_PATCH 3\n", meson="0.2.3", symbols="0.2"):
        with tempfile.TemporaryDirectory() as folder:
            project = pathlib.Path(folder)
            for name, text in (
                (version.HEADER, "#define EVENTLOG_VERSION_MAJOR 0\n"
                                 "#define EVENTLOG_VERSION_MINOR 2\n" + header),
                (version.MESON, f"project(\n    'eventlog',\n    version: '{meson}',\n)\n"),
                (version.MAP, f"EVENTLOG_0.1 {{\n}};\nEVENTLOG_{symbols} {{\n}};\n"),
            ):
                (project / name).parent.mkdir(parents=True, exist_ok=True)
                (project / name).write_text(text, encoding="utf-8")
            return version.find_problems(project)

    def test_accept_one_version(self):
        self.assertEqual(self.problems(), [])

    def test_find_other_versions(self):
        for changes, words in (
            ({"meson": "0.2.2"}, "meson.build: the version is not 0.2.3"),
            ({"symbols": "0.3"}, "sdk/src/eventlog.map: there is no EVENTLOG_0.2"),
            ({"header": ""}, "version.h: EVENTLOG_VERSION_PATCH is missing"),
        ):
            problems = self.problems(**changes)
            self.assertEqual(len(problems), 1, problems)
            self.assertIn(words, problems[0])


class TestedRows(unittest.TestCase):
    """A page whose tables name tests."""

    PAGE = tested_rows.Page("docs/page.md")
    FILES = {
        f"{tested_rows.LISTS}/unit.txt": "unit.region quick:release\n    is_checked\n",
        f"{tested_rows.LISTS}/others.txt":
            "vm quick:release\n    rings\nfuzz quick:release\n    schema\n",
        f"{tested_rows.LISTS}/scripts.txt":
            "integration/test_modes:Modes quick:release\n    test_private\n"
            "vm/test_rings:Rings quick:release\n    test_isolates\n",
        f"{tested_rows.LISTS}/renamed.txt":
            "unit.region.is_checked -> unit.region.is_validated # a better word\n",
        f"{tested_rows.SCRIPTS}/command/test_modes.py": "",
        f"{tested_rows.KUNIT}/idle_kunit.c":
            "static struct kunit_case cases[] = { KUNIT_CASE(wakes), KUNIT_CASE_PARAM(sleeps, all), {} };\n"
            'static struct kunit_suite suite = { .name = "idle", .test_cases = cases };\n',
    }

    def problems(self, cell, header="| attack | test |"):
        """Those of a page with a table of one row, which names tests in this cell."""
        return self.problems_of(f"Text.\n\n{header}\n| --- | --- |\n| a link | {cell} |\n")

    def problems_of(self, text):
        with tempfile.TemporaryDirectory() as folder:
            project = pathlib.Path(folder)
            for name, content in {**self.FILES, self.PAGE.path: text}.items():
                (project / name).parent.mkdir(parents=True, exist_ok=True)
                (project / name).write_text(content, encoding="utf-8")
            return tested_rows.find_problems(project, [self.PAGE])

    def assert_problem(self, words, *cell):
        problems = self.problems(*cell)
        self.assertEqual(len(problems), 1, problems)
        self.assertIn(f"{self.PAGE.path}:5: ", problems[0])
        self.assertIn(words, problems[0])


class Security(TestedRows):
    def test_accepts_tests_of_the_inventory(self):
        for cell in ("`command/test_modes.py`", "`command/test_modes.py` Modes",
                     "`command/test_modes.py` test_private", "fuzz, fuzz.schema",
                     "`command/test_modes.py` Modes.test_private", "vm.rings",
                     "vm.rings test_isolates (the pages), unit.region", "unit.region.is_validated",
                     "`unit.region.is_validated`, `integration/test_modes:Modes.test_private`",
                     "vm/test_rings:Rings (all), kunit.idle.wakes, `kunit.idle.sleeps`"):
            self.assertEqual(self.problems(cell), [], cell)

    def test_finds_rows_without_a_test(self):
        self.assert_problem("names no test", "")
        self.assert_problem("names no test", "(a comment)")
        self.assert_problem('no column "test"', "fuzz", "| attack | remedy |")

    def test_finds_tests_that_do_not_exist(self):
        for name in ("`command/test_mode.py`", "`access/test_modes.py`", "test_modes", "fuzz.event",
                     "`command/test_modes.py` Mode", "`command/test_modes.py` test_public", "vm.ring",
                     "vm.rings test_private", "unit.regions", "unit.region.is_checked", "by hand",
                     "vm/test_rings:Ring.test_isolates", "kunit.idle.wake", "`unit.regions`", "open"):
            self.assert_problem(f'no test "{name}"', name)

    def test_finds_one_missing_test_of_several(self):
        self.assert_problem('no test "unit.regions"', "unit.region, unit.regions, fuzz")

    def test_requires_tables(self):
        (problem,) = self.problems_of("Text.\n")
        self.assertIn("has no tables", problem)

    def test_finds_rows_that_are_open(self):
        self.assert_problem('no test "open"', "unit.region, open (the end)")


class Ancestors(TestedRows):
    """A page in which rows may be open, and which has other tables."""

    PAGE = tested_rows.Page("docs/page.md", may_be_open=True, has_others=True)

    def test_rows_may_be_open_for_a_reason(self):
        for cell in ("open (the end)", "unit.region, open (the end, and more)",
                     "`vm.rings` (the pages), open (the end), unit.region"):
            self.assertEqual(self.problems(cell), [], cell)

    def test_finds_open_rows_without_a_reason(self):
        for cell in ("open", "unit.region, open", "open ()"):
            self.assert_problem("does not say what is missing", cell)

    def test_finds_missing_tests_of_open_rows(self):
        self.assert_problem('no test "unit.regions"', "unit.regions, open (the end)")
        self.assert_problem("names no test", "(the end)")

    def test_has_other_tables(self):
        table = "| name |\n| --- |\n| relay |\n"
        self.assertEqual(self.problems_of(f"{table}\n| row | test |\n| --- | --- |\n| R1 | fuzz |\n"), [])
        (problem,) = self.problems_of(table)
        self.assertIn("has no tables", problem)


if __name__ == "__main__":
    unittest.main()
