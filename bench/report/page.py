# SPDX-License-Identifier: MIT
"""The report as one file of HTML that needs nothing else."""

from pathlib import Path

from . import data, environment, figures, headline, legend, scoreboard, show, tables, theme

STYLE = Path(__file__).with_name("page.css")
WHO = "Who stands behind the names of implementations: docs/benchmarks/peers.md."
SCROLL = '<p class=scroll>Wider than the screen: it scrolls sideways.</p>'


def left_out(model):
    """What is missing in a figure, with its reason: never silently."""
    reasons = {}
    for name, why in model["left_out"]:
        reasons.setdefault(show.clean(why), []).append(show.clean(name))
    items = "".join(f"<li>{show.escape(show.sentence_list(of_it))}: {show.escape(why)}</li>"
                    for why, of_it in reasons.items())
    return f"<p class=key>Not shown:</p><ul class=key>{items}</ul>" if items else ""


def details(model):
    """The data behind a figure."""
    parts = []
    if model.get("pivot"):
        parts.append(tables.html_plain(model["pivot"]["head"], model["pivot"]["lines"]))
    if model["rows"]:
        parts.append(tables.html_raw(model["rows"]))
    return f"<details><summary>Data</summary>{''.join(parts)}</details>" if parts else ""


def picture(svg, failed, entries):
    """The legend stands outside of what is scrolled."""
    if not svg:
        return f"<p class=missing>{show.escape(failed)}</p>"
    return f"{legend.html(entries)}{SCROLL}<div class=card tabindex=0>{svg}</div>"


def on_demand(result, name, title, draw, model):
    """The picture with every implementation in colour, folded away."""
    if not figures.has_more(model):
        return ""
    made = figures.svg_of_all(model, draw, name, title, environment.footer(result))
    return (f"<details><summary>All {len(model['impls'])} in colour</summary>"
            f"{picture(*made, legend.of_all(model))}</details>")


def section(result, name, title, draw, model):
    head = f'<section id="{name}"><h2>{show.escape(title)}</h2>'
    made = figures.svg(model, draw, name, title, environment.footer(result))
    caption = f"<p>{show.escape(model['alt'])}</p>"
    if model.get("table"):
        caption += tables.html_plain(model["table"]["head"], model["table"]["lines"])
    caption += f"<p class=key>{show.escape(model['how'])}</p>"
    return (f"{head}<figure>{picture(*made, model.get('legend', ()))}"
            f"<figcaption>{caption}</figcaption></figure>"
            f"{left_out(model)}{on_demand(result, name, title, draw, model) if made[0] else ''}"
            f"{details(model)}</section>")


def answer_section(result):
    """The headline, and how it comes out in each place."""
    found, failed = figures.collect(result, headline.collect)
    if not found:
        return f"<section id=answer><p class=none>{show.escape(failed)}</p></section>"
    more = "".join(f"<li>{show.escape(text)}</li>" for text in found["more"])
    return (f"<section id=answer><p class=answer>{show.escape(found['answer'])}</p>"
            + (f"<ul>{more}</ul>" if more else "")
            + f"<p class=key>{show.escape(found['key'])}</p>"
            + (f"<details><summary>Each comparison</summary>"
               f"{tables.html_plain(found['head'], found['lines'])}</details>"
               if found["lines"] else "") + "</section>")


def missing_section(made):
    """The figures that this result has no data for, together: a page of empty cards hides what
    there is."""
    items = "".join(f"<li>{show.escape(title)}: <span class=missing>{show.escape(why)}</span></li>"
                    for _, title, _, model, why in made if model is None)
    return f"<section id=missing><h2>Not in this result</h2><ul>{items}</ul></section>" \
        if items else ""


def scoreboard_section(result):
    body = f"<p>{show.escape(scoreboard.sentence(result))}</p>"
    lines = scoreboard.lines(result)
    if lines:
        body += f"<p class=key>{show.escape(scoreboard.NAMES)}</p>"
    if lines:
        body += tables.html_plain(scoreboard.HEAD, lines, marked=scoreboard.failed(result))
    for title, head, inner in scoreboard.inner_tables(result):
        body += f"<details><summary>{show.escape(title)}</summary>"
        body += tables.html_plain(head, inner) + "</details>"
    raw = "".join(f"<h3>{show.escape(name)}</h3><pre>{escape_lines(text)}</pre>"
                  for name, text in scoreboard.raw(result))
    if raw:
        body += f"<details><summary>Raw values</summary>{raw}</details>"
    return f"<section id=scoreboard><h2>Seed scoreboard</h2>{body}</section>"


def escape_lines(text):
    return "\n".join(show.escape(line) for line in text.split("\n"))


def banners(result, bad):
    """Those that take the figures' worth, or the others."""
    return "".join(f'<p class="banner {kind}" role=note>{show.escape(text)}</p>'
                   for kind, text in environment.banners(result) if (kind == "bad") == bad)


def environment_section(result):
    return ("<section id=environment><h2>Environment</h2><details><summary>"
            f"{show.escape(environment.footer(result)[0])}</summary>"
            + tables.html_plain(("what", "value"), environment.lines(result))
            + "</details></section>")


def head_of(result):
    part = data.own(result)
    title = f"libipcwait benchmarks: {show.clean(part.get('suite') or 'no suite')}"
    lines = [*environment.footer(result), environment.method(result)]
    text = "<br>".join(show.escape(line) for line in lines if line)
    return title, f"<header><h1>{show.escape(title)}</h1><p class=key>{text}</p></header>"


def contents(made):
    links = [(name, title) for name, title, _, model, _ in made if model is not None]
    links.append(("scoreboard", "Seed scoreboard"))
    if len(links) <= len(made):
        links.append(("missing", "Not in this result"))
    links.append(("environment", "Environment"))
    return "<nav>" + " ".join(f'<a href="#{name}">{show.escape(title)}</a>'
                              for name, title in links) + f"</nav><p class=key>{WHO}</p>"


def text_of(result):
    made = figures.all_of(result)
    title, header = head_of(result)
    body = [header, banners(result, True), answer_section(result), banners(result, False),
            contents(made),
            *(section(result, *one[:-1]) for one in made if one[3] is not None),
            scoreboard_section(result), missing_section(made), environment_section(result)]
    body = "\n".join(body)
    return ("<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8>\n"
            '<meta name=viewport content="width=device-width, initial-scale=1">\n'
            f"<title>{show.escape(title)}</title>\n<style>\n{STYLE.read_text('utf-8')}"
            f"{theme.css(body)}</style>\n</head><body><main>\n{body}\n</main></body></html>\n")
