# SPDX-License-Identifier: MIT
"""From a place in an ELF file to the address its symbols are given by, and the symbols."""
import bisect
import struct
import subprocess

PT_LOAD = 1


def segments(path):
    """[(offset in the file, length there, address)] of what is loaded; [] if it is no ELF64."""
    try:
        with open(path, "rb") as f:
            head = f.read(64)
            if len(head) < 64 or head[:6] != b"\x7fELF\x02\x01":
                return []
            (table,) = struct.unpack_from("<Q", head, 32)
            size, count = struct.unpack_from("<HH", head, 54)
            f.seek(table)
            rows = f.read(size * count)
    except OSError:
        return []
    found = []
    for start in range(0, len(rows) - 55, size or 56):
        kind, _, offset, address, _, length = struct.unpack_from("<IIQQQQ", rows, start)
        if kind == PT_LOAD:
            found.append((offset, length, address))
    return found


def address_of(loaded, offset):
    """The address of the byte at @offset of the file."""
    for start, length, address in loaded:
        if start <= offset < start + length:
            return offset - start + address
    return offset


def nm(path, *options):
    try:
        r = subprocess.run(["nm", "-C", "-S", "--defined-only", *options, path],
                           stdin=subprocess.DEVNULL, capture_output=True, text=True,
                           errors="replace", check=False)
    except FileNotFoundError:
        return ""
    return r.stdout


def symbols(path):
    """Sorted [(start, end, name)] of the functions that have a size."""
    found = set()
    for line in (nm(path) + nm(path, "-D")).splitlines():
        words = line.split(" ", 3)
        if len(words) == 4 and words[2] in "tTwWiu":
            start = int(words[0], 16)
            found.add((start, start + int(words[1], 16), words[3]))
    return sorted(found)


def symbol_at(table, address):
    """The function that @address is in, or None: the nearest one before it would be a guess."""
    i = bisect.bisect_right(table, (address, 2**64, "")) - 1
    # Aliases and functions inside others: a few entries back.
    for start, end, name in reversed(table[max(0, i - 7):i + 1]):
        if start <= address < end:
            return name
    return None
