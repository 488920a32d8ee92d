# SPDX-License-Identifier: MIT
"""A big-endian machine reads recordings: the independent reader on an emulated s390x processor.

The reader runs in Debian's Python for s390x, which is unpacked into the cache and not installed. Each
recording of test_file_format is compared with the result of elog on this machine.
"""

import os
import shutil
import subprocess
import sys
import unittest

import harness
import test_file_format

# In front of the system's folders, which may have a module debian.
sys.path.insert(0, os.path.join(test_file_format.TESTS, "vm", "harness"))

import cache  # noqa: E402  # pylint: disable=wrong-import-position
import debian  # noqa: E402  # pylint: disable=wrong-import-position
import paths  # noqa: E402  # pylint: disable=wrong-import-position

EMULATOR = "qemu-s390x-static"
# Python and the libraries that it loads.
PACKAGES = ["python3.11-minimal", "libpython3.11-minimal", "libc6", "zlib1g", "libexpat1"]


def unpack_python(folder):
    for package in PACKAGES:
        archive = debian.download(package, None, folder, "s390x")
        debian.unpack(archive, folder)
        archive.unlink()


class BigEndianReader(test_file_format.FileFormat):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for program in (EMULATOR, "apt-get", "dpkg-deb"):
            if shutil.which(program) is None:
                raise unittest.SkipTest(f"there is no {program}. `./dev setup test` needs Debian.")
        try:
            root = cache.obtain("programs", "python-s390x", cache.key_of(PACKAGES), unpack_python)
        except paths.HarnessError as problem:
            raise unittest.SkipTest(str(problem)) from problem
        cls.python = (EMULATOR, "-L", str(root), str(root / "usr" / "bin" / "python3.11"), "-B")

    def test_runs_on_a_big_endian_machine(self):
        order = subprocess.run([*self.python, "-c", "import sys; print(sys.byteorder)"],
                               stdout=subprocess.PIPE, encoding="utf-8", check=True)
        self.assertEqual(order.stdout, "big\n")


if __name__ == "__main__":
    harness.main()
