#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds and runs a small consumer of eventlog in one of the ways a project can consume it.

find_package and pkg_config consume an installed tree, made from the given build directory, and
check that tree itself too; add_subdirectory and meson_subproject consume the source tree.
first_steps does what README and guide tell a newcomer to do, as it stands there, in an empty home;
of the installation it does not repeat the packages and the build.
"""

import argparse
import os
import pathlib
import re
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent


def run(*command, cwd=None, **environment):
    """Runs a command, echoed because the test's log is all there is to a failure."""
    words = [str(word) for word in command]
    print("+", *words, flush=True)
    subprocess.run(words, cwd=cwd, env={**os.environ, **environment}, check=True)


def output_of(*command):
    words = [str(word) for word in command]
    print("+", *words, flush=True)
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout


def install(builder, build, directory):
    """Installs the build below the directory and returns the prefix there."""
    if builder == "cmake":
        run("cmake", "--install", build, "--prefix", directory)
        return directory
    run("meson", "install", "-C", build, "--no-rebuild", "--destdir", directory)
    (include,) = directory.glob("**/include/eventlog")
    return include.parent.parent


def find_library_directory(prefix):
    (library,) = prefix.glob("**/libeventlog.so")
    return library.parent


def check_installed_tree(prefix):
    run(prefix / "bin/elog", "--version")
    for name in ("sysusers.d", "tmpfiles.d", "systemd/system/systemd-tmpfiles-setup.service.d"):
        assert (prefix / "lib" / name / "eventlog.conf").is_file(), f"lib/{name} is not installed"
    for name in ("bash-completion/completions/elog", "zsh/site-functions/_elog",
                 "fish/vendor_completions.d/elog.fish"):
        assert (prefix / "share" / name).is_file(), f"share/{name} is not installed"
    libraries = find_library_directory(prefix)
    check_exported_names(libraries / "libeventlog.so", r"eventlog_\w+")
    check_exported_names(
        libraries / "libelog.so", r"elog::.*|(vtable|typeinfo|typeinfo name) for elog::error"
    )
    check_name_for_the_loader(libraries / "libelog.so")


def check_name_for_the_loader(library):
    """Programs are told to find that version, and no other that they may not fit."""
    version = re.search(r"^project\(\n    eventlog\n    VERSION (\d+)\.(\d+)\.",
                        (SOURCE / "CMakeLists.txt").read_text(encoding="utf-8"), re.M)
    major, minor = version.groups()
    expected = f"{library.name}.{major}.{minor}" if major == "0" else f"{library.name}.{major}"
    dynamic = output_of("readelf", "-d", library)
    assert f"Library soname: [{expected}]" in dynamic, dynamic
    assert (library.parent / expected).exists(), f"{expected} is not installed"


def check_exported_names(library, pattern):
    """A library exports its own names, each with a version, and nothing else."""
    symbols = output_of("nm", "-D", "-C", "--defined-only", "--with-symbol-versions", library)
    names = []
    for line in symbols.splitlines():
        _, kind, name = line.split(maxsplit=2)
        # The versions themselves are absolute symbols.
        if kind != "A":
            names.append(name)
    assert names, f"{library.name} exports nothing"
    for name in names:
        plain, version, _ = name.partition("@@")
        assert version, f"{library.name} exports a symbol without a version: {name}"
        assert re.fullmatch(pattern, plain), f"{library.name} exports a foreign symbol: {name}"


def check_reader(reader, emitter, prefix, directory, **environment):
    """A program that uses libelog reads what another one has emitted."""
    recording = directory / "run.elog"
    run(prefix / "bin/elog", "record", "-e", "demo", "-o", recording, "--", emitter, **environment)
    words = [str(reader), str(recording)]
    print("+", *words, flush=True)
    result = subprocess.run(
        words, check=True, stdout=subprocess.PIPE, encoding="utf-8",
        env={**os.environ, **environment},
    )
    assert result.stdout == "demo:ping 1 hello\n", result.stdout


def build_with_cmake(source, compiler, directory, *definitions):
    run(
        "cmake", "-G", "Ninja", "-S", source, "-B", directory,
        f"-DCMAKE_CXX_COMPILER={compiler}", *definitions,
    )
    run("cmake", "--build", directory)


def test_find_package(arguments, directory):
    prefix = install(arguments.builder, arguments.build, directory / "installed")
    check_installed_tree(prefix)
    build = directory / "build"
    build_with_cmake(
        HERE / "find_package", arguments.compiler, build, f"-DCMAKE_PREFIX_PATH={prefix}"
    )
    run(build / "consumer")
    run(build / "consumer_static")
    for reader in ("reader", "reader_static"):
        check_reader(build / reader, build / "consumer", prefix, directory)


def test_pkg_config(arguments, directory):
    prefix = install(arguments.builder, arguments.build, directory / "installed")
    check_installed_tree(prefix)
    libraries = find_library_directory(prefix)
    for package, source in (("eventlog", "main.cpp"), ("elog", "reader.cpp")):
        run(
            HERE / "pkg_config/build.sh", package, arguments.compiler, HERE / source,
            directory / package, prefix, PKG_CONFIG_PATH=str(libraries / "pkgconfig"),
        )
    run(directory / "eventlog", LD_LIBRARY_PATH=str(libraries))
    check_reader(
        directory / "elog", directory / "eventlog", prefix, directory,
        LD_LIBRARY_PATH=str(libraries),
    )
    # Where there is no shared libelog, the static one has to be complete with what is beside it.
    for library in libraries.glob("libelog.so*"):
        library.unlink()
    run(
        HERE / "pkg_config/build.sh", "elog", arguments.compiler, HERE / "reader.cpp",
        directory / "static", prefix, "--static", PKG_CONFIG_PATH=str(libraries / "pkgconfig"),
    )
    check_reader(
        directory / "static", directory / "eventlog", prefix, directory,
        LD_LIBRARY_PATH=str(libraries),
    )


def test_add_subdirectory(arguments, directory):
    build_with_cmake(
        HERE / "add_subdirectory", arguments.compiler, directory, f"-DEVENTLOG_SOURCE={SOURCE}"
    )
    run(directory / "consumer")
    run(directory / "consumer_static")


def test_meson_subproject(arguments, directory):
    # Meson wants its subprojects below the parent's source tree.
    source = directory / "source"
    (source / "subprojects").mkdir(parents=True)
    (source / "subprojects/eventlog").symlink_to(SOURCE)
    (source / "main.cpp").symlink_to(HERE / "main.cpp")
    (source / "meson.build").symlink_to(HERE / "meson_subproject/meson.build")
    build = directory / "build"
    run("meson", "setup", source, build, CXX=arguments.compiler)
    run("meson", "compile", "-C", build)
    run(build / "consumer")
    run(build / "consumer_static")


def block_of(document, language, beginning):
    """The first piece in that language that begins so."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", document, re.M | re.S)
    return next(block for block in blocks if block.startswith(beginning))


def commands_of(block):
    """The commands of a piece of shell, without its comments."""
    lines = block.replace("\\\n", " ").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


class Newcomer:
    """Someone with an empty home, who knows nothing but what the documents say."""

    def __init__(self, home, compiler):
        home.mkdir()
        self.home = home
        self.prefix = home / ".local"
        self.login = []  # commands for every shell
        known = {
            name: value for name, value in os.environ.items()
            if not name.lower().startswith(("eventlog_root", "eventlog_dir", "cmake_prefix_path"))
        }
        # Their consumer must not show up among the programs of whoever runs the tests.
        self.environment = {
            **known, "HOME": str(home), "CXX": compiler,
            "EVENTLOG_DIR": os.environ["EVENTLOG_DIR"],
        }

    def run(self, command, directory):
        """Runs a command in a shell of its own; returns what it prints."""
        print("+", command, flush=True)
        result = subprocess.run(
            ["bash", "-ec", "\n".join([*self.login, command])], cwd=directory,
            env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL, encoding="utf-8", check=False,
        )
        assert result.returncode == 0, result.stdout + result.stderr
        assert "were not used by the project" not in result.stderr, result.stderr
        return result.stdout


def install_as_shown(text, newcomer, arguments, directory):
    """The README's installation, but for its packages and for the build, which is there already."""
    *as_root, configure, build, installation, login = commands_of(
        block_of(text, "sh", "apt-get update\n")
    )
    developers = (SOURCE / "dev").read_text(encoding="utf-8")
    for package in as_root[-1].removeprefix("apt-get install ").split():
        assert re.search(rf"^{re.escape(package)} ", developers, re.M), f"./dev has no {package}"
    folder = "build/install"
    assert build == f"cmake --build {folder}", build
    for command in (configure, installation):
        assert f" {folder} " in command, command
    newcomer.run(configure.replace(f" {folder} ", f" {directory / 'configured'} "), SOURCE)
    if arguments.builder == "cmake":
        newcomer.run(installation.replace(f" {folder} ", f" {arguments.build} "), SOURCE)
    else:
        install("meson", arguments.build, directory / "staged").rename(newcomer.prefix)
    newcomer.login = [login]
    found = newcomer.run("command -v elog", directory).strip()
    assert found == str(newcomer.prefix / "bin/elog"), f"the shell finds {found}"


def write_project_of(text, directory):
    """The CMakeLists.txt and the main.cpp that a document shows."""
    directory.mkdir()
    for name, language, comment in (("CMakeLists.txt", "cmake", "#"), ("main.cpp", "cpp", "//")):
        (directory / name).write_text(block_of(text, language, f"{comment} {name}\n"))


def check_library(newcomer, build):
    """CMake has found what the newcomer has installed, not another one on this machine."""
    cache = (build / "CMakeCache.txt").read_text(encoding="utf-8")
    (folder,) = re.findall(r"^eventlog_DIR:PATH=(.*)$", cache, re.M)
    assert pathlib.Path(folder).is_relative_to(newcomer.prefix), f"CMake finds {folder}"


def check_shown(printed, shown):
    """What a command prints is what a document shows, but for when, where and who it was."""
    ends = [line.split(" ", 3)[3:] for line in printed.splitlines()]
    assert ends == [line.split(" ", 3)[3:] for line in shown], f"{printed}\n{shown}"


def test_first_steps(arguments, directory):
    newcomer = Newcomer(directory / "home", arguments.compiler)
    text = (SOURCE / "README.md").read_text(encoding="utf-8")
    install_as_shown(text, newcomer, arguments, directory)
    readme = directory / "readme"
    write_project_of(text, readme)
    block = block_of(text, "sh", "cmake -G Ninja -B build ")
    *steps, last = commands_of(block)
    for command in steps:
        newcomer.run(command, readme)
    check_library(newcomer, readme / "build")
    check_shown(newcomer.run(last, readme), re.findall(r"^# (.*)$", block, re.M))

    guide = directory / "guide"
    text = (SOURCE / "docs/guide.md").read_text(encoding="utf-8")
    write_project_of(text, guide)
    for command in commands_of(block_of(text, "sh", "cmake ")):
        newcomer.run(command, guide)
    check_library(newcomer, guide / "build")
    block = block_of(text, "console", "$ elog record -e mailer -- build/mailer")
    command, *lines, _ = block.removeprefix("$ ").splitlines()  # without the summary
    check_shown(newcomer.run(command, guide), lines)


TESTS = {
    "add_subdirectory": test_add_subdirectory,
    "find_package": test_find_package,
    "first_steps": test_first_steps,
    "meson_subproject": test_meson_subproject,
    "pkg_config": test_pkg_config,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("test", choices=sorted(TESTS))
    parser.add_argument("--builder", choices=["cmake", "meson"], required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--compiler", required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="eventlog-packaging-") as directory:
        # The consumers must not show up among the programs of whoever runs the tests.
        os.environ["EVENTLOG_DIR"] = directory
        TESTS[arguments.test](arguments, pathlib.Path(directory))


if __name__ == "__main__":
    main()
