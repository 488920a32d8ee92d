# SPDX-License-Identifier: MIT
"""The kernel's own tests that our patches add to it: programs that try it from outside."""

import pathlib
import shutil
import subprocess

FOLDER = "tools/testing/selftests"
# With the names of the folders that they lie in.
NAMES = ("eventlog", "user_events")
# Which headers of the kernel's they take. All others are the machine's.
HEADERS = ("eventlog.h", "eventlog_device.h", "user_events.h")


def build(tree, name, folder):
    """Compiles the test in a source with our patches. Returns the program's path in the folder."""
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
