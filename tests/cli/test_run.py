# SPDX-License-Identifier: MIT
"""`ipcwait run`: what it runs, how it ends, which signals it passes on."""

import ctypes
import errno
import json
import os
import pty
import shutil
import signal
import struct
import subprocess
import sys
import unittest

import common
import run_common

SH, TRUE, BASH = shutil.which("sh"), shutil.which("true"), shutil.which("bash")
ROOT = os.geteuid() == 0

ET_EXEC, PT_INTERP = 2, 3
X86, SPARC, OWN = 3, 43, None


def own_machine():
    with open(sys.executable, "rb") as f:
        return struct.unpack_from("<H", f.read(20), 18)[0]


def elf(bits=64, machine=OWN, loader=b""):
    """The head of a program, and its loader's name if it has one."""
    machine = own_machine() if machine is OWN else machine
    ident = b"\x7fELF" + bytes([1 if bits == 32 else 2, 1, 1]) + bytes(9)
    head = struct.pack("<HHIQQQIHHHHHH", ET_EXEC, machine, 1, 0, 64, 0, 0, 64, 56,
                       1 if loader else 0, 64, 0, 0)
    segment = struct.pack("<IIQQQQQQ", PT_INTERP, 4, 120, 0, 0, len(loader) + 1,
                          len(loader) + 1, 1)
    return ident + head + (segment + loader + b"\0" if loader else bytes(64))


class Statuses(run_common.RunTest):
    def test_statuses_are_passed_on(self):
        for options in [], ["--stats"], ["--json"]:
            for status in 0, 1, 2, 125, 126, 127, 255:
                r = self.ipcwait_run(*options, SH, "-c", "exit %d" % status)
                self.assertEqual(r.returncode, status, r)

    def test_a_signal_that_ends_the_program(self):
        """It ends the command too, after the report."""
        for number in signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGPIPE:
            r = self.ipcwait_run("--stats", SH, "-c", "kill -%d $$" % number)
            self.assertEqual(r.returncode, -number, r)
            self.assertIn("counted", r.stderr)
            r = self.ipcwait_run("--stats", SH, "-c", "exit %d" % (128 + number))
            self.assertEqual(r.returncode, 128 + number, r)

    def test_without_a_report_nobody_stands_between(self):
        r = self.ipcwait_run(SH, "-c", "kill -KILL $$")
        self.assertEqual((r.returncode, r.stdout, r.stderr), (-signal.SIGKILL, "", ""))
        p = self.start(SH, "-c", "echo $$")
        self.assertEqual(int(p.communicate()[0]), p.pid)

    def test_missing_programs(self):
        for name in "no-such-program", "./no-such", "", "/no/such", "no/such":
            for options in [], ["--stats"]:
                r = self.ipcwait_run(*options, "--", name, PATH="/usr/bin:/bin:/no/such")
                self.check_one_line(r, 127, "cannot run")

    def test_what_cannot_be_executed(self):
        self.make("data", b"text\n", 0o644)
        for name in "./data", ".", "/dev/null":
            self.check_one_line(self.ipcwait_run(name), 126, "cannot run", name)
        self.check_one_line(self.ipcwait_run("./data/x"), 126, "Not a directory")
        self.check_one_line(self.ipcwait_run("data", PATH=self.dir), 126, "Permission denied")
        self.check_one_line(self.ipcwait_run("x" * 5000), 127, "xxx...")
        self.check_one_line(self.ipcwait_run("./" + "x" * 5000), 126, "long")

    def test_path_is_searched_as_by_execvp(self):
        for folder in "a", "b":
            os.mkdir(self.path(folder))
        self.make("a/tool", b"", 0o644)
        self.make("b/tool", b"#!%s\necho b\n" % SH.encode())
        self.make("tool", b"#!%s\necho here\n" % SH.encode())
        for path, answer in ("a:b", "b\n"), (":a:b", "here\n"), ("b:", "b\n"), \
                ("none::b", "here\n"):
            r = self.ipcwait_run("tool", PATH=path)
            self.assertEqual((r.returncode, r.stdout, r.stderr), (0, answer, ""), path)

    def test_arguments_reach_the_program(self):
        args = ["--stats", "-x", "--", "", "a b", "--json"]
        for separator in [], ["--"]:
            r = self.ipcwait_run(*separator, SH, "-c", 'printf "%s|" "$0" "$@"', *args)
            self.assertEqual(r.stdout, "|".join(args) + "|")

    def test_streams_and_group_are_the_programs(self):
        script = 'cat; echo err >&2; ps -o pgid= -p $$ 2>/dev/null || :'
        p = self.start("--json", "--output", "o", SH, "-c", script, stdin=subprocess.PIPE,
                       start_new_session=True)
        out, err = p.communicate("in\n")
        self.assertEqual((p.returncode, out.splitlines()[0], err), (0, "in", "err\n"))
        for line in out.splitlines()[1:]:
            self.assertEqual(int(line), p.pid)


    def test_streams_that_are_closed(self):
        def close():
            for fd in range(3):
                os.close(fd)

        for i in range(3):
            r = self.ipcwait_run("--json", "--output", "o%d" % i, SH, "-c",
                                 "[ -e /proc/self/fd/%d ] && exit 9; exit 4" % i,
                                 preexec_fn=lambda fd=i: os.close(fd))
            self.assertEqual(r.returncode, 4)
        r = self.ipcwait_run("--json", "--output", "all", run_common.WAITS, "20", preexec_fn=close)
        self.assertEqual(r.returncode, 0)
        for name, programs in ("o0", 1), ("o1", 1), ("o2", 1), ("all", 1):
            with open(self.path(name), encoding="ascii") as f:
                self.assertEqual(json.load(f)["programs"], programs)

    def test_readers_see_the_end_of_its_output(self):
        p = self.start("--stats", SH, "-c", "read x; exec >&-; read x; exit 3",
                       stdin=subprocess.PIPE)
        p.stdin.write("a\n")
        p.stdin.flush()
        self.assertEqual(p.stdout.read(), "")
        self.assertIsNone(p.poll())
        p.stdin.close()
        self.assertEqual(p.wait(), 3)


class BadInput(run_common.RunTest):
    BAD = [
        ([], "program"),
        (["--"], "program"),
        (["--stats"], "program"),
        (["--no-such", "true"], "--no-such"),
        (["-x", "true"], "-x"),
        (["--policy"], "--policy"),
        (["--policy", "fast", "true"], "'fast'"),
        (["--policy=", "true"], "''"),
        (["--policy", "ad\naptive", "true"], "ad?aptive"),
        (["--stats=1", "true"], "--stats takes"),
        (["--json=x", "true"], "--json takes"),
        (["--no-follow=0", "true"], "--no-follow takes"),
        (["--output", "x", "true"], "--output needs"),
        (["--stats", "--output", "no/such/file", "true"], "no/such/file"),
        (["--json", "--output", ".", "true"], "directory"),
        (["--json", "--output=", "true"], "--output"),
    ]

    def test_every_bad_argument(self):
        for args, word in self.BAD:
            with self.subTest(args=args):
                r = self.run_it("run", *args)
                self.check_one_line(r, 125, word)
                self.assertEqual((r.stdout, self.files()), ("", []))

    def test_modules_that_are_none(self):
        text = self.make("text.so", b"text\n")
        blank = self.make("a b.so", b"")
        shutil.copy(run_common.MODULE, blank)
        narrow = self.make("narrow.so", elf(bits=32))
        for path, word in (text, "shared library"), (narrow, "shared library"), \
                ("no/such", "No such file"), (blank, "blanks"), (self.dir, "shared library"):
            with self.subTest(path=path):
                r = self.run_it("run", "--module", path, TRUE)
                self.check_one_line(r, 125, word)

    @unittest.skipIf(ROOT, "root reads every file")
    def test_unreadable_module(self):
        path = self.make("secret.so", b"", 0)
        self.check_one_line(self.run_it("run", "--module", path, TRUE), 125, "Permission")

    def test_help(self):
        r = self.run_it("run", "--help")
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        for word in "--policy", "--stats", "--json", "--output", "--no-follow", "125":
            self.assertIn(word, r.stdout)
        self.assertLess(max(map(len, r.stdout.splitlines())), 90)

    def test_output_that_is_gone_at_the_end(self):
        os.mkdir(self.path("d"))
        for status, want in (0, 125), (5, 5):
            os.makedirs(self.path("d"), exist_ok=True)
            r = self.ipcwait_run("--json", "--output", "d/out", SH, "-c",
                                 "rmdir d; exit %d" % status)
            self.check_one_line(r, want, "d/out")

    def test_nobody_gets_the_report(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            r = self.ipcwait_run("--stats", TRUE, stderr=full)
            self.assertEqual(r.returncode, 125)
            r = self.ipcwait_run("--stats", SH, "-c", "exit 3", stderr=full)
            self.assertEqual(r.returncode, 3)


class Environment(run_common.RunTest):
    def variables(self, *args, **options):
        r = self.ipcwait_run(*args, **options)
        self.assertEqual((r.returncode, r.stderr), (0, ""), r)
        return dict(line.split("=", 1) for line in r.stdout.splitlines() if "=" in line)

    def test_what_is_set(self):
        v = self.variables("env")
        self.assertEqual(v["LD_PRELOAD"], os.path.realpath(run_common.MODULE))
        self.assertEqual([k for k in v if k.startswith("IPCWAIT_")], ["IPCWAIT_CALIBRATION"])
        v = self.variables("--policy", "power", "--explain", "env", IPCWAIT_POLICY="block")
        self.assertEqual((v["IPCWAIT_POLICY"], v["IPCWAIT_EXPLAIN"]), ("power", "1"))

    def test_a_chain_is_kept(self):
        module = os.path.realpath(run_common.MODULE)
        for old, new in ("libm.so.6", module + ":libm.so.6"), \
                ("libm.so.6 libc.so.6", module + ":libm.so.6 libc.so.6"), \
                ("libm.so.6:" + module, "libm.so.6:" + module), ("", module):
            v = self.variables("env", LD_PRELOAD=old)
            self.assertEqual(v["LD_PRELOAD"], new)

    def test_children_do_not_follow(self):
        v = self.variables("--no-follow", "--stats", "--output", "o", SH, "-c", "env")
        self.assertEqual((v["LD_PRELOAD"], v["IPCWAIT_PRELOAD_TALLY"]), ("", ""))
        for chain in "libm.so.6", "libm.so.6 libc.so.6":
            v = self.variables("--no-follow", SH, "-c", "env", LD_PRELOAD=chain)
            self.assertEqual(v["LD_PRELOAD"], chain)
        for chain in "libm.so.6:%s", "%s libm.so.6", "libm.so.6 ::%s:":
            v = self.variables("--no-follow", SH, "-c", "env", LD_PRELOAD=chain % run_common.MODULE)
            self.assertEqual(v["LD_PRELOAD"].strip(" :"), "libm.so.6")

    def test_the_module_is_found_beside_the_program(self):
        place = os.path.join(os.path.dirname(common.PROGRAM), "../preload")
        if os.path.realpath(place) != os.path.dirname(os.path.realpath(run_common.MODULE)):
            self.skipTest("they are not of one tree")
        r = self.run_it("run", SH, "-c", "echo $LD_PRELOAD")
        self.assertEqual((r.stdout, r.stderr), (os.path.realpath(run_common.MODULE) + "\n", ""))


class Plainly(run_common.RunTest):
    """Programs in which the module cannot be."""

    def test_heads_of_other_programs(self):
        loader = b"/lib/ld-musl-x86_64.so.1"
        for content, word in (elf(bits=32, machine=X86), "32 bits"), \
                (elf(machine=SPARC), "CPU"), (elf(), "statically"), \
                (elf(loader=loader), "another C library"):
            name = self.make("forged", content)
            r = self.ipcwait_run(name, PATH="")
            self.assertIn("without the module", r.stderr)
            self.assertIn(word, r.stderr)
            self.assertNotEqual(r.returncode, 0)

    @unittest.skipUnless(shutil.which("cc"), "no compiler")
    def test_a_static_program_runs(self):
        source = self.write("a.c", "#include <stdlib.h>\nint main(void) "
                            "{ return getenv(\"LD_PRELOAD\") || getenv(\"IPCWAIT_POLICY\") "
                            "? 1 : 7; }\n")
        made = subprocess.run(["cc", "-static", "-o", self.path("a"), source], check=False,
                              stderr=subprocess.DEVNULL)
        if made.returncode:
            self.skipTest("no static C library")
        self.check_plain(self.ipcwait_run("--policy=spin", "./a"), 7, "'./a'", "statically")
        r = self.ipcwait_run("--json", "--output", "o", "./a")
        self.check_plain(r, 7, "statically")
        with open(self.path("o"), encoding="ascii") as f:
            o = json.load(f)
        self.assertEqual((o["module"], o["programs"], o["status"]), (None, 0, 7))
        self.assertIn("statically", o["why_no_module"])
        r = self.ipcwait_run("--stats", "./a")
        self.assertEqual((r.returncode, r.stderr.count("\n")), (7, 2))

    def test_scripts(self):
        inner = self.make("inner", b"#! %s -e\necho inner $LD_PRELOAD\n" % SH.encode())
        for content in b"#!%s\n" % inner.encode(), b"#!/usr/bin/env sh\necho inner $LD_PRELOAD":
            name = self.make("outer", content)
            r = self.ipcwait_run(name)
            self.assertEqual((r.returncode, r.stderr), (0, ""), r)
            self.assertEqual(r.stdout, "inner %s\n" % os.path.realpath(run_common.MODULE))
        static = self.make("static", elf())
        name = self.make("outer", b"#!%s\n" % static.encode())
        self.assertIn("statically", self.ipcwait_run(name).stderr)

    def test_a_script_without_an_interpreter(self):
        name = self.make("bare", b"echo $1 $LD_PRELOAD\nexit 4\n")
        r = self.ipcwait_run(name, "one")
        self.check_plain(r, 4, "interpreter")
        self.assertEqual(r.stdout, "one\n")
        self.make("wrong", b"#!/no/such/interpreter\n")
        r = self.ipcwait_run("./wrong")
        self.assertEqual((r.returncode, r.stderr.count("\n")), (127, 1))

    @unittest.skipUnless(ROOT, "only root can give files away")
    def test_other_rights(self):
        name = self.path("tool")
        shutil.copy(TRUE, name)
        if os.statvfs(name).f_flag & os.ST_NOSUID:
            self.skipTest("set-user-ID does nothing here")
        for uid, gid, mode in (65534, 0, 0o4755), (0, 65534, 0o2755):
            os.chown(name, uid, gid)
            os.chmod(name, mode)
            self.check_plain(self.ipcwait_run("./tool"), 0, "rights")
        # Root's own, and a group that nobody gets.
        for uid, gid, mode in (0, 0, 0o6755), (0, 65534, 0o2745):
            os.chown(name, uid, gid)
            os.chmod(name, mode)
            r = self.ipcwait_run("./tool")
            self.assertEqual((r.returncode, r.stderr), (0, ""))


class Signals(run_common.RunTest):
    # The trap is set when the line has come.
    TRAP = "trap 'echo got; exit 9' %s; echo ready; while :; do sleep 0.02; done"

    @classmethod
    def setUpClass(cls):
        # As nohup(1) leaves it, or a shell that starts something behind it: no trap would be set.
        for number in signal.SIGHUP, signal.SIGINT, signal.SIGQUIT:
            if signal.getsignal(number) == signal.SIG_IGN:
                cls.addClassCleanup(signal.signal, number, signal.SIG_IGN)
                signal.signal(number, signal.SIG_DFL)

    def test_what_one_sends_is_passed_on(self):
        for name in "TERM", "HUP", "INT", "QUIT", "USR1", "USR2", "WINCH", "ALRM":
            p = self.start("--stats", SH, "-c", self.TRAP % name)
            self.assertEqual(p.stdout.readline(), "ready\n")
            p.send_signal(getattr(signal, "SIG" + name))
            self.assertEqual(p.stdout.readline(), "got\n", name)
            self.assertEqual(p.wait(), 9)

    def test_it_dies_of_nothing_itself(self):
        p = self.start("--stats", SH, "-c", "trap '' TERM INT HUP; echo ready; read x; exit 0",
                       stdin=subprocess.PIPE)
        self.assertEqual(p.stdout.readline(), "ready\n")
        for number in signal.SIGTERM, signal.SIGINT, signal.SIGHUP:
            p.send_signal(number)
        p.stdin.close()
        self.assertEqual(p.wait(), 0)
        self.assertIn("counted", p.stderr.read())

    def test_a_terminals_signal_comes_once(self):
        script = "n=0; trap 'n=$((n + 1)); echo $n' INT; echo ready; " \
                 "i=0; while [ $n = 0 ] && [ $i -lt 1000 ]; do sleep 0.02; i=$((i + 1)); done; " \
                 "for i in 1 2 3 4 5 6 7 8; do sleep 0.02; done; echo end $n"
        pid, terminal = pty.fork()
        if not pid:
            os.execve(common.PROGRAM, ["ipcwait", "run", "--module", run_common.MODULE,
                                       "--stats", SH, "-c", script], self.env)
        self.addCleanup(os.close, terminal)
        text = self.read_all(terminal, {"ready": b"\x03"})
        self.assertEqual(os.WEXITSTATUS(os.waitpid(pid, 0)[1]), 0)
        self.assertIn("end 1\r\n", text)

    @unittest.skipUnless(BASH, "other shells end a loop themselves")
    def test_a_loop_ends_at_an_interrupt(self):
        """The shell goes by what has ended the command."""
        pid, terminal = pty.fork()
        if not pid:
            os.chdir(self.dir)
            # Only the first sleeps.
            os.execve(BASH, ["bash", "-c", 'for i in 1 2; do "$@"; echo went on; done', "bash",
                             common.PROGRAM, "run", "--module", run_common.MODULE, "--stats",
                             SH, "-c", "mkdir first && echo ready && exec sleep 600"], self.env)
        self.addCleanup(os.close, terminal)
        text = self.read_all(terminal, {"ready": b"\x03"})
        status = os.waitpid(pid, 0)[1]
        self.assertNotIn("went on", text)
        self.assertTrue(os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGINT, status)

    def read_all(self, terminal, answers):
        """To the end of what writes to it. What stands in @answers is answered, each once."""
        text = ""
        while True:
            try:
                text += os.read(terminal, 4096).decode()
            except OSError as e:
                self.assertEqual(e.errno, errno.EIO)
                return text
            for word in [w for w in answers if w in text]:
                os.write(terminal, answers.pop(word))

    def test_a_terminal_that_goes(self):
        """The kernel tells the leader of the session alone, which is the command."""
        script = "trap 'echo x >told; exit' HUP; echo ready; while :; do sleep 0.02; done"
        pid, terminal = pty.fork()
        if not pid:
            os.chdir(self.dir)
            os.execve(common.PROGRAM, ["ipcwait", "run", "--module", run_common.MODULE,
                                       "--stats", SH, "-c", script], self.env)
        self.addCleanup(os.waitpid, pid, 0)
        self.addCleanup(os.killpg, pid, signal.SIGKILL)
        text = ""
        while "ready" not in text:
            text += os.read(terminal, 4096).decode()
        os.close(terminal)
        self.until(lambda: os.path.exists(self.path("told")))

    def test_the_value_of_a_queued_signal(self):
        p = self.start("--stats", run_common.WAITS, "queued")
        self.assertEqual(p.stdout.readline(), "ready\n")
        queue = ctypes.CDLL(None, use_errno=True).sigqueue
        queue.argtypes = ctypes.c_int, ctypes.c_int, ctypes.c_void_p
        self.assertEqual(queue(p.pid, signal.SIGUSR1, 42), 0)
        self.assertEqual(p.stdout.readline(), "value 42\n")
        self.assertEqual(p.wait(), 0)

    def test_orphans_of_a_container(self):
        """Process 1 is the parent of all whose parent has ended, and no zombie stays."""
        names = ["unshare", "-Urpf", "--mount-proc"]
        if not shutil.which("unshare") or \
                subprocess.run([*names, TRUE], check=False, capture_output=True).returncode:
            self.skipTest("no namespaces here")
        script = "(sh -c 'echo x >&3' &) 3>told; while [ ! -s told ]; do sleep 0.02; done; " \
                 "while grep -q '^State:.Z' /proc/[0-9]*/status; do sleep 0.02; done; exit 3"
        p = subprocess.run([*names, common.PROGRAM, "run", "--module", run_common.MODULE, "--stats",
                            SH, "-c", script], cwd=self.dir, env=self.env, check=False,
                           capture_output=True, text=True, timeout=common.SECONDS_MOST)
        self.assertEqual(p.returncode, 3, p)

    def test_it_stops_with_the_program_and_goes_on(self):
        p = self.start("--stats", SH, "-c", self.TRAP % "TERM", start_new_session=False,
                       preexec_fn=os.setpgrp)
        self.assertEqual(p.stdout.readline(), "ready\n")
        p.send_signal(signal.SIGTSTP)
        stopped = os.waitpid(p.pid, os.WUNTRACED)[1]
        self.assertTrue(os.WIFSTOPPED(stopped))
        p.send_signal(signal.SIGTERM)
        self.go_on_until_told(p)
        self.assertEqual(p.stdout.readline(), "got\n")
        self.assertEqual(p.wait(), 9)

    def test_what_is_ignored_or_blocked_stays_so(self):
        script = "import signal as s; print(s.getsignal(s.SIGCHLD) == s.SIG_IGN, " \
                 "s.pthread_sigmask(s.SIG_BLOCK, []) == {s.SIGUSR1})"

        def prepare():
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_SETMASK, [signal.SIGUSR1])

        for options in [], ["--stats"]:
            r = self.ipcwait_run(*options, sys.executable, "-c", script, preexec_fn=prepare)
            self.assertEqual((r.returncode, r.stdout), (0, "True True\n"), r)


if __name__ == "__main__":
    run_common.main()
