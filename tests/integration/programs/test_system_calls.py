#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The system calls of the library, as strace(1) shows them, are those that eventlog(7) lists for
each step. An emit without a listener makes none, and so does one that finds room in a buffer.
"""

import os
import re
import subprocess
import unittest

import harness
import host_program

REGISTRATION = "A provider is registered or withdrawn, and in a forked child"
BEGIN = "A subscription begins"
END = "A subscription ends"
FIRST = "A thread emits its first event"
FULL = "A buffer is full, and a request for a snapshot"
SHARED = "An event goes to the shared ring"
USER = "In the directory of a user other than root, when rights are checked"
GROUP = "Of a group and of root of a user namespace, when rights are checked"
KERNEL = "Trace events"
MARK = re.compile(r"^(\d+) +prctl\(0x686f7374[^,]*, (\w+)")
CALL = re.compile(r"^(\d+) +([a-z_0-9]+)\(")
# Of the program itself; getcpu in its sched_getcpu.
OWN_CALLS = {"clone", "exit_group", "getcpu", "poll", "ppoll", "restart_syscall",
             "set_robust_list", "wait4"}
UNPRIVILEGED_USER = 65533


@unittest.skipUnless(harness.can_trace(), "strace cannot trace here")
class SystemCalls(harness.Case):
    def setUp(self):
        super().setUp()
        self.listed = host_program.listed_calls()

    def start_host(self, *wrapper, **options):
        trace = ["strace", "-f", "-o", self.path("trace")]
        return host_program.Host(self, "control", "late", wrapper=[*wrapper, *trace], **options)

    def end_host(self, host):
        (result,) = host_program.finish([host])
        self.assertEqual(result[0], host_program.END_STATUS, result)

    def read_steps(self):
        """[(letter, calls)] of the program by step, "1" for the registration; and the calls of its
        children."""
        steps, children = [], set()
        first = None
        with open(self.path("trace"), encoding="utf-8") as file:
            for line in file:
                if mark := MARK.match(line):
                    first = first or mark[1]
                    steps.append((chr(int(mark[2], 0)), set()))
                elif (call := CALL.match(line)) and steps and call[2] not in OWN_CALLS:
                    (steps[-1][1] if call[1] == first else children).add(call[2])
        return [step for step in steps if step[0] != "0"], children

    def allowed(self, *steps):
        return set().union(*(self.listed[step] for step in steps))

    def check(self, expected):
        """`expected`: for each step of the run, its letter and the steps of the page."""
        steps, children = self.read_steps()
        steps = [step for step in steps if step[0] != "w"]
        self.assertEqual([letter for letter, _ in steps], [letter for letter, *_ in expected])
        for index, ((letter, calls), (_, *names)) in enumerate(zip(steps, expected)):
            unlisted = calls - self.allowed(*names)
            self.assertEqual(unlisted, set(), f"step {index}, {letter}")
        self.assertEqual(children - self.allowed(REGISTRATION, BEGIN, FIRST, KERNEL), set())
        return steps

    def test_without_listener_there_are_none(self):
        host = self.start_host()
        self.assertTrue(host.step("emit", "emit", "burst"))
        self.end_host(host)
        self.check([("1", REGISTRATION, KERNEL), "e", "e", "b", ("q", REGISTRATION, END)])

    def test_listener_that_begins_and_ends(self):
        host = self.start_host()
        self.assertTrue(host.step("emit"))
        recording = self.start_recording("-e", "host_limits:*", "-o", self.path("run.elog"))
        self.assertTrue(host.step("emit", "emit"))
        self.stop(recording)
        self.assertTrue(host.step("emit", "emit"))
        self.end_host(host)
        steps = self.check([("1", REGISTRATION, KERNEL), "e", ("e", BEGIN, FIRST), "e", ("e", END),
                            "e", ("q", REGISTRATION, END)])
        self.assertLessEqual({"openat", "mmap", "pread64", "fallocate"}, steps[2][1])
        self.assertLessEqual({"munmap", "membarrier"}, steps[4][1])

    def test_full_buffers_and_forks(self):
        recording = self.start_recording("-e", "host_limits:*", "-o", self.path("run.elog"),
                                         "--wait", "--buffer-size", "128K")
        host = self.start_host()
        self.assertTrue(host.step("emit"))
        bursts = 0

        def has_woken():
            nonlocal bursts
            self.assertTrue(host.step("burst"))
            bursts += 1
            return "futex" in self.read_steps()[0][-1][1]

        # A full buffer wakes only a recorder that waits.
        self.wait_for(has_woken, "a burst that wakes the recorder")
        self.assertTrue(host.step("fork", "emit"))
        self.end_host(host)
        self.stop(recording)
        steps = self.check([("1", REGISTRATION, BEGIN, KERNEL), ("e", FIRST),
                            *[("b", FULL)] * bursts,
                            ("f", REGISTRATION), ("e", FULL), ("q", REGISTRATION, END)])
        self.assertEqual(steps[1 + bursts][1], {"futex"})

    def test_without_sequences(self):
        self.environment["EVENTLOG_RSEQ"] = "off"
        host = self.start_host()
        self.assertTrue(host.step("emit"))
        recording = self.start_recording("-e", "host_limits:*", "-o", self.path("run.elog"),
                                         "--buffer-size", "128K")
        self.assertTrue(host.step("emit", "emit", "burst"))
        self.stop(recording)
        self.assertTrue(host.step("emit", "emit"))
        self.end_host(host)
        self.check([("1", REGISTRATION, KERNEL), "e", ("e", BEGIN, FIRST, SHARED), ("e", SHARED),
                    ("b", SHARED, FULL), ("e", END), "e", ("q", REGISTRATION, END)])

    def test_request_for_a_snapshot(self):
        host = self.start_host()
        self.run_elog("flight", "start", "flight", "-e", "host_limits:*", "--buffer-size", "128K")
        self.assertTrue(host.step("emit", "request"))
        self.run_elog("flight", "stop", "flight", "--discard")
        self.end_host(host)
        steps = self.check([("1", REGISTRATION, KERNEL), ("e", BEGIN, FIRST), ("p", FULL),
                            ("q", REGISTRATION, END)])
        self.assertEqual(steps[2][1], {"futex"})

    def prepare_user(self, *options):
        """Returns a command that runs another one as a user other than root."""
        as_user = ["setpriv", "--reuid", str(UNPRIVILEGED_USER), "--regid", str(UNPRIVILEGED_USER),
                   "--clear-groups", *options]
        if subprocess.run([*as_user, "strace", "true"], check=False,
                          stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("this container has no other users, or no user namespaces")
        os.chmod(self.scratch, 0o777)
        self.addCleanup(os.umask, os.umask(0))
        return as_user

    def record(self, *command):
        """Runs `elog record` by a command that starts another one."""
        recording = self.start(*command, harness.ELOG, "record", "-e", "host_limits:*", "-o",
                               self.path("run.elog"), "--buffer-size", "128K")
        self.wait_for(lambda: self.is_mapped(recording, "subscriptions")
                      or recording.poll() is not None, "a subscription")
        return recording

    @unittest.skipUnless(os.geteuid() == 0, "takes root")
    def test_of_a_group(self):
        as_member = self.prepare_user()
        for folder, mode in (("", 0o2750), ("/processes", 0o2770), ("/subscriptions", 0o2770)):
            os.mkdir(self.directory + folder)
            os.chown(self.directory + folder, 0, UNPRIVILEGED_USER)
            os.chmod(self.directory + folder, mode)
        host = self.start_host(*as_member)
        self.assertTrue(host.step("emit"))
        recording = self.record()
        self.assertTrue(host.step("emit", "burst"))
        self.stop(recording)
        self.end_host(host)
        steps = self.check([("1", REGISTRATION, GROUP, KERNEL), "e", ("e", BEGIN, FIRST, GROUP),
                            ("b", FULL, GROUP), ("q", REGISTRATION, END)])
        self.assertLessEqual({"fchmod", "getresuid"}, steps[0][1])
        self.assertLessEqual({"getresuid", "getresgid"}, steps[2][1])

    @unittest.skipUnless(os.geteuid() == 0, "takes root")
    def test_of_root_of_a_user_namespace(self):
        in_namespace = self.prepare_user("unshare", "--user", "--map-root-user")
        host = self.start_host(*in_namespace)
        self.assertTrue(host.step("emit"))
        # The user who is root there.
        recording = self.record(*in_namespace[:in_namespace.index("unshare")])
        self.assertTrue(host.step("emit", "burst"))
        self.stop(recording)
        self.end_host(host)
        steps = self.check([("1", REGISTRATION, GROUP, KERNEL), "e", ("e", BEGIN, FIRST, GROUP),
                            ("b", FULL, GROUP), ("q", REGISTRATION, END)])
        self.assertIn("prctl", steps[3][1])

    @unittest.skipUnless(os.geteuid() == 0, "takes root")
    def test_of_a_user(self):
        as_user = self.prepare_user()
        host = self.start_host(*as_user)
        self.assertTrue(host.step("emit"))
        recording = self.record(*as_user)
        self.assertTrue(host.step("emit", "burst", "status"))
        self.assertEqual(sum(host.status()[2][:2]), host.status()[2][3] - 20, host.status())
        self.stop(recording)
        self.end_host(host)
        steps = self.check([("1", REGISTRATION, USER, KERNEL), "e", ("e", BEGIN, FIRST, USER),
                            ("b", FULL, USER), ("s", USER, FIRST, REGISTRATION),
                            ("q", REGISTRATION, END)])
        self.assertLessEqual({"capget", "getresuid"}, steps[0][1])
        self.assertLessEqual({"capget", "getresuid"}, steps[3][1])


if __name__ == "__main__":
    harness.main()
