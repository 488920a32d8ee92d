# SPDX-License-Identifier: MIT
"""The kernel's selftests that the patches add."""

import pathlib
import shutil
import subprocess

FOLDER = "tools/testing/selftests"
# Named like their folders.
NAMES = ("eventlog", "user_events")
# Headers of the kernel that they include. Other headers are the machine's.
HEADERS = ("eventlog.h", "eventlog_device.h", "user_events.h")


def build(tree, name, folder):
    """Compiles the test of a source with the patches. Returns the program's path in the folder."""
    headers = pathlib.Path(folder, "include", "linux")
    headers.mkdir(parents=True, exist_ok=True)
    for header in HEADERS:
        shutil.copyfile(tree / "include/uapi/linux" / header, headers / header)
    program = pathlib.Path(folder, name)
    made = subprocess.run(
        ["cc", "-Wall", "-Werror", "-isystem", str(headers.parent), "-o", str(program),
         str(tree / FOLDER / name / "eventlog_test.c")],
        check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    if made.returncode != 0:
        raise AssertionError(f"the kernel's test of {name} does not compile:\n{made.stdout}")
    return str(program)
