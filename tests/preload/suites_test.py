#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""That suites.py and posix_suite.py find what differs, by programs that look whether something is
preloaded."""
import sys
import contextlib
import io
import os
import unittest

import posix_suite
import suites

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import brief  # noqa: E402

OTHER = {suites.PLAINLY: {}, 'the other': {'OTHER': '1'}}
JUNIT = '''<testsuites><testsuite>
<testcase name="a"/><testcase name="b"><skipped/></testcase><testcase name="c"><error/></testcase>
<testcase name="d"><failure/></testcase><testcase name="d"/></testsuite></testsuites>'''


def compared(script, results=None):
    """What compare() says of a shell script: how many tests, how many different, the text."""
    part = suites.Part('fake', lambda where, names: (['/bin/sh', '-c', script], results))
    with contextlib.redirect_stdout(io.StringIO()) as said:
        total, bad = suites.compare([part], OTHER, 2)
    return total, bad, said.getvalue()


class Compare(unittest.TestCase):
    def test_same(self):
        total, bad, said = compared('echo a ok; echo b FAIL $$; echo c skipped; exit 1')
        self.assertEqual((total, bad), (3, 0))
        self.assertIn('1 ok, 1 FAIL, 1 skipped', said)
        self.assertNotIn('flaky', said)

    def test_different(self):
        for script in ('echo a ${OTHER:+FAIL} ok', 'echo a ok; echo b ${OTHER:-ok}',
                       'echo a ok; exit ${OTHER:-0}', '[ -z "$OTHER" ] || kill -SEGV $$',
                       'echo a ok; [ -z "$OTHER" ] || echo b ok'):
            _, bad, said = compared(script)
            self.assertEqual(bad, 1, script)
            self.assertIn('DIFFERENT: fake', said)

    def test_flaky(self):
        # The first time only.
        _, bad, said = compared(f'[ "$OTHER" ] && mkdir {self.folder}/once && echo a FAIL || '
                                'echo a ok')
        self.assertEqual(bad, 0)
        self.assertIn('flaky: fake: a: plainly ok, ok, ok, ok, ok; '
                      'the other FAIL, ok, ok, ok, ok', said)

    def test_one_that_fails_now_and_then(self):
        # In the first run and the third, and never plainly.
        _, bad, said = compared(f'[ "$OTHER" ] || {{ echo a ok; exit; }}; echo >>{self.folder}/n; '
                                f'case $(wc -l <{self.folder}/n) in 1|3) echo a FAIL;; '
                                '*) echo a ok; esac')
        self.assertEqual(bad, 1)
        self.assertIn('DIFFERENT: fake: a: plainly ok, ok, ok, ok, ok; '
                      'the other FAIL, ok, FAIL, ok, ok', said)

    def test_a_crash_beside_a_flaky_test(self):
        _, bad, said = compared(f'[ "$OTHER" ] && mkdir {self.folder}/once && echo a FAIL || '
                                'echo a ok; [ -z "$OTHER" ] || kill -SEGV $$')
        self.assertEqual(bad, 1)
        self.assertIn('flaky: fake: a:', said)
        self.assertIn('DIFFERENT: fake: (the run)', said)

    def setUp(self):
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        self.folder = stack.enter_context(suites.tempfile.TemporaryDirectory())

    def test_junit(self):
        path = self.folder + '/results.xml'
        with open(path, 'w') as f:
            f.write(JUNIT)
        self.assertEqual(suites.from_xml(path),
                         {'a': 'ok', 'b': 'skipped', 'c': 'FAIL', 'd': 'FAIL'})
        with open(path, 'w') as f:
            f.write(JUNIT[:60])
        self.assertEqual(suites.from_xml(path), {})

    def test_text(self):
        said = 'test_x (test.t.C.test_x)\nof a thing ... ok\n'
        self.assertEqual(suites.from_text('test_x (test.t.C.test_x) ... ERROR\n'),
                         {'test.t.C.test_x': 'FAIL'})
        self.assertEqual(suites.from_text(said), {})

    def test_limit(self):
        for limit in 0.5, 5, 50:  # a busy machine may take its time to say the first word
            status, said = suites.execute(['/bin/sh', '-c', 'echo a ok; sleep 600'], self.folder,
                                          {}, limit)
            self.assertIsNone(status)
            if said:
                break
        self.assertEqual(said, 'a ok\n')

    def test_posix(self):
        interface = os.path.join(self.folder, 'conformance/interfaces/sem_wait')
        os.makedirs(interface)
        begin = '#include <stdlib.h>\n#include <unistd.h>\nint main(void) { return '
        for name, text in (('1-1.c', begin + '3; }'),
                           ('1-2.c', begin + 'getenv("LD_PRELOAD") ? 1 : 0; }'),
                           ('1-3.c', begin + 'rand() || !getpid(; }'),
                           ('part.c', begin + '4; }')):
            with open(os.path.join(interface, name), 'w') as f:
                f.write(text)
        found = [posix_suite.judged(path, self.folder, '/nowhere.so')
                 for path in posix_suite.sources(self.folder, 'pthread_*,sem_*')]
        self.assertEqual([said[:2] for said in found],
                         [('sem_wait/1-1', 'same'), ('sem_wait/1-2', 'different'),
                          ('sem_wait/1-3', 'not built')])
        self.assertIn('plainly ' + ', '.join(21 * ['0']) + '; under the module 1, 1, 1, 1, 1', found[1][2])
        self.assertEqual(list(posix_suite.sources(self.folder, 'mq_*')), [])


if __name__ == '__main__':
    brief.main()
