# SPDX-License-Identifier: MIT
"""Trees that break one rule each. Every case starts from a copy of fixture/.

CASES: (rule, where it has to be reported, edit, ...), with edits
  (path, old, new)       replace text that stands there exactly once
  (path, None, text)     write the file
  (path, None, None)     remove it
"""
SPDX = '/* SPDX-License-Identifier: MIT */\n'
WORD = 'include/ipcwait/impl/word.h'
SEM_H, SEM_C = 'include/ipcwait/sem.h', 'lib/sync/sem.c'
COND, WAIT, MAP = 'lib/sync/cond.c', 'lib/engine/wait.c', 'lib/libipcwait.map'
REQUEUE = '#include "sync/mutex.h"\n'

X1 = 'ORD sem.X1: relaxed, re-checked by nobody.'
A2 = '/* ORD sem.A2: pairs with sem.R1. */'


def write(path, text):
    return (path, None, text)


def include(path, what):
    return (path, SPDX, f'{SPDX}#include {what}\n')


def code(path, line):
    """A file with this line of code in a function, after the file's own text."""
    return (path, None, f'{SPDX}void f(void)\n{{\n\t{line}\n}}\n')


LAYERS = [
    ('layers.table', 'lib/layers.txt:1', ('lib/layers.txt', '# Lowest first.\n', 'zero lib/x\n')),
    ('layers.table', 'lib/layers.txt:3', ('lib/layers.txt', '1 lib/os', '0 lib/arch\n1 lib/os')),
    ('layers.table', 'lib/new/a.c:1', write('lib/new/a.c', SPDX)),
    ('layers.table', 'lib/layers.txt:1', ('lib/layers.txt', None, None)),
    ('layers.missing', f'{WAIT}:2', include(WAIT, '"wait/gone.h"')),
    ('layers.missing', f'{WAIT}:2', include(WAIT, '"../tests/unit/gone.h"')),
    ('layers.upward', 'lib/env/config.c:2', include('lib/env/config.c', '"engine/wait.h"')),
    ('layers.upward', 'lib/os/futex.c:2', include('lib/os/futex.c', '<engine/wait.h>')),
    ('layers.upward', 'lib/os/futex.c:2', include('lib/os/futex.c', '"../engine/wait.h"')),
    ('layers.upward', 'lib/arch/arch.h:2', include('lib/arch/arch.h', '"os/clock.h"')),
    ('layers.seam', f'{WAIT}:2', include(WAIT, '"os/futex.h"')),
    ('layers.seam', f'{COND}:2', include(COND, '"../os/clock.h"')),
    ('layers.seam', 'lib/env/config.c:2', include('lib/env/config.c', '"arch/arch.h"')),
    ('layers.object', f'{SEM_C}:2', include(SEM_C, '"sync/mutex.h"')),
    ('layers.object', f'{SEM_C}:2', include(SEM_C, '"mutex.h"')),
    ('layers.object', f'{COND}:2', include(COND, '<ipcwait/sem.h>')),
    ('layers.public', f'{SEM_H}:2', include(SEM_H, '<pthread.h>')),
    ('layers.public', f'{SEM_H}:2', include(SEM_H, '"base.h"')),
    ('layers.public', f'{SEM_H}:2', include(SEM_H, '<ipcwait/gone.h>')),
    ('layers.public', f'{SEM_H}:2', include(SEM_H, 'SOME_MACRO')),
    ('layers.user', 'cli/main.c:2', include('cli/main.c', '<ipcwait/impl/word.h>')),
    ('layers.user', 'cli/main.c:2', include('cli/main.c', '"os/futex.h"')),
    ('layers.user', 'cli/main.c:2', include('cli/main.c', '"../lib/os/futex.h"')),
    ('layers.user', 'cli/main.c:2', include('cli/main.c', '<os/futex.h>')),
    ('layers.user', 'bench/policy_sim/run.c:2',
     ('lib/layers.txt', '6 cli\n', '6 cli\n6 bench\n'),
     write('bench/policy_sim/run.c', f'{SPDX}#include "policy/window.h"\n')),
    ('layers.user', 'tools/rules/rule_ipcwait.c:2',
     ('lib/layers.txt', '6 cli\n', '6 cli\n6 tools/rules\n'),
     write('tools/rules/rule_ipcwait.c', f'{SPDX}#include "engine/wait.h"\n')),
    ('layers.user', 'tools/common/a.c:2', write('tools/common/a.c', f'{SPDX}#include "os/futex.h"\n')),
    ('layers.user', 'tools/common/a.c:2',
     write('tools/common/a.c', f'{SPDX}#include "../../cli/own.h"\n')),
    ('layers.user', 'preload/a.c:2',
     ('lib/layers.txt', '6 cli\n', '5 preload\n6 cli\n'),
     write('preload/a.c', f'{SPDX}#include "../tools/common/spare.h"\n')),
]

HOMES = [
    ('homes.syscall', f'{WAIT}:4', code(WAIT, 'syscall (202);')),
    ('homes.syscall', 'cli/main.c:4', code('cli/main.c', 'syscall(202);')),
    ('homes.syscall', 'lib/os/a.c:4', code('lib/os/a.c', 'syscall(202);')),
    ('homes.asm', f'{WAIT}:4', code(WAIT, '__asm__ volatile("pause");')),
    ('homes.asm', 'bench/a.c:4', code('bench/a.c', 'asm("");')),
    ('homes.asm', 'lib/os/clock.h:2', include('lib/os/clock.h', '<x86intrin.h>')),
    ('homes.asm', f'{WAIT}:2', include(WAIT, '<cpuid.h>')),
    ('homes.builtin', f'{WAIT}:4', code(WAIT, '__builtin_ia32_pause();')),
    ('homes.getenv', 'lib/os/a.c:4', code('lib/os/a.c', 'getenv("A");')),
    ('homes.getenv', 'preload/a.c:4', code('preload/a.c', 'secure_getenv("A");')),
    ('homes.futex', 'lib/env/a.c:4', code('lib/env/a.c', 'iw_futex_wake(0, 1);')),
    ('homes.platform', f'{WAIT}:2', (WAIT, SPDX, SPDX + '#ifdef __x86_64__\n#endif\n')),
    ('homes.platform', f'{WAIT}:2',
     (WAIT, SPDX, SPDX + '# if 0 || \\\n\tdefined(__linux__)\n# endif\n')),
    ('homes.platform', f'{COND}:4', (COND, REQUEUE, '#if 0\n\n#elif __GLIBC__ > 2\n#endif\n')),
    ('homes.pthread', f'{WAIT}:4', code(WAIT, 'pthread_self();')),
    ('homes.pthread', f'{COND}:2', include(COND, '<pthread.h>')),
    ('homes.atomic', f'{WAIT}:4', code(WAIT, '(void)__atomic_load_n(&x, 0);')),
    ('homes.atomic', f'{WAIT}:4', code(WAIT, '__sync_fetch_and_add(&x, 1);')),
    ('homes.atomic', f'{WAIT}:4', code(WAIT, '_Atomic int x;')),
    ('homes.atomic', f'{SEM_H}:2', include(SEM_H, '<stdatomic.h>')),
    ('homes.fence', 'lib/os/seam.h:5', ('lib/os/seam.h', '"os/futex.h"\n',
                                        '"os/futex.h"\n__atomic_thread_fence(0);\n')),
    ('homes.fence', f'{WORD}:2', (WORD, '/* Where', 'atomic_thread_fence(0);\n/* Where')),
    ('homes.yield', f'{WAIT}:4', code(WAIT, 'sched_yield();')),
]

IDIOMS = [
    ('idioms.comment', f'{WAIT}:4', code(WAIT, 'g(); // why')),
    ('idioms.comment', 'tests/unit/a.c:4', code('tests/unit/a.c', '// g();')),
    ('idioms.comment', f'{WAIT}:4', code(WAIT, 'g("\\""); // a quote in a string before it')),
    ('idioms.mark', f'{WAIT}:4', code(WAIT, '/* TO' 'DO: more */')),
    ('idioms.mark', f'{SEM_H}:3', (SEM_H, 'A semaphore.', 'A semaphore. FIX' 'ME')),
    ('idioms.sign', 'cli/main.c:4', code('cli/main.c', 'g(ipcwait_sem_wait(&s, h(1)) == EINTR);')),
    ('idioms.sign', 'cli/main.c:4', code('cli/main.c', 'g(EINTR != ipcwait_sem_wait(&s));')),
    ('idioms.sign', 'cli/main.c:15', ('cli/main.c', 'r == -EINTR', 'r == EINTR')),
    ('idioms.sign', 'tests/unit/a.c:4', code('tests/unit/a.c',
                                             'while ((r = ipcwait_sem_wait(&s)) == EINTR);')),
]

LOAD, STORE = 'load32_relaxed(&s->word)', '\tipcwait_impl_store32_release'
ORDERING = [
    ('ordering.untagged', 'lib/sync/event.c:4',
     code('lib/sync/event.c', 'ipcwait_impl_store64_release(w, 1);')),
    ('ordering.untagged', f'{SEM_H}@uint32_t v =', (SEM_H, 'uint32_t v', '\n\tuint32_t v'),
     (SEM_H, 'Pairs with sem.R1. */', 'Pairs with sem.R1. */ ipcwait_impl_load32_acquire(w);')),
    ('ordering.untagged', f'{SEM_C}@if (ipcwait_impl_load32',
     (SEM_C, A2, ''), (SEM_C, '\tint r =', f'\tipcwait_impl_load32_acquire(w); {A2}\n\tint r =')),
    ('ordering.untagged', f'{SEM_C}@{STORE}', (SEM_C, STORE, '\n' + STORE),
     (SEM_C, LOAD, LOAD + ' + ipcwait_impl_store32_release(w, 1)')),
    ('ordering.untagged', f'{SEM_C}@{STORE}', (SEM_C, STORE, '}\n{\n' + STORE),
     (SEM_C, LOAD, LOAD + ' + ipcwait_impl_store32_release(w, 1)')),
    ('ordering.untagged', f'{SEM_C}@iw_add64',
     (SEM_C, '\tint r =', '\tiw_add64_acq_rel(&s, 1);\n\tint r =')),
    ('ordering.letter', f'{SEM_C}@load32_seq_cst',
     (SEM_C, LOAD, LOAD + ' + ipcwait_impl_load32_seq_cst(w)')),
    ('ordering.letter', f'{SEM_C}@cas32_acq_rel', (SEM_C, 'store32_release', 'cas32_acq_rel')),
    ('ordering.unused', f'{SEM_C}@ORD sem.X1', (SEM_C, 'ipcwait_impl_' + LOAD, '1')),
    ('ordering.unused', f'{SEM_C}@ORD sem.X2',
     (SEM_C, 'int deep', '/* ORD sem.X2: hint. */\nint deep')),
    ('ordering.grammar', f'{SEM_C}@ORD sem.X1 -', (SEM_C, X1, f'ORD sem.X1 - a hint. {X1}')),
    ('ordering.grammar', f'{SEM_C}@ORD sem.Q1', (SEM_C, X1, f'ORD sem.Q1: a hint. {X1}')),
    ('ordering.file', f'{SEM_C}@ORD mutex.X1', (SEM_C, 'ORD sem.X1', 'ORD mutex.X1')),
    ('ordering.duplicate', f'{SEM_C}@{X1} again', (SEM_C, X1, f'{X1}\n\t\t * {X1} again')),
    ('ordering.partner', f'{SEM_C}@ORD sem.A2',
     (SEM_C, 'sem.A2: pairs with sem.R1', 'sem.A2: as sem.A1'),
     (SEM_C, 'with\n\t\t * sem.A2.', 'no other.')),
    ('ordering.partner', f'{SEM_C}@ORD sem.R1', (SEM_C, 'and with\n\t\t * sem.A2.', 'no other.')),
    ('ordering.partner', f'{SEM_C}@ORD sem.R1', (SEM_C, 'and with\n', 'and. See\n')),
    ('ordering.partner', f'{SEM_C}@ORD sem.A2',
     (SEM_C, 'pairs with sem.R1.', 'pairs with sem.R1 and sem.X1.')),
    ('ordering.partner', f'{SEM_C}@ORD sem.S1', (SEM_C, LOAD, LOAD + ' + iw_load32_seq_cst(w)'),
     (SEM_C, X1, f'ORD sem.S1: pairs with sem.X1. {X1}')),
    ('ordering.reason', f'{SEM_C}@ORD sem.X1', (SEM_C, X1, 'ORD sem.X1: relaxed is enough.')),
    ('ordering.dangling', f'{SEM_H}@ORD sem.A1',
     (SEM_H, 'Pairs with sem.R1.', 'Pairs with sem.R1, sem.R9.')),
    ('ordering.dangling', f'{SEM_C}@sem.A9', (SEM_C, 'not 1 - as in sem.A1', 'as in sem.A9')),
    ('ordering.dangling', 'docs/design/sem.md:2', write('docs/design/sem.md', 'See\nsem.R3.\n')),
]

SYMBOLS = [
    ('symbols.map', f'{MAP}:1', (MAP, '*;', '')),
    ('symbols.map', f'{MAP}:1', (MAP, None, None)),
    ('symbols.map', f'{MAP}@ipcwait_*;', (MAP, 'local:', '\tipcwait_*;\nlocal:')),
    ('symbols.map', f'{MAP}@ipcwait_sem_fini; # twice',
     (MAP, 'local:', '\tipcwait_sem_fini; # twice\nlocal:')),
    ('symbols.undeclared', f'{MAP}@ipcwait_x;', (MAP, 'local:', '\tipcwait_x;\nlocal:')),
    ('symbols.unlisted', f'{SEM_H}@IPCWAIT_API int', (MAP, 'ipcwait_impl_sem_wait_slow;', '')),
    ('symbols.unlisted', f'{SEM_H}@IPCWAIT_INLINE int',
     (MAP, 'ipcwait_sem_wait;', '/* ipcwait_sem_wait; */')),
]

LABELS = [
    ('labels.file', f'{SEM_H}:1',
     (SEM_H, '/*\n * A semaphore.', '\n#define X\n/*\n * A semaphore.')),
    ('labels.comment', f'{SEM_H}@IPCWAIT_API void',
     (SEM_H, '/**\n * ipcwait_sem_fini', '/*\n * ipcwait_sem_fini')),
    ('labels.comment', f'{SEM_H}@IPCWAIT_API void',
     (SEM_H, 'IPCWAIT_API void', '\nIPCWAIT_API void')),
    ('labels.comment', f'{SEM_H}@IPCWAIT_API void',
     (SEM_H, 'ipcwait_sem_fini() -', 'ipcwait_sem_end() -')),
    ('labels.comment', f'{SEM_H}@IPCWAIT_API void',
     (SEM_H, 'ipcwait_sem_fini() - end a semaphore', 'ipcwait_sem_fini() -')),
    ('labels.parameter', f'{SEM_H}@IPCWAIT_INLINE int',
     (SEM_H, ' * @on: called with every token\n', '')),
    ('labels.parameter', f'{SEM_H}@IPCWAIT_INLINE int', (SEM_H, '@on:', '@off:')),
    ('labels.missing', f'{SEM_H}@IPCWAIT_API void', (SEM_H, ' * Ordering:     none\n', '')),
    ('labels.missing', f'{SEM_H}@IPCWAIT_INLINE int', (SEM_H, 'Return: 0.', 'Result: 0.')),
    ('labels.order', f'{SEM_H}@IPCWAIT_API void',
     (SEM_H, ' * Threads:      one\n * Processes:    any\n',
                                     ' * Processes:    any\n * Threads:      one\n')),
    ('labels.order', f'{SEM_H}@IPCWAIT_API void',
     (SEM_H, ' * Ordering:     none', ' * Return: nothing\n * Ordering:     none')),
    ('labels.empty', f'{SEM_H}@IPCWAIT_API void', (SEM_H, 'Lifetime:     ends here', 'Lifetime:')),
    ('labels.name', f'{SEM_H}@IPCWAIT_API void',
     (SEM_H, 'IPCWAIT_API void ipcwait_sem_fini', 'IPCWAIT_API void sem_fini'),
     (SEM_H, '* ipcwait_sem_fini', '* sem_fini')),
]

LONG = '\tg();\n' * 58
NEST = '\tfor (;;)\n\t\tif (a)\n\t\t\twhile (b)\n'
SIZES = [
    ('sizes.function', 'cli/main.c:2', write('cli/main.c', f'{SPDX}int\nf(void)\n{{\n{LONG}}}\n')),
    ('sizes.file', 'lib/engine/wait.c:500', write(WAIT, SPDX + '\n' * 500)),
    ('sizes.file', 'lib/engine/wait.h:300', write('lib/engine/wait.h', SPDX + '\n' * 300)),
    ('sizes.file', f'{SEM_H}:500', (SEM_H, '#include <errno.h>\n', '\n' * 500)),
    ('sizes.macro', 'tests/unit/a.c:2',
     write('tests/unit/a.c', SPDX + '#define A \\\n' + '\tb \\\n' * 7 + '\tc\n')),
    ('sizes.nesting', f'{WAIT}:7',
     write(WAIT, f'{SPDX}void f(void)\n{{\n{NEST}\t\t\t\tdo\n;\nwhile(c);\n}}\n')),
    ('sizes.nesting', f'{WAIT}:7',
     write(WAIT, f'{SPDX}void f(void)\n{{\n{NEST}\t\t\t\tFOR_EACH(x) {{ g(); }}\n}}\n')),
    ('sizes.nesting', f'{WAIT}:9', write(WAIT, f'{SPDX}void f(void)\n{{\n{NEST}\t\t\t\tx = y(1);\n'
                                         '\tswitch (a) {\ncase 1: if (a) for (;;) { if (b) {} '
                                         'else if (c) ; } }\n}\n')),
]

TEXT = [
    ('text.licence', f'{WAIT}:1', (WAIT, SPDX, '')),
    ('text.licence', f'{WAIT}:1', (WAIT, SPDX, '\n' + SPDX)),
    ('text.licence', 'scripts/demo:1', ('scripts/demo', '# SPDX', '# spdx')),
    ('text.licence', 'tests/a.py:1', write('tests/a.py', 'pass\n')),
    ('text.newline', 'meson.build:1', write('meson.build', "project('x')")),
    ('text.newline', 'README.md:6', ('README.md', 'none.\n', 'none.\n\n')),
    ('text.blanks', f'{WAIT}:2', (WAIT, '"os/seam.h"', '"os/seam.h" ')),
    ('text.blanks', f'{WAIT}:2', (WAIT, '"os/seam.h"', '"os/seam.h"\r')),
    ('text.columns', f'{WAIT}:4', code(WAIT, 'g(' + 'a' * 90 + ');')),
    ('text.indent', f'{WAIT}:4', (WAIT, None, f'{SPDX}int f(void)\n{{\n    return 1;\n}}\n')),
    ('text.indent', f'{WAIT}:4', (WAIT, None, f'{SPDX}int f(void)\n{{\n  \treturn 1;\n}}\n')),
    ('text.indent', f'{WAIT}:4', (WAIT, None, f'{SPDX}int f(void)\n{{\n\t        return 1;\n}}\n')),
    ('text.indent', 'tests/a.py:3',
     write('tests/a.py', '# SPDX-License-Identifier: MIT\nif 1:\n\tpass\n')),
]

HYGIENE = [
    ('hygiene.path', 'README.md:3', ('README.md', './scripts', '/' 'home/me/scripts')),
    ('hygiene.path', 'a.txt:1', write('a.txt', 'cc -I/' 'work/main/include\n')),
    ('hygiene.path', 'a.txt:2', write('a.txt', '\nfile:///' 'root/x\n')),
    ('hygiene.path', 'a.txt:1', write('a.txt', 'D="/' 'Users/me"\n')),
]

DOCS = [
    ('docs.page', f'{SEM_H}@IPCWAIT_API void',
     ('docs/man/ipcwait_sem.3', '.Nm ipcwait_sem_fini ,\n', '')),
    ('docs.page', f'{SEM_H}@IPCWAIT_INLINE int',
     ('docs/man/ipcwait_sem.3', '.Nm ipcwait_sem_wait\n', ''),
     ('docs/man/ipcwait_sem.3', '.Nm ipcwait_other', '.Nm ipcwait_sem_wait')),
    ('docs.stale', 'docs/man/ipcwait_sem.3@ipcwait_gone',
     ('docs/man/ipcwait_sem.3', '.Nd sem', '.Nm ipcwait_gone\n.Nd sem')),
    ('docs.readme', 'README.md:1', ('README.md', None, None)),
    ('docs.readme', 'README.md:3', ('scripts/demo', None, None)),
    ('docs.readme', 'README.md:3', ('docs/design/sem.md', None, None)),
    ('docs.readme', 'README.md:1', write('README.md', 'See examples/gone/main.c.\n')),
]

NOTE, RESULT = 'docs/design/sem.md', 'bench/results/sem-'
RESULTS = [
    ('results.size', f'{RESULT}guest.json:1', write(f'{RESULT}guest.json', ' ' * 30721)),
    ('results.total', 'bench/results:1',
     *(write(f'{RESULT}{i}-host.json', ' ' * 30000) for i in range(35))),
    ('results.named', 'bench/results/mutex-guest.json:1',
     write('bench/results/mutex-guest.json', '{}\n')),
    ('results.named', f'{RESULT}guest.json:1', (NOTE, f'{RESULT}guest', '')),
    ('results.named', f'{RESULT}guest.json:1', (NOTE, 'sem-guest', '*')),
    ('results.path', f'{RESULT}guest.json:2',
     write(f'{RESULT}guest.json', '{"command":["bench","--json",\n"/tmp/raw.json"]}\n')),
    ('results.missing', f'{NOTE}@Measured', (f'{RESULT}guest.json', None, None)),
    ('results.missing', f'{NOTE}:4',
     (NOTE, '-host.json`.\n', f'-host.json`.\n`{RESULT}gone.json`\n')),
]

FORMAT = [
    ('format.clang', f'{WAIT}:4', code(WAIT, 'if(a)g();')),
    ('format.clang', 'include/ipcwait/sem.hpp:4', code('include/ipcwait/sem.hpp', 'if(a)g();')),
]

CASES = [*LAYERS, *HOMES, *IDIOMS, *ORDERING, *SYMBOLS, *LABELS, *SIZES, *TEXT, *HYGIENE, *DOCS,
         *RESULTS, *FORMAT]
