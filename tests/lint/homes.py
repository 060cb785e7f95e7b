#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each service has one home: the folders where a word may stand in code."""
import re
from typing import NamedTuple, Tuple

import source

CPU_OR_OS = r'''__x86_64__ __amd64__ __i386__ __aarch64__ __arm__ __ARM_\w+ __riscv\w* __powerpc\w*
    __s390x?__ __loongarch\w* __mips\w* __SSE\w* __AVX\w* __WAITPKG__ __linux__ __linux __unix__
    __gnu_linux__ __GLIBC\w* __ANDROID__ __BIONIC__ __APPLE__ __FreeBSD__ __OpenBSD__ __NetBSD__
    _WIN32'''.split()


class Home(NamedTuple):
    rule: str
    pattern: str
    scope: Tuple[str, ...]      # where the rule applies
    homes: Tuple[str, ...]      # where the word may stand all the same
    advice: str


CODE = ('include', 'lib', 'preload', 'cli', 'examples', 'bench', 'tools')
LIBRARY = ('include', 'lib')

TABLE = (
    # The module's calls are the program's own, and go to the function that it stands in front of,
    # whose name it has as an assembler's: libc declares it with other parameters. The shim defines
    # that function anew.
    # The benchmark's plain futex must not be the library's: that one learns from every wake.
    Home('homes.syscall', r'\bsyscall\s*\(', CODE,
         ('lib/os/syscall.h', 'preload/syscall.c', 'bench/common/raw_futex.c',
          'bench/preload/null_shim.c'),
         'libc\'s syscall() may be the program\'s: call a wrapper of lib/os, and there IW_SYS()'),
    Home('homes.asm', r'\b(?:asm|__asm|__asm__)\b|#\s*include\s*<(?:cpuid|arm_acle|\w*intrin)\.h>',
         CODE, ('lib/arch',), 'CPU instructions are written in lib/arch only'),
    Home('homes.builtin', r'\b__builtin_(?:ia32|arm|aarch64|riscv)_\w+', LIBRARY, ('lib/arch',),
         'builtins of one CPU are used in lib/arch only'),
    Home('homes.getenv', r'\b(?:secure_)?getenv\s*\(', ('include', 'lib', 'preload'), ('lib/env',),
         'the environment is read in lib/env only'),
    Home('homes.futex', r'\biw_futex_\w+\s*\(', LIBRARY, ('lib/engine', 'lib/calibrate', 'lib/os'),
         'the one road to the futex is iw_wait() and iw_wake() of lib/engine'),
    Home('homes.platform', r'^[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif)\b(?:\\\n|[^\n])*?'
         r'\b(?:' + '|'.join(CPU_OR_OS) + r')\b', LIBRARY, ('lib/arch', 'lib/os'),
         'no CPU or OS condition above lib/os: choose the variant by folder'),
    Home('homes.pthread', r'\bpthread(?:_\w+|\.h)', LIBRARY, ('lib/os',),
         'the library uses no pthread functions outside lib/os'),
    Home('homes.atomic', r'\b__(?:atomic|sync)_\w+|\b__ATOMIC_\w+|\b_Atomic\b|\bstdatomic\.h'
         r'|\batomic_(?:load|store|exchange|compare|fetch|flag|init|signal)\w*', LIBRARY,
         ('include/ipcwait/impl/word.h', 'lib/os/seam.h'),
         'use ipcwait_impl_<operation><bits>_<order>() of impl/word.h'),
    Home('homes.fence', r'\b(?:__atomic|atomic)_thread_fence\b|\b__sync_synchronize\b', LIBRARY, (),
         'no stand-alone fences, race detectors do not model them: order the access itself'),
    Home('homes.yield', r'\bsched_yield\b', ('lib',), (),
         'sched_yield() is no way to wait: spin with the pause hook or sleep'),
)
RULES = tuple(home.rule for home in TABLE)


def check(tree):
    files = tree.c_sources(*CODE)
    for home in TABLE:
        pattern = re.compile(home.pattern, re.M)
        for file in files:
            if not file.within(*home.scope) or file.within(*home.homes):
                continue
            for m in pattern.finditer(file.code):
                tree.add(home.rule, file.path, file.line(m.start()), home.advice)
    return len(files), 'files'


if __name__ == '__main__':
    source.main(check)
