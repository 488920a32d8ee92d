#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What goes wrong in a guest is noticed, whatever the command's exit status."""

import pathlib

import vm_case

PROVOKE = 'echo "$1" >/sys/kernel/debug/provoke-crash/DIRECT; exit 0'


class Faults(vm_case.Case):
    """Guests that go wrong, each in its way."""

    def provoke(self, fault):
        """Lets a kernel of ours do something wrong, which its LKDTM is for."""
        kernel = vm_case.kernel_or_skip("user-events-6.12")
        return self.run_guest(kernel, ["sh", "-c", PROVOKE, "sh", fault])

    def test_warning_of_the_kernel(self):
        result = self.provoke("WARNING")
        self.assertEqual(result.status, 0)
        self.assertTrue(result.complete)
        self.assertTrue(any("WARNING: CPU" in line for line in result.splats), result.log)
        self.assertIn("lkdtm_WARNING", result.problem())

    def test_oops_that_the_kernel_survives(self):
        result = self.provoke("EXCEPTION")
        self.assertTrue(result.complete)
        self.assertTrue(any("BUG: kernel NULL pointer" in line for line in result.splats), result.log)

    def test_kernel_that_panics(self):
        result = self.run_guest(
            vm_case.any_kernel(), ["sh", "-c", "echo before; echo c >/proc/sysrq-trigger"]
        )
        self.assertIsNone(result.status)
        self.assertFalse(result.complete)
        self.assertEqual(result.output, "before\n")
        self.assertTrue(any("Kernel panic" in line for line in result.splats), result.console)
        self.assertIn("Kernel panic", result.problem())

    def test_guest_that_stops_early(self):
        result = self.run_guest(vm_case.any_kernel(), ["reboot", "-f"])
        self.assertIsNone(result.status)
        self.assertEqual(result.splats, [])
        self.assertIn("did not finish its command", result.problem())

    def test_guest_that_hangs(self):
        # Whether or not it has booted by then: it does not end.
        result = self.run_guest(
            vm_case.any_kernel(), ["sh", "-c", "echo hanging; sleep 100000"], time_limit=15
        )
        self.assertTrue(result.timed_out)
        self.assertIsNone(result.status)
        self.assertIn("within 15 s", result.problem())
        scratch = str(result.files.parent)
        for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            try:
                self.assertNotIn(scratch, path.read_text(errors="replace"), "QEMU still runs")
            except OSError:
                continue  # that process has just ended


if __name__ == "__main__":
    vm_case.main()
