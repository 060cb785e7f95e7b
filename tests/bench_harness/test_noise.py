# SPDX-License-Identifier: MIT
"""Other programs, the host and forced switches: when is a run, or a session, too noisy?"""

import random
import unittest

import common
from harness import noise, probes, rounds, summary

ARM_INTERRUPTS = """\
           CPU0       CPU1
 11:     90000      80000     GICv3  27 Level     arch_timer
 49:         7          0     GICv3  78 Edge      virtio1-requests
IPI0:      1000       2000       Rescheduling interrupts
IPI1:        10         20       Function call interrupts
IPI2:         0          0       CPU stop interrupts
Err:          0
"""
X86_INTERRUPTS = """\
            CPU0       CPU1
  9:          0          4   IO-APIC   9-fasteoi   acpi
LOC:        100        200   Local timer interrupts
RES:          1          2   Rescheduling interrupts
CAL:          3          4   Function call interrupts
TLB:          5          6   TLB shootdowns
"""


class Refusal(common.HarnessTest):
    def noisy(self, *args, status, ticks=100, **how):
        return self.measure("--runs", "2", *args, status=status,
                            fake={"stat": str(self.stat), "ticks": ticks}, **how)

    def test_nothing_is_reported(self):
        result, r = self.noisy(status=4)
        verdict = result["ipcwait"]["verdict"]
        self.assertTrue(verdict["noisy"])
        self.assertEqual((verdict["noisy_runs"], verdict["total_runs"]), (12, 12))
        self.assertNotIn("wait:5us", r.stdout)
        self.assertEqual(r.stderr.count("\n"), 1)
        self.assertIn("--force", r.stderr)
        self.assertTrue(result["ipcwait"]["summary"])

    def test_repeats_are_bounded_and_kept(self):
        result, _ = self.noisy(status=4)
        runs = result["ipcwait"]["runs"]
        repeated = [r for r in runs if not r["used"]]
        self.assertEqual(len(repeated), 3)
        self.assertTrue(all(r["row"]["real_time"] > 0 for r in repeated))
        self.assertEqual(len(result["benchmarks"]), 12)
        self.assertEqual(max(r["attempt"] for r in runs), 2)

    def test_force(self):
        _, r = self.noisy("--force", status=0)
        self.assertIn("TOO NOISY", r.stdout)
        self.assertIn("wait:5us", r.stdout)
        r = self.run_it("--from", "out.json")
        self.assertEqual(r.returncode, 4)
        r = self.run_it("--from", "out.json", "--force")
        self.assertEqual(r.returncode, 0)

    def test_a_tick_is_no_noise(self):
        result, _ = self.noisy(status=0, ticks=1)
        self.assertEqual(result["ipcwait"]["verdict"]["noisy_runs"], 0)

    def test_no_proc(self):
        result, _ = self.measure("--runs", "2", IPCWAIT_BENCH_FSROOT=self.path("nothing"))
        own = result["ipcwait"]
        self.assertIn("not judged", own["verdict"]["why"])
        self.assertEqual((own["runs"][0]["other_cpus"], own["runs"][0]["interrupts"]), (None, None))
        self.assertIsNone(own["idle_states"])


def run(wall=1.0, own=0.0, forced=0.0, other=0.0, steal=0.0):
    return {"wall_s": wall, "own_cpu_s": own, "involuntary_per_s": forced, "other_cpus": other,
            "steal_cpus": steal, "noisy": False}


class Judgement(unittest.TestCase):
    def test_allowance(self):
        self.assertAlmostEqual(noise.allowance_s(1.0, 0, 2), 0.1)
        self.assertAlmostEqual(noise.allowance_s(0.1, 0, 2), 3 * probes.TICK_S)
        self.assertGreater(noise.allowance_s(0.1, 0.1, 2), 3 * probes.TICK_S)
        self.assertAlmostEqual(noise.allowance_s(0.1, 0.2, 2), 3 * probes.TICK_S)

    def test_involuntary_switches_count_where_there_is_one_thread(self):
        self.assertIsNotNone(noise.complaint("uncontended", run(forced=1000), 0, 2))
        self.assertIsNone(noise.complaint("oversubscription", run(forced=1000), 0, 2))
        self.assertIsNone(noise.complaint("uncontended", run(forced=100), 0, 2))

    def test_what_each_run_hides_the_whole_session_shows(self):
        runs = [run(wall=0.2, other=0.14) for _ in range(50)]
        self.assertTrue(noise.verdict(runs)["noisy"])
        runs = [run(wall=0.2, other=0.05, steal=0.02) for _ in range(50)]
        self.assertFalse(noise.verdict(runs)["noisy"])

    def test_a_fifth_may_be_noisy(self):
        runs = [run() for _ in range(10)]
        for r in runs[:2]:
            r["noisy"] = True
        self.assertFalse(noise.verdict(runs)["noisy"])
        runs[2]["noisy"] = True
        self.assertTrue(noise.verdict(runs)["noisy"])

    def test_no_runs(self):
        self.assertFalse(noise.verdict([])["noisy"])


def undisturbed(chance, cpus, wall_s, share):
    """A run that has all CPUs for @share of the time, and what the ticks say of it."""
    ticks = sum(chance.random() < share for _ in range(round(wall_s * cpus / probes.TICK_S)))
    own_s = wall_s * cpus * share
    figures = {"wall_s": wall_s, "own_cpu_s": own_s, "involuntary_per_s": 0.0}
    before, after = ({"cpu": {"busy_s": busy_s, "steal_s": 0.0}, "cpus": cpus, "interrupts": None,
                      "harness_s": 0.0} for busy_s in (0.0, ticks * probes.TICK_S))
    noise.judge("contention/threads:2", figures, before, after)
    return figures


class Undisturbed(unittest.TestCase):
    def test_a_quiet_session_is_not_refused(self):
        chance = random.Random(1)
        for cpus in (2, 16):
            for share in (0.3, 0.5, 0.9):
                with self.subTest(cpus=cpus, share=share):
                    runs = [undisturbed(chance, cpus, 0.2, share) for _ in range(200)]
                    self.assertFalse(noise.verdict(runs)["noisy"])
                    self.assertLess(sum(r["noisy"] for r in runs), 0.1 * len(runs))
                    self.assertLess(noise.taken_cpus(runs), noise.CPUS_MOST / 2)
                    self.assertLess(min(r["other_cpus"] for r in runs), 0)


def rows_of(round_factor, deviation=0.02, impls=5):
    """Two questions of @impls variants; the first is slower by @round_factor in round 3."""
    chance, rows = random.Random(4), {}
    for cell in ("wait:1ms", "wait:5us"):
        for impl in range(impls):
            rows[f"handoff/impl:x{impl}/{cell}"] = [
                {"latency_p50_ns": 100 * chance.gauss(1, deviation)
                 * (round_factor if run == 2 and cell == "wait:1ms" else 1)} for run in range(5)]
    return summary.of_rows(list(rows), rows, "order")


class Rounds(unittest.TestCase):
    def test_a_round_that_moved_is_told(self):
        said = noise.verdict([], rows_of(1.6))["rounds"]
        self.assertEqual(len(said), 1)
        self.assertRegex(said[0], r"^Round 3: in 1 of 2 rows .* handoff/wait:1ms \+[56]\d%\.$")

    def test_what_is_usual_is_not(self):
        self.assertEqual(rounds.moved(rows_of(1.0)), [])
        self.assertEqual(rounds.moved(rows_of(1.05)), [])
        self.assertEqual(rounds.moved(rows_of(1.3, deviation=0.3)), [])
        self.assertEqual(rounds.moved(rows_of(1.6, impls=2)), [])
        self.assertEqual(rounds.moved([]), [])


class Probes(common.HarnessTest):
    def test_interrupts_of_two_architectures(self):
        root = self.dir / "root"
        for text, expected in ((ARM_INTERRUPTS, {"LOC": 170000, "RES": 3000, "CAL": 30}),
                               (X86_INTERRUPTS, {"LOC": 300, "RES": 3, "CAL": 7}),
                               ("", None), ("\x00garbage: RES\nRES:\n", None)):
            (root / "proc/interrupts").write_text(text, "ascii")
            self.assertEqual(probes.interrupts(root), expected)

    def test_cpu_times(self):
        root = self.dir / "root"
        self.assertEqual(probes.cpus(root), 2)
        times = probes.cpu_times(root)
        self.assertAlmostEqual(times["busy_s"], 1505 * probes.TICK_S)
        self.assertAlmostEqual(times["steal_s"], 7 * probes.TICK_S)
        self.stat.write_text("cpu  1 2\n", "ascii")
        self.assertIsNone(probes.cpu_times(root))

    def state(self, cpu, number, **files):
        folder = self.dir / f"root/sys/devices/system/cpu/cpu{cpu}/cpuidle/state{number}"
        folder.mkdir(parents=True, exist_ok=True)
        for name, value in files.items():
            (folder / name).write_text(f"{value}\n", "ascii")

    def test_idle_states(self):
        root = self.dir / "root"
        self.assertIsNone(probes.idle_states(root))
        for cpu in (0, 10):
            self.state(cpu, 0, name="POLL", usage=5, time=100, above=0, below=1)
        self.state(0, 1, name="C1", usage=5, time=1000)
        before = probes.idle_states(root)
        self.state(0, 1, usage=9, time=501000)
        rows = probes.idle_difference(before, probes.idle_states(root), 1.0)
        self.assertEqual([(r["cpu"], r["state"]) for r in rows], [(0, 0), (0, 1), (10, 0)])
        self.assertEqual((rows[1]["name"], rows[1]["usage"], rows[1]["share"], rows[1]["above"]),
                         ("C1", 4, 0.5, None))


if __name__ == "__main__":
    common.main()
