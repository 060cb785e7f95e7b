# SPDX-License-Identifier: MIT
"""Which figure of a benchmark answers its question."""

# Elsewhere it is the time of an operation. The waits of "pareto" are short four times of five: the
# median would not know of the long ones.
FIGURE = {"handoff": "latency_p50_ns", "wake": "latency_p50_ns", "pareto": "latency_mean_ns"}
WHAT = {"latency_p50_ns": "median latency", "latency_mean_ns": "mean latency",
        "real_time": "time per operation"}

# Where the mean is shown, what the worst of a hundred waits is belongs beside it.
TAIL = {"pareto": "latency_p99_ns"}


def figure(entries, question):
    """The entry that is shown of a benchmark."""
    return entries.get(FIGURE.get(question, "real_time")) or entries.get("real_time")
