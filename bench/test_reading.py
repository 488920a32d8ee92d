#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The benchmark of recording and reading runs, finds every event again, and writes its figures.

usage: test_reading.py LOAD ELOG
"""

import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

FIGURES = {
    "recorder_cpu_vs_cat", "lost_at_2_million_per_second_per_cpu",
    "lossfree_events_per_second_per_cpu", "stat_events_per_second", "agg_events_per_second",
    "decode_events_per_second", "text_events_per_second", "jsonl_events_per_second",
    "csv_events_per_second", "cat_events_per_second",
}
# In tmpfs: a recording, a copy, and two parts of others.
NEEDED = 1 << 30
SKIPPED = 77


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    load, elog = sys.argv[1:]
    if shutil.disk_usage("/dev/shm").free < NEEDED:
        print("skipped: there is too little room in /dev/shm")
        sys.exit(SKIPPED)
    script = pathlib.Path(__file__).resolve().parent / "reading.py"
    # Our own commands only: what else is installed is not what is tested.
    with tempfile.TemporaryDirectory(prefix="eventlog-bench-") as directory:
        path = os.path.join(directory, "figures.json")
        subprocess.run(
            [sys.executable, "-B", script, "--quick", "--alone", "--elog", elog, "--load", load,
             "--json", path], check=True)
        with open(path, encoding="utf-8") as file:
            figures = json.load(file)
    assert set(figures) == FIGURES, sorted(figures)
    for name, figure in figures.items():
        assert math.isfinite(figure) and figure >= 0, f"{name}: {figure}"


if __name__ == "__main__":
    main()
