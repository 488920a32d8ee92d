#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""In a user namespace a program publishes to the namespace's root, and to the user who created it, if
these may trace it."""

import json
import os
import re
import shutil
import subprocess
import unittest

import harness
import other_users
import rights
from rights import ANNE, COMMON, PRIVILEGED

# Run by a shell before the program: memory and a directory that belong to the namespace's root.
OWN_MEMORY = "mount -t tmpfs -o mode=1777 tmpfs /dev/shm"
OWN_GROUP = (f"mount -t tmpfs tmpfs /run && mkdir -m 2750 {COMMON} && "
             f"mkdir -m 2770 {COMMON}/processes {COMMON}/subscriptions")


class Case(rights.Case):
    def as_own_root(self, script, *steps):
        """The words that run a script, then the program, as root of a namespace of ANNE."""
        return (*self.in_user_namespace("--map-root-user", "--mount"), "sh", "-c",
                f'{script} && exec "$@"', "sh", self.program, *steps)


@unittest.skipIf(other_users.SKIP_REASON is not None, other_users.SKIP_REASON)
class UnreadablePrograms(Case):
    """ANNE may execute the program and not read it, which root of her own namespace may not either."""

    def setUp(self):
        super().setUp()
        os.chmod(self.program, 0o711)

    def check_hidden(self, script, *steps, reader="user 0"):
        code, _, _, sentence = self.status_of(ANNE, *self.as_own_root(script, *steps, "define",
                                                                      "status"))
        self.assertEqual(code, PRIVILEGED, sentence)
        self.assertIn(f"hidden from {reader}", sentence)
        self.assertIn("its file is unreadable", sentence)

    def test_are_hidden_from_own_root(self):
        self.check_hidden(OWN_MEMORY)

    def test_are_hidden_from_an_own_group(self):
        self.check_hidden(f"{OWN_MEMORY} && {OWN_GROUP}", reader="the group")

    def test_ignore_a_forged_proc(self):
        script = (f"{OWN_MEMORY} && mkdir -p /dev/shm/proc/self /dev/shm/true && "
                  "mount --rbind /proc /dev/shm/true && touch /dev/shm/proc/self/maps && "
                  "ln -s /dev/shm/true/self/fd /dev/shm/proc/self/fd")
        self.check_hidden(script, "bind:/dev/shm/proc:/proc")

    def test_ignore_a_file_of_another_process(self):
        # The shell's child belongs to root of the namespace.
        bind = '"bind:/proc/$!/maps:/proc/self/maps"'
        self.check_hidden(f"{OWN_MEMORY} && {{ sleep 60 >&- 2>&- & }} && "
                          f'set -- "$1" {bind} "$2" "$3"')

    def test_are_recorded_by_root_of_the_machine(self):
        code, _, _, sentence = self.status_of(0, self.program, "define", "status")
        self.assertEqual(code, 0, sentence)


@unittest.skipIf(other_users.SKIP_REASON is not None, other_users.SKIP_REASON)
class ReadablePrograms(Case):
    def test_bubblewrap(self):
        self.in_user_namespace()
        if shutil.which("bwrap") is None:
            self.skipTest("bubblewrap is not installed")
        process = self.start_steps(ANNE, "bwrap", "--bind", "/", "/", "--dev-bind", "/dev", "/dev",
                                   "--unshare-user", "--die-with-parent", self.program, *self.STEPS)
        self.check_recorded(ANNE, process)

    def test_user_of_a_sandbox(self):
        inside = self.in_user_namespace("--map-current-user", "--mount")
        process = self.start_steps(ANNE, *inside, self.program, *self.STEPS)
        self.check_recorded(ANNE, process)

    def with_capabilities(self):
        inside = self.in_user_namespace("--map-current-user", "--keep-caps")
        shown = subprocess.run([*inside, "cat", "/proc/self/status"], check=True, user=ANNE,
                               group=ANNE, extra_groups=[], stdout=subprocess.PIPE,
                               encoding="utf-8").stdout
        self.assertNotEqual(int(re.search(r"CapPrm:\s*(\w+)", shown)[1], 16), 0)
        return inside

    def test_capabilities_in_a_namespace_of_the_user(self):
        process = self.start_steps(ANNE, *self.with_capabilities(), self.program, *self.STEPS)
        self.check_recorded(ANNE, process)

    def check_canceled_thread(self, **variables):
        """The check of capabilities opens a file, and a thread is not canceled there."""
        self.environment.update(variables)
        recording = self.start_recording_as(ANNE, "canceled.elog")
        process = self.start_steps(ANNE, *self.with_capabilities(), self.program, "define", "emit:1",
                                   "emit_canceled:2000", "status")
        self.check_buffers(self.parse(self.finish(process)[0]), recording, 2001)

    def test_emit_is_no_cancellation_point(self):
        self.check_canceled_thread()

    def test_emit_to_the_shared_ring_is_no_cancellation_point(self):
        self.check_canceled_thread(EVENTLOG_RSEQ="off")

    def test_program_that_moves_to_a_namespace(self):
        self.in_user_namespace()
        process = self.start_steps(ANNE, self.program, "define", "unshare", "emit:1", "wait",
                                   "emit:2000", "status", "wait")
        self.check_recorded(ANNE, process)

    def test_root_in_a_container(self):
        code, _, _, sentence = self.status_of(ANNE, *self.as_own_root(OWN_MEMORY, "define", "status"))
        self.assertEqual(code, 0, sentence)
        self.assertIn(f"/dev/shm/eventlog-{ANNE}", sentence)

    # As root of a namespace below another one that maps root.
    NESTED = ("unshare", "--user", "--map-root-user")

    def test_root_below_two_namespaces_does_not_take_the_name_of_root(self):
        inside = self.in_user_namespace("--map-root-user")
        process = self.start_steps(ANNE, *inside, *self.NESTED, self.program, "define", "status",
                                   "wait")
        ((code, _, _, sentence),) = self.reach(process)
        self.assertEqual(code, 0, sentence)
        number = os.stat(f"/proc/{process.pid}/ns/user").st_ino
        path = f"/dev/shm/eventlog-userns-{number}"
        self.assertIn(f"published in {path}.", sentence)
        self.assertEqual(os.stat(path).st_uid, ANNE)
        self.assertFalse(os.path.lexists("/dev/shm/eventlog-0"))
        # Nor does a program of root move anything away.
        self.start_counter_as(0)
        made = [name for name in os.listdir("/dev/shm") if not name.startswith("eventlog-test-")]
        self.assertEqual(sorted(made), ["eventlog-0", f"eventlog-userns-{number}"])
        self.go_on(process)
        self.finish(process)

    def test_root_below_two_namespaces_is_recorded_there(self):
        inside = self.in_user_namespace("--map-root-user")
        script = '"$1" record -o - -- "$2" define emit:10 | "$1" print - | wc -l'
        process = self.start_steps(ANNE, *inside, *self.NESTED, "sh", "-c", script, "sh", self.elog,
                                   self.program)
        output, errors = self.finish(process)
        self.assertEqual((output, self.summary(errors)[::2]), ("10\n", (10, 0)))

    def test_doctor_explains_the_directory_below_two_namespaces(self):
        inside = self.in_user_namespace("--map-root-user")
        for nested, expected in ((self.NESTED, True), ((), False)):
            process = self.start_as(ANNE, *inside, *nested, self.elog, "doctor", "--json")
            self.expect(process, 1)
            rows = json.loads(process.communicate(timeout=harness.TIMEOUT)[0])["checks"]
            (row,) = (row for row in rows if row["name"] == "directory")
            self.assertEqual("set EVENTLOG_DIR to one directory for both" in row["text"], expected, row)
            self.assertEqual(row["state"], "note" if expected else "ok")

    def test_root_of_the_machine_keeps_its_directory_in_namespaces(self):
        for command in (self.NESTED, (*self.NESTED, *self.NESTED)):
            code, _, _, sentence = self.status_of(0, *command, self.program, "define", "status")
            self.assertEqual(code, 0, sentence)
            self.assertIn("published in /dev/shm/eventlog-0.", sentence)

    def test_key_store_of_own_root_stays_readable(self):
        """The program was started in the namespace, so root there may trace it after prctl as well."""
        code, _, _, sentence = self.status_of(
            ANNE, *self.as_own_root(OWN_MEMORY, "define", "undumpable", "status"))
        self.assertEqual(code, 0, sentence)

    def test_key_store_that_moved_to_a_namespace_stops_being_readable(self):
        self.in_user_namespace()
        code, _, _, sentence = self.status_of(ANNE, self.program, "unshare", "define", "undumpable",
                                              "status")
        self.assertEqual(code, PRIVILEGED, sentence)

    def map_users(self, process):
        """Gives the namespace that a process creates two users, ANNE as root and BERT."""
        own = os.readlink("/proc/self/ns/user")
        self.wait_for(lambda: os.readlink(f"/proc/{process.pid}/ns/user") != own, "a namespace")
        for name in ("uid_map", "gid_map"):
            with open(f"/proc/{process.pid}/{name}", "w", encoding="utf-8") as file:
                file.write(f"0 {ANNE} 2\n")

    def test_doctor_shows_no_root_of_a_container(self):
        """Of another owner than its root: the capabilities of root are no obstacle."""
        container = self.start("unshare", "--user", "sleep", "100")
        self.map_users(container)
        os.mkdir("/dev/shm/inner", 0o700)
        os.chown("/dev/shm/inner", ANNE, ANNE)
        process = self.start("nsenter", "--user", "--target", str(container.pid), "--setuid", "0",
                             "--setgid", "0", *self.counter, cwd="/",
                             env={**self.environment, "EVENTLOG_DIR": "/dev/shm/inner/eventlog"})
        self.wait_for(lambda: self.files_in("/dev/shm/inner/eventlog/processes", process), "a provider")
        self.assertNotEqual(int(other_users.status_of(process.pid, "CapPrm")[0], 16), 0)
        self.assertEqual(int(other_users.status_of(process.pid, "Uid")[0]), ANNE)
        self.assertEqual(self.hidden_programs(0), [])

    def test_root_daemon_of_a_container_that_drops_its_rights(self):
        self.in_user_namespace()
        process = self.start_steps(
            ANNE, "unshare", "--user", "--mount", "sh", "-c", f'read _ && {OWN_MEMORY} && exec "$@"',
            "sh", self.program, "define", "setuid:1", "status")
        self.map_users(process)
        self.go_on(process)
        code, _, _, sentence = self.parse(self.finish(process)[0])
        self.assertEqual(code, 0, sentence)
        self.assertIn(f"/dev/shm/eventlog-{ANNE}", sentence)


if __name__ == "__main__":
    rights.harness.main()
