# SPDX-License-Identifier: MIT
"""The base of tests with programs that have, gain or lose rights."""

import json
import os
import shutil
import subprocess

import harness
import other_users

# See other_users: user and group ids that no machine uses.
ANNE, BERT, GROUP = (other_users.ANNE + i for i in range(3))
COMMON = "/run/eventlog"
PRIVILEGED = 11  # EVENTLOG_STATUS_PRIVILEGED
# At most, with a kilobyte in each and buffers of 128 KiB.
EVENTS_OF_A_BUFFER = 128


class Case(other_users.Case):
    """Starts the program changing_rights from a file system where setgid files are permitted."""

    # Of a program that is recorded.
    STEPS = ("define", "emit:1", "wait", "emit:2000", "status", "wait")
    # As systemd starts a service with AmbientCapabilities; the groups follow.
    WITH_CAPABILITIES = ("setpriv", "--reuid", str(ANNE), "--regid", str(ANNE),
                         "--inh-caps", "+net_bind_service", "--ambient-caps", "+net_bind_service")

    def setUp(self):
        super().setUp()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", self.bin], check=True)
        self.addCleanup(shutil.rmtree, self.bin, ignore_errors=True)
        self.addCleanup(subprocess.run, ["umount", "--lazy", self.bin], check=True)
        self.fill_bin()
        self.elog = self.copy(harness.ELOG)
        self.program = self.copy(harness.program("changing_rights"))

    def start_steps(self, user, *command, groups=()):
        return self.start(*command, user=user, group=user, extra_groups=list(groups), cwd="/",
                          stdin=subprocess.PIPE)

    @staticmethod
    def go_on(process):
        """Lets the program go on from a step wait."""
        process.stdin.write("\n")
        process.stdin.flush()

    def reach(self, process):
        """Waits until the program waits; returns the statuses that it has printed before."""
        printed = []
        while (line := process.stdout.readline()) != "waiting\n":
            self.assertNotEqual(line, "", process.poll())
            printed.append(self.parse(line))
        return printed

    @staticmethod
    def parse(line):
        """(code, written, unattached, sentence)"""
        code, written, unattached, sentence = line.rstrip("\n").split(" ", 3)
        return int(code), int(written), int(unattached), sentence

    def status_of(self, user, *command, groups=()):
        """The status after the steps, or those of a complete command."""
        output, _ = self.finish(self.start_steps(user, *command, groups=groups))
        return self.parse(output)

    def start_recording_as(self, user, name, groups=()):
        os.makedirs(self.path("recordings"), exist_ok=True)
        os.chmod(self.scratch, 0o755)
        os.chmod(self.path("recordings"), 0o777)
        path = self.path(f"recordings/{name}")
        recording = self.start(self.elog, "record", "-e", "vault:*", "--wait", "--buffer-size",
                               "128K", "-o", path, user=user, group=user,
                               extra_groups=list(groups), cwd="/")
        self.wait_for(lambda: os.path.exists(path) and os.path.getsize(path) > 0, "a recording")
        return recording

    def is_attached(self, process):
        return "/subscriptions/" in other_users.read(f"/proc/{process.pid}/maps")

    def check_buffers(self, status, recording, count):
        """Requires events of several buffers; a slow reader may lose some of the rest."""
        code, written, unattached, sentence = status
        self.assertEqual((code, unattached), (0, 0), sentence)
        self.assertGreater(written, 3 * EVENTS_OF_A_BUFFER)
        _, errors = self.stop(recording)
        recorded, _, lost = self.summary(errors)
        self.assertEqual((recorded, recorded + lost), (written, count))

    def check_recorded(self, reader, process):
        self.reach(process)
        recording = self.start_recording_as(reader, f"{reader}.elog")
        self.go_on(process)
        (status,) = self.reach(process)
        self.check_buffers(status, recording, 2000)
        self.go_on(process)
        self.finish(process)

    def hidden_programs(self, user):
        """The rows of elog doctor, which may find other things missing here."""
        process = self.start_as(user, self.elog, "doctor", "--json")
        self.expect(process, 1)
        rows = json.loads(process.communicate(timeout=harness.TIMEOUT)[0])["checks"]
        return [row["text"] for row in rows if row["name"] == "hidden"]

    def in_user_namespace(self, *options):
        """The words that run a program in a user namespace of ANNE; skips where that is forbidden."""
        command = ["unshare", "--user", *options]
        allowed = subprocess.run([*command, "true"], check=False, user=ANNE, group=ANNE,
                                 extra_groups=[], stderr=subprocess.DEVNULL).returncode == 0
        if not allowed:
            self.skipTest("no user namespaces for users here")
        return command

    def permit_sudo(self):
        """Lets ANNE run all commands as any user, in the mounts of this test only."""
        if shutil.which("sudo") is None:
            self.skipTest("sudo is not installed: ./dev setup")
        users = {"anne": ANNE, "bert": BERT}
        added = {
            "passwd": [f"{name}:x:{user}:{user}::/:/bin/sh" for name, user in users.items()],
            "group": [f"{name}:x:{user}:" for name, user in users.items()],
            "shadow": [f"{name}:*:19000:0:99999:7:::" for name in users],
        }
        texts = {f"/etc/{name}": other_users.read(f"/etc/{name}") + "\n".join(lines) + "\n"
                 for name, lines in added.items()}
        texts["/etc/sudoers"] = ("Defaults !syslog, !pam_session\n"
                                 'Defaults env_keep += "ASAN_OPTIONS TSAN_OPTIONS UBSAN_OPTIONS"\n'
                                 "root, anne ALL = (ALL:ALL) NOPASSWD: ALL\n")
        for path, text in texts.items():
            own = self.path(os.path.basename(path))
            with open(own, "w", encoding="utf-8") as file:
                file.write(text)
            os.chmod(own, 0o440 if path == "/etc/sudoers" else 0o644)
            subprocess.run(["mount", "--bind", own, path], check=True)
            self.addCleanup(subprocess.run, ["umount", "--lazy", path], check=True)

    def mount_group_directory(self):
        """Creates the directory of GROUP."""
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run"], check=True)
        self.addCleanup(subprocess.run, ["umount", "--lazy", "/run"], check=True)
        for path, mode in ((COMMON, 0o2750), (f"{COMMON}/processes", 0o2770),
                           (f"{COMMON}/subscriptions", 0o2770)):
            os.mkdir(path)
            os.chown(path, 0, GROUP)
            os.chmod(path, mode)
