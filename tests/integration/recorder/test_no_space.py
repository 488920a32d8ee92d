#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A full tmpfs causes an error message and no crash, of elog or of the program being recorded."""

import glob
import json
import os
import re
import resource
import subprocess
import unittest

import harness


def cpus(kind):
    """The numbers of the online or the possible CPUs."""
    with open(f"/sys/devices/system/cpu/{kind}", encoding="ascii") as file:
        ranges = [part.split("-") for part in file.read().strip().split(",")]
    return [number for part in ranges for number in range(int(part[0]), int(part[-1]) + 1)]


class NoSpace(harness.Case):
    """Everything runs in a mount namespace of its own, in which the directory is a small tmpfs."""

    def in_small_tmpfs(self, script, kib=256):
        mount = f"mount -t tmpfs -o size={kib}k,mode=0700 small {self.path('small')}"
        self.environment["EVENTLOG_DIR"] = self.path("small/eventlog")
        return subprocess.run(
            ["unshare", "--user", "--map-root-user", "--mount", "/bin/sh", "-c",
             f"set -e; {mount}; {script}"],
            env=self.environment, capture_output=True, encoding="utf-8", check=False,
            timeout=harness.TIMEOUT,
        )

    def setUp(self):
        super().setUp()
        subprocess.run(["mkdir", self.path("small")], check=True)
        probe = self.in_small_tmpfs("true")
        if probe.returncode != 0:
            self.skipTest(f"no namespace to mount a small tmpfs in: {probe.stderr.strip()}")

    def test_for_the_buffers_of_a_recording(self):
        result = self.in_small_tmpfs(
            f"{harness.ELOG} record -e 'counter:*' --wait || echo status $?; "
            f"find {self.path('small')} -type f"
        )
        self.assertIn("MiB to spare for the buffers", result.stderr)
        self.assertIn("--buffer-size", result.stderr)
        self.assertEqual(result.stdout, "status 1\n")

    def test_for_temporary_files(self):
        path = self.path("run.elog")
        self.run_elog("record", "-e", "counter:*", "-o", path, "--", harness.program("counter"),
                      "1", "20000")
        small = self.path("small")
        for command, reason in (
            (f"{harness.ELOG} cut {path} -o -", "No space left"),
            (f"cat {path} | {harness.ELOG} print -", "half of the free space"),
        ):
            result = self.in_small_tmpfs(f"export TMPDIR={small}; {command} | wc -c", kib=64)
            self.assertEqual(result.stdout.split(), ["0"])
            self.assert_one_message(result.stderr, small, reason, "Set TMPDIR")

    def test_for_a_recording_ends_it_with_counted_losses(self):
        small, counter = self.path("small"), harness.program("counter")
        result = self.in_small_tmpfs(
            f"unset EVENTLOG_DIR; {harness.ELOG} record -e 'counter:*' --buffer-size 1M "
            f"-o {small}/run.elog -- {counter} 1 60000 > /dev/null || echo status $?; "
            f"cat {small}/run.elog > {self.path('run.elog')}",
            kib=1024,
        )
        self.assertEqual(result.stdout, "status 1\n", result.stderr)
        missing = re.search(r"run.elog cannot be written any further \(No space left on device\). "
                            r".* (\d+) events did not reach it\.", result.stderr)
        self.assertIsNotNone(missing, result.stderr)
        found = self.run_elog("verify", self.path("run.elog"))
        self.assertIn("whole, ended by a full disk", found.stdout)
        state = json.loads(self.run_elog("verify", self.path("run.elog"), "--json").stdout)
        self.assertEqual((state["state"], state["end_reason"]), ("whole", "disk_full"))
        counts = json.loads(self.run_elog("stat", self.path("run.elog"), "--json").stdout)
        self.assertEqual(counts["lost_by_reason"]["unwritten"], int(missing[1]))
        self.assertGreater(counts["lost_by_reason"]["unwritten"], 0)
        self.assertEqual(counts["events"], state["events"])
        self.assertGreater(counts["events"], 1000)
        shown = self.run_elog("print", self.path("run.elog")).stdout
        self.assertRegex(shown, rf"-- lost \d+ events (on CPU \d+|in the shared ring): unwritten --")

    def test_before_a_command_starts_keeps_the_replaced_recording(self):
        small = self.path("small")
        result = self.in_small_tmpfs(
            f"unset EVENTLOG_DIR; echo precious > {small}/run.elog; "
            f"head -c 100k /dev/zero > {small}/filling 2>/dev/null || true; "
            f"{harness.ELOG} record --force -o {small}/run.elog -- /bin/echo started "
            f"|| echo status $?; cat {small}/run.elog; ls {small}",
            kib=16,
        )
        self.assertEqual(result.stdout, "status 1\nprecious\nfilling\nrun.elog\n", result.stderr)
        self.assertIn("No space left on device", result.stderr)

    def test_before_a_recording_begins_leaves_no_file(self):
        small, link = self.path("small"), self.path("link.elog")
        os.symlink(f"{small}/run.elog", link)
        for output, left in ((f"-o {small}/run.elog", ""), (f"--force -o {link}", ""),
                             (f"--compress -o {small}/run.elog", ""),
                             (f"-o - > {small}/run.elog", "run.elog\n")):
            with self.subTest(output=output):
                result = self.in_small_tmpfs(
                    "unset EVENTLOG_DIR; "
                    f"head -c 100k /dev/zero > {small}/filling 2>/dev/null || true; "
                    f"{harness.ELOG} record -e 'counter:*' --wait {output} || echo status $?; "
                    f"ls {small}",
                    kib=16,
                )
                self.assertEqual(result.stdout, f"status 1\nfilling\n{left}", result.stderr)
                self.assertIn("No space left on device", result.stderr)

    def test_for_the_files_of_a_rotated_recording(self):
        small, counter, copies = self.path("small"), harness.program("counter"), self.path("copies")
        result = self.in_small_tmpfs(
            f"unset EVENTLOG_DIR; mkdir {copies}; "
            f"{harness.ELOG} record -e 'counter:*' --buffer-size 1M --rotate 1M --json "
            f"-o {small}/run.elog -- {counter} 1 200000 > {copies}/summary 2>&1 || echo status $?; "
            f"cp {small}/run-*.elog {copies}",
            kib=2500,
        )
        self.assertEqual(result.stdout, "status 1\n", result.stderr)
        with open(f"{copies}/summary", encoding="utf-8") as file:
            lines = file.read().splitlines()
        summary = next(json.loads(line) for line in lines if line.startswith("{"))
        unwritten = summary["lost_by_reason"]["unwritten"]
        self.assertTrue(any(f" {unwritten} events did not reach it." in line for line in lines), lines)
        # The recording ends while the program may still emit.
        self.assertLessEqual(summary["events"] + summary["lost"], 200000)
        self.assertEqual(summary["file_events"], summary["events"])
        self.assertEqual(sum(cpu["lost"] for cpu in summary["by_cpu"]), summary["lost"])
        parts = sorted(glob.glob(f"{copies}/run-*.elog"))
        self.assertGreater(len(parts), 1)
        states = [json.loads(self.run_elog("verify", part, "--json").stdout) for part in parts]
        self.assertEqual([state["end_reason"] for state in states],
                         ["regular"] * (len(parts) - 1) + ["disk_full"])
        self.assertEqual(sum(state["events"] for state in states), summary["events"])
        last = json.loads(self.run_elog("stat", parts[-1], "--json").stdout)
        self.assertEqual(last["lost_by_reason"]["unwritten"], unwritten)

    def record_freeing_slowly(self, paths, options, *, before="", kib, faults=()):
        """Records 200,000 events. A thread frees the space of a removed file when it closes it, which is
        its first call: a tracer delays that for longer than filling the next file takes.
        """
        small, counter = self.path("small"), harness.program("counter")
        traced = ["strace", "-f", "-qq", "-o", "/dev/null"]
        for path in paths:
            traced += ["-P", f"{small}/{path}"]
        traced += ["-e", "trace=close,fallocate"]
        for fault in ("close:delay_enter=700ms:when=1", *faults):
            traced += ["-e", f"inject={fault}"]
        self.environment["EVENTLOG_TEST_COMPACTION"] = "1"
        # Leaks cannot be searched under a tracer.
        sanitizer = self.environment.get("ASAN_OPTIONS")
        self.environment["ASAN_OPTIONS"] = f"{sanitizer or ''}:detect_leaks=0".lstrip(":")
        result = self.in_small_tmpfs(
            f"unset EVENTLOG_DIR; {before} {' '.join(traced)} {harness.ELOG} record -e 'counter:*' "
            f"--buffer-size 8M {options} -o {small}/run.elog -- {counter} 1 200000 "
            f"> /dev/null || echo status $?; ls {small}",
            kib=kib,
        )
        self.assertRegex(result.stderr, r"(?m)^200000 events, \d+ bytes, 0 lost")
        return result.stdout

    @unittest.skipUnless(harness.can_trace(), "strace cannot trace here")
    def test_waits_for_the_space_of_removed_files(self):
        parts = [f"run-{number:06}.elog" for number in range(1, 20)]
        for faults in ((), ("fallocate:error=EOPNOTSUPP",)):
            with self.subTest(faults=faults):
                left = self.record_freeing_slowly(parts, "--rotate 1M --keep 1", kib=1500,
                                                  faults=faults)
                self.assertRegex(left, r"\Arun-0000(0[6-9]|1\d)[.]elog\n\Z")

    @unittest.skipUnless(harness.can_trace(), "strace cannot trace here")
    def test_waits_for_the_space_of_a_replaced_file(self):
        old = self.path("old.elog")
        self.run_elog("record", "-e", "counter:*", "-o", old, "--", harness.program("counter"),
                      "1", "150000")
        small = self.path("small")
        # The name that a replaced file has until the command starts is not known in advance.
        left = self.record_freeing_slowly([], "--force", kib=9000,
                                          before=f"cp {old} {small}/run.elog;")
        self.assertEqual(left, "run.elog\n")

    def test_for_a_provider(self):
        fill = f"head -c 300k /dev/zero > {self.path('small')}/filling 2>/dev/null || true"
        result = self.in_small_tmpfs(
            f"mkdir -p {self.path('small')}/eventlog/processes "
            f"{self.path('small')}/eventlog/subscriptions; "
            f"chmod 700 {self.path('small')}/eventlog {self.path('small')}/eventlog/*; "
            f"{fill}; {harness.program('status')}"
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        code, sentence = result.stdout.splitlines()
        self.assertEqual(code, "3")
        self.assertIn("No space for provider asker", sentence)

    def record_without_room_for_the_shared_ring(self, rseq):
        """There is room for a subscription and a program's file, but for no buffer of the shared
        ring."""
        result = self.in_small_tmpfs(
            f"export EVENTLOG_RSEQ={rseq}; "
            f"{harness.ELOG} record -e 'counter:*' --wait --buffer-size 128K "
            f"-o {self.path('run.elog')} -- {harness.program('counter')} 1 1000",
            kib=4 * 128 * len(cpus("online")) + len(cpus("possible")) // 4 + 100,
        )
        self.assertIn("attempted 1000", result.stdout, result.stderr)
        return self.summary(result.stderr), result

    @unittest.skipUnless(harness.IS_SHARED_RING_LAZY, "the shared ring is reserved at once")
    def test_for_the_shared_ring_loses_events_and_counts_them(self):
        (events, _, lost), result = self.record_without_room_for_the_shared_ring("off")
        self.assertEqual((events, lost), (0, 1000))
        self.assertRegex(result.stderr, "elog: 1000 events found no memory for the shared ring. "
                         "Free some in .*/small/eventlog, or set EVENTLOG_DIR to a larger tmpfs")
        self.assertNotIn("Make them larger", result.stderr)
        told = self.run_elog("print", self.path("run.elog")).stdout
        self.assertIn("-- lost 1000 events in the shared ring: full --", told)

    @unittest.skipUnless(harness.IS_SHARED_RING_LAZY, "the shared ring is reserved at once")
    @unittest.skipIf(harness.IS_SHARED, "all threads write to the shared ring")
    def test_for_the_shared_ring_does_not_affect_rseq_processes(self):
        (events, _, lost), _ = self.record_without_room_for_the_shared_ring("on")
        self.assertEqual((events, lost), (1000, 0))


class FileSize(harness.Case):
    """The limit on the size of a file, which may be lowered at any time."""

    def test_ends_a_recording_with_counted_losses(self):
        path = self.path("run.elog")
        recorder = self.start_recording("-e", "counter:*", "--wait", "--json", "-o", path)
        resource.prlimit(recorder.pid, resource.RLIMIT_FSIZE, (400_000, 400_000))
        subprocess.run([harness.program("counter"), "1", "60000"], env=self.environment, check=True,
                       stdout=subprocess.DEVNULL)
        output, errors = self.finish(recorder, 1)
        summary = json.loads(output)
        unwritten = summary["lost_by_reason"]["unwritten"]
        self.assertIn("(File too large). Raise the limit with ulimit -f, or write it elsewhere. "
                      f"{unwritten} events did not reach it.", errors)
        state = json.loads(self.run_elog("verify", path, "--json").stdout)
        self.assertEqual((state["state"], state["end_reason"]), ("whole", "too_large"))
        self.assertEqual(state["events"], summary["file_events"])
        self.assertLessEqual(state["file_bytes"], 400_000)
        self.assertIn("whole, ended by the limit on the size of a file",
                      self.run_elog("verify", path).stdout)


if __name__ == "__main__":
    harness.main()
