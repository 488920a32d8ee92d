#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a fuzzer so that the run can be repeated on another machine.

usage: run_fuzzer.py FOLDER RUNS FUZZER ARGUMENT...

The full tier makes RUNS runs, the quick tier a fifth of them. An input that makes the fuzzer fail is
stored in FOLDER and printed in base64.
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
QUICK_PART = 5


def disable_aslr():
    """libFuzzer adds compared values to its inputs, which may be addresses. In a sandbox that does not permit
    this, addresses and so inputs differ between runs."""
    ctypes.CDLL(None).personality(ADDR_NO_RANDOMIZE)


def show(path):
    content = path.read_bytes()
    print(f"{path.name}: {len(content)} bytes. To have the file again:")
    print("    base64 -d | python3 -c 'import sys, zlib; "
          "sys.stdout.buffer.write(zlib.decompress(sys.stdin.buffer.read()))'")
    print("\n".join(textwrap.wrap(base64.b64encode(zlib.compress(content, 9)).decode(), 100)))


def main():
    if len(sys.argv) < 4 or not sys.argv[2].isdigit():
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    runs = int(sys.argv[2])
    if os.environ.get("EVENTLOG_TEST_TIER") != "full":
        runs //= QUICK_PART
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as fresh:
        status = subprocess.call([*sys.argv[3:], f"-runs={runs}", f"-artifact_prefix={fresh}/"],
                                 preexec_fn=disable_aslr)
        for found in sorted(pathlib.Path(fresh).iterdir()):
            show(found)
            os.replace(found, folder / found.name)
    sys.exit(1 if status != 0 else 0)


if __name__ == "__main__":
    main()
