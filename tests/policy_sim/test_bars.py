# SPDX-License-Identifier: MIT
"""The window's rule reaches its bars, and --check would notice if it did not."""

import glob
import os

import common

# The four of the plan, and one just above a power of two, where rounding is at its worst.
BLOCKS = "5,10,30,33,60"

TRACES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench",
                      "policy_sim", "traces", "*.txt")


class Bars(common.SimTest):
    def test_bars(self):
        results, table = self.simulate("--check", "--b-us", BLOCKS)
        self.assertNotIn("NOT reached", table)
        recorded = sorted(m["name"] for m in results["series"][0]["members"]
                          if m["kind"] == "recorded")
        self.assertEqual(recorded, sorted(os.path.basename(path)[:-len(".txt")]
                                          for path in glob.glob(TRACES)))
        self.assertGreater(len(recorded), 5)

    def test_the_seed_is_not_what_makes_it_pass(self):
        for seed in ("2", "3"):
            r = self.run_it("--check", "--b-us", "33", "--seed", seed)
            self.assertEqual(r.returncode, 0, r.stdout)

    def test_a_missed_bar_is_exit_3(self):
        # Short waits until the long one is forgotten, then a long one: 1.6, again and again.
        waits = ([100] * 60 + [10**9]) * 20
        name = self.write_waits("rare.txt", waits)
        results, table = self.simulate("--check", "--suite", *["--trace=" + name] * 64, status=3)
        self.assertIn("NOT reached suite mean", table)
        self.assertEqual([bar["reached"] for bar in results["series"][0]["bars"]][0], False)
        r = self.run_it("--suite", *["--trace=" + name] * 64)
        self.assertEqual(r.returncode, 0)


if __name__ == "__main__":
    common.main()
