#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A program with more rights than its user does not publish to that user; every other one does."""

import json
import os
import subprocess
import unittest

import harness
import other_users
import rights
from rights import ANNE, BERT, COMMON, EVENTS_OF_A_BUFFER, GROUP, PRIVILEGED


@unittest.skipIf(other_users.SKIP_REASON is not None, other_users.SKIP_REASON)
class MoreRights(rights.Case):
    def check_hidden(self, user, reason, *command, groups=()):
        steps = command if "define" in command else (*command, "define", "status")
        code, _, _, sentence = self.status_of(user, *steps, groups=groups)
        self.assertEqual(code, PRIVILEGED, sentence)
        self.assertIn(reason, sentence)
        self.assertIn(f"hidden from user {ANNE}", sentence)
        self.assertIn("Privileged programs in eventlog(7)", sentence)

    def check_no_file(self, *steps, user=ANNE):
        """While the program runs, its user finds nothing to open or to truncate."""
        process = self.start_steps(user, *steps, "define", "emit:1", "wait")
        self.reach(process)
        self.assertEqual(self.files_in(self.folder_of(ANNE), process), [])
        self.go_on(process)
        self.finish(process)

    def test_setgid_program_is_hidden(self):
        os.chown(self.program, 0, GROUP)
        os.chmod(self.program, 0o2755)
        self.check_hidden(ANNE, "setgid", self.program)
        self.check_no_file(self.program)

    def test_setuid_program_of_another_user_is_hidden_from_that_user(self):
        os.chown(self.program, ANNE, ANNE)
        os.chmod(self.program, 0o4755)
        self.check_hidden(BERT, "setuid", self.program)
        self.check_no_file(self.program, user=BERT)

    def test_program_with_file_capabilities_is_hidden(self):
        if subprocess.run(["setcap", "cap_net_bind_service+ep", self.program], check=False,
                          stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("no file capabilities here")
        self.check_hidden(ANNE, "file capabilities", self.program)
        self.check_no_file(self.program)

    def test_root_process_that_is_a_user_for_a_while_is_hidden(self):
        self.check_hidden(0, "effective and saved user", self.program, f"seteuid:{ANNE}", "define",
                          "status")
        process = self.start_steps(0, self.program, f"seteuid:{ANNE}", "define", "wait")
        self.reach(process)
        self.assertEqual(self.files_in(self.folder_of(ANNE), process), [])
        self.go_on(process)
        self.finish(process)

    def test_root_process_that_became_a_user_is_hidden(self):
        self.check_hidden(0, "changed its user", self.program, f"setuid:{ANNE}", "define", "status")

    def test_process_with_ambient_capabilities_is_hidden(self):
        self.check_hidden(0, "it has capabilities", *self.WITH_CAPABILITIES, "--clear-groups",
                          self.program)

    def test_program_that_its_user_may_not_read_is_hidden(self):
        os.chmod(self.program, 0o711)
        self.check_hidden(ANNE, "its file is unreadable", self.program)

    def test_root_process_that_is_a_member_for_a_while_is_hidden(self):
        self.mount_group_directory()
        code, _, _, sentence = self.status_of(0, self.program, f"seteuid:{ANNE}", "define",
                                              "status", groups=[GROUP])
        self.assertEqual(code, PRIVILEGED, sentence)
        self.assertIn("hidden from the group of its directory: its real, effective and saved user",
                      sentence)
        self.assertEqual(os.listdir(f"{COMMON}/processes"), [])

    def test_attachments_end_when_the_process_needs_a_buffer(self):
        recording = self.start_recording_as(ANNE, "first.elog")
        process = self.start_steps(ANNE, self.program, "define", "emit:10", "wait", "undumpable",
                                   "emit:5000", "status", "wait", "emit:10", "status")
        self.reach(process)
        self.assertTrue(self.is_attached(process))
        self.go_on(process)
        ((code, written, unattached, sentence),) = self.reach(process)
        self.assertEqual(code, PRIVILEGED, sentence)
        self.assertIn("PR_SET_DUMPABLE", sentence)
        self.assertFalse(self.is_attached(process))
        # One buffer of each CPU.
        self.assertLessEqual(written, os.cpu_count() * EVENTS_OF_A_BUFFER)
        self.assertEqual(written + unattached, 5010)
        _, errors = self.stop(recording)
        self.assertEqual(self.summary(errors)[0], written)
        # Nor does it attach to a later subscription.
        recording = self.start_recording_as(ANNE, "second.elog")
        self.go_on(process)
        output, _ = self.finish(process)
        self.assertEqual(self.parse(output)[1], written)
        _, errors = self.stop(recording)
        self.assertEqual(self.summary(errors)[0], 0)

    def test_attachments_end_in_the_shared_ring_as_well(self):
        self.environment["EVENTLOG_RSEQ"] = "off"
        recording = self.start_recording_as(ANNE, "first.elog")
        process = self.start_steps(ANNE, self.program, "define", "emit:10", "undumpable",
                                   "emit:5000", "status")
        output, _ = self.finish(process)
        code, written, unattached, _ = self.parse(output)
        self.assertEqual((code, written + unattached), (PRIVILEGED, 5010))
        self.assertLessEqual(written, EVENTS_OF_A_BUFFER)
        self.stop(recording)

    def test_forked_child_that_may_not_be_traced_attaches_nowhere(self):
        recording = self.start_recording_as(ANNE, "first.elog")
        process = self.start_steps(ANNE, self.program, "define", "emit:10", "fork", "undumpable",
                                   "emit:5", "status", "wait")
        ((code, written, unattached, sentence),) = self.reach(process)
        self.assertEqual((code, written, unattached), (PRIVILEGED, 0, 5), sentence)
        self.go_on(process)
        self.finish(process)
        _, errors = self.stop(recording)
        self.assertEqual(self.summary(errors)[0], 10)

    def start_flight_as(self, user):
        process = self.start_as(user, self.elog, "flight", "start", "box", "-e", "vault:*",
                                "--buffer-size", "128K")
        self.finish(process)

    def test_flight_recorders_are_unmapped(self):
        self.start_flight_as(ANNE)
        process = self.start_steps(ANNE, self.program, "define", "emit:10", "wait", "undumpable",
                                   "emit:5000", "status", "wait")
        self.reach(process)
        self.assertTrue(self.is_attached(process))
        self.go_on(process)
        ((code, written, unattached, sentence),) = self.reach(process)
        self.assertEqual((code, written + unattached), (PRIVILEGED, 5010), sentence)
        self.assertFalse(self.is_attached(process))
        self.go_on(process)
        self.finish(process)

    def test_asks_for_no_snapshots(self):
        self.start_flight_as(ANNE)
        process = self.start_steps(ANNE, self.program, "define", "emit:1", "snapshot", "undumpable",
                                   "snapshot")
        output, _ = self.finish(process)
        self.assertEqual(output.split(), ["1", "0"])

    def test_refused_events_are_counted(self):
        recording = self.start_recording_as(ANNE, "some.elog")
        process = self.start_steps(ANNE, self.program, "define", "emit:10", "undumpable",
                                   "emit:5000", "status", "wait")
        ((_, written, unattached, _),) = self.reach(process)
        self.assertGreater(unattached, 0)
        listing = self.start_as(ANNE, self.elog, "list", "--stats", "--json")
        (provider,) = json.loads(self.finish(listing)[0])["providers"]
        counters = provider["processes"][0]["counters"]
        self.assertEqual(counters["lost_by_reason"]["unattached"], unattached)
        _, errors = self.stop(recording)
        self.assertEqual(self.summary(errors)[0], written)
        self.go_on(process)
        self.finish(process)

    def test_doctor_names_the_reason(self):
        self.assertEqual(self.hidden_programs(ANNE), [])
        process = self.start_steps(ANNE, self.program, "define", "wait", "undumpable", "wait")
        self.reach(process)
        self.assertEqual(self.hidden_programs(ANNE), [])
        self.go_on(process)
        self.reach(process)
        (row,) = self.hidden_programs(ANNE)
        self.assertIn(f"changing_rights ({process.pid}) from user {ANNE}: it changed its user, called "
                      "prctl", row)
        self.go_on(process)
        self.finish(process)

    def test_doctor_shows_root_programs_that_publish_nothing(self):
        process = self.start_steps(0, *self.WITH_CAPABILITIES, "--clear-groups", *self.counter)
        self.wait_for(lambda: "libeventlog.so" in other_users.read(f"/proc/{process.pid}/maps"),
                      "the library")
        (row,) = self.hidden_programs(0)
        self.assertIn(f"counter ({process.pid}) from user {ANNE}: it has capabilities", row)
        self.assertEqual(self.hidden_programs(ANNE), [])

    def test_doctor_shows_no_services_that_publish_to_a_group(self):
        self.mount_group_directory()
        process = self.start_steps(0, *self.WITH_CAPABILITIES, "--groups", str(GROUP), *self.counter)
        self.wait_for(lambda: self.files_in(f"{COMMON}/processes", process), "a provider")
        self.assertEqual(self.hidden_programs(0), [])


@unittest.skipIf(other_users.SKIP_REASON is not None, other_users.SKIP_REASON)
class SameRights(rights.Case):
    """Programs that are recorded, although they look similar."""

    def test_program_of_a_user(self):
        self.check_recorded(ANNE, self.start_steps(ANNE, self.program, *self.STEPS))

    def test_root_daemon_that_drops_its_rights(self):
        recording = self.start_recording_as(0, "daemon.elog")
        process = self.start_steps(0, self.program, "define", "emit:1", f"setuid:{ANNE}",
                                   "emit:2000", "status")
        self.check_buffers(self.parse(self.finish(process)[0]), recording, 2001)

    def test_root_daemon_in_a_chroot(self):
        """Without /proc there: root of the machine needs no look at it."""
        recording = self.start_recording_as(0, "daemon.elog")
        process = self.start_steps(0, self.program, "define", "emit:1", f"chroot:{self.bin}",
                                   f"setuid:{ANNE}", "emit:2000", "status")
        self.check_buffers(self.parse(self.finish(process)[0]), recording, 2001)

    def test_undumpable_root_daemon_in_a_chroot(self):
        recording = self.start_recording_as(0, "daemon.elog")
        process = self.start_steps(0, self.program, "undumpable", "define", "emit:1",
                                   f"chroot:{self.bin}", f"setuid:{ANNE}", "emit:2000", "status")
        self.check_buffers(self.parse(self.finish(process)[0]), recording, 2001)

    def test_setuid_program_of_root_is_recorded_by_root(self):
        os.chmod(self.program, 0o4755)
        process = self.start_steps(ANNE, self.program, *self.STEPS)
        self.check_recorded(0, process)
        self.assertFalse(os.path.exists(f"/dev/shm/eventlog-{ANNE}"))

    def test_user_of_setpriv(self):
        process = self.start_steps(0, "setpriv", "--reuid", str(ANNE), "--regid", str(ANNE),
                                   "--clear-groups", self.program, *self.STEPS)
        self.check_recorded(ANNE, process)

    def test_ambient_capabilities_with_the_directory_of_a_group(self):
        self.mount_group_directory()
        code, _, _, sentence = self.status_of(0, *self.WITH_CAPABILITIES, "--groups", str(GROUP),
                                              self.program, "define", "status")
        self.assertEqual(code, 0, sentence)
        self.assertIn(COMMON, sentence)
        # A setgid program is no member.
        os.chown(self.program, 0, BERT)
        os.chmod(self.program, 0o2755)
        code, _, _, sentence = self.status_of(ANNE, self.program, "define", "status",
                                              groups=[GROUP])
        self.assertEqual(code, PRIVILEGED, sentence)

    def test_undumpable_program_with_the_directory_of_a_group(self):
        self.mount_group_directory()
        for steps in (("define", "undumpable"), ("undumpable", "define")):
            recording = self.start_recording_as(ANNE, f"{steps[0]}.elog", groups=[GROUP])
            process = self.start_steps(BERT, self.program, *steps, "emit:2000", "status",
                                       groups=[GROUP])
            self.check_buffers(self.parse(self.finish(process)[0]), recording, 2000)

    def test_key_store_only_stops_being_readable(self):
        process = self.start_steps(ANNE, self.program, "define", "undumpable", "emit:2000", "wait",
                                   "emit:2000", "status")
        self.reach(process)
        recording = self.start_recording_as(ANNE, "nothing.elog")
        self.go_on(process)
        code, written, unattached, sentence = self.parse(self.finish(process)[0])
        self.assertEqual((code, written, unattached), (PRIVILEGED, 0, 2000), sentence)
        _, errors = self.stop(recording)
        self.assertEqual(self.summary(errors)[0], 0)


@unittest.skipIf(other_users.SKIP_REASON is not None, other_users.SKIP_REASON)
class Sudo(rights.Case):
    """A program that sudo starts belongs to the user who runs it, not to the one who called sudo."""

    def setUp(self):
        super().setUp()
        self.permit_sudo()

    def check_only_read_by(self, user, process):
        """ANNE has started the process, which `user` runs: only that user gets its events."""
        self.reach(process)
        (name,) = os.listdir(self.folder_of(user))
        path = f"{self.folder_of(user)}/{name}"
        self.assertEqual((os.stat(path).st_uid, os.stat(path).st_mode & 0o777), (user, 0o600))
        self.assertFalse(os.path.exists(self.folder_of(ANNE)))
        self.finish(self.start_as(ANNE, "cat", path), 1)
        self.finish(self.start_as(ANNE, "truncate", "--size", "0", path), 1)
        listing = self.finish(self.start_as(ANNE, self.elog, "list", "--json"))[0]
        self.assertEqual(json.loads(listing)["providers"], [])
        callers = self.start_recording_as(ANNE, "callers.elog")
        recording = self.start_recording_as(user, "theirs.elog")
        self.go_on(process)
        (status,) = self.reach(process)
        self.check_buffers(status, recording, 2000)
        self.assertIn(f"/dev/shm/eventlog-{user}.", status[3])
        _, errors = self.stop(callers)
        self.assertEqual(self.summary(errors)[0], 0)
        self.go_on(process)
        self.finish(process)

    def test_root_program_is_hidden_from_its_caller(self):
        process = self.start_steps(ANNE, "sudo", "-n", self.program, *self.STEPS)
        self.check_only_read_by(0, process)

    def test_program_of_another_user_is_hidden_from_its_caller(self):
        process = self.start_steps(ANNE, "sudo", "-n", "-u", "bert", self.program, *self.STEPS)
        self.check_only_read_by(BERT, process)

    def test_program_that_root_starts_belongs_to_its_user(self):
        process = self.start_steps(0, "sudo", "-n", "-u", "anne", self.program, *self.STEPS)
        self.check_recorded(ANNE, process)

    def test_recording_of_root_is_hidden_from_its_caller(self):
        os.chmod(self.scratch, 0o755)
        path = self.path("run.elog")
        process = self.start_as(ANNE, "sudo", "-n", self.elog, "record", "-o", path, "--",
                                self.program, "define", "emit:10")
        _, errors = self.finish(process)
        self.assertEqual(self.summary(errors)[0], 10)
        self.finish(self.start_as(ANNE, self.elog, "print", path), 1)


if __name__ == "__main__":
    harness.main()
