/* SPDX-License-Identifier: MIT */
/* preload/front.c over a scripted kernel, in front of an original that does what the test says. */
#include <errno.h>
#include <pthread.h>

#include "after_unlock.h"
#include "common/cmocka_all.h"
#include "common/fake_os.h"
#include "common/probe.h"
#include "front.h"
#include "os/clock.h"
#include "os/futex.h"
#include "os/life.h"
#include "pass.h"
#include "policy/cost.h"
#include "policy/window.h"
#include "signals.h"

#define NS_PER_S 1000000000
#define WAKE_NS  20000

/* The clock of the day is ahead of the other by this. */
#define AHEAD_NS (1700000000 * INT64_C(1000000000))

/* No thread here leaves a wake for later. */
void iw_after_unlock_hurry(void)
{
}

_Thread_local struct handled iw_handled;

int64_t iw_clock_real_ns(void)
{
	return fake.now_ns + AHEAD_NS;
}

static uint32_t object;

static struct {
	unsigned tries, blocks;
	unsigned there_at;   /* the try that finds it; 0: none */
	unsigned cancel_at;  /* the thread is cancelled in this try */
	unsigned handler_at; /* a handler runs in this try, ... */
	bool restarts;       /* ... which has SA_RESTART */
	int takes, answers;  /* what the try finds; what the original returns */
	int64_t woken_after; /* so many ns of the original are before its wake; 0: no stamp */
} world;

static void run_handler(void)
{
	iw_handled.any++;
	if (!world.restarts)
		iw_handled.interrupting++;
}

static int take(const struct front *me)
{
	CHECK(me->object == &object);
	world.tries++;
	if (world.tries == world.handler_at)
		run_handler();
	if (world.tries == world.cancel_at)
		CHECK_EQ(pthread_cancel(pthread_self()), 0);
	return world.tries == world.there_at ? world.takes : EBUSY;
}

static int block(const struct front *me)
{
	const struct place *p = iw_place_of_sleepers(&object);

	CHECK(me->object == &object);
	world.blocks++;
	/* Whoever ends it knows that somebody sleeps; but not in a call without a spin. */
	CHECK_EQ(p != NULL, me->place && !world.handler_at);
	if (p)
		errno = 1;
	if (world.woken_after) {
		fake.now_ns += world.woken_after;
		fake.cpu++;
		(void)iw_front_stamp(me->place);
		fake.cpu--;
		fake.now_ns += WAKE_NS;
	}
	return world.answers;
}

static const struct front_call call = {
	.waitable = { .kind = IPCWAIT_KIND_SEM,
		      .look = iw_front_look,
		      .settle = iw_front_settle },
	.take = take,
	.block = block,
};

static int begin(void **state)
{
	(void)state;
	iw_futile = (struct iw_futile){ 0 };
	probe_world(IPCWAIT_INHERIT, 2);
	world = (__typeof__(world)){ .takes = 0 };
	CHECK_EQ(
		ipcwait_window_set_preset(&iw_place_take(&object)->window, IPCWAIT_INHERIT),
		0);
	return 0;
}

/* The preset of the object decides how long it spins. */
static void prefer(enum ipcwait_preset preset)
{
	CHECK_EQ(ipcwait_window_set_preset(&iw_place_take(&object)->window, preset), 0);
}

static int wait_as(struct front *me)
{
	int r;

	me->object = &object;
	errno = 4711;
	r = iw_front_wait(me, &call, 0x1234);
	assert_int_equal(errno, 4711);
	assert_null(iw_place_of_sleepers(&object));
	return r;
}

static void test_there_at_once(void **state)
{
	(void)state;
	world.there_at = 1;
	assert_int_equal(wait_as(&(struct front){ .interrupts = FRONT_ANY }), 0);
	assert_int_equal(world.tries, 1);
	assert_int_equal(world.blocks, 0);
}

static void test_there_in_the_spin(void **state)
{
	(void)state;
	prefer(IPCWAIT_SPIN);
	world.there_at = 50;
	assert_int_equal(wait_as(&(struct front){ .interrupts = FRONT_ANY }), 0);
	assert_int_equal(world.tries, 50);
	assert_int_equal(world.blocks, 0);
}

static void test_what_a_try_answers(void **state)
{
	(void)state;
	world.there_at = 2;
	world.takes = EOWNERDEAD;
	assert_int_equal(wait_as(&(struct front){ 0 }), EOWNERDEAD);
	assert_int_equal(world.blocks, 0);
}

static void test_what_the_original_answers(void **state)
{
	static const int answers[] = { 0, EINTR, EINVAL, EDEADLK, EOWNERDEAD, ETIMEDOUT };

	(void)state;
	for (unsigned i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		(void)begin(NULL);
		prefer(i % 2 ? IPCWAIT_BLOCK : IPCWAIT_INHERIT);
		world.answers = answers[i];
		assert_int_equal(wait_as(&(struct front){ 0 }), answers[i]);
		assert_int_equal(world.blocks, 1);
		assert_true(world.tries > 0);
	}
}

static void sampled(int64_t woken_after, bool is)
{
	uint64_t before;

	(void)begin(NULL);
	world.woken_after = woken_after;
	iw_self()->sleeps = 0;
	before = iw_cost_samples();
	assert_int_equal(wait_as(&(struct front){ 0 }), 0);
	assert_int_equal(iw_cost_samples() - before, is);
}

/* Who finds it before the kernel has put the thread to sleep knows no price of a wake. */
static void test_what_a_wake_costs(void **state)
{
	(void)state;
	fake.step_ns = 10;
	sampled(30000, true);
	sampled(IW_ENTRY_NS + 100, true);
	sampled(IW_ENTRY_NS - 500, false);
	sampled(8, false);
}

/* How many of @n waits were passed on: the original is called, and no look is made. */
static unsigned passed_on(unsigned n)
{
	unsigned some = 0;

	while (n--) {
		world.tries = world.blocks = 0;
		assert_int_equal(wait_as(&(struct front){ 0 }), world.answers);
		some += world.blocks == 1 && world.tries == 0;
	}
	return some;
}

/* A thread whose spins gain nothing passes on most of its waits, and counts them. */
static void test_passed_on(void **state)
{
	struct ipcwait_stats before, after;

	(void)state;
	world.answers = EOWNERDEAD;
	prefer(IPCWAIT_BLOCK);
	assert_true(ipcwait_stats_get(&before, sizeof(before)) > 0);
	assert_int_equal(passed_on(IW_FUTILE_ROW + 1), 0);
	assert_int_equal(passed_on(IW_FUTILE_FIRST), IW_FUTILE_FIRST);
	assert_true(ipcwait_stats_get(&after, sizeof(after)) > 0);
	assert_int_equal(after.kind[IPCWAIT_KIND_SEM].slept -
				 before.kind[IPCWAIT_KIND_SEM].slept,
			 IW_FUTILE_ROW + 1 + IW_FUTILE_FIRST);
	assert_int_equal(passed_on(1), 0);
	/* A move is judged by all waits. */
	iw_self()->migration.home = 1;
	assert_int_equal(passed_on(3), 0);
	iw_self()->migration.home = 0;
	/* Until one finds it without a sleep. */
	(void)passed_on(4 * IW_FUTILE_FIRST);
	prefer(IPCWAIT_SPIN);
	world.there_at = 1;
	world.takes = EOWNERDEAD;
	(void)passed_on(4 * IW_FUTILE_FIRST);
	prefer(IPCWAIT_BLOCK);
	world.there_at = 0;
	assert_int_equal(passed_on(IW_FUTILE_ROW), 0);
}

/* What the first look at a descriptor finds is no gain, and nothing that a yield brings. */
static void test_what_a_descriptor_gains(void **state)
{
	static const struct iw_waitable in_kernel = { .in_kernel = true };
	struct front me = { .base = { .what = &in_kernel, .block_ns = 5000 } };

	(void)state;
	iw_futile.row = IW_FUTILE_ROW;
	iw_self()->shares_cpu = true;
	iw_note_gain(&me);
	assert_int_equal(iw_futile.row, IW_FUTILE_ROW);
	iw_self()->shares_cpu = false;
	me.base.block_ns = 0;
	iw_note_gain(&me);
	assert_int_equal(iw_futile.row, IW_FUTILE_ROW);
	me.base.block_ns = 5000;
	iw_note_gain(&me);
	assert_int_equal(iw_futile.row, 0);
	/* One that sleeps counts as of any other object. */
	me.over = true;
	me.base.reason = IW_CHEAP;
	iw_note_gain(&me);
	assert_int_equal(iw_futile.row, 1);
}

/* A preset that asks for spins gets them. */
static void test_spins_are_not_passed_on(void **state)
{
	(void)state;
	prefer(IPCWAIT_SPIN);
	assert_int_equal(passed_on(3 * IW_FUTILE_ROW), 0);
}

static void interrupted(enum front_interrupts which, bool restarts, bool is)
{
	struct front me = { .interrupts = which };

	(void)begin(NULL);
	prefer(IPCWAIT_SPIN);
	world.handler_at = 20;
	world.there_at = 60;
	world.restarts = restarts;
	assert_int_equal(wait_as(&me), is ? EINTR : 0);
	assert_int_equal(world.tries, is ? 20 : 60);
	assert_int_equal(world.blocks, 0);
}

static void test_handlers_in_the_spin(void **state)
{
	(void)state;
	interrupted(FRONT_NEVER, false, false);
	interrupted(FRONT_NEVER, true, false);
	interrupted(FRONT_INTERRUPTING, false, true);
	interrupted(FRONT_INTERRUPTING, true, false);
	interrupted(FRONT_ANY, false, true);
	interrupted(FRONT_ANY, true, true);
}

static void test_handlers_that_ran_before(void **state)
{
	(void)state;
	run_handler();
	world.there_at = 3;
	assert_int_equal(wait_as(&(struct front){ .interrupts = FRONT_ANY }), 0);
}

/* The original has its own clock, and the last word. */
static void test_a_deadline_in_the_spin(void **state)
{
	struct timespec at = { .tv_sec = (fake.now_ns + 20000) / NS_PER_S,
			       .tv_nsec = (fake.now_ns + 20000) % NS_PER_S };

	(void)state;
	prefer(IPCWAIT_SPIN);
	world.answers = ETIMEDOUT;
	world.handler_at = 4711; /* block() is not in a sleep that is counted */
	assert_int_equal(wait_as(&(struct front){ .limit = { CLOCK_MONOTONIC, &at } }),
			 ETIMEDOUT);
	assert_int_equal(world.blocks, 1);
	assert_true(fake.now_ns >= at.tv_sec * NS_PER_S + at.tv_nsec);
}

static void test_no_deadline_of_ours(void **state)
{
	static const struct timespec at = { .tv_nsec = NS_PER_S };

	(void)state;
	world.there_at = 1;
	world.answers = EINVAL;
	assert_int_equal(wait_as(&(struct front){ .limit = { CLOCK_MONOTONIC, &at } }),
			 EINVAL);
	assert_int_equal(world.blocks, 1);
	assert_int_equal(world.tries, 0);
}

static void converted(clockid_t clock, time_t s, long ns, bool ok, int64_t want)
{
	struct timespec at = { .tv_sec = s, .tv_nsec = ns };
	struct front_limit limit = { clock, &at };
	int64_t deadline_ns = -4711;

	fake.step_ns = 0;
	assert_int_equal(iw_front_deadline(&limit, &deadline_ns), ok);
	if (ok)
		assert_int_equal(deadline_ns, want);
}

static void test_deadlines(void **state)
{
	static const struct front_limit none = { CLOCK_REALTIME, NULL };
	const time_t most = IW_DEADLINE_MOST_NS / NS_PER_S;
	int64_t deadline_ns;

	(void)state;
	assert_true(iw_front_deadline(&none, &deadline_ns));
	assert_int_equal(deadline_ns, IPCWAIT_FOREVER);
	converted(CLOCK_MONOTONIC, 5, 999999999, true, 5999999999);
	converted(CLOCK_MONOTONIC, 0, 0, true, 0);
	converted(CLOCK_REALTIME, 1700000005, 7, true, 5000000007);
	converted(CLOCK_REALTIME, 0, 0, true, -AHEAD_NS);
	/* What is too far for 63 bits is for ever. */
	converted(CLOCK_MONOTONIC, most - 1, 999999999, true, most * NS_PER_S - 1);
	converted(CLOCK_MONOTONIC, most, 0, true, IPCWAIT_FOREVER);
	converted(CLOCK_MONOTONIC, INT64_MAX, 999999999, true, IPCWAIT_FOREVER);
	converted(CLOCK_REALTIME, INT64_MAX, 0, true, IPCWAIT_FOREVER);
	converted(CLOCK_REALTIME, most - 1, 0, true, (most - 1) * NS_PER_S - AHEAD_NS);
}

static void test_what_is_no_deadline(void **state)
{
	static const clockid_t clocks[] = { CLOCK_REALTIME, CLOCK_MONOTONIC };

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		converted(clocks[i], 5, NS_PER_S, false, 0);
		converted(clocks[i], 5, -1, false, 0);
		converted(clocks[i], 5, INT64_MAX, false, 0);
		converted(clocks[i], 5, INT64_MIN, false, 0);
		converted(clocks[i], -1, 0, false, 0);
		converted(clocks[i], INT64_MIN, 0, false, 0);
		converted(clocks[i], INT64_MAX, NS_PER_S, false, 0);
	}
	converted(CLOCK_BOOTTIME, 5, 0, false, 0);
	converted(CLOCK_PROCESS_CPUTIME_ID, 5, 0, false, 0);
	converted(-1, 5, 0, false, 0);
	converted(4711, INT64_MAX, 0, false, 0);
}

static void *wait_cancelled(void *arg)
{
	struct front me = { .object = &object, .point = *(bool *)arg };

	if (!world.cancel_at)
		CHECK_EQ(pthread_cancel(pthread_self()), 0);
	(void)iw_front_wait(&me, &call, 0);
	return NULL;
}

/* In try @at, or before. It is there in the next. */
static void *cancelled_at(bool point, unsigned at)
{
	pthread_t t;
	void *is;

	(void)begin(NULL);
	prefer(IPCWAIT_SPIN);
	world.cancel_at = at;
	world.there_at = at + 1;
	assert_int_equal(pthread_create(&t, NULL, wait_cancelled, &point), 0);
	assert_int_equal(pthread_join(t, &is), 0);
	return is;
}

static void test_a_cancellation_point(void **state)
{
	(void)state;
	for (unsigned at = 0; at < 40; at++) {
		assert_ptr_equal(cancelled_at(true, at), PTHREAD_CANCELED);
		assert_int_equal(world.tries, at);
		assert_ptr_equal(cancelled_at(false, at), NULL);
		assert_int_equal(world.tries, at + 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_there_at_once, begin),
		cmocka_unit_test_setup(test_there_in_the_spin, begin),
		cmocka_unit_test_setup(test_what_a_try_answers, begin),
		cmocka_unit_test_setup(test_what_the_original_answers, begin),
		cmocka_unit_test_setup(test_what_a_wake_costs, begin),
		cmocka_unit_test_setup(test_passed_on, begin),
		cmocka_unit_test_setup(test_spins_are_not_passed_on, begin),
		cmocka_unit_test_setup(test_what_a_descriptor_gains, begin),
		cmocka_unit_test_setup(test_handlers_in_the_spin, begin),
		cmocka_unit_test_setup(test_handlers_that_ran_before, begin),
		cmocka_unit_test_setup(test_a_deadline_in_the_spin, begin),
		cmocka_unit_test_setup(test_no_deadline_of_ours, begin),
		cmocka_unit_test_setup(test_deadlines, begin),
		cmocka_unit_test_setup(test_what_is_no_deadline, begin),
		cmocka_unit_test_setup(test_a_cancellation_point, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
