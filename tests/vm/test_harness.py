#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The parts of the harness that need no virtual machine, and its command."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import cache
import kernels
import machine
import modules
import parts
import programs
import source
import vm_case
from archive import Archive
from machine import PORTS
from paths import HarnessError
from splats import find_splats

HARNESS = pathlib.Path(__file__).resolve().parent / "harness"


class Scratch(unittest.TestCase):
    """A test with a separate folder for the cache."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="eventlog-vm-")
        self.addCleanup(folder.cleanup)
        self.scratch = pathlib.Path(folder.name)
        changed = mock.patch.dict(os.environ, {"XDG_CACHE_HOME": folder.name})
        changed.start()
        self.addCleanup(changed.stop)


class Archives(Scratch):
    """The guest's file system."""

    def listing(self, archive):
        """Mode, size and name of the entries by busybox's cpio, another reader of the format."""
        archive.write(self.scratch / "archive")
        with open(self.scratch / "archive", "rb") as file:
            lines = subprocess.run(
                ["busybox", "cpio", "-tv"], stdin=file, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                encoding="utf-8",
            ).stdout.splitlines()
        return [(line.split()[0], line.split()[2], line.split(maxsplit=5)[5]) for line in lines]

    def test_contains_added_files_with_their_directories(self):
        archive = Archive()
        archive.text("/a/b/file", "12345", 0o640)
        archive.link("/a/link", "b/file")
        self.assertEqual(
            self.listing(archive),
            [
                ("drwxr-xr-x", "0", "a"),
                ("drwxr-xr-x", "0", "a/b"),
                ("-rw-r-----", "5", "a/b/file"),
                ("lrwxrwxrwx", "0", "a/link -> b/file"),
            ],
        )

    def test_first_file_of_a_name_is_kept(self):
        archive = Archive()
        archive.text("file", "1")
        archive.text("/file", "22")
        self.assertEqual(self.listing(archive), [("-rw-r--r--", "1", "file")])


class Cache(Scratch):
    """Folders made once."""

    def test_is_created_once(self):
        made = []

        def make(path):
            made.append(path)
            (path / "file").write_text("content")

        first = cache.obtain("things", "name", "key", make)
        second = cache.obtain("things", "name", "key", make)
        self.assertEqual(first, second)
        self.assertEqual((second / "file").read_text(), "content")
        self.assertEqual(len(made), 1)
        self.assertEqual(cache.entries("things"), [first])

    def test_failure_leaves_no_valid_entry(self):
        def fail(path):
            (path / "half").write_text("")
            raise HarnessError("no")

        with self.assertRaises(HarnessError):
            cache.obtain("things", "name", "key", fail)
        self.assertEqual(cache.entries("things"), [])
        path = cache.obtain("things", "name", "key", lambda path: (path / "whole").write_text(""))
        self.assertEqual([entry.name for entry in path.iterdir()], ["whole"])

    def test_is_removed(self):
        path = cache.obtain("things", "name", "key", lambda path: None)
        cache.remove(path)
        self.assertEqual(cache.entries("things"), [])

    def test_key_depends_on_every_input(self):
        keys = {cache.key_of("a", ["b"]), cache.key_of("a", ["c"]), cache.key_of("ab", []),
                cache.key_of("a", "b")}
        self.assertEqual(len(keys), 4)
        self.assertEqual(cache.key_of("a", ["b"]), cache.key_of("a", ["b"]))


class Sources(Scratch):
    """Configurations and patches."""

    PATCH = "--- a/file\n+++ b/file\n@@ -1 +1 @@\n-old\n+new\n"

    def apply(self, content):
        (self.scratch / "file").write_text(content)
        (self.scratch / "change.patch").write_text(self.PATCH)
        with open(self.scratch / "log", "w", encoding="utf-8") as log:
            source.apply_patches([self.scratch / "change.patch"], self.scratch, log)
        return (self.scratch / "file").read_text()

    def test_patch_is_applied(self):
        self.assertEqual(self.apply("old\n"), "new\n")

    def test_patch_that_does_not_fit_is_an_error(self):
        with self.assertRaisesRegex(HarnessError, "`patch` failed"):
            self.apply("something else\n")

    def test_option_rejected_by_kconfig_is_reported(self):
        wanted = "# CONFIG_A=y\nCONFIG_B=y\nCONFIG_C=8\n"
        self.assertEqual(source.rejected_options(wanted, "CONFIG_B=y\nCONFIG_C=8\n"), [])
        self.assertEqual(
            source.rejected_options(wanted, "CONFIG_C=4\n"),
            ["CONFIG_B=y is wanted, but it is n", "CONFIG_C=8 is wanted, but it is 4"],
        )

    def test_fragments_of_every_recipe_exist(self):
        for recipe in kernels.RECIPES:
            if recipe.built:
                self.assertIn("CONFIG_USER_EVENTS=y", source.configuration(recipe.fragments))

    def test_unknown_kernel_is_an_error_that_lists_all(self):
        with self.assertRaisesRegex(HarnessError, "called linux.*user-events-6.12"):
            kernels.recipe("linux")


class Modules(Scratch):
    """The order in which modules are loaded."""

    def module(self, name, needs):
        content = b"\x7fELF...\0license=GPL\0depends=" + needs.encode() + b"\0name=x\0"
        (self.scratch / f"{name}.ko").write_bytes(content)

    def test_dependencies_are_loaded_first(self):
        self.module("top-level", "middle,bottom")
        self.module("middle", "bottom")
        self.module("bottom", "")
        self.module("unwanted", "")
        ordered = modules.in_order(self.scratch, ["top_level", "built_in"])
        self.assertEqual([name for name, _ in ordered], ["bottom", "middle", "top_level"])

    def test_dependency_cycle_is_an_error(self):
        self.module("a", "b")
        self.module("b", "a")
        with self.assertRaisesRegex(HarnessError, "need each other"):
            modules.in_order(self.scratch, ["a"])


class Programs(Scratch):
    """Libraries and interpreters of programs."""

    def test_libraries_and_loader_are_included(self):
        archive = Archive()
        programs.add_file(archive, "/bin/ls")
        self.assertIn("/bin/ls", archive)
        for library in programs.libraries_of("/bin/ls"):
            self.assertIn(library, archive)
        self.assertTrue(any("ld-linux" in path for path in programs.libraries_of("/bin/ls")))

    def test_missing_library_is_named(self):
        library = self.scratch / "libmissing.so"
        code = "int main(void) { return 0; }"
        for output, *flags in (
            (library, "-shared", "-fPIC"),
            (self.scratch / "program", "-Wl,--no-as-needed", str(library)),
        ):
            subprocess.run(
                ["gcc", "-x", "c", "-", "-x", "none", "-o", str(output), *flags],
                input=code, encoding="utf-8", check=True,
            )
        library.unlink()
        with self.assertRaisesRegex(HarnessError, "libmissing.so"):
            programs.add_file(Archive(), str(self.scratch / "program"))

    def test_interpreter_of_a_script_is_included(self):
        script = self.scratch / "script"
        script.write_text("#!/bin/cat\n")
        archive = Archive()
        programs.add_file(archive, str(script))
        self.assertIn("/bin/cat", archive)


class Splats(unittest.TestCase):
    """Patterns of faults of the kernel."""

    def test_faults(self):
        for line in (
            "[    5.1] BUG: KASAN: slab-use-after-free in f+0x1/0x2",
            "[    5.1] WARNING: CPU: 0 PID: 1 at kernel/x.c:1 f+0x1/0x2",
            "[    5.1] WARNING: possible circular locking dependency detected",
            "[    5.1] BUG: sleeping function called from invalid context at x.c:1",
            "[    5.1] rcu: INFO: rcu_sched self-detected stall on CPU",
            "[    5.1] rcu: INFO: rcu_sched detected stalls on CPUs/tasks:",
            "[    5.1] INFO: task cat:12 blocked for more than 120 seconds.",
            "[    5.1] Oops: 0002 [#1] SMP",
            "[    5.1] Kernel panic - not syncing: Attempted to kill init!",
            "[    5.1] not ok 1 ring_test",
        ):
            self.assertEqual(find_splats(f"fine\n{line}\nfine\n"), [line])

    def test_user_space_faults_are_ignored(self):
        log = (
            "[    5.1] crash[77]: segfault at 0 ip 0 sp 0 error 4 in crash\n"
            "[    5.1] random: crng init done\n"
            "[    5.1] ok 1 ring_test\n"
        )
        self.assertEqual(find_splats(log), [])


class Failures(unittest.TestCase):
    """The message of a guest that failed."""

    def shown(self, output, errors):
        result = machine.Result(1, "6.12", True, False, 1.0, output, errors, "", "", None, [])
        with mock.patch.object(vm_case.Case, "run_guest", return_value=result), \
                self.assertRaises(AssertionError) as caught:
            vm_case.Case.run_successfully(None, ["false"])
        return str(caught.exception)

    def test_short_output_is_shown_in_full(self):
        self.assertEqual(self.shown("a\nb\n", "c\n"), "the command ended with 1\na\nb\nc\n")

    def test_long_output_is_shown_from_its_end(self):
        lines = [f"{number}\n" for number in range(vm_case.SHOWN_LINES + 3)]
        self.assertEqual(
            self.shown("".join(lines), "".join(lines[:-2])),
            "the command ended with 1\n"
            "[3 lines of output before]\n" + "".join(lines[3:]) +
            "[1 lines of errors before]\n" + "".join(lines[1:-2]))

    def test_timeout_shows_available_output(self):
        with tempfile.NamedTemporaryFile("w", prefix="eventlog-", suffix="-output") as output:
            output.write("why\n")
            output.flush()
            result = subprocess.run(
                ["sh", "-c", parts.SHELL + "sleep() { :; }\npart first wait_until false a\necho not"],
                check=False, capture_output=True, encoding="utf-8")
            self.assertIn(f"\n{output.name}: why\n", result.stdout)
        self.assertEqual(result.returncode, 1)
        self.assertIn(" PID ", result.stdout)
        self.assertEqual(result.stdout.splitlines()[-1], "waited in vain: false a")


class Init(unittest.TestCase):
    """Agreement of lists in two places."""

    def test_ports(self):
        init = (pathlib.Path(__file__).parent / "guest" / "init").read_text(encoding="utf-8")
        self.assertEqual(set(re.findall(r"/dev/vport0p(\d)", init)),
                         {str(number) for number in range(1, len(PORTS) + 1)})


class Command(unittest.TestCase):
    """`./dev vm`, as a developer runs it."""

    def vm(self, *words):
        return subprocess.run(
            [sys.executable, "-B", HARNESS / "vm.py", *words], check=False,
            stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
        )

    def test_list_has_all_kernels(self):
        result = self.vm("--list")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        # The lines include cached and outdated kernels.
        names = [line.split()[0] for line in result.stdout.splitlines()]
        self.assertEqual([name for name in names if name in kernels.NAMES], list(kernels.NAMES))

    def test_output_and_status_are_passed_through(self):
        name = vm_case.any_kernel().name
        result = self.vm(name, "--", "sh", "-c", "echo from $(uname -m); echo wrong >&2; exit 7")
        self.assertEqual((result.returncode, result.stdout), (7, f"from {os.uname().machine}\n"))
        self.assertTrue(result.stderr.endswith("wrong\n"), result.stderr)

    def test_harness_failure_has_its_own_status(self):
        result = self.vm("user-events-2.4", "--", "true")
        self.assertEqual((result.returncode, result.stdout), (125, ""))
        self.assertIn("vm: there is no kernel called user-events-2.4. There are: ", result.stderr)


if __name__ == "__main__":
    vm_case.main()
