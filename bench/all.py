#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures all areas of ./dev bench except compiling and those in a virtual machine, one after the
other, and writes all figures to one file.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

from figures import make_parser, write_json

HERE = pathlib.Path(__file__).resolve().parent
SCRIPTS = ["threads", "peers", "rates", "memory", "reading"]


def words_for(area, options, others):
    if area == "emit":
        return [options.programs / "eventlog_bench", "--elog", options.elog, *others]
    return [sys.executable, "-B", HERE / f"{area}.py", "--elog", options.elog, "--programs",
            options.programs]


def main():
    parser = make_parser("", __doc__)
    parser.epilog = ("Options that begin with --benchmark_ go to Google Benchmark. The areas by\n"
                     "themselves: ./dev bench emit, " + ", ".join(SCRIPTS))
    options, others = parser.parse_known_args()
    for word in others:
        if not word.startswith("--benchmark_"):
            parser.error(f"there is no option '{word}'")
    figures, failed = {}, []
    with tempfile.TemporaryDirectory(prefix="eventlog-bench-") as folder:
        for area in ["emit", *SCRIPTS]:
            print(f"\n--- {area}\n", flush=True)
            path = pathlib.Path(folder) / f"{area}.json"
            words = [*words_for(area, options, others), "--json", path]
            if options.quick:
                words.append("--quick")
            if subprocess.run(words, check=False).returncode != 0:
                failed.append(area)
            elif path.exists():
                figures |= json.loads(path.read_text("utf-8"))
                # At once, so that an interrupted run leaves the figures so far.
                if options.json:
                    write_json(options.json, figures)
    if failed:
        sys.exit(f"./dev bench: there are no figures of: {', '.join(failed)}")


if __name__ == "__main__":
    main()
