#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prove that tests find mistakes: plant one mutant after the other in a copy of a source, and
expect the test that it names to fail.

    tests/mutants/run.py BUILD-DIRECTORY [OPTION]...

    (no option)     what scripts/check runs: mutants whose source or test has changed since the
                    ledger was written, and a twentieth of the rest, chosen by the commit
    --all           all of them
    --only TEXT     those with TEXT in the name or in the place, changed or not
    --write         write the results into the ledger
    --locate        run nothing: does every mutant find its place in the sources?
    --follow        write today's names into the lists, after a rename
    --plant NAME    write the mutant of that name into the sources themselves, to see what a check
                    says of it; git restores them
    --jobs N        side by side (default: as many as there are CPUs)

The mutants are in *.txt beside this file; table.py says how they are written. ledger.tsv holds for
each the test that found it and a hash of what decides that: the tokens of the source, of the test
and of the mutant. A program is first built in the same way without a mutant, and must pass.
Exit status: 0 all were found, 1 not, 2 wrong arguments.
"""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True

import ctext  # noqa: E402
import table  # noqa: E402
from build import Build, BuildError  # noqa: E402
from hashes import Hashes, has_turn, this_commit  # noqa: E402

LEDGER = table.FOLDER / 'ledger.tsv'
ONE_IN = 20
CPU_SECONDS_MOST = 120     # of a program with a mutant in it; an endless loop ends here
SECONDS_MOST = 1800        # the same on a machine that does something else
CONTROL_PERCENT = '1'      # of the executions in which a mutant may be found
SEEDS = 1, 2, 3            # what one sequence of waits does not meet another does
FAILURES_MOST = 8
ROW = re.compile(r'^(.*?) +\d  (\w+) +(\w+) +(\d+) +(\d+)')
FAILED = re.compile(r'^\[  FAILED  \] (\w+)$', re.MULTILINE)


def run(build, command, **env):
    """Exit status and output of a program; a status of None if it did not end."""
    usual = {k: v for k, v in os.environ.items() if not k.startswith(('IW_', 'IPCWAIT_'))}
    # It stands elsewhere, and does not find the library by itself.
    usual['LD_LIBRARY_PATH'] = str(build.folder / 'lib')
    bounded = ['sh', '-c', f'ulimit -t {CPU_SECONDS_MOST}; ulimit -c 0; exec "$@"', 'sh', *command]
    try:
        done = subprocess.run(bounded, check=False, env={**usual, **env}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=SECONDS_MOST)
    except subprocess.TimeoutExpired:
        return None, ''
    return done.returncode, done.stdout.decode(errors='replace')


class Interleavings:
    """Judges a program of tests/interleave: a search must end at an execution that fails."""
    flags = '-w',

    def control(self, build, program, mutants):
        status, out = run(build, [program, '--quiet', '--percent', CONTROL_PERCENT])
        rows = [row for row in map(ROW.match, out.splitlines()) if row and int(row[5])]
        missing = {m.test for m in mutants
                   if not any(m.test in row[1] and m.memory in row[2] for row in rows)}
        if status or missing:
            raise BuildError(f'fails without a mutant, or does not run: {sorted(missing)}\n'
                             + '\n'.join(out.splitlines()[-10:]))

    def judge(self, build, program, mutant):
        memory = ['--memory', mutant.memory] if mutant.memory else []
        status, out = run(build, [program, '--quiet', '--first', '--only', mutant.test, *memory])
        for line in out.splitlines():
            row = ROW.match(line)
            if status == 1 and row and not line.endswith('passes'):
                return f'{row[1]}, {row[2]}, {row[3]}: {line.rsplit("  ", 1)[1]}'
        return None


class UnitTests:
    """Judges a CMocka program: the test that is named must fail, with one of a few seeds."""
    flags = '-w', '-O1'

    @staticmethod
    def failed(build, program, **env):
        status, out = run(build, [program], **env)
        return FAILED.findall(out) or ([] if status == 0 else [f'exit status {status}'])

    def control(self, build, program, mutants):
        failed = self.failed(build, program, IW_TEST_SEED='1')
        if failed:
            raise BuildError(f'fails without a mutant: {", ".join(failed)}')

    def judge(self, build, program, mutant):
        tries = [{'IW_TEST_SEED': str(s), 'IW_TEST_ONLY': mutant.test} for s in SEEDS]
        for env in [*tries, {'IW_TEST_SEED': '1'}]:
            if mutant.test in self.failed(build, program, **env):
                return mutant.test
        return None


def judge_of(mutant):
    return Interleavings() if mutant.program.startswith('interleave_') else UnitTests()


class Ledger:
    """What was found by what, and when that has to be asked again."""

    def __init__(self):
        self.rows = {}
        if LEDGER.is_file():
            for number, line in enumerate(LEDGER.read_text(encoding='utf-8').splitlines(), 1):
                cells = line.split('\t')
                if len(cells) != 4:
                    raise SystemExit(f'{LEDGER.name}:{number}: not a row; restore the file, or write it '
                                     'with --all --write')
                self.rows[cells[0]] = cells[1], cells[2].split(), cells[3]

    def shapes(self):
        return {name: row[1] for name, row in self.rows.items()}

    def write(self, mutants):
        names = {m.name for m in mutants}
        lines = ['\t'.join([name, digest, ' '.join(shapes), found]) for name, (digest, shapes, found)
                 in sorted(self.rows.items()) if name in names]
        LEDGER.write_text('\n'.join(lines) + '\n', encoding='utf-8')


def of_mutant(hashes, mutant):
    """The hash of what decides whether a mutant is found."""
    edits = [w for e in mutant.edits for w in (*ctext.words(e.old), '=>', *ctext.words(e.new))]
    places = [hashes.sources.find(mutant, n).path for n in range(len(mutant.edits))]
    return ctext.digest(mutant.program, mutant.test, mutant.memory, *edits,
                        hashes.of_test(mutant.program), hashes.of_files(places))


def choose(args, mutants, ledger, hashes):
    """Those that are to be run, and why."""
    if args.all:
        return mutants, 'all'
    if args.only:
        return [m for m in mutants if args.only in m.name or
                any(args.only in f'{e.file}: {e.function}' for e in m.edits)], 'chosen by name'
    commit = this_commit()
    changed = [m for m in mutants
               if ledger.rows.get(m.name, ('',))[0] != of_mutant(hashes, m)]
    names = {m.name for m in changed}
    rest = [m for m in mutants if m.name not in names
            and has_turn(m.name, ONE_IN, commit)]
    return changed + rest, f'{len(changed)} have changed, {len(rest)} are one in {ONE_IN} of the ' \
        f'rest, chosen by {commit}'


def control(build, sources, program, mutants):
    """One program, built as with a mutant but without one. Returns what is wrong with that."""
    # A source if there is one: with a header all of a program is built again.
    files = {e.file for m in mutants for e in m.edits}
    files = sorted(f for f in files if f.endswith('.c')) or sorted(files)
    judge = judge_of(mutants[0])
    with tempfile.TemporaryDirectory(prefix='ipcwait-mutants-') as folder:
        try:
            judge.control(build, build.build(program, folder, {files[0]: sources.text(files[0])},
                                             judge.flags), mutants)
        except BuildError as error:
            return str(error)
    return ''


def check(build, sources, mutant):
    """Returns whether the mutant was found, and by what, or what was instead."""
    begin = time.monotonic()
    judge = judge_of(mutant)
    with tempfile.TemporaryDirectory(prefix='ipcwait-mutants-') as folder:
        try:
            found = judge.judge(build, build.build(mutant.program, folder, sources.changed(mutant),
                                                   judge.flags), mutant)
        except LookupError as error:
            return False, str(error), 0
        except BuildError as error:
            return False, f'does not build: {error}', 0
    return bool(found), found or 'NOT FOUND', time.monotonic() - begin


def complain(mutant, words, build):
    edits = ''.join(f'\n    {e.file}: {e.function}\n    - {e.old}\n    + {e.new}'
                    for e in mutant.edits)
    print(f'\n{mutant.name}: {words}{edits}\n    by {mutant.program}: {mutant.test}\n'
          f'    {mutant.where}; again: tests/mutants/run.py {os.path.relpath(build.folder)} '
          f'--only \'{mutant.name}\'')


def locate(mutants, sources):
    """Whether each mutant has a place, which is one."""
    lost = 0
    for mutant in mutants:
        try:
            sources.changed(mutant)
        except LookupError as error:
            lost += 1
            print(error)
    print(f'{len(mutants)} mutants, {lost} have no place')
    return 1 if lost else 0


def follow(mutants, sources):
    """Write the lists anew with today's names."""
    changed = [m for m in mutants if sources.follow(m)]
    for path in sorted({m.where.split(':')[0] for m in changed}):
        table.write_list(table.FOLDER / path, [m for m in mutants if m.where.startswith(f'{path}:')])
    print(f'{len(changed)} of {len(mutants)} mutants had other names')
    return 0


def plant(mutants, sources, name):
    """Write one mutant into the sources of this tree."""
    for mutant in mutants:
        if mutant.name == name:
            for file, text in sources.changed(mutant).items():
                (table.ROOT / file).write_text(text, encoding='utf-8')
                print(f'{file} has the mutant "{name}"; to be found by {mutant.program}: {mutant.test}')
            return 0
    print(f'no mutant is called "{name}"')
    return 2


def run_all(args, build, sources, chosen, ledger, hashes):
    """Run mutants. Returns those that were not found, with words."""
    missed = []
    programs = {}
    for m in chosen:
        programs.setdefault(m.program, []).append(m)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        wrong = [f'{p}: {words}' for p, words in zip(programs, pool.map(
            lambda p: control(build, sources, p, programs[p]), programs)) if words]
        if wrong:
            raise BuildError('\n'.join(['controls failed, so mutants prove nothing', *wrong]))
        for mutant, (found, words, seconds) in zip(chosen, pool.map(
                lambda m: check(build, sources, m), chosen)):
            print(f'{mutant.name:48} {seconds:5.1f} s  {words.splitlines()[0]}', flush=True)
            if found:
                shapes = [sources.shape(sources.find(mutant, n)) for n in range(len(mutant.edits))]
                ledger.rows[mutant.name] = of_mutant(hashes, mutant), shapes, words
            else:
                missed.append((mutant, words))
                # It is run again, and still survives a rename.
                _, shapes, _ = ledger.rows.get(mutant.name, ('', [], ''))
                ledger.rows[mutant.name] = '-', shapes, 'not found'
    return missed


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('build')
    for flag in ('all', 'write', 'locate', 'follow'):
        parser.add_argument(f'--{flag}', action='store_true')
    parser.add_argument('--only', default='')
    parser.add_argument('--plant', default='')
    parser.add_argument('--jobs', type=int, default=len(os.sched_getaffinity(0)))
    return parser.parse_args()


def main():
    args = arguments()
    mutants, ledger = table.read_all(), Ledger()
    sources = table.Sources(shapes=ledger.shapes())
    if args.locate:
        return locate(mutants, sources)
    if args.follow:
        return follow(mutants, sources)
    if args.plant:
        return plant(mutants, sources, args.plant)
    begin = time.monotonic()
    try:
        build = Build(args.build, table.ROOT)
        build.make({m.program for m in mutants})
        hashes = Hashes(build, sources)
        chosen, why = choose(args, mutants, ledger, hashes)
        if not chosen:
            print(f'no mutant has "{args.only}" in its name or place')
            return 2 if args.only else 0
        print(f'{len(chosen)} of {len(mutants)} mutants: {why}', flush=True)
        missed = run_all(args, build, sources, chosen, ledger, hashes)
    except (BuildError, LookupError, OSError) as error:
        print(f'tests/mutants/run.py: {error}')
        return 1
    if args.write:
        ledger.write(mutants)
    for mutant, words in missed[:FAILURES_MOST]:
        complain(mutant, words, build)
    if len(missed) > FAILURES_MOST:
        print('\nand: ' + ', '.join(m.name for m, _ in missed[FAILURES_MOST:])[:1000])
    print(f'{len(chosen)} of {len(mutants)} mutants, {len(missed)} not found, '
          f'{time.monotonic() - begin:.0f} s')
    return 1 if missed else 0


if __name__ == '__main__':
    sys.exit(main())
