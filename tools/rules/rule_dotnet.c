/* SPDX-License-Identifier: MIT */
/*
 * .NET's Lock: System/Threading/Lock.cs of dotnet/runtime, with its adaptive spin period.
 *
 *	the first spinner always makes 22 rounds, while the count is not negative
 *	success		count + 1, up to 22
 *	failure		count - 1; at 0: -100, and the next 100 contentions do not spin
 *
 * Rounds double from one normalised pause (37 ns) to 7 (272 ns at most). From the tenth
 * round on every other one is a Sleep(0) instead, here 500 ns: a sched_yield() with nobody
 * else to run. Together 6.6 us.
 */
#include "rule.h"

#define ROUNDS             22
#define FIRST_YIELD        10
#define NORMALISED_NS      37
#define PAUSES_PER_ROUND   7
#define YIELD_NS           500
#define SKIPPED_AFTER_ZERO 100

struct dotnet {
	int count;
	bool skipped; /* the current wait did not spin because the count is negative */
};

static void dotnet_init(void *state, uint64_t block_ns)
{
	(void)block_ns;
	((struct dotnet *)state)->count = ROUNDS;
}

static uint64_t round_ns(unsigned i)
{
	uint64_t pauses = i < 3 ? UINT64_C(1) << i : PAUSES_PER_ROUND;

	if (i >= FIRST_YIELD && (i - FIRST_YIELD) % 2 == 0)
		return YIELD_NS;
	return pauses * NORMALISED_NS;
}

static uint64_t dotnet_spin_ns(void *state, struct random *r)
{
	struct dotnet *d = state;
	uint64_t ns = 0;

	(void)r;
	d->skipped = d->count < 0;
	for (unsigned i = 0; i < ROUNDS && !d->skipped; i++)
		ns += round_ns(i);
	return ns;
}

static void dotnet_learn(void *state, const struct outcome *o)
{
	struct dotnet *d = state;

	if (d->skipped)
		d->count++;
	else if (o->spun)
		d->count += d->count < ROUNDS;
	else
		d->count = d->count > 0 ? d->count - 1 : -SKIPPED_AFTER_ZERO;
}

const struct rule rule_dotnet = {
	.name = "dotnet",
	.what = "Lock: 22 rounds, 6.6 us; a pause of 100 waits after failures",
	.init = dotnet_init,
	.spin_ns = dotnet_spin_ns,
	.learn = dotnet_learn,
};
