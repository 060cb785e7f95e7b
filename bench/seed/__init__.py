# SPDX-License-Identifier: MIT
"""The seed scoreboard: every item of the seeds with its figures beside ours and the peers'.

run(context) returns the rows. The context has .build (a Path), .quick, .progress(text), .cache
and .root. A part that cannot run makes rows that say why.
"""

from . import (catalogue, part_costs, part_elsewhere, part_go, part_queues, part_recycle, part_sem,
               rows, runs)
from .metal import fill_metal

__all__ = ["IDS", "fill_metal", "iterate", "ordered", "run"]

IDS = catalogue.IDS
PARTS = [part_sem, part_go, part_queues, part_costs, part_recycle, part_elsewhere]


def part_rows(context, part):
    """The rows of one part; those that it could not make get the reason."""
    left = list(part.IDS)
    try:
        for row in part.measure(context):
            left.remove(row["id"])
            yield row
    except runs.Missing as e:
        yield from (rows.unavailable(name, str(e)) for name in left)
    except runs.Failed as e:
        yield from (rows.unavailable(name, f"FAILED: {e}", rows.FAILED) for name in left)


def iterate(context, wanted=None):
    """The rows as they are measured; @wanted: only these identifiers, and what is beside them."""
    for part in PARTS:
        if wanted is None or set(wanted) & set(part.IDS):
            for row in part_rows(context, part):
                if wanted is None or row["id"] in wanted:
                    yield row


def ordered(found):
    """In the order of the seeds."""
    return sorted(found, key=lambda row: IDS.index(row["id"]))


def run(context, wanted=None):
    return ordered(iterate(context, wanted))
