# SPDX-License-Identifier: MIT
"""Paths of the virtual machines, and errors for users."""

import os
import pathlib

HERE = pathlib.Path(__file__).resolve().parents[1]


class HarnessError(Exception):
    """An error that the user can repair; its text states the remedy."""


class PackageUnavailable(HarnessError):
    """A kernel is not available for this machine."""


def cache_directory():
    """The cache of kernels and sources, shared by all work trees of a user."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(home) / "eventlog"
