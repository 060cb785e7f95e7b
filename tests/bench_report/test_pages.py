# SPDX-License-Identifier: MIT
"""Whole reports: complete, well-formed, from nothing but the file, and every number from it."""

import json
import re
import unittest

import common
import make_result
import report
from report import figures, gnuplot, tables

NUMBERS = {"median": 3, "low": 4, "high": 5}


def without(result, *names):
    """The summary by (name, metric)."""
    return {(e["name"], e["metric"]): e for e in result["ipcwait"]["summary"]
            if "metric" in e and e["name"] not in names}


def shown(cell):
    """The numbers of a cell of a data table, exact where the page gives them."""
    found, values = [], iter([v for kind, v in cell if kind == "value"])
    rounded = {tables.rounded(float(v)) for kind, v in cell if kind == "value"}
    for kind, text in cell:
        if kind != "text":
            continue
        for word in text.replace("(", " ").replace(")", " ").replace("!", " ").split():
            found.append(float(next(values)) if word in rounded else float(word))
    return found


@unittest.skipIf(not common.HAVE_GNUPLOT, "needs gnuplot")
class Pages(common.ReportTest):
    cache = {}

    def usual(self):
        """(result, text, page) of the usual one, made once: drawing takes seconds."""
        if not self.cache:
            result = make_result.result()
            self.cache["all"] = (result, *self.html(result))
        return self.cache["all"]

    def test_every_figure_is_drawn(self):
        _, text, page = self.usual()
        self.assertEqual(page.missing,
                         ["The suite channel gave nothing to draw: not yet in libipcwait: "
                          "channel.", "Results of other hosts were not joined (--import)."])
        self.assertEqual(self.drawn(text), len(figures.FIGURES) - len(page.missing))
        for mark in "<svg", "<desc>", ' role="img"', 'aria-label="':
            self.assertEqual(text.count(mark), self.drawn(text) + text.count(common.ON_DEMAND))
        self.has("not built: libck-dev", text)
        self.assertIsNone(re.search(r"~\d+~", text))

    def test_joined_hosts(self):
        _, page = self.html(make_result.joined())
        joined = "".join(page.texts)
        self.has("metal, 16 CPUs", joined)
        self.assertNotIn("not joined", joined)

    def test_each_number_is_in_the_file(self):
        result, _, page = self.usual()
        known, seen = without(result), set()
        for row in page.rows:
            name = "".join(t for _, t in row[0]) if row else ""
            metric = "".join(t for _, t in row[1]) if len(row) > 7 else ""
            entry = known.get((name, metric))
            if entry is None:
                continue
            seen.add((name, metric))
            for key, column in NUMBERS.items():
                self.assertEqual(shown(row[column]), [entry[key]], (name, metric, key))
            self.assertEqual(shown(row[6]), entry["values"], (name, metric))
        times = {key for key in known if key[1] == "real_time"}
        self.assertEqual(times - seen, set())

    def test_footer_and_titles_are_in_every_figure(self):
        _, text, _ = self.usual()
        svgs = text.split("<svg")[1:]
        for svg in svgs:
            svg = svg.split("</svg>")[0]
            self.has("AMD EPYC, 2 CPUs, Linux 6.18.44, KVM", svg)
            self.has("scripts/bench --quick", svg)
            self.has("v0.1-42-gabc1234", svg)
            title = re.search("<title>([^<]+)</title>", svg)[1]
            self.assertEqual(text.count(f">{re.sub(', all [0-9]+$', '', title)}</h2>"), 1)
            self.assertFalse(f"<text>{title}</text>" in svg, title)

    def test_environment(self):
        _, _, page = self.usual()
        lines = {"".join(t for _, t in r[0]): "".join(t for _, t in r[1])
                 for r in page.rows if len(r) == 2}
        self.assertEqual(lines["machine.cpu_model"], "AMD EPYC")
        self.assertEqual(lines["machine.quota_cpus"], "not available: no limit")
        self.assertEqual(lines["kernel.vulnerable"], "spec_store_bypass")

    def test_many_cpus(self):
        result = make_result.result(20, suites=(make_result.pairs,), extras=False)
        _, page = self.html(result)
        self.assertEqual(page.tags.count("svg"), 2)
        self.assertEqual(page.texts.count("19"), 4)

    def test_nothing_in_it(self):
        for empty in ({}, {"ipcwait": {}}, {"ipcwait": {"summary": [], "runs": []}}):
            text, page = self.html(empty)
            self.assertEqual(len(page.missing), len(figures.FIGURES))
            self.assertTrue(all(m.endswith(".") for m in page.missing), page.missing)
            self.assertIn("The suite handoff was not run.", page.missing)
            self.has("The scoreboard was not run", text)
            self.has("not recorded", self.markdown(empty))

    def test_all_noisy(self):
        noisy = make_result.result(noisy=True, suites=(make_result.uncontended,), extras=False)
        text, _ = self.html(noisy)
        self.assertIn('class="banner bad"', text)
        self.assertLess(text.index("too noisy"), text.index("<svg"))
        self.has("**Warning.** The machine was too noisy", self.markdown(noisy))

    def test_interrupted(self):
        part = make_result.result(suites=(make_result.uncontended,), extras=False)
        part["ipcwait"]["complete"] = False
        self.has("The run was interrupted", self.html(part)[0])

    def test_emulated_guests_have_no_times(self):
        _, text, _ = self.usual()
        svg = text.split('<section id="metal">')[1].split("</section>")[0]
        self.has("emulated (TCG), counts, not times; ignored by the kernel: its log", svg)
        self.has("its log does not mention polling idle threads", svg)
        self.has("guest, haltpoll, 2 vCPUs: no line for 60 s; last: Booting from ROM", svg)

    def test_gnuplot_that_fails(self):
        drawn = gnuplot.run
        self.addCleanup(setattr, gnuplot, "run", drawn)
        gnuplot.run = lambda script, w, h: drawn("no_such_command <x>\n", w, h)
        text, page = self.html(make_result.result(suites=(make_result.uncontended,)))
        self.assertIn("gnuplot failed", "".join(page.missing))
        self.assertEqual(page.tags.count("svg"), 0)


class Markdown(common.ReportTest):
    def test_numbers_and_sentences(self):
        result = make_result.result(suites=(make_result.handoff,))
        text = self.markdown(result)
        entry = without(result)["handoff/impl:glibc/wait:20us", "latency_mean_ns"]
        (line,) = [x for x in text.split("\n") if x.startswith("| handoff/impl:glibc/wait:20us |")
                   and "latency\\_mean" in x and "cost" in x and "optimum" not in x]
        for key in ("median", "low", "high"):
            self.assertIn(f"| {tables.rounded(entry[key])} |", line)
        for value in entry["values"]:
            self.assertIn(tables.rounded(value), line)
        self.assertEqual(line.count("**"), 2 * len(entry["kept"]))
        self.has("The suite wake was not run.", text)
        self.has("spin = block between 20 us and 50 us (interpolated ", text)

    def test_all_figures_are_named(self):
        text = self.markdown(make_result.result())
        for _, title, _, _ in figures.FIGURES:
            self.assertTrue(f"\n## {title}\n" in text or f"\n- {title}: " in text, title)

    def test_tables_keep_their_columns(self):
        for line in self.markdown(make_result.result()).split("\n"):
            if line.startswith("| handoff/"):
                self.assertEqual(line.replace("\\|", "").count("|"), 9, line)


class Errors(common.ReportTest):
    def test_without_gnuplot(self):
        had = gnuplot.shutil.which
        self.addCleanup(setattr, gnuplot.shutil, "which", had)
        gnuplot.shutil.which = lambda name: None
        with self.assertRaises(report.ReportError) as e:
            report.write_html({}, self.path("r.html"))
        self.assertIn("gnuplot", str(e.exception))
        self.assertNotIn("\n", str(e.exception))
        report.write_markdown({}, self.path("r.md"))

    def test_unwritable(self):
        for write in (report.write_markdown, report.write_html):
            if write is report.write_html and not common.HAVE_GNUPLOT:
                continue
            with self.assertRaises(report.ReportError) as e:
                write({}, self.path("no\nsuch/folder/r"))
            self.assertNotIn("\n", str(e.exception))

    def test_result_is_not_changed(self):
        result = make_result.result(suites=(make_result.handoff,))
        before = json.dumps(result)
        self.markdown(result)
        self.assertEqual(json.dumps(result), before)


if __name__ == "__main__":
    common.main()
