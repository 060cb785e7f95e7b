# SPDX-License-Identifier: MIT
"""Bad input: one line on stderr that names the argument, exit 2, and nothing else happened."""

import os

import common

HUGE = "99999999999999999999999999"

# Arguments, and a word that the message must have.
BAD = [
    ([], "ITEMS"),
    (["--rows", "glibc"], "ITEMS"),
    (["10"], "LOOPS"),
    (["0", "10"], "ITEMS"),
    (["10", "0"], "LOOPS"),
    (["-5", "10"], "ITEMS"),
    (["10", "-5"], "LOOPS"),
    (["+5", "10"], "ITEMS"),
    ([" 5", "10"], "ITEMS"),
    (["", "10"], "ITEMS"),
    (["k", "10"], "ITEMS"),
    (["1kk", "10"], "ITEMS"),
    (["1G", "10"], "ITEMS"),
    (["1.5", "10"], "ITEMS"),
    (["0x10", "10"], "ITEMS"),
    (["10x", "10"], "ITEMS"),
    (["ten", "10"], "ITEMS"),
    (["nan", "10"], "ITEMS"),
    ([HUGE, "10"], "ITEMS"),
    (["10", HUGE], "LOOPS"),
    (["18446744073709551617", "10"], "ITEMS"),
    (["18446744073709552k", "10"], "ITEMS"),
    (["1000000001", "10"], "ITEMS"),
    (["1001M", "10"], "ITEMS"),
    (["10", "1001M"], "LOOPS"),
    (["9" * 5000, "10"], "ITEMS"),
    (["1\n2", "10"], "ITEMS"),
    (["10", "10", "10"], "too many"),
    (["10", "10", "-x"], "-x"),
    (["10", "10", "--no-such"], "--no-such"),
    (["10", "10", "--"], "'--'"),
    (["10", "10", "--rows"], "--rows"),
    (["10", "10", "--rows", ""], "--rows"),
    (["10", "10", "--rows", "glibc,"], "--rows"),
    (["10", "10", "--rows", "glibc,nothing"], "nothing"),
    (["10", "10", "--rows=GLIBC"], "GLIBC"),
    (["10", "10", "--repeat"], "--repeat"),
    (["10", "10", "--repeat", "0"], "--repeat"),
    (["10", "10", "--repeat", "-1"], "--repeat"),
    (["10", "10", "--repeat", "x"], "--repeat"),
    (["10", "10", "--repeat=1001"], "--repeat"),
    (["10", "10", "--processes=1"], "--processes"),
    (["10", "--idle-us", "0"], "--idle-us"),
    (["10", "--idle-us", "1000001"], "--idle-us"),
    (["10", "10", "--idle-us", "5"], "LOOPS"),
    (["10", "10", "--uncontended"], "LOOPS"),
    (["10", "--uncontended", "--idle-us", "5"], "--uncontended"),
    (["10", "--idle-us", "5", "--uncontended"], "--uncontended"),
    (["10", "--uncontended", "--both"], "--uncontended"),
    (["10", "--uncontended", "--rows", "hog"], "hog"),
    (["10", "10", "--objects", "--both"], "--objects"),
    (["10", "10", "--check", "--rows", "ipcwait"], "--check"),
    (["10", "10", "--json", ""], "--json"),
    (["10", "10", "--json"], "--json"),
]


class BadInput(common.SemTest):
    def check_refused(self, args, word):
        before = self.files()
        r = self.run_it(*args)
        self.assertEqual(r.returncode, 2, r)
        self.assertEqual(r.stdout, "")
        self.assertTrue(r.stderr.endswith("\n"), r)
        self.assertEqual(r.stderr.count("\n"), 1, r)
        self.assertTrue(r.stderr.startswith("sem_test: "), r)
        self.assertIn(word, r.stderr)
        self.assertEqual(self.files(), before)

    def test_every_bad_argument(self):
        for args, word in BAD:
            with self.subTest(args=[a[:40] for a in args]):
                self.check_refused(args, word)

    def test_bad_arguments_leave_the_json_file_alone(self):
        with open(self.path("old.json"), "w", encoding="ascii") as f:
            f.write("old")
        self.check_refused(["0", "10", "--json", "old.json"], "ITEMS")
        self.check_refused(["10", "10", "--json", "old.json", "--repeat", "0"], "--repeat")
        with open(self.path("old.json"), encoding="ascii") as f:
            self.assertEqual(f.read(), "old")

    def test_unwritable_json_path(self):
        os.mkdir(self.path("directory"))
        os.mkfifo(self.path("fifo"))
        places = ["missing/x.json", "directory", "directory/", "fifo", "/proc/x.json",
                  "n" * 300, "d/" * 3000 + "x",
                  "two\nlines/x.json"]
        for place in places:
            with self.subTest(place=place[:40]):
                self.check_refused(["10", "10", "--json", place], "--json")

    def test_unwritable_json_directory(self):
        if os.geteuid() == 0:
            self.skipTest("root may write everywhere")
        os.mkdir(self.path("closed"), 0o500)
        self.check_refused(["10", "10", "--json", "closed/x.json"], "--json")


class GoodInput(common.SemTest):
    def test_help_and_version(self):
        r = self.run_it("--help")
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        for word in ["ITEMS", "LOOPS", "glibc", "hog", "--rows", "--processes", "--repeat",
                     "--json", "--no-progress", "--check"]:
            self.assertIn(word, r.stdout)
        self.assertLessEqual(max(map(len, r.stdout.splitlines())), 100)
        r = self.run_it("--version")
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        self.assertRegex(r.stdout, r"^sem_test, libipcwait \d+\.\d+\.\d+\n$")

    def test_suffixes_and_both_spellings_of_an_option(self):
        r = self.run_it("1k", "1k", "--rows=ipcwait", "--repeat=1")
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        self.assertIn("1000 loops", r.stdout)


if __name__ == "__main__":
    common.main()
