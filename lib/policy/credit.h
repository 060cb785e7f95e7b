/* SPDX-License-Identifier: MIT */
/*
 * How much spinning may fail. A spin that succeeds is what the library is for; one that
 * fails is lost CPU time, and where spins keep failing (more runnable threads than CPUs, a
 * stolen vCPU, a quota, a partner that blocks elsewhere) the sum of it is bounded here, whatever
 * the cause: each thread, and the process as a whole, spends a small share of its time.
 */
#ifndef IW_POLICY_CREDIT_H
#define IW_POLICY_CREDIT_H

#include <stdbool.h>
#include <stdint.h>

#include "env/facts.h"

/*
 * True if neither the thread nor the process has overspent at @now, in ticks. @full_at is the
 * thread's account, 0 at first: when its credit is full again.
 */
bool iw_credit_allows(const struct iw_facts *facts, uint64_t full_at, uint64_t now);

/* A spin of @ticks that ended at @now was in vain. */
void iw_credit_charge(const struct iw_facts *facts, uint64_t *full_at, uint64_t now,
		      uint64_t ticks);

#endif
