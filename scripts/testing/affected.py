# SPDX-License-Identifier: MIT
"""Finds the tests of a build that the changed files can affect.

A compiled test depends on all sources and headers of its executable, which ninja knows from the
compiler's depfiles. A script depends on the modules that it imports from its folder and from the
folders `harness`, on elog and the library, and on each program whose name it contains. A changed
file that no test depends on has an unknown effect: then every test is affected.
"""

import json
import pathlib
import re
import subprocess

PROJECT = pathlib.Path(__file__).resolve().parents[2]
# Files without tests; lint checks them.
WITHOUT_EFFECT = re.compile(r"(LICENSES/|\.git|\.clang-format|\.editorconfig|.*/README\.md$)")
# Files that tests of these names read and that the build does not know of.
READ_BY = (
    (re.compile(r"kernel/"), re.compile(r"vm\.|kernel_ring$|documents\.|integration\.test_generated_kernel")),
    (re.compile(r"docs/man/|docs/|README\.md$"), re.compile(r"documents\.|man_pages$|packaging\.|"
                                                            r"integration\.test_(generated|generated_kernel|examples|json_page)$")),
    (re.compile(r"tests/fuzz/corpus/"), re.compile(r"fuzz\.")),
    (re.compile(r"tests/model/"), re.compile(r"model\.")),
    (re.compile(r"tests/codegen/"), re.compile(r"codegen\.")),
    (re.compile(r"tests/compile_fail/"), re.compile(r"compile_fail\.")),
    (re.compile(r"sdk/include/"), re.compile(r"documents\.(man_pages|api_page)$")),
    (re.compile(r"tests/documents/"), re.compile(r"documents\.")),
    (re.compile(r"tests/aarch64/"), re.compile(r"aarch64\.|vm\.aarch64")),
    (re.compile(r"tests/packaging/"), re.compile(r"packaging\.")),
    (re.compile(r"(tests/(inventory|mutations)|scripts)/"), re.compile(r"runner\.")),
    (re.compile(r"bench/.*\.py$"), re.compile(r"bench\.")),
    (re.compile(r"tests/vm/(?!test_|programs/)"), re.compile(r"vm\.")),
)
IMPORT = re.compile(r"^\s*(?:import|from) (\w+)", re.M)
# The modules that scripts of several folders share.
HARNESSES = ("tests/integration/harness", "tests/vm/harness")
# Scripts of these folders run elog and load the library, even if their text does not name these.
RUN_ELOG = ("tests/integration/", "tests/vm/")


def output_of(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout


def changed_files(revision):
    """Paths of the project that differ from a revision, new files included."""
    changed = output_of("git", "diff", "--name-only", revision, "--").splitlines()
    new = output_of("git", "ls-files", "--others", "--exclude-standard").splitlines()
    return {path for path in changed + new if not WITHOUT_EFFECT.match(path)}


def project_path(path, folder=PROJECT):
    """A path relative to the project; None: the file is not one of the project."""
    absolute = (folder / path).resolve()
    return str(absolute.relative_to(PROJECT)) if absolute.is_relative_to(PROJECT) else None


class Build:
    """The tests of a built folder and their dependencies; `selection` are options of CTest."""

    def __init__(self, folder, selection=()):
        self.folder = PROJECT / folder
        self.headers = self.read_headers()
        self.inputs_of_targets = {}
        shown = json.loads(output_of("ctest", "--test-dir", str(folder), "--show-only=json-v1",
                                     *selection))
        self.tests = [(test["name"], test.get("command", [])) for test in shown["tests"]]
        self.programs = {path.name: path for path in self.folder.rglob("*")
                         if path.is_file() and path.stat().st_mode & 0o111
                         and path.suffix in ("", ".so")}

    def read_headers(self):
        """The project's files that each object file was made of."""
        found = {}
        for line in output_of("ninja", "-C", str(self.folder), "-t", "deps").splitlines():
            if line and not line.startswith(" "):
                name = line.split(":")[0]
                found[name] = set()
            elif line:
                path = project_path(line.strip(), self.folder)
                if path:
                    found[name].add(path)
        return found

    def inputs(self, program):
        """The project's files that an executable or library is made of."""
        target = str(program.relative_to(self.folder))
        if target not in self.inputs_of_targets:
            found = set()
            result = subprocess.run(("ninja", "-C", str(self.folder), "-t", "inputs", target),
                                    check=False, stdout=subprocess.PIPE, encoding="utf-8")
            for line in result.stdout.splitlines():
                found |= self.headers.get(line, set())
                path = project_path(line, self.folder)
                if path and not path.startswith("build/"):
                    found.add(path)
            self.inputs_of_targets[target] = found
        return self.inputs_of_targets[target]

    def of_script(self, script):
        """The files that a Python script depends on."""
        modules, left = set(), [script]
        while left:
            module = left.pop()
            if module not in modules and module.is_file():
                modules.add(module)
                left += [folder / f"{name}.py"
                         for name in IMPORT.findall(module.read_text(encoding="utf-8"))
                         for folder in (module.parent, *(PROJECT / each for each in HARNESSES))]
        text = "\n".join(module.read_text(encoding="utf-8") for module in modules)
        words = set(re.findall(r"\w+", text))
        names = {str(module.relative_to(PROJECT)) for module in modules}
        if str(script.relative_to(PROJECT)).startswith(RUN_ELOG):
            words |= {"elog", "libeventlog"}
        for name, path in self.programs.items():
            if name.split(".")[0] in words:
                names |= self.inputs(path)
        return names

    def files_of(self, command):
        """The project's files that a test depends on, as far as its command shows."""
        found = set()
        for word in command:
            path = pathlib.Path(word)
            if not path.is_absolute() or not path.is_file() or not path.is_relative_to(PROJECT):
                continue
            if path.is_relative_to(self.folder):
                found |= self.inputs(path)
            elif path.suffix == ".py":
                found |= self.of_script(path)
            else:
                found.add(str(path.relative_to(PROJECT)))
        return found

    def affected_by(self, changed):
        """The names of the tests that the changed files can affect, and the files of unknown effect."""
        affected, unknown = set(), set(changed)
        for name, command in self.tests:
            files = self.files_of(command) & changed
            files |= {path for path in changed for pattern, names in READ_BY
                      if pattern.match(path) and names.match(name)}
            if files:
                affected.add(name)
                unknown -= files
        return affected, unknown
