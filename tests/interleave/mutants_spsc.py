# SPDX-License-Identifier: MIT
"""Mistakes in queues of one producer and one consumer: one place of one file each."""
from mutant import Mutant

HEADER = 'include/ipcwait/impl/spsc.h'
QUEUE = 'lib/queue/spsc.c'
RING = 'lib/queue/spsc_ring.c'
WAIT = 'lib/queue/spsc_wait.c'
LIFE = 'lib/queue/spsc_life.c'
BLOCKING = 'lib/queue/blocking.c'

EXCHANGE = '(void)ipcwait_impl_swap64_seq_cst(&me->at, at);'
LINE = 'ipcwait_impl_load64_seq_cst(&ec->word)'
CLOSED_LOAD = 'ipcwait_impl_load64_seq_cst(&s->base.closed)'
HEAD = 'ipcwait_impl_load64_acquire(&s->base.consumer.at)'
TAIL = 'ipcwait_impl_load64_acquire(&s->base.producer.at)'
BEGIN = '((int64_t)(head - r->first) < 0 ? r->first : head)'
LINKED = 'ipcwait_impl_storeptr_release(&last->next, r);'
SPARE = 'ipcwait_impl_loadptr_acquire(&s->spare)'
HANDED = 'ipcwait_impl_storeptr_release(&s->spare, r);'
NEXT = 'ipcwait_impl_loadptr_acquire(&r->next)'
END = 'next && (int64_t)(next->first - tail) < 0 ? next->first : tail'
CLOSE = 'ipcwait_impl_swap64_seq_cst(&q->closed, 1)'
IN_LINE = '\trest = into_line(me);\n'
FENCE = '\tif (me->fence && !me->fence())\n\t\trest = iw_rest_unpublished();\n'


def mutant(name, file, old, new, scenario, memory=''):
    return Mutant('spsc: ' + name, file, old, new, 'spsc', 'spsc: ' + scenario, memory)


def relaxed(access):
    """The same access without order."""
    for order in ('_acquire', '_release', '_seq_cst'):
        access = access.replace(order, '_relaxed')
    return access


MUTANTS = [
    # Orders between the two
    mutant('a place is not released', HEADER, 'ipcwait_impl_store64_release(&me->at, at);',
           'ipcwait_impl_store64_relaxed(&me->at, at);', 'hand-over'),
    mutant('room is not acquired', QUEUE, HEAD, relaxed(HEAD), 'hand-over'),
    mutant('elements are not acquired', QUEUE, TAIL, relaxed(TAIL), 'hand-over'),
    mutant('the close is not acquired', QUEUE, CLOSED_LOAD, relaxed(CLOSED_LOAD),
           'closed when all is in', 'weak'),
    mutant('the length is not acquired', LIFE, 'ipcwait_impl_load64_acquire(&side->at)',
           'ipcwait_impl_load64_relaxed(&side->at)', 'counted', 'weak'),
    mutant('the length from one look', LIFE, '\thead = place(&q->consumer);', '\thead = before;',
           'counted'),
    # Orders for sleepers
    mutant('there is no barrier', WAIT, '\t\tme->blocking.fence = iw_membarrier;', '\t\t;',
           'one is waited for', 'tso'),
    mutant('there is no barrier, weak', WAIT, '\t\tme->blocking.fence = iw_membarrier;', '\t\t;',
           'room is waited for', 'weak'),
    mutant('the barrier before the line', BLOCKING, IN_LINE + FENCE,
           '\tif (me->fence)\n\t\t(void)me->fence();\n' + IN_LINE, 'one is waited for', 'tso'),
    mutant('the barrier after the look', BLOCKING,
           FENCE + '\tif (!me->attempt(me)) {\n',
           '\tif (!me->attempt(me)) {\n\t\tif (me->fence)\n\t\t\t(void)me->fence();\n', 'one is waited for', 'tso'),
    mutant('no look after the line', BLOCKING, '\tif (!me->attempt(me)) {\n',
           '\tif (rest.word) {\n', 'one is waited for'),
    mutant('the exchange is a store', HEADER, EXCHANGE,
           'ipcwait_impl_store64_release(&me->at, at);', 'one is waited for, without', 'tso'),
    mutant('the exchange is in no order', HEADER, EXCHANGE,
           '(void)ipcwait_impl_swap64_acquire(&me->at, at);', 'one is waited for, without', 'weak'),
    mutant('the line is read in no order', HEADER, LINE, relaxed(LINE),
           'one is waited for, without', 'weak'),
    mutant('the look is in no order', WAIT, 'ipcwait_impl_load64_seq_cst(&other->at)',
           'ipcwait_impl_load64_relaxed(&other->at)', 'room is waited for, without', 'weak'),
    mutant('the look at the close is in no order', WAIT,
           'ipcwait_impl_load64_seq_cst(&me->q->closed)',
           'ipcwait_impl_load64_relaxed(&me->q->closed)', 'closed by the consumer, without', 'weak'),
    mutant('no look at the close', WAIT, 'if (ipcwait_impl_load64_seq_cst(&me->q->closed))',
           'if (0)', 'closed by the consumer, without', 'weak'),
    mutant('the consumer looks at the close in no order', QUEUE, CLOSED_LOAD,
           CLOSED_LOAD.replace('_seq_cst', '_acquire'), 'closed beside a sleeper', 'weak'),
    mutant('the close is in no order', WAIT, CLOSE, 'ipcwait_impl_swap64_acquire(&q->closed, 1)',
           'closed beside a sleeper', 'weak'),
    mutant('nobody is told', HEADER, '(void)ipcwait_eventcount_notify(ec, 1);', ';', 'both wait'),
    mutant('the wrong side is told', HEADER, 'ipcwait_impl_spsc_publish(me, at + 1, &q->room);',
           'ipcwait_impl_spsc_publish(me, at + 1, &q->elements);', 'room for two'),
    mutant('the close leaves the consumer', WAIT, '\tiw_unblock(&q->elements, 1, IPCWAIT_KIND_QUEUE);\n', '',
           'closed beside a sleeper'),
    mutant('the close leaves the producer', WAIT, '\tiw_unblock(&q->room, 1, IPCWAIT_KIND_QUEUE);\n', '',
           'closed by the consumer'),
    # Close
    mutant('a push does not see the close', HEADER, ' && !ipcwait_impl_spsc_is_closed(q))', ')',
           'closed when all is in'),
    mutant('a slow push does not see the close', QUEUE,
           'int r;\n\n\tif (ipcwait_impl_spsc_is_closed(q))\n\t\treturn -EPIPE;\n', 'int r;\n\n',
           'closed when full'),
    mutant('a bulk push does not see the close', QUEUE,
           'int r = 0;\n\n\tif (ipcwait_impl_spsc_is_closed(q))\n\t\treturn -EPIPE;\n',
           'int r = 0;\n\n', 'closed when all is in'),
    mutant('closed is closed', QUEUE, '\t\tend = tail(s);\n\t\tr = -EPIPE;', '\t\tr = -EPIPE;',
           'closed when all is in'),
    mutant('a close is not seen', QUEUE, 'end == at && ' + CLOSED_LOAD, '0 && ' + CLOSED_LOAD,
           'closed beside a sleeper'),
    # Bounds
    mutant('one too many', QUEUE, BEGIN + ' + s->room;', BEGIN + ' + s->room + 1;',
           'three places of four'),
    mutant('one beyond what is there', QUEUE, 'iw_spsc_follow(s, at, end);',
           'iw_spsc_follow(s, at, end + 1);', 'hand-over'),
    mutant('a piece goes beyond the end', QUEUE, 'n < to_end ? n : (size_t)to_end;', 'n;',
           'at once'),
    mutant('a piece goes beyond the other', QUEUE, '\tif (n > me->until - at)\n\t\tn = ',
           '\tif (0)\n\t\tn = ', 'in place'),
    mutant('a bulk pop gives back one', QUEUE, 'publish(me, at, &q->room);',
           'publish(me, begin + 1, &q->room);', 'at once'),
    mutant('a release gives back one', QUEUE, 'publish(me, at + n, &q->room);',
           'publish(me, at + 1, &q->room);', 'in place'),
    # Rings
    mutant('a ring is not released', RING, LINKED, relaxed(LINKED), 'another ring'),
    mutant('a ring is not acquired', RING, NEXT, relaxed(NEXT), 'another ring'),
    mutant('the spare is not released', RING, HANDED, relaxed(HANDED), 'another ring'),
    mutant('the spare is not acquired', RING, SPARE, relaxed(SPARE), 'another ring'),
    mutant('the spare is used twice', RING, 'ipcwait_impl_storeptr_relaxed(&s->spare, NULL);', ';',
           'another ring'),
    mutant('a second spare', RING, 'if (ipcwait_impl_loadptr_relaxed(&s->spare)) {', 'if (0) {',
           'another ring'),
    mutant('a ring keeps its next', RING, 'ipcwait_impl_storeptr_relaxed(&r->next, NULL);', ';',
           'another ring'),
    mutant('a ring is linked before it is made', RING, '\tr->first = at;\n',
           f'\t{LINKED}\n\tr->first = at;\n',
           'another ring'),
    mutant('a ring is left early', RING, 'if (next && next->first == at) {', 'if (next) {',
           'rings at once'),
    mutant('a ring is never left', RING, 'if (next && next->first == at) {', 'if (0) {',
           'another ring'),
    mutant('a ring has no end', RING, END, 'tail', 'another ring'),
    mutant('the end is that of the ring before', RING, '\t\tnext = next_of(next);\n',
           '\t\tnext = NULL;\n', 'another ring'),
    mutant('the end without what is published', RING, END, 'next ? next->first : tail',
           'rings at once'),
    mutant('the end is compared as it is', RING, '(int64_t)(next->first - tail) < 0',
           'next->first < tail', 'another ring about to wrap'),
    mutant('a ring is handed back before it is left', RING,
           '\t\tenter(me, next);\n\t\thand_back(s, left);\n\t\tnext = next_of(next);\n',
           '\t\thand_back(s, left);\n\t\tenter(me, next_of(left));\n'
           '\t\tnext = next_of(next);\n', 'another ring'),
    mutant('the ring before counts', QUEUE, BEGIN, 'head', 'another ring'),
    mutant('the ring before counts at the wrap', QUEUE, '(int64_t)(head - r->first) < 0',
           'head < r->first', 'another ring about to wrap'),
    mutant('a spare is forgotten', RING, '\tfree(iw_spsc_take_spare(s));\n', '', 'another ring'),
]
