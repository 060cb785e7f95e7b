/* SPDX-License-Identifier: MIT */
/*
 * The library's own rule: lib/policy itself, linked, not a copy.
 *
 * The only file of a program that looks behind the public headers. What the engine adds for the
 * ADAPTIVE preset is repeated: the ceiling of 200 us. A waker's stamp tells the true length of a
 * wait that was slept through (lib/engine/wait.c), so this rule sees sleeps.
 */
#include "rule.h"

#include "policy/sites.h"
#include "policy/window.h"

#define CEILING_NS 200000

struct ipcwait {
	struct ipcwait_window window;
	uint64_t block_ns;
	bool timed; /* ... is the plan of the wait that has begun */
	struct iw_timed_plan plan;
	struct iw_site site;
	unsigned quick;   /* waits that ended while spinning, as lib/engine counts them */
	unsigned learned; /* waits that were remembered */
	struct iw_sites sites;
};

static void ipcwait_init(void *state, uint64_t block_ns)
{
	struct ipcwait *i = state;

	_Static_assert(sizeof(*i) <= RULE_STATE_BYTES, "state");
	i->block_ns = block_ns;
	i->site = (struct iw_site){ 1, IPCWAIT_KIND_SEM };
}

static void ipcwait_renew(void *state, unsigned site)
{
	struct ipcwait *i = state;

	i->window = (struct ipcwait_window){ 0 };
	i->site.address = 0x401000 + (uintptr_t)site * 37;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t ipcwait_spin_ns(void *state, struct random *r)
{
	struct ipcwait *i = state;
	uint32_t now = iw_window_state(&i->window);
	unsigned share = iw_state_known(now)
				 ? iw_state_share(now)
				 : iw_window_young_share(
					   &i->window, iw_sites_before(&i->sites, i->site));

	(void)r;
	return least(iw_of_block(i->block_ns, share), CEILING_NS);
}

/*
 * LATENCY pays with CPU time for the latency of the wake: of B with four times the latency, all
 * but one of the four, about three quarters.
 */
static uint64_t latency_spin_ns(void *state, struct random *r)
{
	struct ipcwait *i = state;
	const struct iw_timer_cost timer = {
		.late_ns = TIMER_LATE_MOST_NS,
		.spread_ns = (TIMER_LATE_MOST_NS - TIMER_LATE_LEAST_NS) / 2,
		.cpu_ns = TIMER_CPU_NS,
		.worth_ns = i->block_ns - i->block_ns / 4,
	};
	uint64_t ns = ipcwait_spin_ns(state, r);

	i->timed = iw_window_timed(&i->window, ns, i->block_ns, &timer, &i->plan);
	return ns;
}

static struct timed ipcwait_timed(const void *state)
{
	const struct ipcwait *i = state;

	if (!i->timed)
		return (struct timed){ 0 };
	return (struct timed){ i->plan.sleep.wake_ns, i->plan.sleep.until_ns,
			       i->plan.spin_ns };
}

/* learn() of lib/engine/plan.c. */
static void remember(struct ipcwait *i, uint64_t wait_ns, unsigned n, uint64_t interval_ns)
{
	unsigned bin = iw_bin_of(wait_ns, i->block_ns);
	bool known = iw_state_known(iw_window_state(&i->window));

	iw_window_record(&i->window, bin, n, interval_ns);
	if (!known || i->learned++ % IW_SITES_ONE_IN == 0)
		iw_sites_record(&i->sites, i->site, bin);
}

static void ipcwait_learn(void *state, const struct outcome *o)
{
	struct ipcwait *i = state;
	bool known = iw_state_known(iw_window_state(&i->window));
	unsigned n = known ? IW_SAMPLE_ONE_IN : 1;

	if (!o->spun)
		remember(i, o->wait_ns, 1, o->wait_ns);
	else if (++i->quick % n == 0)
		remember(i, o->wait_ns, n, 0);
}

const struct rule rule_ipcwait = {
	.name = "ipcwait",
	.what = "lib/policy/window.c: learned window",
	.sees_sleep = true,
	.init = ipcwait_init,
	.spin_ns = ipcwait_spin_ns,
	.learn = ipcwait_learn,
	.renew = ipcwait_renew,
};

const struct rule rule_latency = {
	.name = "latency",
	.what = "the same with timed sleeps, as under the LATENCY preset",
	.sees_sleep = true,
	.init = ipcwait_init,
	.spin_ns = latency_spin_ns,
	.timed = ipcwait_timed,
	.learn = ipcwait_learn,
	.renew = ipcwait_renew,
};
