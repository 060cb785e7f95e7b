/* SPDX-License-Identifier: MIT */
/* lib/policy/trial.c: yield or sleep, told by which takes less time for as many waits. */
#include "common/cmocka_all.h"
#include "policy/trial.h"

#define TURN 16

static struct iw_trial trial;
static uint64_t now = 1000000;
static const int here, there;

/* @n waits: those that yield take @yield, those that sleep @sleep. How many slept. */
static unsigned wait_on(const void *on, unsigned n, uint64_t yield, uint64_t sleep)
{
	unsigned slept = 0;

	while (n--) {
		bool sleeps = iw_trial_sleeps(&trial, on, now);

		now += sleeps ? sleep : yield;
		slept += sleeps;
	}
	return slept;
}

/* First one way, then the other. */
static void tries_both(void)
{
	CHECK_EQ(wait_on(&here, TURN, 10, 20), 0);
	CHECK_EQ(wait_on(&here, TURN, 10, 20), TURN);
	CHECK_EQ(wait_on(&here, TURN, 10, 20), 0);
}

/* Of 100 turns the worse way has a handful, and less and less. */
static void keeps_to_the_better(void)
{
	unsigned early, late;

	(void)wait_on(&here, 2 * TURN, 10, 20);
	early = wait_on(&here, 100 * TURN, 10, 20);
	CHECK(early >= 3 * TURN && early <= 8 * TURN);
	late = wait_on(&here, 1000 * TURN, 10, 20);
	CHECK(late >= 10 * TURN && late <= 20 * TURN);
}

static void sleeps_where_that_is_better(void)
{
	unsigned slept;

	(void)wait_on(&here, 2 * TURN, 20, 10);
	slept = wait_on(&here, 1000 * TURN, 20, 10);
	CHECK(slept >= 970 * TURN && slept <= 995 * TURN);
}

/* Whichever it is, within the turns between two trials, and a few until the memory has faded. */
static void notices_a_change(void)
{
	unsigned slept;

	(void)wait_on(&here, 1000 * TURN, 10, 20);
	(void)wait_on(&here, 80 * TURN, 30, 20);
	slept = wait_on(&here, 100 * TURN, 30, 20);
	CHECK(slept >= 80 * TURN);
	(void)wait_on(&here, 80 * TURN, 10, 20);
	slept = wait_on(&here, 100 * TURN, 10, 20);
	CHECK(slept <= 20 * TURN);
}

/* What was learned of one thing says nothing of another. */
static void forgets_with_the_object(void)
{
	(void)wait_on(&here, 1000 * TURN, 20, 10);
	CHECK_EQ(wait_on(&there, TURN, 10, 20), 0);
	CHECK_EQ(trial.cost[true], 0);
}

/* Time in which the CPU was its own belongs to no turn. */
static void stops(void)
{
	(void)wait_on(&here, 2 * TURN + 3, 10, 20);
	iw_trial_stop(&trial);
	now += 1000000;
	(void)wait_on(&here, TURN, 10, 20);
	(void)wait_on(&here, 1, 10, 20);
	CHECK_EQ(trial.cost[false], 10 * TURN);
}

/* A counter that steps back in the middle of a turn makes neither way look dear. */
static void a_step_back(void)
{
	now = 1000000000;
	(void)wait_on(&here, 2 * TURN + TURN / 2, 10, 20);
	now -= 500000000;
	(void)wait_on(&here, 2 * TURN, 10, 20);
	CHECK(trial.cost[false] <= 10 * TURN && trial.cost[true] <= 20 * TURN);
	CHECK(wait_on(&here, 100 * TURN, 10, 20) <= 20 * TURN);
}

/* A handler, or a thread's data that is half written: any content is legal. */
static void any_content(void)
{
	for (unsigned i = 0; i < 256; i++) {
		trial = (struct iw_trial){
			.on = i & 1 ? &here : &there,
			.waits = i & 2 ? UINT32_MAX : i,
			.left = i & 4 ? UINT32_MAX : 0,
			.apart = i & 8 ? UINT32_MAX : 0,
			.cost = { i & 16 ? 1 << 20 : 0, i & 32 ? 1 << 20 : 1 },
			.better = i & 64,
			.sleeps = i & 128,
		};
		(void)wait_on(&here, 2000 * TURN, 10, 20);
		CHECK(wait_on(&here, 100 * TURN, 10, 20) <= 20 * TURN);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(tries_both),
		CHILD_TEST(keeps_to_the_better),
		CHILD_TEST(sleeps_where_that_is_better),
		CHILD_TEST(notices_a_change),
		CHILD_TEST(forgets_with_the_object),
		CHILD_TEST(stops),
		CHILD_TEST(a_step_back),
		CHILD_TEST(any_content),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
