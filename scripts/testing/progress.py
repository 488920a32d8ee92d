# SPDX-License-Identifier: MIT
"""Remembers which stages of a test run passed, for exactly the sources that they ran on.

The key is git's hash of the content of the work tree, changes and new files included, so a run
continues after an interruption and begins anew after any change.
"""

import dataclasses
import json
import os
import pathlib
import subprocess
import tempfile

from stages import Result


def tree_of_work():
    """The hash of the tree that a commit of everything in the work tree would have."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "GIT_INDEX_FILE": os.path.join(folder, "index")}
        for command in (("read-tree", "HEAD"), ("add", "--all"), ("write-tree",)):
            output = subprocess.run(("git", *command), env=environment, check=True,
                                    stdout=subprocess.PIPE, encoding="utf-8").stdout
    return output.strip()


class Progress:
    """The results of passed stages by their names."""

    def __init__(self, folder=pathlib.Path("build/progress")):
        self.path = folder / f"{tree_of_work()}.json"
        try:
            self.kept = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            self.kept = {}

    def get(self, name):
        return Result(**self.kept[name]) if name in self.kept else None

    def put(self, name, result):
        self.kept[name] = dataclasses.asdict(result)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self.path.with_suffix(".new")
        unfinished.write_text(json.dumps(self.kept), encoding="utf-8")
        unfinished.replace(self.path)

    def forget(self):
        self.kept = {}
        self.path.unlink(missing_ok=True)
