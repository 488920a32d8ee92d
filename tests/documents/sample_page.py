#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that the example of a manual page equals a source that is compiled elsewhere, except for
the comments at the source's head.

usage: sample_page.py PAGE SOURCE
"""

import pathlib
import re
import sys

ROFF = {r"\e": "\\", r"\&": ""}


def example_of(page):
    """The longest block of a page."""
    blocks = re.findall(r"^\.Bd -literal\n(.*?)^\.Ed$", page, re.MULTILINE | re.DOTALL)
    text = max(blocks, key=len)
    return re.sub(r"\\[e&]", lambda found: ROFF[found[0]], text)


def main():
    page, source = (pathlib.Path(path).read_text(encoding="utf-8") for path in sys.argv[1:3])
    if example_of(page) != source[source.index("#include"):]:
        print(f"{sys.argv[1]}: the example is not {sys.argv[2]} from its first #include on. Change "
              "one, and the other with it.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
