# SPDX-License-Identifier: MIT
"""Mistakes in magazines and their shelves: one place of one file each."""
from mutant import Mutant

MAGAZINE = 'lib/queue/magazine.c'

LOAD_TOP = 'ipcwait_impl_load64_acquire(&s->top), below;'
STORE_NEXT = 'ipcwait_impl_store32_relaxed(&m->next, (uint32_t)w);'
PUT = 'ipcwait_impl_cas64_release(&s->top, &w, (w & ~TOP_MASK) | m->number)'
TAKE = 'ipcwait_impl_cas64_relaxed(&s->top, &w, below)'
NEXT_TAG = '\t\tbelow |= ((w & ~TOP_MASK) + TAG_ONE);\n'


def mutant(name, old, new, scenario, memory=''):
    return Mutant('shelf: ' + name, MAGAZINE, old, new, 'shelf', scenario, memory)


MUTANTS = [
    # Orders
    mutant('a put does not release', PUT, PUT.replace('_release', '_relaxed'), 'two exchange'),
    mutant('the table is not acquired', LOAD_TOP, LOAD_TOP.replace('_acquire', '_relaxed'),
           'a new chunk'),
    mutant('the next is not acquired', LOAD_TOP, LOAD_TOP.replace('_acquire', '_relaxed'),
           'two exchange', 'weak'),
    # The tag
    mutant('a take leaves the tag', NEXT_TAG, NEXT_TAG.replace(' + TAG_ONE', ''),
           'one comes back'),
    mutant('a put loses the tag', PUT, PUT.replace('(w & ~TOP_MASK) | ', ''), 'one comes back'),
    mutant('a take loses the tag', NEXT_TAG, '', 'another comes below'),
    mutant('an empty shelf has no tag', 'if (!(w & TOP_MASK))', 'if (!w)', 'one for two'),
    # The stack
    mutant('the next follows the put', STORE_NEXT,
           f'while (!{PUT})\n\t\t\t;\n\t\t{STORE_NEXT}\n\t\treturn;', 'two exchange'),
    mutant('the next is that of the first try', STORE_NEXT,
           f'{STORE_NEXT}\n\t\twhile (!{PUT})\n\t\t\t;\n\t\treturn;', 'two exchange'),
    mutant('the next is older than the top', NEXT_TAG,
           '\t\tw = ipcwait_impl_load64_acquire(&s->top);\n'
           '\t\tif ((uint32_t)w != m->number)\n\t\t\tcontinue;\n' + NEXT_TAG, 'one comes back'),
    mutant('put by a store', PUT,
           '(ipcwait_impl_store64_release(&s->top, (w & ~TOP_MASK) | m->number), 1)',
           'two exchange'),
    mutant('taken by a store', TAKE, '(ipcwait_impl_store64_release(&s->top, below), 1)',
           'one for two'),
    # The count
    mutant('a put is not counted', '\tadd(&s->count, 1);\n', '', 'full and empty'),
    mutant('a take is not counted', '\t\t\tadd(&s->count, (uint32_t)-1);\n', '', 'two exchange'),
    mutant('a count is lost', '(void)ipcwait_impl_add32_relaxed(count, n);',
           'ipcwait_impl_store32_relaxed(count, ipcwait_impl_load32_relaxed(count) + n);',
           'two exchange'),
    # The table
    mutant('a chunk for each', '\tif (!all->chunk[c])\n\t\tall->chunk[c] = calloc',
           '\t\tall->chunk[c] = calloc', 'a new chunk'),
    mutant('one reaches into another', 'all->rounds * sizeof(void *)',
           '(all->rounds - 1) * sizeof(void *)', 'two exchange'),
]
