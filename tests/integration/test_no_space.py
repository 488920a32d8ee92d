#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A full tmpfs is a sentence, never a crash: of elog, or of the program that would be listened to."""

import subprocess

import harness


class NoSpace(harness.Case):
    """Everything runs in a mount namespace of its own, where the directory is a tmpfs of 256 KiB."""

    def in_small_tmpfs(self, script):
        mount = f"mount -t tmpfs -o size=256k,mode=0700 small {self.path('small')}"
        self.environment["EVENTLOG_DIR"] = self.path("small/eventlog")
        return subprocess.run(
            ["unshare", "--user", "--map-root-user", "--mount", "/bin/sh", "-c",
             f"set -e; {mount}; {script}"],
            env=self.environment, capture_output=True, encoding="utf-8", check=False,
            timeout=harness.PATIENCE,
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

    def test_for_a_provider(self):
        fill = f"head -c 300k /dev/zero > {self.path('small')}/filling 2>/dev/null || true"
        result = self.in_small_tmpfs(
            f"mkdir -p {self.path('small')}/eventlog/providers "
            f"{self.path('small')}/eventlog/subscriptions; "
            f"chmod 700 {self.path('small')}/eventlog {self.path('small')}/eventlog/*; "
            f"{fill}; {harness.program('status')}"
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        code, sentence = result.stdout.splitlines()
        self.assertEqual(code, "3")
        self.assertIn("No space for provider asker", sentence)


if __name__ == "__main__":
    harness.main()
