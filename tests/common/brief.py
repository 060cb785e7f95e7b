# SPDX-License-Identifier: MIT
"""unittest.main() for the tests of this folder: a failure says in few lines what it found, and which
command repeats it alone."""

import os
import shlex
import sys
import unittest

LINES_MOST = 18     # of a failure
WIDTH_MOST = 400    # of a line
SHOWN_MOST = 3      # failures
# The words before unittest's own, which the test takes off sys.argv.
COMMAND = [sys.executable, *sys.argv]


def shorten(text):
    lines = text.rstrip().splitlines()
    if len(lines) > LINES_MOST:
        half = LINES_MOST // 2
        lines[half:-half] = [f"... {len(lines) - 2 * half} lines left out"]
    return "\n".join(line if len(line) <= WIDTH_MOST else
                     f"{line[:WIDTH_MOST // 2]} ... {line[-WIDTH_MOST // 2:]}" for line in lines)


class Result(unittest.TextTestResult):
    def printErrors(self):
        failed = [("ERROR", *e) for e in self.errors] + [("FAIL", *e) for e in self.failures]
        for kind, test, text in failed[:SHOWN_MOST]:
            self.stream.writeln(f"{self.separator1}\n{kind}: {test.id()}\n{shorten(text)}")
        if len(failed) > SHOWN_MOST:
            names = ", ".join(test.id() for _, test, _ in failed[SHOWN_MOST:])
            self.stream.writeln(shorten(f"{self.separator1}\nand {names}"))
        if failed:
            # A part of a test, and what a class sets up, have no name of their own.
            name = failed[0][1].id().split(" ")[0].removeprefix("__main__.")
            command = [*COMMAND, name] if name.count(".") == 1 else COMMAND
            self.stream.writeln(f"{self.separator1}\nrepeat: cd {shlex.quote(os.getcwd())} && "
                                f"{shlex.join(command)}")


class Runner(unittest.TextTestRunner):
    resultclass = Result


def main():
    unittest.main(module="__main__", verbosity=1, testRunner=Runner)
