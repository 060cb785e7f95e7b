/* SPDX-License-Identifier: MIT */
/*
 * Rules that learn nothing.
 *
 *	block       the futex alone: glibc's normal mutex and its semaphore
 *	spin        until the wait ends; the cap only keeps the figures finite
 *	fixed-b     Karlin and others 1991: never more than twice the best
 *	fixed-054b  B ln(e-1): 1.58 times the best for exponential waits of any rate
 *	random      density e^(t/B) / (B(e-1)) on [0, B]: 1.58 times the best on average,
 *	            against any waits; Karlin, Manasse, McGeoch, Owicki, SODA 1990
 *	folly       Baton and LifoSem, synchronization/WaitOptions.h: 2 us by the clock
 *	jiny        kernel/sched_task.cc: until three timer interrupts were seen, at 1 kHz.
 *	            The first comes 0 to 1 ms after the wait began, so 2 to 3 ms
 */
#include "rule.h"

#include <math.h>

#define SPIN_CAP_NS 100000000
#define FOLLY_NS    2000

#define PRESET_CEILING_NS 200000
#define JINY_TICK_NS      1000000

struct fixed {
	uint64_t block_ns;
};

static void fixed_init(void *state, uint64_t block_ns)
{
	((struct fixed *)state)->block_ns = block_ns;
}

static void fixed_learn(void *state, const struct outcome *o)
{
	(void)state;
	(void)o;
}

static uint64_t block_spin_ns(void *state, struct random *r)
{
	(void)state;
	(void)r;
	return 0;
}

static uint64_t spin_spin_ns(void *state, struct random *r)
{
	(void)state;
	(void)r;
	return SPIN_CAP_NS;
}

/* The library's preset SPIN: lib/engine/plan.c. */
static uint64_t preset_spin_ns(void *state, struct random *r)
{
	uint64_t ns = 2 * ((const struct fixed *)state)->block_ns;

	(void)r;
	return ns < PRESET_CEILING_NS ? ns : PRESET_CEILING_NS;
}

static uint64_t fixed_b_spin_ns(void *state, struct random *r)
{
	(void)r;
	return ((const struct fixed *)state)->block_ns;
}

static uint64_t fixed_054b_spin_ns(void *state, struct random *r)
{
	(void)r;
	return ((const struct fixed *)state)->block_ns * 54 / 100;
}

/* The inverse of the distribution function (e^(t/B) - 1) / (e - 1). */
static uint64_t random_spin_ns(void *state, struct random *r)
{
	double block_ns = (double)((const struct fixed *)state)->block_ns;

	return (uint64_t)(block_ns * log(1 + random_unit(r) * (exp(1) - 1)));
}

static uint64_t folly_spin_ns(void *state, struct random *r)
{
	(void)state;
	(void)r;
	return FOLLY_NS;
}

static uint64_t jiny_spin_ns(void *state, struct random *r)
{
	(void)state;
	return (uint64_t)((2 + random_unit(r)) * JINY_TICK_NS);
}

const struct rule rule_block = {
	.name = "block",
	.what = "sleeps at once",
	.init = fixed_init,
	.spin_ns = block_spin_ns,
	.learn = fixed_learn,
};

const struct rule rule_spin = {
	.name = "spin",
	.what = "spins to the end, 100 ms at most",
	.init = fixed_init,
	.spin_ns = spin_spin_ns,
	.learn = fixed_learn,
};

const struct rule rule_preset_spin = {
	.name = "preset-spin",
	.what = "2B, 200 us at most: libipcwait's preset spin",
	.init = fixed_init,
	.spin_ns = preset_spin_ns,
	.learn = fixed_learn,
};

const struct rule rule_fixed_b = {
	.name = "fixed-b",
	.what = "B",
	.init = fixed_init,
	.spin_ns = fixed_b_spin_ns,
	.learn = fixed_learn,
};

const struct rule rule_fixed_054b = {
	.name = "fixed-054b",
	.what = "0.54 B",
	.init = fixed_init,
	.spin_ns = fixed_054b_spin_ns,
	.learn = fixed_learn,
};

const struct rule rule_random = {
	.name = "random",
	.what = "0 to B, drawn with density e^(t/B)",
	.init = fixed_init,
	.spin_ns = random_spin_ns,
	.learn = fixed_learn,
};

const struct rule rule_folly = {
	.name = "folly",
	.what = "Baton, LifoSem: 2 us",
	.init = fixed_init,
	.spin_ns = folly_spin_ns,
	.learn = fixed_learn,
};

const struct rule rule_jiny = {
	.name = "jiny",
	.what = "Jiny kernel: three timer interrupts at 1 kHz",
	.init = fixed_init,
	.spin_ns = jiny_spin_ns,
	.learn = fixed_learn,
};
