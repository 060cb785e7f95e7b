# SPDX-License-Identifier: MIT
"""Result lines between what firmware and kernel write."""

import unittest

import common

from vm.stream import Stream, shown


def fed(*lines):
    stream = Stream()
    kinds = [stream.feed(line) for line in lines]
    return stream, kinds


class Lines(unittest.TestCase):
    def test_garbage_between(self):
        stream, kinds = fed(b"\x1b[2J\x1bcSeaBIOS", b"\xff\xfe\x00", b"",
                            b'@@ipcwait [{"kind": "hello"}, null]\r',
                            b'[    1.0] noise @@ipcwait [{"kind": "run"}, {"a": [1]}]\r',
                            b'@@ipcwait [{"kind": "end", "lines": 2}, null]')
        self.assertEqual(kinds, [None, None, None, "hello", "run", "end"])
        self.assertEqual(stream.of_kind("run"), [({"kind": "run"}, {"a": [1]})])
        self.assertEqual(stream.last, "[    1.0] noise")
        self.assertEqual((stream.ended(), stream.lost(), stream.torn), (True, 0, 0))

    def test_torn_lines_are_counted_as_lost(self):
        for torn in (b'@@ipcwait [{"kind": "ru[  1.0] x', b"@@ipcwait ", b"@@ipcwait 7",
                     b"@@ipcwait []", b'@@ipcwait [{}, null]', b'@@ipcwait ["a", null]',
                     b"@@ipcwait null", b'@@ipcwait {"kind": "run"}', b"@@ipcwait " + b"[" * 9999):
            with self.subTest(torn=torn[:40]):
                stream, kinds = fed(torn, b'@@ipcwait [{"kind": "end", "lines": 1}, null]')
                self.assertEqual(kinds, [None, "end"])
                self.assertEqual((stream.torn, stream.lost()), (1, 1))

    def test_no_end(self):
        stream, _ = fed(b'@@ipcwait [{"kind": "hello"}, null]')
        self.assertEqual((stream.ended(), stream.lost()), (False, None))

    def test_panic(self):
        stream, _ = fed(b"[    1.2] Kernel panic - not syncing: Attempted to kill init!\r",
                        b"[    1.3] Kernel panic - not syncing: again")
        self.assertEqual(stream.panic, "Attempted to kill init!")

    def test_shown(self):
        self.assertEqual(shown("\x1b[1;31mred\x1b[0m\ttab\x07"), "red?tab?")
        self.assertLess(len(shown("x" * 10000)), 200)


if __name__ == "__main__":
    common.main()
