# SPDX-License-Identifier: MIT
"""Kernel modules as the guest needs them: uncompressed, in an order in which they can be loaded."""

import lzma
import re

from paths import HarnessError


def read_module(path):
    """The bytes of a module, which Debian's newer kernels keep compressed."""
    content = path.read_bytes()
    return lzma.decompress(content) if path.suffix == ".xz" else content


def _name(path):
    return path.name.split(".")[0].replace("-", "_")


def _needs(content):
    """The names of the modules that it depends on."""
    found = re.search(rb"(?:^|\0)depends=([^\0]*)\0", content)
    return [name.replace("-", "_") for name in found[1].decode().split(",") if name] if found else []


def in_order(directory, wanted):
    """(name, bytes) of the modules and of what they need, those that are needed first.

    A module that does not exist counts as built in, with its dependencies.
    """
    paths = {_name(path): path for path in directory.rglob("*.ko*")} if directory.is_dir() else {}
    ordered = {}

    def visit(name, visiting):
        if name in visiting:
            raise HarnessError(f"the kernel modules {', '.join(visiting)} need each other.")
        if name in ordered or name not in paths:
            return
        content = read_module(paths[name])
        for other in _needs(content):
            visit(other, (*visiting, name))
        ordered[name] = content

    for name in wanted:
        visit(name.replace("-", "_"), ())
    return list(ordered.items())
