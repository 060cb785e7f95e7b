/* SPDX-License-Identifier: MIT */
/*
 * When `ipcwait awake` holds and lets go, in model time: a machine whose CPUs do one of a few
 * things, with counters as a 2-vCPU KVM guest had them, halting and polling.
 */
#include <string.h>

#include "common/cmocka_all.h"

#include "../../cli/awake_policy.h"

#define S (1000ull * AWAKE_MS)

/* What one CPU does in a second; its idles, and their mean. */
struct habit {
	uint64_t idles, mean_ns;
};

enum activity { HAND_OFFS, SLEEP, COMPUTE, SLOW_HAND_OFFS, ACTIVITIES };

/* Halting; and polling, where a poll ends after 250 us and begins again. */
static const struct habit halting[ACTIVITIES] = {
	[HAND_OFFS] = { 22000, 22 * AWAKE_US },
	[SLEEP] = { 30, 30 * AWAKE_MS },
	[COMPUTE] = { 0, 0 },
	[SLOW_HAND_OFFS] = { 1500, 600 * AWAKE_US },
};
static const struct habit polling[ACTIVITIES] = {
	[HAND_OFFS] = { 190000, 700 },
	[SLEEP] = { 3960, 251 * AWAKE_US },
	[COMPUTE] = { 0, 0 },
	[SLOW_HAND_OFFS] = { 5200, 180 * AWAKE_US },
};

/* Context switches a second of the whole system, for two CPUs. */
static const uint64_t switches[ACTIVITIES] = {
	[HAND_OFFS] = 760000, [SLEEP] = 80, [COMPUTE] = 500, [SLOW_HAND_OFFS] = 7000
};

struct machine {
	struct awake_policy p;
	unsigned cpus;
	uint64_t poll_limit_ns;      /* 0: as above */
	uint64_t at_ns, next_ns;     /* in all; until the next sample */
	uint64_t samples, polled_ns; /* counted by the test */
	unsigned idle_cpus;          /* the last of them sleep, whatever the others do */
	enum activity (*doing)(uint64_t at_ns);
};

static const struct awake_rules usual = {
	.wake_ns = 20 * AWAKE_US, .budget_percent = 100, .qos = true, .spinner_cpus = 3
};

static void fill(const struct machine *m, struct awake_sample *s, enum activity a)
{
	bool polls = m->p.mode != AWAKE_WATCH;

	memset(s, 0, sizeof(*s));
	s->length_ns = m->next_ns;
	s->cpus = m->cpus;
	s->switches = polls ? switches[a] * s->length_ns / S : AWAKE_UNKNOWN;
	for (unsigned i = 0; i < m->cpus; i++) {
		enum activity own = i >= m->cpus - m->idle_cpus ? SLEEP : a;
		bool here = m->p.mode == AWAKE_QOS ||
			    (m->p.mode == AWAKE_SPIN && m->p.mask >> i & 1);
		struct habit h = here ? polling[own] : halting[own];

		if (here && own == SLEEP && m->poll_limit_ns)
			h = (struct habit){ S / m->poll_limit_ns, m->poll_limit_ns };
		s->cpu[i].idles = h.idles * s->length_ns / S;
		s->cpu[i].idle_ns = h.idles * h.mean_ns / 1000 * s->length_ns / (S / 1000);
		if (s->cpu[i].idle_ns > s->length_ns)
			s->cpu[i].idle_ns = s->length_ns;
		s->polled_ns += here ? s->cpu[i].idle_ns : 0;
	}
}

/* One sample more. Return: what the machine did meanwhile. */
static enum activity step(struct machine *m)
{
	enum activity a = m->doing(m->at_ns);
	struct awake_sample s;

	fill(m, &s, a);
	m->at_ns += m->next_ns;
	m->samples++;
	m->polled_ns += s.polled_ns;
	m->next_ns = awake_policy_step(&m->p, &s);
	assert_true(m->next_ns >= AWAKE_TICK_NS && m->next_ns <= AWAKE_SLOW_NS);
	return a;
}

static struct machine machine(const struct awake_rules *rules,
			      enum activity (*doing)(uint64_t))
{
	struct machine m = { .cpus = 2, .next_ns = AWAKE_TICK_NS, .doing = doing };

	awake_policy_init(&m.p, rules);
	return m;
}

static void run(struct machine *m, uint64_t length_ns)
{
	uint64_t end = m->at_ns + length_ns;

	while (m->at_ns < end)
		(void)step(m);
}

static enum activity hands_off(uint64_t at_ns)
{
	(void)at_ns;
	return HAND_OFFS;
}

static enum activity sleeps(uint64_t at_ns)
{
	(void)at_ns;
	return SLEEP;
}

static enum activity computes(uint64_t at_ns)
{
	(void)at_ns;
	return COMPUTE;
}

static enum activity is_slow(uint64_t at_ns)
{
	(void)at_ns;
	return SLOW_HAND_OFFS;
}

static enum activity alternates(uint64_t at_ns)
{
	return at_ns / (2 * S) % 2 ? SLEEP : HAND_OFFS;
}

/* Hand-offs for 30 ms, then as long nothing: too short for the sampling. */
static enum activity teases(uint64_t at_ns)
{
	return at_ns / (30 * AWAKE_MS) % 2 ? SLEEP : HAND_OFFS;
}

static void test_hand_offs_are_held(void **state)
{
	struct machine m = machine(&usual, hands_off);

	(void)state;
	run(&m, 10 * S);
	assert_int_equal(m.p.mode, AWAKE_QOS);
	assert_int_equal(m.p.totals.holds, 1);
	assert_int_equal(m.p.totals.in_vain, 0);
	assert_true(m.p.totals.held_ns >= m.at_ns - 50 * AWAKE_MS);
	assert_int_equal(m.p.totals.useful_ns, m.p.totals.held_ns);
	assert_int_equal(m.p.totals.polled_ns, m.polled_ns);
}

/* No hold at all, and ten samples a second. */
static void test_sleep_is_left_alone(void **state)
{
	struct machine m = machine(&usual, sleeps);

	(void)state;
	run(&m, 20 * S);
	assert_int_equal(m.p.totals.holds, 0);
	assert_int_equal(m.p.why, AWAKE_QUIET);
	assert_true(m.samples <= 20 * 10 + 5);
}

static void test_busy_cpus_are_left_alone(void **state)
{
	struct machine m = machine(&usual, computes);

	(void)state;
	run(&m, 20 * S);
	assert_int_equal(m.p.totals.holds, 0);
	assert_int_equal(m.p.why, AWAKE_BUSY);
	assert_true(m.samples <= 20 * 10 + 5);
}

static void test_long_idles_are_not_polled_through(void **state)
{
	struct machine m = machine(&usual, is_slow);

	(void)state;
	run(&m, 20 * S);
	assert_int_equal(m.p.totals.holds, 0);
	assert_int_equal(m.p.why, AWAKE_LONG);
}

/* Nine tenths of the hand-offs with polling CPUs, under 2 % of the sleep. */
static void test_phases_of_two_seconds(void **state)
{
	struct machine m = machine(&usual, alternates);
	uint64_t held_ns = 0, handing_ns = 0, wasted_ns = 0, asleep_ns = 0;

	(void)state;
	while (m.at_ns < 40 * S) {
		uint64_t before_ns = m.polled_ns, at_ns = m.at_ns;
		bool holds = m.p.mode != AWAKE_WATCH;
		enum activity a = step(&m);
		uint64_t length_ns = m.at_ns - at_ns;

		if (a == HAND_OFFS) {
			handing_ns += length_ns;
			held_ns += holds ? length_ns : 0;
		} else {
			asleep_ns += length_ns;
			wasted_ns += m.polled_ns - before_ns;
		}
	}
	assert_true(held_ns * 10 >= handing_ns * 9);
	assert_true(wasted_ns * 50 <= asleep_ns * m.cpus);
	assert_int_equal(m.p.totals.holds, 10);
	assert_int_equal(m.p.totals.in_vain, 0);
}

/* Each hold in vain makes the next wait longer: 10 ms in 6.4 s in the end. */
static void test_holds_in_vain_become_rare(void **state)
{
	struct machine m = machine(&usual, teases);
	uint64_t before;

	(void)state;
	run(&m, 20 * S);
	before = m.p.totals.holds;
	assert_true(before >= 2 && before <= 12);
	run(&m, 60 * S);
	assert_true(m.p.totals.holds - before <= 12);
	assert_true(m.polled_ns * 100 <= m.at_ns * m.cpus);
}

static void test_a_proven_hold_makes_up_for_them(void **state)
{
	struct machine m = machine(&usual, teases);
	uint64_t before;

	(void)state;
	run(&m, 20 * S);
	m.doing = hands_off;
	run(&m, 10 * S);
	assert_int_equal(m.p.mode, AWAKE_QOS);
	before = m.p.totals.holds;
	m.doing = teases;
	run(&m, 1 * S);
	assert_true(m.p.totals.holds - before >= 2);
}

/* Two samples in a row, or a long one. */
static void test_what_it_takes_to_begin(void **state)
{
	struct machine m = machine(&usual, hands_off);

	(void)state;
	(void)step(&m);
	assert_int_equal(m.p.mode, AWAKE_WATCH);
	assert_int_equal(m.p.why, AWAKE_CONFIRM);
	(void)step(&m);
	assert_int_equal(m.p.mode, AWAKE_QOS);
	assert_int_equal(m.p.why, AWAKE_SHORT);
	m = machine(&usual, hands_off);
	m.next_ns = AWAKE_SLOW_NS;
	(void)step(&m);
	assert_int_equal(m.p.mode, AWAKE_QOS);
}

/* A kernel whose polls end after 10 us: idles are counted by the switches, not taken for short. */
static void test_polls_with_a_short_limit(void **state)
{
	struct awake_rules rules = usual;
	struct machine m;

	(void)state;
	/* Or that would end it. */
	rules.budget_percent = 400;
	m = machine(&rules, alternates);
	m.poll_limit_ns = 10 * AWAKE_US;
	run(&m, 3 * S);
	assert_int_equal(m.p.mode, AWAKE_WATCH);
	assert_int_equal(m.p.totals.holds, 1);
}

/* Six CPUs that have no part in it would poll: the two get spinners. */
static void test_many_idle_cpus(void **state)
{
	struct awake_rules rules = usual;
	struct machine m;

	(void)state;
	rules.spinner_cpus = 0xff;
	m = machine(&rules, hands_off);
	m.cpus = 8;
	m.idle_cpus = 6;
	run(&m, 5 * S);
	assert_int_equal(m.p.mode, AWAKE_SPIN);
	assert_int_equal(m.p.mask, 3);
	assert_int_equal(m.p.totals.holds, 1);

	rules.spinner_cpus = 0;
	m = machine(&rules, hands_off);
	m.cpus = 8;
	m.idle_cpus = 6;
	run(&m, 5 * S);
	assert_int_equal(m.p.totals.holds, 0);
	assert_int_equal(m.p.why, AWAKE_COSTLY);
	/* Who says so may pay for it. */
	rules.budget_percent = 800;
	m = machine(&rules, hands_off);
	m.cpus = 8;
	m.idle_cpus = 6;
	run(&m, 5 * S);
	assert_int_equal(m.p.mode, AWAKE_QOS);
}

/* A CPU that has no part in it any more loses its spinner, and the other keeps it. */
static void test_spinners_follow(void **state)
{
	struct awake_rules rules = usual;
	struct machine m;

	(void)state;
	rules.qos = false;
	m = machine(&rules, hands_off);
	run(&m, 1 * S);
	assert_int_equal(m.p.mask, 3);
	m.idle_cpus = 1;
	run(&m, 1 * S);
	assert_int_equal(m.p.mode, AWAKE_SPIN);
	assert_int_equal(m.p.mask, 1);
	m.idle_cpus = 0;
	run(&m, 1 * S);
	assert_int_equal(m.p.mask, 3);
	assert_int_equal(m.p.totals.holds, 1);
}

static void test_spinners_alone(void **state)
{
	struct awake_rules rules = usual;
	struct machine m;

	(void)state;
	rules.qos = false;
	rules.spinner_cpus = 2;
	m = machine(&rules, alternates);
	run(&m, 1 * S);
	assert_int_equal(m.p.mode, AWAKE_SPIN);
	assert_int_equal(m.p.mask, 2);
	run(&m, 2 * S);
	assert_int_equal(m.p.mode, AWAKE_WATCH);
	assert_int_equal(m.p.mask, 0);
}

/* A hand-off whose polling takes 27 % of a CPU, for 14 %. */
static void test_a_small_budget(void **state)
{
	struct awake_rules rules = usual;
	struct machine m;

	(void)state;
	rules.budget_percent = 14;
	m = machine(&rules, hands_off);
	run(&m, 20 * S);
	assert_true(m.p.totals.holds > 1);
	assert_int_equal(m.p.totals.in_vain, 0);
	/* On and off, but not at every sample. */
	assert_true(m.p.totals.held_ns >= m.p.totals.holds * 10 * AWAKE_TICK_NS);
	/* What the bucket held at the beginning comes on top. */
	assert_true(m.polled_ns * 100 <= m.at_ns * 14 + 4 * S);
	assert_true(m.polled_ns * 100 >= m.at_ns * 10);

	/* Not even for half of the time. */
	rules.budget_percent = 1;
	m = machine(&rules, hands_off);
	run(&m, 5 * S);
	assert_int_equal(m.p.totals.holds, 0);
	assert_int_equal(m.p.why, AWAKE_COSTLY);
}

static void test_rest(void **state)
{
	struct machine m = machine(&usual, hands_off);

	(void)state;
	run(&m, 1 * S);
	awake_policy_rest(&m.p);
	assert_int_equal(m.p.mode, AWAKE_WATCH);
	run(&m, 1 * S);
	assert_int_equal(m.p.mode, AWAKE_QOS);
	assert_int_equal(m.p.totals.holds, 2);
}

static void test_samples_of_nothing(void **state)
{
	struct awake_sample none = { .cpus = 2, .switches = AWAKE_UNKNOWN };
	struct awake_policy p;

	(void)state;
	awake_policy_init(&p, &usual);
	for (int i = 0; i < 10; i++)
		assert_int_equal(awake_policy_step(&p, &none), AWAKE_TICK_NS);
	/* A long time without a sample, as after a suspend. */
	none.length_ns = 1000000 * S;
	for (int i = 0; i < 10; i++)
		assert_true(awake_policy_step(&p, &none) <= AWAKE_SLOW_NS);
	assert_int_equal(p.totals.holds, 0);
}

static void test_limit(void **state)
{
	struct awake_rules rules = usual;

	(void)state;
	for (uint64_t us = 0; us < 100; us++) {
		uint64_t limit_ns;

		rules.wake_ns = us * AWAKE_US;
		limit_ns = awake_policy_limit_ns(&rules);
		/* A poll that has come to its own limit never counts as short. */
		assert_true(limit_ns >= 100 * AWAKE_US && limit_ns <= 200 * AWAKE_US);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hand_offs_are_held),
		cmocka_unit_test(test_sleep_is_left_alone),
		cmocka_unit_test(test_busy_cpus_are_left_alone),
		cmocka_unit_test(test_long_idles_are_not_polled_through),
		cmocka_unit_test(test_phases_of_two_seconds),
		cmocka_unit_test(test_holds_in_vain_become_rare),
		cmocka_unit_test(test_a_proven_hold_makes_up_for_them),
		cmocka_unit_test(test_what_it_takes_to_begin),
		cmocka_unit_test(test_polls_with_a_short_limit),
		cmocka_unit_test(test_many_idle_cpus),
		cmocka_unit_test(test_spinners_follow),
		cmocka_unit_test(test_spinners_alone),
		cmocka_unit_test(test_a_small_budget),
		cmocka_unit_test(test_rest),
		cmocka_unit_test(test_samples_of_nothing),
		cmocka_unit_test(test_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
