# SPDX-License-Identifier: MIT
"""Mistakes in channels: one place of one file each."""
from mutant import Mutant

RING, MEET, SELECT = ('lib/queue/channel_ring.c', 'lib/queue/channel_meet.c',
                      'lib/queue/channel_select.c')
CHANNEL, ALARM, BLOCKING = ('lib/queue/channel.c', 'lib/queue/channel_eventfd.c',
                            'lib/queue/blocking.c')
ALARM_H, BLOCKING_H = 'lib/queue/channel_eventfd.h', 'lib/queue/blocking.h'


def mutant(name, file, old, new, scenario, memory=''):
    return Mutant('channel: ' + name, file, old, new, 'channel', scenario, memory)


STAMP = 'ipcwait_impl_load64_seq_cst(&slot_at(r, pos)->stamp)'
SET = 'ipcwait_impl_store64_seq_cst(&s->stamp, stamp)'
RESERVE = 'ipcwait_impl_cas64_seq_cst(end, &now, after(r, p, k))'
IS_CLOSED = 'return ipcwait_impl_load64_seq_cst(&r->closed);'
SET_CLOSED = 'ipcwait_impl_store64_seq_cst(&r->closed, 1)'
OPEN = 'ipcwait_impl_cas64_seq_cst(&p->state, &w, IW_PARTY_OPEN)'

MUTANTS = [
    # Orders of the ring
    mutant('a stamp is not acquired', RING, STAMP, STAMP.replace('seq_cst', 'relaxed'),
           'hand-over', 'weak'),
    mutant('a stamp is not looked at in order', RING, STAMP, STAMP.replace('seq_cst', 'acquire'),
           'channel: full', 'weak'),
    mutant('a stamp is not released', RING, SET, SET.replace('seq_cst', 'relaxed'), 'hand-over'),
    mutant('a stamp is released only', RING, SET, SET.replace('seq_cst', 'release'),
           'hand-over', 'tso'),
    mutant('a position is old', RING, 'return ipcwait_impl_load64_seq_cst(end);',
           'return ipcwait_impl_load64_acquire(end);', 'closed beside sleepers', 'weak'),
    mutant('closed is old', RING, IS_CLOSED, IS_CLOSED.replace('seq_cst', 'relaxed'),
           'closed beside', 'weak'),
    mutant('closed is late', RING, SET_CLOSED, SET_CLOSED.replace('seq_cst', 'relaxed'),
           'closed beside'),
    mutant('the line is old', BLOCKING_H, 'ipcwait_impl_load64_seq_cst(&ec->word) >> 43',
           'ipcwait_impl_load64_relaxed(&ec->word) >> 43', 'channel: ', 'weak'),
    # The ring
    mutant('reserved by a store', RING, RESERVE,
           '(ipcwait_impl_store64_release(end, after(r, p, k)), 1)', 'two senders'),
    mutant('published before it is there', RING,
           '\t\tcopy(s->elem, from, r->base.elem_size);\n\t\tset_stamp(s, pos + FULL);',
           '\t\tset_stamp(s, pos + FULL);\n\t\tcopy(s->elem, from, r->base.elem_size);',
           'hand-over'),
    mutant('released before it is taken', RING,
           '\t\tcopy(to, s->elem, r->base.elem_size);\n\t\tset_stamp(s, pos + r->lap);',
           '\t\tset_stamp(s, pos + r->lap);\n\t\tcopy(to, s->elem, r->base.elem_size);',
           'channel: full'),
    mutant('one place too many', RING, 'r->capacity ? pos + n * STEP', 'r->capacity + 1 ? pos + n * STEP',
           'channel: bulk'),
    mutant('a lap is not counted', RING, '(n - r->capacity) * STEP + r->lap', '(n - r->capacity) * STEP',
           'channel: full'),
    mutant('a slot not ready is not looked at again', RING,
           '\t\tnow = position(end);\n\t\tif (now == p)\n\t\t\tbreak;', '\t\tbreak;',
           'channel: '),
    mutant('elements hidden are not told of', RING,
           'for (uint64_t k = 1; k < r->capacity; k++)', 'for (uint64_t k = 1; 0; k++)',
           'out of order'),
    mutant('a slot beyond its stamp hides others', RING,
           '(int64_t)(stamp_at(r, pos) - (pos + due)) < 0', 'stamp_at(r, pos) != pos + due',
           'a hole'),
    mutant('nobody is told of an element', RING, '\ttell(r, &r->elements, pos, FULL,',
           '\tif (0)\n\t\ttell(r, &r->elements, pos, FULL,', 'hand-over'),
    mutant('nobody is told of room', RING, '\ttell(r, &r->room, pos, r->lap, k);\n', '',
           'channel: full'),
    mutant('one is told of two', RING, 'is_closed(r) ? UINT32_MAX : k);', 'is_closed(r) ? UINT32_MAX : 1);',
           'bulk for two'),
    mutant('the last element is told to one', RING, 'is_closed(r) ? UINT32_MAX : k);', 'k);',
           'closed beside receivers'),
    mutant('closed, not said to receivers', RING, '\tset_closed(r);\n\tif (was', '\tif (was', 'closed'),
    mutant('a refused sender says nothing', RING, '\t\tset_closed(r);\n\t\tiw_tell', '\t\tiw_tell',
           'refused, then empty'),
    mutant('receivers are not woken by a close', RING, '\tiw_unblock(&r->elements, UINT32_MAX, IPCWAIT_KIND_CHANNEL);\n', '',
           'closed beside'),
    mutant('senders are not woken by a close', RING, '\tiw_unblock(&r->room, UINT32_MAX, IPCWAIT_KIND_CHANNEL);\n', '',
           'closed beside sleepers'),
    mutant('closed, not drained', RING, 'position(&r->tail) != (pos | CLOSED)', '0', 'closed beside'),
    mutant('sent after the close', RING, 'ipcwait_impl_or64_seq_cst(&r->tail, CLOSED);',
           'ipcwait_impl_or64_seq_cst(&r->tail, 0);', 'closed beside'),
    # Waiting in one line
    mutant('no attempt in line', BLOCKING, '\tif (!me->attempt(me)) {', '\tif (1) {', 'hand-over'),
    mutant('the notification of another kept', BLOCKING,
           '\t\tiw_any_eventcount.retract(&me->line, &me->in_line);',
           '\t\t(void)iw_any_eventcount.withdraw(&me->line, &me->in_line);', 'channel: '),
    # Parties
    mutant('an offer is opened late', MEET, OPEN, OPEN.replace('seq_cst', 'release'), 'alarm: a partner',
           'weak'),
    mutant('an offer is seen late', MEET, 'w = ipcwait_impl_load64_seq_cst(&o->party->state);',
           'w = ipcwait_impl_load64_relaxed(&o->party->state);', 'alarm: a partner', 'weak'),
    mutant('done is not released', MEET,
           'ipcwait_impl_store64_release(&p->state, IW_PARTY_DONE',
           'ipcwait_impl_store64_relaxed(&p->state, IW_PARTY_DONE', 'meet: hand-over', 'weak'),
    mutant('done is not acquired', MEET, 'return ipcwait_impl_load64_acquire(&p->state);',
           'return ipcwait_impl_load64_relaxed(&p->state);', 'meet: hand-over', 'weak'),
    mutant('who is busy is not told', MEET, 'busy ? IW_PARTY_MISSED : accepted', 'busy ? IW_PARTY_BUSY : accepted',
           'meet: '),
    mutant('what was missed stays so', MEET,
           '\tif (ipcwait_impl_cas64_seq_cst(&p->state, &w, IW_PARTY_OPEN))\n\t\treturn true;',
           '\t(void)w;\n\tipcwait_impl_store64_seq_cst(&p->state, IW_PARTY_OPEN);\n\treturn true;',
           'meet: two and two'),
    mutant('the partner is not woken', MEET, '\tif (was == IW_PARTY_ASLEEP) {', '\tif (0) {', 'meet: hand-over'),
    mutant('an offer given up stays', MEET, '\tif (!mine->linked)\n', '\tif (1)\n', 'meet: selects'),
    mutant('meets itself', MEET, 'if (o->party != me &&', 'if (', 'meet: itself'),
    mutant('a closed channel keeps its offers', MEET, '\t\tclose_offers(m, IPCWAIT_CHANNEL_RECV);\n', '',
           'meet: closed'),
    mutant('a closed channel keeps its senders', MEET, '\t\tclose_offers(m, IPCWAIT_CHANNEL_SEND);\n', '',
           'meet: closed'),
    mutant('who is busy misses the close', MEET, 'if (accept(o, true, &was))', 'if (accept(o, false, &was))',
           'meet: closed'),
    mutant('accepted without a lock', SELECT, '\tiw_meet_await(me->cases[i].channel);\n', '', 'meet: '),
    mutant('claimed though accepted', MEET, '\treturn w == IW_PARTY_BUSY || w == IW_PARTY_MISSED;',
           '\treturn true;', 'meet: '),
    # Select
    mutant('a baton is kept', SELECT, '\t\t\t(void)iw_eventcount_notify(me->place[i].line.object, 1,\n\t\t\t\t\t\t   IPCWAIT_KIND_CHANNEL);',
           '\t\t\t(void)0;', 'the baton'),
    mutant('a baton is kept in line', SELECT,
           '\t\t\tiw_any_eventcount.retract(&p->line, &p->in_line);',
           '\t\t\t(void)iw_any_eventcount.withdraw(&p->line, &p->in_line);', 'select: '),
    mutant('no attempt in the lines', SELECT,
           '\tif (me->lines && attempt_all(me, false))\n\t\treturn retract(me);\n\tif (!me->meets)',
           '\tif (!me->meets)', 'select: '),
    mutant('lines are left standing', SELECT, '\tif (attempt_all(me, false))\n\t\treturn pass_on(me);\n\t(void)nothing',
           '\tif (attempt_all(me, false))\n\t\treturn true;\n\t(void)nothing', 'the baton'),
    mutant('a case is done beside a partner', SELECT,
           'return me->meets && !iw_party_claim(&me->party) ? accepted(me)',
           'return 0 ? accepted(me)', 'or a buffer'),
    mutant('settles beside a partner', SELECT,
           '\tif (me->lines && me->meets && !iw_party_claim(&me->party))\n\t\treturn accepted(me);\n',
           '', 'or a buffer'),
    mutant('gives up beside a partner', SELECT,
           '\tif (r && me->meets && !iw_party_claim(&me->party) && accepted(me))\n\t\tr = 0;\n', '',
           'meet: a deadline'),
    # The alarm
    mutant('no alarm', CHANNEL, '\tif (r > 0)\n\t\tiw_channel_alarm(ch);\n\treturn r;', '\treturn r;',
           'alarm: an element'),
    mutant('the alarm is looked at early', ALARM_H,
           'ipcwait_impl_load64_seq_cst(&ch->alarm) & IW', 'ipcwait_impl_load64_relaxed(&ch->alarm) & IW',
           'alarm: ', 'weak'),
    mutant('no look after arming', CHANNEL, 'if (r == -EAGAIN && iw_channel_alarm_rearm(ch)) {',
           'if (r == -EAGAIN && iw_channel_alarm_rearm(ch) && 0) {', 'alarm: an element'),
    mutant('armed before it is cleared', ALARM, '\tiw_eventfd_clear(fd_of(w));\n\t/* ORD',
           '\t(void)ipcwait_impl_or64_seq_cst(&ch->alarm, IW_ALARM_ARMED);\n'
           '\tiw_eventfd_clear(fd_of(w));\n\treturn true;\n\t/* ORD', 'alarm: '),
    mutant('no alarm for who watches too', CHANNEL, '\t\tif (r != -EAGAIN)\n\t\t\tiw_channel_alarm(ch);\n', '',
           'alarm: '),
]
