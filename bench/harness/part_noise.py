# SPDX-License-Identifier: MIT
"""Was the scoreboard disturbed, or a guest? As noise.py for benchmarks, but over whole parts.

Their programs run one after the other, some for a fraction of a second, and the rows of a part
come out together. So each piece gets its figures, and all pieces of a part are judged at once.
"""

import resource
import time

from . import noise, probes

# Half a second is fifty ticks: enough to tell a tenth of a CPU.
SECONDS_LEAST = 0.5

WHAT = {"seed": "the scoreboard", "guests": "guests"}


def reading(root):
    """Now. The programs of a piece have been waited for, so all of their CPU time is known."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return {"at_s": time.monotonic(), "cpu": probes.cpu_times(root),
            "ours_s": sum(u.ru_utime + u.ru_stime for u in used)}


def between(before, after):
    """Figures of a piece. A single one may be below zero: CPU time in /proc/stat comes in ticks."""
    wall = after["at_s"] - before["at_s"]
    ours = after["ours_s"] - before["ours_s"]
    found = {"wall_s": wall, "own_cpu_s": ours, "other_cpus": None, "steal_cpus": None}
    times = probes.difference(before["cpu"], after["cpu"])
    if times is not None and wall > 0:
        found.update(other_cpus=(times["busy_s"] - ours) / wall,
                     steal_cpus=times["steal_s"] / wall)
    return found


def each(root, pieces):
    """The pieces of a generator, dictionaries, with the figures of the time that each took."""
    pieces, before = iter(pieces), reading(root)
    for piece in pieces:
        after = reading(root)
        yield {**piece, "noise": between(before, after)}
        before = reading(root)


def whole(pieces):
    """The figures of all pieces together, None where nothing can be said."""
    known = [p["noise"] for p in pieces or [] if p.get("noise")]
    judged = [n for n in known if n["other_cpus"] is not None]
    wall = sum(n["wall_s"] for n in judged)
    if wall < SECONDS_LEAST:
        return None
    return {"wall_s": wall, **{key: max(0.0, sum(n[key] * n["wall_s"] for n in judged) / wall)
                               for key in ("other_cpus", "steal_cpus")}}


def complaint(part, pieces):
    """One sentence if the part was too noisy to report, None if not."""
    found = whole(pieces)
    if found is None or found["other_cpus"] + found["steal_cpus"] <= noise.CPUS_MOST:
        return None
    return (f"while {WHAT[part]} ran, other programs used {found['other_cpus']:.2f} CPUs and the "
            f"host took {found['steal_cpus']:.2f} ({noise.CPUS_MOST:.2f} are allowed)")


def add_to(verdict, own):
    """The parts of a result into the verdict over its benchmarks."""
    verdict["parts"] = {part: whole(own.get(part)) for part in WHAT if own.get(part)}
    said = [text for text in (complaint(part, own.get(part)) for part in WHAT) if text]
    if said:
        why = [verdict["why"]] if verdict["noisy"] else []
        verdict.update(noisy=True, why="; ".join(why + said))
    return verdict
