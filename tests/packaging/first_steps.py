# SPDX-License-Identifier: MIT
"""Runs the commands of README and tutorial in an empty home, and compares the output. Skips the
installation of packages and the build.
"""

import os
import pathlib
import re
import subprocess
import time

from tools import SOURCE, cache_entry, empty_directory

DEMO_PACKAGES = SOURCE / "scripts/packages/demo.txt"
FENCED = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
FILE_NAME = re.compile(r"(?:#|//) (CMakeLists\.txt|main\.cpp|meson\.build)\n")
# The start of an event's line: time, CPU, process and thread.
EVENT = re.compile(r"\d\d:\d\d:\d\d\.\d{6} \[\d+\] ([^ ]+)-\d+ ")
NUMBER = re.compile(r"\d[\d.:TZ-]*")
# In front of the time and the rate of a summary; a row of elog stat with its rate.
COUNTS = re.compile(r"\d+ events(, \d+ bytes, \d+ lost)?")
ROW = re.compile(r"([^ \d-]+)[\d-]* +(\d+) +[\d-]+( +\d+ +\d+( +\d+)?)$")


def block_of(document, language, beginning):
    """The first block in the language that starts with this text."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", document, re.M | re.S)
    return next(block for block in blocks if block.startswith(beginning))


def commands_of(block):
    """The commands of a shell block, without comments."""
    lines = block.replace("\\\n", " ").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


class NewUser:
    """A user with an empty home directory and the documents only."""

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
        """Runs a command in a shell of its own; returns its output, errors last."""
        print("+", command, flush=True)
        result = subprocess.run(
            ["bash", "-ec", "\n".join([*self.login, command])], cwd=directory,
            env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL, encoding="utf-8", check=False,
        )
        assert result.returncode == 0, result.stdout + result.stderr
        assert "were not used by the project" not in result.stderr, result.stderr
        return result.stdout + result.stderr


def install_as_shown(text, user, arguments, directory):
    """Runs the README's installation, without its packages and with the existing build."""
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
    user.run(configure.replace(f" {folder} ", f" {directory / 'configured'} "), SOURCE)
    # A newer compiler's warnings must not stop a user's build.
    assert cache_entry(directory / "configured", "EVENTLOG_WARNINGS_AS_ERRORS") == "OFF"
    user.run(installation.replace(f" {folder} ", f" {arguments.build} "), SOURCE)
    user.login = [login]
    found = user.run("command -v elog", directory).strip()
    assert found == str(user.prefix / "bin/elog"), f"the shell finds {found}"


def check_library(user, build):
    """Requires CMake to have found the user's installation, not another one on this machine."""
    folder = cache_entry(build, "eventlog_DIR")
    assert pathlib.Path(folder).is_relative_to(user.prefix), f"CMake finds {folder}"


def comparable(output):
    """The lines of an output without the varying parts: times, CPUs, process ids, rates; in lines without
    an event and counts, all numbers and the number of spaces."""
    lines = []
    for line in output.splitlines():
        event = EVENT.match(line)
        row = ROW.match(line)
        if event:
            lines.append((event[1], line[event.end():]))
        elif row:
            lines.append((row[1], *f"{row[2]} {row[3]}".split()))
        else:
            counts = COUNTS.match(line)
            rest = line[counts.end():] if counts else line
            lines.append((counts and counts[0], " ".join(NUMBER.sub("0", rest).split())))
    return lines


def check_console(user, block, directory):
    """Runs a command and compares its output with the document's."""
    first, _, shown = block.partition("\n")
    command = first.removeprefix("$ ")
    if command == "elog list":
        printed = list_while_it_runs(user, directory)
    else:
        printed = user.run(command, directory)
    assert comparable(printed) == comparable(shown), f"{printed}\n{shown}"


def list_while_it_runs(user, directory):
    """The output of elog list while build/mailer waits for Enter."""
    with subprocess.Popen(
        ["build/mailer"], cwd=directory, env=user.environment, stdin=subprocess.PIPE
    ) as program:
        try:
            deadline = time.monotonic() + 20
            while "mailer" not in (printed := user.run("elog list", directory)):
                assert time.monotonic() < deadline, printed
        finally:
            program.communicate(b"\n")
    return printed


def follow(document, user, directory):
    """Writes the files that a document shows, runs its commands and compares their outputs."""
    directory.mkdir()
    follow_in(document, user, directory)
    check_library(user, directory / "build")


def follow_in(document, user, directory):
    for language, block in FENCED.findall(document):
        name = FILE_NAME.match(block)
        if name:
            (directory / name[1]).write_text(block, encoding="utf-8")
        elif language == "sh":
            for command in commands_of(block):
                user.run(command, directory)
        elif language == "console":
            check_console(user, block, directory)


def test_first_steps(arguments):
    directory = empty_directory(arguments, "first_steps")
    user = NewUser(directory / "home", arguments.compiler)
    text = (SOURCE / "README.md").read_text(encoding="utf-8")
    install_as_shown(text, user, arguments, directory)
    # The text before the program is about eventlog's own sources.
    follow(text[text.index("```cpp\n"):], user, directory / "readme")
    text = (SOURCE / "docs/tutorial.md").read_text(encoding="utf-8")
    follow(text, user, directory / "tutorial")


def test_install_page(arguments):
    """The page about builds, with an installation of the existing build."""
    directory = empty_directory(arguments, "install_page")
    user = NewUser(directory / "home", arguments.compiler)
    user.run(f"cmake --install {arguments.build} --prefix ~/.local", directory)
    user.run(f"ln -s {SOURCE} ~/eventlog", directory)
    follow_install_page(user, directory / "page")


def follow_install_page(user, directory):
    """Follows each section in a folder of its own, with the page's program."""
    directory.mkdir()
    text = (SOURCE / "docs/how-to/install.md").read_text(encoding="utf-8")
    beginning, *sections = re.split(r"^## (?=.*$)", text, flags=re.M)
    assert len(sections) == 5, sections
    login = user.login
    for section in sections:
        name = section.partition("\n")[0]
        folder = directory / name
        folder.mkdir()
        # Variables that a section exports hold in its own shell.
        follow_in(beginning, user, folder)
        user.login = login + [line for line in commands_of(block_of(section, "sh", ""))
                              if line.startswith("export ")]
        follow_in(section, user, folder)
        assert (folder / "build/greeter").is_file(), name
    user.login = login


TESTS = {"first_steps": test_first_steps, "install_page": test_install_page}
