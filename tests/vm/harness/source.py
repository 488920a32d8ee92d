# SPDX-License-Identifier: MIT
"""Builds kernels of Debian's source packages with the project's configurations and patches."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

import cache
import debian
from paths import HERE, HarnessError

sys.path.insert(0, str(HERE.parent.parent / "kernel" / "patches"))

import make_series  # pylint: disable=wrong-import-position

# Half of the source, which no kernel here needs. Kconfig files and makefiles stay because other files refer
# to them, and so do files that the patches change or their tests use.
EXCLUDED_PATHS = (
    "Documentation/[!t]*.rst",
    "Documentation/t[!r]*.rst",
    "Documentation/tra[!c]*.rst",
    "arch/[!x]*/*.[chS]",
    "arch/[!x]*/*.dts*",
    "drivers/gpu/*.[ch]",
    "drivers/media/*.[ch]",
    "drivers/net/*/*.[ch]",  # not loopback.c, which every kernel with a network has
    "sound/*.[ch]",
    "tools/testing/[!s]*.[ch]",
    "tools/testing/s[!e]*.[ch]",
    "tools/testing/selftests/[!k]*.[ch]",
)


def patch_series():
    """The patches for Linux 6.12 in the order in which they apply: file name to text."""
    try:
        return make_series.make()
    except make_series.Problem as problem:
        raise HarnessError(str(problem)) from problem


def _run(log, *command, **options):
    """Runs a command and appends its output to a file. Shows the end of it if the command fails."""
    log.write(f"$ {' '.join(map(str, command))}\n")
    log.flush()
    result = subprocess.run(
        [str(word) for word in command],
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        **options,
    )
    if result.returncode != 0:
        lines = pathlib.Path(log.name).read_text(errors="replace").splitlines()
        raise HarnessError("\n".join([*lines[-40:], f"`{command[0]}` failed with {result.returncode}."]))


def unpacked_source(package, version, patches=None):
    """The source of a package in the cache, with patches (file name to text). Unpatched files are links
    to the files of the source without patches."""
    pristine = unpacked_source(package, version) if patches else None
    key = cache.key_of(package, version, EXCLUDED_PATHS, list((patches or {}).values()))

    def make(directory):
        if pristine:
            with open(directory / "patch.log", "w", encoding="utf-8") as log:
                _run(log, "cp", "-al", f"{pristine}/.", directory)
                with tempfile.TemporaryDirectory(prefix="eventlog-patches-") as scratch:
                    apply_patches(write_patches(patches, scratch), directory, log)
            return
        with tempfile.TemporaryDirectory(dir=directory) as scratch:
            archive = debian.download(package, version, scratch)
            debian.unpack(archive, scratch)
            archive.unlink()
            tarball = pathlib.Path(scratch, "usr", "src", f"{package}.tar.xz")
            with open(directory / "unpack.log", "w", encoding="utf-8") as log:
                left_out = [f"--exclude={package}/{pattern}" for pattern in EXCLUDED_PATHS]
                _run(log, "tar", "-C", directory, "--strip-components=1", "--anchored", *left_out,
                     "-xf", tarball)

    return cache.obtain("sources", package, key, make)


def write_patches(patches, folder):
    """Writes patches (file name to text) into a folder. Returns their paths in the same order."""
    paths = [pathlib.Path(folder, name) for name in patches]
    for path, text in zip(paths, patches.values()):
        path.write_text(text, encoding="utf-8")
    return paths


def apply_patches(patches, directory, log):
    for path in patches:
        _run(log, "patch", "-d", directory, "-p1", "--fuzz=0", "-i", path)


def configuration(fragments):
    """The concatenated fragments of these names."""
    return "".join((HERE / "kernels" / f"{name}.config").read_text() for name in fragments)


def options_of(text):
    """The options of a configuration: name to value."""
    return dict(re.findall(r"^(CONFIG_\w+)=(.+)$", text, re.MULTILINE))


def rejected_options(wanted, got):
    """Options that Kconfig changed, mostly because of a missing dependency."""
    got = options_of(got)
    return [
        f"{name}={value} is wanted, but it is {got.get(name, 'n')}"
        for name, value in options_of(wanted).items()
        if got.get(name, "n") != value
    ]


def build(source, wanted, directory):
    """Builds a kernel in a directory, where modules for it can be built later. Returns its release."""
    output = directory / "build"
    output.mkdir()
    fragment = directory / "wanted.config"
    fragment.write_text(wanted)
    # Without user, time and host: the same ingredients give the same kernel.
    environment = {
        **os.environ,
        "KBUILD_BUILD_TIMESTAMP": "1970-01-01",
        "KBUILD_BUILD_USER": "eventlog",
        "KBUILD_BUILD_HOST": "eventlog",
        "LC_ALL": "C",
    }
    make = ["make", "-C", source, f"O={output}", f"-j{os.cpu_count()}", "-s"]
    with open(directory / "build.log", "w", encoding="utf-8") as log:
        _run(log, *make, f"KCONFIG_ALLCONFIG={fragment}", "allnoconfig", env=environment)
        config = (output / ".config").read_text()
        refused = rejected_options(wanted, config)
        if refused:
            raise HarnessError("The kernel's configuration is not what tests/vm/kernels asks for:\n"
                          + "\n".join(refused))
        _run(log, *make, "bzImage", "modules", env=environment)
        _run(log, *make, f"INSTALL_MOD_PATH={directory}", "modules_install", env=environment)
    release = (output / "include" / "config" / "kernel.release").read_text().strip()
    # The installation has a link to the folder's temporary path.
    for name, target in (("build", "../../../build"), ("source", "../../../build/source")):
        link = directory / "lib" / "modules" / release / name
        link.unlink(missing_ok=True)
        link.symlink_to(target)
    (output / "arch" / "x86" / "boot" / "bzImage").rename(directory / "vmlinuz")
    _discard_intermediates(output)
    return release


def _discard_intermediates(output):
    """Removes files that only the build needed. Files for modules stay: scripts, tools, headers."""
    for folder, _, names in os.walk(output):
        top = pathlib.Path(folder).relative_to(output).parts[:1]
        if top and top[0] in ("scripts", "tools", "include"):
            continue
        for name in names:
            if name.endswith((".o", ".a", ".ko", ".cmd", ".mod", ".mod.c", ".order")) or (
                name.startswith(("vmlinux", ".tmp_vmlinux", ".vmlinux"))
            ):
                os.unlink(os.path.join(folder, name))
