#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The demonstration shows the promised output and leaves no file behind."""

import os
import subprocess

import harness

SCRIPT = os.path.join(os.path.dirname(__file__), "..", "..", "..", "examples", "demo.sh")


class Demo(harness.Case):
    def test_lists_records_prints_and_counts(self):
        before = set(os.listdir("/dev/shm"))
        result = subprocess.run(
            [SCRIPT], env=self.environment, capture_output=True, encoding="utf-8",
            timeout=harness.TIMEOUT, check=False,
        )
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("shop\n  processes order_service ", result.stdout)
        # The events of the first lines depend on timing.
        self.assertRegex(result.stdout, r"elog print run.elog .*\n\S+ \[\d+\] order_service-\d+ "
                                        r"shop:\w+ orders?=\d+")
        self.assertRegex(result.stdout, r"shop:payment_retry +\d+")
        self.assertRegex(result.stdout, r"all +\d+")
        self.assertRegex(result.stdout, r"quantize\(took_us\) of accepted=true\n +\d+  +\d+")
        left = {name for name in os.listdir("/dev/shm") if name.startswith("eventlog-demo-")}
        self.assertEqual(left - before, set())


if __name__ == "__main__":
    harness.main()
