#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The harness notices faults of a guest whatever the command's exit status, and the kernels with checkers
find their faults."""

import pathlib
import shutil
import subprocess
import tempfile

import parts
import vm_case

PROVOKE = 'echo "$1" >/sys/kernel/debug/provoke-crash/DIRECT; exit 0'

FAULTY = pathlib.Path(__file__).resolve().parent / "faulty"

# KUnit runs only with this option.
CHECK = "insmod /kunit.ko enable=1 && insmod /checked.ko && rmmod checked"

RACE = parts.SHELL + """
raced() { dmesg | grep -q 'BUG: KCSAN: data-race in change_what_is_shared'; }
insmod /racy.ko || exit
echo on > /sys/kernel/debug/kcsan
wait_until raced
echo off > /sys/kernel/debug/kcsan
rmmod racy
"""


class Faults(vm_case.Case):
    """Guests that go wrong, each in its way."""

    def provoke(self, fault):
        """Causes a fault with the kernel's LKDTM."""
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


@vm_case.full_tier
class Checkers(vm_case.Case):
    """Modules with faults that only kernels with checkers see."""

    def module(self, kernel, name):
        """A module for a kernel that we have built, from its source in faulty/."""
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="eventlog-vm-")))
        shutil.copy(FAULTY / f"{name}.c", folder)
        (folder / "Makefile").write_text(f"obj-m := {name}.o\n", encoding="utf-8")
        made = subprocess.run(
            ["make", "-s", "-C", kernel.directory / "build", f"M={folder}", "modules"],
            check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, encoding="utf-8",
        )
        self.assertEqual(made.returncode, 0, made.stdout)
        return str(folder / f"{name}.ko")

    def test_memory_locks_and_kunit(self):
        kernel = vm_case.kernel_or_skip("debug-6.12")
        result = self.run_guest(
            kernel, ["sh", "-c", CHECK],
            files={"/checked.ko": self.module(kernel, "checked"),
                   "/kunit.ko": str(kernel.modules / "kernel/lib/kunit/kunit.ko")},
        )
        self.assertEqual((result.status, result.errors), (0, ""))
        self.assertIn(" ok 1 passes\n", result.log)
        found = "\n".join(result.splats) + "\n"
        for line in (
            " not ok 2 fails\n",
            "BUG: sleeping function called from invalid context at ",
            "WARNING: possible circular locking dependency detected\n",
            "BUG: KASAN: slab-use-after-free in writes_after_free+",
        ):
            self.assertIn(line, found)
        self.assertIsNotNone(result.problem())

    def test_data_races(self):
        kernel = vm_case.kernel_or_skip("race-6.12")
        result = self.run_guest(
            kernel, ["sh", "-c", RACE], processors=2,
            files={"/racy.ko": self.module(kernel, "racy")},
        )
        self.assertEqual((result.status, result.output, result.errors), (0, "", ""))
        self.assertIn("BUG: KCSAN: data-race in change_what_is_shared", "\n".join(result.splats))


if __name__ == "__main__":
    vm_case.main()
