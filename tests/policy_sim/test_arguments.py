# SPDX-License-Identifier: MIT
"""Bad input: one line on stderr that names it, exit 2, and nothing else happened."""

import os

import common

HUGE = "99999999999999999999999999"

BAD = [
    (["x"], "'x'"),
    (["-q"], "'-q'"),
    (["--"], "'--'"),
    (["--no-such"], "--no-such"),
    (["--no\nsuch=1"], "--no?such"),
    (["--members=1"], "--members takes no value"),
    (["--b-us"], "--b-us needs a value"),
    (["--b-us", ""], "--b-us"),
    (["--b-us", "0"], "'0'"),
    (["--b-us", "-5"], "'-5'"),
    (["--b-us", "+5"], "'+5'"),
    (["--b-us", " 5"], "' 5'"),
    (["--b-us", "5us"], "'5us'"),
    (["--b-us", "1.5"], "'1.5'"),
    (["--b-us", "0x10"], "'0x10'"),
    (["--b-us", "nan"], "'nan'"),
    (["--b-us", "100001"], "'100001'"),
    (["--b-us", HUGE], HUGE),
    (["--b-us", "18446744073709551617"], "18446744073709551617"),
    (["--b-us", "5,"], "''"),
    (["--b-us", ",5"], "''"),
    (["--b-us", "5,x,6"], "'x'"),
    (["--b-us", "1,2,3,4,5,6,7,8,9"], "more than 8"),
    (["--b-us", "9" * 100000], "..."),
    (["--seed", "-1"], "--seed"),
    (["--seed", ""], "--seed"),
    (["--seed", "18446744073709551616"], "--seed"),
    (["--waits", "0"], "--waits"),
    (["--waits", "10000001"], "--waits"),
    (["--policy", ""], "''"),
    (["--policy", "nobody"], "'nobody'"),
    (["--policy", "glibc,"], "''"),
    (["--policy", "GLIBC"], "'GLIBC'"),
    (["--policy", "glibc,ipcwait,x" + "y" * 300], "xyyy"),
    (["--check", "--policy", "ipcwait"], "--check"),
    (["--policy", "ipcwait,glibc", "--check"], "--check"),
    (["--trace"], "--trace needs a value"),
    (["--trace", ""], "--trace"),
    (["--trace", "missing"], "missing"),
    (["--json"], "--json"),
    (["--json", ""], "--json"),
    (["--svg", ""], "--svg"),
]

BAD_LINES = [
    ("x", "'x'"),
    ("-1", "'-1'"),
    ("+1", "'+1'"),
    (" 1", "' 1'"),
    ("1 ", "'1 '"),
    ("1 2", "'1 2'"),
    ("1.5", "'1.5'"),
    ("1e3", "'1e3'"),
    ("0x1", "'0x1'"),
    ("nan", "'nan'"),
    ("1000000000001", "'1000000000001'"),
    (HUGE, HUGE),
    ("1\x002", "'1'"),
    ("\x00", "''"),
    ("1\r2", "'1?2'"),
    ("\x1b[31m7", "'?[31m7'"),
    (" # late comment", "' # late comment'"),
    ("7" * 1000000, "..."),
]


class Arguments(common.SimTest):
    def test_every_bad_argument(self):
        for args, word in BAD:
            with self.subTest(args=[a[:40] for a in args]):
                self.check_refused(args, word)

    def test_too_many_traces(self):
        name = self.write("t", "1\n")
        self.check_refused(["--trace=" + name] * 65, "more than 64")

    def test_help(self):
        r = self.run_it("--help")
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        for word in ("--b-us", "--seed", "--waits", "--policy", "--trace", "--suite", "--members",
                     "--json", "--svg", "--check", "ipcwait", "hotspot", "jiny"):
            self.assertIn(word, r.stdout)
        self.assertLessEqual(max(map(len, r.stdout.splitlines())), 80)

    def test_unwritable_places(self):
        os.mkdir(self.path("directory"))
        os.mkfifo(self.path("fifo"))
        places = ["missing/x", "directory", "directory/", "fifo", "/proc/x.json",
                  "n" * 300, "d/" * 3000 + "x"]
        for place in places:
            with self.subTest(place=place[:40]):
                self.check_refused(["--json", place], "--json: cannot write")

    def test_bad_arguments_leave_old_files_alone(self):
        self.write("old.json", "old")
        self.check_refused(["--json", "old.json", "--seed", "x"], "--seed")
        self.check_refused(["--json", "old.json", "--trace", "missing"], "missing")
        with open(self.path("old.json"), encoding="ascii") as f:
            self.assertEqual(f.read(), "old")


class Traces(common.SimTest):
    def test_every_bad_line(self):
        for text, word in BAD_LINES:
            with self.subTest(text=text[:40]):
                name = self.write("bad.txt", "# recorded\n\n5\n%s\n7\n" % text)
                self.check_refused(["--trace", name], "bad.txt:4: ", word)

    def test_bad_last_line_without_newline(self):
        name = self.write("bad.txt", "5\nx")
        self.check_refused(["--trace", name], "bad.txt:2: 'x'")

    def test_bytes_that_are_no_text(self):
        name = self.write("bad.txt", bytes(range(256)) * 40)
        self.check_refused(["--trace", name], "bad.txt:1: ")

    def test_without_waits(self):
        for text in ("", "\n\n", "# nothing\n"):
            name = self.write("empty.txt", text)
            self.check_refused(["--trace", name], "empty.txt: holds no waits")

    def test_what_is_no_file(self):
        os.mkfifo(self.path("fifo"))
        for name in (".", "fifo", "/dev/zero"):
            self.check_refused(["--trace", name], "--trace: cannot read '%s'" % name)

    def test_the_first_bad_trace_is_named(self):
        good, bad = self.write("good.txt", "1\n"), self.write("bad.txt", "y\n")
        self.check_refused(["--trace", good, "--trace", bad], "bad.txt:1: ")

    def test_good_traces(self):
        self.write("dos.txt", "# from elsewhere\r\n\r\n0\r\n1000000000000\r\n")
        self.write("one", "007")
        results, table = self.simulate("--trace=dos.txt", "--trace", "one", "--members",
                                       "--waits", "10", "--policy", "ipcwait,block")
        members = {m["name"]: m for m in results["series"][0]["members"]}
        self.assertEqual((members["dos"]["kind"], members["dos"]["waits"]), ("recorded", 2))
        self.assertEqual(members["one"]["waits"], 1)
        self.assertEqual(set(members), {"dos", "one"})
        self.assertEqual(results["series"][0]["bars"], [])
        self.assertIn("recorded", table)

    def test_what_the_library_records(self):
        self.write("own.txt", "# wait in ns, object            \n"
                   "            12 00007f224ab6b010\n 1000000000000 00007f224ab6b090\n\n\n")
        results, _ = self.simulate("--trace=own.txt", "--waits", "10", "--policy", "block")
        members = {m["name"]: m for m in results["series"][0]["members"]}
        self.assertEqual(members["own"]["waits"], 2)
        results, _ = self.simulate("--trace=own.txt", "--suite", "--waits", "10")
        self.assertGreater(len(results["series"][0]["members"]), 50)
        self.check_refused(["--trace=own.txt", "--check"], "--suite")


if __name__ == "__main__":
    common.main()
