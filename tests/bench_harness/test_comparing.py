# SPDX-License-Identifier: MIT
"""A slowed program is found, two runs of the same are not; damaged files are refused."""

import json
import unittest

import common
from common import MADE_IMPLS, made
from harness import compare, compare_table, noise, stats, store, summary

def verdicts(rows, impl=None):
    every = rows["cells"] + rows["groups"]
    return [r["verdict"] for r in every if impl is None or f"impl:{impl}" in r["name"]]


class Tests(unittest.TestCase):
    def test_equal_programs_are_not_told_apart(self):
        alarms = 0
        for seed in range(40):
            found = verdicts(compare.rows(made(2 * seed), made(2 * seed + 1)))
            alarms += "slower" in found or "faster" in found
        self.assertLessEqual(alarms, 5)

    def check_nearly_all(self, found, verdict):
        """A cell whose three runs happen to differ much may be unknown."""
        self.assertGreaterEqual(found.count(verdict), 0.85 * len(found), found)
        self.assertLessEqual(set(found), {verdict, "unknown"})

    def test_a_slow_implementation_is_found_and_no_other(self):
        found = compare.rows(made(1), made(2, {"ipcwait": 1.5}))
        self.check_nearly_all(verdicts(found, "ipcwait"), "slower")
        for impl in MADE_IMPLS[1:]:
            self.assertNotIn("slower", verdicts(found, impl))

    def test_a_faster_one_too(self):
        found = compare.rows(made(1), made(2, {"glibc": 0.6}))
        self.check_nearly_all(verdicts(found, "glibc"), "faster")

    def test_small_differences_show_in_the_groups(self):
        found = compare.rows(made(1), made(2, {"ipcwait": 1.2}))
        groups = [r["verdict"] for r in found["groups"] if "ipcwait" in r["name"]]
        self.assertEqual(set(groups), {"slower"})

    def test_wild_figures_are_unknown_not_the_same(self):
        found = compare.rows(made(1, deviation=0.5), made(2, deviation=0.5))
        self.assertIn("unknown", verdicts(found))
        self.assertNotIn("same", verdicts(found))

    def test_one_run_says_nothing(self):
        found = compare.rows(made(1, runs=1), made(2, {"ipcwait": 3}, runs=1))
        self.assertEqual(set(verdicts(found)), {"unknown"})

    def test_holm(self):
        rows = [{"p": p} for p in (0.01, 0.04, 0.03, None)]
        stats.holm(rows)
        adjusted = [r.get("p_adjusted") for r in rows]
        for a, b in zip(adjusted, (0.03, 0.06, 0.06)):
            self.assertAlmostEqual(a, b)
        self.assertIsNone(adjusted[3])


class Text(unittest.TestCase):
    def lines(self, first, second):
        compared = compare.rows(first, second)
        return compared, compare_table.text(compared, first, second, [])

    def test_a_slower_peer_is_printed_and_not_counted(self):
        compared, lines = self.lines(made(1), made(2, {"glibc": 2}))
        self.assertEqual(compare.ours_slower(compared), [])
        self.assertRegex(lines[-2], "^slower, but not libipcwait: .*impl:glibc")
        self.assertTrue(lines[-1].startswith("nothing of libipcwait's is shown to be slower"))

    def test_what_could_not_be_judged_is_named(self):
        compared, lines = self.lines(made(1, deviation=0.5), made(2, deviation=0.5))
        self.assertEqual(compare.ours_slower(compared), [])
        at = lines.index("not judged, of libipcwait's:")
        self.assertIn("impl:ipcwait", lines[at + 1])
        self.assertTrue(any("spread too wide" in line for line in lines))
        self.assertIn("--runs 9", "\n".join(lines))

    def test_a_missing_value_is_no_round_of_a_group(self):
        first, second = made(1), made(2)
        first["ipcwait"]["summary"][0]["values"][2] = None
        self.assertEqual(compare.ours_slower(self.lines(first, second)[0]), [])


class Extremes(common.HarnessTest):
    def test_figures_of_any_size_end_in_words(self):
        for low, high in ((1e-90, 1e90), (5e-324, 1e-90), (1.0, 1.7e308)):
            rows = {f"q/impl:{impl}/n:{n}": [{"real_time": low if (i + n) % 2 else high,
                                              "share": -high} for i in range(5)]
                    for impl in "abc" for n in range(3)}
            result = store.empty("quick", [], {"host_label": "x"}, {"runs": 5, "trim": "order"})
            result["ipcwait"]["summary"] = summary.of_rows(list(rows), rows, "order")
            result["ipcwait"]["complete"] = True
            result["ipcwait"]["verdict"] = noise.verdict([], result["ipcwait"]["summary"])
            path = self.write("a.json", json.dumps(result, allow_nan=False))
            for args in (["--from", path], ["--compare", path, path]):
                r = self.run_here(*args)
                self.assertIn(r.returncode, (0, 2), r.stderr)
                self.assertNotIn("failed", r.stderr)


class Command(common.HarnessTest):
    def test_the_switch_that_slows_is_flagged(self):
        self.measure(out="a.json", fake={"seed": 1})
        self.measure(out="b.json", fake={"seed": 2}, IPCWAIT_BENCH_SLOW="impl:ipcwait,50")
        self.measure(out="c.json", fake={"seed": 3})
        self.assertEqual(self.load("b.json")["ipcwait"]["method"]["slowed"], "impl:ipcwait,50")
        r = self.run_it("--compare", "a.json", "b.json")
        self.assertEqual(r.returncode, 3, r.stdout + r.stderr)
        self.assertRegex(r.stdout.splitlines()[-1], r"^slower: .*impl:ipcwait")
        self.assertNotIn("impl:glibc", r.stdout.splitlines()[-1])
        r = self.run_it("--compare", "a.json", "c.json")
        self.assertEqual((r.returncode, r.stderr), (0, ""), r.stdout)
        self.assertRegex(r.stdout.splitlines()[-1],
                         r"^nothing is shown to be slower; \d+ of \d+ could not be judged$")
        r = self.run_it("--compare", "b.json", "a.json")
        self.assertEqual(r.returncode, 0, r.stdout)
        self.assertIn("faster", r.stdout)

    def write_made(self, name, seed, **changes):
        result = made(seed)
        result["ipcwait"].update(changes)
        return self.write(name, result)

    def test_noisy_results_are_not_judged(self):
        self.write_made("a.json", 1)
        self.write_made("b.json", 2, verdict={"noisy": True, "why": "a build was running"})
        self.check_refused(self.run_it("--compare", "a.json", "b.json"), "a build was running", 4)
        r = self.run_it("--compare", "a.json", "b.json", "--force")
        self.assertEqual(r.returncode, 0)
        self.assertIn("TOO NOISY", r.stdout)

    def test_what_only_one_has_is_said(self):
        self.write_made("a.json", 1)
        other = made(2)
        for entry in other["ipcwait"]["summary"]:
            if "nsync" in entry["name"]:
                for key in ("metric", "values", "kept"):
                    del entry[key]
                entry["error"] = "not built: no nsync"
        self.write("b.json", other)
        r = self.run_it("--compare", "a.json", "b.json")
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertIn("only in A (not built: no nsync)", r.stdout)

    def test_different_machines_are_said(self):
        for name, model in (("a.json", "one"), ("b.json", "two")):
            self.write_made(name, 1, environment={"machine": {"cpu_model": model}})
        r = self.run_it("--compare", "a.json", "b.json")
        self.assertIn("the machines differ: cpu_model", r.stdout)

    def test_nothing_in_common(self):
        self.write_made("a.json", 1)
        self.write_made("b.json", 1, summary=[])
        self.check_refused(self.run_it("--compare", "a.json", "b.json"), "in common")


class Files(common.HarnessTest):
    def bad_files(self):
        """Texts of files, and a word of the refusal."""
        good = made(1)
        yield "", "corrupt"
        yield "\x00\xff", "corrupt"
        yield json.dumps(good)[:-100], "corrupt"
        yield "[" * 100000, "corrupt"
        yield '{"ipcwait": NaN}', "NaN"
        yield "[1]", "no result"
        yield '{"program": "wait_bench", "rows": []}', "one of wait_bench"
        yield '{"ipcwait": []}', "ipcwait"
        yield '{"ipcwait": {}}', "format"
        yield '{"ipcwait": {"format": 0}}', "older"
        yield '{"ipcwait": {"format": 2}}', "newer"
        for path, value in ((["summary", 0, "median"], "x"), (["summary", 0, "kept"], []),
                            (["summary", 0, "name"], 3), (["summary", 0], 3),
                            (["summary"], {}), (["method"], None), (["runs"], 1),
                            (["method", "trim"], "no"), (["verdict"], []), (["hosts"], 4)):
            changed = json.loads(json.dumps(good))
            at = changed["ipcwait"]
            for key in path[:-1]:
                at = at[key]
            at[path[-1]] = value
            yield json.dumps(changed), "no result"

    def test_bad_files_are_refused_by_everything_that_reads(self):
        good = self.write("good.json", made(1))
        for text, word in self.bad_files():
            bad = self.write("bad.json", text)
            for args in (["--compare", good, bad], ["--from", bad],
                         ["--import", good, bad, "--out", "joined.json"]):
                with self.subTest(text=text[:40], args=args[0]):
                    self.check_refused(self.run_here(*args), word)
            self.assertFalse((self.dir / "joined.json").exists())

    def test_good_ones(self):
        self.write("a.json", made(1))
        r = self.run_it("--from", "a.json")
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        self.assertIn("nsync", r.stdout)


if __name__ == "__main__":
    common.main()
