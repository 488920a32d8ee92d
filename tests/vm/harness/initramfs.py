# SPDX-License-Identifier: MIT
"""The guest's only file system: busybox, the init of guest/, and the files of a run."""

import os
import re
import shlex
import shutil
import subprocess

import modules
import programs
from archive import Archive
from paths import HERE, HarnessError

# Modules for communication with the host, where they are not built in.
HARNESS_MODULES = ("virtio_pci", "virtio_console")

PASSWD = """root:x:0:0:root:/root:/bin/sh
user:x:1000:1000:an ordinary user:/home/user:/bin/sh
other:x:1001:1001:another one:/home/other:/bin/sh
tracer:x:1002:1002:a user that may trace:/home/tracer:/bin/sh
nobody:x:65534:65534:nobody:/nonexistent:/bin/sh
"""
GROUP = """root:x:0:
tracing:x:900:tracer
user:x:1000:
other:x:1001:
tracer:x:1002:
nogroup:x:65534:
"""
USERS = tuple(line.split(":")[0] for line in PASSWD.splitlines())


def _busybox():
    busybox = shutil.which("busybox")
    if busybox is None or programs.libraries_of(busybox):
        raise HarnessError("the guest needs a busybox that is linked statically: install busybox-static.")
    return busybox


def applets():
    """The commands that every guest has."""
    return subprocess.run(
        [_busybox(), "--list"], check=True, stdout=subprocess.PIPE, encoding="ascii"
    ).stdout.split()


def _add_busybox(archive, kernel):
    archive.file("/usr/bin/busybox", kernel.busybox or _busybox())
    for applet in applets():
        # A program of that name among the files of the run has priority.
        archive.link(f"/usr/bin/{applet}", "busybox")


def _add_skeleton(archive):
    for path in ("proc", "sys", "dev", "run", "root", "home", "etc", "usr/bin", "usr/lib", "vm/modules"):
        archive.directory(path)
    for path in ("/tmp", "/var/tmp"):
        archive.directory(path, 0o1777)
    for line in PASSWD.splitlines():
        _, _, user, _, _, home, _ = line.split(":")
        if home.startswith("/home/"):
            archive.directory(home, owner=int(user))
    # As on Debian.
    for name in ("bin", "sbin", "lib", "lib64"):
        archive.link(f"/{name}", f"usr/{name}")
    for name in ("sbin", "lib64"):
        archive.directory(f"/usr/{name}")
    archive.character_device("/dev/console", 5, 1)
    archive.text("/etc/passwd", PASSWD)
    archive.text("/etc/group", GROUP)
    archive.text("/etc/hosts", "127.0.0.1 localhost guest\n")
    archive.file("/init", HERE / "guest" / "init")


def _add_command(archive, run):
    lines = ["#!/bin/sh"]
    lines += [f"export {name}={shlex.quote(value)}" for name, value in run.environment.items()]
    lines += [f"cd {shlex.quote(run.directory)} || exit 125"]
    lines += [f"exec {shlex.join(run.command)}" if run.command else "exec sh -l"]
    archive.text("/vm/command", "\n".join(lines) + "\n", 0o755)
    archive.directory(run.directory)


def _add_settings(archive, run):
    if run.user not in USERS:
        raise HarnessError(f"the guest has no user {run.user}. It has: {', '.join(USERS)}.")
    for path in run.collect:
        if not re.fullmatch(r"/[\w./+-]+", path):
            raise HarnessError(f"{path} cannot be collected: give an absolute path without spaces.")
    run_as = "" if run.user == "root" else f"su {run.user} -s /bin/sh -c"
    archive.text(
        "/vm/settings",
        f"user={run.user}\ninteractive={'yes' if run.interactive else ''}\nrun_as='{run_as}'\n",
    )
    archive.text("/vm/collect", "".join(f"{path}\n" for path in run.collect))


def _add_modules(archive, kernel, wanted):
    ordered = modules.in_order(kernel.modules, [*HARNESS_MODULES, *wanted])
    for name, content in ordered:
        archive.bytes(f"/vm/modules/{name}.ko", content)
    archive.text("/vm/modules/order", "".join(f"{name}\n" for name, _ in ordered))


def make(path, kernel, run):
    """Writes the file system for a run to a file."""
    archive = Archive()
    _add_skeleton(archive)
    _add_command(archive, run)
    _add_settings(archive, run)
    for place, source in run.files.items():
        if not os.path.exists(source):
            raise HarnessError(f"there is no {source} for the guest.")
        programs.add_tree(archive, source, place)
    if run.python:
        programs.add_python(archive)
    _add_modules(archive, kernel, run.modules)
    _add_busybox(archive, kernel)
    archive.write(path)
