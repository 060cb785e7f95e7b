#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The programs of the Open POSIX test suite, plainly and under the preload module: each must end
with the same exit status.

    posix_suite.py MODULE FOLDER [--only NAMES] [--jobs N]

FOLDER is the unpacked suite: apt-get source posixtestsuite, and what is in the archive. Its own
licence is not this project's, so it is not in the repository. NAMES are its interfaces, with commas,
and there are * and ?: what has threads, semaphores, signals, timers, clocks or queues is the default.

Each program runs plainly, under the module, and with windows of 0.1 s. Where a status differs all
three are repeated four times. A program that twice ends as it never did plainly, and does not in
sixteen plain runs more, is different, else unsteady. Those that set the clock of the day need root,
and run one at a time, when the others are done. Exit status: 1 where a program is different or none
could be built, 2 for bad input.
"""
import argparse
import concurrent.futures
import fnmatch
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

import suites

REPEATS = 4
CONFIRMATIONS = 16
PATIENCE_S = 90
ENDLESS = 'does not end'
INTERFACES = (
    'pthread_*,sem_*,fork,kill,raise,sig*,nanosleep,clock_*,timer_*,aio_*,lio_listio,mq_*,mmap,'
    'munmap,shm_open')
WAYS = (
    ('plainly', None),
    ('under the module', {}),
    ('spinning', {'IPCWAIT_POLICY': 'spin', 'IPCWAIT_MAX_SPIN_US': '100000'}),
)


def sources(folder, only):
    """The programs of the interfaces that are asked for; parts of others are not named by numbers."""
    for path in sorted(glob.glob(os.path.join(folder, 'conformance/interfaces/*/*.c'))):
        interface, name = path.split(os.sep)[-2:]
        if re.fullmatch(r'\d+-\d+\.c', name) and any(
                fnmatch.fnmatch(interface, pattern) for pattern in only.split(',')):
            yield path


def sets_the_clock(source):
    with open(source, encoding='utf-8', errors='replace') as f:
        return 'clock_settime(' in f.read()


def ending(program, where, module, settings):
    extra = {} if settings is None else {**settings, 'LD_PRELOAD': module}
    status, _ = suites.execute([program], where, extra, PATIENCE_S)
    return ENDLESS if status is None else status


def apart(ends):
    return any(sum(end not in ends[0] for end in e) > 1 for e in ends[1:])


def judged(source, include, module):
    """Its name and 'same', 'unsteady', 'different' or 'not built', with the statuses that it had."""
    name = '/'.join(source.split(os.sep)[-2:])[:-2]
    with tempfile.TemporaryDirectory() as where:
        program = os.path.join(where, 'program')
        built = subprocess.run(
            ['cc', '-w', '-std=gnu99', '-D_GNU_SOURCE', '-I', include, '-o', program, source,
             '-pthread', '-lrt', '-lm'], capture_output=True, check=False)
        if built.returncode:
            return name, 'not built', ''
        ends = [[ending(program, where, module, settings)] for _, settings in WAYS]
        if all(e == ends[0] for e in ends):
            return name, 'same', ''
        for _ in range(REPEATS):
            for seen, (_, settings) in zip(ends, WAYS):
                seen.append(ending(program, where, module, settings))
        if apart(ends):
            ends[0] += [ending(program, where, module, None) for _ in range(CONFIRMATIONS)]
    said = '; '.join(f'{way} {", ".join(map(str, seen))}' for seen, (way, _) in zip(ends, WAYS))
    return name, 'different' if apart(ends) else 'unsteady', said


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n', maxsplit=1)[0])
    parser.add_argument('module')
    parser.add_argument('folder')
    parser.add_argument('--only', default=INTERFACES, metavar='NAMES')
    parser.add_argument('--jobs', type=int, default=6, metavar='N', help='programs at a time (6)')
    a = parser.parse_args()
    a.module = os.path.abspath(a.module)
    if not suites.loads(a.module):
        parser.error(f'{a.module} is no module that the loader takes')
    a.sources = list(sources(a.folder, a.only))
    if not a.sources:
        parser.error(f'no such programs in {a.folder}')
    if a.jobs < 1:
        parser.error('--jobs takes 1 or more')
    if not shutil.which('cc'):
        parser.error('there is no C compiler (cc)')
    return a


def main():
    a = arguments()
    include = os.path.join(os.path.abspath(a.folder), 'include')
    alone = [source for source in a.sources if sets_the_clock(source)]
    count = {}
    for jobs, some in (a.jobs, [s for s in a.sources if s not in alone]), (1, alone):
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for name, verdict, said in pool.map(
                    lambda source: judged(os.path.abspath(source), include, a.module), some):
                count[verdict] = count.get(verdict, 0) + 1
                if said:
                    print(f'{name}: {verdict}: {said}', flush=True)
    print(', '.join(f'{n} {verdict}' for verdict, n in sorted(count.items())))
    return 1 if 'different' in count or set(count) == {'not built'} else 0


if __name__ == '__main__':
    sys.exit(main())
