# SPDX-License-Identifier: MIT
"""The preloaded sampler on a small program. Shares and counts, with generous bars."""

import glob
import os
import subprocess
import sys
import unittest

import common

from stacks import preload, raw

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import brief  # noqa: E402

BUILD = PROGRAM = None


class Sampler(common.StacksTest):
    def record(self, *words, by="wall", status=0, more=()):
        """({function: counts}, what it printed)"""
        r = self.run_it("record", "--source", "sampler", "--by", by, "--build", BUILD,
                        "--top", "1000", *more, "--", PROGRAM, *words)
        self.assertEqual((r.returncode, r.stderr), (status, ""), r.stdout)
        return self.rows(r.stdout), r.stdout

    def test_wall_sees_the_thread_that_waits(self):
        rows, text = self.record(more=["--rate", "500", "--out", "kept"])
        # Half a second and a quarter; a timer that is late counts what it has missed.
        self.assertGreater(rows["sit"][0], 150)
        self.assertGreater(rows["burn"][0], 50)
        self.assertEqual(rows["again"][0], rows["burn"][0])
        self.assertIn("done", text)
        self.assertNotIn("take_sample", text)
        self.assertNotIn("run_thread", text)
        self.look_at("kept", rows)

    def look_at(self, kept, rows):
        """The file has the same stacks, with the threads."""
        alone = self.rows(self.output("report", kept, "--thread", "the sitter"))
        self.assertEqual(alone["sit"], rows["sit"])
        self.assertNotIn("burn", alone)
        callers = self.output("report", kept, "--callers", "burn", "--depth", "2")
        self.assertRegex(callers, r"100\.00 +\d+  again\n +100\.00 +\d+    again")

    def test_cpu_does_not(self):
        rows, _ = self.record(by="cpu")
        self.assertGreater(rows["burn"][0], 10)
        self.assertLess(rows.get("sit", (0,))[0], rows["burn"][0] / 4)

    def test_frame_pointers(self):
        rows, _ = self.record(more=["--call-graph", "fp"])
        self.assertGreater(rows["burn"][0], 10)

    def test_crash_keeps_the_samples(self):
        rows, text = self.record("crash", status=1)
        self.assertGreater(rows["burn"][0], 10)
        self.assertIn("ended by SIGSEGV", text)

    def test_status(self):
        _, text = self.record("status", status=1)
        self.assertIn("ended with status 7", text)

    def test_fork(self):
        _, text = self.record("fork", by="cpu", more=["--callers", "burn"])
        self.assertRegex(text, r"100\.00 +\d+  burn_in_child")

    def test_exec_has_a_file_of_its_own(self):
        rows, text = self.record("exec", status=1)
        self.assertGreater(rows["burn"][0], 2 * 10)
        self.assertIn("ended with status 7", text)

    def test_threads_come_and_go(self):
        rows, _ = self.record("threads")
        self.assertGreater(rows["burn"][0], 10)

    def preloaded(self, prefix):
        return subprocess.run([PROGRAM], env=preload.environment(
            preload.module_in(BUILD), prefix, "wall", 500, "tables"), cwd=self.dir, text=True,
            capture_output=True, timeout=common.SECONDS_MOST, check=False)

    def test_layout_of_the_file(self):
        """What sample_file.c writes is what raw.py reads, to the last byte."""
        self.preloaded(self.path("s"))
        name, = (n for n in glob.glob(self.path("s.*")) if not n.endswith(".maps"))
        with open(name, "rb") as f:
            data = f.read()
        magic, size, used, dropped, rate, clock = raw.HEADER.unpack_from(data)
        self.assertEqual((magic, size, dropped, rate, clock), (raw.MAGIC, len(data), 0, 500, 0))
        found, _, cut = raw.records_of(data, "x")
        self.assertEqual((cut, len(found) > 100), (False, True))
        self.assertEqual(used, raw.HEADER.size + sum(raw.RECORD.size + 8 * len(r.pcs)
                                                     for r in found))
        self.assertLessEqual(max(len(r.pcs) for r in found), raw.FRAMES_MOST)
        self.assertIn(f"the sitter-{name.split('.')[-2]}", {r.thread.split("/")[0] for r in found})

    def test_prefix_that_is_too_long(self):
        r = self.preloaded("./" * 2040 + "sampled")
        self.assertEqual((r.returncode, r.stderr.count("\n")), (0, 1), r)
        self.assertIn("File name too long", r.stderr)
        self.assertEqual(os.listdir(self.dir), [])

    def test_without_a_build(self):
        os.mkdir(self.path("tmp"))
        r = self.run_it("record", "--by", "wall", "--", PROGRAM, env={"TMPDIR": self.path("tmp")})
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertGreater(self.rows(r.stdout)["sit"][0], 40)
        self.assertEqual(os.listdir(self.path("tmp")), [])

    def test_compiler_that_is_not_there(self):
        text = self.refusal("record", "--by", "wall", "--", PROGRAM, env={"CC": "no-such-cc"})
        self.assertIn("no C compiler", text)

    def test_program_that_does_not_load_it(self):
        """ldconfig is static: it has to run before there are any libraries."""
        if not os.path.exists("/sbin/ldconfig"):
            self.skipTest("no /sbin/ldconfig")
        r = self.run_it("record", "--by", "wall", "--build", BUILD, "--", "/sbin/ldconfig", "-V")
        self.assertEqual((r.returncode, r.stderr.count("\n")), (1, 1))
        self.assertIn("did not load the sampler", r.stderr)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(f"usage: {sys.argv[0]} BUILD_DIRECTORY PROGRAM [UNITTEST ARGUMENT]...")
    BUILD, PROGRAM = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
    brief.main()
