# SPDX-License-Identifier: MIT
"""Bad input: one line on stderr that names the argument, exit 2, and nothing else happened."""

import os
import stat

import common

# Arguments, and a word that the message must have.
BAD = [
    ([], "command"),
    (["nonsense"], "nonsense"),
    (["--nonsense"], "--nonsense"),
    ([""], "''"),
    (["x" * 5000], "xxx..."),
    (["ca\033[31m\nb"], "ca?[31m?b"),
    (["version", "3"], "'3'"),
    (["help", "me"], "'me'"),
    (["calibrate", "x"], "'x'"),
    (["calibrate", ""], "''"),
    (["calibrate", "--no-such"], "--no-such"),
    (["calibrate", "--thorough=1"], "--thorough takes"),
    (["calibrate", "--no-save=yes"], "--no-save takes"),
    (["calibrate", "--"], "'--'"),
    (["calibrate", "--json"], "--json"),
    (["calibrate", "--json", ""], "--json"),
    (["calibrate", "--json="], "--json"),
    (["calibrate", "--json", "no/such/file"], "no/such/file"),
    (["calibrate", "--json", "."], "directory"),
    (["calibrate", "--json", "x" * 5000], "long"),
    (["calibrate", "--svg"], "--svg"),
    (["calibrate", "--svg", "."], "--svg"),
    (["calibrate", "--svg", "-"], "--svg is '-'"),
    (["calibrate", "--jsonx", "a"], "--jsonx"),
    (["info", "x"], "'x'"),
    (["info", ""], "''"),
    (["info", "--no-such\n"], "--no-such?"),
    (["info", "--help=1"], "--help takes"),
    (["info", "--json="], "--json"),
    (["info", "--json", "no/such/file"], "no/such/file"),
    (["info", "--root"], "--root"),
    (["info", "--root="], "--root"),
    (["info", "--root", "--json"], "--root"),
    (["info", "--root", "no/such"], "no/such"),
    (["info", "--root", "/dev/null"], "Not a directory"),
    (["info", "--root", "x" * 5000], "long"),
]


class BadInput(common.CliTest):
    def test_every_bad_argument(self):
        for args, word in BAD:
            with self.subTest(args=[a[:40] for a in args]):
                r = self.run_it(*args)
                self.check_one_line(r, 2, word)
                self.assertEqual(r.stdout, "")
                self.assertEqual(self.files(), [])

    def test_json_over_what_is_no_file(self):
        os.mkfifo(self.path("fifo"))
        for command in "calibrate", "info":
            self.check_one_line(self.run_it(command, "--json", "fifo"), 2, "regular")
            self.assertTrue(stat.S_ISFIFO(os.stat(self.path("fifo")).st_mode))

    def test_no_gnuplot(self):
        r = self.run_it("calibrate", "--svg", "a.svg", PATH=self.dir)
        self.check_one_line(r, 2, "--svg", "gnuplot")
        self.assertEqual(self.files(), [])

    def test_bad_arguments_leave_files_alone(self):
        self.write("old.json", "old")
        self.check_one_line(self.run_it("calibrate", "--json", "old.json", "x"), 2, "x")
        with open(self.path("old.json"), encoding="ascii") as f:
            self.assertEqual(f.read(), "old")


class Answers(common.CliTest):
    def test_help(self):
        for args in ["--help"], ["help"]:
            r = self.run_it(*args)
            self.assertEqual((r.returncode, r.stderr), (0, ""))
            for word in "calibrate", "info", "run", "version":
                self.assertIn(word, r.stdout)

    def test_help_of_calibrate(self):
        r = self.run_it("calibrate", "--help")
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        for word in "--thorough", "--no-save", "--json", "--svg":
            self.assertIn(word, r.stdout)
        self.assertLess(max(map(len, r.stdout.splitlines())), 90)
        self.assertEqual(self.files(), [])

    def test_help_of_info(self):
        r = self.run_it("info", "--help")
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        for word in "--json", "--root":
            self.assertIn(word, r.stdout)
        self.assertLess(max(map(len, r.stdout.splitlines())), 90)

    def test_version(self):
        for args in ["version"], ["--version"]:
            r = self.run_it(*args)
            self.assertEqual((r.returncode, r.stderr), (0, ""))
            self.assertRegex(r.stdout, r"^ipcwait \d+\.\d+\.\d+\n$")

    def test_nobody_gets_the_output(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            self.check_one_line(self.run_it("--help", stdout=full), 1, "standard output")


if __name__ == "__main__":
    common.main()
