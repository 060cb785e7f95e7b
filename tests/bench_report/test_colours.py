# SPDX-License-Identifier: MIT
"""Which lines are in colour, legends, and the colours of light and dark pages."""

import re
import unittest
import xml.etree.ElementTree as ET

import common
import make_result
from report import choice, fig_throughput, legend, style, theme


class Chosen(common.ReportTest):
    TABLE = {"ipcwait": {0: 5, 1: 5}, "glibc": {0: 9, 1: 9}, "glibc-again": {0: 1, 1: 1},
             "ipcwait-spin": {0: 1, 1: 1}, "spin": {0: 1, 1: 4}, "nsync": {0: 2, 1: 2},
             "tbb": {0: 7, 1: 7}, "ck": {1: 20}}

    def test_ours_glibc_and_the_two_best(self):
        self.assertEqual(choice.main(self.TABLE), {"ipcwait", "glibc", "spin", "nsync"})
        self.assertEqual(choice.main(self.TABLE, up=True), {"ipcwait", "glibc", "ck", "tbb"})

    def test_what_is_missing_is_not_chosen(self):
        self.assertEqual(choice.main({"tbb": {0: 1}, "ipcwait": {}}), {"tbb", "ipcwait"})
        self.assertEqual(choice.main({}), set())

    def test_legend_counts_the_grey_ones(self):
        names = [e["name"] for e in choice.legend(self.TABLE, {"ipcwait", "glibc"})]
        self.assertEqual(names, ["ipcwait", "glibc", "6 others"])
        self.assertEqual(len(choice.legend(["ipcwait"], {"ipcwait"})), 1)

    def test_blue_is_ours(self):
        for impl in (*make_result.SEMS, *make_result.LOCKS, *style.FAMILIES, "who", "knows-it"):
            blue = style.of(impl)["colour"] == style.BLUE
            self.assertEqual(blue, style.family(impl) == "ipcwait", impl)
        self.assertNotEqual(style.bar("ipcwait"), style.bar("glibc"))
        self.assertEqual(style.bar("nsync"), style.bar("tbb"))


class Pictures(common.ReportTest):
    @unittest.skipIf(not common.HAVE_GNUPLOT, "needs gnuplot")
    def test_grey_lines_have_a_picture_on_demand(self):
        text, _ = self.html(make_result.result(suites=(make_result.handoff,), extras=False))
        section = text.split('<section id="throughput">')[1].split("</section>")[0]
        first, second = section.split("<svg")[1:]
        self.has("All 13 in colour", first)
        for svg, there in (first, False), (second, True):
            self.assertEqual(">tbb</text>" in svg.split("</svg>")[0], there)
        self.has("9 others</li>", section.split("<svg")[0])

    @unittest.skipIf(not common.HAVE_GNUPLOT, "needs gnuplot")
    def test_every_colour_has_two_grounds(self):
        text, _ = self.html(make_result.result())
        used = set(theme.USED.findall(text.split("</style>")[1]))
        light, dark = text.split("</style>")[0].rsplit("@media (prefers-color-scheme: dark)", 1)
        for digits in used:
            self.has(f"--p-{digits}: #{digits};", light)
            self.has(f"--p-{digits}: #{theme.on_dark(digits)};", dark)
        self.assertNotIn(style.BLUE, text.split("</style>")[1])

    def test_maps_keep_their_cells(self):
        def restyled(is_map):
            root = ET.fromstring('<svg><rect fill="rgb( 68,  1, 84)"/><text fill="#222222"/></svg>')
            theme.restyle(root, is_map)
            return [dict(e.attrib) for e in root]
        ink = {"style": "fill:var(--p-222222)"}
        self.assertEqual(restyled(True), [{"fill": "rgb( 68,  1, 84)"}, ink])
        self.assertEqual(restyled(False), [{"style": "fill:var(--p-440154)"}, ink])

    def test_bright_enough_on_dark(self):
        for digits in ("440154", "000080", "7f0000"):
            dark = theme.on_dark(digits)
            self.assertGreater(max(int(dark[i:i + 2], 16) for i in (0, 2, 4)), 150, dark)


class Captions(common.ReportTest):
    def how(self, make):
        return fig_throughput.collect(make_result.result(suites=(make,), extras=False))["how"]

    def test_no_words_about_marks_that_are_not_there(self):
        def two(make):
            for impl, time in (("ipcwait", 1e3), ("nsync", 2e3)):
                for wait in ("1us", "2us"):
                    make.add(f"handoff/impl:{impl}/wait:{wait}", {"real_time": time})
        self.assertIn("Bars with a circle", self.how(make_result.handoff))
        self.assertNotIn("circle", self.how(two))
        self.assertNotIn("Cost", self.how(two))

    def test_legends_escape(self):
        text = legend.html([{"name": "<b>", **style.of("x")}, {"name": "y", "mark": "<"}])
        self.assertNotIn("<b>&lt;b", text)
        self.assertEqual(len(re.findall("<li>", text)), 2)
        self.assertIn("&lt;b&gt;", text)
        self.assertEqual(legend.html([]), "")


if __name__ == "__main__":
    common.main()
