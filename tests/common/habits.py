#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whether tests and scripts bear the habits of a machine.

    tests/common/habits.py [--build DIRECTORY] [--step NAME]... [--list] [TRIAL...]

Each trial sets one habit: another compiler command, a folder with a blank in its name, a full /dev/shm.
Then it runs what the habit may break. A step passes, says in one line what is missing, or fails. Trials that
need a build of their own make it in a temporary folder. The others use DIRECTORY (default: build-check), which
is built. Without a TRIAL all run, which takes about an hour on two cores; a table is printed at the end.
Exit status: 0 no step failed, 1 a step failed, 2 wrong arguments.
"""
import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import failure

ROOT = Path(__file__).resolve().parent.parent.parent
SECONDS_MOST = 3000
SKIPPED = 77
NOBODY = 65534
NOT_HERE = 2    # exit status of scripts that say what is missing

# Suites that a build of a trial runs: what calls compilers, and what reads names of files.
OF_A_BUILD = ('abi', 'layers', 'lint', 'headers', 'cli', 'sanitizer')
# Suites that a trial of the environment runs: what the library and the command do.
OF_AN_ENVIRONMENT = ('abi', 'unit', 'layers', 'ipc', 'cli', 'sanitizer')


class Step(NamedTuple):
    name: str
    command: list
    env: dict = {}      # None as a value: the variable is unset
    cwd: Path = ROOT
    stdin: object = subprocess.DEVNULL


class Missing(Exception):
    """What a trial needs and this machine does not have."""


def needs(*programs):
    for name in programs:
        if not shutil.which(name):
            raise Missing(f'no {name}')


def needs_root():
    if os.geteuid() != 0:
        raise Missing('not root')


def suites(build, *names, wrapper=(), rebuild=False, **how):
    """A step for each suite."""
    ready = [] if rebuild else ['--no-rebuild']
    return [Step(name, [*wrapper, 'meson', 'test', '-C', build, *ready, '--suite', name], **how) for name in names]


def script(text, *args):
    return ['sh', '-eu', '-c', text, 'sh', *args]


def apart(text, *namespaces):
    """A wrapper: the shell commands, then the step, in namespaces of their own."""
    needs('unshare')
    needs_root()
    return ['unshare', *namespaces, *script(text + '\nexec "$@"')]


def own_build(work, source=ROOT, compiler=None, env=None, names=OF_A_BUILD):
    """Configure, build what the suites need, and test, in a folder of the trial's own."""
    build = Path(work) / 'build'
    env = {**(env or {}), **({'CC': compiler} if compiler else {})}
    setup = ['meson', 'setup', build, source, '-Dtests=enabled', '-Dbenchmarks=disabled', '-Dwerror=true']
    return [Step('configure', setup, env, source), *suites(build, *names, rebuild=True, env=env, cwd=source)]


def copied(to):
    """A copy of what git tracks, and a git directory, as a clone has it."""
    to.mkdir(parents=True)
    said = subprocess.run(['git', '-C', ROOT, 'ls-files', '-z'], check=True, stdout=subprocess.PIPE).stdout
    for name in filter(None, said.decode().split('\0')):
        if (ROOT / name).exists():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name, follow_symlinks=False)
    subprocess.run(['git', 'init', '-q', to], check=True)
    subprocess.run(['git', '-C', to, 'add', '-A'], check=True)
    return to


def words(work, _build):
    """CC of several words: CC="gcc -pipe"."""
    needs('gcc')
    return own_build(work, compiler='gcc -pipe')


def ccache(work, _build):
    """ccache in PATH, which meson puts in front of the compiler."""
    needs('ccache')
    return own_build(work, env={'CCACHE_DIR': str(Path(work) / 'cache')})


def ccache_words(work, _build):
    """CC="ccache gcc"."""
    needs('ccache', 'gcc')
    return own_build(work, compiler='ccache gcc', env={'CCACHE_DIR': str(Path(work) / 'cache')})


def distcc(work, _build):
    """CC="distcc gcc", without another host."""
    needs('distcc', 'gcc')
    return own_build(work, compiler='distcc gcc', env={'DISTCC_HOSTS': 'localhost', 'DISTCC_DIR': str(work)})


def flags(work, _build):
    """CFLAGS and LDFLAGS of the user's."""
    return own_build(work, env={'CFLAGS': '-O1 -fno-omit-frame-pointer', 'LDFLAGS': '-Wl,--as-needed -Wl,-z,now'})


def blank(work, _build):
    """A clone in a folder whose name has a blank."""
    source = copied(Path(work) / 'a b' / 'source')
    return [Step('scripts/demo', ['scripts/demo', '--help'], cwd=source),
            *own_build(Path(work) / 'a b', source),
            Step('packaging', [sys.executable, 'tests/packaging/run.py', '.'], cwd=source),
            Step('site', ['scripts/site', Path(work) / 'a b' / 'site'], cwd=source)]


def temporary_blank(work, build):
    """TMPDIR is another folder, whose name has a blank."""
    folder = Path(work) / 'c d'
    folder.mkdir()
    env = {'TMPDIR': str(folder)}
    return [*suites(build, 'abi', 'lint', 'layers', 'cli', 'unit', env=env),
            Step('packaging', [sys.executable, 'tests/packaging/run.py', '.'], env)]


def fish(_work, build):
    """The user's shell is fish."""
    needs('fish')
    return suites(build, 'cli', 'layers', env={'SHELL': shutil.which('fish')})


def zsh(_work, build):
    """The user's shell is zsh."""
    needs('zsh')
    return suites(build, 'cli', 'layers', env={'SHELL': shutil.which('zsh')})


def other_sh(shell, name):
    def trial(_work, build):
        path = shutil.which(name)
        if not path:
            raise Missing(f'no {name}')
        wrapper = apart(f'mount --bind {shlex.quote(os.path.realpath(path))} "$(readlink -f /bin/sh)"', '-m')
        return [Step('scripts/setup', [*wrapper, 'scripts/setup', 'check']),
                Step('scripts/bench', [*wrapper, 'scripts/bench', '--help']),
                Step('scripts/site', [*wrapper, 'scripts/site', '--help']),
                *suites(build, 'abi', 'layers', 'cli', wrapper=wrapper)]
    trial.__doc__ = f'/bin/sh is {shell}.'
    return trial


def network(_work, build):
    """No network."""
    wrapper = apart('true', '-n')
    python = [*wrapper, sys.executable]
    return [Step('scripts/setup', [*wrapper, 'scripts/setup', 'check']),
            *suites(build, 'unit', 'ipc', 'cli', 'abi', wrapper=wrapper),
            Step('packaging', [*python, 'tests/packaging/run.py', '.']),
            Step('Debian packages', [*python, 'tests/packaging/debian.py', '.']),
            Step('demo in a clean root', [*python, 'tests/packaging/setup.py', '.'])]


def user(work, _build):
    """An ordinary user, who may write to a clone and to temporary folders only."""
    needs_root()
    needs('setpriv')
    home = Path(work) / 'home'
    source = copied(home / 'source')
    for path in (Path(work), home, *home.rglob('*')):
        os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    become = ['setpriv', f'--reuid={NOBODY}', f'--regid={NOBODY}', '--clear-groups']
    env = {'HOME': str(home), 'PATH': '/usr/local/bin:/usr/bin:/bin', 'PYTHONDONTWRITEBYTECODE': '1'}
    tests = own_build(home, source, names=(*OF_A_BUILD, 'unit', 'ipc'))
    return [Step('scripts/setup', [*become, 'scripts/setup', 'check'], env, source),
            *(step._replace(command=[*become, *step.command], env=env) for step in tests),
            *(Step(name, [*become, 'python3', f'tests/packaging/{program}', '.'], env, source)
              for name, program in (('packaging', 'run.py'), ('Debian packages', 'debian.py'),
                                    ('demo in a clean root', 'setup.py')))]


def one_cpu(_work, build):
    """One CPU."""
    needs('taskset')
    cpu = str(min(os.sched_getaffinity(0)))
    return suites(build, *OF_AN_ENVIRONMENT, wrapper=['taskset', '-c', cpu])


def full_shm(_work, _build):
    """A full /dev/shm."""
    wrapper = apart('mount -t tmpfs -o size=64k tmpfs /dev/shm\n'
                    'head -c 64k /dev/zero >/dev/shm/full', '-m')
    return [Step('scripts/setup', [*wrapper, 'scripts/setup', 'check'])]


def temporary(options, fill=''):
    def trial(work, _build):
        folder = shlex.quote(str(work))
        wrapper = apart(f'mount -t tmpfs -o {options} tmpfs {folder}\n{fill.format(folder)}', '-m')
        return [Step('scripts/setup', [*wrapper, 'scripts/setup', 'check'], {'TMPDIR': str(work)})]
    trial.__doc__ = f'A TMPDIR that is mounted with {options}.'
    return trial


def full_tmp(work, build):
    """A full TMPDIR."""
    return temporary('size=64k', 'head -c 64k /dev/zero >{}/full || true')(work, build)


def language(**env):
    def trial(work, build):
        own = {**env}
        name = next(iter(env.values()))
        if '_' in name:
            needs('localedef')
            language_of, charset = name.split('.')
            made = subprocess.run(['localedef', '-i', language_of, '-f', charset, Path(work) / name],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
            if made.returncode > 1:
                raise Missing(f'no sources of the locale {name}')
            own['LOCPATH'] = str(work)
        return [*suites(build, 'lint', *OF_AN_ENVIRONMENT, env=own),
                Step('site', ['scripts/site', Path(work) / 'site'], own),
                Step('packaging', [sys.executable, 'tests/packaging/run.py', '.'], own)]
    trial.__doc__ = f'{", ".join(f"{k}={v}" for k, v in env.items())}.'
    return trial


def environment(*names, stdin=subprocess.DEVNULL, **env):
    def trial(_work, build):
        return suites(build, *names, env=env, stdin=stdin)
    trial.__doc__ = f'{", ".join(f"{k} unset" if v is None else f"{k}={v}" for k, v in env.items())}.'
    return trial


def umask(_work, build):
    """umask 077."""
    wrapper = script('umask 077\nexec "$@"')
    return [*suites(build, *OF_AN_ENVIRONMENT, wrapper=wrapper),
            Step('packaging', [*wrapper, sys.executable, 'tests/packaging/run.py', '.'])]


def closed(_work, build):
    """stdin is closed, and there is no terminal."""
    needs('setsid')
    return suites(build, *OF_AN_ENVIRONMENT, wrapper=['setsid', '--wait', *script('exec "$@" <&-')])


TRIALS = {
    'cc-words': words,
    'ccache': ccache,
    'cc-ccache': ccache_words,
    'distcc': distcc,
    'flags': flags,
    'blank': blank,
    'tmpdir-blank': temporary_blank,
    'fish': fish,
    'zsh': zsh,
    'sh-bash': other_sh('bash', 'bash'),
    'sh-busybox': other_sh('busybox', 'busybox'),
    'no-network': network,
    'user': user,
    'one-cpu': one_cpu,
    'full-shm': full_shm,
    'full-tmp': full_tmp,
    'read-only-tmp': temporary('ro'),
    'noexec-tmp': temporary('noexec'),
    'turkish': language(LANG='tr_TR.UTF-8'),
    'german': language(LANG='de_DE.UTF-8'),
    'latin-1': language(LC_ALL='de_DE.ISO-8859-1'),
    'posix': language(LC_ALL='POSIX'),
    'settings': environment('unit', 'layers', 'ipc', 'cli', 'sanitizer', IPCWAIT_POLICY='block', IPCWAIT_STATS='1',
                            IPCWAIT_EXPLAIN='1', IPCWAIT_PAGE='1', IPCWAIT_CALIBRATION='/nonexistent',
                            IPCWAIT_MAX_SPIN_US='1', IPCWAIT_FD='1'),
    'home': environment(*OF_AN_ENVIRONMENT, HOME=None),
    'xdg': environment(*OF_AN_ENVIRONMENT, XDG_CACHE_HOME='/nonexistent', XDG_RUNTIME_DIR='/nonexistent',
                       XDG_CONFIG_HOME='/nonexistent', XDG_DATA_HOME='/nonexistent'),
    'zone': environment('unit', 'cli', TZ='Pacific/Kiritimati'),
    'umask': umask,
    'closed': closed,
}


def first_line(said):
    lines = said.strip().splitlines()
    return failure.narrow(lines[-1] if lines else '', 150)


def result(step, status, said):
    """(whether the step failed, what the table says)"""
    if status == SKIPPED or (status == NOT_HERE and said.startswith('scripts/')):
        return False, 'says: ' + first_line(said)
    if status:
        names = re.findall(r'^\s*\d+/\d+ (.*?)\s+(?:FAIL|TIMEOUT|ERROR)\b', said, re.M)
        return True, f'FAILED ({", ".join(names) or f"exit status {status}"})'
    skipped = re.search(r'^Skipped:\s+([1-9]\d*)', said, re.M)
    return False, f'pass, {skipped[1]} tests skipped' if skipped else 'pass'


def run(step):
    env = {k: v for k, v in {**os.environ, **step.env}.items() if v is not None}
    began = time.monotonic()
    try:
        done = subprocess.run([str(word) for word in step.command], env=env, cwd=step.cwd, stdin=step.stdin,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding='utf-8', errors='replace',
                              timeout=SECONDS_MOST, check=False)
        status, said = done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        status, said = 1, f'took more than {SECONDS_MOST} s'
    failed, text = result(step, status, said)
    print(f'    {step.name:20} {time.monotonic() - began:5.0f} s  {text}', flush=True)
    if failed:
        print(failure.cut(re.sub(r'^\[\d+/\d+\] (?:Compiling|Linking|Generating) .*\n', '', said, flags=re.M)))
        set_by = [f'{k}={v}' for k, v in step.env.items() if v is not None]
        unset = [word for k, v in step.env.items() if v is None for word in ('-u', k)]
        print(failure.again('env', '-C', step.cwd, *unset, *set_by, *step.command), flush=True)
    return failed, text


def run_trial(name, build, chosen):
    """The rows of the table; the steps after a failed configuration are left out."""
    trial = TRIALS[name]
    print(f'{name}: {trial.__doc__.splitlines()[0]}', flush=True)
    with tempfile.TemporaryDirectory(prefix='ipcwait-habits-') as work:
        try:
            steps = trial(work, build)
        except Missing as e:
            print(f'    not tried here: {e}')
            return [(name, '', False, f'not tried here: {e}')]
        rows = []
        for step in steps:
            if chosen and step.name not in ('configure', *chosen):
                continue
            failed, text = run(step)
            rows.append((name, step.name, failed, text))
            if failed and step.name == 'configure':
                break
        return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--build', type=Path, default=ROOT / 'build-check', help='a build directory that is built')
    parser.add_argument('--step', action='append', default=[], help='run these steps only, and "configure"')
    parser.add_argument('--list', action='store_true', help='name the trials, and run none')
    parser.add_argument('trial', nargs='*')
    args = parser.parse_args()
    unknown = [name for name in args.trial if name not in TRIALS]
    if unknown:
        parser.error(f'no trial {unknown[0]!r}; --list names them')
    if args.list:
        for name, trial in TRIALS.items():
            print(f'{name:14} {trial.__doc__.splitlines()[0]}')
        return 0
    rows = [row for name in args.trial or TRIALS for row in run_trial(name, args.build.resolve(), args.step)]
    print()
    for name, step, _, text in rows:
        print(f'{name:14} {step:20} {text}')
    bad = sum(row[2] for row in rows)
    print(f'{len(rows)} steps, {bad} failed')
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
