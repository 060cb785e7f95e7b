# SPDX-License-Identifier: MIT
"""`ipcwait calibrate`: a machine that others leave alone can be measured, and --thorough takes more
samples. Both are of the moment, so that this is run by hand."""

import json
import os
import time

import common

# CPUs that others must keep, or the host say to have taken, before "too busy" is believed.
BUSY = 0.1


def taken_s():
    """CPU seconds of other programs, and those that the host has given to others."""
    with open("/proc/stat", encoding="ascii") as f:
        user, nice, system, _, _, irq, softirq, steal = map(int, f.readline().split()[1:9])
    own = os.times()
    return ((user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK") -
            sum(own[:4]))


class Calibrate(common.CliTest):
    def calibrate(self, *args):
        began, before = time.monotonic(), taken_s()
        for _ in range(6):
            r = self.run_it("calibrate", "--no-save", "--json=-", *args)
            if r.returncode != 1 or "too busy" not in r.stderr:
                break
        else:
            busy = (taken_s() - before) / (time.monotonic() - began)
            self.assertGreater(busy, BUSY, "nothing tells who made it busy: %s" % r)
            self.skipTest("the machine is too busy to calibrate: %.2f CPUs are taken" % busy)
        self.assertEqual((r.returncode, r.stderr), (0, ""), r)
        return json.loads(r.stdout)

    def test_thorough_takes_more(self):
        quick = self.calibrate()
        self.assertGreater(self.calibrate("--thorough")["samples_used"], 2 * quick["samples_used"])


if __name__ == "__main__":
    common.main()
