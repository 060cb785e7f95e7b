#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""clang-tidy is silent about lib/: tidy.py ROOT BUILD. Skipped without clang-tidy.

Only what the build compiles is looked at, so files for other CPUs are left out. The static
analyzer takes two minutes, and has its turn in scripts/check --deep.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'common'))

import failure  # noqa: E402
import source  # noqa: E402

RULES = ('tidy.clang',)

WORKERS = 2

WARNING = re.compile(r'^([^:\n]+):(\d+):\d+: (?:warning|error): (.*?)(?:,-warnings-as-errors)?\]$',
                     re.M)


# Of a build by gcc, what clang does not know; and liburcu's inline functions, where the analyzer takes
# it that the pointer to a thread's record is still NULL after the call that sets it.
FOREIGN = re.compile(r' -mmemset-strategy=\S+| -D_LGPL_SOURCE')


def compiled_files(tree, entries):
    """The files of lib/ in the compilation database, each once."""
    paths = {Path(os.path.realpath(Path(e['directory']) / e['file'])) for e in entries}
    return sorted(str(p) for p in paths if p.suffix == '.c' and tree.root / 'lib' in p.parents)


def check(tree, build):
    program = shutil.which('clang-tidy')
    if not program:
        source.skip('no clang-tidy')
    entries = json.loads((Path(build) / 'compile_commands.json').read_text(encoding='utf-8'))
    files = compiled_files(tree, entries)
    if not files:
        return 0, 'compiled files of lib/'
    for entry in entries:
        entry['command'] = FOREIGN.sub('', entry['command'])
    with tempfile.TemporaryDirectory(prefix='tidy.') as database:
        Path(database, 'compile_commands.json').write_text(json.dumps(entries), encoding='utf-8')
        runs = run_side_by_side(program, database, files)
    output = ''.join(run.stdout for run in runs)
    for path, line, text in sorted(set(WARNING.findall(output))):
        where = os.path.realpath(Path(build) / path)
        tree.add('tidy.clang', os.path.relpath(where, tree.root), int(line), text + ']')
    if any(run.returncode for run in runs) and not tree.findings:
        tree.add('tidy.clang', '.clang-tidy', 1,
                 failure.cut((output + ''.join(run.stderr for run in runs)).strip()))
    return len(files), 'compiled files of lib/'


def run_side_by_side(program, database, files):
    """One process looks at its files one after the other: one for each of two CPUs."""
    parts = [files[i::WORKERS] for i in range(min(WORKERS, len(files)))]
    with ThreadPoolExecutor(WORKERS) as pool:
        return list(pool.map(lambda part: run_tidy(program, database, part), parts))


def run_tidy(program, database, files):
    fewer = [] if os.environ.get('IW_STRESS_SECONDS') else ['--checks=-clang-analyzer-*']
    return subprocess.run([program, '-p', database, '--quiet', '--warnings-as-errors=*', *fewer,
                           '--extra-arg=-Wno-unknown-warning-option',
                           '--extra-arg=-Wno-ignored-optimization-argument', *files],
                         capture_output=True, encoding='utf-8')


if __name__ == '__main__':
    source.main(check)
