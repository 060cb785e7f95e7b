# SPDX-License-Identifier: MIT
"""Who cannot be measured is there with a reason: peers, parts of the library, one CPU."""

import common


class Skips(common.GridTest):
    def check_reason(self, row):
        self.assertTrue(row["error_occurred"], row)
        self.assertRegex(row["error_message"], common.REASON)
        self.assertLess(len(row["error_message"]), 120)

    def test_ratios_are_exact_or_skipped(self):
        cell = "oversubscription/kind:%s/impl:glibc/threads_per_cpu:%s"
        skipped = [cell % ("sem", "0.5"), cell % ("sem", "1"), cell % ("lock", "0.5")]
        done = [cell % ("sem", "2"), cell % ("lock", "1")]
        rows = self.measure(skipped + done, preexec_fn=common.one_cpu)
        for name in skipped:
            self.check_reason(rows[name])
            self.assertIn("no whole number", rows[name]["error_message"])
        for name in done:
            self.assertNotIn("error_message", rows[name])

    def test_one_cpu(self):
        names = self.names(preexec_fn=common.one_cpu)
        chosen = [n for n in names if n.split("/")[0] in ("wake", "pairs") or
                  n.startswith("pareto/impl:fixed/") or n.startswith("handoff/impl:glibc/")]
        rows = self.measure(chosen, preexec_fn=common.one_cpu)
        for name, row in rows.items():
            if name.endswith("wait:0"):
                self.assertNotIn("error_message", row)
                self.assertEqual(row["same_cpu_share"], 1)
            elif "error_message" not in row or not row["error_message"].startswith("not built"):
                self.check_reason(row)
                self.assertIn("two usable CPUs", row["error_message"])
        self.assertEqual(sum(n.startswith("pairs/") for n in names), 2)

    def test_threads_share_one_cpu(self):
        names = ["contention/impl:glibc/threads:4/section:1us/think:equal",
                 "contention/impl:tas/threads:2/section:100ns/think:0",
                 "oversubscription/kind:sem/impl:ipcwait/threads_per_cpu:4",
                 "condvar/op:broadcast/impl:glibc/waiters:4"]
        for row in self.measure(names, preexec_fn=common.one_cpu).values():
            self.assertNotIn("error_message", row)


if __name__ == "__main__":
    common.main()
