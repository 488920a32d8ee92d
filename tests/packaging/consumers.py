# SPDX-License-Identifier: MIT
"""Builds and runs a small consumer of eventlog in one of the ways a project can consume it.

find_package and pkg_config consume an installed tree; add_subdirectory and meson_subproject
consume the source tree.
"""

import json
import os
import pathlib
import shutil
import subprocess

from tools import (
    HERE, LAUNCHERS, MESON_UNITY_SIZE, SOURCE, empty_directory, find_library_directory,
    installed_tree, output_of, run, with_compiler_cache,
)


def check_reader(reader, emitter, prefix, directory, **environment):
    """Requires a program with libelog to read the events of another program."""
    recording = directory / "run.elog"
    run(
        prefix / "bin/elog", "record", "-e", "demo", "--force", "-o", recording, "--", emitter,
        **environment,
    )
    printed = output_of(reader, recording, **environment)
    assert printed == "demo:ping 1 hello\n", printed


def build_with_cmake(source, compiler, directory, *definitions):
    run(
        "cmake", "-G", "Ninja", "-S", source, "-B", directory,
        f"-DCMAKE_CXX_COMPILER={compiler}", *LAUNCHERS, *definitions,
    )
    run("cmake", "--build", directory, "--parallel", 2)


def test_find_package(arguments):
    prefix = installed_tree(arguments)
    build = empty_directory(arguments, f"find_package_{arguments.builder}")
    build_with_cmake(
        HERE / "find_package", arguments.compiler, build, f"-DCMAKE_PREFIX_PATH={prefix}"
    )
    run(build / "consumer")
    run(build / "consumer_static")
    for reader in ("reader", "reader_static"):
        check_reader(build / reader, build / "consumer", prefix, build)


def test_pkg_config(arguments):
    directory = empty_directory(arguments, f"pkg_config_{arguments.builder}")
    prefix = directory / "installed"
    shutil.copytree(installed_tree(arguments), prefix, symlinks=True)
    libraries = find_library_directory(prefix)
    environment = {
        "PKG_CONFIG_PATH": str(libraries / "pkgconfig"), "LD_LIBRARY_PATH": str(libraries),
        "CXX": with_compiler_cache(arguments.compiler),
    }

    # The .pc files work wherever they are.
    included = subprocess.check_output(
        ["pkg-config", "--variable=includedir", "eventlog"], text=True,
        env={**os.environ, **environment},
    )
    assert pathlib.Path(included.strip()).resolve() == (prefix / "include").resolve(), included

    def build(package, source, output, *options):
        run(
            HERE / "pkg_config/build.sh", package, HERE / source, directory / output, *options,
            **environment,
        )

    build("eventlog", "main.cpp", "emitter")
    run(directory / "emitter", **environment)
    build("elog", "reader.cpp", "reader")
    check_reader(directory / "reader", directory / "emitter", prefix, directory, **environment)
    # Without a shared libelog, the installed static one must be complete.
    for library in libraries.glob("libelog.so*"):
        library.unlink()
    build("elog", "reader.cpp", "static", "--static")
    check_reader(directory / "static", directory / "emitter", prefix, directory, **environment)


def test_add_subdirectory(arguments):
    build = empty_directory(arguments, "add_subdirectory")
    build_with_cmake(
        HERE / "add_subdirectory", arguments.compiler, build, f"-DEVENTLOG_SOURCE={SOURCE}",
        "-DCMAKE_UNITY_BUILD=ON",
    )
    run(build / "consumer")
    run(build / "consumer_static")
    check_reflection_of_cmake(arguments)


def check_reflection(build, package):
    """Requires each file of the consumer, and users of the package, to get the macro."""
    commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    found = [each["command"] for each in commands if each["file"].endswith("main.cpp")]
    assert len(found) == 2 and all("-DEVENTLOG_REFLECTION_PFR" in each for each in found), found
    assert "Cflags: -I${includedir} -DEVENTLOG_REFLECTION_PFR\n" in (
        package / "eventlog.pc").read_text(encoding="utf-8")
    assert 'INTERFACE_COMPILE_DEFINITIONS "EVENTLOG_REFLECTION_PFR"\n' in (
        package / "eventlogConfig.cmake").read_text(encoding="utf-8")


def check_reflection_of_cmake(arguments):
    build = empty_directory(arguments, "add_subdirectory_pfr")
    configure = ["cmake", "-G", "Ninja", "-S", HERE / "add_subdirectory", "-B", build,
                 f"-DCMAKE_CXX_COMPILER={arguments.compiler}", f"-DEVENTLOG_SOURCE={SOURCE}"]
    run(*configure, "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "-DEVENTLOG_INSTALL=ON",
        "-DEVENTLOG_REFLECTION=pfr")
    check_reflection(build, build / "eventlog")


def test_meson_subproject(arguments):
    # Meson requires subprojects below the parent's source tree.
    directory = empty_directory(arguments, "meson_subproject")
    source = directory / "source"
    (source / "subprojects").mkdir(parents=True)
    (source / "subprojects/eventlog").symlink_to(SOURCE)
    (source / "main.cpp").symlink_to(HERE / "main.cpp")
    (source / "meson.build").symlink_to(HERE / "meson_subproject/meson.build")
    build = directory / "build"
    run(
        "meson", "setup", "--optimization=0", "-Ddebug=false",
        "--unity=subprojects", MESON_UNITY_SIZE, source, build,
        CXX=with_compiler_cache(arguments.compiler),
    )
    run("meson", "compile", "-C", build, "--jobs", 2)
    run(build / "consumer")
    run(build / "consumer_static")
    build = directory / "build_pfr"
    run("meson", "setup", "-Deventlog:reflection=pfr", source, build,
        CXX=with_compiler_cache(arguments.compiler))
    check_reflection(build, build / "subprojects/eventlog/sdk")


TESTS = {
    "add_subdirectory": test_add_subdirectory,
    "find_package": test_find_package,
    "meson_subproject": test_meson_subproject,
    "pkg_config": test_pkg_config,
}
