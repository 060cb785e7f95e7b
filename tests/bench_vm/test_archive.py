# SPDX-License-Identifier: MIT
"""The newc archive, read by a parser of the test's own and by busybox where that is installed."""

import shutil
import stat
import subprocess
import unittest

import common

from vm import archive


def parse(data):
    """{name: (fields, contents)}, and the bytes behind the trailer."""
    found, at = {}, 0
    while True:
        head = data[at:at + 110]
        assert head[:6] == b"070701", head
        fields = [int(head[i:i + 8], 16) for i in range(6, 110, 8)]
        size, name_size = fields[6], fields[11]
        name = data[at + 110:at + 110 + name_size]
        assert name.endswith(b"\0") and at % 4 == 0
        at += (110 + name_size + 3) // 4 * 4
        found[name[:-1].decode("ascii")] = (fields, data[at:at + size])
        at += (size + 3) // 4 * 4
        if name == b"TRAILER!!!\0":
            return found, data[at:]


class Archive(common.VmTest):
    def build(self):
        (self.dir / "a").write_bytes(b"12345")
        (self.dir / "b").write_bytes(b"")
        return archive.build({"init": self.dir / "a", "sem_test": self.dir / "b"})

    def test_contents(self):
        found, rest = parse(self.build())
        self.assertEqual(rest, b"")
        self.assertEqual(list(found), ["dev", "proc", "sys", "tmp", "dev/console", "init",
                                       "sem_test", "TRAILER!!!"])
        self.assertEqual(found["init"][1], b"12345")
        self.assertEqual(found["sem_test"][1], b"")
        self.assertEqual(found["init"][0][1], stat.S_IFREG | 0o755)
        self.assertEqual(found["proc"][0][1], stat.S_IFDIR | 0o755)
        console = found["dev/console"][0]
        self.assertEqual((console[1], console[9], console[10]), (stat.S_IFCHR | 0o600, 5, 1))
        numbers = [fields[0] for name, (fields, _) in found.items() if name != "TRAILER!!!"]
        self.assertEqual(len(set(numbers)), len(numbers))

    def test_same_input_same_bytes(self):
        self.assertEqual(self.build(), self.build())

    @unittest.skipUnless(shutil.which("busybox"), "busybox is not installed")
    def test_busybox_lists_it(self):
        r = subprocess.run(["busybox", "cpio", "-t"], input=self.build(), capture_output=True,
                           check=False)
        self.assertEqual(r.returncode, 0, r)
        self.assertEqual(r.stdout.decode().split(),
                         ["dev", "proc", "sys", "tmp", "dev/console", "init", "sem_test"])

    def test_a_missing_program_leaves_nothing(self):
        with self.assertRaises(FileNotFoundError):
            archive.write(self.dir / "x.cpio", {"init": self.dir / "missing"})
        self.assertEqual(list(self.dir.iterdir()), [])


if __name__ == "__main__":
    common.main()
