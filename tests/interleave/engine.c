/* SPDX-License-Identifier: MIT */
/*
 * What the engine decides, decided by the checker: whether a waiter spins, for how many looks,
 * and whether it bounds its sleep by a timer; with ENGINE_ANY also that there are no facts, no
 * second CPU, no licence, or that it spins to get away from its waker. A spinner that loses its
 * CPU is not among them. In place
 * of admit.c, policy.c, budget.c, licence.c, harm.c, cost.c, observe.c and stats.c of lib/engine,
 * and of lib/env.
 */
#include "env/facts.h"
#include "interleave/model.h"
#include "engine/admit.h"
#include "engine/plan.h"
#include "policy/budget.h"
#include "policy/cost.h"
#include "policy/harm.h"
#include "policy/licence.h"
#include "watch/observe.h"
#include "policy/policy.h"
#include "watch/stats.h"
#include "interleave/engine.h"

#define BLOCK_NS   20000
#define LATENCY_NS 1000

/* Lengths of the spin: less and more than what needs a licence. */
#define SHORT_NS 1500
#define LONG_NS  3000

enum engine_spins engine_spins;

static const struct iw_facts facts = {
	.rate = { true, UINT64_C(1) << 32, UINT64_C(1) << 32 },
	.cpus = 2,
};

static unsigned any(unsigned n, const char *what)
{
	return engine_spins == ENGINE_ANY ? model_choose_rarely(n, what) : 0;
}

const struct iw_facts *iw_facts(void)
{
	return any(2, "no facts") ? NULL : &facts;
}

enum iw_reason iw_admit(const struct iw_waiter *me, uint64_t now, uint64_t *part_ticks)
{
	(void)me;
	(void)now;
	*part_ticks = any(2, "spins to part") ? LONG_NS : 0;
	if (engine_spins == ENGINE_SLEEPS)
		return IW_CROWDED;
	if (engine_spins == ENGINE_SPINS)
		return IW_NO_REASON;
	return model_choose(2, "does not spin") ? IW_CROWDED : IW_NO_REASON;
}

enum iw_reason iw_admit_still_alone(const struct iw_waiter *me)
{
	(void)me;
	iw_self()->alone = any(2, "has no second CPU");
	return iw_self()->alone ? IW_ONE_CPU : IW_NO_REASON;
}

uint64_t iw_plan_spin_ns(struct iw_waiter *me, uint64_t now)
{
	static const uint64_t lengths[] = { SHORT_NS, LONG_NS };

	(void)now;
	me->plan = (struct iw_plan){ 0 };
	if (model_timer_left())
		me->plan = (struct iw_plan){
			.timed = true,
			.sleep = { .wake_ns = 1000000, .until_ns = 2000000 },
			.spin_again_ns = SHORT_NS,
		};
	return any(2, "has learned not to spin") ? 0 : lengths[model_choose(2, "spins on")];
}

enum ipcwait_preset iw_policy_preset(const struct iw_facts *f,
				     const struct ipcwait_window *w)
{
	(void)f;
	(void)w;
	return IPCWAIT_ADAPTIVE;
}

uint64_t iw_cost_block_ns(const struct iw_facts *f, enum ipcwait_preset preset)
{
	(void)f;
	(void)preset;
	return BLOCK_NS;
}

uint64_t iw_cost_latency_ns(const struct iw_facts *f)
{
	(void)f;
	return LATENCY_NS;
}

void iw_cost_note_latency(uint64_t ns)
{
	(void)ns;
}

void iw_cost_note_waker(uint64_t ns)
{
	(void)ns;
}

void iw_cost_note_timer(uint64_t ns)
{
	(void)ns;
}

void iw_budget_charge(const struct iw_facts *f, uint64_t now, uint64_t ticks)
{
	(void)f;
	(void)now;
	(void)ticks;
}

void iw_harm_note(const struct iw_facts *f, uint64_t now)
{
	(void)f;
	(void)now;
}

uint32_t iw_licence_take(const struct iw_facts *f, uint64_t now)
{
	(void)f;
	(void)now;
	return any(2, "gets no licence") ? 0 : 1;
}

void iw_licence_return(uint32_t licence)
{
	(void)licence;
}

void iw_observe_closely(const struct iw_config *config, const struct iw_outcome *o)
{
	(void)config;
	(void)o;
}

void iw_count(enum ipcwait_kind kind, enum iw_event event, uint64_t n)
{
	(void)kind;
	(void)event;
	(void)n;
}

void iw_count_reason(enum iw_reason reason)
{
	(void)reason;
}
