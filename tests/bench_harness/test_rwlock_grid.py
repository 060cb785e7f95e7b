# SPDX-License-Identifier: MIT
"""The reader-writer grid from a result: quotients within rounds, means, waits that are too long."""

import os
import json
import sys

import common
import grids

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import brief  # noqa: E402

# Times of five rounds; the first and the last are not kept. Then the longest waits.
CELLS = {
    ("2", "0", "0"): {"ipcwait": ([9, 10, 20, 40, 9], 5000), "glibc": ([9, 40, 80, 160, 9], 100),
                      "glibc-again": ([9, 40, 80, 160, 9], 100)},
    ("4", "50", "1us"): {"ipcwait": ([2000] * 5, None), "glibc": ([1000] * 5, None)},
    ("16", "1", "10us"): {"ipcwait": ([100] * 5, 31e6), "glibc": ([100] * 5, 30e6)},
    ("8", "1", "10us"): {"ipcwait": ([100] * 5, 19e6), "glibc": ([100] * 5, 1e6)},
}


def entry(name, metric, values):
    kept = values[1:-1]
    return {"name": name, "metric": metric, "values": values, "kept": kept,
            "median": sorted(kept)[1]}


def result():
    summary = []
    for (threads, writers, section), impls in CELLS.items():
        for impl, (values, worst) in impls.items():
            name = f"readers/impl:{impl}/threads:{threads}/writers:{writers}/section:{section}"
            summary += [entry(name, metric, values) for metric in ("real_time", "cpu_time")]
            if worst:
                sampled = "" if section == "10us" else "sampled_"
                summary.append(entry(name, f"wait_{sampled}p999_ns", [worst] * 5))
    summary.append({"name": "uncontended/impl:ipcwait", "metric": "real_time", "values": [1],
                    "kept": [1], "median": 1})
    return {"ipcwait": {"summary": summary, "verdict": {"noisy": False, "why": None}}}


class RwlockGrid(grids.GridTest):
    SCRIPT = common.BENCH / "grid" / "rwlock_grid.py"

    def test_cells_and_means(self):
        r = self.show(json.dumps(result()))
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        lines = [line.split() for line in r.stdout.splitlines()]
        self.assertEqual(lines[1], ["2", "0", "0", "20.0", "20.0", "80.0", "80.0", "4.00", "1.00",
                                    "5", "0"])
        self.assertEqual(lines[2][-6:], ["0.50", "nan", "-", "-", "below", "0.9"])
        self.assertEqual(lines[3][-2:], ["19000", "1000"])
        self.assertEqual(lines[4][-5:], ["31000", "30000", "waits", "too", "long"])
        self.assertIn("cells below 0.9: 1 of 4   bar 0  NOT reached\n", r.stdout)
        self.assertIn("geometric mean (4): 1.19   bar >= 1.40  NOT reached", r.stdout)
        self.assertIn("waits above glibc's and 20 ms: 1   bar 0  NOT reached\n", r.stdout)


if __name__ == "__main__":
    brief.main()
