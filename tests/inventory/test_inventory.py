#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The inventory of tests: its lists, the names of registered tests, and the comparison of both."""

import contextlib
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import inventory  # noqa: E402

LISTING = """\
Running main() from gtest_main.cc
ring.
  wraps
writers/ring.
  fits/lock  # GetParam() = 16-byte object <01-02>
members/0.  # TypeParam = nothing
  are_counted
"""
CASES = ["ring.wraps", "writers/ring.fits/lock", "members/0.are_counted"]


def entry(name, *command, labels=()):
    properties = [{"name": "LABELS", "value": list(labels)}]
    return {"name": name, "command": list(command), "properties": properties}


def build_of(*entries, name="release"):
    """A build directory whose CTest and programs answer what is given here."""

    def run(command, **_):
        answer = json.dumps({"tests": entries}) if command[0] == "ctest" else LISTING
        return subprocess.CompletedProcess(command, 0, answer)

    return inventory.Build(f"/build/{name}", run)


class Lists(unittest.TestCase):
    def test_round_trip(self):
        tests = {
            "kernel_ring": {"release": "full"},
            "unit.ring.wraps": {"asan+ubsan": "quick", "release": "full"},
            "unit.ring.fits": {"asan+ubsan": "quick", "release": "full"},
            "unit.ring.races": {"tsan": "quick"},
            "documents.eventlog.7": {"release": "full"},
            "vm.kernel.debian-6.12": {"release": "quick"},
            "vm/test_perf:Perf.test_starts": {"release": "quick"},
        }
        text = inventory.write_list(tests)
        self.assertEqual(inventory.parse_list(text, "list"), tests)
        self.assertIn("unit.ring quick:asan+ubsan full:release\n    fits wraps\n", text)
        self.assertIn("documents full:release\n    eventlog.7\n", text)

    def test_have_bounded_line_width(self):
        tests = {f"unit.ring.case_{i}": {"release": "full"} for i in range(99)}
        text = inventory.write_list(tests)
        self.assertLessEqual(max(map(len, text.splitlines())), inventory.WIDTH)
        self.assertEqual(inventory.parse_list(text, "list"), tests)

    def test_need_known_tiers_and_groups(self):
        for text in ("ring", "ring slow:release", "ring quick:", "    wraps",
                     "ring quick:tsan\n    wraps\n    log quick:tsan"):
            with self.subTest(text), self.assertRaises(inventory.Problem):
                inventory.parse_list(text, "list")

    def test_of_this_project_are_in_update_format(self):
        tests = inventory.read_inventory(inventory.FOLDER)
        with tempfile.TemporaryDirectory() as folder:
            inventory.write_inventory(pathlib.Path(folder), tests)
            for path in pathlib.Path(folder).iterdir():
                self.assertEqual(path.read_text(), (inventory.FOLDER / path.name).read_text())


class Renames(unittest.TestCase):
    def test_apply_one_after_the_other(self):
        text = "unit.a.x -> unit.b.x # clearer\nunit.b.* -> unit.c.* # of one suite\n"
        renames = inventory.parse_renames(text, {"unit.a.x", "unit.b.y"})
        self.assertEqual(inventory.present_name("unit.a.x", renames), "unit.c.x")
        self.assertEqual(inventory.present_name("unit.b.y", renames), "unit.c.y")
        self.assertEqual(inventory.present_name("unit.bb.y", renames), "unit.bb.y")

    def test_need_a_reason_and_an_old_test(self):
        for line in ("a.x -> a.y", "a.x -> a.y # ", "a.z -> a.y # typing error", "a.* -> b # one"):
            with self.subTest(line), self.assertRaises(inventory.Problem):
                inventory.parse_renames(line, {"a.x"})


class Scripts(unittest.TestCase):
    def test_include_inherited_methods(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "harness").mkdir()
            (root / "harness" / "parts.py").write_text(
                "import unittest\nclass Case(unittest.TestCase):\n    def test_of_all(self): pass\n"
                "class Mixin:\n    def test_of_some(self): pass\n"
            )
            script = root / "test_perf.py"
            script.write_text(
                "from harness import parts\nfrom harness.parts import Mixin\n"
                "class Perf(parts.Case):\n    def test_own(self): pass\n"
                "    def helper(self): pass\n"
                "class Later(Mixin, Perf): pass\nclass Alone(Mixin): pass\n"
            )
            self.assertEqual(
                list(inventory.Scripts(root).methods_of(script)),
                ["Perf.test_of_all", "Perf.test_own", "Later.test_of_all", "Later.test_of_some",
                 "Later.test_own"],
            )


    def test_know_the_mark_of_the_full_tier(self):
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder, "test_relay.py")
            script.write_text(
                "import unittest\nimport vm_case\nfrom vm_case import full_tier\n"
                "class Relay(unittest.TestCase):\n    def test_short(self): pass\n"
                "    @vm_case.full_tier\n    def test_long(self): pass\n"
                "    @full_tier\n    def test_longest(self): pass\n"
                "@vm_case.full_tier\nclass Marked(Relay):\n    def test_own(self): pass\n"
                "class Derived(Marked):\n    def test_longest(self): pass\n"
            )
            # As the loader of vm_case: a class does not pass its mark on, a method does.
            self.assertEqual(inventory.Scripts(pathlib.Path(folder)).methods_of(script), {
                "Relay.test_long": False, "Relay.test_longest": False, "Relay.test_short": True,
                "Marked.test_long": False, "Marked.test_longest": False,
                "Marked.test_own": False, "Marked.test_short": False,
                "Derived.test_long": False, "Derived.test_longest": True,
                "Derived.test_own": True, "Derived.test_short": True,
            })
            for label, is_quick in (("quick", True), ("full", False)):
                tests = build_of(entry("vm.relay", "python3", str(script), labels=[label])).tests
                self.assertEqual(tests["vm/test_relay:Relay.test_short"], is_quick)
                self.assertFalse(tests["vm/test_relay:Relay.test_long"])


class Builds(unittest.TestCase):
    def test_name_cases_by_suite(self):
        self.assertEqual(inventory.parse_cases(LISTING), CASES)
        apart = build_of(
            entry("unit.ring.wraps", "/b/unit_tests", "--gtest_filter=ring.wraps"),
            entry("unit.writers/ring.fits/lock", "/b/unit_tests",
                  "--gtest_filter=writers/ring.fits/lock"),
            entry("unit.members<nothing>.are_counted", "/b/unit_tests",
                  "--gtest_filter=members/0.are_counted", "--gtest_also_run_disabled_tests"),
        )
        grouped = build_of(
            entry("unit.ring", "/b/unit_tests", "--gtest_filter=ring.*:*/ring.*"),
            entry("unit.members", "/b/unit_tests", "--gtest_filter=members/*"),
        )
        self.assertEqual(set(apart.tests), {f"unit.{case}" for case in CASES})
        self.assertEqual(apart.tests, grouped.tests)

    def test_treat_suite_under_other_conditions_as_separate_test(self):
        build = build_of(entry("unit.ring.without_sequences", "/b/unit_tests",
                               "--gtest_filter=ring.*"))
        self.assertEqual(set(build.tests), {"unit.ring.without_sequences"})

    def test_contain_tests_of_several_suites_under_other_conditions(self):
        build = build_of(entry("unit.stress.without_sequences", "/b/unit_tests",
                               "--gtest_filter=ring.*:schema.*"))
        self.assertEqual(set(build.tests), {"unit.stress.without_sequences"})
        part = build_of(entry("unit.ring", "/b/unit_tests", "--gtest_filter=ring.*-a.*:b.*"))
        self.assertEqual(set(part.tests), {"unit.ring.wraps"})

    def test_filters_may_exclude_cases(self):
        self.assertTrue(inventory.is_selected("a.x", "-a.y:b.*"))
        self.assertFalse(inventory.is_selected("b.x", "-a.y:b.*"))
        self.assertFalse(inventory.is_selected("a.y", "a.*-a.y"))

    def test_a_case_is_quick_if_one_of_its_entries_is(self):
        build = build_of(
            entry("unit.ring", "/b/unit_tests", "--gtest_filter=ring.*", labels=["quick"]),
            entry("unit.all", "/b/unit_tests"),
        )
        self.assertTrue(build.tests["unit.ring.wraps"])
        self.assertFalse(build.tests["unit.members/0.are_counted"])

    def test_exclude_tests_not_in_full_tier(self):
        entries = [
            entry("a.x", "true", labels=["once"]),
            entry("a.y", "true", labels=["compiler", "quick"]),
            entry("a.z", "true"),
        ]
        self.assertEqual(build_of(*entries, name="tsan").tests, {"a.y": True, "a.z": False})
        self.assertEqual(set(build_of(*entries).tests), {"a.x", "a.y", "a.z"})

    def test_missing_are_a_problem(self):
        with self.assertRaisesRegex(inventory.Problem, "Build the preset first"):
            build_of(entry("unit_tests_NOT_BUILT"))

    def test_list_methods_of_their_scripts(self):
        build = build_of(entry("inventory", "python3", "-B", __file__, labels=["quick"]))
        self.assertTrue(build.tests["inventory"])
        self.assertTrue(build.tests["inventory/test_inventory:Comparison.test_prints_nothing_without_differences"])


class Comparison(unittest.TestCase):
    listed = {"unit.a.x": {"asan+ubsan": "quick", "release": "full"}}

    def test_prints_nothing_without_differences(self):
        builds = {"asan+ubsan": {"unit.a.x": True}, "release": {"unit.a.x": False, "b": True}}
        self.assertEqual(inventory.compare(self.listed, [], builds), [])
        self.assertEqual(inventory.compare(self.listed, [], {"tsan": {}}), [])

    def test_names_missing_tests(self):
        builds = {"asan+ubsan": {"unit.a.x": True}, "release": {}}
        (sentence,) = inventory.compare(self.listed, [], builds)
        self.assertRegex(sentence, "^unit.a.x: missing in release. .*renamed.txt")

    def test_names_tests_no_longer_quick(self):
        (sentence,) = inventory.compare(self.listed, [], {"asan+ubsan": {"unit.a.x": False}})
        self.assertIn("not in the quick tier of asan+ubsan", sentence)

    def test_follows_renames(self):
        renames = [("unit.a.x", "unit.a.y")]
        self.assertEqual(inventory.compare(self.listed, renames, {"release": {"unit.a.y": 0}}), [])
        (sentence,) = inventory.compare(self.listed, renames, {"release": {"unit.a.x": False}})
        self.assertIn("unit.a.x (now unit.a.y)", sentence)

    def test_fails_on_differences(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "unit.txt").write_text(inventory.write_list(self.listed))
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                self.assertEqual(inventory.check(folder, {"release": {"unit.a.x": False}}), 0)
                self.assertEqual(inventory.check(folder, {"release": {}}), 1)
            self.assertIn("no directory was given: asan+ubsan", output.getvalue())

    def test_fold_gives_the_lists_the_new_names(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "unit.txt").write_text(
                "unit.ring quick:release\n    wraps turns\nunit.log full:tsan\n    ends\n")
            (folder / "renamed.txt").write_text(
                "# comment\nunit.ring.turns -> unit.ring.rotates # clearer\n"
                "unit.log.* -> unit.file.* # clearer\n")
            self.assertEqual(inventory.fold(folder), 2)
            self.assertEqual(inventory.read_inventory(folder), {
                "unit.ring.wraps": {"release": "quick"},
                "unit.ring.rotates": {"release": "quick"},
                "unit.file.ends": {"tsan": "full"},
            })
            self.assertEqual((folder / "renamed.txt").read_text(), "# comment\n")

    def test_update_adds_and_never_lowers(self):
        tests = {name: dict(tiers) for name, tiers in self.listed.items()}
        inventory.add(tests, {"asan+ubsan": {"unit.a.x": False}, "release": {"unit.a.x": True}})
        inventory.add(tests, {"tsan": {"unit.b.y": False}})
        self.assertEqual(
            tests,
            {"unit.a.x": {"asan+ubsan": "quick", "release": "quick"}, "unit.b.y": {"tsan": "full"}},
        )


if __name__ == "__main__":
    unittest.main()
