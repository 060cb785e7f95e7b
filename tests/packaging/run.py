#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""As a user installs it, in a folder of its own: run.py SOURCE

The library alone, then with the command and the module; a program by pkg-config, shared and
static, by CMake, as a meson dependency and as a subproject; what the manual pages and completion
are; and that uninstalling leaves nothing.
"""
import os
import shlex
import shutil
import sys
import tempfile
import time
import unittest
from pathlib import Path

import prefix

SOURCE = Path(sys.argv.pop(1)).resolve()

PROGRAM = """#include <ipcwait/ipcwait.h>
#include <stdio.h>

int main(void)
{
    struct ipcwait_sem s = IPCWAIT_SEM_INIT(1);

    if (ipcwait_sem_wait(&s))
        return 1;
    printf("%s\\n", ipcwait_version());
    return 0;
}
"""

CMAKE = """cmake_minimum_required(VERSION 3.16)
project(user C)
find_package(libipcwait 0.1 REQUIRED)
add_executable(any program.c)
target_link_libraries(any PRIVATE libipcwait::libipcwait)
add_executable(static program.c)
target_link_libraries(static PRIVATE libipcwait::static)
if(NOT libipcwait_PRELOAD)
  message(FATAL_ERROR "no module")
endif()
"""

MESON = """project('user', 'c')
executable('program', 'program.c', dependencies: dependency('libipcwait', version: '>=0.1'))
"""


class Packaging(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = Path(tempfile.mkdtemp(prefix="ipcwait."))
        cls.addClassCleanup(shutil.rmtree, cls.work, ignore_errors=True)
        cls.prefix = cls.work / "prefix"
        cls.build = cls.work / "build"
        prefix.install(SOURCE, cls.build, cls.prefix)
        cls.env = prefix.environment(cls.prefix)

    call = staticmethod(prefix.call)

    def folder(self, name, **files):
        folder = self.work / name
        folder.mkdir()
        (folder / "program.c").write_text(PROGRAM, encoding="utf-8")
        for file, text in files.items():
            (folder / file.replace("_", ".", 1)).write_text(text, encoding="utf-8")
        return folder

    def flags(self, *question):
        return shlex.split(self.call("pkg-config", *question, "libipcwait", env=self.env))

    def version(self):
        return self.call("pkg-config", "--modversion", "libipcwait", env=self.env).strip()

    def check_runs(self, program, **env):
        self.assertEqual(self.call(program, env={**self.env, **env}).strip(), self.version())

    def test_pkg_config(self):
        folder = self.folder("pkg-config")
        flags = self.flags("--cflags", "--libs")
        self.call(*prefix.COMPILER, "program.c", *flags, "-pthread", "-o", "shared", cwd=folder)
        self.check_runs(folder / "shared")
        self.assertIn("libipcwait.so.0", self.call("ldd", folder / "shared", env=self.env))
        # A private prefix, without LD_LIBRARY_PATH.
        self.call(*prefix.COMPILER, "program.c", *flags, f"-Wl,-rpath,{self.prefix}/lib", "-o", "rpath",
                  cwd=folder)
        self.check_runs(folder / "rpath", LD_LIBRARY_PATH="")

    def test_static(self):
        folder = self.folder("static")
        flags = self.flags("--static", "--cflags", "--libs")
        self.call(*prefix.COMPILER, "program.c", "-static", *flags, "-pthread", "-o", "program", cwd=folder)
        self.check_runs(folder / "program", LD_LIBRARY_PATH="")

    @unittest.skipUnless(shutil.which("cmake"), "no cmake")
    def test_cmake(self):
        folder = self.folder("cmake", CMakeLists_txt=CMAKE)
        self.call("cmake", "-S", folder, "-B", folder / "build", env=self.env)
        self.call("cmake", "--build", folder / "build", env=self.env)
        for name in "any", "static":
            self.check_runs(folder / "build" / name, LD_LIBRARY_PATH="")
        # It is found where it is moved to.
        moved = self.work / "moved"
        shutil.copytree(self.prefix, moved, symlinks=True)
        env = {**self.env, "CMAKE_PREFIX_PATH": str(moved)}
        self.call("cmake", "-S", folder, "-B", folder / "again", env=env)
        self.call("cmake", "--build", folder / "again", env=env)
        self.assertIn(str(moved), self.call("ldd", folder / "again" / "any",
                                            env={**self.env, "LD_LIBRARY_PATH": ""}))

    @unittest.skipUnless(shutil.which("cmake"), "no cmake")
    def test_cmake_of_another_version(self):
        folder = self.folder("version", CMakeLists_txt=CMAKE.replace("0.1 REQ", "0.9 REQ"))
        with self.assertRaisesRegex(AssertionError, "compatible with requested version"):
            self.call("cmake", "-S", folder, "-B", folder / "build", env=self.env)
        for wanted in "0", "0.1.0", "":
            text = CMAKE.replace("0.1 REQ", wanted + " REQ")
            (folder / "CMakeLists.txt").write_text(text, encoding="utf-8")
            self.call("cmake", "-S", folder, "-B", folder / ("build" + wanted), env=self.env)

    def test_meson(self):
        folder = self.folder("meson", meson_build=MESON)
        self.call("meson", "setup", folder / "build", folder, env=self.env)
        self.call("ninja", "-C", folder / "build", env=self.env)
        self.check_runs(folder / "build" / "program")

    def test_subproject(self):
        """The library alone is built, and nothing that is installed is used."""
        folder = self.folder("subproject", meson_build=MESON)
        (folder / "subprojects").mkdir()
        (folder / "subprojects" / "libipcwait").symlink_to(SOURCE)
        (folder / "subprojects" / "libipcwait.wrap").write_text(
            "[wrap-file]\ndirectory = libipcwait\n\n[provide]\ndependency_names = libipcwait\n",
            encoding="utf-8")
        env = {**self.env, "PKG_CONFIG_PATH": "", "LD_LIBRARY_PATH": ""}
        self.call("meson", "setup", folder / "build", folder, "--wrap-mode=forcefallback", env=env)
        self.call("ninja", "-C", folder / "build", "program", env=env)
        self.assertEqual(self.call(folder / "build" / "program", env=env).strip(), self.version())
        self.assertFalse(list((folder / "build").glob("**/cli/ipcwait")))

    def test_the_command(self):
        self.assertEqual(self.call(self.prefix / "bin" / "ipcwait", "-V", env=self.env).strip(),
                         "ipcwait " + self.version())
        out = self.call(self.prefix / "bin" / "ipcwait", "run", "--stats", "--", "true",
                        env=self.env)
        self.assertIn("1 program", out)
        for name in ("share/man/man1/ipcwait.1", "share/man/man7/ipcwait.7",
                     "share/bash-completion/completions/ipcwait",
                     "share/zsh/site-functions/_ipcwait"):
            self.assertTrue((self.prefix / name).exists(), name)

    def test_python(self):
        """The module's own tests, with what is installed; and its example."""
        folder = SOURCE / "bindings" / "python"
        env = {**self.env, "PYTHONDONTWRITEBYTECODE": "1"}
        self.call(sys.executable, "-W", "error", folder / "test_ipcwait.py", env=env)
        out = self.call(sys.executable, folder / "example.py", env=env)
        self.assertIn("round trips", out)

    @unittest.skipUnless(shutil.which("cargo"), "no cargo")
    def test_rust(self):
        """The crate's tests, those in its documentation, and its example."""
        folder = SOURCE / "bindings" / "rust"
        env = {**self.env, "IPCWAIT_LIB_DIR": str(self.prefix / "lib"),
               "CARGO_TARGET_DIR": str(self.work / "target"), "CARGO_NET_OFFLINE": "true"}
        copy = self.work / "rust"
        shutil.copytree(folder, copy)
        out = self.call("cargo", "test", "--offline", cwd=copy, env=env)
        self.assertRegex(out, r"test result: ok. \d\d passed")
        out = self.call("cargo", "run", "--offline", "--release", "--example", "handoff", cwd=copy,
                        env=env)
        self.assertIn("ipcwait::channel", out)

    def test_the_library_alone(self):
        """Nothing else is built or installed. How long it takes is printed, not judged."""
        build, prefix = self.work / "alone", self.work / "alone-prefix"
        self.call("meson", "setup", build, SOURCE, "--buildtype=release", "-Dparts=library",
                  f"--prefix={prefix}", "--libdir=lib")
        began = time.monotonic()
        self.call("ninja", "-C", build)
        print(f"the library alone: {time.monotonic() - began:.1f} s on {os.cpu_count()} CPUs")
        self.call("meson", "install", "-C", build)
        self.assertFalse((prefix / "bin").exists())
        self.assertFalse((prefix / "share" / "man" / "man1").exists())
        libraries = {p.name for p in (prefix / "lib").iterdir() if not p.is_dir()}
        self.assertTrue(all(name.startswith("libipcwait.") for name in libraries), libraries)
        self.call("ninja", "-C", build, "uninstall")
        left = [p for p in prefix.glob("**/*") if not p.is_dir()]
        self.assertEqual(left, [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
