# SPDX-License-Identifier: MIT
"""The answer that stands above everything: libipcwait against glibc, in a sentence a question.

Nothing is said of what was not measured, and nothing at all of a result that was too noisy or was
slowed on purpose.
"""

from . import data, fig_hosts, names, sem_rows, show, versus
from .errors import Missing

SPEED, CPU = ("times faster", "times slower"), ("times less", "times more")
LATENCY = ("latency_mean_ns", "latency_p50_ns")

# (question, its name here, what is compared: the first metric that both have, the words for it)
TOPICS = (
    ("handoff", "Hand-off", LATENCY, SPEED),
    ("handoff", "Hand-off, CPU time of the program", ("cpu_time",), CPU),
    ("pareto", "Waits of two lengths mixed", LATENCY, SPEED),
    ("uncontended", "Nobody waits", ("real_time",), SPEED),
    ("contention", "Contended locks", ("real_time",), SPEED),
    ("oversubscription", "More threads than CPUs", ("real_time",), SPEED),
    ("condvar", "Condition variables", ("real_time",), SPEED),
    ("queue", "Queues", ("real_time",), SPEED),
    ("channel", "Channels", ("real_time",), SPEED),
)
HEAD = ("question", "where", "libipcwait", "glibc", "glibc / libipcwait", "range", "verdict")
OF_HOSTS = 2  # topics that are enough of each of several hosts
SMALL = 1.1   # a factor below it is shown with three digits
STRETCHES = 3 # of lengths with one verdict each, up to which "the same" has its own
OF_SUMMARY = "From a summary: these sentences were made of the runs, which are in the raw result."
NAMED = 3   # places of one verdict up to which each is named


def comparison(dims, ours, theirs, metrics):
    metric = next((m for m in metrics if all(data.median(c, m) is not None
                                             for c in (ours, theirs))), None)
    made = metric and versus.compare(ours, theirs, metric)
    return {**made, "metric": metric, "dims": dims, "where": names.words(dims)} if made else None


def topic(cells, name, metrics, words):
    """A question with all its places; "waits" if they differ in the length of the wait only."""
    found = [made for place in versus.by_place(cells)
             if (made := comparison(*place, metrics))]
    waits = bool(found) and all(list(f["dims"]) == ["wait"] and
                                names.duration_ns(f["dims"]["wait"]) is not None for f in found)
    if waits:
        found.sort(key=lambda f: names.sort_key(f["dims"]["wait"]))
    return {"name": name, "words": words, "found": found, "waits": waits}


def of_benchmarks(part, asked):
    cells = list(data.cells(part).values())
    every = [topic([c for c in cells if c["question"] == question], *rest)
             for question, *rest in asked]
    return [t for t in every if t["found"]]


def cell_of(runs, items):
    """Runs of sem_test as a cell, ns per item."""
    values = [s * 1e9 / items if (s := data.number(r.get("seconds"))) else None for r in runs]
    left = [v for v, r in zip(values, runs) if r.get("kept") is not False and v is not None]
    return {"trim": None, "metrics": {"real_time": {
        "values": values, "kept": left, "median": sem_rows.middle(left),
        "low": min(left, default=None), "high": max(left, default=None)}}}


def semaphore_test(found):
    return [{"name": "Semaphore test", "words": SPEED, "found": found, "waits": False}] \
        if found else []


def of_scoreboard(part):
    """The semaphore test with threads, row I-2."""
    items, rows = sem_rows.of_scoreboard(data.rows(part, "seed")) or (None, {})
    two = [data.rows(rows, name) for name in (versus.OURS, versus.THEIRS)]
    made = comparison({}, *(cell_of(runs, items) for runs in two), ("real_time",)) \
        if all(two) else None
    return semaphore_test([made] if made else [])


def of_guests(part):
    """The semaphore test in guests whose times are those of a machine."""
    found = []
    for guest in data.rows(part, "guests"):
        rows = {str(r.get("row")): r.get("times") for r in data.rows(guest, "rows")}
        times = [rows.get(n) for n in (versus.OURS, versus.THEIRS)]
        if guest.get("counts_only") or not all(isinstance(t, dict) for t in times):
            continue
        cells = [{"trim": None, "metrics": {"real_time": t.get("ns_per_item") or {}}}
                 for t in times]
        made = comparison({}, *cells, ("real_time",))
        if made:
            found.append({**made, "where": show.short(guest.get("label", "a guest"), 60)})
    return semaphore_test(found)


def of_host(part, asked=TOPICS):
    return of_benchmarks(part, asked) + of_scoreboard(part) + of_guests(part)


def withheld(part):
    """Why nothing may be said; None if it may."""
    verdict, method = (part.get(k) if isinstance(part.get(k), dict) else {}
                       for k in ("verdict", "method"))
    if verdict.get("noisy"):
        return "the machine was too noisy"
    return "the program was slowed on purpose" if method.get("slowed") else None


def topics(result):
    """Of the result, or the main ones of each of its hosts whose figures may be believed."""
    part = data.own(result)
    hosts = data.rows(part, "hosts")
    if hosts:
        return [{**t, "name": f"{fig_hosts.label_of(host)}: {t['name']}"}
                for host in hosts if not withheld(host) for t in of_host(host, TOPICS[:OF_HOSTS])]
    why = withheld(part)
    if why:
        raise Missing(f"libipcwait is not compared with glibc here: {why}.")
    return of_host(part)


def after(waits, first, last):
    """The places of @waits, all in their order, from number @first to @last."""
    low, high = (show.time_ns(names.duration_ns(waits[i])) for i in (first, last))
    if first == last:
        return "with no wait" if low == "0 ns" else f"after {low}"
    if first == 0:
        return f"up to waits of {high}"
    return f"from {low} on" if last == len(waits) - 1 else f"from {low} to {high}"


def amount(some, words):
    """ "12 to 51 times faster" """
    sizes = sorted(versus.factor(f) for f in some)
    low, high = (show.digits(v, 3 if v < SMALL else 2) for v in (sizes[0], sizes[-1]))
    word = words[some[0]["verdict"] == versus.SLOWER]
    return f"{low} {word}" if low == high else f"{low} to {high} {word}"


def joined(groups, same):
    """Neighbours of @groups, (verdict, first, last), that are @same of each other made one."""
    found = []
    for kind, first, last in groups:
        if found and same(found[-1][0], kind):
            kind = kind if kind == found[-1][0] else versus.UNCLEAR
            found[-1] = (kind, found[-1][1], last)
        else:
            found.append((kind, first, last))
    return found


def stretches(found):
    """Neighbouring lengths with the same verdict, as (verdict, first, last). Where those would be
    many, what is not told apart takes "the same" beside it along: that claims less."""
    groups = joined([(f["verdict"], i, i) for i, f in enumerate(found)], lambda a, b: a == b)
    if len(groups) <= STRETCHES:
        return groups
    return joined(groups, lambda a, b: {a, b} <= {versus.SAME, versus.UNCLEAR})


def by_length(one):
    waits = [f["dims"]["wait"] for f in one["found"]]
    texts = []
    for kind, first, last in stretches(one["found"]):
        some = one["found"][first:last + 1]
        text = amount(some, one["words"]) if kind in (versus.FASTER, versus.SLOWER) else kind
        texts.append(f"{text} {after(waits, first, last)}")
    return texts


def places(some, every, first):
    """Where a verdict holds; nothing to add where there is one place without a name. The @first
    verdict says how many places there are."""
    if len(some) == len(every) > 1:
        return "in both places" if len(every) == 2 else f"in all {len(every)} places"
    if len(some) > NAMED:
        return f"in {len(some)} of {len(every)} places" if first else f"in {len(some)}"
    named = [f["where"] for f in some if f["where"]]
    return f"({show.sentence_list(named)})" if named else ""


def by_verdict(one):
    texts = []
    for kind in (versus.FASTER, versus.SAME, versus.SLOWER, versus.UNCLEAR):
        some = [f for f in one["found"] if f["verdict"] == kind]
        if some:
            text = amount(some, one["words"]) if kind in (versus.FASTER, versus.SLOWER) else kind
            texts.append(f"{text} {places(some, one['found'], not texts)}".rstrip())
    return texts


def sentence(one):
    """ "Hand-off: 51 to 270 times faster up to waits of 5 us; the same from 50 us on." """
    return f"{one['name']}: " + "; ".join((by_length if one["waits"] else by_verdict)(one)) + "."


def with_reference(text):
    """The first claim names who it is compared with."""
    for words in (*SPEED, *CPU):
        if words in text:
            return text.replace(words, f"{words} than glibc", 1)
    return text.replace(versus.UNCLEAR, f"{versus.UNCLEAR} from glibc", 1) \
        if versus.UNCLEAR in text else text.replace(versus.SAME, f"{versus.SAME} as glibc", 1)


def verdict(one, f):
    """CPU time is less or more, not faster or slower."""
    words = dict(zip((versus.FASTER, versus.SLOWER), one["words"]))
    return words.get(f["verdict"], f["verdict"]).removeprefix("times ")


def line(one, f):
    spread = f"{show.digits(f['low'])} to {show.digits(f['high'])}" if f["low"] else "-"
    return [one["name"], f["where"] or "-", show.time_ns(f["ours"]), show.time_ns(f["theirs"]),
            "x" + show.digits(f["y"]), spread, verdict(one, f)]


def key(found):
    """What the words mean: those that are there."""
    verdicts = {f["verdict"] for one in found for f in one["found"]}
    text = "Factors are glibc's value divided by libipcwait's, in each round; the median."
    if any(f["metric"] in LATENCY for one in found for f in one["found"]):
        text = ("Of hand-offs the latency that is added to the wait is compared, from the wake "
                "until the waiter runs. ") + text
    if versus.SAME in verdicts:
        text += " \"The same\": the kept runs overlap, and the medians are within 1.3 times."
    if versus.UNCLEAR in verdicts:
        text += " \"Not told apart\": too scattered, or too few runs, to say either."
    return text


def collect(result):
    """{"answer": the sentence in large print, "more": the others, "key", "head", "lines"}"""
    part = data.own(result)
    if part.get("answer"):
        return {"answer": part["answer"][0], "more": part["answer"][1:], "key": OF_SUMMARY,
                "head": HEAD, "lines": []}
    found = topics(result)
    if not found:
        raise Missing("Nothing in this result was measured with libipcwait and with glibc.")
    texts = [with_reference(sentence(one)) for one in found]
    return {"answer": texts[0], "more": texts[1:], "key": key(found), "head": HEAD,
            "lines": [line(one, f) for one in found for f in one["found"]]}
