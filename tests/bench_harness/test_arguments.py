# SPDX-License-Identifier: MIT
"""Bad input: one line on stderr that names it, exit 2, and nothing else happened."""

import os
import shutil
import subprocess

import common

HUGE = "9" * 30

# Arguments, and a word that the message must have.
BAD = [
    (["--no-such"], "--no-such"),
    (["--runs"], "--runs"),
    (["--runs", "0"], "--runs"),
    (["--runs", "-1"], "--runs"),
    (["--runs", "1.5"], "--runs"),
    (["--runs", "100"], "--runs"),
    (["--runs", HUGE], "--runs"),
    (["--runs="], "--runs"),
    (["--trim", "both"], "--trim"),
    (["--min-time", "0"], "--min-time"),
    (["--min-time", "nan"], "--min-time"),
    (["--min-time", "1e3"], "--min-time"),
    (["--min-time", "61"], "--min-time"),
    (["--filter", ""], "--filter"),
    (["--filter", "("], "--filter"),
    (["--filter", "nothing has this"], "--filter"),
    (["--quick", "--full"], "--full"),
    (["--quick=1"], "--quick"),
    (["handof"], "there are: handoff all"),
    (["handoff", "han\ndoff"], "han?doff"),
    ([""], "unknown suite"),
    (["x" * 5000], "xxx"),
    (["--label", ""], "--label"),
    (["--out", ""], "--out"),
    (["--resume", "a", "--runs", "3"], "--runs"),
    (["--compare", "a"], "--compare"),
    (["--compare", "a", "b", "--runs", "3"], "--runs"),
    (["--compare", "a", "b", "--import", "c"], "--import"),
    (["--import"], "--import"),
    (["--from", "missing.json"], "missing.json"),
    (["--from", "a", "handoff"], "SUITE"),
    (["--profile-by", "wall"], "--profile"),
    (["--profile", "wake"], "there are: handoff all"),
    (["--list", "--out", "x"], "--out"),
]


class BadInput(common.HarnessTest):
    def run_bad(self, args):
        own = [] if {"--compare", "--import", "--from", "--resume"} & set(args) else \
            ["--program", str(common.FAKE), "--build", self.path("build")]
        return self.run_here(*own, *args)

    def test_every_bad_argument(self):
        before = sorted(self.dir.rglob("*"))
        for args, word in BAD:
            with self.subTest(args=[a[:40] for a in args]):
                self.check_refused(self.run_bad(args), word)
                self.assertEqual(sorted(self.dir.rglob("*")), before)

    def test_unwritable_output(self):
        (self.dir / "folder").mkdir()
        os.mkfifo(self.path("fifo"))
        self.write("file", "x")
        for place in ["folder", "fifo", "/proc/x.json", "n" * 300, "d/" * 3000 + "x", "file/x.json",
                      "/proc/\x1b[2J/x"]:
            for option in ("--out", "--report", "--markdown"):
                with self.subTest(place=place[:40], option=option):
                    r = self.run_here("--program", str(common.FAKE), option, place)
                    self.check_refused(r, option)
        self.assertEqual(self.log(), [])

    def test_no_folder_is_made_for_a_file(self):
        self.write("a.json", common.made(1))
        measured = ["--program", str(common.FAKE)]
        for option, args in (("--report", ["--from", "a.json"]),
                             ("--markdown", ["--from", "a.json"]), ("--out", measured),
                             ("--report", measured), ("--out", ["--import", "a.json"])):
            with self.subTest(option=option, args=args[0]):
                r = self.run_here(option, self.path("none/deep/x"), *args)
                self.check_refused(r, option + ": no folder")
        self.check_refused(self.run_here("--resume", self.path("none/x.json")), "none/x.json")
        self.assertFalse((self.dir / "none").exists())

    def test_programs_that_cannot_be_used(self):
        self.write("text", "no program")
        self.write("empty.sh", "#!/bin/sh\n")
        self.write("fails.sh", "#!/bin/sh\necho 'no luck\033' >&2\nexit 7\n")
        for name in ("empty.sh", "fails.sh"):
            os.chmod(self.path(name), 0o755)
        for program, word, status in (("missing", "no program", 2), ("text", "cannot start", 2),
                                      ("root", "no program", 2),
                                      ("empty.sh", "lists no benchmarks", 1),
                                      ("fails.sh", "no luck?", 1)):
            with self.subTest(program=program):
                r = self.run_it("--program", program)
                self.check_refused(r, word, status)


class BeforeTheBuild(common.HarnessTest):
    """scripts/bench in a tree in which scripts/setup only leaves a mark."""

    def setUp(self):
        super().setUp()
        (self.dir / "tree/scripts").mkdir(parents=True)
        (self.dir / "tree/bench").symlink_to(common.BENCH)
        shutil.copy(common.BENCH.parent / "scripts/bench", self.dir / "tree/scripts/bench")
        setup = self.dir / "tree/scripts/setup"
        setup.write_text("#!/bin/sh\ntouch set-up\nexit 2\n", "ascii")
        setup.chmod(0o755)
        self.mark = self.dir / "tree/set-up"

    def start(self, *args):
        return subprocess.run([self.path("tree/scripts/bench"), *args], cwd=self.dir,
                              capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL, timeout=common.SECONDS_MOST)

    def test_bad_arguments_build_nothing(self):
        for args, word in ((["--bogus"], "--bogus"), (["--runs", "0"], "--runs"),
                           (["--list", "--out", "x"], "--out"), (["--filter", "("], "--filter"),
                           (["--out", "none/x"], "no folder"), (["--resume", "none"], "none"),
                           (["--resume=none", "--report", "none/x"], "no folder")):
            with self.subTest(args=args):
                self.check_refused(self.start(*args), word)
                self.assertFalse(self.mark.exists())

    def test_what_only_reads_builds_nothing(self):
        self.write("a.json", common.made(1))
        for args in (["--help"], ["--from", "a.json"], ["--compare", "a.json", "a.json"],
                     ["--import", "a.json", "--out", "j.json"],
                     ["--list", f"--program={common.FAKE}"]):
            with self.subTest(args=args):
                r = self.start(*args)
                self.assertEqual((r.returncode, r.stderr), (0, ""))
                self.assertFalse(self.mark.exists())

    def test_what_measures_builds(self):
        self.write("a.json", common.made(1))
        for args in ([], ["--list"], ["--scoreboard"], ["--profile", "wake"], ["--filter=x"],
                     ["--resume=a.json"]):
            with self.subTest(args=args):
                self.assertEqual(self.start(*args).returncode, 2)
                self.assertTrue(self.mark.exists())
                self.mark.unlink()


class GoodInput(common.HarnessTest):
    def test_help(self):
        r = self.run_it("--help")
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        for word in ("--quick", "--resume", "--compare", "--import", "--scoreboard", "Exit status"):
            self.assertIn(word, r.stdout)
        self.assertLessEqual(max(map(len, r.stdout.splitlines())), 100)

    def test_reading_needs_no_build(self):
        script = str(common.BENCH.parent / "scripts/bench")
        self.assertTrue(os.access(script, os.X_OK))
        for args, status in ((["--help"], 0), (["--compare", "a", "b"], 2), (["--from", "a"], 2)):
            r = subprocess.run([script, *args], cwd=self.dir, capture_output=True, text=True,
                               check=False, timeout=common.SECONDS_MOST)
            self.assertEqual(r.returncode, status, r.stderr)
            self.assertNotIn("Traceback", r.stderr)

    def test_a_program_of_ones_own_needs_no_build(self):
        script = str(common.BENCH.parent / "scripts/bench")
        r = subprocess.run([script, "--program", str(common.FAKE), "--list"], cwd=self.dir,
                           env=self.environment({}, {}), capture_output=True, text=True,
                           check=False, timeout=common.SECONDS_MOST)
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        self.assertEqual(r.stdout.split(), common.NAMES)


if __name__ == "__main__":
    common.main()
