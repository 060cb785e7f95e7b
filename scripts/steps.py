#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run the steps of scripts/check: builds, tests, packages. As many run side by side as there are CPUs.

    scripts/steps.py quick|deep|timed|nightly [--list] [--only TEXT]

A step begins when those that it names in `after` have passed. It writes into build-check-logs/.
--list names the steps; --only runs those with TEXT in the name, and those that they need.
Exit status: 0 all passed, 1 a step failed, 2 wrong arguments or another one runs here, 3 none failed, but
something was skipped, which is not the same as passed.
"""
import argparse
import concurrent.futures
import fcntl
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / 'build-check-logs'
LINES_MOST, COLUMNS_MOST, TESTS_MOST = 60, 300, 6
SKIPPED = 77
FAILED, NOT_ALL = 1, 3     # exit status: a step failed; none failed, but something was skipped
LANES_MOST = 4
CPUS = sorted(os.sched_getaffinity(0))


def cut(text, most):
    """The last lines of an output, none of them too long to read."""
    lines = text.rstrip().splitlines()
    left = len(lines) - most
    return ([f'... {left} lines before'] if left > 0 else []) + \
        [line if len(line) <= COLUMNS_MOST else line[:COLUMNS_MOST] + ' ...' for line in lines[-most:]]


def command_line(command, env):
    """What a person types to run a command."""
    return ' '.join([*(f'{k}={shlex.quote(v)}' for k, v in env.items()), shlex.join(command)])


class Result:
    def __init__(self, passed=0, failed=0, skipped=0, words=()):
        self.passed, self.failed, self.skipped, self.words = passed, failed, skipped, list(words)


class Step:
    """A command."""

    def __init__(self, name, *command, after=(), env=None):
        self.name, self.command = name, [str(c) for c in command]
        self.after, self.env = list(after), env or {}
        self.log = LOGS / (re.sub(r'[^a-z0-9]+', '-', name.lower()).strip('-') + '.log')

    @property
    def again(self):
        return command_line(self.command, self.env)

    def call(self):
        """Runs the command into the log. Returns its exit status."""
        with open(self.log, 'w', encoding='utf-8') as log:
            return subprocess.run(self.command, cwd=ROOT, check=False, stdin=subprocess.DEVNULL,
                                  stdout=log, stderr=subprocess.STDOUT,
                                  env={**os.environ, **self.env}).returncode

    def output(self):
        return self.log.read_text(encoding='utf-8', errors='replace')

    def run(self):
        status = self.call()
        if status == SKIPPED:
            return Result(skipped=1, words=cut(self.output(), 3))
        if status:
            return Result(failed=1, words=[*cut(self.output(), LINES_MOST),
                                           f'again: {self.again}', f'all of it: {self.log}'])
        skips = re.findall(r'^skipped: .*', self.output(), re.M)
        return Result(passed=1, skipped=len(skips), words=[s[:COLUMNS_MOST] for s in skips])


class Build(Step):
    """Sets up a build directory and builds it: all of it, or what some suites need."""

    def __init__(self, label, folder, *options, suites=(), without=(), everything=False, env=None,
                 after=()):
        super().__init__(f'{label}: build', 'scripts/configure', folder, *options,
                         '-Dwerror=true', env=env, after=after)
        self.folder, self.everything = folder, everything
        self.suites, self.without = set(suites), set(without)

    def is_wanted(self, test):
        suites = {s.split(':')[-1] for s in test['suite']}
        return self.suites & suites and not self.without & suites

    def targets(self):
        """What tests of the suites need, also if it is not built by default, and what is installed."""
        seen = {}
        for what in ('--tests', '--targets'):
            out = subprocess.run(['meson', 'introspect', self.folder, what], cwd=ROOT, check=True,
                                 stdout=subprocess.PIPE).stdout
            seen[what] = json.loads(out)
        needed = {d for t in seen['--tests'] if self.is_wanted(t) for d in t['depends']}
        top = ROOT / self.folder
        return sorted({os.path.relpath(f, top) for t in seen['--targets']
                       if t['id'] in needed or t['installed'] for f in t['filename'][:1]})

    def run(self):
        if status := self.call():
            return Result(failed=1, words=[*cut(self.output(), LINES_MOST), f'exit status {status}',
                                           f'again: {self.again}'])
        # In a directory that was there before, what meson tells is as old as that.
        subprocess.run(['ninja', '-C', self.folder, 'build.ninja'], cwd=ROOT, check=False,
                       stdout=subprocess.DEVNULL)
        some = self.targets() if self.suites else []
        self.command = ['ninja', '-C', self.folder, '--quiet', *(['all'] if self.everything else []),
                        *some]
        if self.call() == 0:
            # Tests ask ninja what programs are made from, several at once: none has to tidy up first.
            subprocess.run(['ninja', '-C', self.folder, '-t', 'recompact'], cwd=ROOT, check=True,
                           stdout=subprocess.DEVNULL)
            return Result(passed=1)
        said = self.output()
        errors = re.findall(r'^.*(?:\berror:|undefined reference|^FAILED: ).*$', said, re.M)
        targets = re.findall(r'^FAILED: (?:\[.*?\] )?(\S+)', said, re.M)
        return Result(failed=1, words=[*cut('\n'.join(errors[:LINES_MOST]) or said, LINES_MOST),
                                       f'again: ninja -C {self.folder} {" ".join(targets)}',
                                       f'all of it: {self.log}'])


def parts_left_out(test):
    """How many parts a test has skipped that counts as passed: of CMocka and of unittest."""
    out = (test.get('stdout') or '') + (test.get('stderr') or '')
    return len(re.findall(r'^\[  SKIPPED \] [^\d\s]', out, re.M)) + \
        sum(map(int, re.findall(r'^OK \(.*skipped=(\d+)', out, re.M)))


class Tests(Step):
    """Suites of a build directory, or single tests of them."""

    def __init__(self, label, build, *suites, names=(), without=(), setup='', pinned=False, jobs=0,
                 env=None, after=()):
        super().__init__(f'{label}: {" ".join(suites)}', after=[build, *after], env=env)
        self.build = build
        self.base = self.log.stem
        self.setup = setup
        choice = ['--setup', setup] if setup else []
        choice += [w for s in suites for w in ('--suite', s)]
        choice += [w for s in without for w in ('--no-suite', s)] + list(names)
        jobs = jobs or max(2, len(CPUS))
        pin = ['taskset', '-c', str(CPUS[0])] if pinned else []
        self.prefix = pin
        self.command = [*pin, 'meson', 'test', '-C', build.folder, '--no-rebuild',
                        '--logbase', self.base, '--num-processes', str(jobs), *choice]

    @property
    def json(self):
        """Where meson writes a line for each test. A setup is a part of the name."""
        name = f'{self.base}-{self.setup}' if self.setup else self.base
        return ROOT / self.build.folder / 'meson-logs' / f'{name}.json'

    def results(self):
        """What became of each test."""
        if not self.json.is_file():
            return []
        with open(self.json, encoding='utf-8', errors='replace') as f:
            return [json.loads(line) for line in f if line.strip()]

    def words_of(self, test, most):
        """A test that failed: how, the end of what it said, and how to repeat it."""
        out = '\n'.join(filter(None, (test.get('stdout'), test.get('stderr'))))
        seed = re.findall(r'IW_TEST_SEED=(\d+)', out)
        setup = ['--setup', self.setup] if self.setup else []
        name = test['name'].split(' / ')[-1]
        # Names are not unique: a suite of the test's goes with it.
        suite = test['name'].split(' / ')[0].split(':')[-1].split('+')[0]
        env = self.env | ({'IW_TEST_SEED': seed[-1]} if seed else {})
        again = [*self.prefix, 'meson', 'test', '-C', self.build.folder, '--print-errorlogs', *setup,
                 '--suite', suite, name]
        return [f'{test["name"]}: {test["result"]}, exit status {test["returncode"]}, '
                f'{test["duration"]:.1f} s', *cut(out, most), f'again: {command_line(again, env)}']

    def run(self):
        self.json.unlink(missing_ok=True)
        status, tests = self.call(), self.results()
        bad = [t for t in tests if t['result'] not in ('OK', 'EXPECTEDFAIL', 'SKIP')]
        skips = [t for t in tests if t['result'] == 'SKIP']
        words = [w for t in bad[:TESTS_MOST]
                 for w in self.words_of(t, LINES_MOST // min(len(bad), TESTS_MOST))]
        if len(bad) > TESTS_MOST:
            words.append('and: ' + ', '.join(t['name'].split(' / ')[-1] for t in bad[TESTS_MOST:]))
        if not tests or (status and not bad):
            words += [*cut(self.output(), LINES_MOST), 'no test ran' if not tests else '',
                      f'again: {self.again}']
        words += [f'skipped: {t["name"]}: {" ".join(cut(t.get("stdout") or "", 1))}' for t in skips]
        words += [f'{t["name"]} left out {n} of its parts' for t in tests if (n := parts_left_out(t))]
        return Result(len(tests) - len(bad) - len(skips),
                      len(bad) or int(status != 0 or not tests), len(skips), words)


class Runner:
    """Runs steps side by side, each when those before it have passed."""

    def __init__(self, steps):
        self.steps = steps
        self.ended, self.begin = {}, time.monotonic()
        self.change = threading.Condition()
        self.sums = [0, 0, 0]

    def next(self):
        """A step that may begin, and None when there is none left. Waits for those that run."""
        with self.change:
            while True:
                left = [s for s in self.steps if s not in self.ended]
                for step in left:
                    before = [self.ended.get(b) for b in step.after]
                    if all(b is not None and b != 'begun' for b in before):
                        self.ended[step] = 'begun'
                        return step
                if not left:
                    return None
                self.change.wait()

    def tell(self, step, result, seconds):
        word = 'FAILED' if result.failed else 'skipped' if result.skipped and not result.passed \
            else 'ok'
        many = f'{result.passed} passed' if result.passed > 1 else ''
        with self.change:
            self.ended[step] = word
            for i, n in enumerate((result.passed, result.failed, result.skipped)):
                self.sums[i] += n
            minutes = (time.monotonic() - self.begin) / 60
            print(f'{step.name:56} {word:7} {seconds:4.0f} s  {many:12} at {minutes:4.1f} min',
                  flush=True)
            for line in result.words:
                print(f'    {line}', flush=True)
            self.change.notify_all()

    def lane(self):
        while step := self.next():
            begin = time.monotonic()
            if any(self.ended[b] == 'FAILED' for b in step.after):
                result = Result(failed=1, words=['not run: what it needs has failed'])
            else:
                try:
                    result = step.run()
                except Exception as error:  # pylint: disable=broad-except
                    result = Result(failed=1, words=cut(f'{type(error).__name__}: {error}', LINES_MOST))
            self.tell(step, result, time.monotonic() - begin)

    def run(self):
        lanes = min(LANES_MOST, max(1, len(CPUS)))
        with concurrent.futures.ThreadPoolExecutor(lanes) as pool:
            try:
                for lane in [pool.submit(self.lane) for _ in range(lanes)]:
                    lane.result()
            except KeyboardInterrupt:
                # The steps that run get the signal too; no other begins.
                with self.change:
                    self.steps = [s for s in self.steps if s in self.ended]
                    self.change.notify_all()
                raise
        print(f'{(time.monotonic() - self.begin) / 60:.1f} minutes')
        print('{} passed, {} failed, {} skipped'.format(*self.sums))
        return FAILED if self.sums[1] else NOT_ALL if self.sums[2] else 0


SANITIZED = '-Dtests=enabled', '-Db_lundef=false', '-Dbenchmarks=disabled'
PRELOAD_IN_SHORT = ('conformance sem', 'conformance mutex', 'conformance cond', 'conformance cancel',
                    'conformance futex', 'exports')


def quick():
    suites = ('lint', 'headers', 'abi', 'unit', 'layers', 'ipc', 'sim', 'cli', 'sanitizer', 'stress')
    gcc = Build('gcc', 'build-check', '-Dtests=enabled', suites=[*suites, 'preload'])
    return [gcc, *(Tests('gcc', gcc, s) for s in suites),
            Tests('gcc', gcc, 'preload', names=PRELOAD_IN_SHORT)]


def cross(cpu):
    build = Build(cpu, f'build-check-{cpu}', '--cross-file', f'scripts/cross/{cpu}.ini',
                  '-Dtests=disabled', everything=True)
    return [build, *(Step(f'{cpu}: {what} under emulation', 'scripts/cross/run', cpu, what,
                          after=[build]) for what in ('arch_test', 'sem_test'))]


def deep(whole=False):
    setup = 'deep' if whole else ''
    search = {'IW_SEARCH': 'all'} if whole else {}
    gcc = Build('gcc', 'build-check', '-Dtests=enabled', everything=True,
                suites=['interleave', 'linear', 'stress', 'fuzz', 'preload', 'bench', 'port'])
    interleave = Tests('gcc', gcc, 'interleave', env=search, setup=setup)
    accidents = Tests('gcc', gcc, 'accidents', 'signals', env=search, setup=setup)
    tidy = Tests('gcc', gcc, 'tidy', setup='deep', env=search)
    mutants = Step('gcc: mutants', sys.executable, 'tests/mutants/run.py', 'build-check',
                   *(['--all', '--write'] if whole else []), after=[gcc])
    asan = Build('address, undefined', 'build-check-asan', '-Db_sanitize=address,undefined',
                 *SANITIZED, suites=['unit', 'ipc', 'stress'], everything=whole)
    # What has one thread tells ThreadSanitizer and one CPU nothing, and takes most of their time.
    one_thread = [] if whole else ['scripted']
    tsan = Build('threads', 'build-check-tsan', '-Db_sanitize=thread', *SANITIZED,
                 suites=['unit', 'stress'], without=one_thread, everything=whole)
    # By night all of it, for the warnings.
    clang = Build('clang', 'build-check-clang', '-Dtests=enabled', '-Dbenchmarks=disabled',
                  suites=['unit'], everything=whole, env={'CC': 'clang'})
    steps = [
        gcc, mutants, interleave,
        Step('installed: Debian packages in a clean root', 'python3', 'tests/packaging/debian.py', '.'),
        Step('installed: scripts/demo in a clean root', 'python3', 'tests/packaging/setup.py', '.'),
        accidents,
        Tests('gcc', gcc, 'fuzz', 'model', setup=setup),
        Tests('gcc', gcc, 'stress', 'rounds', 'selftest', setup='deep'),
        tidy,
        Tests('gcc', gcc, 'preload', jobs=6),
        Tests('gcc', gcc, 'bench', 'linear', 'example', 'port', without=['rounds']),
        Step('gcc: thread tests of languages, preloaded', 'python3', 'tests/preload/suites.py',
             'build-check/preload/libipcwait-preload.so', '--only', 'java,rust,c++', after=[gcc]),
        asan, Tests('address, undefined', asan, 'unit', 'ipc', 'stress'),
        tsan, Tests('threads', tsan, 'unit', 'stress', without=one_thread),
        clang, Tests('clang', clang, 'unit'),
        Tests('one CPU', gcc, 'unit', 'stress', without=one_thread, pinned=True),
        Step('installed: pkg-config, CMake, meson, the library alone', 'python3',
             'tests/packaging/run.py', '.'),
        Step('installed: every code block of README and guide', 'python3', 'tests/docs/blocks.py'),
        Step('manual pages, and the site with its links', 'python3', 'tests/docs/pages.py'),
        *cross('aarch64'), *cross('riscv64'),
    ]
    if whole:
        steps.append(Step('gcc: the ledger of searches', sys.executable,
                          'tests/common/searched.py', '--write', 'build-check',
                          after=[interleave, accidents]))
        steps.append(Step('gcc: the ledger of the analyzer', sys.executable, 'tests/lint/tidy.py',
                          '--write', '.', 'build-check', after=[tidy]))
    return steps


def timed():
    gcc = Build('gcc', 'build-check', '-Dtests=enabled', suites=['timed'])
    return [gcc, Tests('gcc', gcc, 'timed', jobs=1)]


def nightly():
    # One build directory: the deep part's has all of the quick part's.
    rest = deep(whole=True)
    names = {s.name for s in rest}
    first = [s for s in quick() if not isinstance(s, Build) and s.name not in names]
    for step in first:
        step.after = [rest[0]] if step.after else []
    return rest + first


PARTS = {'quick': quick, 'deep': deep, 'timed': timed, 'nightly': nightly}


def chosen(steps, text):
    """The steps with @text in the name, and those that they need."""
    wanted = [s for s in steps if text in s.name]
    for step in wanted:
        wanted += [b for b in step.after if b not in wanted]
    return [s for s in steps if s in wanted]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('part', choices=PARTS)
    parser.add_argument('--list', action='store_true')
    parser.add_argument('--only', default='')
    args = parser.parse_args()
    steps = chosen(PARTS[args.part](), args.only)
    if not steps:
        parser.error(f'no step has "{args.only}" in its name')
    if args.list:
        print('\n'.join(s.name for s in steps))
        return 0
    LOGS.mkdir(exist_ok=True)
    with open(LOGS / 'lock', 'w', encoding='utf-8') as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            print('scripts/check: another one runs in this folder', file=sys.stderr)
            return 2
        try:
            return Runner(steps).run()
        except KeyboardInterrupt:
            return 128 + signal.SIGINT


if __name__ == '__main__':
    sys.exit(main())
