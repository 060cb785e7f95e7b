# SPDX-License-Identifier: MIT
"""The mutex grid from a result: the best peer of each cell, quotients within rounds, means."""

import os
import json
import sys

import common
import grids

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import brief  # noqa: E402

# Times of five rounds; the first and the last are not kept.
CELLS = {
    ("2", "0", "0"): {"ipcwait": [9, 10, 20, 40, 9], "glibc": [9, 40, 80, 160, 9],
                      "glibc-again": [9, 40, 80, 160, 9], "nsync": [9, 30, 60, 80, 9]},
    ("2", "1us", "0"): {"ipcwait": [2000] * 5, "glibc": [1000] * 5, "glibc-again": [2000] * 5,
                        "nsync": [1500] * 5},
    ("4", "100us", "equal"): {"ipcwait": [100] * 5, "abseil": [100] * 5},
}


def result():
    summary = []
    for (threads, section, think), impls in CELLS.items():
        for impl, values in impls.items():
            name = f"contention/impl:{impl}/threads:{threads}/section:{section}/think:{think}"
            kept = values[1:-1]
            summary += [{"name": name, "metric": metric, "values": values, "kept": kept,
                         "median": sorted(kept)[1]} for metric in ("real_time", "cpu_time")]
    summary.append({"name": "contention/impl:tbb/threads:2/section:0/think:0",
                    "error": "not built"})
    summary.append({"name": "uncontended/impl:ipcwait", "metric": "real_time", "values": [1],
                    "kept": [1], "median": 1})
    return {"ipcwait": {"summary": summary, "verdict": {"noisy": False, "why": None}}}


class MutexGrid(grids.GridTest):
    SCRIPT = common.BENCH / "grid" / "mutex_grid.py"

    def test_cells_and_means(self):
        r = self.show(json.dumps(result()))
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        lines = [line.split() for line in r.stdout.splitlines()]
        # nsync is the best of the first cell: 30/10, 60/20, 80/40; glibc of the second: 1/2.
        self.assertEqual(lines[1][:3] + lines[1][-3:], ["2", "0", "0", "nsync", "3.00", "1.00"])
        self.assertEqual(lines[2][-5:], ["glibc", "0.50", "0.50", "below", "0.9"])
        self.assertEqual(lines[3][-3:], ["abseil", "1.00", "nan"])
        self.assertIn("cells below 0.9: 1 of 3   bar 0  NOT reached\n", r.stdout)
        self.assertIn("geometric mean, all cells (3): 1.14   bar >= 1.25  NOT reached\n", r.stdout)
        self.assertIn("sections up to 100 ns (1): 3.00   bar >= 2.00  reached\n", r.stdout)
        self.assertIn("sections up to 1 us (2): 1.22   bar >= 1.50  NOT reached\n", r.stdout)


if __name__ == "__main__":
    brief.main()
