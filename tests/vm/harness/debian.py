# SPDX-License-Identifier: MIT
"""Debian's packages, downloaded and unpacked without being installed.

For other architectures apt uses separate lists, so that the machine's configuration stays unchanged.
"""

import functools
import pathlib
import re
import shutil
import subprocess

import cache
from paths import HarnessError, PackageUnavailable, cache_directory

# The architecture of this machine, which needs no separate lists.
HOST_ARCHITECTURE = "amd64"

# The parts of Debian's archive by kernel, for messages.
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
        raise HarnessError(f"`{' '.join(command)}` failed:\n{result.stdout}{result.stderr}".rstrip())
    return result.stdout


def _options(architecture):
    """Options of apt for another architecture, whose lists are fetched if they are missing."""
    if architecture == HOST_ARCHITECTURE:
        return []
    folder = cache_directory() / "apt" / architecture
    options = [
        f"APT::Architecture={architecture}",
        f"APT::Architectures={architecture}",
        f"Dir::State::Lists={folder / 'lists'}",
        f"Dir::Cache={folder / 'cache'}",
        "Dir::State::status=/dev/null",
        "APT::Sandbox::User=root",
    ]
    words = [word for option in options for word in ("-o", option)]
    with cache.locked(folder):
        if not (folder / "complete").exists():
            for name in ("lists/partial", "cache/archives/partial"):
                (folder / name).mkdir(parents=True, exist_ok=True)
            try:
                _run("apt-get", "-q", *words, "-o", "APT::Update::Error-Mode=any", "update")
            except HarnessError as problem:
                raise PackageUnavailable(
                    f"apt cannot fetch its lists for {architecture}: {problem}"
                ) from problem
            (folder / "complete").touch()
    return words


@functools.cache
def candidate(package, series, architecture=HOST_ARCHITECTURE):
    """The fields of the package that apt would install. `series` is that of the kernel."""
    if shutil.which("apt-get") is None:
        raise PackageUnavailable(f"{package} is a Debian package, and this is no Debian.")
    listing = subprocess.run(
        ["apt-cache", *_options(architecture), "show", "--no-all-versions", package],
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
        raise PackageUnavailable(
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
    raise HarnessError(f"{fields['Package']} {fields['Version']} has no dependency that matches {pattern}.")


def download(package, version, folder, architecture=HOST_ARCHITECTURE):
    """Downloads the .deb into a folder; returns its path. Without a version, the one that apt would install."""
    before = set(pathlib.Path(folder).glob("*.deb"))
    # apt's sandbox user may not write here, so that apt runs as the caller.
    try:
        _run("apt-get", "-q", *_options(architecture), "-o", "APT::Sandbox::User=root", "download",
             f"{package}={version}" if version else package, cwd=folder)
    except HarnessError as problem:
        # Debian's archive removes replaced versions.
        renew = "Run `apt-get update`"
        if architecture != HOST_ARCHITECTURE:
            renew = f"Remove {cache_directory() / 'apt' / architecture}"
        raise HarnessError(f"{problem}\n{renew} if apt's lists are old.") from problem
    new = set(pathlib.Path(folder).glob("*.deb")) - before
    if len(new) != 1:
        raise HarnessError(f"apt-get downloaded no {package} {version}.")
    return new.pop()


def unpack(archive, folder):
    _run("dpkg-deb", "-x", str(archive), str(folder))
