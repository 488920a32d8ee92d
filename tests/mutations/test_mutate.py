#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The mutations apply to the tree, and scripts/mutate.py judges them rightly. Nothing is built."""

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
import mutate  # noqa: E402

FULL = mutate.Suite("full", "release", ("a_test",), "^a$")
QUICK = mutate.Suite("quick", "release", ("b_test",), "^b$")


class Mutations(unittest.TestCase):
    def test_are_twenty_and_name_existing_presets(self):
        mutations = mutate.read_mutations()
        self.assertEqual([int(each.name[:2]) for each in mutations], list(range(1, 24)))
        presets = json.loads((ROOT / "CMakePresets.json").read_text())["testPresets"]
        names = {each["name"] for each in presets}
        for each in mutations:
            self.assertLessEqual({suite.preset for suite in each.suites}, names, each.name)

    def test_apply_cleanly_to_one_file(self):
        for each in mutate.read_mutations():
            with self.subTest(each.name):
                self.assertEqual(len(mutate.files_of(each.diff)), 1)
                result = subprocess.run(
                    ["patch", "--dry-run", "--batch", "--fuzz=1", "-p1", "--input", each.diff],
                    cwd=ROOT, check=False, capture_output=True, text=True,
                )
                self.assertEqual(result.returncode, 0, result.stdout)
                self.assertNotIn("Reversed", result.stdout)

    def test_are_chosen_by_their_numbers(self):
        mutations = mutate.read_mutations()
        self.assertEqual(mutate.choose(mutations, []), mutations)
        self.assertEqual([each.name[:3] for each in mutate.choose(mutations, [4, 17])],
                         ["04-", "17-"])


class Suites(unittest.TestCase):
    def test_have_valid_format(self):
        suites = mutate.parse_suites("# none\n1-a quick release x,y ^unit\\.a$\n")
        self.assertEqual(suites["1-a"], [mutate.Suite("quick", "release", ("x", "y"),
                                                      "^unit\\.a$")])
        for text in ("1-a quick release x", "1-a slow release x y"):
            with self.subTest(text), self.assertRaises(mutate.Problem):
                mutate.parse_suites(text)


class FakeScratch(mutate.Scratch):
    """Runs nothing: says what was to run, and gives the results of tests by their names."""

    def __init__(self, directory, results):
        super().__init__(directory)
        self.results = results
        self.steps = []

    def copy(self):
        self.steps.append("copy")

    def apply(self, mutation):
        self.steps.append(f"apply {mutation.name}")
        return self.results.get("apply", True)

    def revert(self, mutation):
        self.steps.append(f"revert {mutation.name}")

    def build(self, suite):
        return self.results.get(suite.targets[0], True)

    def test(self, suite, only_quick):
        self.steps.append(f"test {suite.tests}")
        return self.results.get(suite.tests, 0)


class Judgement(unittest.TestCase):
    def judged(self, tier="full", **results):
        mutation = mutate.Mutation("01-a", pathlib.Path("01-a.diff"), [FULL, QUICK])
        scratch = FakeScratch(pathlib.Path("/scratch"), {f"^{name}$" if len(name) == 1 else name:
                                                         value for name, value in results.items()})
        outcome, _ = mutate.try_mutation(scratch, mutation, tier)
        self.assertEqual(scratch.steps[-1], "revert 01-a")
        return outcome, scratch.steps[1:-1]

    def test_runs_quick_tests_first_and_ends_with_a_failure(self):
        self.assertEqual(self.judged(b=8), ("killed", ["test ^b$"]))
        self.assertEqual(self.judged(a=8), ("killed", ["test ^b$", "test ^a$"]))
        self.assertEqual(self.judged(), ("survived", ["test ^b$", "test ^a$"]))

    def test_runs_no_other_tests_in_the_quick_tier(self):
        self.assertEqual(self.judged("quick", a=8), ("survived", ["test ^b$"]))

    def test_counts_hanging_test(self):
        self.assertEqual(self.judged(b=None)[0], "killed by its time")

    def test_reports_invalid_mutation(self):
        self.assertEqual(self.judged(b_test=False), ("does not build", []))
        self.assertEqual(self.judged(apply=False), ("does not apply", []))

    def test_requires_tests_that_pass_without_mutation(self):
        mutation = mutate.Mutation("01-a", pathlib.Path("01-a.diff"), [QUICK])
        with self.assertRaisesRegex(mutate.Problem, "fail without a mutation"):
            mutate.run(FakeScratch(pathlib.Path("/scratch"), {"^b$": 8}), [mutation], "quick", True)

    def test_fails_if_too_few_are_killed(self):
        mutations = [mutate.Mutation("01-a", pathlib.Path("01-a.diff"), [QUICK])]
        for result, status in ((8, 0), (0, 1)):
            with contextlib.redirect_stdout(io.StringIO()) as output:
                scratch = FakeScratch(pathlib.Path("/scratch"), {"^b$": result})
                self.assertEqual(mutate.run(scratch, mutations, "full", False), status)
            self.assertIn(f"{1 - status} of 1 mutations killed", output.getvalue())
        self.assertTrue(mutate.is_enough(18, 20, "quick"))
        self.assertFalse(mutate.is_enough(17, 20, "quick"))
        self.assertFalse(mutate.is_enough(19, 20, "full"))


class Copies(unittest.TestCase):
    def test_are_updated_only_where_the_tree_changed(self):
        with tempfile.TemporaryDirectory() as folder:
            scratch = mutate.Scratch(pathlib.Path(folder))
            name = "scripts/mutate.py"
            copy = scratch.directory / name
            scratch.restore(name)
            self.assertEqual(copy.read_bytes(), (ROOT / name).read_bytes())
            before = copy.stat().st_mtime_ns
            scratch.restore(name)
            self.assertEqual(copy.stat().st_mtime_ns, before)
            copy.write_text("mutated")
            scratch.restore(name)
            self.assertEqual(copy.read_bytes(), (ROOT / name).read_bytes())


if __name__ == "__main__":
    unittest.main()
