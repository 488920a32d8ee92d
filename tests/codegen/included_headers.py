#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that a header of eventlog includes no standard header that is slow to compile.

usage: included_headers.py HEADER -- COMPILER [FLAGS...]

Each file of a program that emits events includes HEADER. <string> and <atomic>, with what they
include, once took two fifths of its compile time.
"""

import pathlib
import subprocess
import sys

# Those that eventlog.hpp may include, apart from headers of C.
ALLOWED = {"array", "bit", "cstddef", "cstdint", "cstring", "limits", "string_view", "type_traits",
           "utility"}
# Those that the allowed ones include.
INCLUDED = {"compare", "concepts", "cwchar", "initializer_list", "iosfwd", "new", "numbers"}


def included_by(header, compiler):
    """The names of standard headers of C++ that a header includes, by itself or through others."""
    rule = subprocess.run((*compiler, "-M", "-x", "c++", "-"), input=f"#include <{header}>\n",
                          check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout
    paths = map(pathlib.PurePath, rule.replace("\\\n", " ").partition(":")[2].split())
    return {path.name for path in paths if not path.suffix}


def main(header, separator, *compiler):
    if separator != "--" or not compiler:
        sys.exit(__doc__)
    found = included_by(header, compiler)
    if "string_view" not in found:
        sys.exit(f"{header}: the compiler lists no <string_view>, so its list is not understood")
    slow = sorted(found - ALLOWED - INCLUDED)
    if slow:
        sys.exit(f"{header} includes {', '.join(slow)}. Leave them out, or allow them in {__file__} "
                 "after you have measured their compile time (./dev bench compile).")


if __name__ == "__main__":
    main(*sys.argv[1:])
