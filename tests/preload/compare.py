#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One program plainly and under the preload module: it must say the same and end in the same way.

    compare.py [--runs N] [--fd] [--with LIBRARY] MODULE PROGRAM [ARGUMENT...]

With --fd the module is in front of descriptors too. Each policy has its runs, and all are compared
with the first plain one. With --with the program runs beside that library, which is preloaded in
front of the module, behind it, and alone. Exit status 77 where the module or the library is not
there, or the program says so plainly. On failure the last line is the command that repeats the comparison alone.
"""
import argparse
import difflib
import os
import shlex
import subprocess
import sys

SKIPPED = 77
PATIENCE_S = 300        # more than the programs' own limit (WATCHDOG_S)
LINES_MOST = 40
POLICIES = (
    {},
    {'IPCWAIT_POLICY': 'spin', 'IPCWAIT_MAX_SPIN_US': '100000'},
    {'IPCWAIT_POLICY': 'block'},
)


def run(command, preload, policy):
    """What it wrote and how it ended, as lines."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(('IPCWAIT_', 'LD_PRELOAD'))}
    env.update(policy, IPCWAIT_CALIBRATION='none')
    if preload:
        env['LD_PRELOAD'] = ':'.join(preload)
    try:
        r = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True,
                           text=True, errors='replace', timeout=PATIENCE_S)
    except subprocess.TimeoutExpired as e:
        return [*(e.stdout or b'').decode(errors='replace').splitlines(), 'does not end']
    said = r.stdout.splitlines() + [f'stderr: {line}' for line in r.stderr.splitlines()]
    return [*said, f'exit status: {r.returncode}']


def brief(lines):
    """At most LINES_MOST of them, none longer than 300 characters."""
    more = [f'... {len(lines) - LINES_MOST} lines more'] if len(lines) > LINES_MOST else []
    return [line[:300] for line in lines[:LINES_MOST]] + more


def fail(why):
    print(why)
    sys.exit(f'repeat: python3 {shlex.join(sys.argv)}')


def differs(plain, other, what, seen):
    """Prints how; what was seen already, only by whom."""
    if plain == other:
        return False
    diff = list(difflib.unified_diff(plain, other, 'plainly', n=2, lineterm=''))[2:]
    if diff in seen:
        print(f'--- {what}: like {seen.index(diff) + 1}')
        return True
    seen.append(diff)
    print('\n'.join([f'--- {what} ({len(seen)}):', *brief(diff)]))
    return True


def preloads(module, beside):
    """Names and libraries, in the order of LD_PRELOAD."""
    if not beside:
        return (('the module', [module]),)
    return (('the other alone', [beside]), ('module, other', [module, beside]),
            ('other, module', [beside, module]))


def loads(library):
    """Whether the loader finds it: it says so on standard error where it does not."""
    env = dict(os.environ, LD_PRELOAD=library)
    r = subprocess.run(['/bin/true'], env=env, capture_output=True, text=True)
    return r.returncode == 0 and not r.stderr


def skip(why):
    print('skipped:', why)
    sys.exit(SKIPPED)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--runs', type=int, default=2)
    parser.add_argument('--fd', action='store_true')
    parser.add_argument('--with', dest='beside')
    parser.add_argument('module')
    parser.add_argument('command', nargs=argparse.REMAINDER)
    args = parser.parse_args()
    plain = run(args.command, [], {})
    if plain[-1] == f'exit status: {SKIPPED}':
        skip(plain[0])
    if plain[-1] != 'exit status: 0':
        # What failed is not always at the end.
        told = [line for line in plain[:-LINES_MOST // 2] if ', not ' in line or line.endswith(': NO')]
        print('\n'.join(brief(told[:LINES_MOST // 2] + plain[-LINES_MOST // 2:])))
        fail('the program fails plainly')
    seen = []
    bad = differs(plain, run(args.command, [], {}), 'a second plain run', seen)
    if not os.path.exists(args.module):
        fail('not the same twice') if bad else skip('the preload module is not built')
    if args.beside and not loads(args.beside):
        skip(f'{args.beside} is not there')
    runs = 0
    for name, preload in preloads(args.module, args.beside):
        for policy in ({**p, **({'IPCWAIT_FD': '1'} if args.fd else {})} for p in POLICIES):
            for k in range(args.runs):
                words = ' '.join(f'{k}={v}' for k, v in policy.items()) or 'no policy'
                what = f'{name}, {words}, run {k + 1}'
                bad += differs(plain, run(args.command, preload, policy), what, seen)
                runs += 1
    result = f'{len(plain)} lines, {runs} runs compared with the plain one, {bad} differ'
    if bad:
        fail(result)
    print(result)


if __name__ == '__main__':
    main()
