# SPDX-License-Identifier: MIT
"""The seed's third row, Linux on metal, from the results of another host."""

from .part_sem import LINES, OTHER

NAME = next(name for name, kind in LINES if kind is None)


def metal_lines(host):
    """The lines of glibc and of libipcwait, if the host is no guest."""
    for row in host.get("seed") or []:
        if row.get("id") == "I-2" and (row.get("raw") or {}).get("metal"):
            return [x for x in row["lines"]
                    if x[0] == NAME or (x[0] == OTHER and x[2] == "ipcwait")]
    return []


def fill_metal(found, hosts):
    """@found: our rows. @hosts: joined results with "label" and "seed". Changes row I-2."""
    mine = next((row for row in found if row["id"] == "I-2" and row["lines"]), None)
    filled = [[NAME, x[1], f"{x[2]} on {host['label']}", *x[3:]]
              for host in hosts for x in metal_lines(host)]
    at = [i for i, x in enumerate(mine["lines"]) if x[0] == NAME] if mine else []
    if filled and at:
        mine["lines"][at[0]:at[0] + 1] = filled
    return found
