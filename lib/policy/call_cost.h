/* SPDX-License-Identifier: MIT */
/*
 * B of sleeps in a system call that is not the futex's. No waker leaves a stamp there, so the
 * wake-up cannot be told from the wait that it ends. But a wait that sleeps takes longer than its
 * like that spins, by what the sleep costs: now and then one sleeps where spinning would do, and
 * the difference to the last that spun is a sample. The median of such samples stands for B also
 * where waits are irregular, as a difference is too large as often as it is too small.
 *
 * What was learned holds for a tenth of a second. Taken for too small, B makes windows too short
 * for any wait to end in, and then there are no samples either.
 */
#ifndef IW_POLICY_CALL_COST_H
#define IW_POLICY_CALL_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "env/facts.h"

/* A wait that slept took @slept_ns, at @now in ticks; the last that spun, @spun_ns. */
void iw_call_cost_note(const struct iw_facts *facts, uint64_t now, uint64_t slept_ns,
		       uint64_t spun_ns);

/* B in ns, without what the preset makes of it; 0: not known at @now. */
uint64_t iw_call_cost_ns(const struct iw_facts *facts, uint64_t now);

/* True if a sample is wanted at @now. */
bool iw_call_cost_probe_due(const struct iw_facts *facts, uint64_t now);

/* Of B, what is the sleeper's: it runs so long after the wake began. */
static inline uint64_t iw_call_cost_latency_ns(uint64_t block_ns)
{
	return block_ns * 3 / 4;
}

#endif
