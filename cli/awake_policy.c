/* SPDX-License-Identifier: MIT */
#include "awake_policy.h"

#include <string.h>

/*
 * A poll of this many wakes costs as much CPU as it saves time, several times over: the price of
 * latency. From 8 on what is left of the gain is below a seventh. docs/awake.md
 */
#define LIMIT_WAKES    8
#define LIMIT_LEAST_NS (100 * AWAKE_US)
#define LIMIT_MOST_NS  (200 * AWAKE_US) /* below the 250 us of a poll's own limit */

/* Idles a second. Below, 1 % of the time is saved at most; less ends a hold, for hysteresis. */
#define RATE_LEAST 1000u
#define RATE_STAY  500u

/* A CPU's own, for a spinner on it. */
#define RATE_CPU 250u

/* All CPUs together idle less than this share of a hundred: nothing to gain. */
#define BUSY_PERCENT 5u

/* Two samples in a row, or one as long as this. */
#define GOOD_SAMPLES 2
#define GOOD_NS      (50 * AWAKE_MS)

/* A mean idle up to so many limits is worth the short tick: the next sample may be good. */
#define NEAR_LIMITS 8

/* Polling for more than the budget goes on for that much of it. */
#define BUCKET_NS (200 * AWAKE_MS)

/* A hold this short was in vain; one as long as that makes up for all before. */
#define VAIN_NS     (50 * AWAKE_MS)
#define PROVEN_NS   (200 * AWAKE_MS)
#define BARRED_NS   (50 * AWAKE_MS)
#define BARRED_MOST 7 /* doublings: 6.4 s */

struct look {
	uint64_t idles, idle_ns; /* of all CPUs */
	uint64_t short_idles, short_ns, short_mask;
};

uint64_t awake_policy_limit_ns(const struct awake_rules *rules)
{
	uint64_t ns = rules->wake_ns * LIMIT_WAKES;

	if (ns < LIMIT_LEAST_NS)
		return LIMIT_LEAST_NS;
	return ns < LIMIT_MOST_NS ? ns : LIMIT_MOST_NS;
}

static int64_t bucket_ns(const struct awake_policy *p)
{
	return (int64_t)(BUCKET_NS / 100 * p->rules.budget_percent);
}

void awake_policy_init(struct awake_policy *p, const struct awake_rules *rules)
{
	memset(p, 0, sizeof(*p));
	p->rules = *rules;
	p->tick_ns = AWAKE_TICK_NS;
	p->tokens_ns = bucket_ns(p);
}

/* @count in @s is at least @rate a second. */
static bool is_often(const struct awake_sample *s, uint64_t count, unsigned rate)
{
	return count * 1000 * AWAKE_MS >= s->length_ns * rate;
}

static void look_at(struct look *l, const struct awake_policy *p,
		    const struct awake_sample *s)
{
	uint64_t limit_ns = awake_policy_limit_ns(&p->rules);

	memset(l, 0, sizeof(*l));
	for (unsigned i = 0; i < s->cpus; i++) {
		const struct awake_cpu *c = &s->cpu[i];

		l->idles += c->idles;
		l->idle_ns += c->idle_ns;
		if (!(p->rules.spinner_cpus >> i & 1) || !is_often(s, c->idles, RATE_CPU) ||
		    c->idle_ns > c->idles * limit_ns)
			continue;
		l->short_idles += c->idles;
		l->short_ns += c->idle_ns;
		l->short_mask |= UINT64_C(1) << i;
	}
}

/* What polling would take: the idle time without the wakes that it does away with. */
static uint64_t price_ns(const struct awake_policy *p, uint64_t idles, uint64_t idle_ns)
{
	uint64_t saved_ns = idles * p->rules.wake_ns;

	return idle_ns > saved_ns ? idle_ns - saved_ns : 0;
}

/* Twice the budget is what can still be had, for half of the time. */
static bool is_affordable(const struct awake_policy *p, const struct awake_sample *s,
			  uint64_t price)
{
	return price <= s->length_ns / 100 * p->rules.budget_percent * 2;
}

/* The mode that would pay, AWAKE_WATCH if none; and why not. */
static enum awake_mode choose(struct awake_policy *p, const struct awake_sample *s,
			      const struct look *l)
{
	uint64_t limit_ns = awake_policy_limit_ns(&p->rules);
	uint64_t all_ns = price_ns(p, l->idles, l->idle_ns);
	uint64_t short_ns = price_ns(p, l->short_idles, l->short_ns);

	p->why = AWAKE_COSTLY;
	if (p->rules.qos && all_ns <= l->idles * limit_ns && is_affordable(p, s, all_ns))
		return AWAKE_QOS;
	if (l->short_mask && is_often(s, l->short_idles, RATE_LEAST) &&
	    is_affordable(p, s, short_ns))
		return AWAKE_SPIN;
	if (all_ns > l->idles * limit_ns)
		p->why = AWAKE_LONG;
	return AWAKE_WATCH;
}

static void start(struct awake_policy *p, enum awake_mode mode, uint64_t mask)
{
	p->mode = mode;
	p->mask = mode == AWAKE_SPIN ? mask : 0;
	p->why = AWAKE_SHORT;
	p->began_at = p->now_ns;
	p->hold_useful_ns = 0;
	p->good = 0;
	p->totals.holds++;
}

/* A hold that was mostly in vain makes the next one wait, twice as long each time. */
static void stop(struct awake_policy *p, enum awake_why why)
{
	uint64_t held_ns = p->now_ns - p->began_at;

	p->mode = AWAKE_WATCH;
	p->mask = 0;
	p->why = why;
	p->tick_ns = AWAKE_TICK_NS;
	if (why == AWAKE_DRY)
		return;
	if (held_ns < VAIN_NS || p->hold_useful_ns < held_ns / 2) {
		p->totals.in_vain++;
		p->ask_at = p->now_ns + ((uint64_t)BARRED_NS << p->failures);
		p->failures += p->failures < BARRED_MOST;
	} else if (held_ns >= PROVEN_NS) {
		p->failures = 0;
	}
}

static void slow_down(struct awake_policy *p)
{
	p->good = 0;
	p->tick_ns = p->tick_ns < AWAKE_SLOW_NS / 2 ? p->tick_ns * 2 : AWAKE_SLOW_NS;
}

static bool is_near(const struct awake_policy *p, const struct look *l)
{
	return l->idle_ns <= l->idles * awake_policy_limit_ns(&p->rules) * NEAR_LIMITS;
}

/* It would pay. Is it time? */
static bool may_start(struct awake_policy *p, const struct awake_sample *s)
{
	p->tick_ns = AWAKE_TICK_NS;
	if (p->now_ns < p->ask_at) {
		p->why = AWAKE_BARRED;
		p->tick_ns = p->ask_at - p->now_ns < AWAKE_SLOW_NS ? p->ask_at - p->now_ns
								   : AWAKE_SLOW_NS;
	} else if (p->tokens_ns < bucket_ns(p) / 2) {
		p->why = AWAKE_DRY;
	} else if (++p->good < GOOD_SAMPLES && s->length_ns < GOOD_NS) {
		p->why = AWAKE_CONFIRM;
	} else {
		return true;
	}
	return false;
}

static void watch(struct awake_policy *p, const struct awake_sample *s)
{
	enum awake_mode mode;
	struct look l;

	look_at(&l, p, s);
	if (l.idle_ns < s->length_ns / 100 * BUSY_PERCENT * s->cpus) {
		p->why = AWAKE_BUSY;
		slow_down(p);
		return;
	}
	if (!is_often(s, l.idles, RATE_LEAST)) {
		p->why = AWAKE_QUIET;
		slow_down(p);
		return;
	}
	mode = choose(p, s, &l);
	if (mode != AWAKE_WATCH) {
		if (may_start(p, s))
			start(p, mode, l.short_mask);
	} else {
		slow_down(p);
		if (is_near(p, &l))
			p->tick_ns = AWAKE_TICK_NS;
	}
}

/* The idles that ended because somebody had something to do. */
static uint64_t ended(const struct awake_policy *p, const struct awake_sample *s,
		      const struct look *l)
{
	uint64_t n = p->mode == AWAKE_SPIN ? l->short_idles : l->idles;

	return s->switches != AWAKE_UNKNOWN && s->switches / 2 < n ? s->switches / 2 : n;
}

static void hold(struct awake_policy *p, const struct awake_sample *s)
{
	struct look l;
	uint64_t idles;

	look_at(&l, p, s);
	idles = ended(p, s, &l);
	p->totals.held_ns += s->length_ns;
	p->totals.polled_ns += s->polled_ns;
	p->totals.idles += idles;
	if (!is_often(s, idles, RATE_STAY)) {
		stop(p, s->polled_ns < s->length_ns / 100 * BUSY_PERCENT * s->cpus
				? AWAKE_BUSY
				: AWAKE_QUIET);
		return;
	}
	if (s->polled_ns > idles * awake_policy_limit_ns(&p->rules)) {
		stop(p, AWAKE_LONG);
		return;
	}
	p->hold_useful_ns += s->length_ns;
	p->totals.useful_ns += s->length_ns;
	if (p->tokens_ns < 0)
		stop(p, AWAKE_DRY);
	else if (p->mode == AWAKE_SPIN)
		p->mask = l.short_mask;
}

static void account(struct awake_policy *p, const struct awake_sample *s)
{
	p->now_ns += s->length_ns;
	p->totals.watched_ns += s->length_ns;
	p->tokens_ns += (int64_t)(s->length_ns / 100 * p->rules.budget_percent);
	if (p->mode != AWAKE_WATCH)
		p->tokens_ns -= (int64_t)s->polled_ns;
	if (p->tokens_ns > bucket_ns(p))
		p->tokens_ns = bucket_ns(p);
}

uint64_t awake_policy_step(struct awake_policy *p, const struct awake_sample *s)
{
	if (!s->length_ns)
		return p->tick_ns;
	account(p, s);
	if (p->mode == AWAKE_WATCH)
		watch(p, s);
	else
		hold(p, s);
	return p->tick_ns;
}

void awake_policy_rest(struct awake_policy *p)
{
	p->mode = AWAKE_WATCH;
	p->mask = 0;
	p->good = 0;
	p->tick_ns = AWAKE_TICK_NS;
}
