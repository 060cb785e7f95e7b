# SPDX-License-Identifier: MIT
"""Mistakes in what is done with the copies of private objects that fork(2) makes."""
from mutant import Mutant

COPY, COND_WAKE = 'lib/sync/copy.c', 'lib/sync/cond_wake.c'

# Who comes second goes on at once.
HASTY = ('\t\tif (is(layout, note, mine))', '\t\tif (is(layout, note, mine) || is(layout, note, mine | busy))')
# Who comes second begins as well.
TWICE = ('\t\tif (is(layout, note, mine | busy)) {', '\t\tif (0) {')
EARLY = ('\t\tif (layout->forget)\n', '\t\tfinish(layout, at, mine);\n\t\tif (layout->forget)\n')

MUTANTS = [
    Mutant('copy: nobody waits for the first', COPY, *HASTY, 'sem', 'sem: a copy'),
    Mutant('copy: nobody waits, barrier', COPY, *HASTY, 'gates', 'barrier: a copy'),
    Mutant('copy: forgotten twice', COPY, *TWICE, 'sem', 'sem: a copy'),
    Mutant('copy: forgotten twice, barrier', COPY, *TWICE, 'gates', 'barrier: a copy'),
    Mutant('copy: noted, then forgotten', COPY, *EARLY, 'sem', 'sem: a copy'),
    Mutant('copy: noted, then forgotten, rwlock', COPY, *EARLY, 'rwlock', 'rwlock: a copy'),
    Mutant('copy: a CAS is enough', COPY, '\twhile (!ipcwait_impl_cas64_relaxed(word, &w, w & layout->lasting))\n\t\tcontinue;',
           '\t(void)ipcwait_impl_cas64_relaxed(word, &w, w & layout->lasting);', 'eventcount',
           'eventcount: a copy'),
    Mutant('copy: places stay', 'lib/sync/eventcount.c',
           '\tif (!me->in_line)\n\t\tiw_copy_mend(&layout, me->ec);\n', '', 'eventcount',
           'eventcount: a copy'),
    Mutant('copy: mended while in line', 'lib/sync/eventcount.c',
           '.lasting = HEAD_MASK * HEAD_ONE | UINT32_MAX', '.lasting = UINT32_MAX << 1', 'eventcount',
           'eventcount: a copy'),
    Mutant('copy: parties stay', 'lib/sync/barrier.c',
           '\tiw_copy_mend(&layout, b);\n\twaker', '\twaker', 'gates', 'barrier: a copy'),
    Mutant('copy: who locks does not ask', 'lib/sync/rwlock.c',
           '\t\tiw_copy_mend(&rwlock_layout, l);\n\t\tr = wait', '\t\tr = wait', 'rwlock', 'a copy'),
    Mutant('copy: the holder is forgotten', 'lib/sync/rwlock_word.h',
           '.lasting = RWLOCK_WRITER | ', '.lasting = ', 'rwlock', 'a copy that is held'),
    Mutant('copy: tokens are forgotten', 'lib/sync/sem.c',
           '.lasting = IPCWAIT_IMPL_SEM_VALUE_MASK', '.lasting = 0', 'sem', 'sem: a copy'),
    Mutant('copy: sets are forgotten', 'lib/sync/event.c',
           '.lasting = SET | EPOCH_MASK', '.lasting = EPOCH_MASK', 'event', 'event: a copy'),
    Mutant('copy: counts are forgotten', 'lib/sync/latch.c',
           '.lasting = ~SLEEPERS_MASK', '.lasting = SLEEPERS_MASK', 'gates', 'latch: a copy'),
    Mutant('copy: tickets stay', 'lib/sync/cond.c',
           '\tiw_copy_mend(&cond_layout, c);\n\tiw_waiter_begin', '\tiw_waiter_begin', 'cond',
           'cond: a copy'),
    Mutant('copy: SERVED stays', COND_WAKE,
           '\twhile (!ipcwait_impl_cas64_relaxed(&c->word, &b.w, cond_pass_all(b.w, b.arrivals)))\n'
           '\t\tb = load_both(c);\n',
           '', 'cond', 'cond: a copy'),
    Mutant('copy: the spinner stays', COND_WAKE, 'b.arrivals & ~COND_SPINNER))\n\t\tcontinue;\n\t/* ORD',
           'b.arrivals))\n\t\tcontinue;\n\t/* ORD', 'cond', 'cond: a copy'),
]
