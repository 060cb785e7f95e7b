# SPDX-License-Identifier: MIT
"""Mistakes in the unbounded queue: one place of one file each."""
from mutant import Mutant

CHAIN = 'lib/queue/chain.c'
SLOT = 'lib/queue/slot.h'
LIFE = 'lib/queue/chain_life.c'
BLOCKING = 'lib/queue/blocking.c'
UNBLOCK = 'lib/queue/blocking.h'
QUEUE = 'lib/queue/queue.c'
EVENTCOUNT = 'lib/sync/eventcount.c'

# Accesses
HEAD = 'ipcwait_impl_load64_acquire(&c->head)'
TAIL = 'ipcwait_impl_load64_acquire(&c->tail)'
FILL = 'ipcwait_impl_cas64_release(iw_slot_word(c, s, ticket), &empty, word)'
FOLLOW = 'ipcwait_impl_cas64_release(&c->tail, &expected, next)'
LEAVE_BEHIND = 'ipcwait_impl_cas64_release(&c->head, &expected, next)'
NEXT = 'ipcwait_impl_load64_seq_cst(&s->next)'
APPEND = 'ipcwait_impl_cas64_seq_cst(&s->next, &next, (uintptr_t)spare)'
END = 'ipcwait_impl_cas64_seq_cst(&s->next, &next, IW_CLOSED)'
ENQ_ADD = 'ipcwait_impl_add64_seq_cst(&s->enq, want)'
ENQ = 'ipcwait_impl_load64_seq_cst(&s->enq)'
ENQ_OR = 'ipcwait_impl_or64_seq_cst(&s->enq, IW_ENQ_CLOSED)'
DEQ = 'ipcwait_impl_load64_acquire(&s->deq)'
DEQ_ADD = 'ipcwait_impl_add64_release(&s->deq, n)'
DEQ_STORE = 'ipcwait_impl_store64_release(&s->deq, t + n)'
LOOK = 'ipcwait_impl_load64_acquire(at)'
TAKE = 'ipcwait_impl_load64_acquire(iw_slot_word(c, s, ticket))'
SPOIL = 'ipcwait_impl_swap64_acquire(at, IW_SLOT_POISON)'
UNBLOCK_LOOK = 'ipcwait_impl_load64_seq_cst(&ec->word)'
IN_LINE = 'ipcwait_impl_cas64_seq_cst(&me->ec->word, &w, w + LINE_ONE)'

SEVERAL = ('\tleave(c);\n\tiw_segment_retire(retired);\n\tenter(c);\n')
POPPERS_ENTER = '\tif (!c->one_consumer)\n\t\tiw_rcu_enter();\n'
POPPERS_LEAVE = '\tif (!c->one_consumer)\n\t\tiw_rcu_leave();\n'
FILL_ONE = 'done += fill(c, s, t, elems + done * c->elem_bytes);'
MOVE_HEAD = f'\tif (!{LEAVE_BEHIND})\n\t\treturn;\n'
NEW_ELEMENT = ('\t*iw_slot_word(c, spare, 0) = (struct ipcwait_word64){\n'
               '\t\tiw_slot_encode(c, spare, 0, elem),\n\t};\n')
THERE = 'uint64_t t = tickets_of_poppers(s), all;'
LOOK_AT_BOTH = (f'\t{THERE}\n\n\tif (n == 1 && IPCWAIT_LIKELY(is_filled(c, s, t)))\n\t\treturn 1;\n'
                '\tall = iw_segment_within(s, tickets_of_pushers(s));\n')
MEASURE = ('\tin = pushed(c);\n\tout = popped(c);\n')
MEASURE_ALL = ('\tiw_rcu_enter();\n' + MEASURE + '\tin_later = pushed(c);\n\tif (bytes)\n'
               '\t\t*bytes = bytes_of_all(c);\n\tiw_rcu_leave();\n')


def mutant(name, file, old, new, scenario, memory=''):
    return Mutant('queue: ' + name, file, old, new, 'queue', scenario, memory)


def chain(name, old, new, scenario, memory=''):
    return mutant(name, CHAIN, old, new, scenario, memory)


def order(name, access, weaker, scenario, file=CHAIN):
    """The access with a weaker order, which only weak memory shows."""
    word = access.split('_impl_')[1].split('(')[0]
    stronger = next(o for o in ('seq_cst', 'acq_rel', 'acquire', 'release') if word.endswith(o))
    return mutant(f'{name}, {weaker}', file, access, access.replace('_' + stronger, '_' + weaker, 1),
                  scenario, 'weak')


def builtin(name, access, old, function, weaker, scenario):
    """The same where the library has no such function."""
    args = access.split('(', 1)[1][:-1].replace(old, f'&({old})->v', 1)
    return chain(f'{name}, {weaker}', access,
                 f'__atomic_{function}({args}, __ATOMIC_{weaker.upper()})', scenario, 'weak')


MUTANTS = [
    # Orders of segments that are found
    order('head', HEAD, 'relaxed', 'a new one for two poppers'),
    order('tail', TAIL, 'relaxed', 'two pushers'),
    order('head moves', LEAVE_BEHIND, 'relaxed', 'a new one for two poppers'),
    order('tail moves', FOLLOW, 'relaxed', 'two pushers'),
    order('next is read', NEXT, 'acquire', 'one waits'),
    order('next is read', NEXT, 'relaxed', 'one to one'),
    order('a segment is appended', APPEND, 'acq_rel', 'one waits'),
    order('a segment is appended', APPEND, 'relaxed', 'one to one'),
    order('the chain ends', END, 'acq_rel', 'closed beside sleepers'),
    order('the chain ends', END, 'relaxed', 'closed'),
    mutant('a segment is measured, relaxed', LIFE, 'ipcwait_impl_load64_acquire(w)',
           'ipcwait_impl_load64_relaxed(w)', 'measured', 'weak'),
    # Orders of tickets
    order("a pusher's ticket", ENQ_ADD, 'acq_rel', 'one waits'),
    order("a pusher's ticket", ENQ_ADD, 'relaxed', 'one waits'),
    order("pushers' tickets are read", ENQ, 'acquire', 'one waits'),
    order("pushers' tickets are read", ENQ, 'relaxed', 'one waits'),
    builtin('closed', ENQ_OR, '&s->enq', 'fetch_or', 'relaxed', 'closed'),
    # The checker's seq_cst loads read the latest value, so here the second is weaker too.
    chain("poppers' tickets are read, relaxed", LOOK_AT_BOTH,
          LOOK_AT_BOTH.replace('tickets_of_poppers(s)', 'ipcwait_impl_load64_relaxed(&s->deq)')
          .replace('tickets_of_pushers(s)', 'ipcwait_impl_load64_acquire(&s->enq)'),
          'never empty', 'weak'),
    builtin("a popper's ticket", DEQ_ADD, '&s->deq', 'fetch_add', 'acquire', 'never empty'),
    order("a popper's ticket", DEQ_ADD, 'relaxed', 'never empty'),
    order("the only popper's ticket", DEQ_STORE, 'relaxed', 'never empty, one'),
    mutant('a pusher finds it closed, relaxed', QUEUE, 'ipcwait_impl_load32_acquire(&q->closed)',
           'ipcwait_impl_load32_relaxed(&q->closed)', 'closed when full', 'weak'),
    mutant('the closer says so, relaxed', QUEUE, 'ipcwait_impl_store32_release(&q->closed, 1)',
           'ipcwait_impl_store32_relaxed(&q->closed, 1)', 'closed when full', 'weak'),
    # Orders of elements
    order('filled', FILL, 'relaxed', 'behind the word'),
    order('taken at once', TAKE, 'relaxed', 'behind the word'),
    order('taken after a look', LOOK, 'relaxed', 'behind the word'),
    builtin('taken in the last moment', SPOIL, 'at', 'exchange_n', 'relaxed', 'behind the word'),
    # Orders of waiting
    order('who waits is read', UNBLOCK_LOOK, 'acquire', 'one waits', UNBLOCK),
    order('who waits is read', UNBLOCK_LOOK, 'relaxed', 'one waits', UNBLOCK),
    order('into the line', IN_LINE, 'acq_rel', 'one waits', EVENTCOUNT),
    order('into the line', IN_LINE, 'relaxed', 'one waits', EVENTCOUNT),
    # Slots
    chain('a popper does not spoil', SPOIL, 'IW_SLOT_EMPTY', 'spoiled'),
    chain('spoiled whatever was there', SPOIL, f'({SPOIL}, IW_SLOT_EMPTY)', 'spoiled'),
    chain('spoiled by a store', SPOIL,
          '(ipcwait_impl_store64_release(at, IW_SLOT_POISON), IW_SLOT_EMPTY)', 'spoiled'),
    chain('who has no ticket is waited for', '; looks && word == IW_SLOT_EMPTY; looks--',
          '; word == IW_SLOT_EMPTY;', 'spoiled'),
    chain('filled though spoiled', FILL,
          '(ipcwait_impl_store64_release(iw_slot_word(c, s, ticket), word), (void)empty, 1)',
          'spoiled'),
    chain('spoiled, and said to be in', f'return {FILL}', f'return {FILL} || 1', 'spoiled'),
    chain('the next slot is beyond the segment', 'ticket < s->slots &&\n', '\n', 'one to one'),
    # Tickets
    chain("a pusher's ticket by a store", ENQ_ADD,
          'ipcwait_impl_load64_seq_cst(&s->enq);\n\t\tipcwait_impl_store64_release(&s->enq, t + want)',
          'two pushers'),
    chain("a popper's ticket by a store", '\tif (!c->one_consumer)\n\t\treturn ' + DEQ_ADD + ';\n',
          '', 'two poppers'),
    chain('enq is read before deq', THERE,
          'uint64_t before = iw_segment_within(s, ipcwait_impl_load64_seq_cst(&s->enq)), t, all;\n'
          '\tt = tickets_of_poppers(s);\n\tif (t >= before && !next_of(s))\n\t\treturn -EAGAIN;',
          'two poppers'),
    # Segments
    chain('tail does not follow before head', '\tfollow(c, s, next);\n\t/*\n', '\t/*\n',
          'two pushers'),
    chain('whoever finds the next does not follow', '\t\tfollow(c, s, next);\n\t\treturn 0;',
          '\t\treturn 0;', 'two pushers'),
    chain('retired by both', MOVE_HEAD, f'\t(void){LEAVE_BEHIND};\n', 'two poppers'),
    chain('not retired', '\t*retired = s;\n', '', 'one to one'),
    chain('retired before head leaves it', MOVE_HEAD,
          f'\tiw_segment_retire(s);\n\t(void){LEAVE_BEHIND};\n\treturn;\n', 'measured'),
    chain('retired in a section', SEVERAL, '\tiw_segment_retire(retired);\n', 'one to one'),
    chain('given back at once', SEVERAL, SEVERAL.replace('retire(', 'put('), 'two pushers'),
    chain('given back at once by the only one', SEVERAL,
          SEVERAL.replace('iw_segment_retire(',
                          '(c->one_consumer ? iw_segment_put : iw_segment_retire)('),
          'one consumer'),
    chain('poppers are in no section',
          POPPERS_ENTER + '}\n\nstatic void leave(const struct iw_chain *c)\n{\n' + POPPERS_LEAVE,
          '\t(void)c;\n}\n\nstatic void leave(const struct iw_chain *c)\n{\n\t(void)c;\n',
          'two poppers'),
    chain('the closer is in no section', '\tiw_rcu_enter();\n\tr = close_last(c);\n\tiw_rcu_leave();\n',
          '\tr = close_last(c);\n', 'closed beside one'),
    mutant('who measures is in no section', LIFE, MEASURE_ALL,
           MEASURE_ALL.replace('\tiw_rcu_enter();\n', '').replace('\tiw_rcu_leave();\n', ''),
           'measured'),
    chain('a segment is got in a section',
          '\tiw_rcu_leave();\n\t*spare = iw_segment_get(c->segment_bytes, c->stride, c->beside);\n\tiw_rcu_enter();\n',
          '\t*spare = iw_segment_get(c->segment_bytes, c->stride, c->beside);\n', 'one to one'),
    chain('after that it does not look for the last anew',
          '\tif (!*spare)\n\t\treturn get_spare(c, spare);\n',
          '\tif (!*spare && get_spare(c, spare))\n\t\treturn -ENOMEM;\n', 'two pushers'),
    chain('a spare that was appended is given back', '\t*spare = NULL;\n', '', 'one to one'),
    chain('a spare is left over', '\tif (spare)\n\t\tiw_segment_put(spare);\n', '', 'two pushers'),
    # Append
    chain('appended without the element', NEW_ELEMENT, '', 'one to one'),
    chain('the first ticket of a new segment is drawn again',
          '\tspare->enq = (struct ipcwait_word64){ 1 };\n', '', 'one to one'),
    chain('appended before the element is in',
          NEW_ELEMENT, f'\tif (!{APPEND})\n\t\treturn false;\n\tnext = (uintptr_t)spare;\n'
          + NEW_ELEMENT, 'one to one'),
    chain('appended by a store', f'return {APPEND};',
          '(void)next;\n\tipcwait_impl_store64_release(&s->next, (uintptr_t)spare);\n\treturn true;',
          'two pushers'),
    chain('numbered as the one before', 's->first + s->slots', 's->first', 'one to one'),
    # The end
    chain('the closed bit is not set', ENQ_OR, ENQ, 'closed'),
    chain('the closer does not end the chain', 'next = end_chain(s);',
          'next = next_of(s) ? next_of(s) : IW_CLOSED;', 'closed'),
    chain('a pusher appends to what is closed', 'closed ? end_chain(s) : next_of(s)', 'next_of(s)',
          'closed'),
    chain('enq is not read again', 'return t < iw_segment_within(s, tickets_of_pushers(s)) ? 0 : -EPIPE;',
          'return -EPIPE;', 'closed'),
    chain('void tickets count', '\t\t\tundraw(s, want);\n', '\t\t\t(void)undraw;\n', 'closed'),
    chain('the segment behind is not looked at', '\tif (!next)\n\t\treturn -EAGAIN;',
          '\tif (next != IW_CLOSED)\n\t\treturn -EAGAIN;', 'one to one'),
    chain('empty, though more may come', '\tif (!next)\n\t\treturn -EAGAIN;',
          '\tif (!next)\n\t\treturn -EPIPE;', 'one to one'),
    chain('closed twice', 'before & IW_ENQ_CLOSED ? -EALREADY : 0', '0 * (int)before',
          'closed twice'),
    # Several at once
    chain('one ticket too many, which nobody uses', 'draw(c, s, (uint64_t)want)',
          'draw(c, s, (uint64_t)want + 1)', 'by twos'),
    chain('those before an error are lost', 'return done ? (int64_t)done : want;', 'return want;',
          'by twos'),
    chain('what met a spoiled slot is lost', FILL_ONE, f'(void)({FILL_ONE[:-1]}), done++;'.replace(
        'done += ', ''), 'by twos'),
    chain('the last is pushed first', FILL_ONE,
          'done += fill(c, s, t, elems + (drawn - 1) * c->elem_bytes);', 'by twos'),
    chain('all are the first', FILL_ONE, FILL_ONE.replace(' + done * c->elem_bytes', ''), 'by twos'),
    chain('popped over each other', 'done += take(c, s, t, elems + done * c->elem_bytes);',
          'done += take(c, s, t, elems);', 'by twos'),
    chain('spoiled, and counted', 'done += take(c, s, t, elems + done * c->elem_bytes);',
          '(void)take(c, s, t, elems + done * c->elem_bytes), done++;', 'by twos'),
    # Elements that no word can be
    mutant('any word is an element', SLOT, 'IPCWAIT_LIKELY(word - IW_SLOT_EMPTY > IW_SLOT_ESCAPED - IW_SLOT_EMPTY)',
           'true',
           'escaped'),
    mutant('nothing is beside the slot', SLOT, '\t*iw_slot_beside(s, ticket) = (uint8_t)(word - IW_SLOT_EMPTY);\n', '',
           'escaped'),
    mutant('the byte beside is not asked', SLOT, '\tif (word == IW_SLOT_ESCAPED)\n', '\tif (false)\n',
           'escaped'),
    # The length
    mutant('pops are counted first', LIFE, MEASURE,
           '\tout = popped(c);\n\tin = pushed(c);\n', 'measured'),
    mutant('what is given back is counted', LIFE, 'above(in < in_later ? in : in_later, out)',
           'above(in, out)', 'measured beside a close'),
    mutant('pushes are counted once', LIFE, 'in_later = pushed(c);', 'in_later = in;', 'never empty'),
    # Waiting
    mutant('no attempt in line', BLOCKING, '\tif (!me->attempt(me)) {\n',
           '\tif (true) {\n', 'one waits'),
    mutant('a notification is not handed on', BLOCKING,
           'iw_any_eventcount.retract(&me->line, &me->in_line);',
           '(void)iw_any_eventcount.withdraw(&me->line, &me->in_line);',
           'the last attempt takes an older one'),
    mutant('an attempt before it leaves the line', BLOCKING,
           '\tleave(me);\n\treturn me->attempt(me);',
           '\tbool over = me->attempt(me);\n\n\tleave(me);\n\treturn over;', 'a deadline'),
    mutant('it stays in line', BLOCKING, '\t(void)iw_any_eventcount.withdraw(&me->line, &me->in_line);\n',
           '', 'woken and overtaken'),
    mutant('notified on the way into the line', BLOCKING, '\t} while (rest.taken);',
           '\t} while (0);', 'woken and overtaken'),
    mutant('a push tells nobody', QUEUE, '\tif (!r)\n\t\tiw_unblock(&q->elements, 1, IPCWAIT_KIND_QUEUE);\n', '',
           'one waits'),
    mutant('a push tells before it', QUEUE, '\tr = iw_chain_push_one(&q->chain, elem);\n\tif (!r)\n'
           '\t\tiw_unblock(&q->elements, 1, IPCWAIT_KIND_QUEUE);\n',
           '\tiw_unblock(&q->elements, 1, IPCWAIT_KIND_QUEUE);\n\tr = iw_chain_push_one(&q->chain, elem);\n',
           'one waits'),
    mutant('two are pushed, and one is told', QUEUE,
           'iw_unblock(&q->elements, r < UINT32_MAX ? (uint32_t)r : UINT32_MAX,\n\t\t\t   IPCWAIT_KIND_QUEUE);',
           'iw_unblock(&q->elements, 1, IPCWAIT_KIND_QUEUE);', 'two wait for two'),
    mutant('the closer tells nobody', QUEUE, '\tiw_unblock(&q->elements, UINT32_MAX, IPCWAIT_KIND_QUEUE);\n', '',
           'closed beside sleepers'),
    mutant('the closer tells one', QUEUE, '\tiw_unblock(&q->elements, UINT32_MAX, IPCWAIT_KIND_QUEUE);\n',
           '\tiw_unblock(&q->elements, 1, IPCWAIT_KIND_QUEUE);\n', 'closed beside two'),
    mutant('the closer tells before it', QUEUE, '\tint r = iw_chain_close(&q->chain);\n',
           '\tint r;\n\n\tiw_unblock(&q->elements, UINT32_MAX, IPCWAIT_KIND_QUEUE);\n'
           '\tr = iw_chain_close(&q->chain);\n\treturn r;\n', 'closed beside sleepers'),
]
