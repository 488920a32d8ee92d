#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Shared objects with a provider are recorded while they are loaded, really unload, and do not
affect those that stay.
"""

import re
import subprocess

import harness

ROUNDS = 200
CALL = re.compile(r"plugin:call number=(\d+) by=(\d+)$", re.MULTILINE)
STEP = re.compile(r"-(\d+) host:step number=(\d+) worker=(\d+)$", re.MULTILINE)


class Plugins(harness.Case):
    def run_host(self, *arguments):
        """[(number, by)] of the recorded calls; requires that all events are accounted for."""
        result = self.run_elog(
            "record", "-e", "host:*", "-e", "plugin:*", "--force", "-o", self.path("run.elog"),
            "--buffer-size", "4M", "--", harness.program("plugin_host"), *arguments,
        )
        attempted = re.findall(r"^(?:calls|steps) (\d+)$", result.stdout, re.MULTILINE)
        self.assertEqual(len(attempted), 2, result.stdout + result.stderr)
        events, _, lost = self.summary(result.stderr)
        self.assertEqual(events + lost, sum(map(int, attempted)))
        self.assertEqual(lost, 0, result.stderr)
        self.assertNotIn("were damaged", result.stderr)
        self.assert_no_files_left()
        text = self.run_elog("print", self.path("run.elog")).stdout
        steps = {}
        for _, number, worker in STEP.findall(text):
            steps.setdefault(worker, []).append(int(number))
        self.assertEqual(len(steps), 3)
        for numbers in steps.values():
            self.assertEqual(numbers, list(range(len(numbers))))
        return [(int(number), int(by)) for number, by in CALL.findall(text)]

    def check_loop(self, *plugins):
        files = [harness.program(f"{plugin}.so") for plugin in plugins]
        calls = self.run_host("loop", str(ROUNDS), *files)
        # Two of each load, one by a thread of its own.
        self.assertEqual(calls, [(i, i % 2) for i in range(2 * ROUNDS * len(plugins))])

    def check_together(self, first, second):
        first, second = (harness.program(f"{plugin}.so") for plugin in (first, second))
        self.assertEqual(self.run_host("together", first, second), [(0, 1), (1, 2), (2, 2)])

    def test_export_no_library_symbols(self):
        # Symbols that two plugins export under one name would bind one to the other, which could
        # then not be unloaded.
        for plugin in ("plugin_shared", "twin_shared", "defining_plugin_shared"):
            symbols = subprocess.run(
                ["nm", "--dynamic", "--defined-only", "--demangle", harness.program(f"{plugin}.so")],
                stdout=subprocess.PIPE, encoding="utf-8", check=True,
            ).stdout
            self.assertIn("_plugin", symbols)
            self.assertNotIn("eventlog", symbols)
            if plugin != "defining_plugin_shared":  # it has threads of its own
                self.assertNotIn("std::", symbols)

    def test_unloading_keeps_subscription_intact(self):
        for plugin in ("plugin_shared", "plugin_static"):
            with self.subTest(plugin=plugin):
                result = self.run_elog(
                    "record", "-e", "plugin:*", "--", harness.program("plugin_host"), "regions",
                    harness.program(f"{plugin}.so"),
                )
                self.assertEqual(re.findall(r"^regions (\d+)$", result.stdout, re.MULTILINE),
                                 ["1", "0"])
                self.assertEqual(self.summary(result.stderr)[::2], (1, 0))

    def test_loaded_and_unloaded_are_recorded(self):
        self.check_loop("plugin_shared", "twin_shared")

    def test_loaded_and_unloaded_with_static_library_are_recorded(self):
        self.check_loop("plugin_static", "twin_static")

    def test_with_same_provider_are_separate_instances(self):
        self.check_together("plugin_shared", "twin_shared")

    def test_with_same_provider_and_static_libraries_are_separate(self):
        self.check_together("plugin_static", "twin_static")

    def test_with_same_provider_and_one_static_library_are_separate(self):
        self.check_together("plugin_static", "plugin_shared")
        self.check_together("plugin_shared", "plugin_static")


if __name__ == "__main__":
    harness.main()
