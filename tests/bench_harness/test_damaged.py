# SPDX-License-Identifier: MIT
"""Files of others, damaged or made up: one line and exit status 2, wherever they are read."""

import json
import math

import common
from common import FAKE, made

ENORMOUS = 10 ** 400

IDLE = {"cpu": 0, "state": 1, "name": "C1", "usage": 1, "time_us": 5, "above": None, "below": 0}
NOISE = {"wall_s": 1.0, "other_cpus": 0.0, "steal_cpus": None}

# Where in "ipcwait" what stands. A key that is not there yet is made.
DAMAGE = [
    (["runs"], [1]), (["runs", 0, "name"], []), (["runs", 0, "round"], "x"),
    (["runs", 0, "round"], -1), (["runs", 0, "wall_s"], ENORMOUS), (["runs", 0, "used"], 1),
    (["runs", 0, "steal_cpus"], "x"), (["measured_s"], "x"), (["measured_s"], ENORMOUS),
    (["idle_states"], [1]), (["idle_states"], [{**IDLE, "usage": "x"}]),
    (["idle_states"], [{**IDLE, "cpu": None}]), (["idle_states"], [{"cpu": 0}]),
    (["summary", 0, "median"], 1e9), (["summary", 0, "median"], -1),
    (["summary", 0, "kept"], [1e9]), (["summary", 0, "values"], [1, ENORMOUS]),
    (["summary", 0, "values"], [1, True]), (["summary", 0, "low"], ENORMOUS),
    (["method", "runs"], ENORMOUS), (["method", "runs"], True),
    (["seed"], [3]), (["seed"], [{"id": 3}]), (["seed"], [{"id": "I-1", "state": 3}]),
    (["seed"], [{"id": "I-1", "why": 3}]), (["seed"], [{"id": "I-1", "noise": 3}]),
    (["seed"], [{"id": "I-1", "noise": {**NOISE, "wall_s": "x"}}]),
    (["guests"], [3]), (["guests"], [{"label": []}]), (["guests"], [{"label": "g", "error": 3}]),
    (["hosts"], [3]), (["hosts"], [{"label": "h", "summary": [{"name": "x"}]}]),
    (["hosts"], [{"label": "h", "summary": [], "verdict": 3}]),
    (["hosts"], [{"label": "h", "summary": [], "seed": [3]}]),
]
ROWS = [("name", 3), ("run_name", []), ("repetition_index", "x"), ("repetition_index", ENORMOUS),
        ("error_message", 3), ("error_occurred", "x")]


def changed(result, path, value):
    result = json.loads(json.dumps(result))
    at = result
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return result


class Damaged(common.HarnessTest):
    def setUp(self):
        super().setUp()
        self.whole = made(1)
        run = {"name": "a", "round": 0, "used": True, "noisy": False, "wall_s": 1.0,
               "other_cpus": None, "steal_cpus": 0.0}
        self.whole["ipcwait"].update(runs=[run], idle_states=[IDLE], measured_s=1.5)
        self.whole["benchmarks"] = [{"name": "a", "run_name": "a", "repetition_index": 0}]
        self.good = self.write("good.json", self.whole)

    def check_all(self, bad):
        for args in (["--compare", self.good, bad], ["--from", bad], ["--resume", bad],
                     ["--import", self.good, bad, "--out", "joined.json"]):
            with self.subTest(args=args[0]):
                self.check_refused(self.run_here(*args), "bad.json")
        self.assertFalse((self.dir / "joined.json").exists())

    def test_the_whole_one_is_read(self):
        self.assertEqual(self.run_here("--from", self.good).returncode, 0)

    def test_damage(self):
        for path, value in DAMAGE:
            with self.subTest(path=path, value=str(value)[:40]):
                self.check_all(self.write("bad.json",
                                          changed(self.whole, ["ipcwait", *path], value)))

    def test_rows(self):
        for key, value in ROWS:
            with self.subTest(key=key, value=str(value)[:40]):
                self.check_all(self.write("bad.json",
                                          changed(self.whole, ["benchmarks", 0, key], value)))

    def test_rows_of_others(self):
        for key, value in ROWS[1:]:
            row = {"name": "a", "run_name": "a", "real_time": 1.0, key: value}
            bad = self.write("bad.json", {"context": {}, "benchmarks": [row]})
            with self.subTest(key=key, value=str(value)[:40]):
                self.check_refused(self.run_here("--import", self.good, bad, "--out", "j.json"),
                                   "bad.json")
        row = {"name": "a", "real_time": ENORMOUS, "cpu_time": 1.0}
        self.write("odd.json", {"context": {}, "benchmarks": [row]})
        r = self.run_here("--import", self.good, "odd.json", "--out", "j.json")
        self.assertEqual(r.returncode, 0, r.stderr)


class Strange(common.HarnessTest):
    """Nothing is wrong with their form: judged or refused."""

    def with_values(self, name, values):
        result = made(1)
        entry = result["ipcwait"]["summary"][0]
        entry.update(values=values, kept=values, median=sorted(values)[1], low=None, high=None)
        return self.write(name, result)

    def test_figures_that_no_clock_gives(self):
        good = self.write("good.json", made(2))
        for values in ([0, 0, 0], [-5, -4, -3], [1e-300, 1e-300, 1e-300], [1e300, 1e300, 1e300],
                       [1e-300, 1, 1e300], [5e-324, 1, math.nextafter(math.inf, 0)],
                       [1e-99, 1, 1e99]):
            bad = self.with_values("bad.json", values)
            for args in (["--compare", good, bad], ["--compare", bad, good], ["--from", bad],
                         ["--import", good, "b=bad.json", "--out", "j.json"]):
                with self.subTest(values=values, args=args[0]):
                    r = self.run_here(*args)
                    if r.returncode == 2:
                        self.check_refused(r, "damaged")
                    else:
                        self.assertIn((r.returncode, r.stderr), ((0, ""), (3, "")))


class Resumed(common.HarnessTest):
    def test_what_a_run_needs(self):
        whole, _ = self.measure("--runs", "1", "--filter", "glibc/wait:5us")
        whole["ipcwait"]["complete"] = False

        def without(of, key):
            result = json.loads(json.dumps(whole))
            del of(result)[key]
            return result
        own = json.loads(json.dumps(whole))
        own["ipcwait"]["method"]["runs"] = 10 ** 8
        for bad, word in (
                (without(lambda r: r["benchmarks"][0], "repetition_index"), "runs of"),
                (without(lambda r: r["ipcwait"]["runs"][0], "used"), "runs of"),
                (without(lambda r: r["ipcwait"]["method"], "size"), "what was to be measured"),
                (without(lambda r: r["ipcwait"]["method"], "preset"), "LD_PRELOAD"),
                (own, "runs of")):
            self.write("bad.json", bad)
            with self.subTest(word=word):
                self.check_refused(self.run_here("--resume", "bad.json", "--program", str(FAKE)),
                                   word)


if __name__ == "__main__":
    common.main()
