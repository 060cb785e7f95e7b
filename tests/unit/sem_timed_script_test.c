/* SPDX-License-Identifier: MIT */
/*
 * The semaphore's word through timed sleeps, over a scripted kernel: a waiter that withdraws in
 * the middle of its wait is not counted while it is up, and counted once when it sleeps again.
 */
#include <errno.h>
#include <stdlib.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/fake_os.h"
#include "common/probe.h"
#include "common/sem_word.h"
#include "common/ticking.h"

static struct ipcwait_sem s;
static int64_t begin;

/* What the word was when the timed sleep began, and in the spin after it. */
static uint64_t asleep, awake;

/* A semaphore on which waits have lasted a tick each, beside so many other sleepers. */
static void regular(unsigned others)
{
	probe_world(IPCWAIT_ADAPTIVE, 2);
	CHECK_EQ(ipcwait_sem_init(&s, 0, 0), 0);
	CHECK_EQ(ipcwait_window_set_preset(&s.window, IPCWAIT_LATENCY), 0);
	ticking_teach(&s.window, 40);
	sem_fabricate(&s, WORD(0, 0, others));
	begin = fake.now_ns;
	asleep = awake = UINT64_MAX;
}

static void expire(void)
{
	CHECK(fake.wait.deadline_ns > begin && fake.wait.deadline_ns < begin + TICK_NS);
	asleep = sem_word(&s);
	fake.now_ns = fake.wait.deadline_ns + LATE_NS;
}

static void post(void)
{
	CHECK_EQ(ipcwait_sem_post(&s), 0);
}

/* A waker on the other CPU, whose call wakes one. */
static void post_with_wake(void)
{
	unsigned before = fake.wakes;

	fake.cpu = 1;
	post();
	fake.cpu = 0;
	CHECK_EQ(fake.wakes, before + 1);
}

static void steal(void)
{
	CHECK_EQ(ipcwait_sem_trywait(&s), 0);
}

/* In the spin after the timer, when the tick is due. */
static void post_at_the_tick(void)
{
	if (fake.waits != 1 || fake.now_ns < begin + TICK_NS || awake != UINT64_MAX)
		return;
	awake = sem_word(&s);
	post();
}

static void taken_by_the_spin(void)
{
	const struct fake_step script[] = { { .result = -ETIMEDOUT, .meanwhile = expire } };

	for (unsigned others = 0; others < 3; others++) {
		regular(others);
		fake.on_clock = post_at_the_tick;
		FAKE_SCRIPT(script);
		CHECK_EQ(ipcwait_sem_wait(&s), 0);
		CHECK_EQ(asleep, WORD(0, 0, others + 1));
		/* Up, and marked as a spinner if there are others whom a post might wake. */
		CHECK_EQ(awake, (others ? WORD_SPINNER : 0) | WORD(0, 0, others));
		CHECK_EQ(sem_word(&s), WORD(0, 0, others));
		CHECK_EQ(fake.wakes, 0);
		CHECK_EQ(fake.waits, 1);
	}
}

static void look_at_the_word(void)
{
	awake = sem_word(&s);
}

static void look_and_post(void)
{
	look_at_the_word();
	post_with_wake();
}

/* The spin was in vain. */
static void counted_once_when_it_sleeps_again(void)
{
	const struct fake_step script[] = { { .result = -ETIMEDOUT, .meanwhile = expire },
					    { 0 },
					    { .result = -EAGAIN },
					    { .sleep_ns = TICK_NS,
					      .meanwhile = look_and_post } };

	for (unsigned others = 0; others < 3; others++) {
		regular(others);
		FAKE_SCRIPT(script);
		CHECK_EQ(ipcwait_sem_wait(&s), 0);
		CHECK_EQ(asleep, WORD(0, 0, others + 1));
		CHECK_EQ(awake, WORD(0, 0, others + 1));
		CHECK_EQ(fake.wait.value, others + 1);
		CHECK(fake.wait.deadline_ns > begin + 1000 * TICK_NS);
		CHECK_EQ(sem_word(&s), WORD(0, 0, others));
		CHECK_EQ(fake.waits, 4);
		CHECK_EQ(fake.wakes, 1);
	}
}

static void expire_while_posted(void)
{
	expire();
	post_with_wake();
}

/* The post chose it, but the timer was first. The token is the reason to be up. */
static void timer_before_the_wake(void)
{
	const struct fake_step script[] = { { .result = -ETIMEDOUT,
					      .meanwhile = expire_while_posted } };

	for (unsigned others = 0; others < 3; others++) {
		regular(others);
		FAKE_SCRIPT(script);
		CHECK_EQ(ipcwait_sem_wait(&s), 0);
		CHECK_EQ(sem_word(&s), WORD(0, 0, others));
		CHECK_EQ(fake.waits, 1);
	}
}

static void expire_while_posted_and_stolen(void)
{
	expire_while_posted();
	steal();
}

/* The same, but the token is gone: the wake that is under way goes off the books with it. */
static void timer_before_the_wake_of_a_stolen_token(void)
{
	const struct fake_step script[] = {
		{ .result = -ETIMEDOUT, .meanwhile = expire_while_posted_and_stolen },
		{ .meanwhile = look_at_the_word },
		{ .meanwhile = post_with_wake },
	};

	for (unsigned others = 0; others < 3; others++) {
		regular(others);
		FAKE_SCRIPT(script);
		CHECK_EQ(ipcwait_sem_wait(&s), 0);
		CHECK_EQ(awake, WORD(0, 0, others + 1));
		CHECK_EQ(sem_word(&s), WORD(0, 0, others));
		CHECK_EQ(fake.waits, 3);
		CHECK_EQ(fake.wakes, 2);
	}
}

/* It gives up in its second sleep: it leaves once. */
static void gives_up(void)
{
	static const int ends[] = { -ETIMEDOUT, -EFAULT };

	for (unsigned i = 0; i < 4; i++) {
		const struct fake_step script[] = {
			{ .result = -ETIMEDOUT, .meanwhile = expire },
			{ .result = ends[i / 2] },
		};

		regular(i % 2);
		FAKE_SCRIPT(script);
		CHECK_EQ(ipcwait_sem_wait_until(&s, begin + 5 * TICK_NS), ends[i / 2]);
		CHECK_EQ(sem_word(&s), WORD(0, 0, i % 2));
		CHECK_EQ(fake.wakes, 0);
	}
}

/* A word that a killed peer has left too small: nothing runs below zero. */
static void empty_the_word(void)
{
	expire();
	sem_fabricate(&s, 0);
}

static void word_that_lies(void)
{
	const struct fake_step script[] = {
		{ .result = -ETIMEDOUT, .meanwhile = empty_the_word },
		{ .meanwhile = look_and_post },
	};

	regular(0);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_sem_wait(&s), 0);
	CHECK_EQ(awake, WORD(0, 0, 1));
	CHECK_EQ(sem_word(&s), 0);
}

/* Not for a timer, but for an alarm. */
static void sleeps_beside(unsigned others, unsigned flags)
{
	fake_reset();
	CHECK_EQ(ipcwait_sem_init(&s, 0, flags), 0);
	CHECK_EQ(ipcwait_window_set_preset(&s.window, IPCWAIT_BLOCK), 0);
	sem_fabricate(&s, WORD(0, 0, others));
}

static int64_t alarm_ms[6];

static void note_alarm(void)
{
	alarm_ms[fake.waits - 1] =
		(fake.wait.deadline_ns - fake.now_ns + 500 * US) / (1000 * US);
	fake.now_ns = fake.wait.deadline_ns;
}

static void post_and_die(void)
{
	note_alarm();
	sem_fabricate(&s, sem_word(&s) + WORD(1, 1, 0));
}

/* Its poster may be killed before the wake: so it looks, less and less often. */
static void alarms(void)
{
	const struct fake_step script[] = {
		{ .result = -ETIMEDOUT, .meanwhile = note_alarm },
		{ .result = -ETIMEDOUT, .meanwhile = note_alarm },
		{ .result = -ETIMEDOUT, .meanwhile = note_alarm },
		{ .result = -ETIMEDOUT, .meanwhile = note_alarm },
		{ .result = -ETIMEDOUT, .meanwhile = post_and_die },
	};
	static const int64_t ms[] = { 1000, 2000, 4000, 8000, 8000 };

	for (int deadline = 0; deadline < 2; deadline++) {
		sleeps_beside(3, 0);
		FAKE_SCRIPT(script);
		CHECK_EQ(ipcwait_sem_wait_until(&s, deadline ? fake.now_ns + 60000000 * US
							     : IPCWAIT_FOREVER),
			 0);
		CHECK_EQ(sem_word(&s), WORD(0, 0, 3));
		CHECK_EQ(fake.waits, 5);
		for (int i = 0; i < 5; i++)
			CHECK_EQ(alarm_ms[i], ms[i]);
	}
}

/* Nobody survives the waker of a private one. */
static void private_sleeps_have_no_alarm(void)
{
	const struct fake_step script[] = { { .meanwhile = post } };

	sleeps_beside(0, IPCWAIT_PRIVATE);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_sem_wait(&s), 0);
	CHECK(fake.wait.deadline_ns == IPCWAIT_FOREVER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(taken_by_the_spin),
		CHILD_TEST(counted_once_when_it_sleeps_again),
		CHILD_TEST(timer_before_the_wake),
		CHILD_TEST(timer_before_the_wake_of_a_stolen_token),
		CHILD_TEST(gives_up),
		CHILD_TEST(alarms),
		CHILD_TEST(private_sleeps_have_no_alarm),
		CHILD_TEST(word_that_lies),
	};

	unsetenv("IPCWAIT_POLICY");
	unsetenv("IPCWAIT_MAX_SPIN_US");
	unsetenv("IPCWAIT_SPIN_BUDGET");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
