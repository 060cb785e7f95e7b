# SPDX-License-Identifier: MIT
"""Mistakes in channels between processes: one place of one file each."""
from mutant import Mutant

SHARED = 'lib/queue/shared.c'
BURY = 'lib/queue/shared_bury.c'

LOAD_SLOT = 'control = ipcwait_impl_load64_seq_cst(p->slot);'
CLAIM = 'ipcwait_impl_cas64_seq_cst(p->slot, &control, p->mine)'
GO_ON = 'return ipcwait_impl_cas64_seq_cst(\n\t\tp->slot, &mine,'
LOAD_CLOSED = 'return ipcwait_impl_load64_seq_cst(&s->head->closed);'
CLOSE = 'ipcwait_impl_or64_seq_cst(&s->head->closed, 1)'
GIVE_BACK = ('\t\t(void)go_on(s, &p, IW_SHARED_STATES - IW_SHARED_WRITING);\n'
             '\t\tiw_unblock(&s->head->elements, UINT32_MAX, IPCWAIT_KIND_CHANNEL);\n')
RECHECK = 'if (is_closed(s)) {'
DRAINED = 'return r == -EAGAIN && p->past <= IW_SHARED_FREE ? -EPIPE : r;'
LAST_ONE = ('\tif (is_closed(s))\n\t\tiw_unblock(&s->head->elements, UINT32_MAX, IPCWAIT_KIND_CHANNEL);\n'
            '\treturn 0;')
TELL_SENT = '\ttell(s, &s->head->elements, p.pos, FOR_RECEIVERS);\n'
TELL_TAKEN = '\ttell(s, &s->head->room, p.pos, FOR_SENDERS + IW_SHARED_STATES);\n'
TELL_CLOSED = '\ttell_all(s);\n'
BEHIND = '\t\tn += stages == ready;\n'
BREAK = '\t\tif (stages < ready)\n\t\t\tbreak;\n'
PASS_BY = '\t\telse if (p->past > ready)\n\t\t\tmove(s, hint, p->pos);\n'
FREED = '(stage | (IW_SHARED_STATES - 1)) + 1'
TAKE_AWAY = 'ipcwait_impl_cas64_seq_cst(slot, &control, freed)'
LOAD_DEAD = 'uint64_t control = ipcwait_impl_load64_seq_cst(slot);'
PROOF = '(owner == s->me || iw_shared_is_gone(s, owner)) &&'
LOOK = 'return iw_shared_is_gone(s, owner) && iw_shared_inherit(s, owner);'


def mutant(name, old, new, scenario, memory='', file=SHARED):
    return Mutant('shared: ' + name, file, old, new, 'shared', scenario, memory)


def buried(name, old, new, scenario, memory=''):
    return mutant(name, old, new, scenario, memory, BURY)


MUTANTS = [
    # Orders
    mutant('the last look may be old', LOAD_SLOT, LOAD_SLOT.replace('_seq_cst', '_acquire'),
           'handed over', 'weak'),
    mutant('a claim is not before the close', CLAIM, CLAIM.replace('_seq_cst', '_acq_rel'),
           'closed', 'weak'),
    mutant('a change does not release', GO_ON, GO_ON.replace('_seq_cst', '_acquire'),
           'handed over', 'weak'),
    mutant('a change is not before the line', GO_ON, GO_ON.replace('_seq_cst', '_acq_rel'),
           'handed over', 'weak'),
    mutant('closed may be old', LOAD_CLOSED, LOAD_CLOSED.replace('_seq_cst', '_acquire'),
           'closed', 'weak'),
    mutant('a close is not before the line', CLOSE,
           'ipcwait_impl_add64_acq_rel(&s->head->closed, 1)', 'closed', 'weak'),
    buried('what the dead did is not released', TAKE_AWAY,
           TAKE_AWAY.replace('_seq_cst', '_relaxed'), 'killed'),
    # Who is told
    mutant('nobody is told of an element', TELL_SENT, '', 'handed over'),
    mutant('nobody is told of room', TELL_TAKEN, '', 'handed over'),
    mutant('what was hidden is not told of', BEHIND, '', 'hides'),
    mutant('only what is there is counted', BREAK,
           '\t\tif (stages != ready)\n\t\t\tbreak;\n', 'two are hidden'),
    mutant('room is looked for in this lap', TELL_TAKEN,
           TELL_TAKEN.replace(' + IW_SHARED_STATES', ''), 'room hides'),
    mutant('nobody is told of a close', TELL_CLOSED, '', 'closed'),
    mutant('nobody is told that it is drained', LAST_ONE, '\treturn 0;', 'two receive'),
    mutant('nobody is told of what is given back', GIVE_BACK,
           GIVE_BACK.split('\n', maxsplit=1)[0] + '\n', 'closed'),
    # Close
    mutant('sent after the close', RECHECK, 'if (false) {', 'closed'),
    mutant('given back as if full', GIVE_BACK,
           GIVE_BACK.replace('IW_SHARED_STATES - IW_SHARED_WRITING', '1'), 'closed'),
    mutant('drained while one is put in', DRAINED, 'return r == -EAGAIN ? -EPIPE : r;', 'closed'),
    mutant('drained before it was closed', '\t\tr = drained(s, &p);',
           '\t\tr = p.past <= IW_SHARED_FREE ? -EPIPE : r;', 'closed'),
    # Slots
    mutant('what is claimed is not passed by', PASS_BY, '', 'tried only'),
    mutant('claimed by a store', CLAIM,
           '(ipcwait_impl_store64_release(p->slot, p->mine), 1)', 'tried only'),
    mutant('what was given up counts', 'i < most && ', 'false && ', 'closed'),
    mutant('freed for the same lap', '(void)go_on(s, &p, IW_SHARED_STATES - IW_SHARED_READING);',
           '(void)go_on(s, &p, -3);', 'handed over'),
    # The dead
    buried('taken without a proof', PROOF, 'true &&', 'an heir'),
    buried('the proof is older than the claim', LOAD_DEAD,
           'bool gone = owner == s->me || iw_shared_is_gone(s, owner);\n' + LOAD_DEAD +
           'if (iw_shared_is_claimed(control) && iw_shared_owner(control) == owner)\n'
           'return gone && take_away(s, slot, control);', 'an heir'),
    buried('what the dead had not sent is sent', FREED, 'stage + 1', 'a sender is killed'),
    buried('what the dead had taken out is there', FREED,
           'stage % IW_SHARED_STATES == IW_SHARED_READING ? stage - 1 : ' + FREED,
           'a receiver is killed'),
    buried('nobody looks', LOOK, 'return false;', 'killed'),
    buried('only the first slot', 'i < s->is.capacity', 'i < 1', 'killed'),
    buried('claims of all are taken', ' || iw_shared_owner(control) != owner', '', 'an heir'),
]
