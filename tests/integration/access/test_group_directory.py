#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The members of a group share /run/eventlog once root has created it for the group."""

import json
import os
import re
import stat
import subprocess
import unittest

import harness
import other_users

# See other_users: user and group ids that no machine uses.
ANNE, BERT, CARL, GROUP = (other_users.ANNE + i for i in range(4))
COMMON = "/run/eventlog"
PROCESSES, SUBSCRIPTIONS = f"{COMMON}/processes", f"{COMMON}/subscriptions"
FOLDERS = {COMMON: 0o2750, PROCESSES: 0o2770, SUBSCRIPTIONS: 0o2770}  # folders by mode


@unittest.skipIf(other_users.SKIP_REASON is not None, other_users.SKIP_REASON)
class GroupDirectory(other_users.Case):
    def setUp(self):
        super().setUp()
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run"], check=True)
        self.addCleanup(subprocess.run, ["umount", "--lazy", "/run"], check=True)
        for path in FOLDERS:
            os.mkdir(path)
            self.make_right(path)

    @staticmethod
    def make_right(path):
        os.chown(path, 0, GROUP)
        os.chmod(path, FOLDERS[path])

    def start_member(self, user, *command, **options):
        return self.start(*command, user=user, group=user, extra_groups=[GROUP], cwd="/",
                          **options)

    def published(self, process):
        return self.files_in(PROCESSES, process)

    def start_counter_of_member(self, user):
        # Whatever the umask: other members must be able to open the gates.
        process = self.start_member(user, "/bin/sh", "-c", 'umask 077; exec "$@"', "sh",
                                    *self.counter)
        self.wait_for(lambda: self.published(process), "a provider")
        return process

    def list_of_member(self, user, **options):
        process = self.start_member(user, self.copy(harness.ELOG), "list", "--json", **options)
        return json.loads(self.finish(process)[0])

    def users_by_pid(self, shown):
        return {process["pid"]: process["uid"] for provider in shown["providers"]
                for process in provider["processes"]}

    def test_root_sees_programs_of_members(self):
        berts = self.start_counter_of_member(BERT)
        # He used a directory of his own before.
        os.mkdir(f"/dev/shm/eventlog-{BERT}", 0o700)
        os.chown(f"/dev/shm/eventlog-{BERT}", BERT, BERT)
        places = json.loads(self.run_elog("list", "--all", "--json").stdout)["places"]
        self.assertEqual([(place["directory"], place["uid"], self.users_by_pid(place))
                          for place in places], [(COMMON, None, {berts.pid: BERT})])

    def test_members_record_each_other(self):
        berts = self.start_counter_of_member(BERT)
        (name,) = self.published(berts)
        status = os.stat(f"{PROCESSES}/{name}")
        self.assertEqual((status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)),
                         (BERT, GROUP, 0o660))
        self.assertEqual(self.users_by_pid(self.list_of_member(ANNE)), {berts.pid: BERT})
        recording = self.start_member(ANNE, self.copy(harness.ELOG), "record", "--json", "-e", "counter:*")
        self.assertEqual(json.loads(recording.stdout.readline())["pid"], berts.pid)
        # A program that starts later.
        carls = self.start_counter_of_member(CARL)
        while json.loads(recording.stdout.readline())["pid"] != carls.pid:
            pass
        self.stop(recording)
        self.assertEqual(os.listdir(SUBSCRIPTIONS), [])
        for process in (berts, carls):
            process.kill()
            process.wait()
        # Any member removes the files of a member's dead process.
        self.assertEqual(self.users_by_pid(self.list_of_member(ANNE)), {})
        self.assertEqual(os.listdir(PROCESSES), [])
        self.assertEqual([name for name in os.listdir("/dev/shm")
                          if re.fullmatch(r"eventlog-\d+", name)], [])

    def test_root_uses_it_only_on_request(self):
        berts = self.start_counter_of_member(BERT)
        roots, _ = self.start_counter_as(0)
        shown = json.loads(self.run_elog("list", "--json").stdout)
        self.assertEqual(self.users_by_pid(shown), {roots.pid: 0})
        self.environment["EVENTLOG_DIR"] = COMMON
        shown = json.loads(self.run_elog("list", "--json").stdout)
        self.assertEqual(self.users_by_pid(shown), {berts.pid: BERT})

    def test_non_members_use_their_own_directory(self):
        self.start_counter_of_member(BERT)
        carls, _ = self.start_counter_as(CARL)
        self.assertEqual(self.published(carls), [])
        process = self.start_as(CARL, self.copy(harness.ELOG), "list", "--json")
        self.assertEqual(self.users_by_pid(json.loads(self.finish(process)[0])), {carls.pid: CARL})

    def test_is_ignored_unless_created_by_root_for_a_group(self):
        for path, mode in FOLDERS.items():
            for spoil in (lambda: os.chmod(path, mode | 0o5), lambda: os.chmod(path, mode & 0o777),
                          lambda: os.chown(path, ANNE, GROUP), lambda: os.chown(path, 0, ANNE)):
                spoil()
                process = self.start_member(BERT, *self.counter)
                self.wait_for(lambda process=process: self.files_in(self.folder_of(BERT), process),
                              "a directory of their own")
                self.assertEqual(os.listdir(PROCESSES), [])
                process.kill()
                process.wait()
                self.make_right(path)
        self.start_counter_of_member(BERT)

    def test_incomplete_is_rejected(self):
        os.rmdir(SUBSCRIPTIONS)
        self.environment["EVENTLOG_DIR"] = COMMON
        refused = self.run_elog("record", "-e", "*", "--wait", status=1)
        self.assert_one_message(refused.stderr, "not whole", "mode 2770")
        self.assertEqual(os.listdir(COMMON), ["processes"])

    def test_doctor_lists_members_and_non_members(self):
        elog = self.copy(harness.ELOG)

        def said(start, user):
            return start(user, elog, "doctor").communicate(timeout=harness.TIMEOUT)[0]

        self.assertIn(f"{COMMON} is shared by programs and elog of all members of the group {GROUP}",
                      said(self.start_member, BERT))
        self.assertIn("usermod --append --groups", said(self.start_as, CARL))
        os.chmod(COMMON, 0o2755)
        self.assertIn(f"chmod 2750 '{COMMON}'", said(self.start_member, BERT))


if __name__ == "__main__":
    harness.main()
