# SPDX-License-Identifier: MIT
"""The scoreboard for people, on a terminal."""

from . import rows

DIRECTION = {True: "yes", False: "no", None: "-", rows.NOT_TOLD: rows.NOT_TOLD}


def pairs(figures):
    return ", ".join(f"{k} {rows.number(v) if not isinstance(v, str) else v}"
                     for k, v in figures.items())


def cell(value):
    if value is None:
        return "-"
    return value if isinstance(value, str) else rows.number(value)


def table(row):
    """The lines of a row, in columns; those without a single number are still shown."""
    grid = [row["columns"]] + [[cell(v) for v in line] for line in row["lines"]]
    widths = [max(map(len, column)) for column in zip(*grid)]
    return ["    " + "  ".join(v.ljust(w) for v, w in zip(line, widths)).rstrip()
            for line in grid]


def describe(row):
    """Several lines of text."""
    lines = [f"{row['id']}  {row['title']}" + (f" [{row['unit']}]" if row["unit"] else "")]
    for label, key in (("seed", "seed"), ("ours", "ours"), ("peers", "peers")):
        if row[key]:
            lines.append(f"    {label}: {pairs(row[key])}")
    state = row["state"]
    if row["refers"]:
        state += f" (see {', '.join(row['refers'])})"
    lines.append(f"    {state}" + (f": {row['why']}" if row["why"] else ""))
    if row["claim"]:
        lines.append(f"    {row['claim']}: {DIRECTION[row['same_direction']]}")
    return "\n".join(lines + (table(row) if row["lines"] else [])) + "\n"
