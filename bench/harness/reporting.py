# SPDX-License-Identifier: MIT
"""What a person gets of a result: the tables on the terminal, report files, the exit status."""

import os
import sys
from pathlib import Path

import summaries

from . import parts, session, store, table
from .errors import FAILED, NOISY, OK, Ending, refused, shown

# A line of a table of the scoreboard has a dozen columns.
LINE_MOST = 1000


def say(lines):
    print("\n".join(lines), flush=True)


def complain(text):
    print(f"scripts/bench: {text}", file=sys.stderr)


def write_reports(o, result):
    for path, function in ((o.report, "write_html"), (o.markdown, "write_markdown")):
        if path:
            parts.call("report", function, result, path)
            say([f"report: {shown(path)}"])


def check_outputs(o):
    """Nothing is measured for a file that cannot be written."""
    for path, option in ((o.report, "--report"), (o.markdown, "--markdown"), (o.out, "--out")):
        if path:
            if not os.path.isdir(Path(path).parent):
                raise refused(f"{option}: no folder for {shown(path)}")
            store.check_writable(path, option)


def check_programs(o):
    """Nor for a report, or guests, that nobody here can make."""
    if o.report:
        parts.function("report", "write_html")
        parts.call("report.gnuplot", "check")
    if o.markdown:
        parts.function("report", "write_markdown")
    if o.vm:
        parts.call("vm.qemu", "find")


def described(name, part, function, piece):
    """Lines about a row of the scoreboard, or a guest. The file may be another version's."""
    try:
        lines = parts.call(part, function, piece).split("\n")
    except Ending as e:
        lines = [f"{name}: cannot be shown: {e}"]
    return [shown(line, LINE_MOST) for line in lines]


def parts_text(own):
    """Scoreboard and guests."""
    lines = []
    for row in own.get("seed") or []:
        lines += described(row["id"], "seed.text", "describe", row)
    for guest in own.get("guests") or []:
        lines += [*described(guest["label"], "vm.table", "text", guest), ""]
    return lines


def text(result):
    own = result["ipcwait"]
    lines = table.text(result) if own["summary"] else []
    of_parts = parts_text(own)
    if of_parts and own["verdict"].get("noisy"):
        lines.append(table.banner(own["verdict"]))
    if not own["summary"] and not own["complete"]:
        of_parts.append("incomplete: the run was interrupted")
    return lines + of_parts


def files(path, summary):
    """Where what was measured lies."""
    return ([f"result: {shown(path)}"] if path else []) + \
        ([summaries.described(summary)] if summary else [])


def report(o, result, path, summary=None):
    """Tables and reports; the exit status."""
    verdict = result["ipcwait"]["verdict"]
    where = f" {shown(path)} has all runs." if path else ""
    if verdict.get("noisy") and not o.force:
        complain(f"not reported: {shown(verdict.get('why'), 400)}; repeat it when the machine is "
                 f"quiet, or see it with --from FILE --force.{where}")
        return NOISY
    say(text(result) + files(path, summary))
    write_reports(o, result)
    failed = session.failures(result)
    for name, error in failed.items():
        complain(f"{shown(name)}: {shown(error)}")
    return FAILED if failed else OK
