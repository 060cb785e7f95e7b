# SPDX-License-Identifier: MIT
"""Mistakes in barrier, latch and once: one place of one file each."""
from mutant import Mutant

BARRIER, LATCH, ONCE = 'lib/sync/barrier.c', 'lib/sync/latch.c', 'lib/sync/once.c'
ENGINE = 'lib/engine/wait.c'
LATCH_HEADER, ONCE_HEADER = 'include/ipcwait/latch.h', 'include/ipcwait/once.h'

WAITABLE = """static const struct iw_waitable barrier_waitable = {
\t.kind = IPCWAIT_KIND_BARRIER,
\t.resumable = true,
\t.look = look,
\t.settle = settle,
"""

# The end of a run is seen by a return only.
RUN = """\tstruct once_run run __attribute__((cleanup(leave_run))) = { o, name, false };
\tint r = fn(arg);

\trun.succeeded = r == 0;
"""
RUN_BLIND = """\tstruct once_run run = { o, name, false };
\tint r = fn(arg);

\trun.succeeded = r == 0;
\tleave_run(&run);
"""


def mutant(name, file, old, new, scenario):
    return Mutant(name, file, old, new, 'gates', scenario)


OF_BARRIER = [
    # Orders
    mutant('barrier: arrival does not release', BARRIER, 'ipcwait_impl_cas64_acq_rel(&b->word,',
           'ipcwait_impl_cas64_acquire(&b->word,', 'barrier: two meet'),
    mutant('barrier: the last does not acquire', BARRIER, 'ipcwait_impl_cas64_acq_rel(&b->word,',
           'ipcwait_impl_cas64_release(&b->word,', 'barrier: two meet'),
    mutant('barrier: a look does not acquire', BARRIER,
           'return ipcwait_impl_load64_acquire(&me->barrier->word);',
           'return ipcwait_impl_load64_relaxed(&me->barrier->word);', 'barrier: two meet'),
    mutant('barrier: leaving does not release', BARRIER, 'ipcwait_impl_add64_release(',
           'ipcwait_impl_add64_relaxed(', 'barrier: ended by one of two'),
    mutant('barrier: its end does not acquire', BARRIER,
           'return !(ipcwait_impl_load64_acquire(', 'return !(ipcwait_impl_load64_relaxed(',
           'barrier: ended by one of two'),
    mutant('barrier: giving up does not release', BARRIER,
           'ipcwait_impl_cas64_release(&me->barrier->word, &w, next)',
           'ipcwait_impl_cas64_relaxed(&me->barrier->word, &w, next)',
           'barrier: ended when one'),
    # Touches after the release, or after the leave
    mutant('barrier: flags read late', BARRIER, 'iw_waker_wake(&waker, UINT32_MAX);',
           'waker.private_ = b->flags & IPCWAIT_PRIVATE, iw_waker_wake(&waker, UINT32_MAX);',
           'barrier: ended by one of two'),
    mutant('barrier: stamped late', BARRIER, '\tif (before & SLEEPS)\n',
           '\tif (before & SLEEPS)\n\t\twaker.stamped_at = iw_stamp(&b->window);\n'
           '\tif (before & SLEEPS)\n', 'barrier: ended by one of two'),
    mutant('barrier: a look after leaving', BARRIER, '\tleave(b);\n',
           '\tleave(b);\n\tme.round = round_of(read_word(&me));\n',
           'barrier: ended by one of two'),
    mutant('barrier: its end does not wait', BARRIER, '\tr = wait_for_leavers(b);\n',
           '\t(void)wait_for_leavers;\n', 'barrier: ended by one of two'),
    mutant('barrier: its end waits once', BARRIER,
           'return look_at_end(base) == IW_THERE ? iw_rest_taken() : iw_rest_unpublished();',
           'return iw_rest_taken();',
           'barrier: ended by one of two'),
    # Wakes
    mutant('barrier: no wake', BARRIER, '\tif (before & SLEEPS)\n', '\tif (0)\n',
           'barrier: two meet'),
    mutant('barrier: wakes one', BARRIER, 'iw_waker_wake(&waker, UINT32_MAX);',
           'iw_waker_wake(&waker, 1);',
           'barrier: three meet'),
    mutant('barrier: wake to the other kind of futex', BARRIER, 'iw_waker_wake(&waker, UINT32_MAX);',
           'waker.private_ = !waker.private_, iw_waker_wake(&waker, UINT32_MAX);',
           'barrier: private'),
    mutant('barrier: sleeps unannounced', BARRIER,
           '&me->barrier->word, &w, w | SLEEPS)', '&me->barrier->word, &w, w)',
           'barrier: two meet'),
    mutant('barrier: sleeps without a look', BARRIER,
           '\t\tif (round_of(w) != me->round)\n\t\t\treturn iw_rest_taken();\n',
           '\t\tif (round_of(w) != me->round)\n\t\t\treturn iw_rest_on(base->futex, round_of(w));\n',
           'barrier: two meet'),
    mutant('barrier: the next round is told of sleepers', BARRIER,
           'uint64_t next = (w & LEAVING_MASK)', 'uint64_t next = (w & (LEAVING_MASK | SLEEPS))',
           'barrier: two meet'),
    mutant('barrier: who gives up hides sleepers', BARRIER, 'if (!(next & ARRIVED_MASK))',
           'if (true)', 'barrier: four deadlines'),
    mutant('barrier: the last who gives up hides nothing', BARRIER,
           'if (!(next & ARRIVED_MASK))', 'if (false)', 'barrier: deadlines'),
    mutant('barrier: a signal ends a wait', ENGINE, 'if (r == -EINTR && !me->interruptible)', 'if (false)',
           'barrier: signals'),
    mutant('barrier: a signal ends its end', ENGINE, 'if (r == -EINTR && !me->interruptible)', 'if (false)',
           'barrier: ended under signals'),
    # Counts
    mutant('barrier: one party too many', BARRIER, 'arrived(w) + 1 >= parties;',
           'arrived(w) >= parties;', 'barrier: two meet'),
    mutant('barrier: the round carries', BARRIER, '((w + 1) & ROUND_MASK)',
           '((w & ROUND_MASK) + 1)', 'barrier: the round wraps'),
    mutant('barrier: the released are not counted', BARRIER,
           'last ? next + arrived(w) * LEAVING_ONE', 'last ? next', 'barrier: two meet'),
    mutant('barrier: nobody leaves', BARRIER, '\tleave(b);\n', '\t(void)leave;\n',
           'barrier: two meet'),
    mutant('barrier: given up, still counted', BARRIER, 'if (r && take_back(&me))',
           'if (r && (take_back(&me), 0))', 'barrier: deadlines'),
    mutant('barrier: given up, never asked', BARRIER, 'if (r && take_back(&me))',
           'if (r)', 'barrier: deadlines'),
    mutant('barrier: given up in another round', BARRIER,
           '\t\tif (round_of(w) != me->round)\n\t\t\treturn false;\n', '',
           'barrier: three deadlines'),
    mutant('barrier: looking on is giving up', BARRIER, WAITABLE + '};',
           'static bool take_back(const struct barrier_waiter *me);\n'
           'static bool go(struct iw_waiter *me) { return !take_back((void *)me); }\n'
           + WAITABLE + '\t.withdraw = go,\n};', 'barrier: sleeps on a timer'),
]

OF_LATCH = [
    # Orders
    mutant('latch: asking does not acquire', LATCH_HEADER, 'ipcwait_impl_load64_acquire(&l->word)',
           'ipcwait_impl_load64_relaxed(&l->word)', 'latch: asked'),
    mutant('latch: a look does not acquire', LATCH,
           'ipcwait_impl_load64_acquire(&me->latch->word)',
           'ipcwait_impl_load64_relaxed(&me->latch->word)', 'latch: two count'),
    mutant('latch: counting does not release', LATCH_HEADER, 'ipcwait_impl_cas64_release(',
           'ipcwait_impl_cas64_relaxed(', 'latch: asked'),
    mutant('latch: slow counting does not release', LATCH, 'ipcwait_impl_cas64_acq_rel(',
           'ipcwait_impl_cas64_acquire(', 'latch: two arrive'),
    mutant('latch: the last does not acquire', LATCH, 'ipcwait_impl_cas64_acq_rel(',
           'ipcwait_impl_cas64_release(', 'latch: two arrive'),
    # Touches after the release
    mutant('latch: flags read late', LATCH, 'iw_waker_wake(&waker, UINT32_MAX);',
           'waker.private_ = l->flags & IPCWAIT_PRIVATE, iw_waker_wake(&waker, UINT32_MAX);',
           'latch: two count'),
    mutant('latch: stamped late', LATCH, '\t/* From here on a waiter may have freed',
           '\tif (opens && sleepers(w))\n\t\twaker.stamped_at = iw_stamp(&l->window);\n'
           '\t/* From here on a waiter may have freed', 'latch: nothing is touched late'),
    mutant('latch: the last looks again', LATCH, '\tif (r)\n\t\treturn r < 0 ? r : 0;\n',
           '\tif (r < 0)\n\t\treturn r;\n', 'latch: the last to arrive'),
    # Wakes
    mutant('latch: no wake', LATCH, '\tif (opens && sleepers(w))\n\t\tiw_waker_wake(',
           '\tif (0)\n\t\tiw_waker_wake(',
           'latch: two count'),
    mutant('latch: wakes one', LATCH, 'iw_waker_wake(&waker, UINT32_MAX);',
           'iw_waker_wake(&waker, 1);',
           'latch: two wait'),
    mutant('latch: wake to the other kind of futex', LATCH, 'iw_waker_wake(&waker, UINT32_MAX);',
           'waker.private_ = !waker.private_, iw_waker_wake(&waker, UINT32_MAX);',
           'latch: private'),
    mutant('latch: fast counting over sleepers', LATCH_HEADER,
           'IPCWAIT_IMPL_FAST((uint32_t)w == 0)', 'IPCWAIT_IMPL_FAST(w == w)',
           'latch: two count'),
    mutant('latch: sleeps without a look', LATCH,
           '\t\tif (!count(w))\n\t\t\treturn iw_rest_taken();\n', '', 'latch: two count'),
    mutant('latch: sleeps again uncounted', LATCH, '\tme->sleeper = false;\n', '',
           'latch: sleeps on a timer'),
    mutant('latch: counted twice', LATCH, 'asleep = me->sleeper ? w : w + SLEEPER_ONE;',
           'asleep = w + SLEEPER_ONE;', 'latch: two deadlines'),
    mutant('latch: who gives up stays', LATCH, '&me->latch->word, &w, w - SLEEPER_ONE)',
           '&me->latch->word, &w, w)', 'latch: two deadlines'),
    mutant('latch: who never slept is taken out', LATCH, '} while (me->sleeper && sleepers(w) &&',
           '} while (sleepers(w) &&', 'latch: deadline in the past'),
    mutant('latch: given up beside the opening', LATCH,
           '\t\tif (!count(w))\n\t\t\treturn true;\n', '', 'latch: deadline beside'),
    mutant('latch: open, with sleepers', LATCH, 'opens ? 0 : w - n * COUNT_ONE',
           'w - n * COUNT_ONE', 'latch: two wait'),
    mutant('latch: a signal ends a wait', ENGINE, 'if (r == -EINTR && !me->interruptible)', 'if (false)',
           'latch: signals'),
    # Counts
    mutant('latch: room is looked for once', LATCH,
           '\tdo {\n\t\tif (n > count(w))\n\t\t\treturn -EOVERFLOW;\n',
           '\tif (n > count(w))\n\t\treturn -EOVERFLOW;\n\tdo {\n', 'with sleepers'),
    mutant('latch: fast counting below zero', LATCH_HEADER, 'IPCWAIT_LIKELY(n <= w >> 32)',
           'IPCWAIT_LIKELY(w == w)', 'latch: more than is left'),
]

OF_ONCE = [
    # Orders
    mutant('once: fast look does not acquire', ONCE_HEADER,
           'ipcwait_impl_load64_acquire(&o->word)', 'ipcwait_impl_load64_relaxed(&o->word)',
           'once: two call'),
    mutant('once: a look does not acquire', ONCE,
           'ipcwait_impl_load64_acquire(&me->once->word)',
           'ipcwait_impl_load64_relaxed(&me->once->word)', 'once: two call'),
    mutant('once: a run does not acquire', ONCE, 'ipcwait_impl_cas64_acquire(',
           'ipcwait_impl_cas64_relaxed(', 'once: the first fails'),
    mutant('once: a run does not release', ONCE, 'ipcwait_impl_cas64_release(',
           'ipcwait_impl_cas64_relaxed(', 'once: two call'),
    # Touches after the release
    mutant('once: flags read late', ONCE, 'iw_waker_wake(&waker, UINT32_MAX);',
           'waker.private_ = o->flags & IPCWAIT_PRIVATE, iw_waker_wake(&waker, UINT32_MAX);',
           'once: two call'),
    mutant('once: stamped late', ONCE, '\t/* From here on another caller may have freed',
           '\tif (w & SLEEPS)\n\t\twaker.stamped_at = iw_stamp(&o->window);\n'
           '\t/* From here on another caller may have freed', 'once: two call'),
    # Wakes
    mutant('once: no wake', ONCE, '\tif (w & SLEEPS)\n\t\tiw_waker_wake(',
           '\tif (0)\n\t\tiw_waker_wake(',
           'once: two call'),
    mutant('once: wakes one', ONCE, 'iw_waker_wake(&waker, UINT32_MAX);',
           'iw_waker_wake(&waker, 1);',
           'once: three call'),
    mutant('once: wake to the other kind of futex', ONCE, 'iw_waker_wake(&waker, UINT32_MAX);',
           'waker.private_ = !waker.private_, iw_waker_wake(&waker, UINT32_MAX);',
           'once: private'),
    mutant('once: no wake after a failure', ONCE, '\tif (w & SLEEPS)\n\t\tiw_waker_wake(',
           '\tif (w & SLEEPS && succeeded)\n\t\tiw_waker_wake(',
           'once: two fail'),
    mutant('once: sleeps unannounced', ONCE, '&me->once->word, &w, w | SLEEPS)',
           '&me->once->word, &w, w)', 'once: two call'),
    mutant('once: sleeps without a look', ONCE,
           '\t\tif (taken(me, true, &w))\n\t\t\treturn iw_rest_taken();\n',
           '\t\tw = ipcwait_impl_load64_relaxed(&me->once->word);\n', 'once: two call'),
    mutant('once: taken over without the sleepers', ONCE, 'me->name | (*w & SLEEPS))',
           'me->name)', 'once: killed'),
    mutant('once: a failure leaves sleepers', ONCE, 'succeeded ? DONE : 0)',
           'succeeded ? DONE : w & SLEEPS)', 'once: two fail'),
    mutant('once: a signal ends a wait', ENGINE, 'if (r == -EINTR && !me->interruptible)', 'if (false)',
           'once: signals'),
    # Who runs
    mutant('once: anybody runs', ONCE, 'if (*w & RUNNER_MASK && !(doubts && is_gone(me, *w)))',
           'if (*w & RUNNER_MASK && !doubts)', 'once: two call'),
    mutant('once: run again', ONCE, '\t\tif (*w & DONE)\n\t\t\treturn true;\n', '',
           'once: two call'),
    mutant('once: nobody runs', ONCE, '\tme->runs = true;\n', '', 'once: two call'),
    mutant('once: done by a failure', ONCE, 'run.succeeded = r == 0;',
           'run.succeeded = true;', 'once: the first fails'),
    mutant('once: left, and it runs on', ONCE, RUN, RUN_BLIND, 'once: the first is left'),
    mutant('once: left, and done', ONCE, '= { o, name, false };', '= { o, name, true };',
           'once: the first is left'),
    mutant('once: taken by a store', ONCE,
           '!ipcwait_impl_cas64_acquire(&me->once->word, w, me->name | (*w & SLEEPS))',
           '(ipcwait_impl_store64_relaxed(&me->once->word, me->name | (*w & SLEEPS)), 0)',
           'once: two call'),
    # Death
    mutant('once: nobody asks for the runner', ONCE, '\tif (!me->backoff.ns)\n\t\treturn false;\n',
           '\treturn false;\n',
           'once: killed'),
    mutant('once: no alarm', ONCE, '\trest.until_ns =\n',
           '\tint64_t never =\n',
           'once: killed'),
    mutant('once: the living are taken for dead', ONCE, '\t       IW_DEAD;',
           '\t       IW_ALIVE;', 'once: two call'),
    mutant('once: a copy is waited for', ONCE,
           'if (me->base.private_ && birth != (uint32_t)(me->name >> BIRTH_SHIFT))\n'
           '\t\treturn true;\n', '', 'once: a copy'),
]

MUTANTS = OF_BARRIER + OF_LATCH + OF_ONCE
