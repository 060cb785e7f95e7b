# SPDX-License-Identifier: MIT
"""`ipcwait stat` and `ipcwait top`: pages of running processes, as others see them."""

import fcntl
import json
import locale
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import unittest

import common
import run_common

ROOT = os.geteuid() == 0


def locale_is_missing(name):
    try:
        locale.setlocale(locale.LC_CTYPE, name)
        locale.setlocale(locale.LC_CTYPE, "C")
    except locale.Error:
        return True
    return False


class Pages(run_common.RunTest):
    def begin(self, *args, **env):
        """A program under the module, with a page; it is there when this returns."""
        self.env.update(env)
        p = self.start("--page", run_common.WAITS, *args, stdin=subprocess.PIPE)
        self.addCleanup(p.stdin.close)
        self.until(lambda: os.path.exists(self.page_of(p.pid)) or p.poll() is not None)
        self.assertIsNone(p.poll(), "no page for %d" % p.pid)
        return p

    def begin_paused(self, *args):
        """The same, when it has come to its first "pause"."""
        p = self.begin(*args)
        self.paused(p)
        return p

    def paused(self, p):
        """Who pauses: it, or a child of it."""
        line = p.stdout.readline()
        self.assertRegex(line, r"^paused \d+\n$")
        return int(line.split()[1])

    def go_on(self, p):
        p.stdin.write("\n")
        p.stdin.flush()

    def page_of(self, pid):
        return os.path.join(run_common.FOLDER, str(pid))

    def stat(self, pid, *args):
        r = self.run_it("stat", "--pid", str(pid), "--json", *args)
        self.assertEqual((r.returncode, r.stderr), (0, ""), r)
        return json.loads(r.stdout)


class Stat(Pages):
    def test_counts_of_one_that_waits_for_us(self):
        p = self.begin_paused("300", "pause", "0")
        o = self.stat(p.pid, "--total")
        self.assertEqual((o["program"], o["format"], o["pid"]), ("ipcwait stat", 1, p.pid))
        self.assertEqual(o["name"], "run_waits")
        self.assertIsNone(o["seconds"])
        kinds = o["kinds"]["sem"]
        for table in "objects", "call_sites":
            waits = sum(row["waits"] for row in o[table])
            self.assertLessEqual(waits, kinds["spun"] + kinds["slept"])
            self.assertGreater(waits, 0)
            self.assertEqual({row["kind"] for row in o[table]}, {"sem"})
        self.assertTrue(any("run_waits" in row["where"] for row in o["call_sites"]))
        self.go_on(p)
        self.assertEqual(p.wait(), 0)
        self.assertFalse(os.path.exists(self.page_of(p.pid)))

    def test_until_it_ends(self):
        """What it counts last, after the last look at it as it ran, is there too."""
        p = self.begin_paused("300", "pause", "4000")
        q = self.start_stat("-p", str(p.pid), "--json")
        self.go_on(p)
        self.assertEqual(p.wait(), 0)
        o = json.loads(q.communicate(timeout=common.SECONDS_MOST)[0])
        self.assertEqual(q.returncode, 0)
        self.assertGreater(o["seconds"], 0)
        self.assertGreater(sum(o["all"].values()), 0)
        # Each of 8000 waits found it, spun for it or slept.
        self.assertLessEqual(o["all"]["spun"] + o["all"]["slept"], 8000)

    def test_interrupted(self):
        p = self.begin_paused("300", "pause")
        for sig in signal.SIGINT, signal.SIGTERM:
            q = self.start_stat("-p", str(p.pid))
            q.send_signal(sig)
            text = q.communicate(timeout=common.SECONDS_MOST)[0]
            self.assertEqual(q.returncode, 0)
            self.assertIn("process %d (run_waits) for " % p.pid, text)
            self.assertIn("No wait came to an end", text)

    def test_for_a_time(self):
        p = self.begin_paused("300", "pause")
        o = self.stat(p.pid, "--for", "1")
        self.assertGreaterEqual(o["seconds"], 1)
        self.assertEqual(sum(o["all"].values()), 0)
        self.assertEqual(o["objects"], [])

    def test_a_program(self):
        r = self.run_it("stat", run_common.WAITS, "200", IPCWAIT_PAGE="1")
        self.assertEqual(r.returncode, 0, r)
        self.assertIn("1 program and 0 forks counted", r.stderr)
        self.assertIn("sem", r.stderr)
        r = self.run_it("stat", "--json", "--output", "a.json", run_common.WAITS, "20", "kill")
        self.assertEqual(r.returncode, -signal.SIGKILL)
        with open(self.path("a.json"), encoding="ascii") as f:
            self.assertEqual(json.load(f)["programs"], 1)

    def test_metrics(self):
        p = self.begin_paused("300", "pause")
        r = self.run_it("stat", "--openmetrics")
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        self.check_metrics(r.stdout, p.pid)
        r = self.run_it("stat", "--openmetrics", "-p", str(p.pid), "--output", "m.prom")
        self.assertEqual((r.returncode, r.stdout, r.stderr), (0, "", ""))
        with open(self.path("m.prom"), encoding="ascii") as f:
            self.check_metrics(f.read(), p.pid)

    def test_dashboard(self):
        """It asks for series that there are, and the page about it names all of them."""
        p = self.begin_paused("300", "pause")
        text = self.run_it("stat", "--openmetrics").stdout
        series = {name + ("_total" if kind == "counter" else "")
                  for name, kind in re.findall(r"# TYPE (\w+) (\w+)", text)}
        folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs",
                              "monitoring")
        with open(os.path.join(folder, "dashboard.json"), encoding="ascii") as f:
            board = json.load(f)
        asked = [t["expr"] for panel in board["panels"] for t in panel["targets"]]
        used = set(re.findall(r"ipcwait_\w+", " ".join(asked)))
        self.assertTrue(used and used <= series, used - series)
        for expression in asked:
            self.assertEqual(expression.count("("), expression.count(")"), expression)
            for labels in re.findall(r"by \(([^)]*)\)", expression):
                self.assertLessEqual(set(labels.split(", ")),
                                     {"instance", "program", "kind", "end", "reason", "object"})
        with open(os.path.join(folder, "README.md"), encoding="ascii") as f:
            named = set(re.findall(r"`(ipcwait_\w+?)`", f.read()))
        self.assertEqual({n for n in named if n in series or n.endswith(("_total", "_seconds"))},
                         series)

    def check_metrics(self, text, pid):
        """The grammar of the format, and that each sample is of the family announced before it."""
        lines = text.splitlines()
        self.assertEqual(lines[-1], "# EOF")
        family, kind, seen = None, None, set()
        for line in lines[:-1]:
            m = re.fullmatch(r"# (TYPE|UNIT|HELP) (\w+) (.+)", line)
            if m:
                if m[1] == "TYPE":
                    self.assertNotIn(m[2], seen)
                    family, kind = m[2], m[3]
                    seen.add(family)
                self.assertEqual(m[2], family)
                continue
            m = re.fullmatch(r'(\w+)\{(\w+="(?:[^"\\\n]|\\.)*",?)+\} [0-9.]+', line)
            self.assertTrue(m, line)
            self.assertEqual(m[1], family + ("_total" if kind == "counter" else ""))
        self.assertIn('pid="%d"' % pid, text)
        self.assertIn('kind="sem"', text)
        self.assertEqual(len(lines), len(set(lines)))

    def test_children_and_several_programs(self):
        p = self.begin("200", "fork", "200", "pause")
        child = self.paused(p)
        self.assertEqual(self.parent(child), p.pid)
        self.assertTrue(os.path.exists(self.page_of(child)))
        self.assertLessEqual(self.stat(child, "--total")["all"]["spun"], 400)
        os.kill(child, signal.SIGKILL)
        p.wait()

    def parent(self, pid):
        try:
            with open("/proc/%d/stat" % pid, encoding="ascii") as f:
                return int(f.read().rsplit(")", 1)[1].split()[1])
        except OSError:
            return -1

    def test_what_the_dead_left(self):
        p = self.begin_paused("20", "pause")
        p.kill()
        p.wait()
        # A process that makes a page may have removed it already.
        self.check_one_line(self.run_it("stat", "--pid", str(p.pid)), 1, "no process")
        self.assertFalse(os.path.exists(self.page_of(p.pid)))


class Made(Pages):
    """A second page of a process, which this test writes as it likes."""
    HEAD = "=QIIQQQQ32s32sQQQ10I"
    SEM = 1
    EVENTS = "spun", "slept", "expired"

    def setUp(self):
        super().setUp()
        self.other = self.begin_paused("300", "pause", "0")
        with open(self.page_of(self.other.pid), "rb") as f:
            self.page = bytearray(f.read())
        head = list(struct.unpack_from(self.HEAD, self.page))
        self.counters_at, self.objects_at, self.row_bytes = head[9], head[10], head[20]
        shards, shard_bytes, _, self.kind_bytes = head[12:16]
        for begin, size in ((self.counters_at, shards * shard_bytes),
                            (self.objects_at, len(self.page) - self.objects_at)):
            self.page[begin:begin + size] = bytes(size)
        self.name = self.page_of(self.other.pid) + ".7"
        self.fd = os.open(self.name, os.O_RDWR | os.O_CREAT, 0o600)
        self.addCleanup(os.close, self.fd)
        self.addCleanup(lambda: os.path.exists(self.name) and os.unlink(self.name))
        self.write()
        self.lock(fcntl.F_WRLCK)

    def lock(self, how):
        """What lives has it."""
        fcntl.fcntl(self.fd, 37,  # F_OFD_SETLK
                    struct.pack("hhqqi4x", how, os.SEEK_SET, 1 << 61, 1, 0))

    def write_moves(self, *moves, known=4):
        """Behind the reasons. A page of version 0.1.0 says that it has none."""
        head = struct.unpack_from(self.HEAD, self.page)
        struct.pack_into("=I", self.page, struct.calcsize(self.HEAD) - 4, known)
        struct.pack_into("=%dQ" % len(moves), self.page,
                         self.counters_at + head[18] + 8 * head[17], *moves)
        self.write()

    def write(self, began=1, **events):
        struct.pack_into("=Q", self.page, struct.calcsize("=QIIQ"), began)
        for i, event in enumerate(self.EVENTS):
            struct.pack_into("=Q", self.page, self.counters_at + self.SEM * self.kind_bytes + 8 * i,
                             events.get(event, 0))
        os.pwrite(self.fd, bytes(self.page), 0)

    def write_object(self, waits, spun):
        struct.pack_into("=8Q", self.page, self.objects_at, 0x7000, waits, 0, 0, 0, 0, spun, 0)

    def sleeps(self, pid):
        """How often it has gone to sleep, which it does between two looks."""
        with open("/proc/%d/status" % pid, encoding="ascii") as f:
            return int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", f.read(), re.M)[1])

    def test_what_is_cut_short(self):
        """Its owner may do with its page what it likes while it is looked at."""
        p = self.start_stat("-p", str(self.other.pid))
        os.truncate(self.page_of(self.other.pid), 0)
        os.truncate(self.name, 0)
        begun = self.sleeps(p.pid)      # it may be in the middle of a look
        self.until(lambda: p.poll() is not None or self.sleeps(p.pid) >= begun + 2)
        p.send_signal(signal.SIGINT)
        out = p.communicate(timeout=common.SECONDS_MOST)[0]
        self.assertEqual((p.returncode, out), (1, ""))

    def test_who_slept_before_gives_up(self):
        """It went to sleep before the first look, and is one of those that gave up after it."""
        self.write(slept=5)
        p = self.start_stat("-p", str(self.other.pid), "--json")
        self.write(slept=4, expired=1)
        self.go_on(self.other)
        self.assertEqual(self.other.wait(), 0)
        self.lock(fcntl.F_UNLCK)
        out = json.loads(p.communicate(timeout=common.SECONDS_MOST)[0])
        for row in out["kinds"]["sem"], out["all"]:
            self.assertEqual((row["spun"], row["slept"], row["expired"]), (0, 0, 1))

    def metrics(self):
        text = self.run_it("stat", "--openmetrics", "-p", str(self.other.pid)).stdout
        return {end: int(n) for end, n in
                re.findall(r'^ipcwait_waits_total\{.*kind="sem",end="(\w+)"\} (\d+)', text, re.M)}

    def test_series_only_grow(self):
        self.write(slept=5)
        before = self.metrics()
        self.write(slept=4, expired=1)
        self.assertEqual(self.metrics(), before)
        self.assertEqual(set(before), {"spun", "slept"})

    def moves(self):
        return list(self.stat(self.other.pid, "--total")["moves"].items())

    def test_moves(self):
        before = [n for _, n in self.moves()]
        self.write_moves(7000, 1000, 4000, 2000)
        after = self.moves()
        self.assertEqual([name for name, _ in after], ["apart", "back", "kept", "undone"])
        self.assertEqual([n for _, n in after],
                         [a + b for a, b in zip(before, [7000, 1000, 4000, 2000])])
        text = self.run_it("stat", "--openmetrics", "-p", str(self.other.pid)).stdout
        self.assertRegex(text, r"\nipcwait_moves_total\{[^}]*\} %d\n" % after[0][1])
        for end, n in after[1:]:
            self.assertRegex(text, r'\nipcwait_moves_ended_total\{[^}]*end="%s"\} %d\n' % (end, n))
        self.write_moves(7000, 1000, 4000, 2000, known=0)
        self.assertEqual([n for _, n in self.moves()], before)

    def test_top_shows_moves(self):
        p = self.start_top()
        self.write_moves(1 << 40, 0, 1 << 40, 0)
        self.until(lambda: re.search(r"  \d{6,}\.\d moves/s to another CPU; 100 % of \d{6,} stayed",
                                     self.next_frame(p)))

    def start_top(self):
        """It has looked twice when this returns, and looks each second."""
        p = subprocess.Popen([common.PROGRAM, "top", "-p", str(self.other.pid), "-n", "60",
                              "--interval", "1"], stdout=subprocess.PIPE, text=True, env=self.env)
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        self.addCleanup(p.stdout.close)
        self.next_frame(p)
        return p

    def next_frame(self, p):
        """Up to the head of the next table of objects: those of one look, the sums of the next."""
        text = ""
        for line in iter(p.stdout.readline, ""):
            text += line
            if "WAITS/S" in line:
                return text
        return self.fail("top has ended")

    def rate(self, frame):
        """Waits a second of the process."""
        return int(re.search(r"\(%d\): (\d+) waits/s" % self.other.pid, frame)[1])

    def busy_frame(self, p):
        while not self.rate(frame := self.next_frame(p)):
            pass
        return frame

    PROGRAM_AT = struct.calcsize("=QIIQQQQ")
    NAME_AT = 8 * 41 + 16       # in a row

    def write_names(self, program, name, row=0):
        """Of the program and of an object, as their user likes them."""
        at = self.objects_at + row * self.row_bytes
        self.page[self.PROGRAM_AT:self.PROGRAM_AT + 32] = program.ljust(32, b"\0")
        struct.pack_into("=2Q", self.page, at, 0x7000, 5)
        self.page[at + self.NAME_AT:at + self.NAME_AT + 32] = name.ljust(32, b"\0")
        self.write(spun=5)

    def look(self, *args):
        """What it writes, in bytes; of the page that this test has written alone."""
        hidden = os.path.join(run_common.FOLDER, ".%d" % self.other.pid)
        os.rename(self.page_of(self.other.pid), hidden)
        try:
            r = self.run_it(*args, "-p", str(self.other.pid), text=False)
        finally:
            os.rename(hidden, self.page_of(self.other.pid))
        self.assertEqual((r.returncode, r.stderr), (0, b""))
        return r.stdout

    def test_names_that_a_terminal_would_obey(self):
        for name in "C", "C.UTF-8":
            self.env["LC_ALL"] = name
            for evil in b"\x1b]0;x\a\x1b[31mX", b"\x9b31mX", b"\xc2\x9b31mX", b"a\rb\x7f":
                self.write_names(evil, b"n" + evil)
                self.check_harmless(self.look("stat", "--total"))
            self.write_names(b"\x1b[31m\x9b31mX", b"\xc2\x9b31mX\r\x7f")
            self.check_harmless(self.look("top", "-n", "1"))

    def check_harmless(self, out):
        self.assertNotRegex(out, rb"[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")
        self.assertNotRegex(out, rb"(?<![\xc2-\xdf])[\x80-\x9f]")
        self.assertIn(b"?", out)

    def test_letters_stay(self):
        self.env["LC_ALL"] = "C.UTF-8"
        if locale_is_missing("C.UTF-8"):
            self.skipTest("no such locale")
        self.write_names("café".encode(), "größe".encode())
        self.assertIn("(café)", self.look("stat", "--total").decode())
        self.assertIn("größe", self.look("top", "-n", "1").decode())

    def test_metrics_are_utf8(self):
        """A reader refuses the whole text if one byte is not, or if a series is there twice."""
        self.write_names(b"caf\xe9", b"a\xff\x1b\n\"")
        self.write_names(b"caf\xe9", b"a\xfe\x1b\n\"", row=1)
        text = self.look("stat", "--openmetrics").decode()
        self.assertIn('program="caf\ufffd"', text)
        series = re.findall(r'^ipcwait_object_waits_total\{.*object="([^}]*)",address=.*end="spun"',
                            text, re.M)
        self.assertEqual(series, ['a\ufffd\ufffd\\n\\"'])
        names = [line.rsplit(" ", 1)[0] for line in text.splitlines() if line[0] != "#"]
        self.assertEqual(len(names), len(set(names)))

    def test_a_page_of_another_number(self):
        """The file's name says whose it is, not what is in it."""
        struct.pack_into("=I", self.page, 12, 1)
        self.write(spun=1000)
        r = self.run_it("stat", "--pid", str(self.other.pid), "--total", "--json")
        self.assertEqual(r.returncode, 0)
        self.assertIn("1 statistics page is", r.stderr)
        self.assertEqual(json.loads(r.stdout)["pid"], self.other.pid)

    def test_sizes_that_nobody_has(self):
        """A sparse file costs its user nothing, and rows without end take time."""
        self.write(spun=1000)
        good = bytes(self.page)
        os.ftruncate(self.fd, 64 << 20)
        struct.pack_into("=Q", self.page, 16, 64 << 20)
        self.write(spun=1000)
        self.check_refused()
        self.page = bytearray(good)
        rows = 5000
        end = self.objects_at + rows * self.row_bytes + 8
        self.page.extend(bytes(end - len(self.page)))
        os.ftruncate(self.fd, end)
        struct.pack_into("=Q", self.page, 16, end)
        struct.pack_into("=QQ", self.page, self.PROGRAM_AT + 64 + 8, self.objects_at, self.objects_at)
        struct.pack_into("=I", self.page, self.PROGRAM_AT + 64 + 24 + 28, rows)
        self.write(spun=1000)
        self.check_refused()

    def check_refused(self):
        r = self.run_it("stat", "--pid", str(self.other.pid), "--total", "--json")
        self.assertEqual(r.returncode, 0)
        self.assertIn("1 statistics page is", r.stderr)

    def test_the_last_look(self):
        """What was counted before the interrupt counts."""
        p = self.start_stat("-p", str(self.other.pid), "--json")
        begun = self.sleeps(p.pid)
        self.until(lambda: self.sleeps(p.pid) > begun)
        self.write(spun=5)
        p.send_signal(signal.SIGINT)
        out = json.loads(p.communicate(timeout=common.SECONDS_MOST)[0])
        self.assertEqual(out["kinds"]["sem"]["spun"], 5)

    def test_it_stops_at_a_terminal(self):
        """As other programs: SIGTSTP does not end it."""
        p = self.start_stat("-p", str(self.other.pid), "--json")
        p.send_signal(signal.SIGTSTP)
        self.until(lambda: self.state(p.pid) == "T" or p.poll() is not None)
        self.assertIsNone(p.poll())
        p.send_signal(signal.SIGCONT)
        p.send_signal(signal.SIGINT)
        json.loads(p.communicate(timeout=common.SECONDS_MOST)[0])
        self.assertEqual(p.returncode, 0)

    @unittest.skipUnless(ROOT, "only root can be another user")
    def test_what_another_user_says(self):
        """He has no part in the process of this one, and nobody's folder but his own."""
        user = 40000 + os.getpid() % 20000
        folder = "/dev/shm/ipcwait-%d" % user
        os.mkdir(folder, 0o700)
        self.addCleanup(shutil.rmtree, folder)
        before = self.stat(self.other.pid, "--total")["kinds"]["sem"]
        self.write(spun=1 << 40)
        os.rename(self.name, self.name + ".hidden")
        os.rename(self.name + ".hidden", other := os.path.join(folder, os.path.basename(self.name)))
        for folders_user, files_user in (0, 0), (user, user), (0, user), (user, 0):
            os.chown(folder, folders_user, folders_user)
            os.chown(other, files_user, files_user)
            r = self.run_it("stat", "--pid", str(self.other.pid), "--total", "--json")
            self.assertEqual(json.loads(r.stdout)["kinds"]["sem"], before)
            text = self.run_it("stat", "--openmetrics").stdout
            self.assertEqual('uid="%d"' % user in text, folders_user == files_user == user)
            text = self.run_it("top", "-n", "1").stdout
            self.assertEqual(", user %d): " % user in text, folders_user == files_user == user)

    def test_another_program_under_the_number(self):
        """Its counters are its own, not what they are less than those of the one before."""
        self.write_object(1000, 400)
        self.write(spun=1000)
        p = self.start_top()
        self.write_object(100, 130)
        self.write(began=2, spun=100)
        self.assertLessEqual(self.rate(self.busy_frame(p)), 100)
        rows = re.findall(r"^ *%d .*? (\d+) +(\d+)%% +(\d+) " % self.other.pid, self.next_frame(p),
                          re.M)
        self.assertEqual([row[1:] for row in rows if int(row[0])], [("100", "0")])

    def test_a_page_that_goes(self):
        """What the other pages of the process had counted before is not new."""
        counted = self.stat(self.other.pid, "--total")["all"]
        self.assertGreater(counted["spun"] + counted["slept"], 0)
        p = self.start_top()
        self.lock(fcntl.F_UNLCK)
        while os.path.exists(self.name):
            self.assertEqual(self.rate(self.next_frame(p)), 0)
        for _ in range(2):
            self.assertEqual(self.rate(self.next_frame(p)), 0)

    def test_a_page_that_comes(self):
        """All of it is new, and nothing of the others."""
        hidden = os.path.join(run_common.FOLDER, ".%d" % self.other.pid)
        os.rename(self.name, hidden)
        self.addCleanup(lambda: os.path.exists(hidden) and os.unlink(hidden))
        self.write(spun=1000)
        p = self.start_top()
        os.rename(hidden, self.name)
        self.assertLessEqual(self.rate(self.busy_frame(p)), 1000)


class BadInput(Pages):
    def test_arguments(self):
        for args, word in [
                ([], "program"), (["--pid"], "--pid"), (["-p"], "--pid"), (["--pid", "x"], "'x'"),
                (["--pid", "0"], "'0'"), (["-p", "-1"], "'-1'"), (["--for", "1"], "missing"),
                (["--for", "0", "-p", "1"], "'0'"), (["--pid", "1", "true"], "exclude"),
                (["--openmetrics", "true"], "exclude"), (["--openmetrics", "--json"], "exclude"),
                (["--pid", "1", "--total", "--for", "1"], "--for needs"), (["-q"], "-q"),
                (["--output", "no/such/file", "true"], "no/such/file"), (["-"], "'-'")]:
            r = self.run_it("stat", *args)
            self.check_one_line(r, 2, word)
        for args, word in [(["x"], "'x'"), (["--interval", "0"], "'0'"), (["-n", "x"], "'x'"),
                           (["--pid"], "--pid")]:
            self.check_one_line(self.run_it("top", *args), 2, word)
        self.check_one_line(self.run_it("run", "--page", "--stats", "true"), 125, "exclude")

    def test_no_page(self):
        self.check_one_line(self.run_it("stat", "-p", str(os.getpid())), 1, "no statistics page")
        self.check_one_line(self.run_it("stat", "-p", "2147483647"), 1, "no process")

    SIDE_BY_SIDE = 8

    def locked(self, name):
        """A file of this name, as one that lives has it."""
        fd = os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        self.addCleanup(lambda: os.path.exists(name) and os.unlink(name))
        self.addCleanup(os.close, fd)
        fcntl.fcntl(fd, 37,  # F_OFD_SETLK
                    struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 1 << 61, 1, 0))
        return fd

    def test_pages_that_are_none(self):
        """Whatever lies there, by whomever, is not believed, and not removed while it is locked."""
        p = self.begin_paused("20", "pause")
        with open(self.page_of(p.pid), "rb") as f:
            good = f.read()
        fds = [self.locked("%s.%d" % (self.page_of(p.pid), 7 + i)) for i in range(self.SIDE_BY_SIDE)]
        head = struct.calcsize("=QIIQQQQ32s32sQQQ10I")
        wrong = [b"", b"x", good[:100], good[:-8], good + bytes(8), bytes(len(good))]
        for at in range(0, head, 4):
            for value in 0, 1, 7, 0xffffffff, 0x80000000:
                changed = bytearray(good)
                struct.pack_into("=I", changed, at, value)
                wrong.append(bytes(changed))
        # Some at a time, side by side: what one does to the reader, it does beside others too.
        for at in range(0, len(wrong), self.SIDE_BY_SIDE):
            for i, content in enumerate(wrong[at:at + self.SIDE_BY_SIDE]):
                os.write(fds[i], content)
                os.ftruncate(fds[i], len(content))
                os.lseek(fds[i], 0, os.SEEK_SET)
            r = self.run_it("stat", "--pid", str(p.pid), "--total", "--json")
            self.assertEqual(r.returncode, 0, "pages %d and following: %s" % (at, r))
            json.loads(r.stdout)
        self.go_on(p)

    @unittest.skipUnless(ROOT, "only root can be another user")
    def test_a_folder_of_another(self):
        """The program runs, and says in one line that it has no page."""
        user = 40000 + os.getpid() % 20000      # another one for each of these tests at a time
        folder = "/dev/shm/ipcwait-%d" % user
        os.mkdir(folder, 0o700)
        self.addCleanup(os.rmdir, folder)
        os.chmod(self.dir, 0o755)
        r = subprocess.run([run_common.WAITS, "5"], capture_output=True, text=True, check=False,
                           env={"IPCWAIT_PAGE": "1", "LD_PRELOAD": run_common.MODULE},
                           user=user, cwd="/")
        if r.returncode and "cannot" in r.stderr:
            self.skipTest("another user cannot read the build")
        self.assertIn("IPCWAIT_PAGE ignored: the folder", r.stderr)


class Top(Pages):
    def test_tables(self):
        p = self.begin("300", "1000000000")
        for option in [], ["--sites"]:
            r = self.run_it("top", "-n", "2", "-p", str(p.pid), *option)
            self.assertEqual((r.returncode, r.stderr), (0, ""))
            self.assertEqual(r.stdout.count("WAITS/S"), 2)
            self.assertEqual(r.stdout.count("run_waits (%d)" % p.pid), 2)
            self.assertTrue(re.search(r"^ *%d sem " % p.pid, r.stdout, re.M), r.stdout)
            self.assertLessEqual(max(map(len, r.stdout.splitlines())), 80)
            self.assertNotIn("\033", r.stdout)

    def test_a_terminal_that_knows_nothing(self):
        """Escape sequences are for terminals that say that they know them."""
        for kind, obeys in ("dumb", False), ("", False), (None, False), ("xterm", True):
            self.env.pop("TERM", None)
            self.env.update({"TERM": kind} if kind is not None else {})
            ours, theirs = pty.openpty()
            self.addCleanup(os.close, ours)
            r = self.run_it("top", "-n", "1", "--pid", "2147483647", stdout=theirs)
            os.close(theirs)
            self.assertEqual(r.returncode, 0)
            self.assertEqual(b"\033" in os.read(ours, 65536), obeys, kind)

    def test_nobody(self):
        r = self.run_it("top", "-n", "1", "--pid", "2147483647")
        self.assertEqual(r.returncode, 0)
        self.assertIn("No process", r.stdout)


if __name__ == "__main__":
    run_common.main()
