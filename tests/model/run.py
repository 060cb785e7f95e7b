#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check sem.pml in every shape, and that the check notices every mutant.

Usage: run.py [NAME ...]     only these rows; with one name, also the trace of its error
       run.py --part         all rows; if nothing has changed since tests/common/searched.tsv was
                             written, one row in ROWS_ONE_IN, chosen by the commit
       run.py --hash         what that ledger has of the model
       run.py --self-check   that a truncated search is not taken for a pass
IW_SEARCH=all in the environment: --part is all.
Exit status: 0 all as expected, 1 not, 77 spin is not installed.
"""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(HERE, '..', 'common'), os.path.join(HERE, '..', 'mutants')]

import ctext  # noqa: E402
import searched  # noqa: E402
from hashes import has_turn, this_commit  # noqa: E402

MODEL = os.path.join(HERE, 'sem.pml')
PASS, FAIL, NEITHER = 'correct', 'error', 'no result'
CC_FLAGS = ['-w', '-DCOLLAPSE', '-DNOFAIR', '-DMEMLIM=900']
DEPTH = 10000
ROWS_ONE_IN = 6

# What a shape leaves out. The names are explained in sem.pml.
PLAIN = dict(WAITERS=2, TIMED=0, ROUNDS=1, BARGES=0, POSTERS=1, POSTS=2, N=1, SPURIOUS=0,
             TIMERS=0, ROOM=4, KILLS=0, WHOM=0, MAY_LIE=0, TILL=0, BROKEN=0)

# The protocol in all it may meet. Must be correct.
SHAPES = {
    '2 waiters, 2 posts': dict(ENOUGH=1),
    '3 waiters, post_n 3': dict(ENOUGH=1, WAITERS=3, POSTS=1, N=3),
    '3 waiters, 3 posters': dict(ENOUGH=1, WAITERS=3, POSTERS=3, POSTS=1),
    'timed, barger, spurious': dict(TIMED=1, BARGES=1, POSTERS=2, SPURIOUS=1),
    '2 timed, 3 posts': dict(TIMED=2, BARGES=1, POSTS=3, SPURIOUS=1),
    'again and again, post_n 2': dict(ENOUGH=1, WAITERS=3, ROUNDS=2, BARGES=2, POSTERS=2, N=2),
    'spinner and barger, 5 posts': dict(ROUNDS=2, BARGES=2, POSTS=5, SPURIOUS=1),
    '4 waiters': dict(WAITERS=4, POSTERS=2),
    'timed sleeps': dict(ENOUGH=1, WAITERS=3, POSTERS=2, N=2, POSTS=1, TIMERS=3),
    'timed sleeps, timed, barger': dict(TIMED=1, BARGES=1, POSTERS=2, TIMERS=2, ROOM=2),
    'timed sleeps, killed anywhere': dict(WAITERS=2, BARGES=1, POSTERS=2, TIMERS=2, KILLS=1,
                                          WHOM=15, MAY_LIE='PER_WAKE'),
    'more waiters than fit': dict(WAITERS=2, TIMED=1, BARGES=1, POSTERS=2, ROOM=1),
    'never runs in circles': dict(CYCLES=1, TIMED=1, BARGES=1, POSTERS=2),
    'killed asleep or announced': dict(WAITERS=2, TIMED=1, ROUNDS=2, BARGES=1, POSTS=3,
                                       KILLS=2, WHOM=1),
    'killed but posters': dict(WAITERS=3, ROUNDS=2, BARGES=1, POSTS=3, KILLS=2, WHOM=7,
                               SPURIOUS=1, MAY_LIE='PER_DEATH'),
    'killed anywhere': dict(WAITERS=2, TIMED=1, BARGES=1, POSTERS=2, KILLS=2, WHOM=15,
                            MAY_LIE='PER_WAKE'),
    'killed poster, post_n 2': dict(WAITERS=3, ROUNDS=2, BARGES=1, N=2, KILLS=1, WHOM=15,
                                    MAY_LIE='PER_WAKE'),
    'killed woken or poster: a stale post': dict(WAITERS=3, BARGES=1, POSTERS=2, KILLS=1,
                                                 WHOM=11, MAY_LIE='ENDED', TILL=3),
    'killed spinner: the second post': dict(WAITERS=3, BARGES=1, POSTS=3, KILLS=2, WHOM=5,
                                            MAY_LIE='ENDED', TILL=2),
}

# What one would like to say about killed processes, and cannot. Must be an error.
CLAIMS = {
    'killed spinner: the next post wakes': dict(KILLS=1, WHOM=4, MAY_LIE='ENDED', TILL=1),
    'killed spinner: a stale post wakes': dict(WAITERS=3, BARGES=1, KILLS=1, WHOM=4,
                                               MAY_LIE='ENDED', TILL=3),
    'killed woken: the next post wakes': dict(BARGES=1, KILLS=1, WHOM=2, MAY_LIE='ENDED',
                                              TILL=1),
    'killed poster: a token per death': dict(WAITERS=1, POSTERS=2, POSTS=3, KILLS=1, WHOM=8,
                                             MAY_LIE='PER_DEATH'),
}

# One line of the code wrong: number in sem.pml, what is wrong where, shape. Must be an error.
WIDE = dict(TIMED=1, BARGES=1, POSTERS=2)
MUTANTS = {
    'take keeps wakes': (1, 'without_me(): no `w -= WAKE_ONE`', WIDE),
    'spinner that will not be woken': (2, 'mark_spinner(): no `sleepers(w) == SLEEPERS_MAX ||`',
                              dict(TIMED=1, ROOM=1)),
    'wakes below zero': (3, 'without_me(): no `&& wakes(w)`', WIDE),
    'futex compares sleepers': (4, 'settle(): the value to sleep on without WAKES', WIDE),
    'withdraw forgets the token': (5, 'withdraw(): no `if (take(me, &w))`', WIDE),
    'spinner counted twice': (6, 'mark_spinner(): no `me->sleeper ||`',
                              dict(WAITERS=3, BARGES=1, N=2)),
    'sleep without a look': (7, 'settle(): no `if (take(me, &w))`', WIDE),
    'sleep over wakes': (8, 'settle(): no `WAKES_MASK` in `asleep`', WIDE),
    'sleep over spinner': (9, 'settle(): no `SPINNER` in `asleep`', WIDE),
    'unpublished on the futex word': (10, 'sleep_unpublished(): sleeps on `me->futex`', dict(ROOM=1)),
    'fast post over sleepers': (11, 'ipcwait_sem_post_n(): no `(uint32_t)w == 0`', WIDE),
    'only new tokens': (12, 'wakes_due(): no `value(w) +`', WIDE),
    'no futex wake': (13, 'post_slow(): no `iw_waker_wake()`', WIDE),
    'one wake for n tokens': (14, 'post_slow(): wakes 1 for `due`', dict(N=2, POSTS=1)),
    'spinner takes all': (15, 'wakes_due(): `w & SPINNER` makes `left` 0',
                          dict(WAITERS=3, N=2)),
    'mark is not used up': (16, 'post_slow(): no `& ~SPINNER`',
                            dict(WAITERS=3, POSTS=3, KILLS=1, WHOM=4, MAY_LIE='ENDED', TILL=2)),
    'new wakes on stale ones': (17, 'post_slow(): `w` for `known` in `posted`', WIDE),
    'its own stamp is fresh': (18, 'post_slow(): asks iw_stamp_fresh() after iw_stamp()',
                               dict(WAITERS=1, BARGES=1, POSTERS=2, KILLS=1, WHOM=8,
                                    MAY_LIE='ENDED', TILL=3)),
    'stale wakes are not repeated': (19, 'post_slow(): `wakes_due(w, n)`', WIDE),
    'sleeps again uncounted': (20, 'withdraw(): no `me->sleeper = false`', dict(TIMERS=1)),
}


def run(command, cwd):
    return subprocess.run(command, cwd=cwd, encoding='utf-8', stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False).stdout


def verdict(out):
    """PASS needs a finished search: no other word of the verifier will do."""
    errors = re.search(r'errors: (\d+)', out)
    if not errors or 'Search not completed' in out and errors[1] == '0':
        return NEITHER
    if re.search(r'max search depth too small|out of memory|MEMLIM|hash-?table full|aborting', out):
        return NEITHER
    return PASS if errors[1] == '0' else FAIL


def check(shape, depth=DEPTH, trace=False):
    """Returns the verdict and the verifier's output; with @trace, its way to the error."""
    options = [f'-D{key}={value}' for key, value in {**PLAIN, **shape}.items()]
    quick = shape.get('BROKEN') or 'TILL' in shape
    cycles = 'CYCLES' in shape
    with tempfile.TemporaryDirectory() as cwd:
        shutil.copy(MODEL, cwd)
        log = run(['spin', *options, '-a', 'sem.pml'], cwd)
        log += run(['cc', '-O0' if quick else '-O1', *CC_FLAGS,
                    '-DNP' if cycles else '-DSAFETY', *(['-DBFS'] if trace else []),
                    '-o', 'pan', 'pan.c'], cwd)
        if not os.path.exists(os.path.join(cwd, 'pan')):
            return NEITHER, log
        out = run(['./pan', '-n', f'-m{depth}', *(['-l'] if cycles else [])], cwd)
        if trace and 'errors: 1' in out:
            out += run(['spin', *options, '-t', '-p', '-g', '-l', 'sem.pml'], cwd)
        return verdict(out), out


def number(pattern, out):
    found = re.search(pattern, out)
    return found[1] if found else '-'


def row(name, shape, want, trace=False):
    begin = time.monotonic()
    got, out = check(shape, trace=trace)
    seconds = time.monotonic() - begin
    states = number(r'(\d+) states, stored', out)
    depth = number(r'depth reached (\d+)', out)
    print(f'{name:38} {states:>9} {depth:>6} {seconds:8.1f}  {got}'
          f'{"" if got == want else ", EXPECTED " + want}', flush=True)
    if got == NEITHER or trace:
        print(out)
    return got == want


def rows(names):
    every = [(name, shape, PASS) for name, shape in SHAPES.items()]
    every += [(name, shape, FAIL) for name, shape in CLAIMS.items()]
    every += [(name, {**shape, 'BROKEN': n}, FAIL) for name, (n, _, shape) in MUTANTS.items()]
    return [r for r in every if not names or r[0] in names]


def hash_of_all():
    texts = [open(path, encoding='utf-8').read() for path in (MODEL, os.path.abspath(__file__))]
    return ctext.digest(*texts)


def rows_in_turn():
    """All rows, or a part of them if nothing has changed."""
    every = rows(())
    if not searched.is_known('sem.pml', hash_of_all()):
        return every
    commit = this_commit()
    print(f'the model has not changed: one row in {ROWS_ONE_IN}, chosen by {commit}')
    return [r for r in every if has_turn(r[0], ROWS_ONE_IN, commit)] or every[:1]


def main(names):
    if names == ['--hash']:
        print(hash_of_all())
        return 0
    if not shutil.which('spin') or not shutil.which('cc'):
        print('skipped: spin or cc is not installed')
        return 77
    if names == ['--self-check']:
        return 0 if check(SHAPES['2 waiters, 2 posts'], depth=10)[0] == NEITHER else 1
    chosen = rows_in_turn() if names == ['--part'] else rows(names)
    if not chosen:
        print('no such row:', *names)
        return 1
    print(f'{"configuration":38} {"states":>9} {"depth":>6} {"seconds":>8}  result')
    trace = len(chosen) == 1 and chosen[0][2] == FAIL
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = sum(not right for right in pool.map(lambda r: row(*r, trace=trace), chosen))
    print(f'{len(chosen)} rows, {wrong} not as expected')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
