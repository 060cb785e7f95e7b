# SPDX-License-Identifier: MIT
"""guest_init on the host: its lines, the order of the runs, and children that misbehave."""

import os
import subprocess

import common

from vm.stream import Stream

GOOD = r'''while [ "$1" != --json ]; do shift; done
printf '{\n  "a": [\n    1\n  ]\n}\n' >"$2"'''


class GuestInit(common.VmTest):
    def setUp(self):
        super().setUp()
        self.program = common.BUILD / "bench" / "vm" / "guest_init"
        if not self.program.exists():
            self.skipTest("not built: no static C library, or not x86-64")

    def run_it(self, *args):
        return subprocess.run([self.program, *args], cwd=self.dir, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=common.SECONDS_MOST, check=False)

    def measure(self, script, *args):
        fake = self.dir / "sem_test"
        fake.write_text(f"#!/bin/sh\n{script}\n", encoding="ascii")
        fake.chmod(0o755)
        r = self.run_it("--sem-test", str(fake), "--dir", str(self.dir), *args)
        self.assertEqual((r.returncode, r.stderr), (0, b""))
        stream = Stream()
        for line in r.stdout.splitlines():
            stream.feed(line)
        self.assertEqual((stream.ended(), stream.lost(), stream.torn), (True, 0, 0))
        self.assertEqual(sorted(os.listdir(self.dir)), ["sem_test"])
        return stream

    def errors(self, script):
        return [head.get("error") for head, document in self.measure(script, "--rows", "a")
                .of_kind("run") if document is None]

    def test_lines(self):
        stream = self.measure(GOOD, "--rows", "a,b,c", "--runs", "3")
        runs = stream.of_kind("run")
        self.assertEqual("".join(head["row"] for head, _ in runs), "abcbcacab")
        self.assertEqual([head["round"] for head, _ in runs], [0, 0, 0, 1, 1, 1, 2, 2, 2])
        for head, document in runs:
            self.assertEqual(document, {"a": [1]})
            self.assertEqual(set(head["interrupts"]), {"RES", "CAL", "LOC"})
            self.assertIn("idle_states", head)
        (hello, _), = stream.of_kind("hello")
        self.assertEqual(hello["kernel"], os.uname().release)

    def test_children_that_fail(self):
        self.assertEqual(self.errors("echo one >&2; echo two >&2; exit 3"), ["two"])
        self.assertEqual(self.errors("echo one >&2; printf two >&2; exit 3"), ["two"])
        self.assertEqual(self.errors("printf 'two\\n\\n' >&2; exit 3"), ["two"])
        self.assertEqual(self.errors("echo >&2; exit 3"), ["ended with status 3"])
        self.assertEqual(self.errors("exit 3"), ["ended with status 3"])
        self.assertEqual(self.errors("kill -9 $$"), ["died: Killed"])
        self.assertEqual(self.errors("exit 0"), [None])
        self.assertEqual(self.errors("kill -ALRM $$"), ["took more than 50 s"])

    def test_no_program(self):
        r = self.run_it("--sem-test", "./missing", "--dir", ".", "--rows", "a")
        self.assertIn(b"cannot run ./missing: No such file", r.stdout)

    def test_folder_that_cannot_be_written(self):
        r = self.run_it("--sem-test", "/bin/true", "--dir", "missing", "--rows", "a",
                        "--info", "/bin/true")
        self.assertEqual(r.stdout.count(b"cannot open missing/"), 2)
        self.assertIn(b"cannot open missing/stderr.txt: No such file", r.stdout)

    def first_process(self, *args):
        """In namespaces of its own, where mounting and powering off touch nobody."""
        apart = ["unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork"]
        try:
            if subprocess.run([*apart, "true"], capture_output=True, check=False).returncode:
                self.skipTest("no namespaces here")
        except FileNotFoundError:
            self.skipTest("no unshare")
        r = subprocess.run([*apart, self.program, *args], cwd=self.dir, capture_output=True,
                           stdin=subprocess.DEVNULL, timeout=common.SECONDS_MOST, check=False)
        stream = Stream()
        for line in r.stdout.splitlines():
            stream.feed(line)
        self.assertTrue(stream.ended())
        return [head["error"] for head, _ in stream.of_kind("error")
                if head["what"] == "command line"]

    def test_a_first_process_is_a_guests(self):
        self.assertEqual(self.first_process("--guest"), [])
        self.assertEqual(self.first_process("--no-such", "x", "--guest"), ["Invalid argument"])

    def test_info(self):
        fake = self.dir / "info"
        fake.write_text("#!/bin/sh\necho '{\"words\": \"'$*'\"}'\n", encoding="ascii")
        fake.chmod(0o755)
        r = self.run_it("--info", str(fake), "--dir", str(self.dir))
        self.assertIn(b'[{"kind": "info"}, {"words": "info --json"}]', r.stdout)

    def test_bad_input(self):
        for args in (["--guest"], ["x"], ["--rows"], ["--no-such", "x"], ["--rows", ""],
                     ["--rows", "a,,b"], ["--rows", ",".join("abcdefghi")], ["--runs", "0"],
                     ["--runs", "1x"], ["--runs", "a\nb"]):
            with self.subTest(args=args):
                r = self.run_it(*args)
                self.assertEqual((r.returncode, r.stdout), (2, b""), r)
                self.assertEqual(r.stderr.count(b"\n"), 1, r)
                self.assertTrue(r.stderr.startswith(b"guest_init: "), r)


if __name__ == "__main__":
    common.main()
