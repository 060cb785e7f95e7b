# SPDX-License-Identifier: MIT
"""The answer above everything, from known runs: faster, slower, the same, not told apart, none."""

import statistics
import unittest

import common
import make_result
from report import errors, headline

SPREAD = (3, 0.99, 1, 1.01, 3)      # the first and the last run are dropped


def entry(name, metric, values, kept=None):
    kept = values[1:-1] if kept is None else kept
    return {"name": name, "metric": metric, "unit": "ns", "values": values, "kept": kept,
            "median": statistics.median(kept), "low": min(kept), "high": max(kept)}


def near(value):
    return [value * s for s in SPREAD]


def result(rows, **own):
    """@rows: {name: values of real_time, or {metric: values}}"""
    summary = [entry(name, metric, values) for name, row in rows.items()
               for metric, values in (row if isinstance(row, dict) else
                                      {"real_time": row}).items()]
    return {"ipcwait": {"method": {"trim": "order"}, "summary": summary, **own}}


def handoffs(**waits):
    """{wait: (ours, glibc's)}, mean added latency; a list is all runs."""
    rows = {}
    for wait, two in waits.items():
        for impl, value in zip(("ipcwait", "glibc"), two):
            if value is not None:
                values = value if isinstance(value, list) else near(value)
                rows[f"handoff/impl:{impl}/wait:{wait[1:]}"] = {"latency_mean_ns": values}
    return result(rows)


class Headline(common.ReportTest):
    def answer(self, made):
        return headline.collect(made)["answer"]

    def nothing(self, made, word):
        with self.assertRaises(errors.Missing) as e:
            headline.collect(made)
        self.assertIn(word, str(e.exception))

    def test_winning(self):
        made = headline.collect(handoffs(_0=(100, 20e3), _5us=(200, 10e3)))
        self.assertEqual(made["answer"], "Hand-off: 50 to 200 times faster than glibc up to waits "
                         "of 5 us.")
        self.assertEqual(made["lines"][0][:5], ["Hand-off", "wait 0", "100 ns", "20 us", "x200"])

    def test_winning_then_the_same(self):
        self.assertEqual(self.answer(handoffs(_5us=(200, 11e3), _100us=(21e3, 21.1e3),
                                              _1ms=(30e3, 30e3))),
                         "Hand-off: 55 times faster than glibc after 5 us; the same from 100 us "
                         "on.")

    def test_losing(self):
        self.assertEqual(self.answer(handoffs(_0=(300, 100))),
                         "Hand-off: 3 times slower than glibc with no wait.")
        self.assertEqual(self.answer(handoffs(_0=(104, 100))),
                         "Hand-off: 1.04 times slower than glibc with no wait.")

    def test_overlapping_and_close(self):
        ours, theirs = [1, 100, 110, 120, 1], [1, 105, 115, 125, 1]
        self.assertEqual(self.answer(handoffs(_0=(ours, theirs))),
                         "Hand-off: the same as glibc with no wait.")

    def test_overlapping_and_far_apart(self):
        ours, theirs = [1, 100, 110, 900, 1], [1, 105, 1150, 1250, 1]
        self.assertEqual(self.answer(handoffs(_0=(ours, theirs))),
                         "Hand-off: not told apart from glibc with no wait.")

    def test_intervals_that_overlap(self):
        """Three kept runs may lie apart by luck: then the intervals decide."""
        made = handoffs(_0=(100, 200))
        for row in made["ipcwait"]["summary"]:
            row.update(low=90.0, high=210.0)
        self.assertIn("not told apart", self.answer(made))

    def test_one_run_says_nothing(self):
        made = handoffs(_0=(100, 200))
        for row in made["ipcwait"]["summary"]:
            row.update(values=row["values"][2:3], kept=row["values"][2:3])
        self.assertIn("not told apart", self.answer(made))

    def test_changes_of_mind_claim_less(self):
        """The same, not told apart, the same, not told apart: that is not told apart."""
        wild = [1, 100, 110, 900, 1], [1, 105, 1150, 1250, 1]
        self.assertEqual(self.answer(handoffs(_0=(100, 200), _1us=(100, 100), _2us=wild,
                                              _5us=(100, 100), _9us=wild)),
                         "Hand-off: 2 times faster than glibc with no wait; not told apart from "
                         "1 us on.")

    def test_missing_lengths(self):
        self.assertEqual(self.answer(handoffs(_0=(100, 200), _5us=(None, 100), _9us=(100, None))),
                         "Hand-off: 2 times faster than glibc with no wait.")

    def test_nothing_to_compare(self):
        self.nothing({}, "Nothing in this result")
        self.nothing(handoffs(_0=(None, 100)), "Nothing in this result")
        self.nothing(handoffs(_0=(0.0, 100)), "Nothing in this result")
        self.nothing(result({"queue/impl:boost": near(5)}), "Nothing in this result")

    def test_not_to_be_believed(self):
        made = handoffs(_0=(100, 200))
        made["ipcwait"]["verdict"] = {"noisy": True}
        self.nothing(made, "too noisy")
        made = handoffs(_0=(100, 200))
        made["ipcwait"]["method"]["slowed"] = "impl:glibc,50"
        self.nothing(made, "slowed on purpose")

    def test_places(self):
        name = "contention/impl:{}/threads:{}/section:0"
        rows = {name.format(impl, n): near(v) for n, two in
                {1: (10, 20), 2: (10, 40), 4: (10, 10), 8: (10, 5)}.items()
                for impl, v in zip(("ipcwait", "glibc"), two)}
        self.assertEqual(self.answer(result(rows)), "Contended locks: 2 to 4 times faster than "
                         "glibc (1 thread, section 0 and 2 threads, section 0); the same "
                         "(4 threads, section 0); 2 times slower (8 threads, section 0).")

    def test_many_places_are_counted(self):
        rows = {f"condvar/impl:{impl}/waiters:{n}": near(v * (1 if n < 6 else 2)) for n in range(9)
                for impl, v in (("ipcwait", 10), ("glibc", 20 if n < 5 else 10))}
        self.assertEqual(self.answer(result(rows)), "Condition variables: 2 times faster than "
                         "glibc in 5 of 9 places; the same in 4.")

    def test_cpu_time_is_less(self):
        rows = {f"handoff/impl:{impl}/wait:0": {"cpu_time": near(v)}
                for impl, v in (("ipcwait", 10), ("glibc", 20))}
        found = headline.collect(result(rows))
        self.assertEqual(found["answer"],
                         "Hand-off, CPU time of the program: 2 times less than glibc with no wait.")
        self.assertEqual(found["lines"][0][-1], "less")
        self.assertNotIn("latency", found["key"])

    def test_twins_and_variants_are_others(self):
        rows = {"condvar/impl:ipcwait": near(10), "condvar/impl:glibc-again": near(20),
                "condvar/impl:ipcwait-spin": near(1), "condvar/impl:glibc": near(10)}
        self.assertEqual(self.answer(result(rows)), "Condition variables: the same as glibc.")


class Others(common.ReportTest):
    def test_scoreboard_and_guests(self):
        made = make_result.result(suites=())
        found = headline.collect(made)
        self.assertTrue(found["answer"].startswith("Semaphore test: 2"), found["answer"])
        self.assertIn("times faster than glibc", found["answer"])
        self.assertEqual([line[1] for line in found["lines"]], ["-", "host, 2 CPUs"])

    def test_hosts(self):
        made = make_result.joined()
        made["ipcwait"]["hosts"][0]["verdict"] = {"noisy": True}
        found = headline.collect(made)
        every = [found["answer"], *found["more"]]
        self.assertTrue(all(text.startswith("metal, 16 CPUs: ") for text in every), every)
        self.assertTrue(found["answer"].startswith("metal, 16 CPUs: Hand-off: "))

    @unittest.skipIf(not common.HAVE_GNUPLOT, "needs gnuplot")
    def test_pages(self):
        made = handoffs(_0=(100, 200))
        text, _ = self.html(made)
        self.assertLess(text.index("2 times faster than glibc with no wait."), text.index("<nav>"))
        self.has("**Hand-off: 2 times faster than glibc with no wait.**", self.markdown(made))
        self.has("Nothing in this result was measured", self.html({})[0])


if __name__ == "__main__":
    common.main()
