#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""clang-tidy is silent about lib/: tidy.py ROOT BUILD. Skipped without clang-tidy.

Only what the build compiles is looked at, so files for other CPUs are left out. The static analyzer
takes 8 minutes of CPU time for all files. In scripts/check --deep (IW_STRESS_SECONDS is set) it looks at
the files that have changed, or include a header that has, since analyzed.tsv was written, and at one in
ANALYZED_ONE_IN of the rest, chosen by the commit. IW_SEARCH=all: at all. `tidy.py --write ROOT BUILD`
writes analyzed.tsv anew, as `scripts/check --nightly` does after all files have passed.
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

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / 'common'), str(HERE.parent / 'mutants')]

import failure  # noqa: E402
import source  # noqa: E402
from build import Build  # noqa: E402
from hashes import Hashes, has_turn, this_commit  # noqa: E402
from table import Sources  # noqa: E402

RULES = ('tidy.clang',)

WORKERS = 2
LEDGER = HERE / 'analyzed.tsv'
ANALYZED_ONE_IN = 20

WARNING = re.compile(r'^([^:\n]+):(\d+):\d+: (?:warning|error): (.*?)(?:,-warnings-as-errors)?\]$',
                     re.M)


# Of a build by gcc, what clang does not know; and liburcu's inline functions, where the analyzer takes
# it that the pointer to a thread's record is still NULL after the call that sets it.
FOREIGN = re.compile(r' -mmemset-strategy=\S+| -D_LGPL_SOURCE')


def compiled_files(tree, entries):
    """The files of lib/ in the compilation database, each once."""
    paths = {Path(os.path.realpath(Path(e['directory']) / e['file'])) for e in entries}
    return sorted(str(p) for p in paths if p.suffix == '.c' and tree.root / 'lib' in p.parents)


def hashes_of(root, build, files):
    """For each file, the hash of its tokens and of those of all that it includes."""
    made = Build(build, root)
    hashes = Hashes(made, Sources(root))
    includes = {}
    for name, thing in made.objects.items():
        path = os.path.realpath(made.folder / thing.source)
        includes.setdefault(path, set()).update(made.depends.get(name, ()))
    return {os.path.relpath(f, root): hashes.of_files(includes.get(f, ())) for f in files}


def write(root, build):
    entries = json.loads((Path(build) / 'compile_commands.json').read_text(encoding='utf-8'))
    rows = hashes_of(root, build, compiled_files(source.Tree(root), entries))
    LEDGER.write_text(''.join(f'{f}\t{h}\n' for f, h in sorted(rows.items())), encoding='utf-8')
    print(f'{len(rows)} files')


def analyzed(tree, build, files):
    """Those files that the analyzer looks at in this run."""
    # The ledger is of this tree; selftest.py has others.
    if os.environ.get('IW_SEARCH') == 'all' or not LEDGER.is_file() or tree.root != HERE.parent.parent:
        return files
    known = dict(line.split('\t') for line in LEDGER.read_text(encoding='utf-8').splitlines())
    now = hashes_of(tree.root, build, files)
    commit = this_commit()

    def is_chosen(name):
        return known.get(name) != now[name] or has_turn(name, ANALYZED_ONE_IN, commit)
    return [f for f in files if is_chosen(os.path.relpath(f, tree.root))]


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
        runs = run_side_by_side(program, database, files, tree, build)
    output = ''.join(run.stdout for run in runs)
    for path, line, text in sorted(set(WARNING.findall(output))):
        where = os.path.realpath(Path(build) / path)
        tree.add('tidy.clang', os.path.relpath(where, tree.root), int(line), text + ']')
    if any(run.returncode for run in runs) and not tree.findings:
        tree.add('tidy.clang', '.clang-tidy', 1,
                 failure.cut((output + ''.join(run.stderr for run in runs)).strip()))
    return len(files), 'compiled files of lib/'


def run_side_by_side(program, database, files, tree, build):
    """A process for each file, one on each of two CPUs."""
    if os.environ.get('IW_STRESS_SECONDS'):
        files, checks = analyzed(tree, build, files), []
        print(f'the analyzer looks at {len(files)} files')
    else:
        checks = ['--checks=-clang-analyzer-*']
    with ThreadPoolExecutor(WORKERS) as pool:
        return list(pool.map(lambda file: run_tidy(program, database, file, checks), files))


def run_tidy(program, database, file, checks):
    return subprocess.run([program, '-p', database, '--quiet', '--warnings-as-errors=*', *checks,
                           '--extra-arg=-Wno-unknown-warning-option',
                           '--extra-arg=-Wno-ignored-optimization-argument', file],
                          check=False, capture_output=True, encoding='utf-8')


if __name__ == '__main__':
    if sys.argv[1] == '--write':
        write(Path(sys.argv[2]).resolve(), sys.argv[3])
    else:
        source.main(check)
