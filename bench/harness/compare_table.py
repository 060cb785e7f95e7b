# SPDX-License-Identifier: MIT
"""What --compare prints: groups, then the cells whose verdict is not "same"."""

from . import compare, quantity, table
from .errors import shown

ROWS_MOST = 60

METRICS = {"real_time": "time", "cpu_time": "CPU time",
           "waiter_cpu_ns": "waiter's CPU time", "latency_p50_ns": "median latency"}

# Differing machines make a comparison of machines, not of programs: sections and keys of
# `ipcwait info` that tell them apart.
MACHINE = (("machine", "cpu_model"), ("machine", "cpus_online"), ("machine", "hypervisor"),
           ("kernel", "kernel_release"), ("idle", "idle_driver"), ("idle", "idle_governor"))


# Cells that could not be judged are named as far as they are ours.
UNKNOWN_MOST = 10


def verdict_text(row):
    wide = row["verdict"] == "unknown" and compare.is_wide(row)
    return "unknown: spread too wide" if wide else row["verdict"]


def row_text(row):
    interval = "unknown" if row["low"] is None else \
        f"{quantity.percent(row['low'])} to {quantity.percent(row['high'])}"
    return [shown(row["name"], 70), METRICS[row["metric"]], quantity.percent(row["ratio"]),
            interval, verdict_text(row)]


def block(title, rows):
    head = [title, "of", "B against A", "95 % interval", "verdict"]
    return [*table.lay_out(head, [row_text(r) for r in rows], 1000), ""]


def machine_of(result):
    found = result["ipcwait"]["environment"]
    sections = {key: value for key, value in found.items() if isinstance(value, dict)}
    return {key: sections[section][key] for section, key in MACHINE
            if sections.get(section, {}).get(key) is not None}


def notes(a, b):
    """What a reader of the comparison has to know."""
    first, second = machine_of(a), machine_of(b)
    different = [k for k in first if k in second and first[k] != second[k]]
    if different:
        yield f"the machines differ: {', '.join(different)}"
    for which, result in (("A", a), ("B", b)):
        own = result["ipcwait"]
        if own["verdict"].get("noisy"):
            yield f"{which}: {table.banner(own['verdict'])}"
        yield from (f"{which}: {line}" for line in table.remarks(own["verdict"]))
        if not own["complete"]:
            yield f"{which} is incomplete"
    method_a, method_b = (r["ipcwait"]["method"] for r in (a, b))
    for key in ("runs", "trim", "min_time_s"):
        if method_a.get(key) != method_b.get(key):
            yield f"{key}: {method_a.get(key)} in A, {method_b.get(key)} in B"


def counts(rows):
    found = [r["verdict"] for r in rows]
    wide = sum(r["verdict"] == "unknown" and compare.is_wide(r) for r in rows)
    text = ", ".join(f"{found.count(v)} {v}" for v in ("slower", "faster", "same", "unknown"))
    return f"{text} ({wide} of these spread too wide)" if wide else text


def shown_cells(cells):
    """Those that differ; the others are a number."""
    differ = [r for r in cells if r["verdict"] in ("slower", "faster")]
    return sorted(differ, key=lambda r: r["ratio"], reverse=True)


def undecided(compared):
    """Cells of libipcwait that could not be judged, and what would help."""
    unknown = [r for r in compared["cells"] if r["verdict"] == "unknown"]
    ours = list(dict.fromkeys(r["name"] for r in unknown if compare.is_ours(r["name"])))
    if ours:
        more = f" and {len(ours) - UNKNOWN_MOST} more" if len(ours) > UNKNOWN_MOST else ""
        yield "not judged, of libipcwait's:"
        yield from (f"  {shown(name, 80)}" for name in ours[:UNKNOWN_MOST])
        if more:
            yield " " + more
    if unknown:
        yield "more can be judged with --runs 9, which keeps seven runs of each"


def names_of(rows):
    whose = list(dict.fromkeys(r["name"] for r in rows))
    more = f" and {len(whose) - 5} more" if len(whose) > 5 else ""
    return ", ".join(shown(n) for n in whose[:5]) + more


def conclusion(compared):
    """Only libipcwait's own make the exit status 3."""
    every = compared["groups"] + compared["cells"]
    ours = compare.ours_slower(compared)
    others = [r for r in every if r["verdict"] == "slower" and r not in ours]
    unknown = sum(r["verdict"] == "unknown" for r in compared["cells"])
    open_ones = f"{unknown} of {len(compared['cells'])} could not be judged"
    if others:
        yield f"slower, but not libipcwait: {names_of(others)}"
    if ours:
        yield f"slower: {names_of(ours)}; {open_ones}"
    else:
        what = "nothing of libipcwait's" if others else "nothing"
        yield f"{what} is shown to be slower; {open_ones}"


def text(compared, a, b, missing):
    lines = [*notes(a, b), *missing]
    if lines:
        lines.append("")
    if compared["groups"]:
        lines += block("geometric means", compared["groups"])
    differ = shown_cells(compared["cells"])
    if differ:
        lines += block("benchmarks that differ", differ[:ROWS_MOST])
    if len(differ) > ROWS_MOST:
        lines.append(f"and {len(differ) - ROWS_MOST} more")
    lines.append(f"{len(compared['cells'])} figures of benchmarks: {counts(compared['cells'])}")
    return [*lines, *undecided(compared), *conclusion(compared)]
