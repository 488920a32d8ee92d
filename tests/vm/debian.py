# SPDX-License-Identifier: MIT
"""Debian's packages, downloaded and unpacked without being installed."""

import functools
import pathlib
import re
import shutil
import subprocess

from paths import Problem, Unavailable

# Which part of Debian's archive has a kernel, for the sentence that says so.
SUITES = {
    "6.12": "the suite `bookworm-security` of Debian's security archive",
    "6.1": "the suite `bookworm` of Debian's archive",
}


def _run(*command, **options):
    result = subprocess.run(
        command,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        **options,
    )
    if result.returncode != 0:
        raise Problem(f"`{' '.join(command)}` failed:\n{result.stdout}{result.stderr}".rstrip())
    return result.stdout


@functools.cache
def candidate(package, series):
    """What apt would install: a dictionary of the package's fields. `series` is that of the kernel."""
    if shutil.which("apt-get") is None:
        raise Unavailable(f"{package} is a Debian package, and this is no Debian.")
    listing = subprocess.run(
        ["apt-cache", "show", "--no-all-versions", package],
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
    ).stdout
    fields = dict(re.findall(r"^(\S+): (.*)$", listing, re.MULTILINE))
    version = fields.get("Version", "")
    # The package of one Debian release may be another kernel in the next.
    if not re.match(re.escape(series) + r"\D", version):
        offered = f"only version {version} of {package}" if version else f"no package {package}"
        raise Unavailable(
            f"apt knows {offered}, but Linux {series} is needed. Add {SUITES[series]} (component "
            "`main`) to /etc/apt/sources.list and run `apt-get update`."
        )
    return fields


def dependency(fields, pattern):
    """The first package of `Depends` whose name matches."""
    for alternative in re.split(r"[,|]", fields.get("Depends", "")):
        name = alternative.split("(")[0].strip()
        if re.fullmatch(pattern, name):
            return name
    raise Problem(f"{fields['Package']} {fields['Version']} depends on nothing like {pattern}.")


def download(package, version, folder):
    """Puts the .deb into a folder; returns its path."""
    before = set(pathlib.Path(folder).glob("*.deb"))
    # apt changes to a user of its own where it can, who may not write here: it says so, and goes on
    # as the caller. That is what we want.
    try:
        _run("apt-get", "-q", "-o", "APT::Sandbox::User=root", "download", f"{package}={version}",
             cwd=folder)
    except Problem as problem:
        # Debian's archive keeps no versions that have been replaced.
        raise Problem(f"{problem}\nRun `apt-get update` if apt's lists are old.") from problem
    new = set(pathlib.Path(folder).glob("*.deb")) - before
    if len(new) != 1:
        raise Problem(f"apt-get downloaded no {package} {version}.")
    return new.pop()


def unpack(archive, folder):
    _run("dpkg-deb", "-x", str(archive), str(folder))
