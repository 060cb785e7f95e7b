# SPDX-License-Identifier: MIT
"""`ipcwait run`: programs that the program starts, into which the module cannot be loaded."""

import os
import shutil
import struct
import subprocess
import sys
import unittest

import common
import run_common

# Given to the test: start_child and say_chain.
START, SAY = "", ""

CC = shutil.which("cc")
WAYS = ["execve", "execv", "execvp", "execvpe", "execl", "execlp", "execle", "fexecve", "execveat",
        "posix_spawn", "posix_spawnp", "vfork", "handler", "a place"]

PT_INTERP = 3


def loader_of(path):
    """Where the name of its loader is, and the name."""
    with open(path, "rb") as f:
        data = f.read()
    at, = struct.unpack_from("<Q", data, 32)
    size, n = struct.unpack_from("<HH", data, 54)
    for i in range(n):
        kind, _, offset, _, _, length = struct.unpack_from("<IIQQQQ", data, at + i * size)
        if kind == PT_INTERP:
            return offset, data[offset:offset + length].rstrip(b"\0").decode()
    return None


class Children(run_common.RunTest):
    def setUp(self):
        super().setUp()
        self.module = os.path.realpath(run_common.MODULE)

    def with_loader(self, name, loader):
        """The same program with another loader, whose path is as long, or longer by slashes."""
        offset, usual = loader_of(SAY)
        with open(SAY, "rb") as f:
            data = bytearray(f.read())
        self.assertEqual(len(loader), len(usual))
        data[offset:offset + len(usual)] = loader.encode()
        return self.make(name, bytes(data))

    def other_world(self, name="other"):
        """A loader of another name, which is a link to the usual one."""
        _, loader = loader_of(SAY)
        # As long as the other, and found from the folder in which all is run.
        link = "./ld-other.so".ljust(len(loader), "x")
        if not os.path.lexists(self.path(link)):
            os.symlink(loader, self.path(link))
        return self.with_loader(name, link)

    def said(self, *args, **options):
        r = self.ipcwait_run(*args, **options)
        self.assertEqual((r.returncode, r.stderr), (0, ""), r)
        return r.stdout

    def test_every_way(self):
        self.other_world()
        shutil.copy(SAY, self.path("usual"))
        path = self.dir + ":/usr/bin:/bin"
        for way in WAYS:
            with self.subTest(way=way):
                self.assertEqual(self.said(START, way, "./other", "other", PATH=path), "|one\n")
                self.assertEqual(self.said(START, way, "./usual", "usual", PATH=path),
                                 self.module + "|one\n")

    def test_a_loader_elsewhere(self):
        """Its name is the usual one: of another file, or of a folder that is a link."""
        _, loader = loader_of(SAY)
        folder, name = os.path.split(loader)
        here = "./x".ljust(len(loader) - len(name), "/")
        self.with_loader("program", here + name)
        os.symlink(folder, self.path("x"))
        self.assertEqual(self.said(START, "execve", "./program"), self.module + "|one\n")
        os.remove(self.path("x"))
        os.mkdir(self.path("x"))
        shutil.copy(loader, self.path("x"))
        self.assertEqual(self.said(START, "execve", "./program"), "|one\n")
        r = self.ipcwait_run("./program", "a")
        self.check_one_line(r, 0, "without the module", "another C library")

    def test_from_another_folder(self):
        """What cannot be told leaves the environment as it is."""
        shutil.copy(SAY, self.path("usual"))
        self.assertEqual(self.said(START, "elsewhere", "./usual"), self.module + "|one\n")

    def test_it_is_counted(self):
        self.other_world()
        o = self.counted(START, "vfork", "./other")
        self.assertEqual((o["programs"], o["left_out"]), (1, 1))
        o = self.counted(START, "vfork", "./no-such", status=127)
        self.assertEqual((o["programs"], o["left_out"]), (1, 0))
        r = self.ipcwait_run("--stats", START, "posix_spawn", "./other")
        self.assertIn("1 program was started without the module", r.stderr)

    def test_what_else_is_preloaded_stays(self):
        self.other_world()
        self.assertEqual(self.said(START, "execve", "./other", LD_PRELOAD="libm.so.6"),
                         "libm.so.6|one\n")

    def test_by_a_script(self):
        self.other_world()
        self.make("script", b"#!./other\n")
        self.make("outer", b"#! ./script x\n")
        for name in "./script", "./outer":
            self.assertTrue(self.said(START, "execve", name).startswith("|"), name)

    def test_a_shell_and_what_it_starts(self):
        self.other_world()
        out = self.said("/bin/sh", "-c", "./other a; %s b; exec ./other c" % SAY)
        self.assertEqual(out, "|a\n%s|b\n|c\n" % self.module)

    def test_what_cannot_be_told_is_left_alone(self):
        """A file without a format, one that is not there, and an empty name."""
        self.make("text", b"echo $LD_PRELOAD $1\n")
        self.assertEqual(self.said(START, "execvp", "./text", "./text"), self.module + " one\n")
        for name in "./no-such", "":
            r = self.ipcwait_run(START, "execve", name)
            self.assertEqual((r.returncode, r.stderr), (127, "execve: No such file or directory\n"))

    def test_a_module_that_is_gone(self):
        """The loader would say so, in each program."""
        module = self.path("module.so")
        shutil.copy(run_common.MODULE, module)
        r = self.run_it("run", "--module", module, "/bin/sh", "-c",
                        "rm module.so; %s a; %s execve %s" % (SAY, SAY, SAY))
        self.assertEqual((r.returncode, r.stdout, r.stderr), (0, "|a\n|execve\n", ""))

    def test_run_under_run(self):
        """The command itself has the module then."""
        self.other_world()
        r = self.ipcwait_run(common.PROGRAM, "run", "--module", run_common.MODULE, "./other", "a")
        self.check_one_line(r, 0, "without the module", "another C library")
        self.assertEqual(r.stdout, "|a\n")

    def check_real(self, *compiler):
        source = self.write("hello.c", "#include <stdio.h>\nint main(void) { puts(\"hello\"); }\n")
        made = subprocess.run([*compiler, "-o", self.path("hello"), source], check=False,
                              stderr=subprocess.DEVNULL)
        if made.returncode:
            self.skipTest("it cannot be compiled")
        try:
            subprocess.run([self.path("hello")], check=True, stdout=subprocess.DEVNULL)
        except OSError as error:
            self.skipTest(f"the kernel does not start it: {error.strerror}")
        self.assertEqual(self.said("/bin/sh", "-c", "./hello; exit"), "hello\n")

    @unittest.skipUnless(CC, "no compiler")
    def test_32_bits(self):
        self.check_real(CC, "-m32")

    @unittest.skipUnless(shutil.which("musl-gcc"), "no musl")
    def test_musl(self):
        self.check_real("musl-gcc")

    @unittest.skipUnless(CC, "no compiler")
    def test_a_sanitizer(self):
        """Its library wants to be loaded first, and ends the program otherwise."""
        source = self.write("asan.c", "int asan(void) { return 0; }\n")
        subprocess.run([CC, "-shared", "-fPIC", "-o", self.path("libasan.so.99"),
                        "-Wl,-soname,libasan.so.99", source], check=True)
        program = self.write("a.c", "#include <stdio.h>\n#include <stdlib.h>\nint asan(void);\n"
                             "int main(void) { const char *c = getenv(\"LD_PRELOAD\");"
                             " puts(c ? c : \"\"); return asan(); }\n")
        subprocess.run([CC, "-o", self.path("a"), program, self.path("libasan.so.99"),
                        "-Wl,-rpath," + self.dir], check=True)
        r = self.ipcwait_run("./a")
        self.check_one_line(r, 0, "without the module", "AddressSanitizer")
        self.assertEqual(r.stdout, "\n")
        self.assertEqual(self.said(START, "execve", "./a"), "\n")
        library = self.path("libasan.so.99")
        r = self.ipcwait_run(SAY, "a", LD_PRELOAD=library)
        self.check_one_line(r, 0, "AddressSanitizer")
        self.assertEqual(r.stdout, library + "|a\n")

    @unittest.skipUnless(CC, "no compiler")
    def test_a_real_sanitizer(self):
        source = self.write("a.c", "#include <stdio.h>\nint main(void) { puts(\"hello\"); }\n")
        made = subprocess.run([CC, "-fsanitize=address", "-o", self.path("a"), source],
                              check=False, stderr=subprocess.DEVNULL)
        if made.returncode:
            self.skipTest("no AddressSanitizer")
        r = self.ipcwait_run("./a")
        self.assertEqual((r.returncode, r.stdout), (0, "hello\n"), r)
        self.assertEqual(self.said("/bin/sh", "-c", "./a; exit"), "hello\n")


if __name__ == "__main__":
    START, SAY = map(os.path.abspath, (sys.argv.pop(4), sys.argv.pop(4)))
    run_common.main()
