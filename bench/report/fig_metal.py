# SPDX-License-Identifier: MIT
"""The semaphore test in virtual machines and on metal: the seed's rows, ours, and guests."""

from . import bars, data, environment, scoreboard, sem_rows, show, style
from .errors import Missing

ID, TITLE = "metal", "The semaphore test, in virtual machines and on metal"
X_TITLE = "\N{LEFTWARDS ARROW} lower is better   time per item (axis from 0)"


def add(groups, rows, title, made):
    if made[0]:
        groups.append({"title": title, "bars": made[0]})
        rows += made[1]


def guest_title(guest):
    title = str(guest.get("label", "a guest"))
    if guest.get("counts_only"):
        title += ": emulated (TCG), counts, not times"
    if guest.get("ignored"):
        title += f"; {guest['ignored']}"
    return title


def add_guests(groups, rows, left_out, guests):
    for guest in guests:
        made = [sem_rows.guest_bar(guest, r) for r in data.rows(guest, "rows") if not
                r.get("error")]
        add(groups, rows, guest_title(guest),
            ([b for b, _ in made], [r for _, m in made for r in m]))
        if guest.get("error"):
            left_out.append((str(guest.get("label", "a guest")), str(guest["error"])))


def collect(result):
    part = data.own(result)
    groups, rows, left_out = [], [], []
    seed = sem_rows.of_seed(data.rows(part, "seed"))
    add(groups, rows, "The seed's rows (800 000 items)", (seed, []))
    hosts = data.rows(part, "hosts")
    for host in hosts or [{"label": "Here: " + environment.machine(part.get("environment")),
                           **part}]:
        measured = sem_rows.of_scoreboard(data.rows(host, "seed"))
        if measured:
            add(groups, rows, f"{host.get('label')}, {show.count(measured[0])} items",
                sem_rows.of_sem_test(*measured))
        if host.get("label") and hosts:
            add_guests(groups, rows, left_out, data.rows(host, "guests"))
    if not hosts:
        add_guests(groups, rows, left_out, data.rows(part, "guests"))
    if not any(g["bars"] for g in groups if g["bars"] is not seed):
        raise Missing("There is nothing to set beside the seed's rows: neither --scoreboard nor "
                      "--vm was run" + "".join(f"; {a}: {show.clean(b)}" for a, b in left_out)
                      + ".")
    return {"groups": groups, "rows": rows, "left_out": left_out, "alt": describe(groups),
            "how": how(groups, seed)}


def how(groups, seed):
    text = "All bars have the same axis. " + bars.how(groups, whisker="the kept runs")
    if any(b["y"] is None for g in groups for b in g["bars"]):
        text += " What an emulator (TCG) measured has counts only."
    if len(groups) > 1:
        text += (" Rows of different groups differ in work per item: compare within a group "
                 "first.")
    return text + (f" {scoreboard.NAMES}" if seed else "")


def describe(groups):
    """What was timed of each group: ours, glibc's, and the seed's. Titles that the picture cuts."""
    texts = []
    for g in groups:
        named = [b for b in g["bars"] if b["y"] is not None
                 and (b["impl"] in style.BARS or b["impl"] == "seed")]
        if named:
            texts.append(f"{g['title']}: " + show.sentence_list(
                f"{b['label']} {b['value']}" for b in named))
    texts += [g["title"] for g in groups if len(g["title"]) > bars.TITLE]
    return ". ".join(texts or ["Counts, not times"]) + "."


def draw(model, footer):
    most = max((v for g in model["groups"] for b in g["bars"] if b["y"] is not None
                for v in (b["y"], *b["runs"])), default=None)
    return bars.figure_of(model["groups"], TITLE, footer, show.time_ns, X_TITLE, most)
