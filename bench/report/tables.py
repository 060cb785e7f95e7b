# SPDX-License-Identifier: MIT
"""Data tables behind the figures, as HTML and as Markdown: the same cells for both."""

import json

from . import show

HEAD = ("benchmark", "metric", "unit", "median", "low", "high", "all runs", "drawn as")
KEY = ("Runs in their order. Bold: kept. In brackets: left out by the trimming. With \"!\": "
       "disturbed by other programs.")
DIGITS = 6


def exact(value):
    """As the file has it."""
    return json.dumps(value) if isinstance(value, (int, float)) else show.clean(value)


def rounded(value):
    """What stands in the table; the file has all digits."""
    if value is None:
        return "-"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return show.clean(value)
    if isinstance(value, int):
        return str(value)
    return f"{value:.{DIGITS}g}"


def html_number(value):
    if value is None:
        return "-"
    text = rounded(value)
    if text == exact(value):
        return show.escape(text)
    return f'<data value="{show.escape(exact(value))}">{show.escape(text)}</data>'


def html_runs(row):
    runs = []
    for value, kept, noisy in zip(row["values"], row["kept"], row["noisy"]):
        text = html_number(value) + ("!" if noisy else "")
        runs.append(f"<b>{text}</b>" if kept else f"({text})")
    return " ".join(runs)


def html_row(row):
    cells = [show.escape(row["name"]), show.escape(row["metric"]), show.escape(row["unit"])]
    ends = [html_number(row[key]) for key in ("median", "low", "high")]
    return ("<tr><th scope=row>" + "</th><td>".join(cells[:2]) + f"</td><td>{cells[2]}</td>"
            + "".join(f"<td class=n>{e}</td>" for e in ends)
            + f"<td class=runs>{html_runs(row)}</td><td>{show.escape(row['drawn'])}</td></tr>")


def html_plain(head, lines, marked=()):
    """A table of texts. @marked: the numbers of lines that show something bad."""
    titles = "".join(f"<th scope=col>{show.escape(h)}</th>" for h in head)
    body = "\n".join(("<tr class=failed>" if i in marked else "<tr>")
                     + "".join(f"<td>{show.escape(c)}</td>" for c in line) + "</tr>"
                     for i, line in enumerate(lines))
    return (f"<div class=wide><table><thead><tr>{titles}</tr></thead>\n"
            f"<tbody>{body}</tbody></table></div>")


def html_raw(rows):
    titles = "".join(f"<th scope=col>{h}</th>" for h in HEAD)
    body = "\n".join(map(html_row, rows))
    return (f"<p class=key>{show.escape(KEY)}</p><div class=wide><table class=raw><thead><tr>"
            f"{titles}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>")


def md_cell(text):
    """Nothing in a cell may end it, or be taken for markup."""
    text = show.clean(text)
    for c in "\\`*_[]<>|#~&!":
        text = text.replace(c, "\\" + c)
    return text


def md_table(head, lines):
    rows = [[md_cell(c) for c in line] for line in lines]
    out = ["| " + " | ".join(md_cell(h) for h in head) + " |", "|" + "---|" * len(head)]
    return "\n".join(out + ["| " + " | ".join(row) + " |" for row in rows])


def md_runs(row):
    return " ".join(("**%s**" if kept else "(%s)") % (md_cell(rounded(value))
                                                     + ("\\!" if noisy else ""))
                    for value, kept, noisy in zip(row["values"], row["kept"], row["noisy"]))


def md_raw(rows):
    lines = []
    for row in rows:
        texts = [row["name"], row["metric"], row["unit"],
                 *(rounded(row[key]) for key in ("median", "low", "high"))]
        lines.append("| " + " | ".join([*map(md_cell, texts), md_runs(row),
                                        md_cell(row["drawn"])]) + " |")
    head = "| " + " | ".join(HEAD) + " |\n|" + "---|" * len(HEAD)
    return md_cell(KEY) + "\n\n" + "\n".join([head, *lines])
