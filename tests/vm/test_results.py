#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The harness collects the files of a command from the guest."""

import hashlib

import vm_case

SCRIPT = """
mkdir -p /tmp/left/deeper
echo "by $(id -un)" >/tmp/left/deeper/file
dd if=/dev/urandom of=/tmp/left/large bs=64k count=64 2>/dev/null
sha256sum </tmp/left/large
seq 1 100000 >&2
cat /given
exit 42
"""


class Results(vm_case.Case):
    """One guest that leaves something of every kind."""

    @classmethod
    def setUpClass(cls):
        cls.kernel = vm_case.any_kernel()
        cls.result = cls.run_guest(
            cls.kernel,
            ["sh", "-c", SCRIPT],
            files={"/given": __file__},
            collect=("/tmp/left", "/tmp/nothing"),
            user="user",
        )

    def test_exit_status(self):
        self.assertIsNone(self.result.problem())
        self.assertEqual(self.result.status, 42)

    def test_output_and_errors_are_apart_and_whole(self):
        self.assertEqual(self.result.errors, "".join(f"{i}\n" for i in range(1, 100001)))
        with open(__file__, encoding="utf-8") as file:
            given = file.read()
        self.assertEqual(self.result.output.split("\n", 1)[1], given)

    def test_files(self):
        self.assertEqual(vm_case.text(self.result, "/tmp/left/deeper/file"), "by user\n")

    def test_large_files_are_whole(self):
        content = (self.result.files / "tmp/left/large").read_bytes()
        self.assertEqual(len(content), 64 * 65536)
        self.assertEqual(
            self.result.output.split()[0], hashlib.sha256(content).hexdigest()
        )

    def test_kernel_log(self):
        self.assertIn(f"Linux version {self.kernel.release}", self.result.log)


class Python(vm_case.Case):
    """Python in the guest."""

    def test_script(self):
        result = self.run_successfully(
            vm_case.any_kernel(),
            ["python3", "-c", "import ctypes, os, subprocess; print(os.cpu_count())"],
            python=True,
            processors=2,
        )
        self.assertEqual(result.output, "2\n")


if __name__ == "__main__":
    vm_case.main()
