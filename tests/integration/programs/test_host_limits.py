#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A program with limits or in a sandbox behaves as without the library, with and without a
listener. Each case runs a program with the library, and the same one without; output and status
must be equal. The status of the provider has the reason why events are missing.
"""

import collections
import ctypes
import errno
import os
import shutil
import subprocess
import unittest

import harness
import host_program

MEBIBYTE = 1024 * 1024
LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNS = 0x00020000
PRIVATE_MOUNTS = 0x4000 | 0x40000
as_root = unittest.skipUnless(os.geteuid() == 0, "takes root")

PUBLISHED = r"is published in|^$"
UNATTACHED = r"cannot attach to a subscription \(.*\)\. Its events count as unattached"
NO_PLACE = r"(cannot be|is not published|No space|belongs to)"

# A restriction of the program, and the status of its provider: if the restriction precedes the
# registration, and, with a listener that comes afterwards, if it follows.
Row = collections.namedtuple("Row", "name restriction early late")
ROWS = (
    Row("no_address_space", "as=0", f"{PUBLISHED}|{UNATTACHED}", UNATTACHED),
    Row("little_address_space", f"as={MEBIBYTE}", f"{PUBLISHED}|{UNATTACHED}", UNATTACHED),
    Row("no_file_size", "fsize=0", r"limit of file sizes \(ulimit -f\)", PUBLISHED),
    Row("three_descriptors", "nofile=3", r"cannot be opened \(Too many open files\)", UNATTACHED),
    Row("closed_descriptors", "closefrom=3", PUBLISHED, PUBLISHED),
    Row("no_number_of_cpu", "nocpu=1", PUBLISHED, PUBLISHED),
)
ROWS_OF_ROOT = (
    Row("little_locked_memory", "memlock=65536", "cannot be mapped", UNATTACHED),
    Row("root_without_proc", "chroot={root}", NO_PLACE, UNATTACHED),
)

# Denied calls whose effect is the C library's. A failed brk(2) looks like a successful one to
# glibc, so that malloc crashes. Without close(2) all descriptors stay open.
EXCLUDED_CALLS = {"brk", "close"}
# Denied calls that keep a provider from being published, or from being attached.
NEEDED_TO_PUBLISH = {"fallocate", "ftruncate", "geteuid", "getpid", "linkat", "mmap", "newfstatat",
                     "openat", "prlimit64", "pwrite64"}
NEEDED_TO_ATTACH = {"fallocate", "geteuid", "getpid", "mmap", "newfstatat", "openat", "pread64"}


class Limits(harness.Case):
    maxDiff = None
    runs = 0

    def start_listener(self, *options):
        self.runs += 1
        return self.start_recording("-e", "host_limits:*", "-o", self.path(f"run{self.runs}.elog"),
                                    "--wait", *options)

    def compare(self, cases, when, listens, **options):
        """Runs each case {name: restriction}, all at the same time. `listens`: "never", "before"
        the program starts, or "later". Returns {name: (sentence of the status, counters)}."""
        recording = self.start_listener() if listens == "before" else None
        hosts, plain = ([host_program.Host(self, f"{kind}.{name}", when, restriction,
                                           with_library=kind == "library", **options)
                         for name, restriction in cases.items()]
                        for kind in ("library", "plain"))

        def step(*steps):
            hanging = host_program.step_all([*hosts, *plain], *steps)
            self.assertEqual([each.process.args for each in hanging], [], f"hang in {steps}")

        step("restrict", "work")
        if listens == "later":
            recording = self.start_listener()
        step("emit", "work", "callbacks", "fork", "emit", "status")
        found = {name: host.status() for name, host in zip(cases, hosts)}
        if recording is not None:
            self.stop(recording)
        # Not `work`: if the address space is used up, the end of the region makes room again.
        step("emit", "emit", "fork", "callbacks")
        results, expected = host_program.finish(hosts), host_program.finish(plain)
        self.assertEqual(dict(zip(cases, results)), dict(zip(cases, expected)))
        for name, (code, sentence, counters) in found.items():
            self.check_counters(name, listens, code, sentence, counters)
        return found

    def check_counters(self, name, listens, code, sentence, counters):
        """Of a published provider with a listener, each event is written or counted as lost."""
        written, lost, unattached, emits = counters
        is_published = code in (0, 10)
        expected = emits if is_published and listens != "never" else 0
        self.assertEqual(written + lost + unattached, expected, (name, listens, sentence, counters))

    def check_rows(self, rows, listens):
        for when in ("early", "late"):
            found = self.compare({row.name: row.restriction for row in rows}, when, listens)
            for row in rows:
                expected = PUBLISHED
                if when == "early":
                    expected = row.early
                elif listens == "later":
                    expected = row.late
                _, sentence, counters = found[row.name]
                self.assertRegex(sentence, expected, (when, listens, row, counters))

    def test_limits_without_listener(self):
        self.check_rows(ROWS, "never")

    def test_limits_with_listener(self):
        self.check_rows(ROWS, "before")

    def test_limits_when_listener_comes(self):
        self.check_rows(ROWS, "later")

    def test_limits_without_sequences(self):
        self.environment["EVENTLOG_RSEQ"] = "off"
        for listens in ("before", "later"):
            self.check_rows(ROWS, listens)

    @as_root
    def test_limits_of_root(self):
        os.mkdir(self.path("root"))
        rows = [row._replace(restriction=row.restriction.format(root=self.path("root")))
                for row in ROWS_OF_ROOT]
        for listens in ("never", "before", "later"):
            self.check_rows(rows, listens)

    def check_calls(self, error, listens):
        """Denies each call that eventlog(7) lists, one in each program."""
        calls = sorted(set().union(*host_program.listed_calls().values()) - EXCLUDED_CALLS)
        numbers = {call: host_program.system_call_number(call) for call in calls}
        cases = {call: f"deny={number}/{error}" for call, number in numbers.items()
                 if number is not None}
        self.assertGreater(len(cases), 40)
        for when in ("early", "late"):
            found = self.compare(cases, when, listens)
            for call, (code, sentence, _) in found.items():
                case = (call, when, listens, sentence)
                if when == "early" and call in NEEDED_TO_PUBLISH:
                    self.assertIn(code, (2, 3, 4), case)
                    self.assertRegex(sentence, NO_PLACE, case)
                elif listens == "later" and call in NEEDED_TO_ATTACH:
                    self.assertEqual(code, 10, case)
                    self.assertRegex(sentence, UNATTACHED, case)
                elif call not in NEEDED_TO_ATTACH:
                    self.assertEqual(code, 0, case)

    def test_denied_calls_without_listener(self):
        for error in (errno.EPERM, errno.ENOSYS):
            self.check_calls(error, "never")

    def test_denied_calls_with_listener(self):
        for error in (errno.EPERM, errno.ENOSYS):
            self.check_calls(error, "before")

    def test_denied_calls_when_listener_comes(self):
        for error in (errno.EPERM, errno.ENOSYS):
            self.check_calls(error, "later")

    def test_denied_calls_without_sequences(self):
        self.environment["EVENTLOG_RSEQ"] = "off"
        for listens in ("before", "later"):
            self.check_calls(errno.EPERM, listens)


class MemoryGroup(harness.Case):
    """A memory cgroup of 16 MiB. The buffers are charged to the group of the listener."""

    LIMITS = {"/sys/fs/cgroup": "memory.max", "/sys/fs/cgroup/memory": "memory.limit_in_bytes"}

    def make_group(self):
        for parent, limit in self.LIMITS.items():
            path = f"{parent}/eventlog-test-{os.getpid()}"
            try:
                os.mkdir(path)
            except OSError:
                continue
            self.addCleanup(os.rmdir, path)
            if os.path.exists(f"{path}/{limit}"):
                with open(f"{path}/{limit}", "w", encoding="ascii") as file:
                    file.write(str(16 * MEBIBYTE))
                return path
        return self.skipTest("memory cgroups cannot be made here")

    def test_buffers_are_charged_to_listener(self):
        self.assertLess(self.run_in_group(), 8 * MEBIBYTE)

    def test_shared_ring_is_charged_to_program_without_sequences(self):
        self.environment["EVENTLOG_RSEQ"] = "off"
        self.assertGreater(self.run_in_group(), 8 * MEBIBYTE)

    def run_in_group(self):
        """Requires each event to be written or counted. Returns the memory of the group."""
        path = self.make_group()
        enter = ["sh", "-c", f"echo $$ > {path}/cgroup.procs && exec \"$@\"", "sh"]
        # 8 MiB for the ring of each CPU, and as much for the shared ring, which only programs without
        # sequences use.
        recording = self.start_recording("-e", "host_limits:*", "-o", self.path("run.elog"),
                                         "--wait", "--buffer-size", "2x4M")
        host = host_program.Host(self, "library", "late", wrapper=enter)
        self.assertTrue(host.step("emit", "burst", "burst", "burst", "burst", "burst", "fork",
                                  "status"))
        _, sentence, (written, lost, unattached, emits) = host.status()
        self.assertEqual((written + lost, unattached), (emits, 0), sentence)
        usage = next(name for name in ("memory.current", "memory.usage_in_bytes")
                     if os.path.exists(f"{path}/{name}"))
        with open(f"{path}/{usage}", encoding="ascii") as file:
            used = int(file.read())
        self.stop(recording)
        self.assertEqual(host_program.finish([host])[0][0], host_program.END_STATUS)
        return used


@as_root
class Places(harness.Case):
    """The directory on a tmpfs of its own, which is read-only or full."""

    def mount(self, options):
        if LIBC.unshare(CLONE_NEWNS) != 0 or LIBC.mount(b"none", b"/", None, PRIVATE_MOUNTS,
                                                        None) != 0:
            self.skipTest("this container forbids mount namespaces")
        place = self.path("place")
        os.mkdir(place)
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", place], check=True)
        self.addCleanup(shutil.rmtree, self.scratch, ignore_errors=True)
        self.addCleanup(subprocess.run, ["umount", "--lazy", place], check=True)
        self.environment["EVENTLOG_DIR"] = self.directory = f"{place}/eventlog"
        return place

    def compare(self, while_running=lambda: None):
        """Runs the program with the library and without. Returns the status of its provider."""
        hosts = [host_program.Host(self, f"{kind}", "late", with_library=kind == "library")
                 for kind in ("library", "plain")]
        self.assertEqual(host_program.step_all(hosts, "work", "emit"), [])
        while_running()
        self.assertEqual(host_program.step_all(hosts, "emit", "fork", "emit", "status"), [])
        status = hosts[0].status()
        with_library, without = host_program.finish(hosts)
        self.assertEqual(with_library, without)
        return status

    def doctor_items(self, name):
        result = subprocess.run([harness.ELOG, "doctor"], check=False,
                                env=self.environment, capture_output=True, encoding="utf-8")
        return [line for line in result.stdout.splitlines() if line.split()[1] == name]

    @staticmethod
    def fill(place):
        with open(f"{place}/filler", "wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise

    def test_read_only(self):
        self.mount("ro")
        code, sentence, _ = self.compare()
        self.assertEqual(code, 2)
        self.assertIn("Read-only file system", sentence)
        self.assertIn("Read-only file system", self.doctor_items("directory")[0])

    def test_full_at_start(self):
        place = self.mount("size=1M")
        os.mkdir(self.directory, mode=0o700)
        for folder in ("processes", "subscriptions"):
            os.mkdir(f"{self.directory}/{folder}", mode=0o700)
        self.fill(place)
        code, sentence, _ = self.compare()
        self.assertEqual(code, 3)
        self.assertIn("No space for provider", sentence)
        self.assertIn("0 MiB", self.doctor_items("memory")[0])

    def test_full_when_program_runs(self):
        self.check_full_when_program_runs()

    def test_full_when_program_runs_without_sequences(self):
        self.environment["EVENTLOG_RSEQ"] = "off"
        self.check_full_when_program_runs()

    def check_full_when_program_runs(self):
        place = self.mount("size=32M")
        recording = self.start_recording("-e", "host_limits:*", "-o", self.path("run.elog"),
                                         "--wait", "--buffer-size", "128K")
        code, sentence, (written, lost, _, emits) = self.compare(lambda: self.fill(place))
        self.assertEqual((code, written, lost), (0, emits, 0), sentence)
        self.stop(recording)


if __name__ == "__main__":
    harness.main()
