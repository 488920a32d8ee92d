# SPDX-License-Identifier: MIT
"""Does what README and guide tell a newcomer to do, as it stands there, in an empty home. Of the
installation it does not repeat the packages and the build.
"""

import os
import pathlib
import re
import subprocess

from tools import SOURCE, cache_entry, empty_directory

DEMO_PACKAGES = SOURCE / "scripts/packages/demo.txt"


def block_of(document, language, beginning):
    """The first piece in that language that begins so."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", document, re.M | re.S)
    return next(block for block in blocks if block.startswith(beginning))


def commands_of(block):
    """The commands of a piece of shell, without its comments."""
    lines = block.replace("\\\n", " ").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


class Newcomer:
    """A user with an empty home directory, who has only the documents."""

    def __init__(self, home, compiler):
        home.mkdir()
        self.home = home
        self.prefix = home / ".local"
        self.login = []  # commands for every shell
        known = {
            name: value for name, value in os.environ.items()
            if not name.lower().startswith(("eventlog_root", "eventlog_dir", "cmake_prefix_path"))
        }
        # The consumer must not be listed among the programs of the user who runs the tests.
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
    demo = set(re.findall(r"(?m)^([a-z][a-z0-9.+-]*) ", DEMO_PACKAGES.read_text(encoding="utf-8")))
    shown = set(as_root[-1].removeprefix("apt-get install ").split())
    # The recipe compiles once, without a compiler cache.
    assert shown == demo - {"ccache"}, f"README and {DEMO_PACKAGES} differ: {shown ^ demo}"
    folder = "build/install"
    assert build == f"cmake --build {folder}", build
    for command in (configure, installation):
        assert f" {folder} " in command, command
    newcomer.run(configure.replace(f" {folder} ", f" {directory / 'configured'} "), SOURCE)
    newcomer.run(installation.replace(f" {folder} ", f" {arguments.build} "), SOURCE)
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
    folder = cache_entry(build, "eventlog_DIR")
    assert pathlib.Path(folder).is_relative_to(newcomer.prefix), f"CMake finds {folder}"


def check_shown(printed, shown):
    """What a command prints is what a document shows, but for when, where and who it was."""
    ends = [line.split(" ", 3)[3:] for line in printed.splitlines()]
    assert ends == [line.split(" ", 3)[3:] for line in shown], f"{printed}\n{shown}"


def test_first_steps(arguments):
    directory = empty_directory(arguments, "first_steps")
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


TESTS = {"first_steps": test_first_steps}
