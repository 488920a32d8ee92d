# SPDX-License-Identifier: MIT
"""The stages of each tier. tests/README.md has a table of their contents."""

import pathlib
import re
import sys

from stages import Stage

PYTHON = (sys.executable, "-B")
HERE = pathlib.Path(__file__).resolve().parent

# The quick tier needs one kernel that the harness builds; the remaining ones are downloaded.
QUICK_KERNELS = ("debian-6.12", "debian-6.1", "user-events-6.12")
FULL_KERNELS = QUICK_KERNELS + ("debian-6.1-arm64", "status-page-6.1", "debug-6.12", "race-6.12",
                                "in-tree-6.12")
QUICK_PRESETS = ("asan+ubsan", "tsan", "release")
QUICK = ("-L", "^quick$")


def parts_without(labels):
    """The parts of a preset that leaves out the tests with these labels."""
    scripts = r"^integration\.test_"
    return (("scripts", ("-LE", labels, "-R", scripts)), ("rest", ("-LE", labels, "-E", scripts)))


# The full tier: the labels that a preset leaves out, because its build does not affect these tests.
# Parts of a preset are separate stages, so that an interrupted run repeats little.
FULL_PARTS = {
    "release": (
        ("unit and integration", ("-R", r"^(unit|integration|interleaving)\.")),
        ("virtual machines a-h", ("-R", r"^vm\.[a-h]")),
        ("virtual machines i-m", ("-R", r"^vm\.[i-m]")),
        ("virtual machines n-s", ("-R", r"^vm\.[n-s]")),
        ("virtual machines t-z", ("-R", r"^vm\.[t-z]")),
        ("rest", ("-E", r"^(unit|integration|interleaving|vm)\.")),
    ),
    "asan+ubsan": parts_without("^(once|compiler)$"),
    "tsan": parts_without("^(once|compiler|command)$"),
    "clang": parts_without("^(once|command)$"),
}
FULL = {"EVENTLOG_TEST_TIER": "full"}


def lint_stages(every_source):
    clang_tidy = (*PYTHON, str(HERE / "clang_tidy.py"), "build/release")
    return [
        Stage("check", "lint: format", ("scripts/lint.sh", "format")),
        Stage("check", "lint: shell scripts", ("scripts/lint.sh", "shell")),
        Stage("check", "lint: Python scripts", ("scripts/lint.sh", "python")),
        Stage("check", "lint: house rules", ("scripts/lint.sh", "rules")),
        # The build's database of compilations has the flags of each source.
        configure("release"),
        Stage("check", "lint: clang-tidy", clang_tidy + (("--all",) if every_source else ()),
              needs="release: configure"),
    ]


def configure(preset):
    return Stage("build", f"{preset}: configure", ("cmake", "--preset", preset))


def build(preset, target):
    return Stage("build", f"{preset}: build",
                 ("cmake", "--build", "--preset", preset, "--target", target),
                 needs=f"{preset}: configure")


def suite(preset, name, selection, environment=None):
    folder = pathlib.Path("build") / preset
    results = folder.absolute() / f"{name.replace(' ', '_')}.xml"
    return Stage(
        "suite", f"{preset}: {name}",
        ("ctest", "--preset", preset, "--no-tests=error", "--output-junit", str(results), *selection),
        needs=f"{preset}: build", results=str(results), reports=str(folder / "gtest"),
        environment=environment or {},
    )


def kernels(names):
    return Stage("build", "vm: kernels", (*PYTHON, "tests/vm/harness/vm.py", "--prepare", *names))


def quick_stages():
    stages = lint_stages(every_source=False)
    for preset in QUICK_PRESETS:
        if preset == "release":
            stages.append(kernels(QUICK_KERNELS))
        else:
            stages.append(configure(preset))
        stages += [build(preset, "quick_tests"), suite(preset, "test", QUICK)]
    return stages


def full_stages():
    stages = [*lint_stages(every_source=True), kernels(FULL_KERNELS)]
    for preset, parts in FULL_PARTS.items():
        if preset != "release":
            stages.append(configure(preset))
        stages.append(build(preset, "all"))
        stages += [suite(preset, name, selection, FULL) for name, selection in parts]
    folders = [f"build/{preset}" for preset in FULL_PARTS]
    stages.append(Stage("check", "inventory of tests",
                        (*PYTHON, "scripts/inventory.py", "--check", *folders)))
    return stages


def affected_stages(preset, names):
    """The stages of the tests of these names that are in the quick tier."""
    pattern = "|".join(re.escape(name) for name in sorted(names))
    stages = [build(preset, "quick_tests"),
              suite(preset, "test", (*QUICK, "-R", f"^({pattern})$"))]
    return [kernels(QUICK_KERNELS), *stages] if preset == "release" else [configure(preset), *stages]


def filtered_stages(preset, selection, target="all"):
    """The stages of some tests of one preset, and of kernels if these may need one."""
    stages = [configure(preset), build(preset, target), suite(preset, "test", selection)]
    if preset == "release":
        stages.insert(0, kernels(QUICK_KERNELS))
    return stages
