/* SPDX-License-Identifier: MIT */
/*
 * lib/engine over a fake kernel and a fake counter, which steps at any of its readings, back or
 * forth, or is another CPU's at each: a wait ends, spins no longer than it would have, and those
 * after it are as they would have been. The clock goes on as ever. docs/design/harm.md
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/cmocka_all.h"
#include "common/fake_os.h"
#include "common/probe.h"
#include "policy/cost.h"
#include "policy/credit.h"

#define US  INT64_C(1000)
#define MS  INT64_C(1000000)
#define DAY (86400000 * MS)

#define TICKS_PER_NS 3

/* An uptime to step back within. */
#define BOOT_NS (100 * DAY)

/* As long as a debt can last, and some. */
#define REST_NS (100 * MS)

/* More than the time between two looks, with what the fakes add. */
#define LOOK_NS (1 * US)

static const int64_t steps[] = { 1 * US,   15 * US,   300 * US, 70 * MS,
				 500 * MS, 3000 * MS, 30 * DAY };

/* From so much on a step forth is seen, and from so much on it is known to be one. */
#define GAP_NS  (200 * US)
#define STEP_NS (1000 * MS)

#define STEPS (2 * sizeof(steps) / sizeof(steps[0]))

static int64_t step_of(unsigned i)
{
	return i % 2 ? -steps[i / 2] : steps[i / 2];
}

static unsigned readings, step_at; /* the reading before which it steps; 0: none */
static int64_t step_ns, ahead_ns;
static uint64_t random_cpu; /* not 0: each reading is on one of two CPUs */

uint64_t fake_ticks(void)
{
	fake.now_ns += fake.step_ns;
	if (++readings == step_at)
		ahead_ns = step_ns;
	if (random_cpu)
		ahead_ns = check_random(&random_cpu) & 1 ? step_ns : 0;
	return (uint64_t)(BOOT_NS + fake.now_ns + ahead_ns) * TICKS_PER_NS;
}

static void world(enum ipcwait_preset preset)
{
	ahead_ns = 0;
	random_cpu = step_at = 0;
	fake_reset();
	fake.counter_trusted = true;
	CHECK(iw_facts()->rate.counter);
	probe_world(preset, 2);
	fake.counter_trusted = true;
	readings = 0;
}

/* What one wait was like. */
struct seen {
	enum ipcwait_reason why;
	int64_t spun_ns;   /* before it slept, by the clock */
	uint64_t told_ns;  /* what the statistics say of that */
	uint64_t slept_ns; /* the same */
	unsigned readings;
};

/* It is there so long after the wait has begun, and the thread runs so much later. */
#define WAIT_NS (5 * MS)
#define LATE_NS (20 * US)

static int64_t began_at, asleep_at; /* asleep_at is 0: not yet */

static int sleep_until_there(const struct fake_call *call)
{
	int64_t there_at = began_at + WAIT_NS;

	if (!asleep_at)
		asleep_at = fake.now_ns;
	if (call->deadline_ns < there_at) {
		fake.now_ns = call->deadline_ns + LATE_NS;
		return -ETIMEDOUT;
	}
	fake.now_ns = there_at;
	probe_stamp_and_appear();
	fake.now_ns += LATE_NS;
	return 0;
}

static void begin(int64_t deadline_ns)
{
	probe_again(deadline_ns);
	fake.on_wait = sleep_until_there;
	asleep_at = 0;
	readings = 0;
	began_at = fake.now_ns;
	probe.there_at = began_at + WAIT_NS;
}

static struct seen wait_once(void)
{
	struct ipcwait_stats before = probe_stats();
	struct ipcwait_kind_stats counted;
	struct seen seen;

	begin(IPCWAIT_FOREVER);
	CHECK_EQ(iw_wait(&probe.base), 0);
	CHECK(asleep_at);
	counted = probe_counted(&before);
	seen.why = probe_why(&before);
	seen.spun_ns = asleep_at - began_at;
	seen.told_ns = counted.spun_wasted_ns;
	seen.slept_ns = counted.slept_ns;
	seen.readings = readings;
	fake.now_ns += REST_NS;
	return seen;
}

/* No spin is longer, in time that has really passed. */
static int64_t cap_ns(enum ipcwait_preset preset)
{
	if (preset == IPCWAIT_TICKS)
		return 3 * MS + LOOK_NS;
	if (preset == IPCWAIT_HALTPOLL)
		return (int64_t)iw_facts()->config.haltpoll.guest_halt_poll_ns + LOOK_NS;
	return 2 * (int64_t)iw_cost_block_ns(iw_facts(), preset) + LOOK_NS;
}

#define LATER 6

/* A wait, and those after it. */
struct course {
	struct seen first, later[LATER];
};

static struct course run(enum ipcwait_preset preset, unsigned at, int64_t ns)
{
	struct course c;

	world(preset);
	step_at = at;
	step_ns = ns;
	c.first = wait_once();
	step_at = 0;
	for (unsigned i = 0; i < LATER; i++)
		c.later[i] = wait_once();
	return c;
}

static bool near(int64_t a, int64_t b)
{
	return a - b <= LOOK_NS && b - a <= LOOK_NS;
}

/*
 * The wait in which the counter stepped is over no later, and is told as no longer. By less than a
 * gap that counts it may seem longer, and the next ones pay for that or not. When a tick ends is a
 * matter of the clock.
 */
static void compare(enum ipcwait_preset preset, const struct course *is,
		    const struct course *plain, int64_t ns)
{
	CHECK(is->first.spun_ns <= plain->first.spun_ns + LOOK_NS);
	CHECK((int64_t)is->first.told_ns <=
	      plain->first.spun_ns + LOOK_NS + (ns > 0 && ns < GAP_NS ? ns : 0));
	CHECK(is->first.slept_ns < (uint64_t)(WAIT_NS + 2 * LATE_NS));
	for (unsigned i = 0; i < LATER; i++) {
		const struct seen *a = &is->later[i], *b = &plain->later[i];

		CHECK(a->spun_ns <= cap_ns(preset));
		CHECK(a->slept_ns < (uint64_t)(WAIT_NS + 2 * LATE_NS));
		if ((ns > 0 && ns < STEP_NS) || preset == IPCWAIT_TICKS)
			continue;
		CHECK_EQ(a->why, b->why);
		CHECK(near(a->spun_ns, b->spun_ns));
	}
}

static void step_at_reading(enum ipcwait_preset preset, unsigned at,
			    const struct course *plain)
{
	for (unsigned i = 0; i < STEPS; i++) {
		struct course is = run(preset, at, step_of(i));

		compare(preset, &is, plain, step_of(i));
	}
}

/* Any of the first and of the last; of those between, which are alike, some. */
static void any_reading(void)
{
	for (unsigned preset = IPCWAIT_ADAPTIVE; preset <= IPCWAIT_TICKS; preset++) {
		struct course plain = run((enum ipcwait_preset)preset, 0, 0);
		unsigned most = plain.first.readings;

		for (unsigned at = 1; at <= most; at++)
			if (at <= 32 || at + 8 > most || at % (most / 16) == 0)
				step_at_reading((enum ipcwait_preset)preset, at, &plain);
	}
}

/* What uses it up. */
#define BURST ((uint64_t)(2 * MS) * TICKS_PER_NS)

static void charge(void)
{
	iw_credit_charge(iw_facts(), &iw_thread.credit_full_at, fake_ticks(), BURST / 2);
	iw_credit_charge(iw_facts(), &iw_thread.credit_full_at, fake_ticks(), BURST / 2);
	CHECK(!iw_credit_allows(iw_facts(), iw_thread.credit_full_at, fake_ticks()));
}

/* The credit is neither full nor empty because of it, for longer than a debt lasts. */
static void credit_comes_back(void)
{
	for (unsigned i = 0; i < STEPS; i++) {
		world(IPCWAIT_ADAPTIVE);
		charge();
		ahead_ns = step_of(i);
		fake.now_ns += REST_NS;
		CHECK(iw_credit_allows(iw_facts(), iw_thread.credit_full_at, fake_ticks()));
		charge();
	}
}

/* Two CPUs whose counters differ, and a thread that is moved before each reading. */
static void another_cpu_each_time(void)
{
	uint64_t seed = check_seed() | 1;

	for (unsigned preset = IPCWAIT_ADAPTIVE; preset <= IPCWAIT_TICKS; preset++) {
		for (unsigned i = 0; i < STEPS; i++) {
			world((enum ipcwait_preset)preset);
			step_ns = step_of(i);
			random_cpu = seed;
			for (unsigned n = 0; n < 50; n++) {
				struct seen seen = wait_once();

				CHECK(seen.spun_ns <= cap_ns((enum ipcwait_preset)preset));
				CHECK(seen.slept_ns < (uint64_t)(WAIT_NS + 2 * LATE_NS));
			}
		}
	}
}

/* After so long the ticks have come to 2^64. */
static int64_t lap_ns(void)
{
	return (int64_t)(((iw_u128)1 << 96) / iw_facts()->rate.ticks_per_ns_q32);
}

/* Deadlines that are centuries away, in more ticks than 64 bits hold. */
static void far_deadlines(void)
{
	struct course plain = run(IPCWAIT_SPIN, 0, 0);

	for (unsigned i = 0; i < 20; i++) {
		world(IPCWAIT_SPIN);
		begin(lap_ns() + fake.now_ns + i * US);
		CHECK_EQ(iw_wait(&probe.base), 0);
		CHECK(near(asleep_at - began_at, plain.first.spun_ns));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(any_reading),
		CHILD_TEST(credit_comes_back),
		CHILD_TEST(another_cpu_each_time),
		CHILD_TEST(far_deadlines),
	};

	unsetenv("IPCWAIT_POLICY");
	unsetenv("IPCWAIT_MAX_SPIN_US");
	unsetenv("IPCWAIT_SPIN_BUDGET");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
