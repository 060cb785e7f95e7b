# SPDX-License-Identifier: MIT
"""perf that works, that may not, that is not there, and that records nothing."""

import functools
import os
import shutil
import sys
import unittest

import common

from stacks import perf

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import brief  # noqa: E402

BUILD = PROGRAM = None

# More than a machine that stops programs at random makes fail.
TRIES = 20

REFUSES = """#!/bin/sh
echo 'Error:' >&2
echo 'Access to performance monitoring is limited: no permission' >&2
exit 255
"""
# Runs the command and writes a file without samples.
EMPTY = """#!/bin/sh
case $1 in
script|evlist) exit 0 ;;
esac
while [ "$1" != -- ]; do
    [ "$1" = -o ] && touch "$2"
    shift
done
shift
exec "$@"
"""


@functools.cache
def usable():
    return perf.usable_event(997, "dwarf")


class Perf(common.StacksTest):
    def with_perf(self, text):
        """An environment whose perf is @text."""
        os.mkdir(self.path("bin"))
        script = self.write("bin/perf", text)
        os.chmod(script, 0o755)
        return {"PATH": self.path("bin") + ":" + os.environ["PATH"]}

    def test_the_sampler_steps_in(self):
        r = self.run_it("record", "--build", BUILD, "--", PROGRAM, env=self.with_perf(REFUSES))
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        self.assertIn("no permission", r.stdout)
        self.assertIn("by the preloaded sampler", r.stdout)
        self.assertGreater(self.rows(r.stdout)["burn"][0], 10)

    def test_perf_that_was_asked_for(self):
        text = self.refusal("record", "--source", "perf", "--", "true",
                            env=self.with_perf(REFUSES))
        self.assertIn("no permission", text)
        text = self.refusal("record", "--source", "perf", "--", sys.executable,
                            env={"PATH": self.dir})
        self.assertIn("perf is not installed", text)

    def test_nothing_recorded(self):
        text = self.refusal("record", "--source", "perf", "--", "true", status=1,
                            env=self.with_perf(EMPTY))
        self.assertIn("no samples", text)

    def test_perf_data_without_perf(self):
        f = self.write("perf.data", b"PERFILE2" + b"\0" * 100)
        self.assertIn("not installed", self.refusal("report", f, env={"PATH": self.dir}))

    def event(self):
        """What the perf of this machine can count; skips the test if that is nothing."""
        event, why = usable()
        if not event:
            self.skipTest(why)
        return event

    def test_real(self):
        event = self.event()
        # A program, or perf, that is stopped meanwhile may have no samples.
        for _ in range(TRIES):
            r = self.run_it("record", "--source", "perf", "--top", "1000", "--", PROGRAM)
            if "no samples" not in r.stderr:
                break
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        rows = self.rows(r.stdout)
        self.assertIn(event, r.stdout)
        self.assertGreater(rows["burn"][0], 50)
        self.assertLess(rows.get("sit", (0,))[0], rows["burn"][0] / 4)

    def test_real_crash(self):
        self.event()
        r = self.run_it("record", "--source", "perf", "--", PROGRAM, "crash")
        self.assertEqual(r.returncode, 1, r.stderr)
        self.assertIn("ended by SIGSEGV", r.stdout)

    def test_perf_data_is_read(self):
        self.event()
        os.chdir(self.dir)
        self.addCleanup(os.chdir, common.HERE)
        # A perf that is stopped meanwhile may leave an empty file.
        for _ in range(TRIES):
            perf.run.run([shutil.which("perf"), "record", "-q", "-e", "cpu-clock", "-o",
                          "perf.data", "--", PROGRAM], stdout=-3)
            if os.path.exists("perf.data") and os.path.getsize("perf.data"):
                break
        self.assertGreater(self.rows(self.output("report", "perf.data"))["burn"][1], 10)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(f"usage: {sys.argv[0]} BUILD_DIRECTORY PROGRAM [UNITTEST ARGUMENT]...")
    BUILD, PROGRAM = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
    brief.main()
