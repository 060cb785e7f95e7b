# SPDX-License-Identifier: MIT
"""The report as Markdown: tables, and sentences in place of the pictures."""

from . import data, environment, figures, headline, scoreboard, tables

WORDS = {"bad": "> **Warning.** ", "warn": "> **Note.** ", "good": "> "}


def section(title, model):
    """One figure's text and tables."""
    parts = [f"## {title}", tables.md_cell(model["alt"])]
    if model.get("table"):
        parts.append(tables.md_table(model["table"]["head"], model["table"]["lines"]))
    parts.append(tables.md_cell(model["how"]))
    if model.get("pivot"):
        parts.append(tables.md_table(model["pivot"]["head"], model["pivot"]["lines"]))
    if model["left_out"]:
        parts.append("\n".join(f"- {tables.md_cell(name)}: {tables.md_cell(why)}"
                               for name, why in model["left_out"]))
    if model["rows"]:
        parts.append("<details><summary>Data</summary>\n\n" + tables.md_raw(model["rows"])
                     + "\n\n</details>")
    return parts


def answer(result):
    found, failed = figures.collect(result, headline.collect)
    if not found:
        return [tables.md_cell(failed)]
    parts = [f"**{tables.md_cell(found['answer'])}**"]
    if found["more"]:
        parts.append("\n".join(f"- {tables.md_cell(text)}" for text in found["more"]))
    if not found["lines"]:
        return [*parts, tables.md_cell(found["key"])]
    return [*parts, tables.md_cell(found["key"]), "<details><summary>Each comparison</summary>\n\n"
            + tables.md_table(found["head"], found["lines"]) + "\n\n</details>"]


def missing_section(made):
    lines = [f"- {title}: {tables.md_cell(why)}" for _, title, _, model, why in made
             if model is None]
    return ["## Not in this result", "\n".join(lines)] if lines else []


def scoreboard_section(result):
    parts = ["## Seed scoreboard", tables.md_cell(scoreboard.sentence(result))]
    lines = scoreboard.lines(result)
    if lines:
        parts.append(tables.md_cell(scoreboard.NAMES))
        parts.append(tables.md_table(scoreboard.HEAD, lines))
    for title, head, inner in scoreboard.inner_tables(result):
        parts += [f"### {tables.md_cell(title)}", tables.md_table(head, inner)]
    return parts


def text_of(result):
    part = data.own(result)
    parts = [f"# libipcwait benchmarks: {tables.md_cell(part.get('suite') or 'no suite')}"]
    every = environment.banners(result)
    parts += [WORDS[kind] + tables.md_cell(text) for kind, text in every if kind == "bad"]
    parts += answer(result)
    parts += [WORDS[kind] + tables.md_cell(text) for kind, text in every if kind != "bad"]
    parts.append("  \n".join(tables.md_cell(line) for line in environment.footer(result)))
    made = figures.all_of(result)
    for _, title, _, model, _ in made:
        parts += section(title, model) if model is not None else []
    parts += scoreboard_section(result) + missing_section(made)
    parts += ["## Environment", tables.md_table(("what", "value"), environment.lines(result))]
    return "\n\n".join(parts) + "\n"
