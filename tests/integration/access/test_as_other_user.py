#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""elog --user as root runs as another user, with no more rights than that user has."""

import errno
import json
import os
import shutil
import signal
import socket
import subprocess
import unittest

import harness
import json_page
import other_users

# See other_users: user ids that no machine uses.
ANNE, BERT = (other_users.ANNE + i for i in range(2))
UNUSED_GROUP = 65534
# The number of pipe2, by machine.
PIPE2 = {"x86_64": 293, "aarch64": 59}


def deny_pipes():
    """As with too many open files."""
    harness.deny_syscall(PIPE2[os.uname().machine], errno.EMFILE)


@unittest.skipIf(other_users.SKIP_REASON is not None, other_users.SKIP_REASON)
class AsOtherUser(other_users.Case):
    def elog_as(self, user, *arguments, **options):
        return self.run_elog("--user", str(user), *arguments, **options)

    def pids_listed_as(self, user):
        shown = json.loads(self.elog_as(user, "list", "--json").stdout)
        return [process["pid"] for provider in shown["providers"]
                for process in provider["processes"] if process["uid"] == user]

    def start_recording_as(self, user, *arguments, **options):
        """Starts a recording; returns its process when the subscription exists."""
        process = self.start(harness.ELOG, f"--user={user}", "record", "-e", "counter:*",
                             *arguments, **options)
        self.wait_for(lambda: os.listdir(self.folder_of(user, "subscriptions")), "a subscription")
        return process

    def make_folder(self, path, owner):
        os.mkdir(path, 0o700)
        os.chown(path, owner, owner)

    def test_lists_only_programs_of_that_user(self):
        annes, _ = self.start_counter_as(ANNE)
        berts, _ = self.start_counter_as(BERT)
        self.start_counter_as(0)
        self.assertEqual(self.pids_listed_as(ANNE), [annes.pid])
        self.assertEqual(self.pids_listed_as(BERT), [berts.pid])

    def test_list_as_root_names_users_with_their_own_directories(self):
        self.start_counter_as(ANNE)
        os.symlink("/tmp", f"/dev/shm/eventlog-{BERT}")
        os.mkfifo(f"/dev/shm/eventlog-{BERT + 1}")
        self.make_folder(f"/dev/shm/eventlog-{BERT + 2}", ANNE)
        hint = f"for programs: {ANNE}. See theirs with: elog --user {ANNE} list"
        self.assertIn(hint, self.run_elog("list").stderr)
        self.environment["EVENTLOG_DIR"] = ""  # as if it were not set
        self.assertIn(hint, self.run_elog("list").stderr)
        self.environment["EVENTLOG_DIR"] = self.path("roots")
        self.assertNotIn("users", self.run_elog("list").stderr)
        del self.environment["EVENTLOG_DIR"]
        self.assertNotIn("users", self.elog_as(ANNE, "list").stderr)

    def test_list_as_root_names_users_if_its_directory_is_foreign(self):
        self.start_counter_as(BERT)
        self.make_folder("/dev/shm/eventlog-0", ANNE)
        self.assertIn(f"for programs: {BERT}. See", self.run_elog("list").stderr)

    def test_root_replaces_directory_that_another_user_has_made(self):
        path = "/dev/shm/eventlog-0"
        for make in (lambda: self.make_folder(path, ANNE),
                     lambda: (os.symlink("/tmp", path),
                              os.chown(path, ANNE, ANNE, follow_symlinks=False))):
            make()
            program, _ = self.start_counter_as(0)
            self.assertEqual(os.lstat(path).st_uid, 0)
            self.assertIn(str(program.pid), self.run_elog("list").stdout)
            (moved,) = [each.path for each in os.scandir("/dev/shm")
                        if f".of-user-{ANNE}." in each.name]
            program.kill()
            program.wait()
            shutil.rmtree(path)
            shutil.move(moved, self.path(os.path.basename(moved)))

    def test_root_of_a_user_namespace_uses_the_directory_of_its_user(self):
        program = self.start_as(ANNE, "unshare", "--user", "--map-root-user", *self.counter)
        folder = self.folder_of(ANNE)
        self.wait_for(lambda: program.poll() is not None or self.files_in(folder, program),
                      "a provider")
        if program.poll() is not None:
            self.skipTest("users may not create user namespaces here")
        self.assertFalse(os.path.lexists("/dev/shm/eventlog-0"))
        shown = json.loads(self.elog_as(ANNE, "list", "--json").stdout)
        self.assertEqual([process["pid"] for provider in shown["providers"]
                          for process in provider["processes"]], [program.pid])

    def test_list_as_root_names_no_users_beside_listed_programs(self):
        self.start_counter_as(ANNE)
        self.start_counter_as(0)
        self.assertEqual(self.run_elog("list", "counter").stderr, "")
        self.assertIn(f"for programs: {ANNE}. See",
                      self.run_elog("list", "shop", status=1).stderr)

    def test_left_directory_causes_no_message(self):
        program, _ = self.start_counter_as(ANNE)
        self.assertIn(f"{ANNE}", self.run_elog("list").stderr)
        program.kill()
        program.wait()
        self.make_folder(f"/dev/shm/eventlog-{BERT}", BERT)
        left = {f"eventlog-{ANNE}", f"eventlog-{BERT}"}
        self.assertLessEqual(left, set(os.listdir("/dev/shm")))
        self.assertNotIn("users", self.run_elog("list").stderr)
        self.assertNotIn("users", self.run_elog("list", "--all").stderr)

    def pids_by_user(self, shown):
        return {place["uid"]: [process["pid"] for provider in place["providers"]
                                for process in provider["processes"]]
                for place in json.loads(shown)["places"] if place["pid"] is None}

    def test_list_all_shows_programs_of_each_user(self):
        annes, _ = self.start_counter_as(ANNE)
        berts, _ = self.start_counter_as(BERT)
        roots, _ = self.start_counter_as(0)
        expected = {0: [roots.pid], ANNE: [annes.pid], BERT: [berts.pid]}
        output = self.run_elog("list", "--all", "--json").stdout
        self.assertEqual(self.pids_by_user(output), expected)
        self.assertEqual(list(json_page.JsonPage().check("places", json.loads(output))), [])
        shown = self.run_elog("list", "--all", "counter:count").stdout
        parts = shown.split("Programs of user ")
        self.assertEqual([part.split(maxsplit=1)[0] for part in parts[1:]],
                         ["0", str(ANNE), str(BERT)])
        for part, user in zip(parts[1:], expected):
            self.assertIn(f"  processes counter {expected[user][0]}\n", part)

    def test_list_all_finds_users_directories(self):
        annes, _ = self.start_counter_as(ANNE)
        self.environment["EVENTLOG_DIR"] = self.path("roots")
        self.make_folder(self.path("roots"), 0)
        self.assertEqual(self.pids_by_user(self.run_elog("list", "--all", "--json").stdout),
                         {ANNE: [annes.pid]})

    def test_list_all_as_other_user_shows_only_own_programs(self):
        annes, _ = self.start_counter_as(ANNE)
        self.start_counter_as(BERT)
        elog = self.copy(harness.ELOG)
        output, errors = self.finish(self.start_as(ANNE, elog, "list", "--all", "--json"))
        self.assertEqual(self.pids_by_user(output), {ANNE: [annes.pid]})
        self.assertIn("1 other user has processes and a directory for their events, which only "
                      "they and root may read. See their programs with: sudo elog list --all\n",
                      errors)
        self.start_counter_as(0)
        self.make_folder(f"/dev/shm/eventlog-{BERT + 1}", BERT + 1)  # left over
        _, errors = self.finish(self.start_as(ANNE, elog, "list", "--all"))
        self.assertIn("2 other users have processes", errors)
        self.assertEqual(self.finish(self.start_as(ANNE, elog, "list"))[1], "")

    def test_list_all_has_a_timeout_per_user(self):
        self.start_counter_as(ANNE)
        berts, _ = self.start_counter_as(BERT)
        holder = self.start_as(ANNE, "flock", "--no-fork", self.folder_of(ANNE, "subscriptions"),
                               "sh", "-c", "echo held; exec sleep 1000")
        self.assertEqual(holder.stdout.readline(), "held\n")
        shown = self.run_elog("list", "--all", "--json", status=1)
        self.assertEqual(self.pids_by_user(shown.stdout), {BERT: [berts.pid]})
        self.assertIn(f"user {ANNE}: it did not answer in time. Try it alone with: "
                      f"elog --user {ANNE} list\n", shown.stderr)

    def test_list_all_reports_killed_helper(self):
        self.start_counter_as(ANNE)
        holder = self.start_as(ANNE, "flock", "--no-fork", self.folder_of(ANNE, "subscriptions"),
                               "sh", "-c", "echo held; exec sleep 1000")
        self.assertEqual(holder.stdout.readline(), "held\n")
        listing = self.start(harness.ELOG, "list", "--all")

        found = []

        def is_of_anne(child):
            try:
                return other_users.status_of(child, "Uid")[0] == str(ANNE)
            except OSError:  # the process has ended meanwhile
                return False

        def is_looking():
            path = f"/proc/{listing.pid}/task/{listing.pid}/children"
            found.extend(int(child) for child in other_users.read(path).split()
                         if is_of_anne(child))
            return found

        self.wait_for(is_looking, "a child")
        os.kill(found[0], signal.SIGKILL)
        self.assertIn(f"user {ANNE}: the process that read it was ended by signal 9. Try it alone with: "
                      f"elog --user {ANNE} list\n", self.finish(listing, 1)[1])

    def test_list_all_reports_inaccessible_users_and_continues(self):
        self.make_folder(f"/dev/shm/eventlog-{ANNE}", ANNE)
        os.symlink("/tmp", f"/dev/shm/eventlog-{ANNE}/processes")
        berts, _ = self.start_counter_as(BERT)
        shown = self.run_elog("list", "--all", "--json", status=1)
        self.assertEqual(self.pids_by_user(shown.stdout), {BERT: [berts.pid]})
        self.assertIn(f"user {ANNE}: elog: ", shown.stderr)

    def test_list_all_is_complete_with_sigchld_ignored(self):
        annes, _ = self.start_counter_as(ANNE)
        roots, _ = self.start_counter_as(0)
        shown = self.run_elog("list", "--all", "--json",
                              preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        self.assertEqual(self.pids_by_user(shown.stdout), {0: [roots.pid], ANNE: [annes.pid]})

    @unittest.skipIf(harness.SANITIZER_RUNTIME, "sanitizers make pipes of their own")
    def test_list_all_reports_each_unreachable_namespace(self):
        self.start_counter_as(ANNE)
        self.start_counter_as(BERT)
        shown = self.run_elog("list", "--all", "--json", status=1, preexec_fn=deny_pipes)
        self.assertEqual(json.loads(shown.stdout), {"version": 1, "places": []})
        for user in ANNE, BERT:
            self.assertIn(f"elog: user {user}: No pipe can be created (Too many open files).",
                          shown.stderr)

    def test_list_all_fails_if_nothing_matches(self):
        self.start_counter_as(ANNE)
        self.assert_one_message(self.run_elog("list", "--all", "shop:*", status=1).stderr,
                                 "'shop:*', here or elsewhere")
        self.run_elog("list", "--all", "counter:", status=2)

    def test_records_every_event_into_file_of_that_user(self):
        self.start_counter_as(ANNE)[0].kill()
        folder = self.path("annes")
        os.chmod(self.scratch, 0o755)
        self.make_folder(folder, ANNE)
        recording = self.start_recording_as(ANNE, "--wait", "-o", f"{folder}/run.elog")
        program = self.start_as(ANNE, self.counter[0], "1", "1000")
        attempted = int(self.finish(program)[0].split()[1])
        _, errors = self.stop(recording)
        recorded, _, lost = self.summary(errors)
        self.assertEqual(recorded + lost, attempted)
        self.assertGreater(recorded, 0)
        status = os.stat(f"{folder}/run.elog")
        self.assertEqual((status.st_uid, status.st_gid), (ANNE, UNUSED_GROUP))
        self.assertEqual(os.listdir(self.folder_of(ANNE, "subscriptions")), [])

    def test_writes_only_where_that_user_may(self):
        self.start_counter_as(ANNE)
        folder = self.path("roots")
        os.chmod(self.scratch, 0o755)
        self.make_folder(folder, 0)
        refused = self.elog_as(ANNE, "record", "-e", "counter:*", "-o", f"{folder}/run.elog",
                               status=1)
        self.assert_one_message(refused.stderr, "Permission denied")
        self.assertEqual(os.listdir(folder), [])

    def test_replaces_no_unreadable_file_of_another_user(self):
        os.chmod(self.scratch, 0o755)
        run, folder = self.path("run.elog"), self.path("shared")
        self.run_elog("record", "-o", run, "--mode", "644", "--", self.counter[0], "1", "10")
        os.mkdir(folder)
        os.chmod(folder, 0o777)  # where each user may remove any file
        target = os.path.join(folder, "x.elog")
        with open(target, "w", encoding="utf-8") as file:
            file.write("precious")
        os.chmod(target, 0o600)
        for command in (["cut", run], ["convert", run, "--to", "jsonl"]):
            refused = self.elog_as(ANNE, *command, "--force", "-o", target, status=1)
            self.assert_one_message(refused.stderr, target, "belongs to user 0")
            self.assertEqual(other_users.read(target), "precious")
        self.assertEqual(os.listdir(folder), ["x.elog"])

    def test_drops_all_root_privileges(self):
        self.start_counter_as(ANNE)
        recording = self.start_recording_as(ANNE, extra_groups=[0, BERT])
        self.assertEqual(other_users.status_of(recording.pid, "Uid"), [str(ANNE)] * 4)
        self.assertEqual(other_users.status_of(recording.pid, "Gid"), [str(UNUSED_GROUP)] * 4)
        self.assertEqual(other_users.status_of(recording.pid, "Groups"), [])
        for rights in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
            (held,) = other_users.status_of(recording.pid, rights)
            self.assertEqual(int(held, 16), 0, rights)
        self.assertEqual(other_users.status_of(recording.pid, "NoNewPrivs"), ["1"])
        # The user cannot access its descriptors either.
        self.assertEqual(os.stat(f"/proc/{recording.pid}/fd").st_uid, 0)
        stolen = self.start_as(ANNE, "ls", f"/proc/{recording.pid}/fd")
        self.finish(stolen, 2)  # the status of ls for a denied read
        self.stop(recording)

    def test_does_not_need_root_directory(self):
        annes, _ = self.start_counter_as(ANNE)
        self.make_folder("/dev/shm/eventlog-0", BERT)
        self.assertEqual(self.pids_listed_as(ANNE), [annes.pid])

    def test_rejects_directory_of_another_user(self):
        path = f"/dev/shm/eventlog-{ANNE}"
        roots = self.path("roots")
        self.make_folder(roots, 0)

        def make_socket():
            with socket.socket(socket.AF_UNIX) as made:
                made.bind(path)

        for make, message in ((lambda: self.make_folder(path, BERT), "Permission denied"),
                           (lambda: self.make_folder(path, 0), "Permission denied"),
                           (lambda: os.mkfifo(path), "Not a directory"),
                           (make_socket, "Not a directory"),
                           (lambda: os.symlink(roots, path), "Not a directory")):
            make()
            refused = self.elog_as(ANNE, "list", status=1)
            self.assert_one_message(refused.stderr, path, message, "has made it. Have root")
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path)
            else:
                os.unlink(path)
        self.assertEqual(os.listdir(roots), [])

    def test_can_be_interrupted_while_blocked_by_that_user(self):
        self.start_counter_as(ANNE)
        path = self.folder_of(ANNE, "subscriptions")
        holder = self.start_as(ANNE, "flock", "--no-fork", path, "sh", "-c", "echo held; exec sleep 1000")
        self.assertEqual(holder.stdout.readline(), "held\n")
        waiting = self.start(harness.ELOG, "--user", str(ANNE), "list")
        with self.assertRaises(subprocess.TimeoutExpired):
            waiting.wait(0.5)
        waiting.send_signal(signal.SIGTERM)
        self.assertNotEqual(waiting.wait(harness.TIMEOUT), 0)
        self.expect(waiting, waiting.returncode)

    def test_completes_names_of_that_user(self):
        self.start_counter_as(ANNE)
        for words in (["--user", str(ANNE)], [f"--user={ANNE}"]):
            offered = self.run_elog("__complete", "--", *words, "list", "counter").stdout
            self.assertIn("counter:count", offered)
        self.assertIn("list\t", self.run_elog("__complete", "--", "--user", str(ANNE), "li").stdout)
        self.assertEqual(self.run_elog("__complete", "--", "list", "counter").stdout, "")
        self.assertEqual(self.run_elog("__complete", "--", "--user", "").stdout, "")
        self.assertIn("--user\t", self.run_elog("__complete", "--", "--u").stdout)

    def test_requires_root(self):
        elog = self.copy(harness.ELOG)
        process = self.start_as(ANNE, elog, "--user", str(BERT), "list")
        _, errors = self.finish(process, 1)
        self.assert_one_message(errors.replace("...", "list"), f"sudo elog --user {BERT}")
        self.start_counter_as(ANNE)
        self.finish(self.start_as(ANNE, elog, "--user", str(ANNE), "list"))

    def test_requires_existing_user(self):
        for words, message in ((["--user", "no such user", "list"], "no user 'no such user'"),
                            (["--user", str(2**32 - 1), "list"], "no user"),
                            (["--user=", "list"], "name or number"),
                            (["--user"], "name or number")):
            self.assertIn(message, self.run_elog(*words, status=2).stderr)


if __name__ == "__main__":
    harness.main()
