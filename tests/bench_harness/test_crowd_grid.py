# SPDX-License-Identifier: MIT
"""The grid of crowds from a result and from its summary: waits, bars, and cells above them."""

import os
import json
import sys

import common
import grids

import summaries

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import brief  # noqa: E402

# Of five rounds in ms: 99.9th percentiles and longest waits. The first and the last are not kept.
CELLS = {
    ("", "2", "1us"): {"ipcwait": ([9, 1, 2, 3, 1], [1, 6, 7, 8, 30]), "glibc": ([1] * 5, [2] * 5)},
    ("-sem", "8", "10us"): {"ipcwait": ([12.6] * 5, [32] * 5), "glibc": ([10] * 5, [5] * 5)},
    ("-sem", "4", "1us"): {"ipcwait": ([0.5] * 5, [41] * 5), "glibc": ([0.1] * 5, [20] * 5)},
    ("-queue", "2", "10us"): {"ipcwait": (None, [3] * 5), "glibc": (None, [1] * 5)},
}


def row(i, percentiles, longest):
    found = {"real_time": 2000.0, "cpu_time": 3000.0, "wait_max_ns": longest[i] * 1e6}
    return {**found, "wait_p999_ns": percentiles[i] * 1e6} if percentiles else found


def result():
    made = common.made(1, cells=1)
    rows = {f"starvation/impl:{impl}{kind}/threads_per_cpu:{threads}/section:{section}":
            [row(i, *waits) for i in range(5)]
            for (kind, threads, section), impls in CELLS.items() for impl, waits in impls.items()}
    made["ipcwait"]["summary"] += common.summary.of_rows(list(rows), rows, "order")
    return made


class CrowdGrid(grids.GridTest):
    SCRIPT = common.BENCH / "grid" / "crowd_grid.py"

    def test_cells_and_bars(self):
        r = self.show(json.dumps(result()))
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        lines = [line.split() for line in r.stdout.splitlines()]
        self.assertEqual(lines[1], ["mutex", "2", "1us", "ipcwait", "500000", "3000",
                                    "2.00", "9.00", "2.00", "7.00", "30.00", "8.00"])
        self.assertEqual(lines[2], ["glibc", "500000", "3000", "1.00", "1.00", "2.00", "2.00"])
        self.assertEqual(lines[3][:4], ["semaphore", "4", "1us", "ipcwait-sem"])
        self.assertEqual(lines[3][-6:], ["41.00", "40.00", "longest", "wait", "too", "long"])
        self.assertEqual(lines[5][6:], ["12.60", "12.60", "12.50", "32.00", "32.00", "32.00",
                                        "99.9th", "percentile", "too", "long"])
        self.assertEqual(lines[7][6:9], ["-", "-", "2.00"])
        self.assertEqual(lines[7][-4:], ["99.9th", "percentile", "too", "long"])
        self.assertIn("99.9th percentile above 1.25 times glibc's and 1 ms for each thread per "
                      "CPU: 2 of 4   bar 0  NOT reached\n", r.stdout)
        self.assertIn("longest wait above 2 times glibc's and 4 ms for each thread per CPU: "
                      "1 of 4   bar 0  NOT reached\n", r.stdout)

    def test_a_summary_says_the_same(self):
        whole = result()
        self.assertEqual(self.show(json.dumps(summaries.of(whole))).stdout,
                         self.show(json.dumps(whole)).stdout)


if __name__ == "__main__":
    brief.main()
