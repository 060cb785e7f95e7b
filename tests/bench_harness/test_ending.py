# SPDX-License-Identifier: MIT
"""Interrupted, killed and resumed: nothing that was measured is lost or measured twice."""

import json
import shlex
import signal

import common
from common import NAMES

SLOW = {"sleep": "."}


class Ending(common.HarnessTest):
    def start_slow(self, fake=None):
        p = self.start_it(*self.fake_args(), "--runs", "2", "--no-progress",
                          fake={**SLOW, **(fake or {})})
        self.wait_until("three runs", lambda: len(self.log()) >= 3)
        return p

    def resume(self, *args, status=0, **how):
        r = self.run_it("--resume", "out.json", "--program", str(common.FAKE), "--no-progress",
                        *args, **how)
        self.assertEqual(r.returncode, status, r.stderr)
        return r

    def check_whole(self):
        """Each benchmark once in each round."""
        result = self.load("out.json")
        self.assertTrue(result["ipcwait"]["complete"])
        pairs = [(r["name"], r["repetition_index"]) for r in result["benchmarks"]]
        self.assertEqual(sorted(pairs), sorted((n, i) for n in NAMES for i in range(2)))
        self.assertEqual(len(result["ipcwait"]["runs"]), 12)

    def test_signals(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=number.name):
                (self.dir / "log").unlink(missing_ok=True)
                p = self.start_slow()
                out, err = common.interrupt(p, number)
                self.assertEqual(p.returncode, 130, err)
                self.assertRegex(err, r"^scripts/bench: interrupted after \d+ of 12 runs; .*\n$")
                self.assertNotIn("wait:5us", out)
                result = self.load("out.json")
                self.assertFalse(result["ipcwait"]["complete"])
                self.assertGreaterEqual(len(result["benchmarks"]), 2)
        words = shlex.split(err.partition("scripts/bench --resume")[2])
        r = self.run_it("--resume", *words, "--no-progress")
        self.assertEqual(r.returncode, 0, r.stderr)
        self.check_whole()

    def test_the_child_ends_too(self):
        fake = {"hang": "glibc/wait:5", "pid": self.path("pid")}
        p = self.start_it(*self.fake_args(), "--no-progress", fake=fake)
        self.wait_until("a child", lambda: (self.dir / "pid").exists())
        child = int((self.dir / "pid").read_text("ascii"))
        common.interrupt(p, signal.SIGTERM)
        self.wait_until("its end", lambda: not common.alive(child))

    def test_killed_between_rounds(self):
        p = self.start_it(*self.fake_args(), "--runs", "2", "--no-progress", fake=SLOW)
        self.wait_until("a file", lambda: (self.dir / "out.json").exists())
        p.kill()
        p.wait()
        self.assertEqual(len(self.load("out.json")["benchmarks"]), 6)
        self.resume()
        # Round 0 was saved; of round 1 a run or two may have been under way.
        self.assertLessEqual(len(self.log()), 14)
        self.check_whole()

    def test_what_cannot_be_resumed(self):
        self.measure("--runs", "1")
        self.check_refused(self.resume(status=2), "is complete")
        result = self.load("out.json")
        result["ipcwait"]["complete"] = False
        whole = json.dumps(result)
        for change, word in (
                (lambda how: how.update(program_sha256="0"), "another build"),
                (lambda how: how.update(slowed="impl:x,50"), "IPCWAIT_BENCH_SLOW"),
                (lambda how: how.update(benchmarks=["no/such"]), "does not have"),
                (lambda how: how.update(benchmarks=[[]]), "what was to be measured"),
                (lambda how: how.update(min_time_s="1"), "how long"),
                (lambda how: how.update(runs=1.5), "method")):
            with self.subTest(word=word):
                changed = json.loads(whole)
                change(changed["ipcwait"]["method"])
                self.write("out.json", changed)
                self.check_refused(self.resume(status=2), word)
        changed = json.loads(whole)
        changed["ipcwait"]["runs"][0].pop("noisy")
        self.write("out.json", changed)
        self.check_refused(self.resume(status=2), "damaged")


if __name__ == "__main__":
    common.main()
