# SPDX-License-Identifier: MIT
"""Programs of a build directory, built again with other contents of some files.

Commands are those of the build directory: compile_commands.json, and what ninja says of a link. So
whatever the compiler is called, and whatever flags it needs, is as meson has found it.
"""
import functools
import json
import os
import re
import shlex
import subprocess
from pathlib import Path

# What makes a compilation slow, or fail for a warning, and what it writes besides.
LEFT_OUT = re.compile(r'-g\d?|-Werror.*|-W(?!l,|p,).*|-flto.*|-ffat-lto-objects|-MD|-fdiagnostics.*')
LEFT_OUT_WITH_NEXT = {'-MQ', '-MF', '-o', '-c'}
ERROR_LINES_MOST = 6


class BuildError(Exception):
    """What the compiler said, in a few lines."""


def call(command, folder):
    done = subprocess.run(command, cwd=folder, check=False, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    out = done.stdout.decode(errors='replace')
    if done.returncode:
        lines = [line for line in out.splitlines() if 'error' in line or 'undefined' in line]
        raise BuildError('\n'.join((lines or out.splitlines())[:ERROR_LINES_MOST]))
    return out


def without(words):
    """A compiler's command without what is not wanted, its source and its output."""
    kept, skip = [], False
    for word in words:
        if skip or word in LEFT_OUT_WITH_NEXT:
            skip = not skip
        elif not LEFT_OUT.fullmatch(word):
            kept.append(word)
    return kept


class Object:
    """One compilation."""

    def __init__(self, entry, name):
        self.name, self.source = name, entry['file']
        self.command = without(shlex.split(entry['command']))


class Program:
    """How an executable is linked: its command, and the objects of each archive in it."""

    def __init__(self, build, path):
        self.path = path
        self.command = build.command_of(path)
        self.parts = {w: build.objects_of(w) for w in self.command
                      if w.endswith(('.a', '.o')) and not os.path.isabs(w)}
        self.objects = {o.name: o for some in self.parts.values() for o in some}


class Build:
    def __init__(self, folder, root):
        self.folder, self.root = Path(folder).resolve(), Path(root).resolve()
        with open(self.folder / 'compile_commands.json', encoding='utf-8') as f:
            entries = json.load(f)
        self.objects = {}
        for entry in entries:
            name = os.path.relpath(os.path.join(entry['directory'], entry['output']), self.folder)
            self.objects[name] = Object(entry, name)

    def command_of(self, target):
        """The words of the command that makes a target of its inputs."""
        out = call(['ninja', '-t', 'commands', '-s', target], self.folder)
        return shlex.split(out.strip().splitlines()[-1])

    @functools.lru_cache(maxsize=None)
    def objects_of(self, part):
        """The objects of an archive, in its order; or the one of an object."""
        words = [part] if part.endswith('.o') else self.command_of(part)
        return [self.objects[w] for w in words if w in self.objects]

    @functools.cached_property
    def executables(self):
        """The programs of the build, by their last names."""
        lines = call(['ninja', '-t', 'targets', 'all'], self.folder).splitlines()
        paths = [line.split(': ')[0] for line in lines if line.endswith('_LINKER')]
        # Of two with one name, the one of this project's unit tests.
        paths.sort(key=lambda p: p.startswith(('tests/unit/', 'tests/interleave/')))
        return {os.path.basename(p): p for p in paths if not p.endswith(('.a', '.so'))}

    @functools.lru_cache(maxsize=None)
    def program(self, name):
        if name not in self.executables:
            raise BuildError(f'the build has no program {name}')
        return Program(self, self.executables[name])

    def make(self, names):
        """Build these programs as they are."""
        targets = [self.executables[n] for n in names if n in self.executables]
        if targets:
            call(['ninja', '--quiet', *targets], self.folder)

    @functools.cached_property
    def depends(self):
        """For each object, the files of the source tree that it was made from."""
        found, files = {}, None
        for line in call(['ninja', '-t', 'deps'], self.folder).splitlines():
            if not line.startswith(' '):
                files = found.setdefault(line.split(': #deps')[0], set())
            elif line.strip():
                path = os.path.normpath(os.path.join(self.folder, line.strip()))
                if path.startswith(f'{self.root}{os.sep}'):
                    files.add(os.path.relpath(path, self.root))
        return found

    def files_of(self, name):
        """All files of the source tree that a program is made from."""
        return set().union(*(self.depends.get(o, ()) for o in self.program(name).objects))

    def compile(self, thing, folder, copies, flags):
        """One object with other contents of some files. Returns its path."""
        source = os.path.relpath(os.path.join(self.folder, thing.source), self.root)
        target = os.path.join(folder, thing.name.replace(os.sep, '_'))
        includes = [f'-I{folder}/{tree}' for tree in sorted({c.split('/')[0] for c in copies})]
        command = [w for w in thing.command if w != thing.source]
        # The copies' folders come first, so that they are found before the others.
        at = next((i for i, w in enumerate(command) if w.startswith('-')), len(command))
        # A copy finds what stands beside the original.
        beside = ['-iquote', os.path.dirname(thing.source) or '.']
        call([*command[:at], *includes, *command[at:], *flags, *beside,
              '-c', copies.get(source, thing.source), '-o', target], self.folder)
        return target

    def build(self, name, folder, files, flags=()):
        """Link program @name with other contents of some files. Returns its path."""
        copies = {}
        for file, text in files.items():
            path = os.path.join(folder, file)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'w', encoding='utf-8') as f:
                f.write(text)
            copies[file] = path
        program = self.program(name)
        made = {n: self.compile(o, folder, copies, flags) for n, o in program.objects.items()
                if copies.keys() & self.depends.get(n, set())}
        if not made:
            raise BuildError(f'{name} is not made from {", ".join(files)}')
        target = os.path.join(folder, 'program')
        call(self.link(program, made, folder, target), self.folder)
        return target

    def link(self, program, made, folder, target):
        """The command that links a program with some objects instead of others."""
        command = []
        for i, word in enumerate(program.command):
            names = [o.name for o in program.parts.get(word, [])]
            if i and program.command[i - 1] == '-o':
                command.append(target)
            elif not made.keys() & set(names):
                command.append(word)
            elif word.endswith('.o'):
                command.append(made[word])
            else:
                # An archive of its own, so that the order in which the linker looks stays.
                archive = os.path.join(folder, word.replace(os.sep, '_'))
                call(['ar', 'rcsT', archive, *(self.folder / made.get(n, n) for n in names)], self.folder)
                command.append(archive)
        return command
