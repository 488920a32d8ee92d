# SPDX-License-Identifier: MIT
"""Compiles programs in the scratch directory of a test and records them.

Not in builds with sanitizers: the programs lack the sanitizer's runtime.
"""

import os
import shutil
import subprocess

import harness

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
INCLUDE = os.path.join(ROOT, "sdk", "include")
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
LIBRARY_DIRECTORY = os.path.dirname(os.environ["LIBRARY"])
LINK = [f"-L{LIBRARY_DIRECTORY}", "-leventlog", f"-Wl,-rpath,{LIBRARY_DIRECTORY}"]


class Case(harness.Case):
    def setUp(self):
        super().setUp()
        self.environment["LD_LIBRARY_PATH"] = LIBRARY_DIRECTORY

    def compile(self, compiler, *arguments):
        if shutil.which(compiler) is None:
            self.skipTest(f"{compiler} is not installed: ./dev setup")
        # With a build cache, repeated compilations take their result from it.
        cache = ["ccache"] if "CCACHE_DIR" in os.environ and shutil.which("ccache") else []
        result = subprocess.run(
            [*cache, compiler, *arguments], capture_output=True, encoding="utf-8", check=False,
            cwd=self.scratch,
        )
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def recorded(self, provider, arguments, *command):
        """Records a command; returns its events with their fields."""
        self.run_elog("record", *arguments, "--force", "-o", self.path("run.elog"), "--", *command)
        lines = self.run_elog("print", self.path("run.elog")).stdout.splitlines()
        return [line.split(f" {provider}:", 1)[1] for line in lines]
