# SPDX-License-Identifier: MIT
"""The command line: what it prints, and that bad input is one line and exit status 2."""

import sys
import os
import unittest
import xml.etree.ElementTree

import common

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import brief  # noqa: E402


class Good(common.StacksTest):
    def test_report_of_each_format(self):
        for name, row in (("cxx.script", ("main", 2, 0)), ("seed.bang", ("__do_softirq", 4, 0))):
            rows = self.rows(self.output("report", common.data(name)))
            self.assertEqual(rows[row[0]], row[1:], name)
        with open(common.data("seed.bang"), encoding="ascii") as f:
            rows = self.rows(self.output("report", "-", "--sort", "excl", text=f.read()))
        self.assertEqual(list(rows)[0], "net_rx_action")

    def test_views(self):
        f = common.data("cxx.script")
        self.assertIn("push_back", self.output("report", f, "--callees", "*work*", "--depth", "3"))
        self.assertIn("larger", self.output("report", f, "--callers", "small"))
        self.assertIn("pool worker 1-4711/4712", self.output("report", f, "--threads"))
        self.assertNotIn("futex", self.output("report", f, "--thread", "4712"))

    def test_diff(self):
        a, b = self.write("a", "m;x 10\n"), self.write("b", "m;y 10\n")
        self.assertIn("–", self.output("diff", a, b))
        self.assertIn("+100.00", self.output("diff", "-", b, "--sort", "excl", text="m;x 10\n"))

    def test_convert_there_and_back(self):
        script = common.data("cxx.script")
        folded = self.output("convert", "--to", "folded", script)
        self.assertEqual(self.output("convert", "--to", "folded", "-", text=folded), folded)
        bang = self.output("convert", "--to", "bang", script)
        self.assertEqual(self.output("convert", "--to", "bang", "-", text=bang), bang)
        self.output("convert", "--to", "bang", script, "--out", "x")
        with open(self.path("x"), encoding="utf-8") as f:
            self.assertEqual(f.read(), bang)

    def test_picture(self):
        svg = self.output("convert", "--to", "svg", common.data("cxx.script"))
        root = xml.etree.ElementTree.fromstring(svg)
        titles = [t.text for t in root.iter("{http://www.w3.org/2000/svg}title")]
        self.assertIn("main: 2 samples, 50.00 %", titles)
        self.assertIn("larger: 1 samples, 25.00 %", titles)

    def test_format_override(self):
        text = "!;x 3\n"
        rows = self.rows(self.output("report", "-", "--format", "folded", text=text))
        self.assertEqual(rows, {"!": (3, 0), "x": (3, 3)})

    def test_control_characters_do_not_reach_the_terminal(self):
        text = "m;a\x1b[31mb 10\n" + "m;c 1\n" * 9
        self.assertIn("a?[31mb", self.output("report", "-", text=text))


class Bad(common.StacksTest):
    def test_arguments(self):
        f = self.write("f", "a;b 1\n")
        for args, word in [
                ([], "COMMAND"), (["nothing"], "nothing"), (["report"], "FILE"),
                (["report", f, "--top", "0"], "'0'"), (["report", f, "--top", "9" * 5000], "999"),
                (["report", f, "--sort", "up"], "up"), (["report", f, "--depth", "2"], "--callers"),
                (["report", f, "--format", "xml"], "xml"), (["convert", f], "--to"),
                (["report", f, "--callers", "nobody"], "nobody"),
                (["report", f, "--callers", ""], "''"),
                (["report", f, "--callers", "a", "--callees", "b"], "not allowed"),
                (["report", f, "--thread", "x"], "which thread"),
                (["diff", "-", "-"], "standard input"), (["diff", f], "B"),
                (["convert", "--to", "svg", f, "--out", "no/such/x"], "no/such/x"),
                (["record", "--rate", "0", "--", "true"], "'0'"),
                (["record", "--by", "wall", "--source", "perf", "--", "true"], "sampler"),
                (["record", "--", "no-such-program"], "no-such-program"),
                (["record", "--", f], "not executable"), (["record"], "PROGRAM"),
                (["record", "--out", "no/such/x", "--", "true"], "no/such/x"),
        ]:
            self.assertIn(word, self.refusal(*args), args)

    def test_files(self):
        for content, word in [
                (b"", "empty"), (b" \n\n", "empty"), (os.urandom(4096), "binary"),
                (b"\x7fELF\x02\x01\0\0", "binary"), (b"a;b\0c 1\n", "binary"),
                (b"some words\nand more\n", "no stacks"), (b"!\n!\n!\n", "no stacks"),
                (b"!\n a\n b\n", "no stacks"), (b"a;b 0\n", "no stacks"), (b"a;b 1", "no stacks"),
                (b"PERFILE2", "perf"), (b"PERFILE2" + b"\xff" * 500, "perf"),
                (b"IWSTACK\0" + b"\0" * 100, "binary"),
        ]:
            name = self.write("bad", content)
            self.assertIn(word, self.refusal("report", name), content[:20])
        self.refusal("report", self.path("none"))
        self.refusal("report", self.dir)
        self.refusal("diff", self.write("f", "a 1\n"), self.path("none"))

    def test_names_are_made_visible(self):
        self.assertIn("a?b", self.refusal("report", "a\nb"))


if __name__ == "__main__":
    brief.main()
