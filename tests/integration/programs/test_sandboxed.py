#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A program without access to its directory, without a trusted environment or without restartable
sequences continues to run, and reports the remedy, if there is one.
"""

import collections
import errno
import os
import pathlib
import re
import shutil
import struct
import subprocess
import unittest

import harness

OVERFLOW_USER = 65534
UNPRIVILEGED_USER = 65533
RSEQ = {"x86_64": 334, "aarch64": 293}  # the number of rseq(2), by machine
BLOCK = struct.Struct("<4sHHIIQII")  # of a .elog file, see elog(5)
as_root = unittest.skipUnless(os.geteuid() == 0, "takes root")


class Confined(harness.Case):
    def setUp(self):
        super().setUp()
        # The leak checker of AddressSanitizer fails without access to /proc.
        options = self.environment.get("ASAN_OPTIONS")
        self.environment["ASAN_OPTIONS"] = f"{options}:detect_leaks=0" if options else "detect_leaks=0"

    def run_confined(self, *arguments):
        """{place: (code, sentence)} from the program's output."""
        result = self.run_elog(
            "record", "-e", "confined:*", "-o", self.path("run.elog"), "--",
            harness.program("sandboxed"), *arguments,
        )
        self.assertNotIn("exit status", result.stderr, result.stdout)
        # The child cannot emit; the program itself emits before and afterwards.
        text = self.run_elog("print", self.path("run.elog")).stdout
        self.assertEqual(re.findall(r"confined:cry number=(\d)$", text, re.MULTILINE),
                         ["1", "2", "4"])
        said = re.findall(r"^(\w+) (\d) (.*)$", result.stdout, re.MULTILINE)
        places = {place: (int(code), sentence) for place, code, sentence in said}
        self.assertEqual(places["outside"][0], 0)
        self.assertEqual(places["inside"][0], 0)
        return places

    @as_root
    def test_in_a_root_of_its_own_without_a_directory(self):
        os.mkdir(self.path("root"))
        code, sentence = self.run_confined("chroot", self.path("root"))["child"]
        self.assertEqual(code, 2)
        self.assertRegex(sentence, r"cannot be made .* Set EVENTLOG_DIR to a directory of your own")

    @as_root
    def test_in_a_root_of_its_own_with_a_directory_and_without_proc(self):
        pathlib.Path(self.path("root") + self.directory).parent.mkdir(parents=True)
        code, sentence = self.run_confined("chroot", self.path("root"))["child"]
        self.assertEqual(code, 2)
        self.assertIn("Check that /proc is mounted", sentence)

    @as_root
    def test_as_a_user_who_may_not_read_the_directory(self):
        code, sentence = self.run_confined("user", str(OVERFLOW_USER))["child"]
        self.assertEqual(code, 2)
        self.assertRegex(sentence, r"cannot be .* Set EVENTLOG_DIR to a directory of your own")

    def test_disabled_emits_nothing(self):
        self.environment["EVENTLOG"] = "off"
        result = self.run_elog("record", "-e", "counter:*", "--wait", "--",
                               harness.program("counter"), "2", "1000")
        self.assertIn("attempted 2000", result.stdout)
        self.assertEqual(self.summary(result.stderr), (0, 0, 0))
        self.assertEqual(self.names("processes"), [])

    def test_library_reads_environment_only_with_secure_getenv(self):
        result = subprocess.run(["nm", "--dynamic", "--undefined-only", harness.LIBRARY],
                                check=True, stdout=subprocess.PIPE, encoding="utf-8")
        imported = {line.split()[-1].split("@")[0] for line in result.stdout.splitlines()}
        self.assertIn("secure_getenv", imported)
        self.assertEqual(imported & {"getenv", "environ", "__environ", "_environ"}, set())

    def prepare_mounts(self):
        """Requires a mount namespace, so that the script leaves nothing in the real /dev/shm, and a
        setgid file there is permitted."""
        if subprocess.run(["unshare", "--mount", "true"], check=False,
                          stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("this container forbids mount namespaces")
        with open(harness.program("status_static"), "rb") as file:
            if b"__asan_init" in file.read():
                self.skipTest("AddressSanitizer's leak checker may not look into such a program")

    def rings_of(self, name):
        """The ring of each record: "shared", or "own" for that of a CPU."""
        with open(self.path(name), "rb") as file:
            content = file.read()
        at = harness.FILE_HEADER_SIZE
        rings, count = [], 0
        while at < len(content):
            mark, kind, _, size, *_ = BLOCK.unpack_from(content, at)
            self.assertEqual(mark, b"EBLK")
            at += BLOCK.size
            if kind == 9:
                count = struct.unpack_from("<I", content, at + 8)[0]
            elif kind == 4:
                ring, records = struct.unpack_from("<6xHQ", content, at)
                rings += ["shared" if ring == count - 1 else "own"] * records
            at += (size + 7) // 8 * 8
        return rings

    def run_without_sequences(self, *command, **options):
        """Requires every event of a program to arrive through the shared ring."""
        self.environment.pop("EVENTLOG_RSEQ", None)  # the environment does not disable them
        result = self.run_elog("record", "-e", "counter:*", "-o", self.path("run.elog"), "--wait",
                               "--", *command, "1", "5000", **options)
        self.assertIn("attempted 5000", result.stdout)
        events, _, lost = self.summary(result.stderr)
        self.assertEqual((events, lost), (5000, 0))
        self.assertEqual(collections.Counter(self.rings_of("run.elog")), {"shared": 5000})

    def test_under_valgrind_uses_the_shared_ring(self):
        with open(harness.program("counter"), "rb") as file:
            if re.search(rb"__[at]san_init", file.read()):
                self.skipTest("valgrind does not run what has a sanitizer's runtime")
        # Valgrind 3.19 fails at the debug information of clang 14.
        folder = os.path.dirname(harness.LIBRARY)
        libraries = [os.path.join(folder, name) for name in os.listdir(folder)
                     if name.startswith("libeventlog.so")]
        os.mkdir(self.path("stripped"))
        for path in (harness.program("counter"), *libraries):
            subprocess.run(["objcopy", "--strip-debug", os.path.realpath(path),
                            self.path(os.path.join("stripped", os.path.basename(path)))],
                           check=True)
        self.environment["LD_LIBRARY_PATH"] = self.path("stripped")
        self.run_without_sequences("valgrind", "--quiet", "--error-exitcode=3",
                                   self.path("stripped/counter"))

    @unittest.skipUnless(os.uname().machine in RSEQ, "the number of rseq is not known")
    def test_without_rseq_uses_the_shared_ring(self):
        def deny_rseq():
            harness.deny_syscall(RSEQ[os.uname().machine], errno.ENOSYS)

        self.run_without_sequences(harness.program("counter"), preexec_fn=deny_rseq)

    @as_root
    def test_setgid_program_uses_rseq(self):
        self.prepare_mounts()
        shutil.copy(harness.program("status_static"), self.path("status"))
        # The same user, so that elog finds the program: another group is enough to distrust the
        # environment.
        script = f"""
            set -e
            mount -t tmpfs -o mode=755 tmpfs /mnt
            cp {self.path('status')} /mnt/plain
            cp {self.path('status')} /mnt/setgid
            chgrp {OVERFLOW_USER} /mnt/setgid
            chmod 2755 /mnt/setgid
            mkdir /mnt/out
            mount --bind {self.scratch} /mnt/out
            mount -t tmpfs -o mode=1777 tmpfs /dev/shm
            unset EVENTLOG_DIR EVENTLOG_RSEQ
            {harness.ELOG} record -e asker -o /mnt/out/usual -- /mnt/plain
            export EVENTLOG_RSEQ=off
            {harness.ELOG} record -e asker -o /mnt/out/forbidden -- /mnt/plain
            {harness.ELOG} record -e asker -o /mnt/out/unbelieved -- /mnt/setgid
        """
        result = subprocess.run(["unshare", "--mount", "sh", "-c", script], check=False,
                                env=self.environment, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, encoding="utf-8")
        self.assertEqual(result.returncode, 0, result.stderr)
        if self.rings_of("usual") == ["shared"]:
            self.skipTest("there are no restartable sequences here")
        self.assertEqual(self.rings_of("usual"), ["own"])
        self.assertEqual(self.rings_of("forbidden"), ["shared"])
        self.assertEqual(self.rings_of("unbelieved"), ["own"])

    @as_root
    def test_setuid_program_ignores_environment(self):
        self.prepare_mounts()
        shutil.copy(harness.program("status_static"), self.path("status"))
        script = f"""
            set -e
            mount -t tmpfs -o mode=1777 tmpfs /mnt
            cp {self.path('status')} /mnt/plain
            cp {self.path('status')} /mnt/setuid
            chmod 4755 /mnt/setuid
            mount -t tmpfs -o mode=1777 tmpfs /dev/shm
            mkdir -m 700 /mnt/own
            chown {UNPRIVILEGED_USER} /mnt/own
            export EVENTLOG_DIR=/mnt/own/eventlog
            setpriv --reuid {UNPRIVILEGED_USER} --clear-groups /mnt/plain
            setpriv --reuid {UNPRIVILEGED_USER} --clear-groups /mnt/setuid
            EVENTLOG=off setpriv --reuid {UNPRIVILEGED_USER} --clear-groups /mnt/plain
            EVENTLOG=off setpriv --reuid {UNPRIVILEGED_USER} --clear-groups /mnt/setuid
            ls /dev/shm
        """
        result = subprocess.run(["unshare", "--mount", "sh", "-c", script], check=False,
                                env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = result.stdout.splitlines()
        self.assertEqual(lines[::2], ["0", "0", "1", "0", "eventlog-0"], result.stdout)
        self.assertIn("/mnt/own/eventlog", lines[1])
        self.assertIn("/dev/shm/eventlog-0", lines[3])
        self.assertIn("EVENTLOG=off", lines[5])
        self.assertIn("/dev/shm/eventlog-0", lines[7])


if __name__ == "__main__":
    harness.main()
