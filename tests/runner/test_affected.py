#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The tests that a change can affect, in a small project that is built."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts" / "testing"))

import affected  # noqa: E402

FILES = {
    "CMakeLists.txt": """
cmake_minimum_required(VERSION 3.21)
project(small C)
enable_testing()
add_library(both STATIC both.c)
add_executable(one_tests one.c)
add_executable(two_tests two.c)
target_link_libraries(one_tests both)
target_link_libraries(two_tests both)
add_executable(counter counter.c)
add_test(NAME unit.one COMMAND one_tests)
add_test(NAME unit.two COMMAND two_tests)
add_test(NAME integration.script COMMAND python3 -B ${PROJECT_SOURCE_DIR}/tests/integration/recorder/test_script.py)
""",
    "both.c": '#include "both.h"\nint both(void) { return 0; }\n',
    "both.h": "int both(void);\n",
    "one.h": "#define ONE 1\n",
    "one.c": '#include "both.h"\n#include "one.h"\nint main(void) { return both() + ONE - 1; }\n',
    "two.c": '#include "both.h"\nint main(void) { return both(); }\n',
    "counter.c": "int main(void) { return 0; }\n",
    "tests/integration/recorder/test_script.py": 'import harness\nharness.program("counter")\n',
    "tests/integration/harness/harness.py": "def program(name): pass\n",
    "tests/fuzz/corpus/a": "a\n",
}


class Affected(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.project = pathlib.Path(folder.name).resolve()
        for name, text in FILES.items():
            path = cls.project / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        for command in (("cmake", "-G", "Ninja", "-B", "build/small"),
                        ("cmake", "--build", "build/small")):
            subprocess.run(command, cwd=cls.project, check=True, stdout=subprocess.DEVNULL)
        replaced = unittest.mock.patch.object(affected, "PROJECT", cls.project)
        replaced.start()
        cls.addClassCleanup(replaced.stop)
        cls.addClassCleanup(os.chdir, os.getcwd())
        os.chdir(cls.project)
        cls.build = affected.Build("build/small")

    def assert_affected(self, path, *names):
        self.assertEqual(self.build.affected_by({path}), (set(names), set()))

    def test_a_source_affects_the_test_that_it_is_part_of(self):
        self.assert_affected("two.c", "unit.two")

    def test_a_header_affects_the_tests_that_include_it(self):
        self.assert_affected("one.h", "unit.one")

    def test_a_source_of_a_library_affects_all_tests_that_link_it(self):
        self.assert_affected("both.c", "unit.one", "unit.two")

    def test_a_script_and_its_modules_affect_the_script(self):
        self.assert_affected("tests/integration/recorder/test_script.py", "integration.script")
        self.assert_affected("tests/integration/harness/harness.py", "integration.script")

    def test_a_program_affects_the_script_that_names_it(self):
        self.assert_affected("counter.c", "integration.script")

    def test_a_file_that_no_test_depends_on_has_an_unknown_effect(self):
        self.assertEqual(self.build.affected_by({"data.txt", "two.c"}), ({"unit.two"}, {"data.txt"}))


class Changes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        pathlib.Path("kept.c").touch()
        self.git("init", "--quiet")
        self.git("add", ".")
        self.git("commit", "--quiet", "-m", "one")

    def git(self, *words):
        subprocess.run(("git", "-c", "user.name=a", "-c", "user.email=a@example.org", *words),
                       check=True)

    def test_changed_and_new_files_count_and_pages_of_folders_do_not(self):
        pathlib.Path("kept.c").write_text("int a;\n", encoding="utf-8")
        pathlib.Path("new.c").touch()
        pathlib.Path("sdk").mkdir()
        pathlib.Path("sdk/README.md").touch()
        self.assertEqual(affected.changed_files("HEAD"), {"kept.c", "new.c"})

    def test_an_unknown_revision_is_an_error(self):
        with self.assertRaises(subprocess.CalledProcessError):
            affected.changed_files("no-such-revision")


if __name__ == "__main__":
    unittest.main()
