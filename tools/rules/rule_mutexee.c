/* SPDX-License-Identifier: MIT */
/*
 * MUTEXEE: LPD-EPFL/lockin, include/mutexee_in.h (81cb9928); Falsafi, Guerraoui, Picorel,
 * Trigonakis, "Unlocking Energy", USENIX ATC 2016.
 *
 * Spins for 8192 cycles. Every 2048 contended unlocks: if more than a limit, at first 128,
 * had to wake a sleeper, spins for 256 cycles from now on. After 8, then 16, then 32 such
 * periods it tries 8192 again, each time with a limit that is one higher, up to 256.
 *
 * Cycles at 3 GHz, as in the project's table of peers. The unlock's own spin before the
 * wake has no counterpart in the model, and is left out in MUTEXEE's favour.
 */
#include "rule.h"

#define LONG_CYCLES     8192
#define SHORT_CYCLES    256
#define CYCLES_PER_US   3000
#define PERIOD          2048
#define MISS_LIMIT      128
#define MISS_LIMIT_MAX  256
#define RETRY_EVERY     8
#define RETRY_EVERY_MAX 32

struct mutexee {
	uint64_t waits;
	unsigned misses, miss_limit;
	unsigned sleeping_for; /* periods since it stopped spinning, and 1; 0: it spins */
	unsigned retry_every;
};

static void mutexee_init(void *state, uint64_t block_ns)
{
	struct mutexee *m = state;

	_Static_assert(sizeof(*m) <= RULE_STATE_BYTES, "state");
	(void)block_ns;
	m->miss_limit = MISS_LIMIT;
	m->retry_every = RETRY_EVERY;
}

static uint64_t mutexee_spin_ns(void *state, struct random *r)
{
	const struct mutexee *m = state;

	(void)r;
	return (m->sleeping_for ? SHORT_CYCLES : LONG_CYCLES) * UINT64_C(1000) /
	       CYCLES_PER_US;
}

static void end_of_period(struct mutexee *m)
{
	if (!m->sleeping_for) {
		m->sleeping_for = m->misses > m->miss_limit;
	} else if (m->sleeping_for++ == m->retry_every) {
		if (m->retry_every < RETRY_EVERY_MAX)
			m->retry_every *= 2;
		if (m->miss_limit < MISS_LIMIT_MAX)
			m->miss_limit++;
		m->sleeping_for = 0;
	}
	m->misses = 0;
}

static void mutexee_learn(void *state, const struct outcome *o)
{
	struct mutexee *m = state;

	if (++m->waits % PERIOD == 0)
		end_of_period(m);
	m->misses += !o->spun;
}

const struct rule rule_mutexee = {
	.name = "mutexee",
	.what = "8192 cycles, or 256 while too many waits sleep",
	.init = mutexee_init,
	.spin_ns = mutexee_spin_ns,
	.learn = mutexee_learn,
};
