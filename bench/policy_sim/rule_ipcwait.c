/* SPDX-License-Identifier: MIT */
/*
 * The library's own rule: lib/policy/window.c itself with rhythm.c, linked, not a copy.
 *
 * The only file here that looks behind the public headers. What iw_policy_spin_ns() adds for
 * the ADAPTIVE preset is repeated: jitter of an eighth, 2B at most, the ceiling of 200 us. A
 * waker's stamp tells the true length of a wait that was slept through (lib/engine/wait.c),
 * so this rule sees sleeps.
 */
#include "rule.h"

#include "policy/window.h"

#define CEILING_NS 200000

struct ipcwait {
	struct ipcwait_window window;
	uint64_t block_ns;
	struct iw_plan plan; /* of the wait that has begun */
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

/* jittered() of lib/policy/policy.c. */
static uint64_t jittered(uint64_t ns, uint64_t random)
{
	return ns - ns / 8 + (ns / 4 * (random % 256) / 256);
}

/* @worth_ns is what the preset lets a timed sleep cost: timer_for() of lib/policy/policy.c. */
static uint64_t spin_by(struct ipcwait *i, uint64_t worth_ns, struct random *r)
{
	const struct iw_timer_cost timer = {
		.late_ns = TIMER_LATE_MOST_NS,
		.spread_ns = (TIMER_LATE_MOST_NS - TIMER_LATE_LEAST_NS) / 2,
		.cpu_ns = TIMER_CPU_NS,
		.worth_ns = worth_ns,
	};
	uint64_t ns;

	iw_window_plan(&i->window, i->block_ns, 0, &timer, &i->plan);
	ns = jittered(i->plan.spin_ns, random_next(r) >> 32);
	return least(least(ns, 2 * i->block_ns), CEILING_NS);
}

/* ADAPTIVE: B without its latency, which is two thirds of it by the table of lib/policy/cost.c. */
static uint64_t ipcwait_spin_ns(void *state, struct random *r)
{
	struct ipcwait *i = state;

	return spin_by(i, i->block_ns / 3, r);
}

/* LATENCY: of B with four times the latency, all but one of the four: about three quarters. */
static uint64_t latency_spin_ns(void *state, struct random *r)
{
	struct ipcwait *i = state;

	return spin_by(i, i->block_ns - i->block_ns / 4, r);
}

static struct timed ipcwait_timed(const void *state)
{
	const struct iw_plan *plan = &((const struct ipcwait *)state)->plan;

	if (!plan->timed)
		return (struct timed){ 0 };
	return (struct timed){ plan->sleep.wake_ns, plan->sleep.until_ns,
			       plan->spin_again_ns };
}

static void ipcwait_learn(void *state, const struct outcome *o)
{
	struct ipcwait *i = state;

	iw_window_record(&i->window, o->wait_ns, 0, i->block_ns);
}

const struct rule rule_ipcwait = {
	.name = "ipcwait",
	.what = "lib/policy/window.c: learned window, timed sleeps",
	.sees_sleep = true,
	.init = ipcwait_init,
	.spin_ns = ipcwait_spin_ns,
	.timed = ipcwait_timed,
	.learn = ipcwait_learn,
};

const struct rule rule_latency = {
	.name = "latency",
	.what = "the same with timed sleeps as under the LATENCY preset",
	.sees_sleep = true,
	.init = ipcwait_init,
	.spin_ns = latency_spin_ns,
	.timed = ipcwait_timed,
	.learn = ipcwait_learn,
};
