# SPDX-License-Identifier: MIT
"""Bad input: one line on stderr that names the argument, exit 2, and nothing else happened."""

import os

import common

HUGE = "99999999999999999999999999"

# Arguments, and a word that the message must have.
BAD = [
    ([], "--all"),
    (["--repeat", "3"], "--all"),
    (["swept"], "swept"),
    (["sweep", "nothing"], "nothing"),
    (["SWEEP"], "SWEEP"),
    ([""], "''"),
    (["-x"], "-x"),
    (["sweep\nticks"], "sweep?ticks"),
    (["9" * 5000], "9999"),
    (["sweep", "--"], "'--'"),
    (["sweep", "--no-such"], "--no-such"),
    (["--all=1"], "--all"),
    (["sweep", "--check=1"], "--check"),
    (["sweep", "--repeat"], "--repeat"),
    (["sweep", "--repeat", ""], "--repeat"),
    (["sweep", "--repeat", "0"], "--repeat"),
    (["sweep", "--repeat", "-1"], "--repeat"),
    (["sweep", "--repeat", "+1"], "--repeat"),
    (["sweep", "--repeat", "1.5"], "--repeat"),
    (["sweep", "--repeat", "nan"], "--repeat"),
    (["sweep", "--repeat=50"], "--repeat"),
    (["sweep", "--repeat", HUGE], "--repeat"),
    (["sweep", "--scale", "0"], "--scale"),
    (["sweep", "--scale", "1001"], "--scale"),
    (["sweep", "--scale", "100%"], "--scale"),
    (["sweep", "--scale=" + HUGE], "--scale"),
    (["ticks", "--tick"], "--tick"),
    (["ticks", "--tick", "Busy"], "--tick"),
    (["ticks", "--tick="], "--tick"),
    (["sweep", "--wakes"], "--wakes"),
    (["sweep", "--wakes", "dear"], "--wakes"),
    (["sweep", "--wakes="], "--wakes"),
    (["sweep", "--json"], "--json"),
    (["sweep", "--json", ""], "--json"),
]


class BadInput(common.BenchTest):
    def check_refused(self, args, word):
        before = self.files()
        r = self.run_it(*args)
        self.assertEqual((r.returncode, r.stdout), (2, ""), r)
        self.assertEqual(r.stderr.count("\n"), 1, r)
        self.assertTrue(r.stderr.startswith("wait_bench: ") and r.stderr.endswith("\n"), r)
        self.assertLess(len(r.stderr), 400)
        self.assertIn(word, r.stderr)
        self.assertEqual(self.files(), before)

    def test_every_bad_argument(self):
        for args, word in BAD:
            with self.subTest(args=[a[:40] for a in args]):
                self.check_refused(args, word)

    def test_bad_arguments_leave_the_json_file_alone(self):
        with open(self.path("old.json"), "w", encoding="ascii") as f:
            f.write("old")
        self.check_refused(["sweep", "--json", "old.json", "--repeat", "0"], "--repeat")
        with open(self.path("old.json"), encoding="ascii") as f:
            self.assertEqual(f.read(), "old")

    def test_unwritable_json_path(self):
        os.mkdir(self.path("directory"))
        os.mkfifo(self.path("fifo"))
        for place in ["missing/x.json", "directory", "fifo", "/proc/x.json", "n" * 300,
                      "d/" * 3000 + "x", "two\nlines/x.json"]:
            with self.subTest(place=place[:40]):
                self.check_refused(["overhead", "--json", place], "--json")


class GoodInput(common.BenchTest):
    def test_help_and_version(self):
        r = self.run_it("--help")
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        for word in [*common.ROWS, "--all", "--repeat", "--scale", "--tick", "--json",
                     "--no-progress", "--check", "--wakes"]:
            self.assertIn(word, r.stdout)
        self.assertLessEqual(max(map(len, r.stdout.splitlines())), 100)
        r = self.run_it("--version")
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        self.assertRegex(r.stdout, r"^wait_bench, libipcwait \d+\.\d+\.\d+\n$")

    def test_rows_run_once_and_in_the_order_of_the_help(self):
        results, _ = self.measure("overhead", "one-cpu", "overhead", "--scale=1",
                                  "--repeat=1")
        self.assertEqual([row["row"] for row in results["rows"]], ["one-cpu", "overhead"])


if __name__ == "__main__":
    common.main()
