# SPDX-License-Identifier: MIT
"""Bad input: one line on stderr that names the argument, exit 2, and nothing else happened."""

import os
import re
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
    (["calibrate", "--no-save", "--force"], "exclude"),
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
        for args in ["--help"], ["help"], ["-h"]:
            r = self.run_it(*args)
            self.assertEqual((r.returncode, r.stderr), (0, ""))
            for word in "calibrate", "info", "run", "version":
                self.assertIn(word, r.stdout)

    def test_help_of_each_command(self):
        """In both ways, on one screen."""
        names = re.findall(r"^  ([a-z]+) ", self.run_it("help").stdout, re.M)
        self.assertGreater(len(names), 10)
        for name in names:
            r = self.run_it("help", name)
            self.assertEqual((r.returncode, r.stderr), (0, ""), name)
            self.assertTrue(r.stdout.startswith("Usage: ipcwait " + name), name)
            self.assertLessEqual(max(map(len, r.stdout.splitlines())), 80, name)
            self.assertLessEqual(r.stdout.count("\n"), 34, name)
            if name not in ("help", "version"):
                self.assertIn("-h, --help", r.stdout)
                self.assertIn("Exit status", r.stdout)
                for option in "-h", "--help":
                    self.assertEqual(self.run_it(name, option).stdout, r.stdout)
        self.check_one_line(self.run_it("help", "a", "b"), 2, "'b'")

    def test_version(self):
        for args in ["version"], ["--version"], ["-V"]:
            r = self.run_it(*args)
            self.assertEqual((r.returncode, r.stderr), (0, ""))
            self.assertRegex(r.stdout, r"^ipcwait \d+\.\d+\.\d+\n$")

    def test_nobody_gets_the_output(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            self.check_one_line(self.run_it("--help", stdout=full), 1, "standard output")


if __name__ == "__main__":
    common.main()
