/* SPDX-License-Identifier: MIT */
/* lib/engine/wait.c over a scripted kernel: what timed sleeps teach about how late timers are. */
#include <errno.h>
#include <stdlib.h>

#include "common/cmocka_all.h"
#include "common/fake_os.h"
#include "common/probe.h"
#include "common/ticking.h"
#include "policy/cost.h"

/* Samples until they count. */
#define BATCH 32

/* What is believed until then. */
#define TABLE_LATE_NS   98000
#define TABLE_SPREAD_NS 8000

/* What happens so long after the timer's time. */
static int64_t after_ns;

/* So many waits whose first sleep is this, each on a new object that expects a timer. */
static struct iw_timer_cost after(unsigned n, const struct fake_step *step)
{
	while (n--) {
		ticking_world(0);
		fake_script(step, 1);
		CHECK_EQ(iw_wait(&probe.base), 0);
		CHECK(ticking_on_timer(fake.wait.deadline_ns));
	}
	return iw_cost_timer(iw_facts());
}

static void check_table(struct iw_timer_cost cost)
{
	CHECK_EQ(cost.late_ns, TABLE_LATE_NS);
	CHECK_EQ(cost.spread_ns, TABLE_SPREAD_NS);
}

static void check_learned(struct iw_timer_cost cost, int64_t late_ns)
{
	CHECK(llabs((int64_t)cost.late_ns - late_ns) <= 300);
	CHECK(cost.spread_ns <= 300);
}

static void expire(void)
{
	fake.now_ns = fake.wait.deadline_ns + after_ns;
	probe_appear();
}

/* Each timer teaches how late timers are, so that the next sleep can end as late as may be. */
static void lateness_is_learned(void)
{
	const struct fake_step step = { .result = -ETIMEDOUT, .meanwhile = expire };

	after_ns = 5 * US;
	check_table(after(BATCH - 1, &step));
	check_learned(after(1, &step), 5 * US);
	ticking_world(0);
	CHECK(ticking.plan.sleep.wake_ns > (uint64_t)TICK_NS - 10000);
}

static void wake(void)
{
	fake.now_ns = fake.wait.deadline_ns + after_ns;
	probe_stamp_and_appear();
}

/* The waker came when the timer should have: it was at least that late. */
static void timer_that_a_wake_overtook(void)
{
	const struct fake_step step = { .meanwhile = wake, .late_ns = 20 * US };

	after_ns = 130 * US;
	check_table(after(BATCH - 1, &step));
	/* Not the time that the wake took besides. */
	check_learned(after(1, &step), 130 * US);
}

/* It came before; that the thread ran after the timer's time says nothing of the timer. */
static void wake_before_the_timer(void)
{
	const struct fake_step step = { .meanwhile = wake, .late_ns = 20 * US };

	after_ns = -1 * US;
	check_table(after(BATCH, &step));
}

/* Both kinds are in one estimate: the latest timers are those that a wake overtakes. */
static void both_kinds(void)
{
	const struct fake_step timer = { .result = -ETIMEDOUT, .meanwhile = expire };
	const struct fake_step woken = { .meanwhile = wake, .late_ns = 20 * US };
	struct iw_timer_cost cost;

	after_ns = 60 * US;
	check_table(after(BATCH - 5, &timer));
	after_ns = 150 * US;
	cost = after(5, &woken);
	CHECK(llabs((int64_t)cost.late_ns - 150 * US) <= 300);
	CHECK(llabs((int64_t)cost.spread_ns - 90 * US) <= 300);
}

static void expire_late(void)
{
	fake.now_ns = fake.wait.deadline_ns + LATE_NS;
}

/* The caller's deadline was first: then there was no timer to be late. */
static void deadline_before_the_timer(void)
{
	const struct fake_step script[] = { { .result = -ETIMEDOUT,
					      .meanwhile = expire_late } };

	for (int i = 0; i < BATCH; i++) {
		int64_t deadline_ns;

		ticking_world(0);
		deadline_ns = ticking.begin + (int64_t)ticking.plan.sleep.wake_ns - 10 * US;
		ticking_next(deadline_ns);
		FAKE_SCRIPT(script);
		CHECK_EQ(iw_wait(&probe.base), -ETIMEDOUT);
		CHECK_EQ(fake.wait.deadline_ns, deadline_ns);
	}
	check_table(iw_cost_timer(iw_facts()));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(lateness_is_learned),
		CHILD_TEST(timer_that_a_wake_overtook),
		CHILD_TEST(wake_before_the_timer),
		CHILD_TEST(both_kinds),
		CHILD_TEST(deadline_before_the_timer),
	};

	unsetenv("IPCWAIT_POLICY");
	unsetenv("IPCWAIT_MAX_SPIN_US");
	unsetenv("IPCWAIT_SPIN_BUDGET");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
