# SPDX-License-Identifier: MIT
"""Mistakes in the condition variable of unmodified programs: one place of one file each."""
from mutant import Mutant

HERE, COND = 'preload/cond_in_place.c', 'lib/sync/cond.c'
BESIDE = 'cancelled beside a waiter'

MUTANTS = [
    Mutant('the cancelled keeps its place', HERE,
           '\tiw_cond_take_back(&me->waiter);\n\t(void)iw_lock_mutex',
           '\t(void)iw_lock_mutex', 'preload', 'cancelled beside a signal'),
    Mutant('cancelled without the mutex', HERE,
           '\t(void)iw_lock_mutex_after_wait(me->mutex, me->waiter.base.site);', '', 'preload',
           'cancelled beside a signal'),
    Mutant('a signal ends with the cancelled', COND,
           '\tif (!give_up(me))\n\t\t(void)ipcwait_cond_signal(me->cond);\n\tleave(me);',
           '\t(void)give_up(me);\n\tleave(me);', 'preload', BESIDE),
    Mutant('the cancelled is out too early', COND,
           '\tif (!give_up(me))\n\t\t(void)ipcwait_cond_signal(me->cond);\n\tleave(me);',
           '\tleave(me);\n\tif (!give_up(me))\n\t\t(void)ipcwait_cond_signal(me->cond);',
           'preload', 'cancelled while it ends'),
    Mutant('a waiter does not adopt it', HERE, 'iw_cond_enter(&me.waiter, iw_cond_own(c),',
           'iw_cond_enter(&me.waiter, (struct ipcwait_cond *)c,', 'preload', 'by a waiter and a'),
    Mutant('sleeps on the other kind of futex', HERE, 'real && at, at, base->private_,',
           'real && at, at, !base->private_,', 'preload', 'adopted by two'),
    Mutant('sleeps in another class', HERE, 'rest->bits ? rest->bits : UINT32_MAX',
           'rest->bits << 1', 'preload', BESIDE),
    Mutant('refused, and still in it', HERE,
           '\tif (r) {\n\t\tiw_cond_take_back(&me.waiter);\n', '\tif (r) {\n', 'preload',
           'preload: not the owner'),
    Mutant('back without the mutex', HERE, '\tlocked = iw_lock_mutex_after_wait(m, site);', '\tlocked = 0;',
           'preload', 'adopted by two'),
]
