# SPDX-License-Identifier: MIT
"""--import: results of several hosts in one file. The first is the base and keeps everything;
each of them, the first too, becomes an entry of "hosts"."""

import copy
import hashlib
import re
import statistics
from pathlib import Path

from . import names, parts, store, summary, table, validate
from .errors import refused, shown

FROM_RESULT = ("suite", "started", "complete", "environment", "method", "verdict", "summary",
               "seed", "guests", "idle_states")


def label_and_path(text):
    """NAME=FILE, or FILE alone. A file whose name has a '=' is taken as it is."""
    m = re.fullmatch(r"([^=/]+)=(.+)", text)
    if m and not Path(text).exists():
        return m[1], m[2]
    return None, text


def rows_by_name(rows):
    """Of plain Google Benchmark output: repetitions, without its own aggregates."""
    found = {}
    for row in rows:
        if row.get("run_type", "iteration") == "iteration":
            name = names.plain(row.get("run_name") or row["name"])
            found.setdefault(name, []).append({**row, "name": name})
    return found


def google_host(found, label, path):
    """What plain output knows: values, but nothing about noise or the order of the runs."""
    validate.check_rows(path, found["benchmarks"])
    rows = rows_by_name(found["benchmarks"])
    if not rows:
        raise refused(f"{shown(path)} has aggregates only: run it without "
                      "--benchmark_report_aggregates_only")
    why = "plain Google Benchmark output: no environment"
    runs = statistics.mode(len(v) for v in rows.values())
    return {"label": label or Path(path).stem, "suite": None, "started": None, "complete": True,
            "environment": {"error": why},
            "method": {"runs": runs, "trim": "order", "min_time_s": None,
                       "order": "not known: plain Google Benchmark output"},
            "verdict": {"noisy": False, "noisy_runs": None, "total_runs": None,
                        "why": "not judged: plain Google Benchmark output"},
            "summary": summary.of_rows(list(rows), rows, "order"), "noisy": False,
            "seed": [], "guests": [], "idle_states": None}


def digest(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def host_of(text):
    """(entries of "hosts", the whole result or None) of one file."""
    label, path = label_and_path(text)
    found = store.load_json(path)
    if validate.is_google_benchmark(found):
        host = google_host(found, label, path)
        return [{**host, "file_sha256": digest(path)}], None
    found = validate.result(path)
    own = found["ipcwait"]
    if own.get("hosts"):
        if label:
            raise refused(f"--import: {shown(path)} is a joined file: its hosts have labels")
        return own["hosts"], found
    own_label = own["environment"].get("host_label")
    host = {"label": label or (own_label if isinstance(own_label, str) else Path(path).stem)}
    host.update({key: own.get(key) for key in FROM_RESULT}, file_sha256=digest(path),
                noisy=bool(own["verdict"].get("noisy")))
    return [host], found


def check_labels(hosts):
    seen = set()
    for host in hosts:
        if host["label"] in seen:
            raise refused(f"--import: two hosts are called {shown(host['label'])!r}: "
                          "give NAME=FILE")
        seen.add(host["label"])


def join(files, command):
    """One result with all of them."""
    hosts, base = [], None
    for text in files:
        more, found = host_of(text)
        hosts += more
        base = base or found
    check_labels(hosts)
    if base is None:
        base = store.empty("joined", command, {"error": "plain Google Benchmark output only"},
                           {"runs": hosts[0]["method"]["runs"], "trim": "order",
                            "min_time_s": None, "order": "not known"})
        base["ipcwait"].update(complete=True, finished=store.now())
    # The base is one of the hosts too, and stays there as it was measured.
    own = copy.deepcopy(base["ipcwait"].get("seed") or [])
    base["ipcwait"].update(command=command, hosts=hosts,
                           seed=parts.call("seed", "fill_metal", own, hosts))
    return base


def marked(host):
    """The label with what a reader must know of the host's figures."""
    notes = [word for word, so in (("noisy", host.get("noisy")),
                                   ("incomplete", host.get("complete") is False)) if so]
    return shown(host["label"], 30) + (f" ({', '.join(notes)})" if notes else "")


def warnings(hosts):
    """Sentences about them."""
    for host in hosts:
        if host.get("noisy"):
            why = (host.get("verdict") or {}).get("why")
            yield f"{shown(host['label'])} was too noisy to judge: {shown(why)}"
        if host.get("complete") is False:
            yield f"{shown(host['label'])} is incomplete"


def text(hosts):
    """Hosts beside each other: figure and interval of each benchmark."""
    by_host = [summary.by_name(h["summary"]) for h in hosts]
    every = list(dict.fromkeys(e["name"] for h in hosts for e in h["summary"]))
    rows = []
    for name in every:
        row = [shown(name, 60)]
        for found, errors in by_host:
            question = names.question(name)
            row.append(table.cell_text(found.get(name), errors.get(name), question, False))
        rows.append(row)
    head = ["", *[" " + marked(h) for h in hosts]]
    return table.lay_out(head, rows, 120) if rows else ["none of them has benchmarks"]
