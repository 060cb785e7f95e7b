# SPDX-License-Identifier: MIT
"""`ipcwait record` and `ipcwait report`: what is in a record, in each form, and what is none."""

import ctypes
import json
import os
import re
import signal
import struct
import subprocess

import common
import run_common

HEAD = 4096
RECORD = 72


class RecordTest(run_common.RunTest):
    def record(self, *args, status=0, **options):
        r = self.run_it("record", "--module", run_common.MODULE, *args, **options)
        self.assertEqual(r.returncode, status, r)
        return r

    def report(self, *args):
        r = self.run_it("report", *args)
        self.assertEqual((r.returncode, r.stderr), (0, ""), r)
        return r.stdout

    def numbers(self, *args):
        o = json.loads(self.report("--json", *args))
        self.assertEqual((o["program"], o["format"]), ("ipcwait report", 1))
        return o


class Record(RecordTest):
    def test_what_was_waited_for(self):
        r = self.record("--policy", "spin", run_common.WAITS, "2000")
        self.assertRegex(r.stderr, r"^ipcwait: record: \d+ waits of 1 process in "
                                   r"'ipcwait.record'; `ipcwait report` shows them\n$")
        o = self.numbers()
        self.assertEqual(o["lost"], 0)
        self.assertEqual([p["name"] for p in o["processes"]], ["run_waits"])
        self.assertEqual(sum(row["waits"] for row in o["objects"]), o["waits"])
        # Each of 4000 waits found it, or had to wait.
        self.assertTrue(0 < o["waits"] <= 4001, o["waits"])
        self.assertLessEqual({row["kind"] for row in o["objects"]}, {"sem", "futex"})
        for row in o["objects"]:
            self.assertEqual(sum(b["waits"] for b in row["histogram"]), row["waits"])
            self.assertLessEqual(row["median_ns"], row["p99_ns"])
            self.assertLessEqual(row["p99_ns"], row["longest_ns"])
            self.assertLessEqual(row["slept"], row["waits"])
        sites = self.numbers("--sites")["call_sites"]
        self.assertEqual(sum(row["waits"] for row in sites), o["waits"])
        self.assertTrue(any(row["where"].startswith("run_waits:") for row in sites), sites)

    def test_every_wait_is_counted_once(self):
        """As the module's own counters have it."""
        self.record("--policy", "block", run_common.WAITS, "500", status=0)
        o = self.numbers()
        self.assertTrue(all(p["slept"] == p["waits"] for p in o["processes"]), o)
        self.assertEqual(o["processes"][0]["reasons"].get("preset_block"), o["waits"])
        counted = self.counted("--policy", "block", run_common.WAITS, "500",
                               IPCWAIT_RECORD=self.path("both"))
        both = self.numbers("both")
        self.assertEqual(both["waits"], counted["all"]["slept"] + counted["all"]["spun"])
        self.assertEqual(sum(p["slept"] for p in both["processes"]), counted["all"]["slept"])

    def test_programs_and_children(self):
        self.record("sh", "-c", "%s 300; exec %s 300 fork 300" %
                    (run_common.WAITS, run_common.WAITS))
        o = self.numbers()
        named = [p for p in o["processes"] if p["name"] == "run_waits"]
        self.assertEqual(len(named), 3, o["processes"])
        self.assertEqual([p["parent"] for p in named], [0, 0, named[1]["pid"]])
        self.assertTrue(all(p["waits"] for p in named))
        # The child's call sites are found in its parent's memory.
        where = {row["where"] for row in self.numbers("--sites")["call_sites"]
                 if row["pid"] == named[2]["pid"]}
        self.assertTrue(all(w.startswith("run_waits:") for w in where), where)

    def test_status(self):
        self.record(run_common.WAITS, "30", "kill", status=-signal.SIGKILL)
        self.assertGreater(self.numbers()["waits"], 0)

    def test_what_cannot_run_takes_no_place(self):
        self.record(run_common.WAITS, "30")
        self.check_one_line(self.record("no-such", status=127), 127, "no-such")
        self.check_one_line(self.record("-o", "no/such", "true", status=125), 125, "no/such")
        self.assertEqual(self.files(), ["ipcwait.record"])

    def test_the_same_program_again(self):
        """One process by its number, two by what is in their memory."""
        self.record(run_common.WAITS, "200", "again", "300")
        named = self.numbers()["processes"]
        self.assertEqual([p["name"] for p in named], ["run_waits"] * 2)
        self.assertEqual(named[0]["pid"], named[1]["pid"])

    def test_many_processes(self):
        self.record("sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do %s 50; done" %
                    run_common.WAITS)
        text = self.report()
        self.assertEqual(text.count("(run_waits): "), 10)
        self.assertIn("and 2 more processes, see --all", text)
        self.assertEqual(self.report("--all").count("(run_waits): "), 12)

    def test_the_old_record_is_kept(self):
        for n in 1, 2, 3:
            self.record("-o", "a", run_common.WAITS, "100")
            self.assertEqual(self.files(), ["a", "a.old"][:n])
        for name in "a", "a.old":
            self.record("-o", "a", run_common.WAITS, "100")
            self.write(name, "precious")
            self.check_one_line(self.record("--output=a", run_common.WAITS, "100", status=125),
                                125, "'%s'" % name, "no record")
            with open(self.path(name), encoding="ascii") as f:
                self.assertEqual(f.read(), "precious")
            os.unlink(self.path(name))

    def test_no_wait(self):
        r = self.record("true")
        self.assertIn("no wait had to wait", r.stderr)
        self.assertEqual(self.files(), [])

    def test_odd_paths(self):
        for name in "100%", "%p", "a b;c", "-x":
            self.record("-o" if name[0] != "-" else "--output=" + name,
                        *([name] if name[0] != "-" else []), run_common.WAITS, "50")
            self.assertIn(name, self.files())

    def test_pattern(self):
        r = self.ipcwait_run(run_common.WAITS, "50", IPCWAIT_RECORD=self.path("w.%p"))
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        self.assertTrue(re.fullmatch(r"w\.\d+", self.files()[0]), self.files())

    def test_while_it_runs(self):
        p = subprocess.Popen([common.PROGRAM, "record", "--module", run_common.MODULE,
                              run_common.WAITS, "200", "pause", "200"], cwd=self.dir,
                             env=self.env, text=True, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for stream in p.stdin, p.stdout, p.stderr:
            self.addCleanup(stream.close)
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        self.assertRegex(p.stdout.readline(), r"^paused \d+\n$")
        first = self.numbers()["waits"]
        self.assertGreater(first, 0)
        p.stdin.write("\n")
        p.stdin.flush()
        self.assertEqual(p.wait(), 0)
        self.assertGreater(self.numbers()["waits"], first)


class Replay(RecordTest):
    def replay(self, *args):
        r = self.run_it("replay", "--json", *args)
        self.assertEqual((r.returncode, r.stderr), (0, ""), r)
        o = json.loads(r.stdout)
        self.assertEqual((o["program"], o["format"]), ("ipcwait replay", 1))
        return o

    def make(self, waits, lateness=10000, name="made", caused=0, others=()):
        """A record of waits (object, length, spun), all of which slept but those that spun, and
        caused so much of their length themselves; then (pid, parent, waits) of others."""
        records = []
        for pid, parent, its in ((7, 0, waits), *others):
            records.append(struct.pack("<IIIIQ32sQQ", 1, pid, parent, 0, 0, b"made", pid, 0))
            for n, (what, length, spun) in enumerate(its):
                slept = 0 if spun >= length else length - spun + lateness
                records.append(struct.pack("<IIIBBBBQQQQQIIQ", 2, pid, pid, 0, 4 if slept else 0, 0,
                                           1, n, what, 0x1234, length, slept, spun, 0,
                                           caused if slept else 0))
        head = struct.pack("<QIIQQQQ32sQQQQ", 0x0a64726365777069, 1, RECORD, HEAD, 1 << 20, 0, 0,
                           b"test", len(records), len(records), 0, 0)
        with open(self.path(name), "wb") as f:
            f.write(head.ljust(HEAD, b"\0") + b"".join(records))
        return name

    def test_what_is_exact(self):
        """Rules that learn nothing: by hand."""
        waits = [(0x10, 1000 * (i % 50 + 1), 2000) for i in range(1000)]
        o = self.replay(self.make(waits), "--paid", "5")
        self.assertEqual((o["wake_ns"], o["left_out"]), (10000, 0))
        total, long = sum(w[1] for w in waits), sum(w[1] > 2000 for w in waits)
        recorded = o["rules"]["as_recorded"]
        self.assertEqual((recorded["waits"], recorded["slept"]), (1000, long))
        self.assertEqual(recorded["late_ns"], long * 10000)
        self.assertEqual(recorded["spun_ns"], sum(w[2] for w in waits))
        self.assertEqual(o["rules"]["block"], {"waits": 1000, "slept": 1000, "spun_ns": 0,
                                               "cpu_ns": 5000000, "late_ns": 10000000})
        spun = sum(min(w[1], 30000) for w in waits)
        slept = sum(w[1] > 30000 for w in waits)
        self.assertEqual(o["rules"]["spin"],
                         {"waits": 1000, "slept": slept, "spun_ns": spun,
                          "cpu_ns": spun + slept * 5000, "late_ns": slept * 10000})
        o = self.replay("made", "--paid", "5", "--all")
        self.assertEqual(o["rules"]["to the end"], {"waits": 1000, "slept": 0, "spun_ns": total,
                                                    "cpu_ns": total, "late_ns": 0})

    def test_what_sleeping_caused(self):
        """Two that hand work to and fro: asleep each waits for the other's wake, spinning none."""
        o = self.replay(self.make([(0x10, 31000, 0)] * 1000, caused=30000), "--paid", "5")
        self.assertEqual(o["wake_ns"], 10000)
        self.assertEqual(o["rules"]["as_recorded"]["late_ns"], 10000000)
        self.assertEqual(o["rules"]["spin"], {"waits": 1000, "slept": 0, "spun_ns": 1000000,
                                              "cpu_ns": 1000000, "late_ns": 0})

    def test_all_of_it_caused(self):
        """It was a wait all the same: a rule that does not spin sleeps, a spin ends at once."""
        o = self.replay(self.make([(0x10, 30000, 0)] * 100, caused=30000), "--paid", "5")["rules"]
        self.assertEqual((o["block"]["waits"], o["block"]["slept"], o["block"]["late_ns"]),
                         (100, 100, 1000000))
        self.assertEqual((o["spin"]["slept"], o["spin"]["late_ns"]), (0, 0))
        self.assertEqual(self.report("--waits", "made").count("\n"), 101)

    def test_what_ends_with_a_program(self):
        """New objects of a call site spin as its waits went, in the program and its copies."""
        long = [(0x10, 5000000, 0)] * 2000
        short = [(0x100 * n, 1000, 0) for n in range(1, 200)]
        price = "--wake", "20", "--paid", "10"
        alone, another, copy, both = [
            self.replay(self.make(long, others=others), *price)["rules"]["adaptive"]["slept"]
            for others in ((), [(8, 0, short)], [(8, 7, short)], [(8, 0, short), (9, 7, short)])]
        self.assertEqual(another, alone)
        self.assertGreater(copy, alone)
        self.assertEqual(both, copy)

    def test_the_own_rule(self):
        """Waits far below B are spun for, waits far above are slept through."""
        short = [(0x10, 1000, 0)] * 2000
        o = self.replay(self.make(short), "--paid", "10")["rules"]["adaptive"]
        self.assertLess(o["slept"], 20)
        o = self.replay("made", "--wake", "1", "--paid", "0")["rules"]["adaptive"]
        self.assertLess(o["cpu_ns"] + o["late_ns"], 2000 * 2100)
        both = short + [(0x20, 5000000, 0)] * 2000
        o = self.replay(self.make(both), "--wake", "20", "--paid", "10")["rules"]["adaptive"]
        self.assertTrue(1900 < o["slept"] < 2100, o)
        self.assertLess(o["spun_ns"], 2000 * 1000 + 200 * 60000)

    def test_all_rules(self):
        rules = self.replay(self.make([(0x10, 5000, 0)] * 100), "--all", "--paid", "1")["rules"]
        self.assertLessEqual({"as_recorded", "adaptive", "spin", "block", "glibc", "haltpoll"},
                             set(rules))
        self.assertEqual({r["waits"] for r in rules.values()}, {100})

    def test_of_a_program(self):
        self.record("--policy", "spin", run_common.WAITS, "2000")
        o = self.replay("--wake", "20", "--paid", "5")
        self.assertEqual(o["wake_ns"], 20000)
        r = self.run_it("replay", "--wake", "20", "--paid", "5")
        self.assertEqual((r.returncode, r.stderr), (0, ""), r)
        for name in "as recorded", "adaptive", "spin", "block":
            self.assertRegex(r.stdout, r"\n  %s +\d+\.\d%%" % name)

    def test_no_price(self):
        name = self.make([(0x10, 1000, 1000)] * 10)
        self.check_one_line(self.run_it("replay", name), 1, "--wake")
        self.check_one_line(self.run_it("replay", name, "--wake", "7"), 1, "--paid")
        self.assertEqual(self.replay(name, "--wake", "7", "--paid", "0")["wake_ns"], 7000)

    def test_bad_arguments(self):
        for args, word in [(["a", "b"], "'b'"), (["--wake", "0"], "--wake"), ([""], "''"),
                           (["--paid", "x"], "--paid"), (["--nonsense"], "--nonsense")]:
            self.check_one_line(self.run_it("replay", *args), 2, word)
        self.check_one_line(self.run_it("replay", "no-such"), 1, "no-such")


class Report(RecordTest):
    def setUp(self):
        super().setUp()
        self.record(run_common.WAITS, "1000")

    def test_for_people(self):
        text = self.report()
        self.assertRegex(text, r"^ipcwait.record: \d+ waits of 1 process in \d")
        self.assertRegex(text, r"process \d+ \(run_waits\): \d+ waits, \d+ % without a sleep")
        self.assertIn("  object\n", text)
        self.assertIn("  call site\n", self.report("--sites"))
        self.assertRegex(self.report("--histograms"), r"\n    below +\d+(\.\d)? .s +\d+ #+\n")

    def test_page(self):
        self.assertEqual(self.report("--html", "--output", "a.html"), "")
        with open(self.path("a.html"), encoding="ascii") as f:
            text = f.read()
        self.assertTrue(text.startswith("<!DOCTYPE html>") and text.endswith("</html>\n"))
        self.assertIn("run_waits", text)
        self.assertIn("<rect", text)
        self.assertNotRegex(text, r"(?:src|href)=|<script|url\(")

    def test_folded(self):
        waits = self.numbers()["waits"]
        lines = self.report("--folded", "--by", "waits").splitlines()
        for line in lines:
            self.assertRegex(line, r"^run_waits(?:;[^; ]+){3} \d+$")
        self.assertEqual(sum(int(line.split()[1]) for line in lines), waits)
        spun = sum(int(line.split()[1]) for line in self.report("--folded", "--by", "cpu")
                   .splitlines())
        total = self.numbers()["processes"][0]
        self.assertLessEqual(spun, (total["spun_useful_ns"] + total["spun_wasted_ns"]) / 1000)

    def test_lengths(self):
        self.record("--policy", "spin", run_common.WAITS, "3000")
        lines = self.report("--waits").splitlines()
        self.assertTrue(lines[0].startswith("#"))
        self.assertGreater(len(lines), 1)
        for line in lines[1:]:
            self.assertRegex(line, r"^ *[1-9]\d* [0-9a-f]{16}$")

    def test_bad_arguments(self):
        for args, word in [(["a", "b"], "'b'"), (["--json", "--html"], "exclude"),
                           (["--by", "waits"], "--folded"), (["--folded", "--by", "me"], "'me'"),
                           (["--folded", "--sites"], "--folded"), ([""], "''"),
                           (["--output", "no/such"], "no/such"), (["--nonsense"], "--nonsense")]:
            self.check_one_line(self.run_it("report", *args), 2, word)
        for args, word in [([], "program"), (["--policy", "no", "x"], "'no'"),
                           (["--nonsense", "x"], "--nonsense")]:
            self.check_one_line(self.run_it("record", *args), 125, word)

    def test_no_record(self):
        self.check_one_line(self.run_it("report", "no-such"), 1, "no-such", "No such file")
        self.check_one_line(self.run_it("report", "."), 1, "no record")
        self.write("text", "text\n" * 5000)
        self.check_one_line(self.run_it("report", "text"), 1, "no record")
        self.write("short", "x")
        self.check_one_line(self.run_it("report", "short"), 1, "no record")

    def test_damaged(self):
        """Whatever the head says, it is read within the file or refused."""
        with open(self.path("ipcwait.record"), "rb") as f:
            whole = f.read()
        for at in range(0, 112, 4):
            for value in 0, 1, 0x7fffffff, 0xffffffff:
                with open(self.path("bad"), "wb") as f:
                    f.write(whole[:at] + struct.pack("<I", value) + whole[at + 4:])
                r = self.run_it("report", "--json", "bad")
                self.assertIn(r.returncode, (0, 1), (at, value, r))
                self.assertEqual(r.returncode, r.stderr.count("\n"), (at, value, r))
        for end in HEAD, HEAD + 1, HEAD + RECORD, HEAD + 3 * RECORD - 1:
            with open(self.path("bad"), "wb") as f:
                f.write(whole[:end])
            self.assertEqual(self.run_it("report", "bad").returncode, 0)

    def record_of_a_place(self, path):
        """A record that another program has written, of a wait in code of this file."""
        records = [struct.pack("<IIIIQ32sQQ", 1, 5, 0, 0, 0, b"evil", 1, 0),
                   struct.pack("<IIQQQI36x", 5, 5, 0x1000, 0x9000, 0, len(path)),
                   struct.pack("<II64s", 6, 5, path.encode()),
                   struct.pack("<IIIBBBBQQQQQIIQ", 2, 5, 5, 1, 0, 0, 1, 10, 0x2000, 0x2000, 1000, 0,
                               1000, 0, 0)]
        head = struct.pack("<QIIQQQQ32sQQQQ", 0x0a64726365777069, 1, RECORD, HEAD, 8, 0, 0, b"test",
                           len(records), len(records), 0, 0)
        with open(self.path("evil"), "wb") as f:
            f.write(head.ljust(HEAD, b"\0") + b"".join(records))

    def test_only_files_are_opened(self):
        """A device may do something when it is opened; here it is a pipe, and the kernel tells."""
        libc = ctypes.CDLL(None, use_errno=True)
        watch = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        self.addCleanup(os.close, watch)
        for make, opened in (os.mkfifo, False), (os.mknod, True):
            path = os.path.join("/tmp", os.path.basename(self.dir) + ".%d" % opened)
            make(path)
            self.addCleanup(os.unlink, path)
            with open(path, "r+b", buffering=0) as f:
                f.write(bytes(100))
                self.assertGreaterEqual(
                    libc.inotify_add_watch(watch, path.encode(), 0x20), 0)  # IN_OPEN
                self.record_of_a_place(path)
                self.assertIn(os.path.basename(path) + "+0x1000", self.report("evil"))
            try:
                events = os.read(watch, 4096)
            except BlockingIOError:
                events = b""
            self.assertEqual(bool(events), opened)

    def test_spoilt_records(self):
        """Types and numbers that nobody has written."""
        with open(self.path("ipcwait.record"), "rb") as f:
            whole = bytearray(f.read())
        for at in range(HEAD, HEAD + 40 * RECORD, 4):
            whole[at:at + 4] = struct.pack("<I", at * 2654435761 % 7 if at % RECORD == 0
                                           else at * 2654435761 % 2 ** 32)
        with open(self.path("bad"), "wb") as f:
            f.write(whole)
        for form in [], ["--json"], ["--html"], ["--folded"], ["--waits"], ["--sites"]:
            r = self.run_it("report", *form, "bad")
            self.assertEqual((r.returncode, r.stderr), (0, ""), form)


if __name__ == "__main__":
    run_common.main()
