# SPDX-License-Identifier: MIT
"""Was a run disturbed? Other programs' CPU time, the host's, and switches forced on the run."""

import math
import resource

from . import names, probes, rounds

# More than this much of one CPU, for others and the host together, changes what threads that
# wait for each other measure; less is what an idle machine does.
CPUS_MOST = 0.10

# The kernel counts CPU time in ticks, mostly by looking who runs when the tick comes. A figure
# below three of them may be one tick at each end and one by chance.
TICKS_LEAST = 3

# A switch away and back costs some 20 us with the caches: at 500 a second it is one per cent.
SWITCHES_PER_S_MOST = 500

# Questions with one thread only: whoever takes its CPU is a stranger. Threads that wait for each
# other preempt each other, more threads than CPUs do so all the time.
ONE_THREAD = ("uncontended",)

# Runs that may stay disturbed before nothing is reported.
SHARE_MOST = 0.20


def reading(root):
    """What is needed from before and after a run."""
    own = resource.getrusage(resource.RUSAGE_SELF)
    return {"cpu": probes.cpu_times(root), "cpus": probes.cpus(root),
            "interrupts": probes.interrupts(root), "harness_s": own.ru_utime + own.ru_stime}


def allowance_s(wall_s, own_s, cpus):
    """CPU seconds of others that a run of this length cannot tell from none.

    A tick that finds a CPU busy books the whole tick. Where the run keeps the CPUs busy for a
    share p of the time, N ticks find it running N p +- sqrt(N p (1 - p)) times.
    """
    ticks = max(1.0, wall_s * cpus / probes.TICK_S)
    p = min(1.0, own_s / (wall_s * cpus)) if wall_s > 0 else 0
    chance = 2 * math.sqrt(ticks * p * (1 - p))
    return max(CPUS_MOST * wall_s, probes.TICK_S * max(TICKS_LEAST, chance))


def complaint(suite, run, taken_s, cpus):
    """Why the run is noisy, None if it is not."""
    wall = run["wall_s"]
    if taken_s > allowance_s(wall, run["own_cpu_s"], cpus):
        return (f"others used {max(0, run['other_cpus']):.2f} CPUs, the host took "
                f"{run['steal_cpus']:.2f}")
    forced = run["involuntary_per_s"]
    if suite in ONE_THREAD and forced > SWITCHES_PER_S_MOST:
        return f"{forced:.0f} involuntary switches per second"
    return None


def judge(name, run, before, after):
    """Add the figures and the judgement to @run, which has wall_s and own_cpu_s."""
    run["interrupts"] = probes.difference(before["interrupts"], after["interrupts"])
    times = probes.difference(before["cpu"], after["cpu"])
    if times is None or run["wall_s"] <= 0:
        run.update(other_cpus=None, steal_cpus=None, noisy=False,
                   noise_reason="not judged: /proc/stat is not readable")
        return
    ours = run["own_cpu_s"] + after["harness_s"] - before["harness_s"]
    # Ticks are wrong both ways. What is below zero in one run makes up for too much in another;
    # cut off here, the sum over all runs would be too high, the more so the more CPUs there are.
    other, steal = times["busy_s"] - ours, max(0.0, times["steal_s"])
    run["other_cpus"], run["steal_cpus"] = other / run["wall_s"], steal / run["wall_s"]
    why = complaint(names.question(name), run, other + steal, after["cpus"] or 1)
    run.update(noisy=why is not None, noise_reason=why)


def taken_cpus(runs):
    """By others and the host, over all runs: long enough that ticks do not matter."""
    judged = [r for r in runs if r["other_cpus"] is not None]
    wall = sum(r["wall_s"] for r in judged)
    taken = sum((r["other_cpus"] + r["steal_cpus"]) * r["wall_s"] for r in judged)
    return max(0.0, taken) / wall if wall > 0 else None


def verdict(runs, summary=()):
    """Over the runs that count. One sentence where the machine was too noisy, and one for each
    round in which questions moved as a whole, which /proc/stat does not show."""
    noisy, total = sum(r["noisy"] for r in runs), len(runs)
    result = {"noisy": False, "noisy_runs": noisy, "total_runs": total, "why": None,
              "rounds": rounds.moved(summary)}
    taken = taken_cpus(runs)
    # Half a second is fifty ticks: enough to tell a tenth of a CPU.
    long_enough = sum(r["wall_s"] for r in runs) >= 0.5
    if taken is None:
        result["why"] = "not judged: /proc/stat is not readable" if total else None
    elif noisy > SHARE_MOST * total:
        result.update(noisy=True, why=f"{noisy} of {total} runs were disturbed by other programs "
                                      f"or by the host ({SHARE_MOST:.0%} are allowed)")
    elif long_enough and taken > CPUS_MOST:
        result.update(noisy=True, why=f"other programs and the host took {taken:.2f} CPUs over "
                                      f"all runs ({CPUS_MOST:.2f} are allowed)")
    return result
