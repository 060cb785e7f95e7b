#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Build a fuzz target and run it: so many inputs from a fixed seed, the same in every run.

Usage: run.py [--runs N] [--length N] [--include DIR]... [--flag=FLAG]... TARGET SOURCE...
TARGET is the name of a file beside this one and of a folder in corpus/. With
IW_STRESS_SECONDS in the environment it runs for so long, from a seed of its own.
Exit status: 0 nothing was found, 1 something was, 77 there is no clang with libFuzzer.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CHECKS = '-fsanitize=fuzzer,address,undefined'
FLAGS = ['-std=gnu11', '-D_GNU_SOURCE', '-g', '-O1', '-Wall', '-Wextra', '-Werror', CHECKS,
         '-fno-sanitize-recover=all']


def can_fuzz(clang, folder):
    """True if it links the smallest of all targets."""
    path = os.path.join(folder, 'smallest.c')
    with open(path, 'w', encoding='ascii') as f:
        f.write('int LLVMFuzzerTestOneInput(void) { return 0; }\n')
    return subprocess.run([clang, CHECKS, path, '-o', os.path.join(folder, 'smallest')],
                          check=False, stderr=subprocess.DEVNULL).returncode == 0


def build(clang, args, folder):
    program = os.path.join(folder, args.target)
    includes = ['-I' + d for d in args.include]
    # Flags may name libraries, which come after what needs them.
    subprocess.run([clang, *FLAGS, os.path.join(HERE, args.target + '.c'), *args.source,
                    *args.flag, *includes, '-o', program], check=True)
    return program


def effort(runs):
    seconds = os.environ.get('IW_STRESS_SECONDS')
    return ['-max_total_time=' + seconds] if seconds else ['-seed=1', f'-runs={runs}']


def run(program, args, folder):
    """What it finds on its way goes into the first folder, so not into the corpus."""
    found = os.path.join(folder, 'found')
    os.mkdir(found)
    bad = os.path.join(os.getcwd(), f'fuzz-{args.target}-')
    env = {k: v for k, v in os.environ.items() if not k.startswith('IPCWAIT_')}
    # The leak sanitizer needs rights that containers withhold. Targets of what owns memory count it.
    env.update(ASAN_OPTIONS='detect_leaks=0', IPCWAIT_CALIBRATION='none', TMPDIR=folder)
    return subprocess.run([program, *effort(args.runs), f'-max_len={args.length}', '-timeout=10',
                           '-artifact_prefix=' + bad, '-print_final_stats=1', found,
                           os.path.join(HERE, 'corpus', args.target)],
                          check=False, env=env, stderr=subprocess.STDOUT).returncode


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--runs', type=int, default=10000)
    parser.add_argument('--length', type=int, default=20000, help='of the longest input')
    parser.add_argument('--include', action='append', default=[])
    parser.add_argument('--flag', action='append', default=[], help='for the compiler')
    parser.add_argument('target')
    parser.add_argument('source', nargs='+')
    args = parser.parse_args()
    clang = shutil.which('clang')
    with tempfile.TemporaryDirectory(prefix='ipcwait-fuzz-') as folder:
        if not clang or not can_fuzz(clang, folder):
            print('skipped: no clang with libFuzzer; on Debian: clang, libclang-rt-dev')
            return 77
        return 1 if run(build(clang, args, folder), args, folder) else 0


if __name__ == '__main__':
    sys.exit(main())
