# SPDX-License-Identifier: MIT
"""Names for addresses of a process: with inlined functions where the program has debug
information, from its symbol table otherwise, and else the file it is in, as `[libc.so.6]`.
"""
import os
import re
import subprocess
from typing import NamedTuple

from . import elf, samples

MAP = re.compile(r"([0-9a-f]+)-([0-9a-f]+) \S+ ([0-9a-f]+) \S+ \d+ *(.*)")

# Its frames are between the program's: nobody wants to see them.
SAMPLER = "stacks_sampler.so"


class Region(NamedTuple):
    start: int
    end: int
    offset: int
    path: str


def regions(text):
    """What a file like /proc/self/maps says is mapped, anonymous memory left out."""
    found = []
    for line in text.splitlines():
        m = MAP.fullmatch(line)
        if m and m[4]:
            found.append(Region(int(m[1], 16), int(m[2], 16), int(m[3], 16), m[4]))
    return found


def region_of(table, pc):
    for region in table:
        if region.start <= pc < region.end:
            return region
    return None


def debug_names(path, addresses):
    """{address: [function, the one it is inlined in, ...]} as far as addr2line knows."""
    try:
        r = subprocess.run(["addr2line", "-a", "-f", "-i", "-C", "-e", path],
                           input="".join(f"{a:#x}\n" for a in addresses), capture_output=True,
                           text=True, errors="replace", check=False)
    except FileNotFoundError:
        return {}
    found, names = {}, []
    function_is_next = False
    for line in r.stdout.splitlines():
        if re.fullmatch(r"0x[0-9a-f]+", line):
            names = found.setdefault(int(line, 16), [])
            function_is_next = True
        else:
            if function_is_next:
                names.append(line)
            function_is_next = not function_is_next
    # Without debug information the answer is the symbol before it, however far, or "??".
    return {a: n for a, n in found.items() if n and "??" not in n}


def notes_of(path):
    """What readelf says about the sections and the build id."""
    try:
        r = subprocess.run(["readelf", "-S", "-n", "-W", path], stdin=subprocess.DEVNULL,
                           capture_output=True, text=True, errors="replace", check=False)
    except FileNotFoundError:
        return ""
    return r.stdout


def with_debug_information(path):
    """The file itself, the one that a debug package has for it, or None."""
    notes = notes_of(path)
    if ".debug_info" in notes:
        return path
    m = re.search(r"Build ID: ([0-9a-f]{2})([0-9a-f]+)", notes)
    package = f"/usr/lib/debug/.build-id/{m[1]}/{m[2]}.debug" if m else ""
    return package if os.path.isfile(package) else None


def names_in(path, offsets):
    """{offset in the file: [innermost function, ...]}"""
    fallback = [path if path.startswith("[") else f"[{os.path.basename(path)}]"]
    if not os.path.isfile(path):
        return {offset: fallback for offset in offsets}
    detailed = with_debug_information(path)
    loaded, table = elf.segments(path), elf.symbols(detailed or path)
    addresses = {offset: elf.address_of(loaded, offset) for offset in offsets}
    debug = debug_names(detailed, addresses.values()) if detailed else {}
    names = {}
    for offset, address in addresses.items():
        symbol = elf.symbol_at(table, address)
        found = debug.get(address) or ([symbol] if symbol else fallback)
        names[offset] = [samples.usual_name(name) for name in found]
    return names


def resolve(pcs, maps_text):
    """{pc: [innermost function, ...]} for addresses of a process with those maps."""
    table, places, found = regions(maps_text), {}, {}
    for pc in pcs:
        region = region_of(table, pc)
        if region is None:
            found[pc] = ["[unknown]"]
        elif os.path.basename(region.path) == SAMPLER:
            found[pc] = []
        else:
            places.setdefault(region.path, {})[pc] = pc - region.start + region.offset
    for path, offsets in places.items():
        names = names_in(path, set(offsets.values()))
        for pc, offset in offsets.items():
            found[pc] = names[offset]
    return found
