# SPDX-License-Identifier: MIT
"""What the tests of scripts/bench share: running it on a program that only plays benchmarks."""

import contextlib
import io
import json
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

# Meson sets it for every test; the harness would say so each time.
os.environ.pop("MALLOC_PERTURB_", None)

HERE = Path(__file__).resolve().parent
BENCH = HERE.parents[1] / "bench"
FAKE = HERE / "fake_bench.py"

sys.path.insert(0, str(BENCH))

from harness import cli, store, summary  # noqa: E402

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import brief  # noqa: E402

# Far more than any of these runs takes on a machine that is busy with other things.
# Of a measurement that was disturbed, which a real one refuses to report.
ATTEMPTS = 8

SECONDS_MOST = 1000

IMPLS = ["ipcwait", "glibc", "futex"]
NAMES = [f"handoff/impl:{impl}/wait:{wait}" for wait in ("5us", "1ms") for impl in IMPLS]

STAT = ("cpu  1000 0 500 90000 10 0 5 7 0 0\ncpu0 500 0 250 45000 5 0 3 3 0 0\n"
        "cpu1 500 0 250 45000 5 0 2 4 0 0\nintr 1\n")


MADE_IMPLS = ["ipcwait", "glibc", "futex", "nsync"]


def made(seed, slow=None, deviation=0.05, cells=8, runs=5):
    """A result as a run would have it, with a factor for each implementation in @slow."""
    chance, rows = random.Random(seed), {}
    for impl in MADE_IMPLS:
        for cell in range(cells):
            base = (100 + 10 * cell) * (slow or {}).get(impl, 1)
            rows[f"handoff/impl:{impl}/wait:{cell}us"] = [
                {"real_time": base * math.exp(chance.gauss(0, deviation)),
                 "cpu_time": base * math.exp(chance.gauss(0, deviation))} for _ in range(runs)]
    result = store.empty("quick", [], {}, {"runs": runs, "trim": "order"})
    result["ipcwait"]["summary"] = summary.of_rows(list(rows), rows, "order")
    result["ipcwait"]["complete"] = True
    return result


class HarnessTest(unittest.TestCase):
    """Each test has a folder, with a /proc in it in which nobody else uses CPU time."""

    def setUp(self):
        self.dir = Path(tempfile.mkdtemp(prefix="bench_harness."))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        (self.dir / "root/proc").mkdir(parents=True)
        self.stat = self.dir / "root/proc/stat"
        self.stat.write_text(STAT, "ascii")

    def path(self, name):
        return str(self.dir / name)

    def environment(self, fake, env):
        kept = {k: v for k, v in os.environ.items() if not k.startswith("IPCWAIT_")}
        fake = {"names": NAMES, "log": self.path("log"), **fake}
        return {**kept, "IPCWAIT_BENCH_FSROOT": self.path("root"), "COLUMNS": "100",
                "PYTHONDONTWRITEBYTECODE": "1", "FAKE": json.dumps(fake), **env}

    def argv(self, args):
        return [sys.executable, str(BENCH / "harness"), *args]

    def fake_args(self, out="out.json"):
        where = ["--out", out] if out else []
        return ["--program", str(FAKE), "--build", self.path("build"), "--min-time", "0.01", *where]

    def run_it(self, *args, fake=None, stdout=subprocess.PIPE, **env):
        return subprocess.run(self.argv(args), cwd=self.dir, stdin=subprocess.DEVNULL, text=True,
                              env=self.environment(fake or {}, env), stdout=stdout,
                              stderr=subprocess.PIPE, timeout=SECONDS_MOST, check=False)

    def run_here(self, *args):
        """The same in this process, where nothing is measured: it is quicker."""
        out, err = io.StringIO(), io.StringIO()
        before = os.getcwd()
        os.chdir(self.dir)
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), \
                    mock.patch.dict(os.environ, self.environment({}, {}), clear=True):
                status = cli.main(list(args))
        finally:
            os.chdir(before)
        return subprocess.CompletedProcess(args, status, out.getvalue(), err.getvalue())

    def measure(self, *args, status=0, out="out.json", **how):
        """Run with --out; the result, the process. Again where the machine was not quiet enough."""
        for _ in range(ATTEMPTS):
            r = self.run_it(*self.fake_args(out), "--no-progress", *args, **how)
            if status or "were disturbed by other programs" not in r.stderr:
                break
        self.assertEqual(r.returncode, status, r.stdout + r.stderr)
        return self.load(out), r

    def load(self, name):
        return json.loads((self.dir / name).read_text("utf-8"))

    def write(self, name, value):
        text = value if isinstance(value, str) else json.dumps(value)
        (self.dir / name).write_text(text, "utf-8")
        return self.path(name)

    def start_it(self, *args, fake=None, **env):
        p = subprocess.Popen(self.argv(args), cwd=self.dir, stdin=subprocess.DEVNULL, text=True,
                             env=self.environment(fake or {}, env), stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        self.addCleanup(p.stdout.close)
        self.addCleanup(p.stderr.close)
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        return p

    def log(self):
        path = self.dir / "log"
        return path.read_text("ascii").split() if path.exists() else []

    def wait_until(self, what, condition):
        """Poll: what these tests wait for are states of other processes."""
        end = time.monotonic() + SECONDS_MOST
        while not condition():
            self.assertLess(time.monotonic(), end, "waited in vain for " + what)
            time.sleep(0.02)

    def check_refused(self, r, word, status=2):
        """One line, and nothing on stdout."""
        self.assertEqual((r.returncode, r.stdout), (status, ""), r)
        self.assertEqual(r.stderr.count("\n"), 1, r.stderr)
        self.assertTrue(r.stderr.startswith("scripts/bench: "), r.stderr)
        self.assertLess(len(r.stderr), 700)
        self.assertIn(word, r.stderr)


def alive(pid):
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0] != "Z"
    except (OSError, IndexError):
        return False


def interrupt(p, number=signal.SIGINT):
    p.send_signal(number)
    return p.communicate(timeout=SECONDS_MOST)


def main():
    brief.main()
