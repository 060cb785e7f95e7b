# SPDX-License-Identifier: MIT
"""`ipcwait run`: programs under race detectors."""

import os
import shutil
import subprocess
import unittest

import run_common

CC = shutil.which("cc")


class RaceDetectors(run_common.RunTest):
    """They know what libc's functions order, so the waits stay libc's."""

    @unittest.skipUnless(CC, "no compiler")
    def test_valgrinds_libraries(self):
        for name, left_alone in ("vgpreload_helgrind-x.so", True), ("vgpreload_drd-x.so", True), \
                ("vgpreload_memcheck-x.so", False):
            library = self.path(name)
            subprocess.run([CC, "-shared", "-o", library, "-x", "c", "/dev/null"], check=True)
            o = self.counted(run_common.WAITS, "200", LD_PRELOAD="")
            self.assertGreater(sum(o["all"].values()), 0)
            o = self.counted(run_common.WAITS, "200", LD_PRELOAD=library)
            self.assertEqual(sum(o["all"].values()) == 0, left_alone, name)

    def check_silent(self, *tool):
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "race_free.c")
        made = subprocess.run([CC, "-g", "-pthread", *tool[1:], "-o", self.path("b"), source],
                              check=False, stderr=subprocess.DEVNULL)
        if made.returncode:
            self.skipTest("it cannot be compiled")
        command = [*tool[0], "./b"]
        plain = subprocess.run(command, cwd=self.dir, env=self.env, check=False,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if plain.returncode:
            self.skipTest("the tool does not run here")
        r = self.ipcwait_run(*command)
        self.assertEqual(r.returncode, 0, r)

    @unittest.skipUnless(CC and shutil.which("valgrind"), "no valgrind")
    def test_valgrind(self):
        for tool in "helgrind", "drd":
            self.check_silent(["valgrind", "-q", "--error-exitcode=9", "--tool=" + tool])

    @unittest.skipUnless(CC, "no compiler")
    def test_thread_sanitizer(self):
        self.check_silent([], "-fsanitize=thread")


if __name__ == "__main__":
    run_common.main()
