# SPDX-License-Identifier: MIT
"""Installs eventlog by each of its builds, for the tests which consume the installed tree.

install checks the tree alone; same_trees compares the trees of both builds.
"""

import re
import shutil

from tools import (
    MESON_UNITY_SIZE, SOURCE, cache_entry, empty_directory, find_library_directory,
    installed_tree, output_of, run, with_compiler_cache,
)


def test_install(arguments):
    prefix = installed_tree(arguments)
    shutil.rmtree(prefix, ignore_errors=True)
    prefix.parent.mkdir(parents=True, exist_ok=True)
    if arguments.builder == "cmake":
        run("cmake", "--install", arguments.build, "--prefix", prefix)
    else:
        install_with_meson(arguments, prefix)
    check_installed_tree(prefix)
    if arguments.builder == "cmake":
        # Unoptimized, as built with Meson here, it calls functions of the runtime.
        check_needs_no_runtime(find_library_directory(prefix) / "libeventlog.so")


def install_with_meson(arguments, prefix):
    """The build stays for the next run, which compiles only the changes."""
    build = arguments.directory / "meson"
    configured = ["--reconfigure"] if (build / "meson-private/coredata.dat").exists() else []
    # The CMake build compiles the same sources one by one and optimized, with the warnings that
    # only an optimizer gives.
    run(
        "meson", "setup", *configured, "--werror", "--optimization=0", "-Ddebug=false",
        "--unity=on", MESON_UNITY_SIZE,
        f"--prefix={cache_entry(arguments.build, 'CMAKE_INSTALL_PREFIX')}",
        f"--libdir={cache_entry(arguments.build, 'CMAKE_INSTALL_LIBDIR')}",
        build, SOURCE,
        CC=with_compiler_cache("cc"), CXX=with_compiler_cache(arguments.compiler),
    )
    run("meson", "compile", "-C", build, "--jobs", 2)
    staged = empty_directory(arguments, "staged")
    run("meson", "install", "-C", build, "--no-rebuild", "--quiet", "--destdir", staged)
    (include,) = staged.glob("**/include/eventlog")
    include.parent.parent.rename(prefix)


def check_installed_tree(prefix):
    run(prefix / "bin/elog", "--version")
    for name in ("sysusers.d", "tmpfiles.d", "systemd/system/systemd-tmpfiles-setup.service.d"):
        assert (prefix / "lib" / name / "eventlog.conf").is_file(), f"lib/{name} is not installed"
    for shell, name in (("bash", "bash-completion/completions/elog"),
                        ("zsh", "zsh/site-functions/_elog"),
                        ("fish", "fish/vendor_completions.d/elog.fish")):
        installed = (prefix / "share" / name).read_text("utf-8")
        printed = output_of(prefix / "bin/elog", "completion", shell)
        assert printed == installed, f"elog completion {shell} does not print share/{name}"
    libraries = find_library_directory(prefix)
    check_exported_names(libraries / "libeventlog.so", r"eventlog_\w+")
    check_exported_names(
        libraries / "libelog.so", r"elog::.*|(vtable|typeinfo|typeinfo name) for elog::error"
    )
    check_name_for_the_loader(libraries / "libelog.so")


def check_name_for_the_loader(library):
    """Requires the loader to find this version only; a program may not work with another."""
    header = (SOURCE / "sdk/include/eventlog/version.h").read_text(encoding="utf-8")
    major, minor = (
        re.search(rf"^#define EVENTLOG_VERSION_{part} (\d+)$", header, re.M).group(1)
        for part in ("MAJOR", "MINOR")
    )
    expected = f"{library.name}.{major}.{minor}" if major == "0" else f"{library.name}.{major}"
    assert loader_name(library) == expected, f"{library} is found as {loader_name(library)}"
    assert (library.parent / expected).exists(), f"{expected} is not installed"


def check_needs_no_runtime(library):
    """Requires a library to load no C++ runtime: programs in C use it, also with little memory."""
    needed = set(re.findall(r"\(NEEDED\) .*\[(.*)\]", output_of("readelf", "-d", library)))
    assert "libc.so.6" in needed, needed
    # libgcc_s has functions of the processor, such as the count of bits.
    assert not needed & {"libstdc++.so.6", "libm.so.6"}, needed


def loader_name(library):
    (name,) = re.findall(r"Library soname: \[(.*)\]", output_of("readelf", "-d", library))
    return name


def exported_names(library):
    """The names with their versions, as `name@@version`."""
    symbols = output_of("nm", "-D", "-C", "--defined-only", "--with-symbol-versions", library)
    lines = [line.split(maxsplit=2) for line in symbols.splitlines()]
    # The versions themselves are absolute symbols.
    return {name for _, kind, name in lines if kind != "A"}


def check_exported_names(library, pattern):
    """Requires a library to export its own names, each with a version, and no others."""
    names = exported_names(library)
    assert names, f"{library.name} exports nothing"
    for name in names:
        plain, version, _ = name.partition("@@")
        assert version, f"{library.name} exports a symbol without a version: {name}"
        assert re.fullmatch(pattern, plain), f"{library.name} exports a foreign symbol: {name}"


def listing_of(prefix):
    """{path below the prefix: its kind, and the mode of a file}"""
    listing = {}
    for path in prefix.rglob("*"):
        if path.is_symlink():
            kind = f"link to {path.readlink()}"
        elif path.is_dir():
            kind = "folder"
        elif ".so." in path.name:
            # CMake sets its mode as the distribution does, Meson as the linker; loaders ignore it.
            kind = "shared library"
        else:
            kind = f"file with mode {path.stat().st_mode & 0o777:o}"
        listing[str(path.relative_to(prefix))] = kind
    return listing


def check_same(what, by_cmake, by_meson):
    lines = [f"CMake alone: {each}" for each in sorted(by_cmake - by_meson)]
    lines += [f"Meson alone: {each}" for each in sorted(by_meson - by_cmake)]
    assert not lines, "\n".join([f"CMake and Meson install different {what}.", *lines])


def test_same_trees(arguments):
    trees = arguments.directory / "installed"
    by_cmake, by_meson = trees / "cmake", trees / "meson"
    check_same("files", set(listing_of(by_cmake).items()), set(listing_of(by_meson).items()))
    texts = [path for path in by_cmake.rglob("*") if path.is_file() and is_same_in_all_builds(path)]
    for path in texts:
        other = by_meson / path.relative_to(by_cmake)
        assert path.read_bytes() == other.read_bytes(), f"{path} and {other} differ"
    for name in ("libeventlog.so", "libelog.so"):
        libraries = [find_library_directory(prefix) / name for prefix in (by_cmake, by_meson)]
        check_same(f"names in {name}", *(exported_names(library) for library in libraries))
        check_same(f"versions of {name}", *({loader_name(library)} for library in libraries))
    print(len(texts), "text files are the same")


def is_same_in_all_builds(path):
    """Neither a program or a library, nor a CMake package: each build tool starts a package in its
    own way, and the test find_package uses it."""
    with open(path, "rb") as file:
        is_binary = file.read(8).startswith((b"\x7fELF", b"!<arch>"))
    return not is_binary and path.suffix != ".cmake"


TESTS = {"install": test_install, "same_trees": test_same_trees}
