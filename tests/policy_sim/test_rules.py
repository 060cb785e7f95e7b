# SPDX-License-Identifier: MIT
"""The cost model and the rules against a second implementation, on one trace."""

import random

import common

B = 30000
PAUSE = 26


def fixed(ns):
    return lambda state: ns, lambda state, x, tau, spun: None


def glibc():
    state = {"avg": 0}

    def limit():
        return min(100, 2 * state["avg"] + 10)

    def learn(_, x, tau, spun):
        probes = x // PAUSE + 1 if spun else limit() + 1
        state["avg"] += int((probes - state["avg"]) / 8)

    return lambda _: limit() * PAUSE, learn


def hotspot():
    state = {"d": 5000}

    def learn(_, x, tau, spun):
        d = state["d"]
        if not spun:
            state["d"] = max(0, d - 200)
        elif d < 5000:
            state["d"] = max(d, 1000) + 100

    return lambda _: 11 * 30 + state["d"] * 4 + state["d"] // 256 * PAUSE, learn


def mutexee():
    state = {"n": 0, "miss": 0, "limit": 128, "futex": 0, "retry": 8}

    def learn(_, x, tau, spun):
        s = state
        s["n"] += 1
        if s["n"] & 2047 == 0:
            if not s["futex"]:
                s["futex"] = int(s["miss"] > s["limit"])
            else:
                s["futex"] += 1
                if s["futex"] - 1 == s["retry"]:
                    s["retry"] = min(32, s["retry"] * 2)
                    s["limit"] = min(256, s["limit"] + 1)
                    s["futex"] = 0
            s["miss"] = 0
        s["miss"] += not spun

    return lambda _: (256 if state["futex"] else 8192) * 1000 // 3000, learn


def dotnet():
    window = sum(37 * n for n in (1, 2, 4, 7, 7, 7, 7, 7, 7, 7)) + 6 * (500 + 7 * 37)
    state = {"count": 22}

    def learn(_, x, tau, spun):
        c = state["count"]
        if c < 0:
            state["count"] = c + 1
        elif spun:
            state["count"] = min(22, c + 1)
        else:
            state["count"] = c - 1 if c > 0 else -100

    return lambda _: window if state["count"] >= 0 else 0, learn


def haltpoll():
    state = {"w": 0}

    def learn(_, x, tau, spun):
        if spun:
            return
        h, w = x - tau, state["w"]
        if h > 200000:
            state["w"] = w // 2 if w // 2 >= 50000 else 0
        elif h > w:
            state["w"] = min(200000, max(50000, 2 * w))

    return lambda _: state["w"], learn


def kvm():
    state = {"w": 0}

    def learn(_, x, tau, spun):
        w = state["w"]
        if x <= w:
            return
        if w and x > 200000:
            state["w"] = w // 2 if w // 2 >= 10000 else 0
        elif w < 200000 and x < 200000:
            state["w"] = min(200000, max(10000, 2 * w))

    return lambda _: state["w"], learn


RULES = {
    "block": fixed(0), "spin": fixed(10**8), "fixed-b": fixed(B),
    "fixed-054b": fixed(B * 54 // 100), "folly": fixed(2000), "glibc": glibc(),
    "hotspot": hotspot(), "mutexee": mutexee(), "dotnet": dotnet(),
    "haltpoll": haltpoll(), "kvm": kvm(),
}


def expected(rule, waits):
    spin_ns, learn = rule
    cost = best = spun_ns = slept = worst = 0
    for x in waits:
        tau = spin_ns(None)
        spun = x <= tau
        c = x if spun else tau + B
        cost += c
        best += min(x, B)
        worst = max(worst, c - min(x, B))
        spun_ns += min(x, tau)
        slept += not spun
        learn(None, x, tau, spun)
    return cost / best, spun_ns / sum(waits), slept / len(waits), worst / 1000


def mixed_waits():
    """Phases, so that rules with modes go through all of them."""
    r = random.Random(7)
    waits = []
    for mean in (300, 3000, 20000, 150000, 1e6, 500, 1e6, 3000):
        waits += [int(r.expovariate(1 / mean)) for _ in range(9000)]
    return waits


class Rules(common.SimTest):
    def scores(self, waits, *args):
        name = self.write_waits("mixed.txt", waits)
        results, _ = self.simulate("--trace", name, "--waits", "10", *args)
        series = results["series"][0]
        found = {}
        for verdict in series["policies"] + [series["hindsight"]]:
            found[verdict["policy"]] = [s for s in verdict["scores"]
                                        if s["member"] == "mixed"][0]
        return found

    def test_second_implementation(self):
        waits = mixed_waits()
        scores = self.scores(waits)
        for name, rule in RULES.items():
            with self.subTest(rule=name):
                ratio, spun, slept, loss_us = expected(rule, waits)
                self.assertAlmostEqual(scores[name]["ratio"], ratio, places=9)
                self.assertAlmostEqual(scores[name]["spun_share_of_time"], spun, places=9)
                self.assertAlmostEqual(scores[name]["slept_share_of_waits"], slept, places=9)
                self.assertAlmostEqual(scores[name]["loss_max_us"], loss_us, places=6)

    def test_hindsight_is_the_best_fixed_threshold(self):
        waits = [int(random.Random(3).expovariate(1 / 20000)) for _ in range(20)]
        waits += [random.Random(5).randrange(100000) for _ in range(300)]
        best = min(expected(fixed(tau), waits)[0] for tau in [0] + waits)
        self.assertAlmostEqual(self.scores(waits)["hindsight"]["ratio"], best, places=9)

    def test_random_is_e_over_e_minus_1(self):
        # Whatever the waits below B are, on average; here one length, 20000 draws.
        for wait in (3000, 20000, 29999):
            ratio = self.scores([wait] * 20000)["random"]["ratio"]
            self.assertAlmostEqual(ratio, 1.582, delta=0.05)

    def test_jiny_spins_two_to_three_milliseconds(self):
        scores = self.scores([10**9] * 5000)["jiny"]
        self.assertAlmostEqual(scores["ratio"], 2500000 / B + 1, delta=1)
        self.assertGreater(scores["loss_max_us"], 2990)
        self.assertLessEqual(scores["loss_max_us"], 3000)
        self.assertEqual(self.scores([1999999] * 100)["jiny"]["slept_share_of_waits"], 0)

    def test_own_rule_learns_both_ways(self):
        self.assertLess(self.scores([2000] * 5000)["ipcwait"]["ratio"], 1.01)
        # Regular ones are slept through on a timer where latency is dear, others until a wake.
        regular = self.scores([10**6] * 5000)
        self.assertLess(regular["latency"]["ratio"], 0.7)
        self.assertLess(regular["latency"]["spun_share_of_time"], 0.01)
        self.assertLess(regular["latency"]["slept_share_of_waits"], 0.1)
        r = random.Random(11)
        irregular = self.scores([r.randrange(10**5, 10**6) for _ in range(5000)])
        for longs in (regular["ipcwait"], irregular["ipcwait"], irregular["latency"]):
            self.assertLess(longs["ratio"], 1.01)
            self.assertLess(longs["spun_share_of_time"], 0.001)


if __name__ == "__main__":
    common.main()
