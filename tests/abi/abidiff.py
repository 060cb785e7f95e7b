#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What programs that were linked with the last release would meet: abidiff.py DUMP HEADERS LIBRARY

Nothing that the dump has may be gone or be laid out otherwise; what is new is welcome. A dump is made
anew, of a library with debug information, for each release: abidiff.py --make DUMP HEADERS LIBRARY
What has changed since and does no harm is in compatible.ini.
"""
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

DUMP, HEADERS, LIBRARY = map(Path, sys.argv[-3:])
FAILED = 3          # bits of abidiff's status: it could not be done, or was asked wrongly
CHANGED = 4
COMPATIBLE = Path(__file__).with_name("compatible.ini")


def make():
    """Without anything of where it was built. Exported interfaces only: else those that another file
    declares first have no parameters in it."""
    subprocess.run(["abidw", "--exported-interfaces-only", "--headers-dir", HEADERS,
                    "--drop-private-types", "--no-show-locs", "--no-comp-dir-path",
                    "--no-corpus-path", "--no-parameter-names", "--type-id-style", "hash",
                    "--out-file", DUMP, LIBRARY], check=True)


class Abi(unittest.TestCase):
    def differences(self, dump):
        """(whether there are any, abidiff's text)"""
        r = subprocess.run(["abidiff", "--no-added-syms", "--suppressions", COMPATIBLE, dump, LIBRARY],
                           check=False, encoding="utf-8",
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=100)
        self.assertFalse(r.returncode & FAILED, r)
        return bool(r.returncode & CHANGED), r.stdout

    def differences_with(self, pattern, by):
        """Where the last release had been another one."""
        text, n = re.subn(pattern, by, DUMP.read_text(encoding="utf-8"), count=1)
        self.assertEqual(n, 1, pattern)
        with tempfile.NamedTemporaryFile("w", suffix=".abi", encoding="utf-8") as f:
            f.write(text)
            f.flush()
            return self.differences(f.name)[0]

    def test_as_the_last_release(self):
        differs, text = self.differences(DUMP)
        self.assertFalse(differs, text)

    def test_a_function_that_is_gone_is_noticed(self):
        self.assertTrue(self.differences_with("elf-symbol name='ipcwait_sem_fini'",
                                              "elf-symbol name='ipcwait_sem_other'"))

    def test_a_struct_of_another_size_is_noticed(self):
        self.assertTrue(self.differences_with(
            r"(<class-decl name='ipcwait_sem' size-in-bits=')\d+'", r"\g<1>512'"))

    def test_a_function_with_another_parameter_is_noticed(self):
        self.assertTrue(self.differences_with(
            r"(<function-decl name='ipcwait_impl_sem_wait_slow'[^>]*>\s*)<parameter [^>]*/>",
            r"\g<1>"))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--make"]:
        make()
    else:
        unittest.main(argv=sys.argv[:1], verbosity=2)
