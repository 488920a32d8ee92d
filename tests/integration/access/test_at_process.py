#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""elog --at PID runs in the place of a process: in its container, as its user, without root's
rights.
"""

import contextlib
import json
import os
import pathlib
import pty
import shutil
import signal
import subprocess
import sys
import unittest

import harness
import other_users

ANNE = other_users.ANNE
MOUNT = "mount -t tmpfs none /dev/shm"
NAMESPACES = ["--mount", "--pid", "--ipc", "--fork", "--kill-child", "--mount-proc"]
OF_USERS = ["--user", "--map-root-user"]


# Mounts a file system at /dev/shm that accepts every request and never answers. A process that
# waits for an answer cannot be killed.
SILENT = """
import ctypes, os, struct, sys
device = os.open("/dev/fuse", os.O_RDWR)
options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
if ctypes.CDLL(None, use_errno=True).mount(b"silent", b"/dev/shm", b"fuse", 0, options) != 0:
    sys.exit(os.strerror(ctypes.get_errno()))
size, opcode, unique = struct.unpack_from("IIQ", os.read(device, 1 << 17))
begin = struct.pack("IIIIHHIIHHI28x", 7, 26, 0, 0, 0, 0, 4096, 0, 0, 0, 0)
os.write(device, struct.pack("IiQ", 16 + len(begin), 0, unique) + begin)
print("silent", flush=True)
while True:
    os.read(device, 1 << 17)
"""


def children_of(pid):
    return [int(child) for child in other_users.read(f"/proc/{pid}/task/{pid}/children").split()]


def namespace(pid, kind):
    return os.readlink(f"/proc/{pid}/ns/{kind}")


@unittest.skipIf(other_users.SKIP_REASON is not None, other_users.SKIP_REASON)
class AtProcess(other_users.Case):
    def elog_at(self, pid, *arguments, **options):
        return self.run_elog("--at", str(pid), *arguments, **options)

    def processes_listed_at(self, pid, **options):
        shown = json.loads(self.elog_at(pid, "list", "--json", **options).stdout)
        return [(process["pid"], process["uid"]) for provider in shown["providers"]
                for process in provider["processes"]]

    def files_of(self, pid, kind, user=0):
        try:
            return os.listdir(f"/proc/{pid}/root/dev/shm/eventlog-{user}/{kind}")
        except OSError:
            return []

    def await_provider(self, pid, user=0):
        self.wait_for(lambda: self.files_of(pid, "processes", user), "a provider")
        return pid

    def start_container(self, *options, before=MOUNT, program=None, owner=0, **settings):
        """Returns the process that created the container, and the pid of its program in this
        namespace."""
        program = program or self.counter
        maker = self.start("unshare", *(options or OF_USERS + NAMESPACES), "sh", "-c",
                           f'{before} && exec "$@"', "sh", *program, cwd="/", **settings)
        self.wait_for(lambda: maker.poll() is not None or children_of(maker.pid), "a container")
        self.assertIsNone(maker.poll(), maker.poll() is not None and maker.stderr.read())
        (pid,) = children_of(maker.pid)
        return maker, self.await_provider(pid, owner)

    def start_recording_at(self, pid, *arguments):
        """Starts a recording; returns, when the subscription exists, the started process and the
        pid of the one in the container."""
        recording = self.start(harness.ELOG, f"--at={pid}", "record", "-e", "counter:*", *arguments)
        self.wait_for(lambda: self.files_of(pid, "subscriptions"), "a subscription")
        (inside,) = children_of(recording.pid)
        return recording, inside

    def test_lists_only_programs_of_that_container(self):
        _, first = self.start_container()
        self.start_container(program=[self.counter[0], "1", "0", "2000"])
        self.start_counter_as(0)
        self.assertEqual(self.processes_listed_at(first), [(1, 0)])

    def test_list_all_shows_programs_of_each_container(self):
        _, first = self.start_container()
        _, second = self.start_container()
        roots, _ = self.start_counter_as(0)
        shown = json.loads(self.run_elog("list", "--all", "--json").stdout)["places"]
        seen = {place["pid"]: [process["pid"] for provider in place["providers"]
                                   for process in provider["processes"]] for place in shown}
        # Containers of other users are not listed as own ones.
        self.assertEqual({process: seen.get(process) for process in (None, first, second)},
                         {None: [roots.pid], first: [1], second: [1]})
        self.assertIn(f"Programs of process {first} (counter) of user 0 (root)\n",
                      self.run_elog("list", "--all").stdout)

    def test_list_all_queries_containers_in_parallel(self):
        _, first = self.start_container()
        _, second = self.start_container()
        holder = self.start("nsenter", "--target", str(first), "--all", "flock", "--no-fork",
                            "/dev/shm/eventlog-0/subscriptions", "sh", "-c",
                            "echo held; exec sleep 1000")
        self.assertEqual(holder.stdout.readline(), "held\n")
        listed = self.run_elog("list", "--all", "--json", status=1)
        shown = {place["pid"] for place in json.loads(listed.stdout)["places"]}
        self.assertIn(second, shown)
        self.assertNotIn(first, shown)
        self.assertIn(f"elog --at {first} list", listed.stderr)

    def test_list_all_does_not_wait_for_unkillable_helper(self):
        if not os.path.exists("/dev/fuse"):
            self.skipTest("this machine has no file systems of users (FUSE)")
        _, second = self.start_container()
        server = self.start("unshare", "--mount", "--kill-child", "--fork", sys.executable, "-c",
                            SILENT)
        self.assertEqual(server.stdout.readline(), "silent\n")
        try:
            listed = self.run_elog("list", "--all", "--json", status=1)
        finally:
            server.kill()
            server.wait(harness.TIMEOUT)
        self.assertIn(second, {place["pid"] for place in json.loads(listed.stdout)["places"]})
        self.assertRegex(listed.stderr,
                         rf"process {server.pid} .* it did not answer in time")

    def test_records_every_event_into_file_in_container(self):
        _, pid = self.start_container()
        recording, _ = self.start_recording_at(pid, "--wait", "-o", "/dev/shm/run.elog")
        program = self.start("nsenter", "--target", str(pid), "--all", self.counter[0], "1", "1000")
        attempted = int(self.finish(program)[0].split()[1])
        recording.send_signal(signal.SIGINT)
        _, errors = self.finish(recording)
        recorded, _, lost = self.summary(errors)
        self.assertGreaterEqual(recorded + lost, attempted)
        shutil.copy(f"/proc/{pid}/root/dev/shm/run.elog", self.path("run.elog"))
        shown = self.run_elog("print", self.path("run.elog")).stdout
        self.assertEqual(shown.count(" counter:count "), recorded)
        self.assertEqual(self.files_of(pid, "subscriptions"), [])

    def test_drops_all_root_privileges(self):
        _, pid = self.start_container()
        recording, inside = self.start_recording_at(pid)
        for process in (recording.pid, inside):
            for rights in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
                (held,) = other_users.status_of(process, rights)
                self.assertEqual(int(held, 16), 0, rights)
            self.assertEqual(other_users.status_of(process, "NoNewPrivs"), ["1"])
            self.assertEqual(other_users.status_of(process, "Groups"), [])
            for kind in ("user", "mnt", "ipc"):
                self.assertEqual(namespace(process, kind), namespace(pid, kind))
            # A process in the container cannot inspect it.
            self.assertEqual(os.stat(f"/proc/{process}/fd").st_uid, 0)
        self.assertEqual(namespace(inside, "pid"), namespace(pid, "pid"))
        self.assertNotEqual(namespace(recording.pid, "pid"), namespace(pid, "pid"))
        looked = subprocess.run(["nsenter", "--target", str(pid), "--all", "sh", "-c",
                                 "ls -l /proc/[0-9]*/exe > /dev/null"], capture_output=True,
                                encoding="utf-8", check=False)
        self.assertIn("Permission denied", looked.stderr)
        recording.send_signal(signal.SIGINT)
        self.finish(recording)

    def test_joins_device_cgroup(self):
        obstacle = None
        for tree in ("/sys/fs/cgroup/devices", "/sys/fs/cgroup"):
            group = f"{tree}/eventlog-test-{other_users.ANNE}"
            try:
                os.mkdir(group)
                break
            except OSError as error:
                obstacle = error
        else:
            self.skipTest(f"no control group can be made: {obstacle}")
        self.addCleanup(self.wait_for, lambda: not self.remove_group(group), "an empty group")
        maker, pid = self.start_container()
        try:
            pathlib.Path(group, "cgroup.procs").write_text(str(pid), encoding="ascii")
        except OSError as error:
            self.skipTest(f"no process can be put into a control group: {error}")
        recording, inside = self.start_recording_at(pid)
        for process in (recording.pid, inside):
            self.assertIn(f"/eventlog-test-{other_users.ANNE}\n",
                          other_users.read(f"/proc/{process}/cgroup"))
        recording.send_signal(signal.SIGINT)
        self.finish(recording)
        # unshare(1) fails when its child is killed.
        self.expect(maker, 1)
        os.kill(pid, signal.SIGKILL)

    @staticmethod
    def remove_group(group):
        """Removes a control group; returns whether it still exists."""
        try:
            os.rmdir(group)
            return False
        except OSError:
            return True

    def test_inherits_no_open_file(self):
        _, pid = self.start_container()
        with open(self.path("held"), "w", encoding="ascii") as held:
            recording = self.start(harness.ELOG, "--at", str(pid), "record", "-e", "counter:*",
                                   pass_fds=(held.fileno(),))
            self.wait_for(lambda: self.files_of(pid, "subscriptions"), "a subscription")
            (inside,) = children_of(recording.pid)
            for process in (recording.pid, inside):
                opened = [os.readlink(f"/proc/{process}/fd/{number}")
                          for number in os.listdir(f"/proc/{process}/fd")]
                self.assertNotIn(held.name, opened)
        recording.send_signal(signal.SIGINT)
        self.finish(recording)

    def test_runs_as_user_of_target_process(self):
        # A change of the user clears the parent death signal; setpriv sets it again.
        program = ["setpriv", "--reuid", str(ANNE), "--regid", str(ANNE + 1), "--groups",
                   str(ANNE + 2), "--pdeathsig", "KILL", *self.counter]
        _, pid = self.start_container(*NAMESPACES, program=program, owner=ANNE)
        recording = self.start(harness.ELOG, "--at", str(pid), "record", "-e", "counter:*")
        self.wait_for(lambda: self.files_of(pid, "subscriptions", ANNE), "a subscription")
        (inside,) = children_of(recording.pid)
        self.assertEqual(other_users.status_of(inside, "Uid"), [str(ANNE)] * 4)
        self.assertEqual(other_users.status_of(inside, "Gid"), [str(ANNE + 1)] * 4)
        self.assertEqual(other_users.status_of(inside, "Groups"), [str(ANNE + 2)])
        recording.send_signal(signal.SIGTERM)
        self.finish(recording)

    def test_cleans_up_after_being_killed(self):
        _, pid = self.start_container()
        recording, inside = self.start_recording_at(pid)
        recording.kill()
        self.wait_for(lambda: not os.path.exists(f"/proc/{inside}"), "the end of the one within")
        self.assertEqual(self.files_of(pid, "subscriptions"), [])

    def test_exits_like_child_in_container(self):
        _, pid = self.start_container()
        self.elog_at(pid, "record", "-e", "absent:*", status=1)
        self.elog_at(pid, "no such command", status=2)
        recording, inside = self.start_recording_at(pid)
        os.kill(inside, signal.SIGKILL)
        self.expect(recording, -signal.SIGKILL)
        self.assertEqual(recording.wait(harness.TIMEOUT), -signal.SIGKILL)

    def test_stops_and_continues_with_child_in_container(self):
        _, pid = self.start_container()
        recording, inside = self.start_recording_at(pid)

        def are(states):
            return all(other_users.status_of(process, "State")[0] in states
                       for process in (recording.pid, inside))

        # SIGTSTP has no effect on an orphaned process group, as under some test runners.
        os.kill(inside, signal.SIGSTOP)
        self.wait_for(lambda: are("T"), "a stop")
        recording.send_signal(signal.SIGCONT)
        self.wait_for(lambda: are("RS"), "to go on")
        recording.send_signal(signal.SIGINT)
        self.finish(recording)

    def test_exits_cleanly_on_terminal_hangup(self):
        _, pid = self.start_container()
        terminal, far_end = pty.openpty()
        name = os.ttyname(far_end)
        # A session leader: only the leader gets the hangup signal; opening the terminal makes it
        # the controlling one.
        recording = self.start(
            "setsid", "sh", "-c", f'exec "$@" < {name}', "sh", harness.ELOG, f"--at={pid}",
            "record", "-e", "counter:*", "-o", "/dev/shm/run.elog")
        os.close(far_end)
        self.wait_for(lambda: self.files_of(pid, "subscriptions"), "a subscription")
        self.assertEqual(other_users.read(f"/proc/{recording.pid}/stat").rpartition(")")[2].split()[3],
                         str(recording.pid), "it leads no session")
        os.close(terminal)
        self.finish(recording)
        self.assertEqual(self.files_of(pid, "subscriptions"), [])
        shutil.copy(f"/proc/{pid}/root/dev/shm/run.elog", self.path("run.elog"))
        self.run_elog("verify", self.path("run.elog"))

    def test_uses_shared_memory_of_target_process(self):
        self.environment["EVENTLOG_DIR"] = "/dev/shm/theirs"
        maker = self.start("unshare", *NAMESPACES, "sh", "-c", f'{MOUNT} && exec "$@"', "sh",
                           *self.counter)
        self.wait_for(lambda: children_of(maker.pid), "a container")
        (pid,) = children_of(maker.pid)
        self.wait_for(lambda: os.path.exists(f"/proc/{pid}/root/dev/shm/theirs/processes") and
                      os.listdir(f"/proc/{pid}/root/dev/shm/theirs/processes"), "a provider")
        self.environment["EVENTLOG_DIR"] = "/dev/shm/ours"
        self.assertEqual(self.processes_listed_at(pid), [(1, 0)])

    @contextlib.contextmanager
    def program_with_own_root(self):
        """A program in a root directory with the files of this one, and that directory."""
        root = self.path("root")
        os.mkdir(root)
        subprocess.run(["mount", "--rbind", "/", root], check=True)
        # Not a cleanup of the test: the scratch directory is removed before.
        try:
            subprocess.run(["mount", "-t", "tmpfs", "none", f"{root}/dev/shm"], check=True)
            program = self.start("chroot", root, *self.counter)
            self.await_provider(program.pid)
            yield program, root
            program.kill()
            program.wait(harness.TIMEOUT)
        finally:
            subprocess.run(["umount", "--lazy", "--recursive", root], check=True)

    def test_uses_root_directory_of_target_process(self):
        with self.program_with_own_root() as (program, root):
            # Reading the container's localtime blocks forever; times must be in the zone of the
            # caller.
            os.mkfifo(self.path("localtime"))
            subprocess.run(["mount", "--bind", self.path("localtime"),
                            os.path.join(root, os.path.realpath("/etc/localtime")[1:])], check=True)
            del self.environment["TZ"]
            self.assertEqual(self.processes_listed_at(program.pid), [(program.pid, 0)])
            self.elog_at(program.pid, "record", "-e", "counter:*", "--limit", "2")

    def plant(self, root):
        """Replaces /etc there: reading a file of it blocks forever, and the pager leaves a mark."""
        subprocess.run(["mount", "-t", "tmpfs", "none", f"{root}/etc"], check=True)
        for name in ("group", "ld.so.cache", "ld.so.preload", "localtime", "nsswitch.conf", "passwd"):
            os.mkfifo(f"{root}/etc/{name}")
        with open(f"{root}/etc/pager", "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\ntouch /dev/shm/executed\nexec cat\n")
        os.chmod(f"{root}/etc/pager", 0o755)

    def list_on_terminal(self, pid):
        """The lines of elog list on a terminal, with the planted pager."""
        self.environment.update(TERM="xterm", NO_COLOR="1", PAGER="/etc/pager")
        del self.environment["ELOG_PAGER"]
        terminal, other = pty.openpty()
        listing = self.start(harness.ELOG, "--at", str(pid), "list", stdin=other, stdout=other)
        os.close(other)
        self.assertEqual(listing.wait(harness.TIMEOUT), 0)
        shown = os.read(terminal, 65536).decode()
        os.close(terminal)
        return shown

    def test_uses_no_commands_modules_or_settings_of_container(self):
        with self.program_with_own_root() as (program, root):
            self.plant(root)
            del self.environment["TZ"]
            self.elog_at(program.pid, "record", "-e", "counter:*", "--limit", "2")
            self.assertEqual(self.processes_listed_at(program.pid), [(program.pid, 0)])
            # It would look up names of users.
            self.elog_at(program.pid, "list", "--all", status=2)
            self.assertIn("counter", self.list_on_terminal(program.pid))
            self.assertFalse(os.path.exists(f"{root}/dev/shm/executed"))

    def test_works_in_rootless_container(self):
        elog = self.copy(harness.ELOG)
        settings = {"user": ANNE, "group": ANNE, "extra_groups": []}
        try:
            _, pid = self.start_container(owner=ANNE, **settings)
        except AssertionError as refused:
            if "unshare failed" not in str(refused):
                raise
            self.skipTest("this machine allows only root to create user namespaces")
        process = self.start(elog, "--at", str(pid), "list", "--json", cwd="/", **settings)
        shown = json.loads(self.finish(process)[0])
        self.assertEqual(shown["providers"][0]["processes"][0]["pid"], 1)

    def test_reports_errors(self):
        ended = self.start("true")
        ended.wait(harness.TIMEOUT)
        for words, message in ((["--at", "list"], "the number of a process"),
                            (["--at=-1", "list"], "the number of a process"),
                            (["--at", "0", "list"], "the number of a process"),
                            (["--at", str(ended.pid), "list"], "no process"),
                            (["--at"], "the number of a process"),
                            (["--at", str(os.getpid()), "--user", "root", "list"], "cannot follow --at")):
            self.assert_one_message(self.run_elog(*words, status=2).stderr, message)
        both = self.start("setpriv", "--ruid", str(ANNE), "--clear-groups", *self.counter)
        self.wait_for(lambda: other_users.status_of(both.pid, "Uid")[0] == str(ANNE), "two users")
        refused = self.run_elog("--at", str(both.pid), "list", status=1)
        self.assert_one_message(refused.stderr, "runs as another one")
        elog = self.copy(harness.ELOG)
        _, pid = self.start_container()
        for words, message in ((["doctor"], "elog doctor checks the machine"),
                            (["features"], "elog features checks the machine"),
                            (["list", "--all"], "elog list --all searches the whole machine"),
                            (["--json", "doctor"], "elog doctor checks the machine"),
                            (["record", "-e", "counter", "--", "true"], "no command is run")):
            self.assert_one_message(self.elog_at(pid, *words, status=2).stderr, message)
        _, errors = self.finish(self.start_as(ANNE, elog, "--at", str(pid), "list"), 1)
        self.assert_one_message(errors.replace("...", "list"), f"sudo elog --at {pid}")

    def test_completes_names_in_container(self):
        _, pid = self.start_container()
        offered = self.run_elog("__complete", "--", "--at", str(pid), "list", "counter").stdout
        self.assertIn("counter:count", offered)
        self.assertIn("--at\t", self.run_elog("__complete", "--", "--a").stdout)
        self.assertEqual(self.run_elog("__complete", "--", "--at", "").stdout, "")


if __name__ == "__main__":
    harness.main()
