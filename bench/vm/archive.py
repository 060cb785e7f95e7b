# SPDX-License-Identifier: MIT
"""A guest's file system: a cpio archive in the newc form, which the kernel unpacks.

Written here because cpio is not installed everywhere, and a device node in an archive of one's
own needs no root. An entry is a head of 110 letters (a magic number and thirteen fields of eight
hexadecimal digits), the name with its zero byte, and the contents, both filled up to four bytes.
"""

import os
import stat

MAGIC = b"070701"
TRAILER = "TRAILER!!!"
DIRECTORIES = ("dev", "proc", "sys", "tmp")


def _filled(data):
    return data + bytes(-len(data) % 4)


def _entry(number, name, mode, data=b"", device=(0, 0)):
    path = name.encode("ascii") + b"\0"
    links = 2 if stat.S_ISDIR(mode) else 1
    # inode, mode, uid, gid, links, mtime, size, major, minor of the file system's device and of
    # the node's, length of the name, check sum. No time: the same input gives the same bytes.
    fields = (number, mode, 0, 0, links, 0, len(data), 0, 0, *device, len(path), 0)
    head = MAGIC + b"".join(b"%08x" % field for field in fields)
    return _filled(head + path) + _filled(data)


def build(programs):
    """The archive's bytes. @programs: {name in the guest's root: path here}."""
    entries = [(name, stat.S_IFDIR | 0o755, b"", (0, 0)) for name in DIRECTORIES]
    # The kernel opens it for its first process before devtmpfs can be mounted.
    entries.append(("dev/console", stat.S_IFCHR | 0o600, b"", (5, 1)))
    for name, path in programs.items():
        with open(path, "rb") as f:
            entries.append((name, stat.S_IFREG | 0o755, f.read(), (0, 0)))
    parts = [_entry(number, *entry) for number, entry in enumerate(entries, 1)]
    return b"".join([*parts, _entry(0, TRAILER, 0)])


def write(path, programs):
    """Write the archive, whole or not at all."""
    unfinished = f"{path}.{os.getpid()}.unfinished"
    try:
        with open(unfinished, "wb") as f:
            f.write(build(programs))
        os.replace(unfinished, path)
    finally:
        if os.path.exists(unfinished):
            os.unlink(unfinished)
