#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Build a fuzz target and run it over a number of inputs from a fixed seed, the same in every run.

Usage: run.py TARGETS TARGET
       run.py TARGETS --hash     for each target what tests/common/searched.tsv has of it

TARGETS is a file that meson.build writes. A line "target=NAME" begins a target, and an argument a line
follows: [--runs N] [--length N] [--include DIR]... [--flag=FLAG]... NAME SOURCE...
NAME is a file beside this one and a folder in corpus/. IW_STRESS_SECONDS=N runs the target for N seconds
from a new seed, IW_FUZZ_INPUT=FILE runs it over this one input. A target that has not changed since
searched.tsv was written runs one input in INPUTS_FEWER; IW_SEARCH=all: all.
Exit status: 0 nothing was found, 1 something was, 77 there is no clang with libFuzzer.
"""
import argparse
import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = [os.path.join(HERE, '..', '..', name) for name in ('cli', 'tools')]
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(HERE, '..', 'common'), os.path.join(HERE, '..', 'mutants')]

import failure  # noqa: E402
import searched  # noqa: E402

CHECKS = '-fsanitize=fuzzer,address,undefined'
FLAGS = ['-std=gnu11', '-D_GNU_SOURCE', '-g', '-O1', '-Wall', '-Wextra', '-Werror', CHECKS,
         '-fno-sanitize-recover=all']
INPUTS_FEWER = 4


class Found(Exception):
    """A fault of what is tested."""


def can_fuzz(clang, folder):
    """True if it links the smallest of all targets."""
    path = os.path.join(folder, 'smallest.c')
    with open(path, 'w', encoding='ascii') as f:
        f.write('int LLVMFuzzerTestOneInput(void) { return 0; }\n')
    return subprocess.run([clang, CHECKS, path, '-o', os.path.join(folder, 'smallest')],
                          check=False, stderr=subprocess.DEVNULL).returncode == 0


def call(command, what, **options):
    """What the command prints; Found with a part of it if the command fails."""
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          encoding='utf-8', errors='replace', **options)
    if done.returncode:
        raise Found(f'{failure.cut(done.stdout)}\n{what}: exit status {done.returncode}')
    return done.stdout


def digest(*texts):
    return hashlib.sha256(b'\0'.join(texts)).hexdigest()[:16]


def read(path):
    with open(path, 'rb') as f:
        return f.read()


def headers_digest(folders):
    """A hash of all headers that a source may include."""
    paths = sorted(os.path.join(top, name) for folder in folders
                   for top, _, names in os.walk(folder) for name in names if name.endswith('.h'))
    top = os.path.join(HERE, '..', '..')
    return digest(*(part for path in paths
                    for part in (os.path.relpath(path, top).encode(), read(path))))


def header_folders(args):
    """What a source may include from: the folders of the command line, and those of the sources."""
    tops = [*args.include, HERE]
    beside = {os.path.dirname(source) for source in args.source}
    return [*tops, *sorted(d for d in beside
                           if not any((d + os.sep).startswith(top + os.sep) for top in tops))]


def hash_of(args):
    """A hash of all that decides what a target does with its inputs."""
    corpus = os.path.join(HERE, 'corpus', args.target)
    paths = [os.path.join(HERE, args.target + '.c'), *args.source,
             *sorted(os.path.join(corpus, name) for name in os.listdir(corpus))]
    here = os.path.normpath(os.path.join(HERE, '..', '..')).encode()
    flags = [f.encode().replace(here, b'') for f in (*args.flag, str(args.runs), str(args.length))]
    return digest(headers_digest(header_folders(args)).encode(), *flags, *map(read, paths))


def object_of(clang, source, flags, folder, headers):
    """Compile a source, unless a target has done so with these flags. Returns the object."""
    key = digest(source.encode(), read(source), *(flag.encode() for flag in flags))
    target = os.path.join(folder, f'{headers}-{key}.o')
    if not os.path.exists(target):
        # Another target may do the same now: the name appears with the whole file.
        made = f'{target}.{os.getpid()}'
        call([clang, *flags, '-c', source, '-o', made], f'compiling {os.path.basename(source)}')
        os.replace(made, target)
    return target


def build(clang, args, folder):
    program = os.path.join(folder, args.target)
    objects = os.path.join(args.build, 'tests', 'fuzz', 'objects')
    os.makedirs(objects, exist_ok=True)
    # The same for all targets, which share objects.
    headers = headers_digest([*args.include, HERE, *PROGRAMS])
    for name in os.listdir(objects):
        if not name.startswith(headers):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(objects, name))
    # Flags may name libraries, which come after what needs them.
    flags = [f for f in args.flag if not f.startswith(('-l', '-Wl,'))]
    compile_flags = [*FLAGS, *flags, *('-I' + d for d in args.include)]
    made = [object_of(clang, s, compile_flags, objects, headers)
            for s in (os.path.join(HERE, args.target + '.c'), *args.source)]
    call([clang, *FLAGS, *made, *args.flag, '-o', program], f'linking fuzz target {args.target}')
    return program


def inputs(args, folder):
    """What libFuzzer runs over: one input, or what it makes of the corpus."""
    one = os.environ.get('IW_FUZZ_INPUT')
    if one:
        return [os.path.abspath(one)]
    seconds = os.environ.get('IW_STRESS_SECONDS')
    runs = args.runs // INPUTS_FEWER if searched.is_known('fuzz ' + args.target, hash_of(args)) else args.runs
    effort = ['-max_total_time=' + seconds] if seconds else ['-seed=1', f'-runs={runs}']
    # What the fuzzer finds on its way goes into the first folder, so not into the corpus.
    found = os.path.join(folder, 'found')
    os.mkdir(found)
    return [*effort, found, os.path.join(HERE, 'corpus', args.target)]


def run(program, args, folder):
    bad = os.path.join(os.getcwd(), f'fuzz-{args.target}-')
    env = {k: v for k, v in os.environ.items() if not k.startswith('IPCWAIT_')}
    # The leak sanitizer needs rights that containers withhold. Targets of what owns memory count it.
    env.update(ASAN_OPTIONS='detect_leaks=0', IPCWAIT_CALIBRATION='none', TMPDIR=folder)
    print(call([program, f'-max_len={args.length}', '-timeout=100', '-artifact_prefix=' + bad,
                '-print_final_stats=1', *inputs(args, folder)], f'fuzz target {args.target}', env=env))


def all_targets(path):
    """For each target the lines that follow "target=NAME" in the file of targets."""
    with open(path, encoding='utf-8') as f:
        parts = f.read().split('target=')
    return {lines[0]: lines[1:] for lines in (part.splitlines() for part in parts[1:])}


def arguments(path, name):
    listed = all_targets(path)
    if name not in listed:
        sys.exit(failure.narrow(f'no target {name!r}; there are: {" ".join(sorted(listed))}'))
    return listed[name]


def parsed(path, lines):
    parser = argparse.ArgumentParser()
    parser.add_argument('--runs', type=int, default=10000)
    parser.add_argument('--length', type=int, default=20000, help='of the longest input')
    parser.add_argument('--include', action='append', default=[])
    parser.add_argument('--flag', action='append', default=[], help='for the compiler')
    parser.add_argument('target')
    parser.add_argument('source', nargs='+')
    args = parser.parse_args(lines)
    # The build directory is two folders up: ninja wrote the file there.
    args.build = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(path)), '..', '..'))
    args.source = [os.path.normpath(os.path.join(args.build, name)) for name in args.source]
    return args


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    path, name = sys.argv[1:]
    if name == '--hash':
        for target, lines in sorted(all_targets(path).items()):
            print(f'fuzz {target}\t{hash_of(parsed(path, lines))}')
        return 0
    args = parsed(path, arguments(path, name))
    clang = shutil.which('clang')
    with tempfile.TemporaryDirectory(prefix='ipcwait-fuzz-') as folder:
        if not clang or not can_fuzz(clang, folder):
            print('skipped: no clang with libFuzzer; on Debian: clang, libclang-rt-dev')
            return 77
        try:
            run(build(clang, args, folder), args, folder)
        except Found as e:
            print(e)
            print(failure.again('python3', os.path.abspath(sys.argv[0]), os.path.abspath(path), name))
            print('over one input alone, which "Test unit written to" names: set IW_FUZZ_INPUT=FILE')
            return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
