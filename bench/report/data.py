# SPDX-License-Identifier: MIT
"""Reading a result: cells (one per benchmark), their metrics and the runs behind them."""

import math

from . import names, show
from .errors import Missing


def number(value):
    """@value as a float, None if it is none that can be drawn."""
    plain = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if plain and math.isfinite(value) else None


def own(result):
    """Our part of the file; Google Benchmark's needs no drawing."""
    part = result.get("ipcwait")
    return part if isinstance(part, dict) else {}


def rows(part, key):
    """The list of objects at @key, empty if there is none."""
    found = part.get(key)
    return [x for x in found if isinstance(x, dict)] if isinstance(found, list) else []


def last_attempts(part):
    """The run that counts of each benchmark and round: disturbed ones are done again."""
    found = {}
    for run in rows(part, "runs"):
        if run.get("used") is not False:
            found[(str(run.get("name")), str(run.get("round")))] = run
    return list(found.values())


def noisy_rounds(part):
    """{benchmark: the rounds of it that stayed disturbed}."""
    found = {}
    for run in last_attempts(part):
        if run.get("noisy"):
            found.setdefault(str(run.get("name")), set()).add(run.get("round"))
    return found


def trim_rule(part):
    """How runs were chosen, "order" or "rank"; None if the file does not say."""
    method = part.get("method")
    return method.get("trim") if isinstance(method, dict) else None


def cells(part):
    """{name: cell} of all benchmarks, in the order of the file."""
    found, noisy, trim = {}, noisy_rounds(part), trim_rule(part)
    for row in rows(part, "summary"):
        name = str(row.get("name", ""))
        if name not in found:
            question, dims = names.split(name)
            found[name] = {"name": name, "question": question, "dims": dims, "metrics": {},
                           "error": None, "noisy": noisy.get(name, set()), "trim": trim}
        if "metric" in row:
            found[name]["metrics"][row["metric"]] = row
        elif row.get("error"):
            found[name]["error"] = str(row["error"])
    return found


def ask(result, question, *keys):
    """Measured cells of a question that have the dimensions @keys, and the ones left out."""
    of_it = [c for c in cells(own(result)).values() if c["question"] == question]
    if not of_it:
        raise Missing(f"The suite {question} was not run.")
    good = [c for c in of_it if c["metrics"] and all(k in c["dims"] for k in keys)]
    left_out = [(c["name"], c["error"]) for c in of_it if c["error"]]
    if not good:
        why = left_out[0][1] if left_out else "no benchmark of it has " + " and ".join(keys)
        raise Missing(f"The suite {question} gave nothing to draw: {show.clean(why)}.")
    return good, left_out


def impl(cell):
    return cell["dims"].get("impl", "")


def median(cell, metric):
    return number(cell["metrics"].get(metric, {}).get("median"))


def interval(cell, metric):
    """(low, high); the median itself where an end is not known."""
    row, middle = cell["metrics"].get(metric, {}), median(cell, metric)
    ends = [number(row.get(end)) for end in ("low", "high")]
    return tuple(middle if end is None else end for end in ends)


def values(cell, metric):
    """Of all runs, in their order; None for a run that has none."""
    found = cell["metrics"].get(metric, {}).get("values")
    return [number(v) for v in found] if isinstance(found, list) else []


TAILS = tuple(f"{kind}_p99_ns" for kind in ("latency", "wait", "wait_sampled"))


def tail(cell):
    """The metric of the p99 that a reader waits for; None where runs were too few for one."""
    return next((m for m in TAILS if median(cell, m) is not None), None)


def kept_marks(row, trim=None):
    """For each run whether it is among the kept ones. With @trim "order" their places tell;
    otherwise, or if what was kept is not what stands there, the values do."""
    every, left = (list(row[k]) if isinstance(row.get(k), list) else [] for k in ("values", "kept"))
    left = [v for v in left if v is not None]
    if trim == "order" and len(every) > 3 and [v for v in every[1:-1] if v is not None] == left:
        return [False, *(v is not None for v in every[1:-1]), False]
    marks = []
    for value in every:
        marks.append(value in left)
        if value in left:
            left.remove(value)
    return marks


def raw_row(cell, metric, drawn=""):
    """A row of a data table: where the figure's @drawn comes from, with all runs."""
    row = cell["metrics"][metric]
    runs = row.get("values") if isinstance(row.get("values"), list) else []
    return {"name": cell["name"], "metric": metric, "unit": row.get("unit") or "",
            "median": row.get("median"), "low": row.get("low"), "high": row.get("high"),
            "values": runs, "kept": kept_marks(row, cell.get("trim")),
            "noisy": [i in cell["noisy"] for i in range(len(runs))], "drawn": drawn}


def require(cell_list, metrics, question):
    """Those cells that have all of @metrics."""
    good = [c for c in cell_list if all(median(c, m) is not None for m in metrics)]
    if not good:
        raise Missing(f"The suite {question} has no {' and no '.join(metrics)}.")
    return good
