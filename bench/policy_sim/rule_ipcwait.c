/* SPDX-License-Identifier: MIT */
/*
 * The library's own rule: lib/wait/window.c itself, compiled and linked, not a copy.
 *
 * The only file here that looks behind the public headers. What iw_policy_spin_ns() adds for
 * the ADAPTIVE preset is repeated: jitter of an eighth, 2B at most, the ceiling of 200 us. A
 * waker's stamp tells the true length of a wait that was slept through (lib/wait/wait.c),
 * so this rule sees sleeps.
 */
#include "rule.h"

#include "wait/window.h"

#define CEILING_NS 200000

struct ipcwait {
	struct ipcwait_window window;
	uint64_t block_ns;
};

static void ipcwait_init(void *state, uint64_t block_ns)
{
	struct ipcwait *i = state;

	_Static_assert(sizeof(*i) <= RULE_STATE_BYTES, "state");
	i->block_ns = block_ns;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* jittered() of lib/wait/policy.c. */
static uint64_t jittered(uint64_t ns, uint64_t random)
{
	return ns - ns / 8 + (ns / 4 * (random % 256) / 256);
}

static uint64_t ipcwait_spin_ns(void *state, struct random *r)
{
	const struct ipcwait *i = state;
	uint64_t chosen_ns = iw_window_choose(&i->window, i->block_ns, 0);
	uint64_t ns = jittered(chosen_ns, random_next(r) >> 32);

	return least(least(ns, 2 * i->block_ns), CEILING_NS);
}

static void ipcwait_learn(void *state, const struct outcome *o)
{
	struct ipcwait *i = state;

	iw_window_record(&i->window, o->wait_ns, i->block_ns);
}

const struct rule rule_ipcwait = {
	.name = "ipcwait",
	.what = "lib/wait/window.c: learned window",
	.sees_sleep = true,
	.init = ipcwait_init,
	.spin_ns = ipcwait_spin_ns,
	.learn = ipcwait_learn,
};
