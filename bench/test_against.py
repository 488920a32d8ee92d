#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests `./dev bench AREA --against REV` without a measurement: statistics, verdicts, the command
line, revisions, and the parsing of other programs' output."""

import contextlib
import io
import math
import pathlib
import random
import subprocess
import tempfile
import unittest

import against
import against_areas
import paired
from against_areas import Sample
from figures import Problem

HERE = pathlib.Path(__file__).resolve().parent


class TestInterval(unittest.TestCase):
    def test_quantiles_of_student(self):
        for freedom, expected in ((1, 12.706), (9, 2.262), (10, 2.228), (20, 2.086), (100, 1.984)):
            self.assertAlmostEqual(paired.student_quantile(freedom), expected, delta=0.001)

    def test_few_pairs_by_hand(self):
        # Logarithms 0.01, 0.02, 0.03: mean 0.02, standard error 0.01 / sqrt(3), t 4.303.
        interval = paired.interval_of([math.exp(0.01), math.exp(0.02), math.exp(0.03)], [1, 1, 1])
        self.assertAlmostEqual(interval.ratio, math.exp(0.02))
        self.assertAlmostEqual(math.log(interval.high), 0.02 + 4.303 * 0.01 / math.sqrt(3))
        self.assertAlmostEqual(math.log(interval.low), 0.02 - 4.303 * 0.01 / math.sqrt(3))

    def test_pairs_without_noise(self):
        interval = paired.interval_of([2, 4, 6], [1, 2, 3])
        self.assertAlmostEqual(interval.low, 2)
        self.assertAlmostEqual(interval.high, 2)

    def test_swapped_trees_have_the_reciprocal(self):
        numbers = random.Random(1)
        above = [numbers.uniform(1, 2) for _ in range(20)]
        below = [numbers.uniform(1, 2) for _ in range(20)]
        one, other = paired.interval_of(above, below), paired.interval_of(below, above)
        self.assertAlmostEqual(one.ratio, 1 / other.ratio)
        self.assertAlmostEqual(one.low, 1 / other.high)

    def test_what_hits_both_runs_of_a_pair_does_not_matter(self):
        moods = [1, 1.5, 1, 3, 1.2, 1, 1, 2, 1, 1]
        interval = paired.interval_of([1.02 * mood for mood in moods], moods)
        self.assertAlmostEqual(interval.low, 1.02)
        self.assertAlmostEqual(interval.high, 1.02)

    def test_one_disturbed_pair_of_ten_does_not_decide(self):
        even = [1.001, 0.999, 1.002, 0.998, 1.0, 1.001, 0.999, 1.0, 1.0]
        interval = paired.interval_of([*even, 5.0], [1] * 10)
        self.assertLess(interval.high, 1.003)

    def test_intervals_hold_the_truth_as_often_as_they_say(self):
        numbers = random.Random(1)
        for pairs in (2, 5, 10, 30):
            held = 0
            for _ in range(1000):
                values = [math.exp(numbers.gauss(0.04, 0.1)) for _ in range(pairs)]
                interval = paired.interval_of(values, [1] * pairs)
                held += interval.low <= math.exp(0.04) <= interval.high
            self.assertGreater(held, 925, f"{pairs} pairs")
            self.assertLess(held, 970, f"{pairs} pairs")

    def test_pairs_must_be_whole(self):
        with self.assertRaises(ValueError):
            paired.interval_of([1, 2], [1])


class TestVerdict(unittest.TestCase):
    def check(self, low, ratio, high, kind, text):
        verdict = paired.verdict_on(paired.Interval(ratio, low, high), 10, 3)
        self.assertEqual((verdict.kind, verdict.text), (kind, text))

    def test_slower(self):
        self.check(1.033, 1.041, 1.049, paired.SLOWER, "slower by 4.1 % (±0.8)")

    def test_faster(self):
        self.check(0.92, 0.94, 0.96, paired.FASTER, "faster by 6.0 % (±2.0)")

    def test_within(self):
        self.check(0.99, 1.01, 1.03, paired.WITHIN, "within 3 %")
        # Slower, but not by more than the limit.
        self.check(1.01, 1.015, 1.02, paired.WITHIN, "within 3 %")

    def test_undecided(self):
        self.check(0.95, 1.0, 1.05, paired.UNDECIDED,
                   "undecided: noise ±5.0 %; use --pairs 30")
        self.check(0.971, 1.03, 1.089, paired.UNDECIDED,
                   "undecided: noise ±5.9 %; use --pairs 270")
        self.check(0.5, 1.03, 2, paired.UNDECIDED,
                   "undecided: noise ±75.0 %; use an idle machine")

    def test_more_pairs_than_before(self):
        self.assertEqual(paired.pairs_needed(0, 3.01, 10, 3), 20)
        self.assertEqual(paired.pairs_needed(0, 0.1, 15, 3), 20)


class TestComparison(unittest.TestCase):
    def test_order(self):
        orders = ["".join(against.order_of(pair, "AB")) for pair in range(4)]
        self.assertEqual(orders, ["AB", "BA", "AB", "BA"])

    def test_measure_pairs(self):
        class Fake(against_areas.Area):
            ran = []

            def measure_one(self, tree):
                self.ran.append(tree.name)
                return Sample({"figure": len(self.ran)}, 1, 10)

        trees = [against_areas.Tree(name, HERE) for name in ("A", "B")]
        with contextlib.redirect_stdout(io.StringIO()) as said:
            samples = against.measure(Fake(HERE), trees, 2)
        self.assertEqual(Fake.ran, ["A", "B", "B", "A"])
        self.assertEqual([sample.figures["figure"] for sample in samples["A"]], [1, 4])
        self.assertEqual([sample.figures["figure"] for sample in samples["B"]], [2, 3])
        self.assertIn("pair 2 of 2: lost by A 1 of 10, by B 1 of 10\n", said.getvalue())

    def test_compare(self):
        ours = [Sample({"even": 10, "slow": value}) for value in (2.0, 2.02, 2.0)]
        theirs = [Sample({"even": 10, "slow": 1})] * 3
        results = against.compare(ours, theirs, 3)
        self.assertEqual(results["even"]["verdict"], paired.WITHIN)
        self.assertEqual(results["slow"]["verdict"], paired.SLOWER)
        self.assertEqual(results["slow"]["ours"], 2.0)

    def test_a_figure_of_one_tree_alone_is_named(self):
        with contextlib.redirect_stdout(io.StringIO()) as said:
            results = against.compare([Sample({"new": 1})] * 2, [Sample()] * 2, 3)
        self.assertEqual(results, {})
        self.assertIn("new is not compared", said.getvalue())

    def test_zero_has_no_ratio(self):
        with self.assertRaisesRegex(Problem, "figure is not above 0"):
            against.compare([Sample({"figure": 0})] * 2, [Sample({"figure": 1})] * 2, 3)

    def test_losses_are_pointed_out(self):
        with contextlib.redirect_stdout(io.StringIO()) as said:
            against.warn_of_losses({"A": [Sample(lost=1, attempted=10_000)],
                                    "B": [Sample(lost=0, attempted=0)]})
            self.assertEqual(said.getvalue(), "")
            against.warn_of_losses({"A": [Sample(lost=2, attempted=1000), Sample(attempted=500)]})
        self.assertIn("A has LOST MORE THAN 0.1 %", said.getvalue())


class TestCommandLine(unittest.TestCase):
    def refuse(self, *words):
        """Returns the error message."""
        with contextlib.redirect_stderr(io.StringIO()) as said:
            with self.assertRaises(SystemExit) as ended:
                against.make_parser().parse_args(words)
        self.assertEqual(ended.exception.code, 2)
        return said.getvalue()

    def test_defaults(self):
        options = against.make_parser().parse_args(["emit", "--against", "HEAD~1"])
        self.assertEqual((options.pairs, options.limit, options.json), (10, 3.0, None))

    def test_pairs(self):
        for text in ("0", "1", "-3", "1001", "ten", "2.5", ""):
            self.assertIn("is no number of pairs from 2 to 1000",
                          self.refuse("emit", "--against", "HEAD", f"--pairs={text}"))

    def test_limit(self):
        for text in ("0", "-1", "101", "nan", "3%", ""):
            self.assertIn("is no percentage",
                          self.refuse("emit", "--against", "HEAD", f"--limit={text}"))

    def test_area(self):
        said = self.refuse("peers", "--against", "HEAD")
        self.assertIn("'peers' cannot be compared with another tree", said)
        self.assertIn("compile, emit, memory, rates, reading, threads", said)

    def test_status_of_an_unknown_revision(self):
        words = ["python3", "-B", HERE / "against.py", "emit", "--against", "no-such-revision"]
        ended = subprocess.run(words, check=False, capture_output=True, text=True)
        self.assertEqual(ended.returncode, 2)
        self.assertIn("'no-such-revision'", ended.stderr)


class TestTrees(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="eventlog-bench-test-")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def git(self, *words):
        subprocess.run(["git", "-C", self.root, "-c", "user.name=test", "-c", "user.email=test@test",
                        *words], check=True, capture_output=True)

    def commit(self, text):
        (self.root / "file").write_text(text, "ascii")
        self.git("add", "file")
        self.git("commit", "--message", text)

    def test_revisions(self):
        self.git("init")
        self.commit("one")
        self.commit("two")
        first = against.find_commit(self.root, "HEAD~1")
        self.assertRegex(first, "^[0-9a-f]{40}$")
        for unknown in ("HEAD~2", "nothing", "--all", "HEAD:file"):
            with self.assertRaisesRegex(Problem, f"There is no revision '{unknown}'"):
                against.find_commit(self.root, unknown)
        with self.assertRaisesRegex(Problem, "needs a revision"):
            against.find_commit(self.root, "")

        folder = against.check_out(self.root, first)
        self.assertEqual((folder / "file").read_text("ascii"), "one")
        self.assertEqual(against.check_out(self.root, first), folder)
        self.assertEqual([path.name for path in folder.parent.iterdir()], [first])

    def test_no_repository(self):
        with self.assertRaisesRegex(Problem, "git cannot look up the revision 'HEAD'"):
            against.find_commit(self.root, "HEAD")

    def test_settings(self):
        cache = ("# comment\nCMAKE_CXX_COMPILER:STRING=g++\nCMAKE_CXX_FLAGS:STRING=\n"
                 "CMAKE_CXX_FLAGS_RELWITHDEBINFO:STRING=-O2 -g1\nCMAKE_BUILD_TYPE:STRING=Debug\n"
                 "CMAKE_CXX_COMPILER_AR:FILEPATH=/usr/bin/ar\nEVENTLOG_TEST_VM:BOOL=ON\n")
        self.assertEqual(against.settings_of(cache), [
            "-DCMAKE_CXX_COMPILER=g++", "-DCMAKE_CXX_FLAGS=",
            "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O2 -g1", "-DCMAKE_BUILD_TYPE=Debug"])

    def test_programs(self):
        (self.root / "elog").mkdir()
        (self.root / "elog/elog").write_text("", "ascii")
        with self.assertRaisesRegex(Problem, "no program elog"):
            against.find_program(self.root, "elog")
        (self.root / "elog/elog").chmod(0o755)
        self.assertEqual(against.find_program(self.root, "elog"), self.root / "elog/elog")

    def test_a_failed_build_names_its_log(self):
        log = self.root / "log"
        with self.assertRaisesRegex(Problem, r"(?s)sh has failed; .*/log ends with:\nreason"):
            against.run_logged(log, "sh", "-c", "echo reason; exit 1")


class TestOutputOfOthers(unittest.TestCase):
    def test_repetitions(self):
        def repetition(name, time, **more):
            return {"run_type": "iteration", "run_name": f"{name}/iterations:4/manual_time",
                    "real_time": time, **more}
        content = {"benchmarks": [
            *(repetition("emit_enabled", 20, ratio_of_pair=ratio) for ratio in (1.0, 1.2, 9.0)),
            *(repetition("emit_dropped", time) for time in (5, 6, 70)),
            {"run_type": "aggregate", "run_name": "emit_dropped", "real_time": 1000},
        ]}
        self.assertEqual(against_areas.figures_of_repetitions(content),
                         {"enabled_vs_rseq_floor": 1.2, "emit_dropped_ns": 6})

    def test_threads(self):
        times = {"alone 0": [(10,), (11,)], "alone 1": [(12,), (30,)], "one": [(1, 2), (1, 2)],
                 "both": [(10, 14), (13, 12)], "many": [(20, 40), (22, 44)]}
        self.assertEqual(against_areas.figures_of_threads(times), {
            "one_thread_ns": 11.5, "two_threads_ns": 13.5, "many_threads_ns": 21,
            "many_threads_with_turns_ns": 42})

    def test_losses(self):
        table = ("emit_enabled                 14.210    2.3 %   12 of 937984 (0.001 %)\n"
                 "emit_dropped                  9.100    1.0 %   7 of 8 (87.5 %)\n")
        self.assertEqual(against_areas.loss_of_table(table), (12, 937984))
        with self.assertRaises(Problem):
            against_areas.loss_of_table("emit_dropped 9.1 1.0 % 7 of 8 (87.5 %)\n")

    def test_instructions(self):
        self.assertEqual(against_areas.count_of_perf(
            "# started on Mon\n\n123456,,instructions:u,100200,100.00,,\n"), 123456)
        self.assertIsNone(against_areas.count_of_perf(
            "# started on Mon\n\n<not supported>,,instructions:u,0,100.00,,\n"))


if __name__ == "__main__":
    unittest.main()
