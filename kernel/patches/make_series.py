#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Writes the patches that add eventlog to the source of Linux 6.12.

New files come from the sources of the module and from in-tree/, changes of existing ones from
in-tree/*.diff. The same sources give the same bytes. No kernel source is needed.
"""

import argparse
import difflib
import hashlib
import pathlib
import re
import shlex
import sys
import textwrap

from series import CODE, SERIES

HERE = pathlib.Path(__file__).resolve().parent
KERNEL = HERE.parent
IN_TREE = HERE / "in-tree"
DEFAULT_FOLDER = KERNEL.parent / "build" / "patches"
AUTHOR = "eventlog's authors <eventlog@example.org>"
DATE = "Sun, 22 Nov 2026 12:00:00 +0000"
LINES_MAX = 1000
COVER_LETTER = "0000-cover-letter.txt"
# The last lines of each patch, by which a later run recognises its own.
SIGNATURE = "-- \neventlog\n"
# What each patch has a part of.
MAKEFILE, KCONFIG = CODE + "Makefile", CODE + "Kconfig"
# Where folders of ours lie in the kernel's source.
PLACES = ((KERNEL / "eventlog", CODE), (KERNEL / "include", "include/"),
          (KERNEL / "samples", "samples/"), (IN_TREE, ""))
MAIN = CODE + "main.c"
# Files that only modules outside of the kernel's tree need, and the reason.
OUTSIDE = {
    CODE + "Kbuild": "builds the module there",
    "samples/eventlog/Kbuild": "builds the samples there",
    CODE + "event_mutex_borrowed.c": "modules there cannot take event_mutex",
}


class Problem(Exception):
    """An error whose text names the object and the remedy."""


def sources():
    """All files that could be in a patch: place in the kernel's source to text."""
    found = {}
    for folder, place in PLACES:
        for path in sorted(folder.rglob("*")):
            name = str(path.relative_to(folder))
            if path.is_file() and (path.parent != IN_TREE) and is_source(path):
                found[place + name] = path.read_text(encoding="utf-8")
    return found


def is_source(path):
    return (path.suffix in (".c", ".h", ".rst")
            or path.name in ("Makefile", "Kbuild", "Kconfig", "config"))


def check_list(texts):
    """Each file is in one patch, and each name has a file."""
    named = [name for patch in SERIES for name in patch.files]
    named += [*OUTSIDE, MAKEFILE, KCONFIG]
    for name in sorted(texts):
        if named.count(name) != 1:
            count = "no patch" if name not in named else "several patches"
            raise Problem(
                f"{name} is in {count}. Name it in kernel/patches/series.py: in the first "
                "patch with which it compiles, or in OUTSIDE if the kernel's tree does not have it."
            )
    for name in named:
        if name not in texts:
            raise Problem(f"kernel/patches/series.py names {name}, but there is no such file. "
                          "Remove the name there.")
    changes = [name for patch in SERIES for name in patch.changes]
    for name in {*changes, *(path.stem for path in IN_TREE.glob("*.diff"))}:
        if changes.count(name) != 1 or not (IN_TREE / f"{name}.diff").exists():
            raise Problem(f"kernel/patches/in-tree/{name}.diff has to be there, and to be in one "
                          "patch of kernel/patches/series.py.")


def objects_of(makefile):
    """What the lines of a Makefile build: each with the sources that it takes, if it says so."""
    for line in makefile.splitlines(keepends=True):
        match = re.match(r"(?!obj-)\w+-\S+ [:+]= (.*)$", line)
        yield line, [CODE + name.removesuffix(".o") + ".c" for name in match[1].split()] if match else []


def partial_makefile(whole, there):
    """Without the objects whose sources are not there yet."""
    text = "".join(line for line, wanted in objects_of(whole) if there.issuperset(wanted))
    return re.sub(r"\n{2,}", "\n\n", text).rstrip("\n") + "\n"


def partial_kconfig(whole, makefile, there):
    """With the options that the Makefile knows. Without what the license says there is no module."""
    head, *options = re.split(r"(?m)^(?=config )", whole)
    kept = [text for text in options if f"$(CONFIG_{text.split()[1]})" in makefile]
    text = (head + "".join(kept)).rstrip("\n") + "\n"
    if MAIN not in there:
        text = text.replace("\ttristate ", "\tbool ")
        text = re.sub(r"\n\n\t  To compile this as a module,.*?(?=\n\n)", "", text, flags=re.DOTALL)
    # Before it is documented.
    if "Documentation/trace/eventlog.rst" not in there:
        text = re.sub(r"\n\t  See Documentation\S+\n", "\n", text)
    return text


def blob(text):
    """What git calls a file of that text."""
    content = text.encode()
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def difference(name, old, new):
    """As git shows it. `old` is nothing if the file is new."""
    head = f"diff --git a/{name} b/{name}\n"
    if old is None:
        head += "new file mode 100644\n"
    elif old == new:
        return ""
    before = "0" * 40 if old is None else blob(old)
    head += f"index {before}..{blob(new)}" + ("\n" if old is None else " 100644\n")
    lines = difflib.unified_diff(
        (old or "").splitlines(keepends=True), new.splitlines(keepends=True),
        "/dev/null" if old is None else f"a/{name}", f"b/{name}",
    )
    return head + "".join(lines)


def statistics(diffs):
    """Each file with the lines that come and go."""
    rows = []
    for text in diffs:
        for part in re.split(r"(?m)^(?=diff --git )", text)[1:]:
            name = re.match(r"diff --git a/(\S+) ", part)[1]
            body = part[part.index("\n+++ ") + 1:].split("\n", 1)[1]
            rows.append((name, len(re.findall(r"(?m)^\+", body)), len(re.findall(r"(?m)^-", body))))
    width = max(len(name) for name, _, _ in rows)
    lines = [f" {name:{width}} | {come + go:4} {'+' * bool(come)}{'-' * bool(go)}"
             for name, come, go in rows]
    come, go = sum(row[1] for row in rows), sum(row[2] for row in rows)
    total = f" {len(rows)} file{'s' * (len(rows) > 1)} changed, {come} insertions(+)"
    return "\n".join([*lines, total + f", {go} deletions(-)" * bool(go)])


def wrapped(text):
    return "\n\n".join(textwrap.fill(part, 72) for part in text.strip().split("\n\n"))


def letter(number, patch, diffs, author):
    """What `git am` takes."""
    text = (
        f"From {'0' * 40} Mon Sep 17 00:00:00 2001\n"
        f"From: {author}\n"
        f"Date: {DATE}\n"
        f"Subject: [PATCH {number:02}/{len(SERIES):02}] {patch.subject}\n\n"
        f"{wrapped(patch.text)}\n\nSigned-off-by: {author}\n---\n"
        f"{statistics(diffs)}\n\n{''.join(diffs)}{SIGNATURE}"
    )
    lines = text.count("\n")
    if lines > LINES_MAX:
        raise Problem(f"The patch \"{patch.subject}\" has {lines} lines, more than {LINES_MAX}. "
                      "Divide it in kernel/patches/series.py.")
    return text


def cover_letter(author):
    """The mail in front of the series: cover_letter.txt and the subjects of the patches."""
    subject, text = (HERE / "cover_letter.txt").read_text(encoding="utf-8").split("\n\n", 1)
    subjects = "".join(f"  {number:2} {patch.subject}\n"
                       for number, patch in enumerate(SERIES, start=1))
    return (
        f"From: {author}\nDate: {DATE}\n"
        f"Subject: [PATCH 00/{len(SERIES):02}] {subject}\n\n"
        f"{text}\nPatches\n=======\n\n{subjects}\n{SIGNATURE}"
    )


def file_name(number, patch):
    return f"{number:04}-{re.sub(r'[^A-Za-z0-9]+', '-', patch.subject).strip('-')[:52]}.patch"


def make(author=AUTHOR):
    """The whole series: file name to text. What is wrong with the list is a Problem."""
    texts = sources()
    check_list(texts)
    there, makefile, kconfig = set(), None, None
    series = {}
    for number, patch in enumerate(SERIES, start=1):
        there.update(patch.files)
        diffs = [(IN_TREE / f"{name}.diff").read_text(encoding="utf-8") for name in patch.changes]
        if any(name.startswith(CODE) for name in there):
            new = partial_makefile(texts[MAKEFILE], there)
            diffs.append(difference(MAKEFILE, makefile, new))
            options = partial_kconfig(texts[KCONFIG], new, there)
            diffs.append(difference(KCONFIG, kconfig, options))
            makefile, kconfig = new, options
        diffs += [difference(name, None, texts[name]) for name in patch.files]
        # As git orders them.
        parts = [part for text in diffs for part in re.split(r"(?m)^(?=diff --git )", text) if part]
        series[file_name(number, patch)] = letter(number, patch, sorted(parts), author)
    if (makefile, kconfig) != (texts[MAKEFILE], texts[KCONFIG]):
        raise Problem("The last patch leaves a Makefile or Kconfig that is not ours: a blank line too "
                      "many, or an object whose source is in no patch.")
    return series


def result():
    """What the series leaves in the kernel's source, of files that are new: place to text."""
    return {name: text for name, text in sources().items() if name not in OUTSIDE}


def write(series, folder):
    """Writes the patches into a folder. Removes other patches of an earlier run from it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        replace(series, folder)
    except OSError as error:
        raise Problem(f"The patches cannot be written to {folder}: {error.strerror}. "
                      "Name a directory that you may write to.") from error


def replace(series, folder):
    others = [path for path in sorted(folder.glob("*.patch")) if path.name not in series]
    for path in others:
        if not path.read_bytes().endswith(SIGNATURE.encode()):
            raise Problem(f"{path} is not a patch of this series, and `git am {folder}/*.patch` "
                          "would apply it. Move it, or name another directory.")
    for path in others:
        path.unlink()
    for name, text in series.items():
        (folder / name).write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--author", default=AUTHOR, metavar="'NAME <ADDRESS>'",
                        help="author of the patches, also in Signed-off-by (%(default)s)")
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=DEFAULT_FOLDER,
                        metavar="DIR", help="directory for the patches (build/patches)")
    options = parser.parse_args()
    folder = options.folder.resolve()
    try:
        series = make(options.author)
        write(series, folder)
        # Not named *.patch, because `git am` rejects a mail without a diff.
        (folder / COVER_LETTER).write_text(cover_letter(options.author), encoding="utf-8")
    except Problem as problem:
        print(f"make_series: {problem}", file=sys.stderr)
        return 1
    print(f"{len(series)} patches for Linux 6.12 are in {folder}.\n"
          f"Apply them in the kernel's source: git am {shlex.quote(str(folder))}/*.patch")
    return 0


if __name__ == "__main__":
    sys.exit(main())
