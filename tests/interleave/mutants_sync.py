# SPDX-License-Identifier: MIT
"""Mistakes in lib/sync and in the waiting loop: one place of one file each."""
from mutant import Mutant

SEM, HEADER, WAIT = 'lib/sync/sem.c', 'include/ipcwait/sem.h', 'lib/engine/wait.c'

MUTANTS = [
    # Orders
    Mutant('wait does not acquire', SEM, 'ipcwait_impl_cas64_acquire(&me->sem->word, w,',
           'ipcwait_impl_cas64_relaxed(&me->sem->word, w,', 'sem', 'a token for a waiter'),
    Mutant('fast wait does not acquire', HEADER,
           'ipcwait_impl_cas64_acquire(&s->word, &w,\n'
           '\t\t\t\t\t\t      w - IPCWAIT_IMPL_SEM_VALUE_ONE)))\n\t\treturn 0;\n'
           '\treturn ipcwait_impl_sem_wait_slow',
           'ipcwait_impl_cas64_relaxed(&s->word, &w,\n'
           '\t\t\t\t\t\t      w - IPCWAIT_IMPL_SEM_VALUE_ONE)))\n\t\treturn 0;\n'
           '\treturn ipcwait_impl_sem_wait_slow', 'sem', 'hand-over'),
    Mutant('trywait does not acquire', HEADER,
           'if (ipcwait_impl_cas64_acquire(&s->word, &w,\n'
           '\t\t\t\t\t       w - IPCWAIT_IMPL_SEM_VALUE_ONE))',
           'if (ipcwait_impl_cas64_relaxed(&s->word, &w,\n'
           '\t\t\t\t\t       w - IPCWAIT_IMPL_SEM_VALUE_ONE))', 'sem', 'tried for'),
    Mutant('post does not release', SEM, 'ipcwait_impl_cas64_release(&s->word, &w, posted)',
           'ipcwait_impl_cas64_relaxed(&s->word, &w, posted)', 'sem', 'a token for a waiter'),
    Mutant('fast post does not release', HEADER, 'ipcwait_impl_cas64_release(&s->word, &w, w +',
           'ipcwait_impl_cas64_relaxed(&s->word, &w, w +', 'sem', 'a token for a waiter'),
    # Touches after the release
    Mutant('post reads flags late', SEM, '(const uint32_t *)&s->word, due, private_,',
           '(const uint32_t *)&s->word, due, s->flags & IPCWAIT_PRIVATE,', 'sem',
           'a token for a waiter'),
    Mutant('post stamps late', SEM, '\t/* From here on a waiter may have taken',
           '\tif (due)\n\t\tstamped_ns = iw_stamp(&s->window);\n'
           '\t/* From here on a waiter may have taken', 'sem', 'nothing is touched late'),
    Mutant('post looks at the value late', SEM,
           '\telse if (sleepers(w))\n\t\tiw_count(',
           '\telse if (sleepers(ipcwait_impl_load64_relaxed(&s->word)))\n\t\tiw_count(', 'sem',
           'two waiters, two posters'),
    # Lost and swallowed wakes
    Mutant('no wake', SEM, '\tif (due)\n\t\t(void)iw_wake(', '\tif (0)\n\t\t(void)iw_wake(', 'sem',
           'a token for a waiter'),
    Mutant('wake before the token', SEM, '\t\tposted = (known & ~SPINNER)',
           '\t\tif (due)\n\t\t\t(void)iw_futex_wake((const uint32_t *)&s->word, due, private_);\n'
           '\t\tdue = 0;\n\t\tposted = (known & ~SPINNER)', 'sem', 'a token for a waiter'),
    Mutant('one wake for many tokens', SEM, '(const uint32_t *)&s->word, due, private_,',
           '(const uint32_t *)&s->word, 1, private_,', 'sem', 'two waiters, post two'),
    Mutant('wake to the other kind of futex', SEM, 'due, private_,', 'due, !private_,', 'sem',
           'private'),
    Mutant('fast post over sleepers', HEADER, 'IPCWAIT_IMPL_FAST((uint32_t)w == 0)',
           'IPCWAIT_IMPL_FAST(w == w)', 'sem', 'a token for a waiter'),
    Mutant('only new tokens count', SEM, 'uint64_t tokens = value(w) + n;',
           'uint64_t tokens = n;', 'sem', 'two waiters, two posters'),
    Mutant('deadline swallows a token', SEM,
           '\tfor (;;) {\n\t\tif (take(me, &w))\n\t\t\treturn true;\n\t\t/* ORD sem.X9',
           '\tfor (;;) {\n\t\t/* ORD sem.X9', 'sem', 'one token, two deadlines'),
    Mutant('given up, still counted', WAIT, 'if (me->what->withdraw(me))\n\t\tr = 0;',
           'if (0)\n\t\tr = 0;', 'sem', 'deadline'),
    Mutant('announces without a look', SEM,
           '\t\tif (take(me, &w))\n\t\t\treturn IW_TAKEN;', '\t\tuint64_t asleep_;', 'sem',
           'a token for a waiter'),
    Mutant('a return is taken for a wake', WAIT,
           'return me->what->look(me) || (r == 0 && c->learning && spin(me, c, me->again_ns));',
           'return me->what->look(me) || r == 0;', 'sem', 'spurious returns'),
    # Counts of the word
    Mutant('take keeps the wake', SEM, '\t\tw -= WAKE_ONE;', '\t\tw -= 0;', 'sem', 'two waiters'),
    Mutant('wakes below zero', SEM, 'if (me->sleeper && wakes(w))', 'if (me->sleeper)', 'sem',
           'everybody'),
    Mutant('sleeps over wakes', SEM, 'asleep = w & ~(WAKES_MASK | SPINNER);',
           'asleep = w & ~SPINNER;', 'sem', 'overtaken'),
    Mutant('sleeps over the spinner', SEM, 'asleep = w & ~(WAKES_MASK | SPINNER);',
           'asleep = w & ~WAKES_MASK;', 'sem', 'one token, two deadlines'),
    Mutant('sleeps again uncounted', SEM, '\tme->sleeper = false;\n\treturn false;',
           '\treturn false;', 'sem', 'sleeps on a timer'),
    Mutant('counted as sleeper and spinner', SEM,
           'if (me->sleeper || sleepers(w) <= wakes(w)', 'if (sleepers(w) <= wakes(w)', 'sem',
           'overtaken, then looking'),
    Mutant('a spinner that will nap', SEM,
           'sleepers(w) <= wakes(w) || sleepers(w) == SLEEPERS_MAX ||', 'sleepers(w) <= wakes(w) ||',
           'sem', 'no room for a spinner'),
    Mutant('the spinner takes all', SEM, 'awake = wakes(w) + (w & SPINNER ? 1 : 0);',
           'awake = wakes(w) + (w & SPINNER ? 99 : 0);', 'sem', 'post two, three deadlines'),
    Mutant('new wakes on stale ones', SEM, 'posted = (known & ~SPINNER)',
           'posted = (w & ~SPINNER)', 'sem', 'stale wakes'),
    Mutant('naps on the futex word', WAIT,
           'iw_sleep_once(me->what->kind, &nobody, 0, last ? me->deadline_ns : until,\n'
           '\t\t\t      true);',
           'iw_sleep_once(me->what->kind, me->futex, *me->futex,\n'
           '\t\t\t      last ? me->deadline_ns : until, me->private_);', 'sem',
           'more waiters than fit'),
    # Deadlines and limits
    Mutant('half the deadline', WAIT, 'sooner(me->deadline_ns, me->alarm_ns);',
           'sooner(me->deadline_ns = me->deadline_ns / 2 + iw_clock_ns() / 2, 0);', 'sem',
           'deadline'),
    Mutant('our timer is its deadline', WAIT, 'until_ns < me->deadline_ns ? 0 : r;',
           'until_ns < me->deadline_ns && me->deadline_ns == IPCWAIT_FOREVER ? 0 : r;', 'sem',
           'deadline behind a timer'),
    Mutant('our timer is later than it', WAIT,
           ' &&\n\t    (int64_t)wake_at < me->deadline_ns)', ')', 'sem',
           'deadline before a timer'),
    Mutant('a nap beyond it', WAIT, 'last ? me->deadline_ns : until,', 'until,', 'sem',
           'deadline in a nap'),
    Mutant('room is looked for once', SEM,
           '\tdo {\n\t\tif (n > IPCWAIT_SEM_VALUE_MAX - value(w))\n\t\t\treturn -EOVERFLOW;',
           '\tif (n > IPCWAIT_SEM_VALUE_MAX - value(w))\n\t\treturn -EOVERFLOW;\n\tdo {',
           'sem', 'full'),
    Mutant('one CPU: no look after a sleep', WAIT, '\tset_timer(me, c);\n',
           '\tset_timer(me, c);\n\tif (!c->learning)\n\t\treturn 0;\n', 'sem', 'any engine'),
    # Death
    Mutant('the mark is not used up', SEM, 'posted = (known & ~SPINNER)', 'posted = known',
           'sem', 'killed spinner'),
    Mutant('its own stamp is fresh', SEM, 'stale = stale || (wakes(w) && !iw_stamp_fresh',
           'stale = (wakes(w) && !iw_stamp_fresh', 'sem', 'killed poster and a rival'),
    Mutant('stale wakes are believed', SEM, 'known = stale ? w & ~WAKES_MASK : w;',
           'known = w;', 'sem', 'killed poster'),
    # The engine's course
    Mutant('a spin forgets what it took', 'lib/engine/spin.c', '\treturn taken;\n}',
           '\treturn false;\n}', 'sem', 'a token for a waiter'),
    Mutant('our timer ends the wait', WAIT,
           'return r == -ETIMEDOUT && until_ns < me->deadline_ns ? 0 : r;', 'return r;', 'sem',
           'sleeps on a timer'),
    Mutant('the engine wakes one', 'lib/engine/wake.c', 'iw_futex_wake(futex, count, private_)',
           'iw_futex_wake(futex, 1, private_)', 'futex', 'three wait'),
    # The futex wrapper
    Mutant('a wake without a change is lost', 'lib/sync/futex.c',
           'return base->woken || changed(', 'return changed(', 'futex', 'a wake, the same word'),
    Mutant('sleeps on any value', 'lib/sync/futex.c',
           '*expected = ((struct futex_waiter *)base)->expected;',
           '*expected = ((struct futex_waiter *)base)->word->v;', 'futex', 'a word is set'),
]
