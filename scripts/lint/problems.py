# SPDX-License-Identifier: MIT
"""The command line that checks of the project have in common: one optional argument, the project."""

import pathlib
import sys

PROJECT = pathlib.Path(__file__).resolve().parents[2]


def report(find_problems):
    """Prints the problems of the project, one to a line. Exits with status 1 if there are any."""
    problems = find_problems(pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else PROJECT)
    print("".join(problem + "\n" for problem in problems), end="")
    sys.exit(1 if problems else 0)
