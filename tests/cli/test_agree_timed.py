# SPDX-License-Identifier: MIT
"""What the command counts of a foreign program, CPython, against what strace and
perf saw of the same run. Two observers of the same waits: no count is certain, so that this is run by
hand, and test_agree.py judges a program whose sleeps are.

A wait for a semaphore or a condition variable that sleeps is a system call each time, which tells
by its operation what it is. A mutex is the C library's: it sleeps again in the same wait if another thread
has taken the mutex before it ran, and it locks the mutex of a condition variable by itself. So
mutexes are compared in a program of their own, which has neither.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time
import unittest

import common
import run_common

APART = 0.02        # of the tracer's count ...
FEW = 3             # ... or of a small one
LEAST = 200         # sleeps, or nothing is said

# Threads hand over by queue.Queue, which is locks and condition variables. Each works for so long
# that the other sleeps by then: the last look before the call, the C library's included, finds
# nothing. A wait that ends at that look is counted, and there is no call to see.
TURNS = 3000
PROGRAM = f"""
import queue, sys, threading
sys.stdin.readline()
there, back = queue.Queue(), queue.Queue()
def work():
    sum(range(10000))
def serve():
    for _ in range({TURNS}):
        there.get()
        work()
        back.put(None)
t = threading.Thread(target=serve)
t.start()
for _ in range({TURNS}):
    work()
    there.put(None)
    back.get()
t.join()
"""

# A first wait, which times out: a page comes with it.
WAITED = """
import threading
threading.Semaphore(0).acquire(timeout=0.05)
"""

# Each is away for long enough that the other, who has been woken, takes it.
LOCKING = """
import ctypes, sys, threading, time
sys.stdin.readline()
libc, mutex = ctypes.CDLL(None), ctypes.create_string_buffer(64)
def turns():
    for _ in range(300):
        libc.pthread_mutex_lock(mutex)
        time.sleep(0.003)
        libc.pthread_mutex_unlock(mutex)
        time.sleep(0.002)
t = threading.Thread(target=turns)
t.start()
turns()
t.join()
"""

# Their system calls to sleep, as strace writes them and as perf does.
CALLS = {"sem": ("FUTEX_WAIT_BITSET_PRIVATE|FUTEX_CLOCK_REALTIME", 0x189),
         "cond": ("FUTEX_WAIT_BITSET_PRIVATE", 0x89), "mutex": ("FUTEX_WAIT_PRIVATE", 0x80)}

PERF = ["perf", "record", "-q", "-e", "syscalls:sys_enter_futex", "-o"]


def strace_works():
    return shutil.which("strace") and subprocess.run(
        ["strace", "-f", "-o", os.devnull, "true"], check=False, capture_output=True
    ).returncode == 0


def perf_works():
    return shutil.which("perf") and subprocess.run(
        [*PERF, os.devnull, "true"], check=False, capture_output=True).returncode == 0


class Agree(run_common.RunTest):
    program = PROGRAM

    def python(self, *more, before=""):
        return [*more, sys.executable, "-c", before + self.program]

    def seen(self):
        """Sleeps in strace's file. A call that another thread interrupts has a second line."""
        with open(self.path("trace"), encoding="ascii", errors="replace") as f:
            found = re.findall(r"futex\(\w+, (FUTEX_WAIT[\w|]*)", f.read())
        return {kind: found.count(name) for kind, (name, _) in CALLS.items()}

    def is_traced(self, pid):
        with open(f"/proc/{pid}/status", encoding="ascii") as f:
            return not re.search(r"^TracerPid:\s+0$", f.read(), re.M)

    def begin(self, argv):
        p = subprocess.Popen(argv, env=self.env, text=True, stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL)
        self.addCleanup(p.stdout.close)
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        return p

    def traced(self, tracer, *command):
        r = subprocess.run([*tracer, common.PROGRAM, *self.python(*command)], cwd=self.dir,
                           env={**self.env, "IPCWAIT_POLICY": "block"}, input="\n", text=True,
                           capture_output=True, timeout=common.SECONDS_MOST, check=False)
        self.assertEqual(r.returncode, 0, r)
        return r

    def by_strace(self, *command):
        """The command under strace: sleeps that it saw."""
        self.traced(["strace", "-f", "-e", "trace=futex", "-o", self.path("trace")], *command)
        return self.seen()

    def agree(self, what, counted, seen, alike=("sem", "cond"), more=()):
        """Of the kinds @more more may be counted than seen, not fewer."""
        print(f"{what}: sleeps counted {counted}, seen {seen}", flush=True)
        self.assertGreater(seen[alike[0]], LEAST)
        for kind in (*alike, *more):
            apart = max(seen[kind] * APART, FEW)
            self.assertGreaterEqual(counted[kind], seen[kind] - apart, kind)
            if kind in alike:
                self.assertLessEqual(counted[kind], seen[kind] + apart, kind)

    def counted(self, o):
        """A kind that nobody waited for is left out."""
        return {kind: o["kinds"].get(kind, {"futex_waits": 0})["futex_waits"] for kind in CALLS}

    def counted_in_file(self):
        with open(self.path("out"), encoding="ascii") as f:
            return self.counted(json.load(f))

    @unittest.skipUnless(strace_works(), "no strace, or it may trace nothing")
    def test_stat_and_strace(self):
        seen = self.by_strace("stat", "--json", "--output", self.path("out"), "--")
        self.agree("stat", self.counted_in_file(), seen)

    @unittest.skipUnless(strace_works(), "no strace, or it may trace nothing")
    def test_record_and_strace(self):
        seen = self.by_strace("record", "--output", self.path("waits"), "--")
        r = self.run_it("report", "--json", self.path("waits"))
        self.assertEqual(r.returncode, 0, r)
        objects = json.loads(r.stdout)["objects"]
        # A record has waits, not calls: of a condition variable one may be signalled on its way.
        self.agree("record", {kind: sum(o["slept"] for o in objects if o["kind"] == kind)
                              for kind in CALLS}, seen, ["sem"], ["cond"])

    @unittest.skipUnless(strace_works(), "no strace, or it may trace nothing")
    def test_mutexes_and_strace(self):
        self.program = LOCKING
        seen = self.by_strace("stat", "--json", "--output", self.path("out"), "--")
        self.agree("stat, mutexes", self.counted_in_file(), seen, ["mutex"])

    @unittest.skipUnless(perf_works(), "no perf, or no tracepoints for it")
    def test_stat_and_perf(self):
        self.traced([*PERF, self.path("perf")], "stat", "--json", "--output", self.path("out"),
                    "--")
        r = subprocess.run(["perf", "script", "-i", self.path("perf")], check=True, text=True,
                           capture_output=True, timeout=common.SECONDS_MOST)
        found = [int(op, 16) for op in re.findall(r"\bop: 0x(\w+)", r.stdout)]
        seen = {kind: found.count(op) for kind, (_, op) in CALLS.items()}
        self.agree("stat", self.counted_in_file(), seen)

    @unittest.skipUnless(strace_works(), "no strace, or it may trace nothing")
    def test_a_page_and_strace(self):
        """What stat -p, and so top, reads of a process that runs already."""
        self.env["IPCWAIT_POLICY"] = "block"
        p = self.start("--page", *self.python(before=WAITED), stdin=subprocess.PIPE)
        page = f"/dev/shm/ipcwait-{os.geteuid()}/{p.pid}"
        self.until(lambda: os.path.exists(page))
        tracer = self.begin(["strace", "-f", "-e", "trace=futex", "-o", self.path("trace"), "-p",
                             str(p.pid)])
        stat = self.begin([common.PROGRAM, "stat", "--json", "--pid", str(p.pid)])
        self.until(lambda: self.is_traced(p.pid))
        time.sleep(1)       # it waits for us: stat has looked long before there is something to see
        p.communicate("\n", timeout=common.SECONDS_MOST)
        o = json.loads(stat.communicate(timeout=common.SECONDS_MOST)[0])
        tracer.wait(common.SECONDS_MOST)
        self.agree("stat --pid", self.counted(o), self.seen())


if __name__ == "__main__":
    if not strace_works() and not perf_works():
        print("skipped, needs strace or perf, and the right to trace")
        sys.exit(77)
    run_common.main()
