# SPDX-License-Identifier: MIT
"""The seed's third row, Linux on metal, from the results of another host."""

from .part_sem import LINES, OTHER

NAME = next(name for name, kind in LINES if kind is None)


def lines_of(found):
    """(row I-2, its lines), (None, []) if it was not measured."""
    row = next((row for row in found or [] if row.get("id") == "I-2"), None)
    return row, (row.get("lines") or []) if row else []


def metal_lines(host):
    """The lines of glibc and of libipcwait, if the host is no guest."""
    row, lines = lines_of(host.get("seed"))
    if not row or not (row.get("raw") or {}).get("metal"):
        return []
    return [x for x in lines
            if x[:1] == [NAME] or (x[:1] == [OTHER] and x[2:3] == ["ipcwait"])]


def fill_metal(found, hosts):
    """@found: our rows. @hosts: joined results with "label" and "seed". Changes row I-2."""
    _, mine = lines_of(found)
    filled = [[NAME, *x[1:2], f"{x[2]} on {host['label']}", *x[3:]]
              for host in hosts for x in metal_lines(host) if len(x) > 2]
    at = [i for i, x in enumerate(mine) if x[:1] == [NAME]]
    if filled and at:
        # All of them: a joined file that is joined once more has several.
        mine[at[0]:] = filled + [x for x in mine[at[0]:] if x[:1] != [NAME]]
    return found
