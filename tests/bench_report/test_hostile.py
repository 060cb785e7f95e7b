# SPDX-License-Identifier: MIT
"""Files from elsewhere: names that want to be code."""

import copy
import os
import unittest

import common
import make_result

TOUCH = "touched"
EVIL = ("<script>alert(1)</script>", "a'b\"c", "back\\slash\\n", "100%s %d %%", "@macro x@y",
        f"`touch {TOUCH}`", f"'; system \"touch {TOUCH}\"; '", f"\n!touch {TOUCH}\n",
        "END_OF_DATA\nquit\n", "{/Bold x}_1^2", "--><svg onload=x>", "\x1b[31m\u202e\ud800",
        "]]></svg>&lt;&amp;", "$m1_0", "~0~", "~99999~", "x" * 3000, "", "url(#x) id=\"y\" href='http://z'")


def renamed(result, impls):
    """The same with other names for implementations, everywhere."""
    text = {f"impl:{old}": f"impl:{new.replace('/', '|').replace(':', ';')}"
            for old, new in impls.items()}

    def change(value):
        if isinstance(value, str):
            return "/".join(text.get(part, part) for part in value.split("/"))
        if isinstance(value, list):
            return [change(v) for v in value]
        if isinstance(value, dict):
            return {k: change(v) for k, v in value.items()}
        return value

    return change(result)


def all_texts(value, evil):
    """Every text of the environment, the scoreboard and so on becomes @evil."""
    if isinstance(value, str):
        return evil
    if isinstance(value, list):
        return [all_texts(v, evil) for v in value]
    if isinstance(value, dict):
        return {k: all_texts(v, evil) for k, v in value.items()}
    return value


@unittest.skipIf(not common.HAVE_GNUPLOT, "needs gnuplot")
class Names(common.ReportTest):
    def setUp(self):
        super().setUp()
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.dir)

    def check(self, result, drawn):
        text, found = self.html(result)
        self.assertEqual(self.drawn(text), drawn, found.missing)
        self.markdown(result)
        self.assertFalse(os.path.exists(TOUCH))

    def test_implementations(self):
        good = make_result.result(suites=(make_result.handoff, make_result.uncontended,
                                          make_result.pareto), extras=False)
        old = [i for i in make_result.SEMS if i not in ("spin", "block")]
        for start in range(0, len(EVIL), len(old)):
            bad = renamed(good, dict(zip(old, EVIL[start:])))
            self.check(bad, 7)

    def test_everything_else(self):
        good = make_result.result(suites=(make_result.uncontended,), extras=True)
        for evil in EVIL:
            own = good["ipcwait"]
            bad = {**good, "ipcwait": {**own, **{
                key: all_texts(copy.deepcopy(own[key]), evil) for key in
                ("environment", "command", "suite", "started", "seed", "method", "guests",
                 "idle_states", "verdict")}}}
            with self.subTest(evil=evil[:20]):
                self.check(bad, 4)

    def test_dimensions(self):
        for evil in EVIL:
            evil = evil.replace("/", "|")
            rows = [{"name": f"pairs/kind:{evil}/from:{evil}/to:{k}", "metric": "real_time",
                     "unit": evil, "values": [1.0, 2.0], "kept": [1.0], "median": 1.5, "low": 1.0,
                     "high": 2.0} for k in (evil + "b", evil + "c")]
            with self.subTest(evil=evil[:20]):
                self.check({"ipcwait": {"summary": rows}}, 1)


if __name__ == "__main__":
    common.main()
