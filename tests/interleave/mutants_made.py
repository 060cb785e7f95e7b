# SPDX-License-Identifier: MIT
"""Mistakes in waits for queues and channels beside other objects: one place of one file each."""
from mutant import Mutant

MADE, ANY, KINDS = 'lib/queue/made.c', 'lib/sync/wait_any.c', 'lib/queue/channel_any.c'
MADE_H = 'lib/queue/made.h'
QUEUE, CHAIN = 'lib/queue/queue.c', 'lib/queue/chain.c'
RING, MEET = 'lib/queue/channel_ring.c', 'lib/queue/channel_meet.c'
CHANNEL, SELECT = 'lib/queue/channel.c', 'lib/queue/channel_select.c'
PARTS, SHARED = 'lib/queue/channel_shared.c', 'lib/queue/shared.c'

# Steps of one object
TAKE = '\tif (state->announced)\n\t\tiw_made_retract(o, state);\n\treturn true;\n'
PASS_ON = ('\tif (notified)\n'
           '\t\t(void)iw_eventcount_notify(elements_of(o), 1, made_of(o)->kind);\n')
WITHDRAWN = ('\tbool notified = iw_any_eventcount.withdraw(&line, &place);\n\n'
             '\tif (!is_ready(o))\n\t\treturn false;\n')
LEAVE_FIRST = ('\tif (state->announced && iw_made_withdraw(o, state))\n'
               '\t\treturn iw_rest_taken();\n')
LAST_LOOK = '\tif (!is_ready(o))\n\t\treturn rest;\n\tif (rest.word)\n\t\tiw_made_retract(o, state);\n'
KEPT = ('\t\t{\n\t\t\tconst struct ipcwait_waitable line = line_of(o, state);\n'
        '\t\t\tconst struct iw_any_state place = place_of(state);\n\n'
        '\t\t\t(void)iw_any_eventcount.withdraw(&line, &place);\n\t\t}\n')
RING_READY = '\t\tnow = position(&r->head);\n\t\tif (now == p)\n\t\t\treturn is_closed(r);\n\t\tp = now;\n'
MEET_READY = 'return any(&m->closed) || (any(&m->sending) && has_open_offer(m));'
CHAIN_READY = ('\tenter(c);\n\tdo {\n\t\tstruct iw_segment *retired = NULL;\n\n'
               '\t\tfound = there(c, head(c), 1, &retired);\n\t\tretire(c, retired);\n'
               '\t} while (!found);\n\tleave(c);\n\treturn found != -EAGAIN;\n')


def mutant(name, file, old, new, scenario, memory=''):
    return Mutant('wait_any: ' + name, file, old, new, 'made', 'made: ' + scenario, memory)


def ready(name, old, new, scenario, memory=''):
    """One place of iw_chain_ready(), some of whose lines pop() has too."""
    return mutant(name, CHAIN, CHAIN_READY, CHAIN_READY.replace(old, new), scenario, memory)


MUTANTS = [
    # Take
    mutant('taken, and stays in line', MADE, TAKE, '\treturn true;\n', 'one looks'),
    mutant('taken, and keeps what it was told', MADE, TAKE,
           TAKE.replace('\t\tiw_made_retract(o, state);\n', KEPT), 'one looks'),
    mutant('what is not there is taken', MADE, '\tif (!is_ready(o))\n\t\treturn false;\n\tif (state',
           '\tif (state', 'a push'),
    # Withdraw
    mutant('given up, and keeps what it was told', MADE, PASS_ON, '\t(void)notified;\n',
           'looks until'),
    mutant('given up without a look', MADE, WITHDRAWN,
           WITHDRAWN.replace('!is_ready(o)', '1'), 'a deadline'),
    mutant('given up, and stays in line', MADE,
           '\tbool notified = iw_any_eventcount.withdraw(&line, &place);\n',
           '\tbool notified = false;\n', 'a deadline'),
    mutant('withdrawn, and nothing is there', MADE, WITHDRAWN,
           WITHDRAWN.replace('\tif (!is_ready(o))\n\t\treturn false;\n', ''), 'a deadline, alone'),
    # Announce
    mutant('in line twice', MADE, LEAVE_FIRST, '', 'a signal'),
    mutant('out of line, and counted there', MADE, '\tstate->announced = false;\n', '',
           'a full line'),
    mutant('no look in line', MADE, LAST_LOOK, '\treturn rest;\n', 'a push'),
    mutant('there in the last look, and stays in line', MADE, LAST_LOOK,
           LAST_LOOK.replace('\tif (rest.word)\n\t\tiw_made_retract(o, state);\n', ''), 'a push'),
    mutant('there in the last look, and keeps what it was told', MADE, LAST_LOOK,
           LAST_LOOK.replace('\t\tiw_made_retract(o, state);\n', KEPT), 'one looks'),
    mutant('forgets its place', MADE, '\tstate->own |= place.own;\n', '', 'places come round'),
    mutant('an old key', MADE, 'state->own = ipcwait_eventcount_prepare(elements_of(o)) << 32;',
           'state->own = (ipcwait_eventcount_prepare(elements_of(o)) - 1) << 32;', 'a push'),
    # Retract
    mutant('another is taken, and it stays in line', MADE,
           '\tiw_any_eventcount.retract(&line, &place);\n', '\t(void)line, (void)place;\n',
           'a push or a post'),
    mutant('another is taken, and it keeps what it was told', MADE,
           '\tiw_any_eventcount.retract(&line, &place);\n',
           '\t(void)iw_any_eventcount.withdraw(&line, &place);\n', 'one looks'),
    # Kinds
    mutant('a queue nobody knows', QUEUE, '\tiw_any_admit(&made.any);\n', '', 'a push'),
    mutant('a channel nobody knows', CHANNEL, '\t\tiw_any_admit(ch->any);\n', '', 'a send'),
    mutant('sleeps where nobody wakes it', ANY, '\t\treturn kind->private_;\n',
           '\t\treturn !kind->private_;\n', 'a push'),
    mutant('sleeps where nobody sends', KINDS,
           '.any = IW_MADE_ANY(IPCWAIT_WAITABLE_CHANNEL, true)',
           '.any = IW_MADE_ANY(IPCWAIT_WAITABLE_CHANNEL, false)', 'a send'),
    mutant('sleeps where nobody pushes', QUEUE, 'IW_MADE_ANY(IPCWAIT_WAITABLE_QUEUE, true)',
           'IW_MADE_ANY(IPCWAIT_WAITABLE_QUEUE, false)', 'a push'),
    mutant('waits for room', KINDS, '->elements;', '->room;', 'a send'),
    # What is there: queues
    ready('a closed queue is not there', 'found != -EAGAIN', 'found > 0', 'closed'),
    ready('looks outside of sections', '\tenter(c);\n\tdo', '\tdo', 'over an edge'),
    ready('stays in its section', '\tleave(c);\n', '', 'over an edge'),
    ready('what it leaves is lost', '\t\tretire(c, retired);\n', '', 'over an edge'),
    # Channels with a buffer
    mutant('a closed channel is not there', RING, RING_READY,
           RING_READY.replace('return is_closed(r);', 'return false;'), 'a closed channel'),
    mutant('an empty channel is there', RING, RING_READY,
           RING_READY.replace('return is_closed(r);', 'return true;'), 'a send'),
    mutant('looks at one slot', RING, RING_READY, '\t\t(void)now;\n\t\treturn is_closed(r);\n',
           'taken during'),
    # Channels without
    mutant('no offer is there', MEET, MEET_READY, 'return any(&m->closed);', 'an offer'),
    mutant('a closed meeting is not there', MEET, MEET_READY,
           'return any(&m->sending) && has_open_offer(m);', 'a meeting'),
    mutant('nobody is told of an offer', MEET,
           '\tiw_unblock(ch->elements, 1, IPCWAIT_KIND_CHANNEL);\n', '', 'an offer'),
    mutant('nobody is told of a meeting closed', MEET,
           '\tiw_unblock(ch->elements, UINT32_MAX, IPCWAIT_KIND_CHANNEL);\n', '', 'a meeting'),
    mutant('no offer can be accepted', MEET, '&o->party->state) < IW_PARTY_BUSY;',
           '&o->party->state) < IW_PARTY_OPEN;', 'an offer'),
    mutant('an open offer is seen late', MEET,
           'return ipcwait_impl_load64_seq_cst(&o->party->state)',
           'return ipcwait_impl_load64_relaxed(&o->party->state)', 'an offer', 'weak'),
    mutant('an offer is counted late', MEET, '\treturn ipcwait_impl_load64_seq_cst(n);',
           '\treturn ipcwait_impl_load64_relaxed(n);', 'an offer', 'weak'),
    mutant('who opens an offer says nothing', SELECT,
           '\t\tif (meets(&me->cases[i]) && me->cases[i].op == IPCWAIT_CHANNEL_SEND)\n',
           '\t\tif (0)\n', 'an offer'),
    # Channels between processes
    mutant('a shared channel nobody knows', PARTS, '\tiw_any_admit(c->base.any);\n', '',
           'between processes'),
    mutant('sleeps where only its own process sends', KINDS,
           '.any = IW_MADE_ANY(IPCWAIT_WAITABLE_CHANNEL, false)',
           '.any = IW_MADE_ANY(IPCWAIT_WAITABLE_CHANNEL, true)', 'between processes'),
    mutant('never looks by itself', KINDS, '\t.nap_ns = IW_SHARED_LOOK_NS,\n', '',
           'a sender is killed'),
    mutant('its own look is forgotten', MADE,
           '\t\trest.until_ns = iw_clock_ns() + made->nap_ns;\n', '\t\t(void)0;\n',
           'a sender is killed'),
    mutant('looks of one are forgotten', ANY,
           '\t\tif (rest.until_ns < until_ns)\n\t\t\tuntil_ns = rest.until_ns;\n', '',
           'a sender is killed'),
    mutant('looks of all are forgotten', ANY,
           '\tif (until_ns < all.until_ns)\n\t\tall.until_ns = until_ns;\n', '',
           'a sender is killed'),
    mutant('nobody looks after a sender', SHARED,
           '\tif (stages == IW_SHARED_WRITING && iw_shared_look_after(s, control))\n'
           '\t\treturn true;\n', '', 'a sender is killed before'),
    mutant('a closed shared channel is not there', SHARED,
           ' || (stages <= IW_SHARED_FREE && is_closed(s));', ';', 'between processes, drained'),
    mutant('what was taken hides the next', SHARED, 'return stages >= FOR_RECEIVERS ||',
           'return stages == FOR_RECEIVERS ||', 'between processes, taken'),
    mutant('the slot may be old', SHARED,
           'control = ipcwait_impl_load64_seq_cst(iw_shared_slot(s, index_of(s, pos)));',
           'control = ipcwait_impl_load64_acquire(iw_shared_slot(s, index_of(s, pos)));',
           'between processes', 'weak'),
]
