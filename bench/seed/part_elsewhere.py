# SPDX-License-Identifier: MIT
"""Items of the seeds that other parts of the benchmarks answer, or nobody yet."""

from . import rows


def measure(context):
    del context
    yield rows.unavailable("M-9", "no adviser for the size of a ring; the wake latency that it "
                           "needs is measured by the grid's question wake", rows.NOT_YET)
    yield rows.refers("M-11", [], "scripts/bench --profile prints profiles and differences")
    yield rows.refers("M-12", [], "every result file embeds ipcwait info, as environment")
    yield rows.refers("M-13", ["I-7"], "one CPU and all CPUs there; the grid's question pairs has "
                      "every pair of CPUs")


IDS = ["M-9", "M-11", "M-12", "M-13"]
