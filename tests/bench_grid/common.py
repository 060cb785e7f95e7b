# SPDX-License-Identifier: MIT
"""What the tests of ipcwait_bench share: running it, in a directory of the test's own."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import brief  # noqa: E402

PROGRAM = None

# Far more than any of these runs takes on a machine that is busy with other things.
SECONDS_MOST = 1000

# What Google Benchmark appends to each name.
SUFFIX = "/process_time/manual_time"

# Of a benchmark that is only skipped.
REASON = re.compile(r"^(not built|not available|not yet in libipcwait): \S")


def environment():
    """The caller's, without what would change the library's behaviour."""
    return {k: v for k, v in os.environ.items() if not k.startswith("IPCWAIT_")}


def one_cpu():
    os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])


def any_of(names):
    """A filter for exactly these. Only a dot is special, and re.escape() escapes more."""
    return "^(%s)%s$" % ("|".join(n.replace(".", "[.]") for n in names), SUFFIX)


def dimensions(name):
    """The question, and {key: value}."""
    question, *pairs = name.split("/")
    return question, dict(pair.split(":", 1) for pair in pairs)


class GridTest(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="ipcwait_bench.")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.dir, name)

    def run_it(self, *args, preexec_fn=None, **env):
        return subprocess.run([PROGRAM, *args], cwd=self.dir, env={**environment(), **env},
                              text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=SECONDS_MOST, check=False,
                              preexec_fn=preexec_fn)

    def names(self, **how):
        r = self.run_it("--benchmark_list_tests", **how)
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        for line in r.stdout.splitlines():
            self.assertTrue(line.endswith(SUFFIX), line)
        return [line[:-len(SUFFIX)] for line in r.stdout.splitlines()]

    def measure(self, names, **how):
        """Runs that are too small to mean anything: {name: row}."""
        r = self.run_it("--benchmark_filter=" + any_of(names), "--benchmark_min_time=0.001",
                        "--benchmark_format=json", "--histograms=h.jsonl", **how)
        self.assertEqual(r.returncode, 0, r.stderr)
        rows = json.loads(r.stdout)["benchmarks"]
        self.assertEqual(sorted(row["name"] for row in rows), sorted(n + SUFFIX for n in names))
        found = {row["name"][:-len(SUFFIX)]: row for row in rows}
        return {name: found[name] for name in names}

    def histograms(self):
        """Of the last measure(): {(benchmark, name): buckets}."""
        found = {}
        with open(self.path("h.jsonl"), encoding="ascii") as f:
            for line in f:
                h = json.loads(line)
                self.assertEqual(h["unit"], "ns")
                self.assertNotIn((h["name"], h["histogram"]), found)
                found[h["name"], h["histogram"]] = h["buckets"]
        return found


def main():
    """The program is the first argument, unittest gets the rest."""
    global PROGRAM
    if len(sys.argv) < 2:
        sys.exit("usage: %s IPCWAIT_BENCH [UNITTEST ARGUMENT]..." % sys.argv[0])
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    brief.main()
