/* SPDX-License-Identifier: MIT */
#include "engine/migrate.h"
#include "engine/plan.h"
#include "os/cpu.h"
#include "os/seam.h"
#include "policy/ablation.h"
#include "policy/call_cost.h"
#include "policy/cost.h"
#include "policy/credit.h"
#include "policy/migration.h"
#include "policy/mirror.h"
#include "policy/policy.h"
#include "policy/sites.h"
#include "policy/trial.h"
#include "policy/window.h"

/*
 * At most one spin in so many is given up to measure a sleep. As long as nothing is known about
 * this machine but a table, one in eight.
 */
#define SPINS_PER_PROBE       64
#define FIRST_SPINS_PER_PROBE 8

/* As long as a thread that moves may take, in ns, the wake of the other CPU included. */
#define MOVER_NS 200000

/* A waiter is overdue after this time at least, in ns. */
#define PATIENCE_NS 1000000

/* Twice the longest pause of lib/engine/spin.c, in ns. */
#define KEPT_NS_MOST UINT64_C(4000000000)

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * The waker was on this CPU, and is on its way to another. It comes later than usual, and to wake a
 * sleeper would bring the sleeper after it. Not where waits are known to be long.
 */
static bool expect_mover(struct iw_waiter *me, unsigned cpu)
{
	if (!iw_migration_may_have_left(cpu) || !iw_may_migrate(me) ||
	    (iw_state_known(me->state) && !iw_state_share(me->state)) ||
	    !iw_migration_left(cpu, me->window, iw_clock_common(iw_now_ns())))
		return false;
	iw_window_forget_cpu(me->window);
	me->expects_mover = true;
	return true;
}

/*
 * Whether there is a second CPU for whoever is waited for. Where the waker ran when it last woke a
 * sleeper is a guess at where it runs; the last waker of a mutex may have been this thread itself.
 */
static enum iw_reason lacks_cpu(struct iw_waiter *me)
{
	uint32_t waker = iw_state_waker_cpu(me->state);
	bool here = waker && waker == iw_cpu_current() + 1;

	if (iw_rationed(me->facts))
		return IW_RATIONED;
	if (me->facts->cpus < 2 && (!waker || here))
		return IW_ONE_CPU;
	if (here && !iw_without(IW_SAME_PLACE) && me->preset < IPCWAIT_SPIN &&
	    iw_self()->stamped != me->window && !expect_mover(me, waker - 1))
		return IW_SAME_CPU;
	return IW_NO_REASON;
}

/*
 * Others have kept the CPU when it was given to them, and not long ago. A time that is further
 * ahead than any pause comes from a counter that stepped back.
 */
static bool cpu_is_kept(const struct iw_thread *self, const struct iw_tick_rate *rate,
			uint64_t now)
{
	return self->kept_until > now &&
	       self->kept_until - now < iw_tick_from_ns(rate, KEPT_NS_MOST);
}

/* Where the CPU is shared, to hand it over by a sleep may cost less than by a yield. */
static bool sleep_is_cheap(const struct iw_waiter *me)
{
	struct iw_thread *self = iw_self();
	uint64_t now;

	if (!self->shares_cpu) {
		iw_trial_stop(&self->trial);
		return false;
	}
	now = iw_tick_now(&me->facts->rate);
	/* The pause is no cost of the turn in which it began. */
	if (cpu_is_kept(self, &me->facts->rate, now)) {
		iw_trial_stop(&self->trial);
		return true;
	}
	return iw_trial_sleeps(&self->trial, me->window, now);
}

static struct iw_site site_of(const struct iw_waiter *me)
{
	return (struct iw_site){ me->site, me->what->kind };
}

bool iw_plan_worth_a_look(struct iw_waiter *me)
{
	me->state = iw_window_state(me->window);
	me->preset = me->facts ? iw_policy_preset(me->facts, me->state)
			       : iw_state_preset(me->state);
	return !me->interruptible && !iw_self()->alone && me->preset != IPCWAIT_BLOCK &&
	       (!iw_state_known(me->state) || iw_state_share(me->state) ||
		me->preset > IPCWAIT_POWER);
}

enum iw_reason iw_plan(struct iw_waiter *me)
{
	enum iw_reason why;

	if (me->interruptible)
		return IW_INTERRUPTIBLE;
	if (!me->facts)
		return IW_NO_FACTS;
	why = me->preset == IPCWAIT_BLOCK ? IW_PRESET_BLOCK : lacks_cpu(me);
	if (why != IW_PRESET_BLOCK)
		iw_self()->alone = why;
	if (why || me->preset > IPCWAIT_POWER)
		return why;
	if (me->what->in_kernel && sleep_is_cheap(me))
		return IW_CHEAP;
	me->share = iw_state_known(me->state)
			    ? iw_state_share(me->state)
			    : iw_window_young_share(
				      me->window, iw_sites_before(&iw_sites, site_of(me)));
	return me->share || me->expects_mover ? IW_NO_REASON : IW_LEARNED_LONG;
}

/*
 * A thread that wakes its partner and then waits for it, waits for the partner's wake-up
 * too. Two threads that hand work back and forth would each learn from that that waits are
 * long, and go on sleeping for good, although either of them could end it by spinning once.
 * So the part of the wait that comes from our own wake is not learned, and a spin that
 * would pay without it is lengthened by it. Returns what is left of the wake-up by now.
 */
static uint64_t delay_from_own_wake(const struct iw_facts *facts)
{
	struct iw_thread *self = iw_self();
	uint64_t latency_ns, past_ns;

	if (!self->woke_at || iw_without(IW_OWN_DELAY))
		return 0;
	latency_ns = iw_cost_lateness_ns(facts);
	past_ns = (uint64_t)iw_clock_ns() - self->woke_at;
	self->woke_at = 0;
	return past_ns < latency_ns ? latency_ns - past_ns : 0;
}

static uint64_t call_cost_ns(const struct iw_waiter *me)
{
	uint64_t ns = iw_call_cost_ns(me->facts, iw_tick_now(&me->facts->rate));

	return ns ? ns : iw_cost_block_ns(me->facts, IPCWAIT_ADAPTIVE);
}

static void plan_costs_in_kernel(struct iw_waiter *me)
{
	uint64_t ns = call_cost_ns(me);

	me->delay_ns = iw_call_cost_latency_ns(ns);
	me->block_ns = iw_cost_combine_ns(me->delay_ns, ns - me->delay_ns, me->preset);
}

void iw_plan_costs(struct iw_waiter *me)
{
	if (me->what->in_kernel) {
		plan_costs_in_kernel(me);
		return;
	}
	me->block_ns = iw_cost_block_ns(me->facts, me->preset);
	me->delay_ns = delay_from_own_wake(me->facts);
	if (me->preset == IPCWAIT_LATENCY && iw_self()->late_on == me->window)
		me->behind_ns = iw_self()->late_ns;
}

void iw_plan_note_lateness(const struct iw_waiter *me, uint64_t late_ns)
{
	iw_self()->late_on = me->window;
	iw_self()->late_ns = late_ns;
}

static bool affordable(const struct iw_waiter *me, uint64_t now)
{
	if (iw_without(IW_CREDIT))
		return true;
	if (me->facts->dedicated)
		return me->facts->config.spin_budget_percent != 0;
	return iw_credit_allows(me->facts, iw_self()->credit_full_at, now);
}

/* As long as nothing is known about this machine but a table, or nothing about such calls. */
static bool probes_often(const struct iw_waiter *me, uint64_t now)
{
	return me->what->in_kernel ? !iw_call_cost_ns(me->facts, now)
				   : iw_cost_source(me->facts) == IW_COST_TABLE;
}

static bool probe_due(const struct iw_waiter *me, uint64_t now)
{
	return me->what->in_kernel ? iw_call_cost_probe_due(me->facts, now)
				   : iw_cost_probe_due(me->facts, now);
}

static bool probe(const struct iw_waiter *me, uint64_t now)
{
	struct iw_thread *self = iw_self();

	if (iw_without(IW_COST_PROBES) ||
	    IPCWAIT_LIKELY(++self->unprobed % FIRST_SPINS_PER_PROBE))
		return false;
	if (!probes_often(me, now) &&
	    (self->unprobed < SPINS_PER_PROBE || !probe_due(me, now)))
		return false;
	self->unprobed = 0;
	return true;
}

enum iw_reason iw_plan_admit(const struct iw_waiter *me, uint64_t now)
{
	if (me->preset > IPCWAIT_POWER)
		return IW_NO_REASON;
	if (!affordable(me, now))
		return IW_BUDGET_EMPTY;
	return probe(me, now) ? IW_PROBE : IW_NO_REASON;
}

uint64_t iw_plan_window_ns(const struct iw_waiter *me, uint64_t limit_ns)
{
	uint64_t most = least(2 * me->block_ns, iw_policy_ceiling_ns(me->facts));

	if (limit_ns)
		return least(limit_ns, most);
	if (me->expects_mover)
		return least(MOVER_NS, iw_policy_ceiling_ns(me->facts));
	switch (me->preset) {
	case IPCWAIT_SPIN:
		return most;
	case IPCWAIT_HALTPOLL:
		return iw_haltpoll_ns(&me->facts->config.haltpoll,
				      iw_window_limit_ns(me->window));
	case IPCWAIT_TICKS:
		return iw_ticks_spin_ns((uint64_t)iw_clock_ns());
	default:
		/* The first spins of young objects are to cost less than B together. */
		return least(
			iw_window_spin_ns(me->share, me->block_ns,
					  iw_state_known(me->state) ? me->delay_ns : 0),
			most);
	}
}

uint64_t iw_plan_overdue_ns(const struct iw_waiter *me, uint64_t waited_ns,
			    uint64_t spun_ns)
{
	int64_t patience_ns = iw_patience_ns(PATIENCE_NS, spun_ns + me->block_ns);

	return (int64_t)waited_ns >= patience_ns ? me->block_ns : 0;
}

uint64_t iw_plan_longest_ns(const struct iw_waiter *me)
{
	uint64_t block_ns = me->what->in_kernel
				    ? call_cost_ns(me)
				    : iw_cost_block_ns(me->facts, IPCWAIT_ADAPTIVE);

	return least(block_ns + block_ns / 4 * 3, iw_policy_ceiling_ns(me->facts));
}

bool iw_plan_timed(const struct iw_waiter *me, uint64_t spun_ns, struct iw_timed_plan *plan)
{
	struct iw_timer_cost timer;

	if (me->preset != IPCWAIT_LATENCY || !me->what->resumable || iw_without(IW_TIMED))
		return false;
	timer = iw_policy_timer(me->facts, me->block_ns);
	return iw_window_timed(me->window, spun_ns, me->block_ns, &timer, plan);
}

static void learn(struct iw_waiter *me, unsigned bin, unsigned n, uint64_t interval_ns)
{
	iw_window_record(me->window, bin, n, interval_ns);
	if (!iw_state_known(me->state) || iw_self()->learned++ % IW_SITES_ONE_IN == 0)
		iw_sites_record(&iw_sites, site_of(me), bin);
}

static void learn_as_haltpoll(struct iw_waiter *me, uint64_t halted_ns)
{
	uint64_t limit_ns = iw_window_limit_ns(me->window);

	iw_window_set_limit_ns(me->window, iw_haltpoll_next_ns(&me->facts->config.haltpoll,
							       limit_ns, halted_ns));
}

void iw_plan_learn_slept(struct iw_waiter *me, uint64_t wait_ns, uint64_t spun_ns,
			 bool ended)
{
	uint64_t own_ns = wait_ns > me->delay_ns ? wait_ns - me->delay_ns : 0;
	bool rhythmic = ended && me->preset == IPCWAIT_LATENCY;

	if (me->preset == IPCWAIT_HALTPOLL)
		learn_as_haltpoll(me, wait_ns > spun_ns ? wait_ns - spun_ns : 0);
	if (me->preset <= IPCWAIT_POWER)
		learn(me, iw_bin_of(own_ns, me->block_ns), 1,
		      rhythmic ? own_ns + me->behind_ns : 0);
}

/* False where the preset does not ask for a histogram, or keeps something else in its place. */
static bool histories_count(const struct iw_waiter *me)
{
	return me->facts && iw_policy_preset(me->facts, me->state) <= IPCWAIT_POWER;
}

void iw_plan_learn_spun(struct iw_waiter *me, uint64_t wait_ns)
{
	unsigned n = iw_state_known(me->state) ? IW_SAMPLE_ONE_IN : 1;
	uint64_t own_ns = wait_ns > me->delay_ns ? wait_ns - me->delay_ns : 0;

	if ((++iw_self()->quick & (n - 1)) == 0 && histories_count(me))
		learn(me, wait_ns ? iw_bin_of(own_ns, me->block_ns) : 0, n, 0);
}
