# SPDX-License-Identifier: MIT
"""The kernels by name: their recipes, their folders and their properties."""

import dataclasses
import json
import pathlib
import tempfile
import time

import cache
import debian
from paths import HERE, HarnessError
from source import build, configuration, patch_series, unpacked_source

# Version of the recipe: part of the cache keys.
RECIPE = 1


@dataclasses.dataclass(frozen=True)
class Recipe:
    """How to get a kernel: an image of Debian's, or a source package, fragments and patches."""

    name: str
    purpose: str
    series: str  # 6.12
    package: str  # of apt
    fragments: tuple = ()  # names in kernels/*.config; none for an image of Debian
    architecture: str = "amd64"  # Debian's name; other ones only with an image
    patched: bool = False  # with the series of patches that kernel/patches generates

    @property
    def built(self):
        return bool(self.fragments)

    @property
    def patches(self):
        """File name to text, in the order in which they apply."""
        return patch_series() if self.patched else {}


RECIPES = (
    Recipe("debian-6.12", "Debian's, without user_events", "6.12", "linux-image-6.12-cloud-amd64"),
    Recipe("debian-6.1", "Debian's, without user_events", "6.1", "linux-image-cloud-amd64"),
    Recipe(
        "debian-6.1-arm64",
        "Debian's for aarch64",
        "6.1",
        "linux-image-cloud-arm64",
        architecture="arm64",
    ),
    Recipe(
        "user-events-6.12",
        "user_events that set bits at an address, and KUnit",
        "6.12",
        "linux-source-6.12",
        ("base", "user-events", "tracing", "kunit"),
    ),
    Recipe(
        "status-page-6.1",
        "user_events with a page of status bits",
        "6.1",
        "linux-source-6.1",
        ("base", "user-events", "status-page"),
    ),
    Recipe(
        "debug-6.12",
        "as user-events-6.12, with KASAN, lockdep and KUnit",
        "6.12",
        "linux-source-6.12",
        ("base", "user-events", "tracing", "debug"),
    ),
    Recipe(
        "race-6.12",
        "as user-events-6.12, with KCSAN, which finds data races",
        "6.12",
        "linux-source-6.12",
        ("base", "user-events", "tracing", "race"),
    ),
    Recipe(
        "in-tree-6.12",
        "as user-events-6.12, with the patches, KUnit, lockdep, and failing allocations",
        "6.12",
        "linux-source-6.12",
        ("base", "user-events", "tracing", "in-tree"),
        patched=True,
    ),
)
NAMES = tuple(recipe.name for recipe in RECIPES)


@dataclasses.dataclass(frozen=True)
class Kernel:
    """A kernel that can be booted."""

    name: str
    directory: pathlib.Path
    release: str  # of uname -r
    architecture: str = "amd64"

    @property
    def busybox(self):
        """The busybox of the kernel's architecture, or None if it is this machine's."""
        path = self.directory / "bin" / "busybox"
        return path if path.exists() else None

    @property
    def image(self):
        return self.directory / "vmlinuz"

    @property
    def modules(self):
        """Everything below lib/modules/RELEASE."""
        return self.directory / "lib" / "modules" / self.release


def recipe(name):
    for entry in RECIPES:
        if entry.name == name:
            return entry
    raise HarnessError(f"there is no kernel called {name}. There are: {', '.join(NAMES)}.")


def _package(entry):
    """Name and version of the package that the kernel comes from."""
    fields = debian.candidate(entry.package, entry.series, entry.architecture)
    if not entry.built:
        # The package without a number depends on the one with the image.
        name = debian.dependency(fields, r"linux-image-[0-9].*")
        fields = debian.candidate(name, entry.series, entry.architecture)
    return fields["Package"], fields["Version"]


def source_of(name):
    """The folder with the source of a kernel that is built, without patches."""
    return unpacked_source(*_package(recipe(name)))


def _key(entry, package, version):
    fragments = [(HERE / "kernels" / f"{name}.config").read_text() for name in entry.fragments]
    return cache.key_of(RECIPE, package, version, fragments, list(entry.patches.values()))


def _load(name, directory):
    description = json.loads((directory / "kernel.json").read_text())
    return Kernel(name, directory, description["release"], recipe(name).architecture)


def find(name):
    """The kernel of that name if it is in the cache, or None, and its key."""
    entry = recipe(name)
    key = _key(entry, *_package(entry))
    directory = cache.place("kernels", name, key)
    return (_load(name, directory) if directory.is_dir() else None), key


def obtain(name, print_status):
    """The kernel of that name, fetched or built if it is not in the cache. `say` reports long steps."""
    entry = recipe(name)
    package, version = _package(entry)

    def make(directory):
        start = time.monotonic()
        if entry.built:
            print_status(f"{name}: building it from {package} {version}. This lasts minutes, and happens once.")
            source = unpacked_source(package, version, entry.patches)
            release = build(source, configuration(entry.fragments), directory)
        else:
            print_status(f"{name}: fetching {package} {version}.")
            release = _fetch(package, version, entry.architecture, directory)
        seconds = round(time.monotonic() - start)
        description = {
            "name": name,
            "release": release,
            "package": package,
            "version": version,
            "seconds": seconds,
        }
        (directory / "kernel.json").write_text(json.dumps(description, indent=4) + "\n")
        print_status(f"{name}: done after {seconds} s.")

    return _load(name, cache.obtain("kernels", name, _key(entry, package, version), make))


def _fetch(package, version, architecture, directory):
    """Unpacks an image of Debian. Returns its release."""
    with tempfile.TemporaryDirectory(dir=directory) as scratch:
        debian.unpack(debian.download(package, version, scratch, architecture), directory)
        if architecture != debian.HOST_ARCHITECTURE:
            # Guests of this machine's architecture use the installed busybox.
            archive = debian.download("busybox-static", None, scratch, architecture)
            debian.unpack(archive, directory)
    images = list((directory / "boot").glob("vmlinuz-*"))
    if len(images) != 1:
        raise HarnessError(f"{package} {version} contains {len(images)} kernels where there should be one.")
    (directory / "vmlinuz").symlink_to(images[0].relative_to(directory))
    return images[0].name.removeprefix("vmlinuz-")
