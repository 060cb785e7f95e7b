#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Thread tests of languages, plainly and under the preload module: each must end in the same way.

    suites.py MODULE [--only NAMES] [--list] [--jobs N]

NAMES are suites, or parts as in cpython/test_queue; with commas, and there are * and ?.

    cpython  the interpreter's own tests of what has threads, locks, semaphores, signals, forks, as
             Debian ships them: 45 modules, of test_importlib the parts that have threads
    java     suites/*.java: java.util.concurrent, monitors, permits, deadlocks that the machine finds
    rust     suites/threads.rs: std::sync, std::thread
    c++      suites/threads.cc: the threads of C++20

Each part runs plainly, under the module, and under the module with windows of 1 ms. What is compared
is, by the name of each test, whether it is ok, FAIL or skipped. Where one differs the plain run and
that one are repeated four times. One that does what no plain run did, and does it again, is different;
what else is seen is flaky, and is said. Exit status: 1 where a test is different, 2 for bad input, 77 where nothing is installed.
"""
import argparse
import collections
import concurrent.futures
import contextlib
import fnmatch
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

SKIPPED = 77
REPEATS = 4
PATIENCE_S = 900
COMPILER_PATIENCE_S = 300
PYTHON = '/usr/bin/python3'
SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'suites')
PLAINLY = 'plainly'
SPINS = {'IPCWAIT_POLICY': 'spin', 'IPCWAIT_MAX_SPIN_US': '1000'}
# The longest first: they run side by side.
CPYTHON = '''
    test_multiprocessing_spawn test_concurrent_futures test_asyncio test_multiprocessing_forkserver
    test_multiprocessing_fork test_signal test_io test_imaplib test_xmlrpc test_subprocess
    test_logging test_faulthandler test_selectors test_weakref test_multiprocessing_main_handling
    test_threading test_queue test_poll test_eintr test_interpreters test__xxsubinterpreters
    test_wait3 test_wait4 test_fork1 test_threadsignals test_thread test_threading_local
    test_threadedtempfile test_importlib.test_threaded_import test_importlib.test_locks test_sched
    test_gc test_atexit test_popen test_posix test_context test_contextlib_async test_bufio
    test_functools test_decimal test_tempfile test_docxmlrpc test_smtplib test_asyncore test_sys
'''.split()

# command(folder, names) gives the command and the file of its results, if it writes one; names are
# the tests that matter, or None for all.
Part = collections.namedtuple('Part', 'name command')
Result = collections.namedtuple('Result', 'outcomes said')


class Missing(Exception):
    """A package that is not installed."""


class BadInput(Exception):
    """What the user, or the compiler, must hear of."""


def environment(folder, extra):
    """The user's, without what would change the interpreters or the module."""
    other = ('IPCWAIT_', 'LD_PRELOAD', 'PYTHON', 'JAVA', '_JAVA', 'JDK_JAVA', 'RUST_')
    env = {k: v for k, v in os.environ.items() if not k.startswith(other)}
    return {**env, 'LC_ALL': 'C.UTF-8', 'TMPDIR': folder, 'HOME': folder,
            'IPCWAIT_CALIBRATION': 'none', **extra}


def execute(command, folder, extra, patience=PATIENCE_S):
    """Its exit status, or None if it had to be killed, and what it said, in one text."""
    with open(os.path.join(folder, 'said'), 'w+', errors='replace') as said:
        p = subprocess.Popen(command, cwd=folder, env=environment(folder, extra), stdout=said,
                             stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                             start_new_session=True)
        try:
            status = p.wait(patience)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(p.pid, signal.SIGKILL)
            p.wait()
        said.seek(0)
        return status, said.read()


def compiled(command, folder):
    home = {'HOME': os.path.expanduser('~')}  # a compiler may have been installed there
    status, said = execute(command, folder, home, COMPILER_PATIENCE_S)
    if status != 0:
        raise BadInput(f'{" ".join(command)}:\n{said}')


def cpython(folder):
    """Debian's interpreter, and of the tests those that this version of it has."""
    ask = ('import importlib.util as u, sys\n'
           'print("%d.%d" % sys.version_info[:2])\n'
           'for name in sys.argv[1:]:\n'
           '  try: print(name if u.find_spec("test." + name) else "")\n'
           '  except ImportError: pass')
    if not os.path.exists(PYTHON):
        raise Missing('python3')
    version, *there = execute([PYTHON, '-c', ask, *CPYTHON], folder, {})[1].split()
    if 'test_threading' not in there:
        raise Missing(f'libpython{version}-testsuite')

    def part(name):
        def command(where, names):
            results = os.path.join(where, 'results.xml')
            # A name that is none, as of what comes before a class, asks for all.
            some = names and all(re.fullmatch(r'[\w.]+', n) for n in names)
            chosen = [word for n in sorted(names) for word in ('-m', n)] if some else []
            return [PYTHON, '-m', 'test', '-v', '--timeout', '600', '--tempdir', where,
                    '--junit-xml', results, *chosen, name], results
        return Part(f'cpython/{name}', command)
    return [part(name) for name in there]


def program(name, command):
    return [Part(name, lambda where, names: (command, None))]


def java(folder):
    if not (shutil.which('javac') and shutil.which('java')):
        raise Missing('openjdk-17-jdk-headless')
    compiled(['javac', '-d', folder, *sorted(glob.glob(f'{SOURCES}/*.java'))], folder)
    return program('java', ['java', '-cp', folder, 'Suite'])


def rust(folder):
    debian = '/usr/bin/rustc'
    rustc = debian if os.path.exists(debian) else shutil.which('rustc')
    if not rustc:
        raise Missing('rustc')
    out = os.path.join(folder, 'threads_rs')
    compiled([rustc, '--edition', '2021', '-O', '-o', out, f'{SOURCES}/threads.rs'], folder)
    return program('rust', [out])


def cxx(folder):
    if not shutil.which('g++'):
        raise Missing('g++')
    out = os.path.join(folder, 'threads_cc')
    compiled(['g++', '-std=c++20', '-O2', '-pthread', '-o', out, f'{SOURCES}/threads.cc'], folder)
    return program('c++', [out])


SUITES = {'cpython': cpython, 'java': java, 'rust': rust, 'c++': cxx}


def from_xml(path):
    """By name; of a test with several entries, as for parts of it that fail, the worst."""
    outcomes = {}
    try:
        cases = xml.etree.ElementTree.parse(path).iter('testcase')
    except xml.etree.ElementTree.ParseError:
        return {}  # ended while it was being written
    for case in cases:
        kinds = {child.tag for child in case}
        bad = kinds & {'error', 'failure'}
        outcome = 'FAIL' if bad else 'skipped' if 'skipped' in kinds else 'ok'
        name = case.get('name')
        if outcomes.get(name) != 'FAIL':
            outcomes[name] = outcome
    return outcomes


def from_text(said):
    """Lines of a program, or of the interpreter where it came to no file."""
    outcomes = {}
    for line in said.splitlines():
        ours = re.fullmatch(r'(\S+) (ok|FAIL|skipped)( .*)?', line)
        theirs = re.match(r'\w+ \(([\w.]+)\).* \.\.\. (ok|FAIL|ERROR|skipped)', line)
        found = ours or theirs
        if found:
            outcomes[found[1]] = found[2].replace('ERROR', 'FAIL')
    return outcomes


def run(part, extra, names=None):
    """All outcomes of a part, or those of some names; that of the run itself among them."""
    with tempfile.TemporaryDirectory(prefix='suites-', ignore_cleanup_errors=True) as folder:
        command, results = part.command(folder, names)
        status, said = execute(command, folder, extra)
        outcomes = {}
        if results and os.path.exists(results) and os.path.getsize(results):
            outcomes = from_xml(results)
        outcomes = outcomes or from_text(said)
        ended = 'does not end' if status is None else f'exit status {status}'
        return Result({**outcomes, '(the run)': ended}, said)


def differing(plain, other):
    names = {*plain.outcomes, *other.outcomes}
    return sorted(n for n in names if plain.outcomes.get(n) != other.outcomes.get(n))


def words(results, name):
    return ', '.join(r.outcomes.get(name, 'no result') for r in results)


def judge(part, what, extra, plain, other):
    """Repeats what differs. How many tests are different, and what to print."""
    names = differing(plain, other)
    if not names:
        return 0, []
    tests = set(names) - {'(the run)'}
    plains, others = [plain], [other]
    for _ in range(REPEATS):
        plains.append(run(part, {}, tests))
        others.append(run(part, extra, tests))
    bad, lines = 0, []
    for name in sorted(names, key=lambda n: n == '(the run)'):
        if name == '(the run)' and bad:
            continue  # a test that is different says it all
        seen = {r.outcomes.get(name) for r in plains}
        different = sum(r.outcomes.get(name) not in seen for r in others) > 1
        bad += different
        lines.append(f'{"DIFFERENT" if different else "flaky"}: {part.name}: {name}: '
                     f'{PLAINLY} {words(plains, name)}; {what} {words(others, name)}')
    if bad:
        lines += ['    ' + line for line in other.said.splitlines()[-20:]]
    return bad, lines


def summary(part, results):
    """A line: how many tests, and how many of them are what in the plain run."""
    outcomes = {k: v for k, v in results[PLAINLY].outcomes.items() if k != '(the run)'}
    counts = collections.Counter(outcomes.values())
    parts = ', '.join(f'{counts[k]} {k}' for k in ('ok', 'FAIL', 'skipped') if counts[k])
    return f'{part.name}: {len(outcomes)} tests: {parts or "none"}'


def compare(parts, variants, jobs):
    """Runs all parts in all variants. How many tests there are, and how many are different."""
    total = bad = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        runs = [(p, {what: pool.submit(run, p, extra) for what, extra in variants.items()})
                for p in parts]
        results = [(p, {what: f.result() for what, f in futures.items()}) for p, futures in runs]
    # Nothing else runs while what differs is repeated.
    for part, by_variant in results:
        print(summary(part, by_variant), flush=True)
        total += len(by_variant[PLAINLY].outcomes) - 1
        for what, extra in variants.items():
            if what != PLAINLY:
                more, lines = judge(part, what, extra, by_variant[PLAINLY], by_variant[what])
                bad += more
                print(''.join(line + '\n' for line in lines), end='', flush=True)
    return total, bad


def wanted(only, name):
    """A suite is wanted with all its parts, and for each of them."""
    return any(fnmatch.fnmatch(name, o) or fnmatch.fnmatch(name.split('/')[0], o)
               for o in only)


def find(only, folder):
    """The parts that are wanted and that can run; for suites that cannot, a line."""
    parts = []
    for name, prepare in SUITES.items():
        if not any(fnmatch.fnmatch(name, o.split('/')[0]) for o in only):
            continue
        place = os.path.join(folder, name)
        os.mkdir(place)
        try:
            parts += [p for p in prepare(place) if wanted(only, p.name)]
        except Missing as e:
            print(f'{name}: SKIP not installed: {e}')
    return parts


def loads(module):
    """Whether the loader takes it: it says so on standard error where it does not."""
    r = subprocess.run(['/bin/true'], env=dict(os.environ, LD_PRELOAD=module),
                       capture_output=True, timeout=60)
    return os.path.exists(module) and r.returncode == 0 and not r.stderr


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument('module')
    parser.add_argument('--only', default='*')
    parser.add_argument('--list', action='store_true')
    parser.add_argument('--jobs', type=int, default=2 * len(os.sched_getaffinity(0)))
    args = parser.parse_args()
    args.only = args.only.split(',')
    for o in args.only:
        if not fnmatch.filter(SUITES, o.split('/')[0]):
            parser.error(f'no suite is called {o}; there are {", ".join(SUITES)}')
    if args.jobs < 1:
        parser.error('--jobs must be at least 1')
    args.module = os.path.abspath(args.module)
    if not args.list and not loads(args.module):
        parser.error(f'{args.module} cannot be loaded')
    return args


def main():
    args = arguments()
    variants = {
        PLAINLY: {},
        'the module': {'LD_PRELOAD': args.module},
        'the module, spinning': {'LD_PRELOAD': args.module, **SPINS},
    }
    with tempfile.TemporaryDirectory(prefix='suites-') as folder:
        try:
            parts = find(args.only, folder)
        except BadInput as e:
            sys.stderr.write(f'suites.py: {e}\n')
            sys.exit(2)
        if args.list:
            print(''.join(p.name + '\n' for p in parts), end='')
            return
        if not parts:
            print('skipped: nothing of it is installed')
            sys.exit(SKIPPED)
        total, bad = compare(parts, variants, args.jobs)
    print(f'{total} tests in {len(parts)} parts, {len(variants) - 1} runs of each compared with '
          f'the plain one: {bad} different')
    sys.exit(bad > 0)


if __name__ == '__main__':
    main()
