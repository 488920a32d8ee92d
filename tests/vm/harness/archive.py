# SPDX-License-Identifier: MIT
"""The archive that a kernel unpacks as its first file system: cpio, format newc.

Written here instead of by cpio(1), so that devices and owners need no privilege.
"""

import os
import posixpath
import stat


class Archive:
    """Files by their paths in the guest. The first file of a path stays."""

    def __init__(self):
        self._entries = {}

    def __contains__(self, path):
        return _normal(path) in self._entries

    def directory(self, path, mode=0o755, owner=0):
        self._add(path, stat.S_IFDIR | mode, b"", owner=owner)

    def text(self, path, content, mode=0o644):
        self._add(path, stat.S_IFREG | mode, content.encode())

    def bytes(self, path, content, mode=0o644, modified=0):
        self._add(path, stat.S_IFREG | mode, content, modified=modified)

    def link(self, path, target):
        self._add(path, stat.S_IFLNK | 0o777, target.encode())

    def character_device(self, path, major, minor, mode=0o600):
        self._add(path, stat.S_IFCHR | mode, b"", device=(major, minor))

    def file(self, path, source):
        """A file of the host, or the target of a link, owned by root, with its mode and time."""
        status = os.stat(source)
        with open(source, "rb") as file:
            content = file.read()
        self._add(path, stat.S_IFREG | stat.S_IMODE(status.st_mode), content,
                  modified=int(status.st_mtime))

    def write(self, path):
        with open(path, "wb") as file:
            for number, (name, entry) in enumerate(self._entries.items(), start=1):
                _write_entry(file, number, name, *entry)
            _write_entry(file, 0, "TRAILER!!!", 0, b"", 0, (0, 0), 0)

    def _add(self, path, mode, content, modified=0, device=(0, 0), owner=0):
        name = _normal(path)
        if name in self._entries or name == ".":
            return
        # A directory precedes its contents.
        self.directory(posixpath.dirname(name) or ".")
        self._entries[name] = (mode, content, modified, device, owner)


def _normal(path):
    return posixpath.normpath(str(path)).lstrip("/") or "."


def _write_entry(file, number, name, mode, content, modified, device, owner):
    """One entry: 13 numbers of 8 digits after the magic, name and content filled up to 4 bytes."""
    encoded = name.encode() + b"\0"
    numbers = (number, mode, owner, owner, 1, modified, len(content), 0, 0, *device, len(encoded), 0)
    header = b"070701" + b"".join(b"%08X" % value for value in numbers) + encoded
    file.write(header + bytes(-len(header) % 4) + content + bytes(-len(content) % 4))
