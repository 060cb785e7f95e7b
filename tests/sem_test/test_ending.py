# SPDX-License-Identifier: MIT
"""However the program ends, it leaves no process, no half-written file and no hang."""

import os
import pty
import signal
import subprocess

import common

# Hours. Without work, so that the workers start at once: no bound is measured before them.
LONG = ["100M", "--idle-us", "200", "--json", "out.json"]


def children(pid):
    with open("/proc/%d/task/%d/children" % (pid, pid), encoding="ascii") as f:
        return [int(word) for word in f.read().split()]


def state(pid):
    """The state letter, 'gone' when there is no such process or only its corpse is left."""
    try:
        with open("/proc/%d/stat" % pid, encoding="ascii") as f:
            letter = f.read().rpartition(")")[2].split()[0]
    except OSError:
        return "gone"
    return "gone" if letter in "ZX" else letter


def idle_threads(pid):
    """How many threads have the lowest priority there is."""
    n = 0
    for tid in os.listdir("/proc/%d/task" % pid):
        try:
            n += os.sched_getscheduler(int(tid)) == os.SCHED_IDLE
        except ProcessLookupError:
            pass  # it ended in between
    return n


class Ending(common.SemTest):
    def start_long(self, *args):
        """A run that is in its first round: the header is there, the workers run."""
        p = self.start_it(*LONG, *args)
        while not p.stdout.readline().startswith("duration"):
            self.assertIsNone(p.poll(), "it ended before its time")
        return p

    def workers(self, p):
        self.wait_until("two children", lambda: len(children(p.pid)) == 2)
        return children(p.pid)

    def check_signal(self, p, number):
        workers = children(p.pid)
        p.send_signal(number)
        self.assertEqual(p.wait(common.SECONDS_MOST), 128 + number)
        self.check_nothing_left(workers)

    def check_nothing_left(self, workers):
        for pid in workers:
            self.wait_until("the end of %d" % pid, lambda pid=pid: state(pid) == "gone")
        self.assertEqual(self.files(), [])

    def test_signals_end_threads(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            p = self.start_long("--rows", "ipcwait")
            self.assertEqual(len(self.files()), 1)
            self.check_signal(p, number)
            self.assertEqual(p.stderr.read(), "")

    def test_signals_end_processes(self):
        for row in ("glibc", "ipcwait"):
            p = self.start_long("--rows", row, "--processes")
            self.workers(p)
            self.check_signal(p, signal.SIGINT)

    def test_signal_ends_hogs(self):
        hogs = len(os.sched_getaffinity(0))
        p = self.start_long("--rows", "hog")
        self.wait_until("hogs", lambda: idle_threads(p.pid) == hogs)
        self.check_signal(p, signal.SIGINT)

    def test_hogs_are_idle_priority_and_in_their_row_only(self):
        hogs = len(os.sched_getaffinity(0))
        for form in ([], ["--processes"]):
            p = self.start_it("1k", "--idle-us", "1000", "--rows", "glibc,hog", "--repeat", "2",
                              *form)
            for expected in (0, hogs, 0, hogs):
                self.wait_until("%d hogs" % expected, lambda expected=expected:
                                idle_threads(p.pid) == expected)
            out, err = p.communicate(timeout=common.SECONDS_MOST)
            self.assertEqual((p.returncode, err), (0, ""), out)

    def test_killed_child_is_reported(self):
        for which in (0, 1):
            for row in ("glibc", "ipcwait", "spin"):
                p = self.start_long("--rows", row, "--processes")
                workers = self.workers(p)
                os.kill(workers[which], signal.SIGKILL)
                _, err = p.communicate(timeout=common.SECONDS_MOST)
                self.assertEqual(p.returncode, 1)
                self.assertEqual(err.count("\n"), 1, err)
                self.assertIn(row + ", processes: the ", err)
                self.assertIn("died", err)
                self.check_nothing_left(workers)

    def test_children_die_with_the_parent(self):
        p = self.start_long("--rows", "ipcwait", "--processes")
        workers = self.workers(p)
        p.kill()
        p.wait()
        for pid in workers:
            self.wait_until("the end of %d" % pid, lambda pid=pid: state(pid) == "gone")

    def test_reader_goes_away(self):
        p = self.start_it("2k", "200", "--repeat", "1", "--json", "out.json")
        p.stdout.close()
        self.assertEqual(p.wait(common.SECONDS_MOST), 128 + signal.SIGPIPE)
        self.assertEqual(self.files(), [])

    def test_full_disk(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            r = subprocess.run([common.PROGRAM, "10", "10", "--repeat", "1"], stdout=full,
                               stderr=subprocess.PIPE, text=True, check=False,
                               timeout=common.SECONDS_MOST, env=common.environment())
        self.assertEqual(r.returncode, 1)
        self.assertEqual(r.stderr.count("\n"), 1)


class Progress(common.SemTest):
    def on_terminal(self, *args):
        """What appears on a terminal that is the program's stderr."""
        ours, its = pty.openpty()
        with open("/dev/null", "w", encoding="ascii") as null:
            p = subprocess.Popen([common.PROGRAM, *args], stderr=its, stdout=null,
                                 env=common.environment())
        os.close(its)
        text = b""
        while True:
            try:
                more = os.read(ours, 4096)
            except OSError:
                break
            if not more:
                break
            text += more
        os.close(ours)
        self.assertEqual(p.wait(common.SECONDS_MOST), 0)
        return text

    def test_bar_on_a_terminal_only_and_only_if_wanted(self):
        args = ["2k", "200", "--rows", "ipcwait", "--repeat", "2"]
        text = self.on_terminal(*args)
        self.assertIn(b"round 2 of 2", text)
        self.assertTrue(text.endswith(b"\r\x1b[K"), text)
        self.assertEqual(self.on_terminal(*args, "--no-progress"), b"")
        self.assertEqual(self.run_it(*args).stderr, "")


if __name__ == "__main__":
    common.main()
