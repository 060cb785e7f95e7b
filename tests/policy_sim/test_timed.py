# SPDX-License-Identifier: MIT
"""The own rule and its timed sleeps against a second implementation, wait by wait."""

import random

import common

B = 30000

# What a timed sleep may cost; under ADAPTIVE there is none.
WORTH = {"ipcwait": 0, "latency": B - B // 4}
SEED = 1
WORD = 2**64 - 1

LATE_LEAST, LATE_MOST, LATE_RARELY = 85000, 98000, 300000
TIMER_CPU = 3200
TIMER_SPREAD = (LATE_MOST - LATE_LEAST) // 2

EDGES = [4, 8, 16, 32, 48, 64, 112]
THRESHOLDS = [5, 10, 19, 37, 55, 74, 112]
TYPICAL = [2, 6, 12, 24, 40, 56, 88]
BEYOND = [0, 12, 4, 2, 1]


class Random:
    """splitmix64, with the simulator's streams."""

    def __init__(self, *names):
        self.state = SEED
        for name in names:
            for byte in (name or "").encode():
                self.state ^= byte
                self.state = self.next()
            self.state = self.next()

    def next(self):
        self.state = self.state + 0x9E3779B97F4A7C15 & WORD
        z = self.state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & WORD
        z = (z ^ z >> 27) * 0x94D049BB133111EB & WORD
        return z ^ z >> 31

    def unit(self):
        return ((self.next() >> 11) + 0.5) / 2**53


def rounded(ns, first, bits, noise):
    """To the next number of @bits of mantissa, down or as the noise has it."""
    if ns < 1 << first:
        return 1 << first
    octave = ns.bit_length() - 1
    most = (2**bits - 1 << first - bits) + (1 << first) << 15
    if octave > first + 15:
        return most
    step = 1 << octave - bits
    return min((ns + noise % step) // step * step, most)


class Rhythm:
    def __init__(self):
        self.length, self.deviation, self.trust = 1 << 13, 1 << 8, 0

    def store(self, length, deviation, noise):
        self.length = rounded(length, 13, 10, noise)
        self.deviation = rounded(deviation, 8, 3, noise)

    def learn(self, x):
        noise = (x * 0x9E3779B97F4A7C15 & WORD) >> 32
        if (self.length, self.deviation, self.trust) == (1 << 13, 1 << 8, 0):
            self.store(x, x // 8, noise)
            return
        off = abs(x - self.length)
        near = off <= 2 * self.deviation
        off = min(off, 3 * self.deviation)
        sign = 1 if x > self.length else -1
        self.store(self.length + sign * (off // 8),
                   self.deviation - self.deviation // 4 + off // 4, noise)
        self.trust = min(7, self.trust + 1) if near else max(0, self.trust - 2)

    def plan(self, worth):
        """None, or (cost, wake, until, span)."""
        d, best = self.deviation, None
        if self.trust < 4 or d > B:
            return None
        timer = TIMER_CPU + TIMER_SPREAD
        for before in (1, 2, 3, 4):
            for after in (1, 2, 3, 4):
                early, late = BEYOND[before], BEYOND[after]
                in_vain = timer + (before + after) * d + B
                cost = (early * B + (64 - early - late) * (timer + before * d)
                        + late * in_vain) // 64
                wake = self.length - before * d - LATE_MOST
                if wake > 0 and cost < (best[0] if best else B):
                    best = (cost, wake, self.length + after * d,
                            (before + after) * d + TIMER_SPREAD)
        return best if best and best[0] < worth else None


def bin_of(x):
    return sum(x >= B * edge // 64 for edge in EDGES)


class Histogram:
    """What lib/policy/histogram.h says."""

    def __init__(self):
        self.counts = [0] * 8

    def total(self):
        return sum(self.counts)

    def add(self, i, n):
        if self.counts[i] + n > 31:
            self.counts = [c // 2 for c in self.counts]
        self.counts[i] += n


def cheapest(counts):
    """In 64ths of B."""
    best, best_cost = 0, sum(counts) * 64
    for i, threshold in enumerate(THRESHOLDS):
        covered = sum(n * t for n, t in zip(counts[:i + 1], TYPICAL))
        longer = sum(counts[i + 1:])
        cost = covered + longer * (threshold + 64)
        if cost < best_cost:
            best_cost = cost
            best = threshold if longer else max(threshold, 64)
    return best


class Own:
    """What lib/policy/window.h and sites.h say, and what lib/engine/plan.c does with it."""

    def __init__(self, name, policy):
        self.worth = WORTH[policy]
        self.sites, self.kind = {}, Histogram()
        self.quick = self.remembered = 0
        self.renew(None)

    def renew(self, site):
        """A new object, waited for there."""
        self.own, self.learned, self.rhythm = Histogram(), 0, Rhythm()
        self.site = self.sites.setdefault(site, Histogram())

    def young_share(self):
        before = self.site if self.site.total() >= 4 else self.kind
        if before.total() >= 4:
            return cheapest([c + 8 * own for c, own in zip(before.counts, self.own.counts)])
        few = self.own if self.own.total() else before
        best, waits = cheapest(few.counts), few.total()
        if waits == 0 or (best and waits < 4 and (best < 34 or few is not self.own)):
            return 34
        return best if best or waits > 1 or before.total() > 1 else 22

    def plan(self):
        """The spin, and (wake, until, longest spin) or None."""
        share = cheapest(self.own.counts) if self.learned >= 8 else self.young_share()
        spin = share * B // 64
        sleep = self.rhythm.plan(self.worth) if self.own.counts[7] else None
        again = max(0, B * 112 // 64 - spin - TIMER_CPU)
        if sleep and (sleep[3] > again or sleep[1] <= 2 * spin):
            sleep = None
        return spin, (sleep[1], sleep[2], again) if sleep else None

    def remember(self, x, n):
        known = self.learned >= 8
        self.own.add(bin_of(x), n)
        self.learned = min(63, self.learned + 1)
        if not known or self.remembered % 16 == 0:
            self.site.add(bin_of(x), 1)
            self.kind.add(bin_of(x), 1)
        self.remembered += known

    def learn(self, x, spun):
        n = 8 if spun and self.learned >= 8 else 1
        self.quick += spun
        if not spun and bin_of(x) == 7:
            self.rhythm.learn(x)
        if not spun or self.quick % n == 0:
            self.remember(x, n)


def plain(spin, x):
    """Cost, time spun, slept until a wake."""
    return (x, x, 0) if x <= spin else (spin + B, spin, 1)


def timed(spin, sleep, timer, x):
    rare, share = timer.unit() < 0.02, timer.unit()
    awake = sleep[0] + LATE_LEAST + int(
        share * ((LATE_RARELY if rare else LATE_MOST) - LATE_LEAST))
    if x <= awake:
        return spin + B, spin, 1
    cost, spun, slept = plain(min(max(sleep[1] - awake, 0), sleep[2]), x - awake)
    return cost + spin + TIMER_CPU, spun + spin, slept


def expected(name, waits, policy, life=0, sites=1):
    own, timer = Own(name, policy), Random(name, "timer")
    cost = best = spun = slept = timers = worst = 0
    for i, x in enumerate(waits):
        if life and i % life == 0:
            own.renew(i // life % sites)
        spin, sleep = own.plan()
        if x <= spin or not sleep or sleep[0] <= spin:
            c = plain(spin, x)
        else:
            c = timed(spin, sleep, timer, x)
            timers += 1
        own.learn(x, x <= spin)
        cost, spun, slept = cost + c[0], spun + c[1], slept + c[2]
        best += min(x, B)
        worst = max(worst, c[0] - min(x, B))
    return (cost / best, spun / sum(waits), slept / len(waits), worst / 1000), timers


def phases():
    """Ticks, frames, hand-offs and disorder, alone and mixed."""
    r = random.Random(5)
    waits = [int(r.gauss(10**6, 1500)) for _ in range(4000)]
    waits += [int(r.gauss(250000, 3000)) for _ in range(4000)]
    waits += [int(r.expovariate(1 / 400000)) for _ in range(3000)]
    waits += [16683000 + r.randrange(-8000, 8000) for _ in range(2000)]
    for _ in range(4000):
        waits += [r.randrange(500, 2500), int(r.gauss(700000, 500))]
    waits += [int(10**6 * 1.0005**i) + r.randrange(2000) for i in range(2000)]
    waits += [10**6 if i % 7 else 5 * 10**6 for i in range(2000)]
    return [max(1, x) for x in waits]


class Timed(common.SimTest):
    def test_second_implementation(self):
        waits = phases()
        name = self.write_waits("phases.txt", waits)
        results, _ = self.simulate("--trace", name, "--waits", "10")
        policies = {p["policy"]: p for p in results["series"][0]["policies"]}
        for policy, times in (("ipcwait", range(0, 1)), ("latency", range(5000, 25000))):
            (ratio, spun, slept, loss_us), timers = expected("phases", waits, policy)
            found = [s for s in policies[policy]["scores"] if s["member"] == "phases"][0]
            with self.subTest(rule=policy):
                self.assertIn(timers, times)
                self.assertAlmostEqual(found["ratio"], ratio, places=9)
                self.assertAlmostEqual(found["spun_share_of_time"], spun, places=9)
                self.assertAlmostEqual(found["slept_share_of_waits"], slept, places=9)
                self.assertAlmostEqual(found["loss_max_us"], loss_us, places=6)

    def test_second_implementation_on_young_objects(self):
        n = 4000
        by_turns = {
            "2 sites, 0.1 B, 10 B, 8 waits": (8, 8, 2),
            "1 site, 0.1 B, 10 B, 8 waits": (8, 8, 1),
            "1 site, 0.1 B, 10 B, 64 waits": (64, 64, 1),
            "2 sites, 0.1 B, 10 B, 1 wait": (1, 1, 2),
        }
        results, _ = self.simulate("--waits", str(n))
        policies = {p["policy"]: p for p in results["series"][0]["policies"]}
        for member, (run, life, sites) in by_turns.items():
            waits = [10 * B if i // run % 2 else B // 10 for i in range(n)]
            for policy in ("ipcwait", "latency"):
                (ratio, spun, slept, _), _ = expected(member, waits, policy, life, sites)
                found = [s for s in policies[policy]["scores"] if s["member"] == member][0]
                with self.subTest(rule=policy, member=member):
                    self.assertAlmostEqual(found["ratio"], ratio, places=9)
                    self.assertAlmostEqual(found["spun_share_of_time"], spun, places=9)
                    self.assertAlmostEqual(found["slept_share_of_waits"], slept, places=9)

    def test_timed_sleeps_pay_where_waits_are_regular_and_cost_nothing_elsewhere(self):
        results, _ = self.simulate("--waits", "20000")
        series = results["series"][0]
        seldom, often = ({s["member"]: s["ratio"] for s in p["scores"]}
                         for p in series["policies"][:2])
        kinds = {m["name"]: m["kind"] for m in series["members"]}
        for member in often:
            with self.subTest(member=member):
                if member.startswith(("ticks of", "frames", "completions", "constant 30 B")):
                    self.assertLess(often[member], 0.95 * seldom[member])
                elif kinds[member] != "adversarial":
                    self.assertLess(often[member], 1.02 * seldom[member])


if __name__ == "__main__":
    common.main()
