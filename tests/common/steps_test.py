#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scripts/steps.py and disturb.py: what they say of what failed, and what depends on what."""
import contextlib
import importlib.util
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


steps = load(ROOT / 'scripts' / 'steps.py')

# Stands for meson: writes what the test says into the log that is asked for. A setup is a part of
# the log's name.
MESON = '''#!/bin/sh
setup=
while [ $# != 0 ]; do
    case $1 in
    --logbase) base=$2 ;;
    --setup) setup=-$2 ;;
    esac
    shift
done
mkdir -p "$FAKE_BUILD/meson-logs"
cat "$FAKE_LOG" >"$FAKE_BUILD/meson-logs/$base$setup.json"
exit "$FAKE_STATUS"
'''


class Folder(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix='ipcwait a b.')
        self.addCleanup(self.temporary.cleanup)
        self.folder = Path(self.temporary.name)
        steps.LOGS = self.folder

    def step(self, name, *command, **more):
        step = steps.Step(name, *command, **more)
        step.log = self.folder / f'{name}.log'
        return step

    def run_all(self, *some):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            status = steps.Runner(list(some)).run()
        return status, out.getvalue()


class Steps(Folder):
    def test_all_pass(self):
        status, out = self.run_all(self.step('one', 'true'), self.step('two', 'true'))
        self.assertEqual(status, 0)
        self.assertIn('2 passed, 0 failed, 0 skipped\n', out)

    def test_a_failure_says_how_to_repeat_it_in_few_lines(self):
        script = 'for i in $(seq 1000); do echo line $i; done; printf %050000d 0; exit 3'
        status, out = self.run_all(self.step('bad', 'sh', '-c', script, env={'A': 'b c'}))
        self.assertEqual(status, 1)
        self.assertIn("again: A='b c' sh -c ", out)
        self.assertLess(out.count('\n'), steps.LINES_MOST + 8)
        self.assertLess(max(map(len, out.splitlines())), 1000)
        self.assertIn('0 passed, 1 failed, 0 skipped\n', out)

    def test_what_needs_a_failed_step_is_not_run(self):
        first = self.step('first', 'false')
        file = self.folder / 'made'
        status, out = self.run_all(self.step('second', 'touch', file, after=[first]), first)
        self.assertEqual(status, 1)
        self.assertIn('not run: what it needs has failed', out)
        self.assertFalse(file.exists())

    def test_a_step_waits_for_another(self):
        file = self.folder / 'made'
        first = self.step('first', 'touch', file)
        status, _ = self.run_all(self.step('second', 'test', '-e', file, after=[first]), first)
        self.assertEqual(status, 0)

    def test_skipped(self):
        status, out = self.run_all(self.step('no', 'sh', '-c', 'echo skipped: no network; exit 77'))
        self.assertEqual(status, 3)
        self.assertIn('skipped: no network', out)
        self.assertIn('0 passed, 0 failed, 1 skipped\n', out)

    def test_a_program_that_is_not_there(self):
        status, out = self.run_all(self.step('no', '/nowhere/program'))
        self.assertEqual(status, 1)
        self.assertIn('/nowhere/program', out)

    def test_every_step_is_behind_what_it_needs(self):
        for part, make in steps.PARTS.items():
            some = make()
            self.assertEqual(len({s.name for s in some}), len(some), part)
            self.assertEqual(len({s.log for s in some}), len(some), part)
            for step in some:
                self.assertLessEqual(set(step.after), set(some))


class Tests(Folder):
    def run_tests(self, *tests, status=1, setup=''):
        (self.folder / 'bin').mkdir()
        meson = self.folder / 'bin' / 'meson'
        meson.write_text(MESON)
        meson.chmod(0o755)
        (self.folder / 'log').write_text(''.join(json.dumps(t) + '\n' for t in tests))
        build = steps.Build('gcc', str(self.folder / 'build'), suites=['unit'])
        step = steps.Tests('gcc', build, 'unit', setup=setup, env={
            'PATH': f'{self.folder}/bin:{os.environ["PATH"]}', 'FAKE_BUILD': str(self.folder / 'build'),
            'FAKE_LOG': str(self.folder / 'log'), 'FAKE_STATUS': str(status)})
        step.after = []
        step.log = self.folder / 'x.log'
        return self.run_all(step)

    @staticmethod
    def one(name, result, out='', status=0):
        return {'name': f'libipcwait:unit / {name}', 'result': result, 'stdout': out,
                'returncode': status, 'duration': 1}

    def test_a_failed_test(self):
        lines = '# IW_TEST_SEED=77\n' + 'x\n' * 500 + 'sem.c:7: failed: a == b\n'
        status, out = self.run_tests(self.one('good', 'OK'), self.one('a test', 'FAIL', lines, 1),
                                     setup='deep')
        self.assertEqual(status, 1)
        self.assertIn('unit / a test: FAIL, exit status 1', out)
        self.assertIn('sem.c:7: failed: a == b', out)
        self.assertRegex(out, r"again: .*IW_TEST_SEED=77 meson test .*--setup deep --suite unit 'a test'")
        self.assertLess(out.count('\n'), steps.LINES_MOST + 10)
        self.assertIn('1 passed, 1 failed, 0 skipped\n', out)

    def test_many_failed_tests(self):
        tests = [self.one(f't{i}', 'TIMEOUT', 'x\n' * 500, -9) for i in range(40)]
        status, out = self.run_tests(*tests)
        self.assertEqual(status, 1)
        self.assertLess(out.count('\n'), 2 * steps.LINES_MOST)
        self.assertIn('and: t6, t7', out)
        self.assertIn('0 passed, 40 failed, 0 skipped\n', out)

    def test_no_test_ran(self):
        status, out = self.run_tests(status=0)
        self.assertEqual(status, 1)
        self.assertIn('no test ran', out)

    def test_a_skipped_test_is_counted_and_says_why(self):
        status, out = self.run_tests(self.one('good', 'OK'), self.one('n', 'SKIP', 'skipped: no x'),
                                     status=0)
        self.assertEqual(status, 3)
        self.assertIn('skipped: no x', out)
        self.assertIn('1 passed, 0 failed, 1 skipped\n', out)


class Disturb(unittest.TestCase):
    def disturb(self, *words):
        done = subprocess.run([sys.executable, HERE / 'disturb.py', '--busy', '1', *words], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout

    def test_rounds(self):
        status, out = self.disturb('--times', '2', '--', 'true')
        self.assertEqual((status, out.splitlines()[-1]), (0, '2 of 2 rounds passed'))

    def test_a_round_that_fails_ends_them(self):
        status, out = self.disturb('--times', '9', '--', 'sh', '-c', 'seq 1000; exit 3')
        self.assertEqual((status, out.splitlines()[-1]), (1, '0 of 1 rounds passed'))
        self.assertIn('exit status 3', out)
        self.assertLess(out.count('\n'), 70)

    def test_the_program_is_stopped(self):
        # It ends when its clock has jumped by more than the shortest stop's half.
        program = 'import time\nt = time.monotonic()\nwhile time.monotonic() - t < 0.025:\n' \
                  ' t = time.monotonic()\n time.sleep(0.0001)\n'
        status, out = self.disturb('--times', '1', '--', sys.executable, '-c', program)
        self.assertEqual(status, 0)
        self.assertTrue(re.search(r'\d+ stops', out))

    def test_wrong_arguments(self):
        for words in ((), ('--times', 'x', '--', 'true'), ('--stop', 'x', '--', 'true')):
            self.assertEqual(self.disturb(*words)[0], 2)


if __name__ == '__main__':
    unittest.main()
