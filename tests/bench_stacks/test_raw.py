# SPDX-License-Identifier: MIT
"""The sampler's files: whole, damaged, and with addresses that have no name."""

import sys
import os
import struct
import unittest

import common

from stacks import errors, raw, symbols

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import brief  # noqa: E402


class Raw(common.StacksTest):
    HEAD = struct.pack("=8sQQQQQ", b"IWSTACK\0", 4096, 4096, 2, 100, 0)

    def record_of(self, weight, *pcs):
        return struct.pack("=IIII16s", len(pcs), weight, 1, 2, b"me") + struct.pack(
            f"={len(pcs)}Q", *pcs)

    def test_records(self):
        data = self.HEAD + b"".join(self.record_of(*r) for r in ((3, 10, 20, 0), (0, 1), (1, 5)))
        found, dropped, cut = raw.records_of(data, "x")
        self.assertEqual([(r.thread, r.weight, r.pcs) for r in found],
                         [("me-1/2", 3, (10, 20, 0)), ("me-1/2", 1, (5,))])
        self.assertEqual((dropped, cut), (2, False))
        self.assertEqual(raw.calls(found[0].pcs), [10, 19])

    def test_damage(self):
        whole = self.HEAD + self.record_of(3, 10, 20)
        found, _, cut = raw.records_of(whole + self.record_of(1, 5, 6, 7)[:-4], "x")
        self.assertEqual((len(found), cut), (1, True))
        found, _, cut = raw.records_of(whole + b"\0" * 64, "x")
        self.assertEqual((len(found), cut), (1, True))
        found, _, cut = raw.records_of(whole + b"\xff" * 64, "x")
        self.assertEqual((len(found), cut), (1, True))
        for data in (b"", b"IWSTACK\0", os.urandom(200)):
            with self.assertRaises(errors.Refused):
                raw.records_of(data, "x")

    def test_addresses_without_a_name(self):
        maps = "1000-2000 r-xp 00000000 00:00 0 /no/such/lib.so\n3000-4000 r-xp 0 00:00 0 [vdso]\n"
        names = symbols.resolve({0x1800, 0x3010, 0x9000}, maps)
        self.assertEqual(names, {0x1800: ["[lib.so]"], 0x3010: ["[vdso]"], 0x9000: ["[unknown]"]})
        self.assertEqual(symbols.resolve({1}, "rubbish\n"), {1: ["[unknown]"]})
        stack = raw.stack_of((0x1800, 0x1801, 0x1802, 0x9000), {
            0x1800: ["[lib.so]"], 0x1801: ["[lib.so]"], 0x9000 - 1: ["a", "b"]})
        self.assertEqual(stack, ["b", "a", "[lib.so]"])


if __name__ == "__main__":
    brief.main()
