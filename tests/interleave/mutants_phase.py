# SPDX-License-Identifier: MIT
"""Mistakes in the phases of the C++ barrier: one place each."""
from mutant import Mutant

PHASE = 'include/ipcwait/impl/phase.h'


def mutant(name, old, new, scenario):
    return Mutant(name, PHASE, old, new, 'phase', scenario)


DROP = """\t(void)ipcwait_impl_add32_relaxed(&p->expected, UINT32_MAX);
\tr = ipcwait_impl_phase_arrive(p, 1, phase);
"""

MUTANTS = [
    mutant('phase: arrival does not release', 'ipcwait_impl_cas64_acq_rel(&p->word,',
           'ipcwait_impl_cas64_acquire(&p->word,', 'phase: two meet'),
    mutant('phase: the last does not acquire', 'ipcwait_impl_cas64_acq_rel(&p->word,',
           'ipcwait_impl_cas64_release(&p->word,', 'phase: two meet'),
    mutant('phase: its end does not release', 'ipcwait_impl_store64_release(&p->word,',
           'ipcwait_impl_store64_relaxed(&p->word,', 'phase: two meet'),
    mutant('phase: a look does not acquire', 'ipcwait_impl_load64_acquire(&p->word)',
           'ipcwait_impl_load64_relaxed(&p->word)', 'phase: two meet'),
    mutant('phase: the last does not know it', 'return n == (uint32_t)w;',
           'return n > (uint32_t)w;', 'phase: two meet'),
    mutant('phase: everybody ends it', 'return n == (uint32_t)w;', 'return n <= (uint32_t)w;',
           'phase: two meet'),
    mutant('phase: several count as one', '&w, w - n)', '&w, w - 1)', 'phase: three meet'),
    mutant('phase: who drops is expected', DROP,
           '\tr = ipcwait_impl_phase_arrive(p, 1, phase);\n', 'phase: one drops'),
    mutant('phase: drops after it has arrived', DROP,
           '\tr = ipcwait_impl_phase_arrive(p, 1, phase);\n'
           '\t(void)ipcwait_impl_add32_relaxed(&p->expected, UINT32_MAX);\n', 'phase: one drops'),
    mutant('phase: the next expects nobody', '(uint64_t)(phase + 1) << 32 | expected',
           '(uint64_t)(phase + 1) << 32 | (expected & 0)', 'phase: two meet'),
    mutant('phase: it is the same one', '(uint64_t)(phase + 1) << 32 | expected',
           '(uint64_t)phase << 32 | expected', 'phase: two meet'),
]
