# SPDX-License-Identifier: MIT
"""Where the virtual machines keep what they need, and the errors that a person is to read."""

import os
import pathlib

HERE = pathlib.Path(__file__).resolve().parents[1]


class HarnessError(Exception):
    """Something a person can repair: a sentence that says what to do."""


class PackageUnavailable(HarnessError):
    """A kernel cannot be had on this machine, through nobody's fault."""


def cache_directory():
    """Kernels and their sources, for all work trees of a user."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(home) / "eventlog"
