#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds the kernel module for a kernel of the harness, or for this machine's kernel: `./dev module`.

Debian's kernels need their packages linux-headers-*, which are unpacked in the cache instead of installed.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import cache
import debian
import kernels
from paths import HERE, HarnessError, PackageUnavailable

ROOT = HERE.parent.parent
SOURCES = ("kernel/eventlog/**/*.[ch]", "kernel/eventlog/Kbuild", "kernel/eventlog/Makefile",
           "kernel/include/**/*.h", "kernel/samples/eventlog/*")
# Modules that use the module, built after it in the same folder.
SAMPLES = pathlib.PurePath("samples", "eventlog")
# Versions of the recipes for the headers and for the module: part of the cache keys.
RECIPE = 2
MODULE_RECIPE = 3


def _sources():
    return sorted(path for pattern in SOURCES for path in ROOT.glob(pattern))


def headers_of(kernel):
    """The build folder for modules of a kernel of the harness."""
    if kernels.recipe(kernel.name).built:
        return kernel.directory / "build"
    package = f"linux-headers-{kernel.release}"
    series = kernels.recipe(kernel.name).series
    fields = debian.candidate(package, series)
    common, tools = (debian.dependency(fields, pattern)
                     for pattern in (r"linux-headers-.*-common", r"linux-kbuild-.*"))
    # The archive can have the tools in a newer version than the headers, and keeps no older one.
    packages = {package: fields["Version"], common: fields["Version"],
                tools: debian.candidate(tools, series)["Version"]}

    def make(directory):
        with tempfile.TemporaryDirectory(dir=directory) as scratch:
            for name, version in packages.items():
                debian.unpack(debian.download(name, version, scratch), directory)
        place = directory / "usr" / "src"
        # The packages' files refer to installed paths.
        makefile = place / package / "Makefile"
        final = cache.place("headers", kernel.name, key) / "usr" / "src"
        makefile.write_text(makefile.read_text().replace("/usr/src", str(final)))

    key = cache.key_of(RECIPE, packages)
    return cache.obtain("headers", kernel.name, key, make) / "usr" / "src" / package


def make_modules(headers, directory, options):
    """Builds the modules of a folder, without a warning."""
    # Without type information for BPF, which needs pahole and the kernel's vmlinux.
    command = ["make", "-C", str(headers), f"M={directory}", "W=1", f"-j{os.cpu_count()}",
               "CONFIG_DEBUG_INFO_BTF_MODULES=", *options, "modules"]
    result = subprocess.run(command, check=False, stdin=subprocess.DEVNULL, encoding="utf-8",
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace")
    if result.returncode != 0:
        raise HarnessError(f"{result.stdout}\nThe module does not build with {headers}.")
    warnings = re.findall(r"^.*warning: .*$", result.stdout, re.MULTILINE | re.IGNORECASE)
    if warnings:
        raise HarnessError("\n".join(["The compiler warns:", *warnings]))


def build(headers, directory, options=()):
    """Builds the module and the samples that use it in a separate folder. Returns the path of the module."""
    if not (headers / "Makefile").exists():
        raise HarnessError(f"{headers} lacks the files for building modules. Install the package "
                      f"linux-headers-{headers.parent.name}, or name a kernel of ./dev vm --list.")
    if shutil.which("make") is None:
        raise HarnessError("there is no make. ./dev setup installs it.")
    for path in _sources():
        place = directory / path.relative_to(ROOT / "kernel")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)
    make_modules(headers, directory / "eventlog", options)
    symbols = directory / "eventlog" / "Module.symvers"
    make_modules(headers, directory / SAMPLES, [f"KBUILD_EXTRA_SYMBOLS={symbols}"])
    return directory / "eventlog" / "eventlog.ko"


def sample_of_module(module, name):
    """The path of a sample that was built with a module."""
    return pathlib.Path(module).parent.parent / SAMPLES / name


def module_for(kernel, options=()):
    """The module for a kernel of the harness, from the cache if its sources have not changed."""
    headers = headers_of(kernel)
    key = cache.key_of(MODULE_RECIPE, str(headers), options,
                       [path.read_text() for path in _sources()])

    def make(directory):
        build(headers, directory, options)
        _keep_modules(directory)

    return cache.obtain("modules", kernel.name, key, make) / "eventlog" / "eventlog.ko"


def _keep_modules(directory):
    """Removes all files but the modules, and their symbols, which modules that use them need."""
    for path in directory.rglob("*"):
        if path.is_file() and path.suffix != ".ko" and path.name != "Module.symvers":
            path.unlink()


def kernel_with_module(kernel, module, folder):
    """The folder with modules built of another source folder, which use the module; from the cache if nothing
    has changed."""
    headers = headers_of(kernel)
    sources = sorted(path for path in pathlib.Path(folder).iterdir() if path.is_file())
    # The module's path has the key of its sources in it.
    key = cache.key_of(MODULE_RECIPE, str(headers), str(module),
                       [(path.name, path.read_text()) for path in sources])

    def make(directory):
        for path in sources:
            shutil.copyfile(path, directory / path.name)
        make_modules(headers, directory,
                     [f"KBUILD_EXTRA_SYMBOLS={module.parent / 'Module.symvers'}",
                      f"EVENTLOG_INCLUDE={ROOT / 'kernel' / 'include'}"])
        _keep_modules(directory)

    return cache.obtain("modules", f"{folder.name}-{kernel.name}", key, make)


def _build_named(name):
    release = os.uname().release
    if name is None:
        print(f"module: building for this machine's kernel, {release}", flush=True)
        headers = pathlib.Path("/lib/modules", release, "build")
    else:
        kernel = kernels.obtain(name, lambda text: print(f"module: {text}", flush=True))
        release = kernel.release
        print(f"module: building for {name}, {release}", flush=True)
        headers = headers_of(kernel)
    directory = ROOT / "build" / "module" / release
    directory.mkdir(parents=True, exist_ok=True)
    print(f"module: {build(headers, directory).relative_to(ROOT)}", flush=True)


def main():
    parser = argparse.ArgumentParser(
        prog="./dev module",
        description="Builds the kernel module into build/module/RELEASE/eventlog/eventlog.ko, for "
        "the kernel that runs or for kernels of ./dev vm --list.",
    )
    parser.add_argument("kernels", nargs="*", metavar="KERNEL")
    try:
        for name in parser.parse_args().kernels or [None]:
            _build_named(name)
    except (HarnessError, PackageUnavailable) as problem:
        print(f"module: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
