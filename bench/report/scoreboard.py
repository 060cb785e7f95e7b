# SPDX-License-Identifier: MIT
"""The seeds' rows beside ours: a table, and what it was made from."""

import json

from . import data, show

HEAD = ("row", "what", "the seed", "libipcwait", "peers", "same direction", "state")
FAILED = "failed"  # measured, and wrong: a checksum, for one
NAMES = ("The seeds are five texts that measured waiting before there was libipcwait; a row "
         "measures one of their items again, here. I: a semaphore test, G: programs in Go, Q: a "
         "queue, M: the method. In their rows \"Linux VM\" is a Linux guest with glibc, \"Jiny "
         "VM\" a guest with the Jiny kernel, whose idle loop spins, \"Linux on metal\" no guest, "
         "\"hog\" a program of low priority that keeps the CPUs from halting. "
         "docs/benchmarks/scoreboard.md has more.")
RAW_MOST = 6000  # characters of raw values of a row that stand in the page; the file has all


def values(tree):
    """{"a": 1, "b": "2 s"} as text."""
    if isinstance(tree, dict):
        return "; ".join(f"{show.clean(k)}: {values(v)}" for k, v in tree.items()) or "-"
    if isinstance(tree, list):
        return ", ".join(map(values, tree)) or "-"
    if isinstance(tree, float):
        return show.count(tree, 4)
    return "-" if tree is None else show.clean(tree)


def direction(row):
    same = row.get("same_direction")
    return show.clean(same) if isinstance(same, str) and same else \
        "yes" if same is True else "NO" if same is False else "-"


def line(row):
    state = show.clean(row.get("state") or "-")
    why = show.clean(row.get("why") or "")
    if why:
        state = why if why.startswith(state) else f"{state}: {why}"
    if row.get("state") == FAILED:
        state = FAILED.upper() + state[len(FAILED):]
    if row.get("refers"):
        state += f" ({values(row['refers'])})"
    what = show.clean(row.get("title", ""))
    if row.get("unit"):
        what += f" ({show.clean(row['unit'])})"
    if row.get("claim"):
        what += f". Claim: {show.clean(row['claim'])}"
    return [show.clean(row.get("id", "?")), what,
            values(row.get("seed")), values(row.get("ours")), values(row.get("peers")),
            direction(row), state]


def lines(result):
    return [line(row) for row in data.rows(data.own(result), "seed")]


def failed(result):
    """The numbers of the lines whose row was measured and found wrong."""
    return {i for i, row in enumerate(data.rows(data.own(result), "seed"))
            if row.get("state") == FAILED}


def inner_tables(result):
    """[(title, head, lines)] of rows that have a table of their own."""
    found = []
    for row in data.rows(data.own(result), "seed"):
        columns, inner = row.get("columns"), row.get("lines")
        if isinstance(columns, list) and isinstance(inner, list) and columns and inner:
            title = f"{show.clean(row.get('id', '?'))} {show.clean(row.get('title', ''))}"
            found.append((title, list(map(show.clean, columns)),
                          [list(map(values, x)) for x in inner if isinstance(x, list)]))
    return found


def raw(result):
    """[(row, text)] of all raw values."""
    found = []
    for row in data.rows(data.own(result), "seed"):
        if row.get("raw"):
            text = json.dumps(row["raw"])
            if len(text) > RAW_MOST:
                text = text[:RAW_MOST] + "\n... the result file has the rest"
            found.append((show.clean(row.get("id", "?")), text))
    return found


def sentence(result):
    rows = data.rows(data.own(result), "seed")
    if not rows:
        return "The scoreboard was not run (--scoreboard)."
    directions = [row.get("same_direction") for row in rows]
    unclear, wrong = sum(isinstance(d, str) for d in directions), len(failed(result))
    return (f"{len(rows)} rows: {sum(d is True for d in directions)} in the seed's direction, "
            f"{sum(d is False for d in directions)} not, "
            + (f"{unclear} not told apart, " if unclear else "")
            + "the others have no direction or were not measured."
            + (f" FAILED: {wrong}." if wrong else ""))
