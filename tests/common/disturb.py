#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run tests again and again on a machine that gets in their way.

    tests/common/disturb.py [OPTION]... -- COMMAND [ARGUMENT]...
    tests/common/disturb.py [OPTION]... BUILD-DIRECTORY SUITE... [-- 'TEST NAME'...]

While a round runs, one process computes on each CPU, and another stops one process of the
command after the other, chosen at random, for 50 to 500 ms. A test whose verdict depends on the
product alone passes every round.

    --times N      rounds (default 30)
    --busy N       processes that compute (default: one for each CPU)
    --stop HOW     signal: SIGSTOP and SIGCONT (default)
                   freezer: a control group, which the tests cannot see; needs root
                   none: nothing is stopped
    --seed N       choices of the process that stops others (default: new, and printed)
    --jobs N       tests that meson runs side by side (default: as meson does)
    --keep-going   run all rounds, also after one has failed

A process that is traced or stopped already is left alone. Exit status: 0 all rounds passed,
1 a round failed, 2 wrong arguments.
"""
import argparse
import contextlib
import ctypes
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import threading
import time

STOP_SECONDS = 0.05, 0.5
PAUSE_SECONDS = 0.02, 0.3
LINES_MOST = 60
PR_SET_CHILD_SUBREAPER = 36
PASSED = re.compile(r' *\d+/\d+ .* (OK|SKIP) ')


def parents():
    """The parent and the state of every process."""
    found = {}
    for name in os.listdir('/proc'):
        if not name.isdigit():
            continue
        try:
            with open(f'/proc/{name}/stat', encoding='utf-8', errors='replace') as f:
                words = f.read().rpartition(')')[2].split()
        except OSError:
            continue
        found[int(name)] = int(words[1]), words[0]
    return found


def descendants(root, spared):
    """The processes below @root that run or sleep, without those that are @spared."""
    known = parents()
    children = {}
    for pid, (parent, state) in known.items():
        children.setdefault(parent, []).append((pid, state))
    found, left = [], [root]
    while left:
        for pid, state in children.get(left.pop(), []):
            left.append(pid)
            if state in 'RSD' and pid not in spared:
                found.append(pid)
    return found


def is_traced(pid):
    try:
        with open(f'/proc/{pid}/status', encoding='utf-8', errors='replace') as f:
            return 'TracerPid:\t0\n' not in f.read()
    except OSError:
        return True


class Signals:
    """Stops a process so that its parent can see it."""

    def stop(self, pid):
        os.kill(pid, signal.SIGSTOP)

    def go_on(self, pid):
        os.kill(pid, signal.SIGCONT)

    def end(self):
        pass


class Freezer:
    """Stops a process by a control group of its own (version 2)."""

    def __init__(self):
        root = next((w[1] for w in map(str.split, open('/proc/self/mounts', encoding='utf-8'))
                     if w[2] == 'cgroup2'), None)
        if not root:
            raise OSError('there is no control group of version 2')
        self.folder = f'{root}/ipcwait-disturb-{os.getpid()}'
        self.before = {}
        self.root = root
        os.mkdir(self.folder)
        self.write(f'{self.folder}/cgroup.freeze', '1')

    @staticmethod
    def write(file, text):
        with open(file, 'w', encoding='utf-8') as f:
            f.write(text)

    def stop(self, pid):
        with open(f'/proc/{pid}/cgroup', encoding='utf-8') as f:
            self.before[pid] = next(line[3:].strip() for line in f if line.startswith('0::'))
        self.write(f'{self.folder}/cgroup.procs', str(pid))

    def go_on(self, pid):
        self.write(f'{self.root}{self.before.pop(pid)}/cgroup.procs', str(pid))

    def end(self):
        self.write(f'{self.folder}/cgroup.freeze', '0')
        with open(f'{self.folder}/cgroup.procs', encoding='utf-8') as f:
            for pid in f.read().split():
                self.write(f'{self.root}/cgroup.procs', pid)
        os.rmdir(self.folder)


class Stopper(threading.Thread):
    """Stops one process of a round after the other until the round is over."""

    def __init__(self, how, chance, spared, command):
        super().__init__(daemon=True)
        self.how, self.chance, self.spared, self.command = how, chance, spared, command
        self.over = threading.Event()
        self.stops = 0

    def run(self):
        while not self.over.wait(self.chance.uniform(*PAUSE_SECONDS)):
            pids = sorted(descendants(os.getpid(), self.spared))
            if not pids:
                continue
            pid = self.chance.choice(pids)
            if is_traced(pid):
                continue
            try:
                self.how.stop(pid)
            except OSError:
                continue
            self.stops += 1
            try:
                self.over.wait(self.chance.uniform(*STOP_SECONDS))
            finally:
                with contextlib.suppress(OSError):
                    self.how.go_on(pid)
            self.reap()

    def reap(self):
        """Reap what tests have left behind: a zombie looks like a process that has not ended."""
        for pid, (parent, state) in parents().items():
            if parent == os.getpid() and state == 'Z' and pid != self.command:
                with contextlib.suppress(OSError):
                    os.waitpid(pid, os.WNOHANG)

    def finish(self):
        self.over.set()
        self.join()


def compute():
    """A process that computes until it is killed, or its parent ends."""
    parent = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    while os.getppid() == parent:
        for _ in range(100000):
            pass
    os._exit(0)


def run_round(command, how, chance, spared, spare_command):
    """Returns the exit status, what was printed, and how often something was stopped."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as child:
        stopper = Stopper(how, chance, {*spared, child.pid} if spare_command else spared,
                          child.pid)
        if how:
            stopper.start()
        try:
            out = child.stdout.read()
            status = child.wait()
        finally:
            if how:
                stopper.finish()
    return status, out.decode(errors='replace'), stopper.stops


def show(out):
    """The end of what a round that failed has said, without meson's lines of tests that passed."""
    lines = [line for line in out.splitlines() if not PASSED.match(line)]
    if len(lines) > LINES_MOST:
        print(f'... {len(lines) - LINES_MOST} lines before')
    for line in lines[-LINES_MOST:]:
        print(line[:400])


def command_of(args, rest):
    """The command of a round, from both forms of arguments."""
    if not args.what:
        return rest
    build, *suites = args.what
    command = ['meson', 'test', '-C', build, '--no-rebuild', '--print-errorlogs']
    if args.jobs:
        command += ['--num-processes', str(args.jobs)]
    for suite in suites:
        command += ['--suite', suite]
    return command + rest


def arguments(words):
    at = words.index('--') if '--' in words else len(words)
    parser = argparse.ArgumentParser(usage=__doc__, add_help=True)
    parser.add_argument('--times', type=int, default=30)
    parser.add_argument('--busy', type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument('--stop', choices=['signal', 'freezer', 'none'], default='signal')
    parser.add_argument('--seed', type=int, default=int.from_bytes(os.urandom(3), 'big'))
    parser.add_argument('--jobs', type=int)
    parser.add_argument('--keep-going', action='store_true')
    parser.add_argument('what', nargs='*')
    args = parser.parse_args(words[:at])
    command = command_of(args, words[at + 1:])
    if not command:
        parser.error('there is nothing to run')
    return args, command


def main():
    args, command = arguments(sys.argv[1:])
    # What a test leaves behind becomes a child of this process, and is stopped as well.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        how = {'signal': Signals, 'freezer': Freezer}.get(args.stop, lambda: None)()
    except OSError as error:
        print(f'disturb.py: no freezer here: {error}; take --stop signal', file=sys.stderr)
        return 2
    chance = random.Random(args.seed)
    print(f'{shlex.join(command)}\n{args.times} rounds, {args.busy} busy processes, '
          f'--stop {args.stop} --seed {args.seed}', flush=True)
    busy = [compute() for _ in range(args.busy)]
    failed = done = 0
    try:
        while done < args.times and (args.keep_going or not failed):
            begin = time.monotonic()
            status, out, stops = run_round(command, how, chance, set(busy), args.what)
            done += 1
            failed += status != 0
            print(f'round {done}: {"passed" if status == 0 else f"FAILED, exit status {status}"}, '
                  f'{stops} stops, {time.monotonic() - begin:.0f} s', flush=True)
            if status:
                show(out)
    finally:
        for pid in busy:
            os.kill(pid, signal.SIGKILL)
        if how:
            how.end()
    print(f'{done - failed} of {done} rounds passed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
