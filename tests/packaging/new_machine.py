# SPDX-License-Identifier: MIT
"""Runs `./dev demo` and the commands of README and docs/how-to/install.md on new Debian machines.

A machine is a chroot with the required packages of Debian 12 only: no compiler, no git, no cache of
compiled objects. Each command has its own mounts, processes and /dev/shm, which end with it.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

from first_steps import block_of, commands_of, follow, follow_install_page
from tools import SOURCE, empty_directory, output_of, run

RELEASE = "bookworm"
USER_ID = 1000
# A person answers yes. Without recommended packages the lists of README and ./dev must be complete.
APT_SETTINGS = 'APT::Get::Assume-Yes "true";\nAPT::Install-Recommends "false";\n'
SYSTEM_FOLDERS = os.pathsep.join(("/usr/local/sbin", "/usr/sbin", "/sbin"))
# The shell stays: as the first process of its namespace it ends all others when it is killed.
MOUNT_AND_ENTER = """
machine=$1
shift
mount -t proc proc "$machine/proc"
mount -t sysfs -o ro sysfs "$machine/sys"
mkdir -p "$machine/dev/shm"
mount -t tmpfs -o mode=1777 shm "$machine/dev/shm"
chroot "$@" || exit $?
"""


class User:
    """A user of a machine. `login` holds the commands for every shell, as in NewUser."""

    def __init__(self, machine, home, number):
        self.machine = machine
        self.number = number
        self.home = machine / home
        self.prefix = pathlib.Path("/", home, ".local")
        self.login = []

    def own(self, path):
        os.chown(path, self.number, self.number)

    def run(self, command, directory):
        """Runs a command in a shell of its own; returns its output, errors last."""
        print("+", command, flush=True)
        self.own(directory)
        inside = pathlib.Path("/") / directory.relative_to(self.machine)
        result = subprocess.run(
            ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-ec", MOUNT_AND_ENTER,
             "sh", self.machine, f"--userspec={self.number}:{self.number}", self.machine,
             "bash", "-ec", "\n".join([f"cd {inside}", *self.login, command])],
            env={"HOME": f"/{self.home.relative_to(self.machine)}", "LANG": "C.UTF-8",
                 "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                 "DEBIAN_FRONTEND": "noninteractive"},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
            encoding="utf-8", check=False,
        )
        output = result.stdout + result.stderr
        assert result.returncode == 0 and "were not used by the project" not in output, output
        return output


def mirror():
    """Where this machine's packages come from."""
    sites = output_of("apt-get", "indextargets", "--format", "$(SITE)", f"Codename: {RELEASE}",
                      "Created-By: Packages").splitlines()
    return sites[0] if sites else None


def find_debootstrap():
    return shutil.which("debootstrap", path=os.environ["PATH"] + os.pathsep + SYSTEM_FOLDERS)


def skip_unless_possible():
    reason = None
    if os.geteuid() != 0:
        reason = "a new machine is a chroot, which root alone can make"
    elif subprocess.run(["unshare", "--mount", "true"], check=False).returncode != 0:
        reason = "this container forbids mount namespaces"
    elif not find_debootstrap():
        reason = "there is no debootstrap. `./dev setup` installs it."
    elif not mirror():
        reason = f"apt-get knows no place with the packages of Debian {RELEASE}"
    if reason:
        print("skipped:", reason)
        sys.exit(77)


def new_machine(arguments, name):
    """A chroot for one test. debootstrap makes the first one, which later ones are copied from."""
    os.umask(0o022)
    debian = arguments.directory / RELEASE
    if not debian.exists():
        unfinished = empty_directory(arguments, f"{RELEASE}.unfinished")
        # Its mounts end with it, also when it is killed.
        run("unshare", "--mount", find_debootstrap(), "--variant=minbase", RELEASE, unfinished,
            mirror())
        unfinished.rename(debian)
    machine = empty_directory(arguments, name) / "machine"
    run("cp", "--archive", "--reflink=auto", debian, machine)
    shutil.copy("/etc/resolv.conf", machine / "etc/resolv.conf")
    (machine / "etc/apt/apt.conf.d/90answers").write_text(APT_SETTINGS, encoding="utf-8")
    return machine


def copy_clone(user):
    """The files that a clone of this working tree would have."""
    clone = user.home / "eventlog"
    names = output_of("git", "-C", SOURCE, "ls-files", "-z", "--cached", "--others",
                      "--exclude-standard").split("\0")
    for name in filter(None, names):
        if os.path.lexists(SOURCE / name):
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(SOURCE / name, clone / name, follow_symlinks=False)
    for path in [clone, *clone.rglob("*")]:
        os.chown(path, user.number, user.number, follow_symlinks=False)
    return clone


def test_new_machine_demo(arguments):
    skip_unless_possible()
    root = User(new_machine(arguments, "new_machine_demo"), "root", 0)
    clone = copy_clone(root)
    start = time.monotonic()
    printed = root.run("./dev demo", clone)
    print(f"./dev demo with its packages: {time.monotonic() - start:.0f} s")
    (seconds,) = re.findall(r"demo: build \.\.\. (\d+) s", printed)
    print(f"the build alone: {seconds} s")
    assert re.search(r"\d+ events, \d+ bytes, 0 lost", printed), printed
    start = time.monotonic()
    root.run("./dev demo", clone)
    shutil.rmtree(root.machine)
    print(f"the second ./dev demo: {time.monotonic() - start:.0f} s")


def test_new_machine_install(arguments):
    skip_unless_possible()
    machine = new_machine(arguments, "new_machine_install")
    root, user = User(machine, "root", 0), User(machine, "home/ann", USER_ID)
    root.run(f"useradd --create-home --uid {USER_ID} ann", root.home)
    clone = copy_clone(user)
    text = (SOURCE / "README.md").read_text(encoding="utf-8")
    *as_root, configure, build, installation, login = commands_of(
        block_of(text, "sh", "apt-get update\n"))
    for command in as_root:
        root.run(command, root.home)
    for command in (configure, build, installation):
        user.run(command, clone)
    user.login = [login]
    follow(text[text.index("```cpp\n"):], user, user.home / "readme")
    root.run("apt-get install meson", root.home)
    follow_install_page(user, user.home / "install_page")
    shutil.rmtree(machine)


TESTS = {"new_machine_demo": test_new_machine_demo,
         "new_machine_install": test_new_machine_install}
