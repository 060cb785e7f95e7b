/* SPDX-License-Identifier: MIT */
/*
 * Phases of std::barrier's kind: an arrival and the wait for the others are two calls, several may
 * arrive at once, and who arrives for the last time is expected no more. Not API.
 *
 * phase.word
 *   bits 0-31   PENDING  arrivals that are still expected in this phase
 *   bits 32-63  PHASE    how many phases are over, modulo 2^32
 *
 *   PENDING
 *      p       p more have to arrive
 *      0       the last has arrived, and its thread ends the phase; or nobody is expected any more
 *
 *   p -> p-n          arrive         any thread        n <= p
 *   0 -> e, PHASE+1   end the phase  the last arriver  e is what phase.expected is then
 *
 * phase.expected     how many arrivals each later phase takes
 *   e -> e-1          drop           any thread        then it arrives
 *
 * Who waits does so for PHASE, elsewhere.
 */
#ifndef IPCWAIT_IMPL_PHASE_H
#define IPCWAIT_IMPL_PHASE_H

#include <errno.h>

#include <ipcwait/base.h>
#include <ipcwait/impl/word.h>

#define IPCWAIT_IMPL_PHASE_MAX 0x7fffffff

struct ipcwait_impl_phase {
	struct ipcwait_word64 word;
	struct ipcwait_word32 expected;
};

IPCWAIT_BEGIN_DECLS

/*
 * p -> p-n. *@phase is the one that it belongs to. 1: it was the last, and the caller ends the
 * phase; -EINVAL: @n is 0; -EOVERFLOW: there are not so many to come, nothing was done.
 */
static inline int ipcwait_impl_phase_arrive(struct ipcwait_impl_phase *p, uint32_t n,
					    uint32_t *phase)
{
	/* ORD phase.X1: relaxed, re-checked by the CAS below. */
	uint64_t w = ipcwait_impl_load64_relaxed(&p->word);

	if (n == 0)
		return -EINVAL;
	do {
		if (n > (uint32_t)w)
			return -EOVERFLOW;
		/*
		 * ORD phase.R1: release, to the last arriver, and through it to all who wait.
		 * Pairs with phase.A1.
		 *
		 * ORD phase.A1: acquire, so that the last sees what came before each arrival,
		 * those that dropped among them. Pairs with phase.R1.
		 */
	} while (!ipcwait_impl_cas64_acq_rel(&p->word, &w, w - n));
	*phase = (uint32_t)(w >> 32);
	return n == (uint32_t)w;
}

/* e -> e-1, and p -> p-1, as ipcwait_impl_phase_arrive(). */
static inline int ipcwait_impl_phase_drop(struct ipcwait_impl_phase *p, uint32_t *phase)
{
	int r;

	/* ORD phase.X2: relaxed, protected by phase.R1 and phase.A1. */
	(void)ipcwait_impl_add32_relaxed(&p->expected, UINT32_MAX);
	r = ipcwait_impl_phase_arrive(p, 1, phase);
	if (r < 0)
		/* ORD phase.X3: relaxed, no order needed: nobody was expected. */
		(void)ipcwait_impl_add32_relaxed(&p->expected, 1);
	return r;
}

/* 0 -> e, PHASE+1: the last arriver of @phase. */
static inline void ipcwait_impl_phase_end(struct ipcwait_impl_phase *p, uint32_t phase)
{
	/* ORD phase.X4: relaxed, protected by phase.R1 and phase.A1. */
	uint32_t expected = ipcwait_impl_load32_relaxed(&p->expected);

	/* ORD phase.R2: release, to those who wait for the end. Pairs with phase.A2. */
	ipcwait_impl_store64_release(&p->word, (uint64_t)(phase + 1) << 32 | expected);
}

static inline bool ipcwait_impl_phase_is_over(const struct ipcwait_impl_phase *p,
					      uint32_t phase)
{
	/*
	 * ORD phase.A2: acquire, so that who has waited sees what came before each arrival, and
	 * what the last did before it ended the phase. Pairs with phase.R2.
	 */
	return (uint32_t)(ipcwait_impl_load64_acquire(&p->word) >> 32) != phase;
}

IPCWAIT_END_DECLS

#endif
