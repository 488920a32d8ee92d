#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the tests that builds register with those that tests/inventory lists.

usage: inventory.py --check BUILD_DIRECTORY...
       inventory.py --update BUILD_DIRECTORY...
       inventory.py --fold

--check fails if a listed test is missing in one of the given builds, or does not run in the quick
tier there although its line says so. --update adds the tests that the builds register; it never
removes a test, a build or a tier. --fold applies the renames of renamed.txt to the lists, and empties
that file. A build has the name of its directory, which is that of its preset. The programs of the tests
must be built.

The names of tests:
  KIND.SUITE.CASE              a case of GoogleTest, from unit_tests, integration_tests, ...
  KIND/SCRIPT:CLASS.METHOD     a method of a Python script that CTest runs under a name KIND.*
  all others                   a test of CTest that is none of the above
"""

import argparse
import ast
import collections
import fnmatch
import json
import pathlib
import re
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "tests" / "inventory"
RENAMED = "renamed.txt"
LICENCE = "# SPDX-License-Identifier: MIT\n"
TIERS = ("quick", "full")
WIDTH = 100
# The decorator of vm_case, whose loader leaves the marked tests out of the quick tier.
FULL_TIER = "full_tier"
GOOGLETEST_KINDS = ("unit", "unsanitized", "reflection", "integration", "interleaving")

# Labels of tests that the full tier leaves out in a build, as ./dev does. The label quick wins.
LEFT_OUT = {"asan+ubsan": {"once", "compiler"}, "tsan": {"once", "compiler", "command"}}


class Problem(Exception):
    """A failure, as a sentence for stderr: the object, the fault and the remedy."""


# Lists --------------------------------------------------------------------------------------------


def kind_of(name):
    return name.partition(".")[0]


def join_name(group, member):
    return f"{group}.{member}"


def split_name(name):
    """Splits a name into group and member. Names of other tests of CTest split at the first dot, behind
    which a file name may follow."""
    has_cases = ":" in name or kind_of(name) in GOOGLETEST_KINDS
    group, _, member = name.rpartition(".") if has_cases else name.partition(".")
    return (group, member) if member else ("", name)


def parse_builds(words, where):
    """{build: tier} of words such as quick:asan+ubsan full:release,tsan."""
    builds = {}
    for word in words:
        tier, _, names = word.partition(":")
        if tier not in TIERS or not names:
            raise Problem(f"{where}: {word} is no tier. Write quick:BUILD or full:BUILD,BUILD.")
        builds.update({build: tier for build in names.split(",")})
    if not builds:
        raise Problem(f"{where}: the line names no tier. Add quick:BUILD or full:BUILD.")
    return builds


def parse_list(text, where):
    """{name: {build: tier}}. Indented lines contain the members of the group above them."""
    tests, group, builds, members = {}, None, {}, 0

    def end_group():
        if group and not members:
            tests.setdefault(group, {}).update(builds)

    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if line[0].isspace():
            if not group:
                raise Problem(f"{where}:{number}: members without a group. Add GROUP TIER:BUILD.")
            for member in line.split():
                if member.partition(":")[0] in TIERS:
                    raise Problem(f"{where}:{number}: {member} is a tier in a line of members. Lines "
                                  "of groups are not indented.")
                tests.setdefault(join_name(group, member), {}).update(builds)
                members += 1
            continue
        end_group()
        group, *words = line.split()
        builds, members = parse_builds(words, f"{where}:{number}"), 0
    end_group()
    return tests


def show_builds(builds):
    words = []
    for tier in TIERS:
        names = sorted(build for build, its_tier in builds.items() if its_tier == tier)
        if names:
            words.append(f"{tier}:{','.join(names)}")
    return " ".join(words)


def write_list(tests):
    """Returns the text of a list, which parse_list reads back to the same tests."""
    groups = collections.defaultdict(list)
    for name, builds in sorted(tests.items()):
        group, member = split_name(name)
        groups[group, show_builds(builds)].append(member)
    lines = []
    for (group, builds), members in sorted(groups.items()):
        if not group:
            lines += [f"{member} {builds}" for member in members]
            continue
        lines.append(f"{group} {builds}")
        lines += textwrap.wrap(
            " ".join(members), WIDTH, initial_indent="    ", subsequent_indent="    ",
            break_long_words=False, break_on_hyphens=False,
        )
    return LICENCE + "".join(line + "\n" for line in lines)


def file_of(name):
    if ":" in name:
        return "scripts.txt"
    kind = kind_of(name)
    return f"{kind}.txt" if kind in GOOGLETEST_KINDS else "others.txt"


def read_inventory(folder):
    tests = {}
    for path in sorted(folder.glob("*.txt")):
        if path.name != RENAMED:
            for name, builds in parse_list(path.read_text(), path.name).items():
                tests.setdefault(name, {}).update(builds)
    if not tests:
        raise Problem(f"{folder} lists no test. Restore its files from git.")
    return tests


def write_inventory(folder, tests):
    files = collections.defaultdict(dict)
    for name, builds in tests.items():
        files[file_of(name)][name] = builds
    for name, its_tests in files.items():
        (folder / name).write_text(write_list(its_tests))


# Renamed tests ------------------------------------------------------------------------------------


def parse_renames(text, known):
    """[(old, new)]. Both names may end in * for all tests whose names begin so."""
    renames = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        where = f"{RENAMED}:{number}"
        found = re.fullmatch(r"(\S+) -> (\S+) # (\S.*)", line)
        if not found:
            raise Problem(f"{where}: the line does not have the form OLD -> NEW # REASON.")
        old, new = found[1], found[2]
        if old.endswith("*") != new.endswith("*"):
            raise Problem(f"{where}: only one of the names ends in *. End both or none in it.")
        names = known | {earlier for _, earlier in renames}
        if not any(matches(old, name) for name in names):
            raise Problem(f"{where}: no list contains {old}. Correct the name of the old test.")
        renames.append((old, new))
    return renames


def matches(pattern, name):
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern


def present_name(name, renames):
    """The renames apply in their order, so that a test may be renamed twice."""
    for old, new in renames:
        if matches(old, name):
            name = new[:-1] + name[len(old) - 1 :] if old.endswith("*") else new
    return name


# Python scripts -----------------------------------------------------------------------------------


class Module:
    """The classes of a Python file by name, and the names that it imports."""

    def __init__(self, path):
        self.path = path
        self.classes, self.imported = {}, {}
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                self.classes[node.name] = node
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    self.imported[alias.asname or alias.name] = (node.module, alias.name)


def is_marked(node):
    """Whether FULL_TIER decorates a class or a function."""
    return any(ast.unparse(each).rpartition(".")[2] == FULL_TIER for each in node.decorator_list)


class Scripts:
    """Finds the test methods of scripts by syntax, without running them."""

    def __init__(self, root=ROOT / "tests"):
        self.root = root
        self.modules = {}

    def module_at(self, path):
        if path not in self.modules:
            self.modules[path] = Module(path)
        return self.modules[path]

    def module_named(self, name, importer):
        """Of the importer's folder, or else of any folder of the tests."""
        stem = name.rpartition(".")[2] + ".py"
        found = [importer.path.with_name(stem), *sorted(self.root.rglob(stem))]
        return next((self.module_at(path) for path in found if path.is_file()), None)

    def members_of(self, module, name):
        """Test methods of a class and its bases, {name: whether FULL_TIER marks it}; whether
        unittest.TestCase is among the bases."""
        if module is None or name == "TestCase":
            return {}, name == "TestCase"
        if name in module.imported:
            source, name = module.imported[name]
            return self.members_of(self.module_named(source or "", module), name)
        if name not in module.classes:
            return {}, False
        node = module.classes[name]
        methods, is_case = {}, False
        # The first base that has a method provides it, and the class itself comes before its bases.
        for base in reversed([ast.unparse(each) for each in node.bases]):
            source, _, base_name = base.rpartition(".")
            origin = self.module_named(source, module) if source else module
            more, base_is_case = self.members_of(origin, base_name)
            methods |= more
            is_case |= base_is_case or base == "unittest.TestCase"
        methods |= {each.name: is_marked(each) for each in node.body
                    if isinstance(each, ast.FunctionDef) and each.name.startswith("test")}
        return methods, is_case

    def methods_of(self, path):
        """{CLASS.METHOD: whether the quick tier loads it}. The mark of a class does not extend to
        derived classes, that of a method does."""
        found, module = {}, self.module_at(path)
        for name, node in module.classes.items():
            methods, is_case = self.members_of(module, name)
            if is_case:
                found |= {f"{name}.{method}": not (is_marked(node) or methods[method])
                          for method in sorted(methods)}
        return found


# Builds -------------------------------------------------------------------------------------------


def parse_cases(listing):
    """SUITE.CASE of each line that --gtest_list_tests prints."""
    cases, suite = [], ""
    for line in listing.splitlines():
        name = line.partition("#")[0].rstrip()
        if name.endswith(".") and not name[0].isspace():
            suite = name
        elif name.startswith("  "):
            cases.append(suite + name.strip())
    return cases


def is_selected(case, chosen):
    """Whether --gtest_filter=chosen selects the case."""
    positive, _, negative = chosen.partition("-")

    def is_in(patterns):
        return any(fnmatch.fnmatchcase(case, each) for each in patterns.split(":") if each)

    return is_in(positive or "*") and not is_in(negative)


def is_variant(name, chosen):
    """Whether a test repeats suites under other conditions: one suite as KIND.SUITE.CONDITION, or
    several under a name of their own."""
    rest, patterns = name.partition(".")[2], chosen.partition("-")[0].split(":")
    suites = [each.removesuffix(".*") for each in patterns]
    if len(suites) > 1:
        return rest not in suites
    return suites != patterns and rest.startswith(suites[0] + ".")


class Build:
    """The tests that a build directory registers: {name: whether it is in the quick tier}."""

    def __init__(self, directory, run=subprocess.run):
        self.directory = pathlib.Path(directory).resolve()
        self.name = self.directory.name
        self.run = run
        self.scripts = Scripts()
        self.cases = {}
        self.tests = {}
        for entry in json.loads(self.output_of("ctest", "--test-dir", str(self.directory),
                                               "--show-only=json-v1"))["tests"]:
            self.take(entry)

    def output_of(self, *command):
        try:
            return self.run(command, check=True, capture_output=True, text=True).stdout
        except (OSError, subprocess.CalledProcessError) as error:
            raise Problem(
                f"{self.directory}: {' '.join(command)} failed ({error}). Build the preset first."
            ) from error

    def take(self, entry):
        properties = {each["name"]: each["value"] for each in entry.get("properties", ())}
        labels = set(properties.get("LABELS", ()))
        if entry["name"].endswith("_NOT_BUILT"):
            raise Problem(f"{self.directory}: {entry['name']}. Build the preset first.")
        if labels & LEFT_OUT.get(self.name, set()) and "quick" not in labels:
            return
        for name, may_be_quick in self.names_of(entry["name"], entry.get("command", [])).items():
            is_quick = may_be_quick and "quick" in labels
            self.tests[name] = self.tests.get(name, False) or is_quick

    def names_of(self, name, command):
        """{name: whether it may be in the quick tier} of the tests that an entry of CTest runs."""
        kind = kind_of(name)
        program = command[0] if command else ""
        if program.endswith("_tests"):
            filters = [word.partition("=")[2] for word in command if "--gtest_filter=" in word]
            chosen = filters[-1] if filters else "*"
            if not is_variant(name, chosen):
                return {f"{kind}.{case}": True for case in self.cases_of(program)
                        if is_selected(case, chosen)}
        names = {name: True}
        for path in (pathlib.Path(word) for word in command if word.endswith(".py")):
            names |= {f"{kind}/{path.stem}:{method}": may_be_quick
                      for method, may_be_quick in self.scripts.methods_of(path).items()}
        return names

    def cases_of(self, program):
        if program not in self.cases:
            self.cases[program] = parse_cases(self.output_of(program, "--gtest_list_tests"))
        return self.cases[program]


# Comparing ----------------------------------------------------------------------------------------


def compare(inventory, renames, builds):
    """Yields sentences about listed tests that the builds lack. `builds`: {build: {name: is quick}}."""
    sentences = []
    for name, tiers in sorted(inventory.items()):
        present = present_name(name, renames)
        shown = name if present == name else f"{name} (now {present})"
        for build, tier in sorted(tiers.items()):
            if build not in builds:
                continue
            if present not in builds[build]:
                sentences.append(
                    f"{shown}: missing in {build}. Restore the test there, or add "
                    f"\"{present} -> NEW # REASON\" to tests/inventory/{RENAMED}."
                )
            elif tier == "quick" and not builds[build][present]:
                sentences.append(
                    f"{shown}: not in the quick tier of {build}. Give its CTest entry the label "
                    f"quick there, or remove the mark vm_case.{FULL_TIER}."
                )
    return sentences


def add(inventory, builds):
    """Adds the tests of builds to the inventory. A tier only ever becomes quick."""
    for build, tests in builds.items():
        for name, is_quick in tests.items():
            tiers = inventory.setdefault(name, {})
            if is_quick or build not in tiers:
                tiers[build] = "quick" if is_quick else "full"
    return inventory


def fold(folder):
    """Gives renamed tests their present names in the lists; returns how many have another name now."""
    inventory, renamed = read_inventory(folder), folder / RENAMED
    text = renamed.read_text() if renamed.exists() else ""
    renames = parse_renames(text, set(inventory))
    tests = {}
    for name, tiers in inventory.items():
        tests.setdefault(present_name(name, renames), {}).update(tiers)
    for path in folder.glob("*.txt"):
        path.unlink()
    write_inventory(folder, tests)
    renamed.write_text("".join(line + "\n" for line in text.splitlines() if line.startswith("#")))
    return len(set(inventory) - set(tests))


def check(folder, builds):
    inventory = read_inventory(folder)
    renamed = folder / RENAMED
    renames = parse_renames(renamed.read_text() if renamed.exists() else "", set(inventory))
    sentences = compare(inventory, renames, builds)
    for sentence in sentences:
        print(sentence)
    absent = {build for tiers in inventory.values() for build in tiers} - set(builds)
    if absent:
        print(f"not compared, as no directory was given: {', '.join(sorted(absent))}")
    print(f"{len(inventory)} tests listed, {len(sentences)} differences")
    return 1 if sentences else 0


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--check", action="store_true", help="fail if a listed test is missing")
    action.add_argument("--update", action="store_true", help="add what is not listed")
    action.add_argument("--fold", action="store_true", help="apply the renames to the lists")
    parser.add_argument("directories", nargs="*", metavar="BUILD_DIRECTORY")
    chosen = parser.parse_args(arguments)
    if bool(chosen.directories) == chosen.fold:
        parser.error("--check and --update take build directories, --fold takes none")
    try:
        if chosen.fold:
            print(f"{fold(FOLDER)} tests have another name now")
            return 0
        builds = {build.name: build.tests for build in map(Build, chosen.directories)}
        if chosen.check:
            return check(FOLDER, builds)
        before = read_inventory(FOLDER)
        count = len(before)
        write_inventory(FOLDER, add(before, builds))
        print(f"{len(before) - count} tests added, {len(before)} listed")
    except Problem as problem:
        print(f"inventory.py: {problem}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
