#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a fuzzer as its test does: the same from one day to the next, and with all that somebody
needs to run it again if it fails on a machine that is gone by then.

usage: run_fuzzer.py FOLDER FUZZER ARGUMENT...

What makes the fuzzer fail goes to FOLDER, and, in base64, to stdout.
"""

import base64
import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import zlib

ADDR_NO_RANDOMIZE = 0x0040000


def keep_addresses():
    """libFuzzer puts what a program compares into its inputs, and that may be addresses. Where a
    sandbox does not allow it they go on changing, and with them the inputs."""
    ctypes.CDLL(None).personality(ADDR_NO_RANDOMIZE)


def show(path):
    content = path.read_bytes()
    print(f"{path.name}: {len(content)} bytes. To have the file again:")
    print("    base64 -d | python3 -c 'import sys, zlib; "
          "sys.stdout.buffer.write(zlib.decompress(sys.stdin.buffer.read()))'")
    print("\n".join(textwrap.wrap(base64.b64encode(zlib.compress(content, 9)).decode(), 100)))


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as fresh:
        status = subprocess.call(sys.argv[2:] + [f"-artifact_prefix={fresh}/"],
                                 preexec_fn=keep_addresses)
        for found in sorted(pathlib.Path(fresh).iterdir()):
            show(found)
            os.replace(found, folder / found.name)
    sys.exit(1 if status != 0 else 0)


if __name__ == "__main__":
    main()
