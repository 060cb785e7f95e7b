#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The package as installed: package_test.py BUILD MESON PKG_CONFIG CONSUMER.C VERSION CC...

Installs the build into a temporary folder, compiles the consumer with what pkg-config says,
against the shared and against the static library, and runs both.
"""
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'common'))

import failure  # noqa: E402

build, meson, pkg_config, consumer, version, *compiler = sys.argv[1:]


def output(*command, **environment):
    """Run; the output. A failure ends the test."""
    run = subprocess.run([str(word) for word in command], env={**os.environ, **environment},
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding='utf-8')
    if run.returncode:
        sys.exit(f'{failure.shown(command)}: exit status {run.returncode}\n{failure.cut(run.stdout)}')
    return run.stdout.strip()


def expect(what, have, want):
    if have != want:
        sys.exit(f'{what}: have {have!r}, want {want!r}')
    print(f'{what}: {have}')


def install(destination):
    """Install; the folder with the .pc file. Exactly one, and no trace of the destination."""
    output(meson, 'install', '-C', build, '--no-rebuild', '--destdir', destination)
    files = list(destination.rglob('libipcwait.pc'))
    expect('pkg-config files', len(files), 1)
    if str(destination) in files[0].read_text(encoding='utf-8'):
        sys.exit('libipcwait.pc names the staging folder')
    return files[0].parent


def ask(destination, folder, *question):
    """pkg-config's answer for the installed tree; other packages come from the system."""
    system = output(pkg_config, '--variable', 'pc_path', 'pkg-config')
    said = output(pkg_config, *question, 'libipcwait', PKG_CONFIG_PATH='',
                  PKG_CONFIG_LIBDIR=f'{folder}:{system}', PKG_CONFIG_SYSROOT_DIR=str(destination),
                  PKG_CONFIG_ALLOW_SYSTEM_CFLAGS='1', PKG_CONFIG_ALLOW_SYSTEM_LIBS='1')
    return shlex.split(said)


def needed(program):
    """True if the program needs the shared library."""
    return 'libipcwait.so.0' in output('readelf', '--dynamic', program)


def main(destination):
    folder = install(destination)
    libdir = folder.parent
    strict = ['-std=c11', '-Wall', '-Wextra', '-Wpedantic', '-Werror']
    expect('version in pkg-config', ask(destination, folder, '--modversion'), [version])

    shared = destination / 'shared'
    flags = ask(destination, folder, '--cflags', '--libs')
    output(*compiler, *strict, consumer, '-o', shared, *flags)
    expect('shared consumer needs the library', needed(shared), True)
    expect('shared consumer', output(shared, LD_LIBRARY_PATH=str(libdir)), version)

    static = destination / 'static'
    flags = ask(destination, folder, '--static', '--cflags', '--libs')
    expect('-lipcwait is there to be replaced', '-lipcwait' in flags, True)
    flags = ['-l:libipcwait.a' if flag == '-lipcwait' else flag for flag in flags]
    output(*compiler, *strict, consumer, '-o', static, *flags)
    expect('static consumer needs the library', needed(static), False)
    expect('static consumer', output(static, LD_LIBRARY_PATH=''), version)


if __name__ == '__main__':
    with tempfile.TemporaryDirectory() as name:
        main(Path(name).resolve())
