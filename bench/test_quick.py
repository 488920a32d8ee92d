#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The benchmarks run, and write the ratios that others read from their file. Not how fast.

usage: test_quick.py BENCHMARKS ELOG
"""

import json
import math
import os
import shutil
import subprocess
import sys
import tempfile

RATIOS = {
    "disabled_vs_branch", "disabled_costly_vs_branch", "disabled_lazy_vs_branch",
    "enabled_vs_rseq_floor", "rseq_floor_vs_rdtsc", "dropped_vs_enabled",
}
# In tmpfs, as bench/README.md says, and some more.
NEEDED = 512 << 20
SKIPPED = 77


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    benchmarks, elog = sys.argv[1:]
    if shutil.disk_usage("/dev/shm").free < NEEDED:
        print("skipped: there is too little room in /dev/shm")
        sys.exit(SKIPPED)
    before = set(os.listdir("/dev/shm"))
    with tempfile.TemporaryDirectory(prefix="eventlog-bench-") as directory:
        path = os.path.join(directory, "ratios.json")
        subprocess.run([benchmarks, "--quick", "--elog", elog, "--json", path], check=True)
        with open(path, encoding="utf-8") as file:
            ratios = json.load(file)
    assert set(ratios) == RATIOS, sorted(ratios)
    for name, ratio in ratios.items():
        assert math.isfinite(ratio) and ratio > 0, f"{name}: {ratio}"
    left = {name for name in os.listdir("/dev/shm") if name.startswith("eventlog_bench")}
    assert left <= before, f"left behind: {sorted(left - before)}"


if __name__ == "__main__":
    main()
