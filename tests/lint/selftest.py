#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Proof that the rules can fail: selftest.py ROOT NM COMPILER...

fixture/ keeps all rules. Each case of selftest_cases.py breaks one of them in a copy, and
the rule has to report exactly that, on that line. Every identifier of every rule needs a
case. The rules that look at built things (exports, tidy) get something built.
"""
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from selftest_cases import CASES, SPDX

HERE = Path(__file__).resolve().parent
ROOT, NM, COMPILER = Path(sys.argv[1]).resolve(), sys.argv[2], sys.argv[3:]
NEED_BUILD = ('exports', 'tidy')
MODULES = sorted(p.stem for p in HERE.glob('*.py')
                 if re.search(r'^RULES = ', p.read_text(encoding='utf-8'), re.M))


def run_rule(module, tree, *arguments, **environment):
    """(exit status, [(where, rule)], output)."""
    run = subprocess.run([sys.executable, HERE / f'{module}.py', tree, *map(str, arguments)],
                         capture_output=True, encoding='utf-8', env={**os.environ, **environment})
    found = re.findall(r'^(\S+:\d+): .* \[([a-z]+\.[a-z]+)\]$', run.stdout, re.M)
    return run.returncode, found, run.stdout + run.stderr


def locate(tree, where):
    """`path:line` for `path@text`, the first line with this text."""
    path, _, text = where.partition('@')
    if not text:
        return where
    before, found, _ = (tree / path).read_text(encoding='utf-8').partition(text)
    assert found, f'{path} has no {text}'
    return f'{path}:{before.count(chr(10)) + 1}'


def apply(tree, edits):
    for path, old, new in edits:
        file = tree / path
        if new is None:
            file.unlink()
            continue
        if old is not None:
            text = file.read_text(encoding='utf-8')
            assert text.count(old) == 1, f'{path} has {text.count(old)} times: {old}'
            new = text.replace(old, new)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(new.encode())


class SelfTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree = Path(folder.name) / 'tree'
        shutil.copytree(HERE / 'fixture', self.tree)
        for name in ('.clang-format', '.clang-tidy'):
            shutil.copy(ROOT / name, self.tree)

    def expect(self, want, result):
        status, found, output = result
        self.assertEqual(status, 1, output)
        self.assertEqual(set(found), {want}, output)

    def test_fixture_is_clean(self):
        for module in MODULES:
            if module not in NEED_BUILD:
                with self.subTest(module):
                    status, found, output = run_rule(module, self.tree)
                    self.assertIn(status, (0, 77), output)
                    self.assertEqual(found, [])

    def test_nothing_to_check_is_a_failure(self):
        empty = self.tree / 'empty'
        empty.mkdir()
        for module in MODULES:
            if module not in NEED_BUILD:
                with self.subTest(module):
                    self.assertIn(run_rule(module, empty)[0], (1, 77))

    def test_missing_tools_skip(self):
        for module, arguments in (('format', ()), ('tidy', (self.tree,))):
            with self.subTest(module):
                self.assertEqual(run_rule(module, self.tree, *arguments, PATH='')[0], 77)

    def test_every_rule_has_a_case(self):
        declared = {rule for m in MODULES for rule in importlib.import_module(m).RULES}
        built = {rule for m in NEED_BUILD for rule in importlib.import_module(m).RULES}
        self.assertEqual(declared - built, {case[0] for case in CASES})

    def exports(self, symbols, internal='iw_internal', also=''):
        """Build both libraries with these symbols, export `also`, and run the rule over them."""
        c, o, script = self.tree / 'x.c', self.tree / 'x.o', self.tree / 'x.map'
        so = self.tree / 'x.so'
        listed = (self.tree / 'lib/libipcwait.map').read_text(encoding='utf-8')
        script.write_text(listed.replace('local:', f'{also}local:'), encoding='utf-8')
        c.write_text(''.join(f'int {name};\n' for name in (*symbols, internal)), encoding='utf-8')
        subprocess.run([*COMPILER, '-fPIC', '-c', c, '-o', o], check=True)
        subprocess.run([*COMPILER, '-shared', f'-Wl,--version-script={script}', o, '-o', so],
                       check=True)
        return run_rule('exports', self.tree, NM, so, o)

    def test_exports(self):
        slow, *rest = 'ipcwait_impl_sem_wait_slow', 'ipcwait_sem_fini', 'ipcwait_sem_wait'
        start = 'lib/libipcwait.map:1'
        self.assertEqual(self.exports([slow, *rest], 'ipcwait_hidden')[0], 0)
        self.expect(('lib/libipcwait.map:4', 'exports.missing'), self.exports(rest))
        self.expect((start, 'exports.extra'), self.exports([slow, *rest], also='iw_internal;'))
        self.expect((start, 'exports.prefix'), self.exports([slow, *rest], 'hidden'))

    def tidy(self, text):
        """Run clang-tidy over lib/engine/wait.c with this text."""
        (self.tree / 'lib/engine/wait.c').write_text(SPDX + text, encoding='utf-8')
        entry = {'directory': str(self.tree), 'file': 'lib/engine/wait.c',
                 'command': 'cc -Ilib -Iinclude -c lib/engine/wait.c'}
        (self.tree / 'compile_commands.json').write_text(json.dumps([entry, entry]), encoding='utf-8')
        return run_rule('tidy', self.tree, self.tree)

    def test_tidy(self):
        if not shutil.which('clang-tidy'):
            self.skipTest('no clang-tidy')
        where = ('lib/engine/wait.c:4', 'tidy.clang')
        self.assertEqual(self.tidy('\nint iw_f(int a);\nint iw_f(int a) { return a; }\n')[0], 0)
        self.expect(where, self.tidy('\n\nint iw_f(int a) { if (a == 1); return a; }\n'))
        self.expect(where, self.tidy('\n\nint iw_F(void) { return 0; }\n'))
        self.expect(where, self.tidy('\n\nint iw_f(int a, int b, int c, int d, int e, int f, int g,'
                                     ' int h) { return a + b + c + d + e + f + g + h; }\n'))
        self.expect(('lib/engine/wait.c:2', 'tidy.clang'), self.tidy('#include "gone.h"\n'))


def add_case(number, rule, where, edits):
    """One test method per case."""
    module = rule.split('.')[0]

    def test(self):
        apply(self.tree, edits)
        result = run_rule(module, self.tree)
        if result[0] == 77:
            self.skipTest(result[2].strip())
        self.expect((locate(self.tree, where), rule), result)

    setattr(SelfTest, f'test_{number:03}_{rule.replace(".", "_")}', test)


for number, (rule, where, *edits) in enumerate(CASES):
    add_case(number, rule, where, edits)

if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
