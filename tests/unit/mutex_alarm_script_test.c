/* SPDX-License-Identifier: MIT */
/*
 * When a waiter for a mutex looks again that nobody has woken, when it is overdue, and what it
 * does about that: over a kernel whose clock does what the test says.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/cmocka_all.h"
#include "common/mutex_script.h"

#define m       script_mutex
#define US      INT64_C(1000)
#define MS      INT64_C(1000000)
#define PATIENT 1u
#define OVERDUE 2u

#define WAKE    MUTEX_WORD_WAKE
#define URGENT  MUTEX_WORD_URGENT
#define QUIET   MUTEX_WORD_QUIET
#define SPINNER MUTEX_WORD_SPINNER
#define CHECKED MUTEX_WORD_CHECKED
#define W       MUTEX_WORD
#define P       MUTEX_WORD_PASSED

/* As in lib/sync/mutex_wait.c. */
#define FIRST_ALARM_NS  (5 * MS)
#define MOST_NS         (1000 * MS)
#define MOST_ROBUST_NS  (100 * MS)
#define FIRST_NAP_NS    (50 * US)
#define PATIENCE_BLOCKS 20

static void block(uint64_t word)
{
	script_world(0, word, IPCWAIT_BLOCK);
}

static int64_t patience_ns(void)
{
	struct ipcwait_stats st;
	int64_t blocks_ns;

	CHECK_EQ(ipcwait_stats_get(&st, sizeof(st)), sizeof(st));
	blocks_ns = PATIENCE_BLOCKS * (int64_t)st.block_cost_ns;
	return blocks_ns > MS ? blocks_ns : MS;
}

/* Of a waiter beside @others. */
static int64_t turn_ns(int64_t others)
{
	int64_t all_ns = patience_ns() * (others + 1);

	return all_ns > FIRST_ALARM_NS ? all_ns : FIRST_ALARM_NS;
}

static void unlock_it(void)
{
	CHECK_EQ(ipcwait_mutex_unlock(&m), 0);
}

static void unlock_and_overtake(void)
{
	unlock_it();
	CHECK_EQ(ipcwait_mutex_trylock(&m), 0);
}

static bool claims(unsigned i)
{
	CHECK_EQ(!(script_slept[i].word & URGENT), script_slept[i].call.bits == PATIENT);
	return script_slept[i].word & URGENT;
}

/* An owner that takes its time costs a look now and then. */
static void alarms_grow(void)
{
	const struct scripted_sleep sleeps[] = {
		{ .result = -ETIMEDOUT }, { .result = -ETIMEDOUT },
		{ .result = -ETIMEDOUT }, { .result = -ETIMEDOUT, .sleep_ns = 800 * MS },
		{ .result = -ETIMEDOUT }, { .sleep_ns = 9000 * MS, .result = -ETIMEDOUT },
		{ .result = -ETIMEDOUT }, { .meanwhile = unlock_it },
	};

	block(W(1, 0, 0));
	SCRIPT(sleeps);
	CHECK_EQ(ipcwait_mutex_lock(&m), 0);
	CHECK_EQ(script_sleeps, 8);
	CHECK(script_about(script_alarm_ns(0), FIRST_ALARM_NS));
	for (unsigned i = 1; i < 5; i++)
		CHECK(script_about(script_alarm_ns(i),
				   (script_slept[i].began_ns - script_slept[0].began_ns) /
					   4));
	CHECK(script_about(script_alarm_ns(7), MOST_NS));
	CHECK_EQ(mutex_word(&m), W(1, 0, 0));
}

static void robust_ones_are_looked_at_more_often(void)
{
	const struct scripted_sleep sleeps[] = {
		{ .result = -ETIMEDOUT, .sleep_ns = 9000 * MS },
		{ .meanwhile = NULL, .result = -EFAULT },
	};

	script_world(IPCWAIT_ROBUST, W(7, 0, 0), IPCWAIT_BLOCK);
	SCRIPT(sleeps);
	CHECK_EQ(ipcwait_mutex_lock(&m), -EFAULT);
	CHECK(script_about(script_alarm_ns(1), MOST_ROBUST_NS));
}

/* An alarm is not the end of the wait, and no later than its deadline. */
static void deadlines_and_alarms(void)
{
	const struct scripted_sleep sleeps[] = { { .result = -ETIMEDOUT },
						 { .result = -ETIMEDOUT } };
	int64_t deadline;

	block(W(1, 0, 0));
	SCRIPT(sleeps);
	deadline = fake.now_ns + FIRST_ALARM_NS + MS;
	CHECK_EQ(ipcwait_mutex_lock_until(&m, deadline), -ETIMEDOUT);
	CHECK_EQ(script_sleeps, 2);
	CHECK(script_slept[0].call.deadline_ns < deadline);
	CHECK(script_slept[1].call.deadline_ns == deadline);
	CHECK_EQ(mutex_word(&m), W(1, 0, 0));
}

/* One in a crowd looks later. */
static void many_waiters(void)
{
	const struct scripted_sleep sleeps[] = { { .meanwhile = unlock_it } };

	block(W(1, 0, 100));
	SCRIPT(sleeps);
	CHECK_EQ(ipcwait_mutex_lock(&m), 0);
	CHECK(script_about(script_alarm_ns(0), turn_ns(100)));
}

/* Woken in vain it naps, for twice as long each time, until its turn. */
static void naps_grow(void)
{
	const struct scripted_sleep sleeps[] = {
		{ .meanwhile = unlock_and_overtake, .sleep_ns = 100 * US },
		{ .result = -ETIMEDOUT },
		{ .result = -ETIMEDOUT },
		{ .meanwhile = unlock_it, .result = -ETIMEDOUT },
	};
	int64_t first_ns = FIRST_NAP_NS * (4 + 3) / 4;

	block(W(1, 0, 2));
	SCRIPT(sleeps);
	CHECK_EQ(ipcwait_mutex_lock(&m), 0);
	CHECK(script_about(script_alarm_ns(1), first_ns));
	CHECK(script_about(script_alarm_ns(2), 2 * first_ns));
	CHECK(script_about(script_alarm_ns(3), 4 * first_ns));
	for (unsigned i = 1; i < 4; i++)
		CHECK_EQ(script_slept[i].word, W(1, 0, 3) | QUIET);
}

static void naps_end(void)
{
	const struct scripted_sleep sleeps[] = {
		{ .meanwhile = unlock_and_overtake },
		{ .result = -ETIMEDOUT },
		{ .result = -ETIMEDOUT },
		{ .result = -ETIMEDOUT },
		{ .result = -ETIMEDOUT },
		{ .result = -ETIMEDOUT },
		{ .result = -EFAULT },
	};

	block(W(1, 0, 0));
	SCRIPT(sleeps);
	CHECK_EQ(ipcwait_mutex_lock(&m), -EFAULT);
	/* 62, 125, 250, 500 us and a millisecond: then it has waited for too long, and claims. */
	CHECK(script_slept[5].word & QUIET);
	CHECK(!(script_slept[6].word & QUIET));
	CHECK(claims(6));
}

/* After an alarm it is overdue: it says so, and is woken as such. */
static void overdue(void)
{
	const struct scripted_sleep sleeps[] = {
		{ .result = -ETIMEDOUT },
		{ .meanwhile = unlock_it },
	};

	block(W(1, 0, 3) | SPINNER | QUIET);
	SCRIPT(sleeps);
	CHECK_EQ(ipcwait_mutex_lock(&m), 0);
	CHECK(!claims(0));
	CHECK(claims(1));
	CHECK_EQ(script_slept[1].word, W(1, 0, 4) | URGENT);
	CHECK_EQ(fake.wakes, 1);
	CHECK_EQ(fake.wake.bits, OVERDUE);
	CHECK_EQ(mutex_word(&m), W(1, 0, 3) | P(1));
}

static void not_before_its_patience_ends(void)
{
	const struct scripted_sleep sleeps[] = {
		{ .meanwhile = unlock_and_overtake, .sleep_ns = 900 * US },
		{ .result = -EFAULT },
	};
	const struct scripted_sleep longer[] = {
		{ .meanwhile = unlock_and_overtake },
		{ .result = -EFAULT },
	};
	struct scripted_sleep late[2];

	block(W(1, 0, 0));
	SCRIPT(sleeps);
	CHECK_EQ(ipcwait_mutex_lock(&m), -EFAULT);
	CHECK(!claims(1));
	late[0] = longer[0];
	late[1] = longer[1];
	late[0].sleep_ns = patience_ns() + 10 * US;
	block(W(1, 0, 0));
	SCRIPT(late);
	CHECK_EQ(ipcwait_mutex_lock(&m), -EFAULT);
	CHECK(claims(1));
}

/* Nor before that of those who came before it could end. */
static void not_before_its_turn(void)
{
	struct scripted_sleep sleeps[] = {
		{ .meanwhile = unlock_and_overtake },
		{ .result = -EFAULT },
	};

	for (int64_t others = 3; others <= 2000; others += 1997) {
		int64_t turn = patience_ns() * (others + 1);

		turn = turn < MOST_NS ? turn : MOST_NS;
		sleeps[0].sleep_ns = turn - 100 * US;
		block(W(1, 0, others));
		SCRIPT(sleeps);
		CHECK_EQ(ipcwait_mutex_lock(&m), -EFAULT);
		CHECK(!claims(1));
		sleeps[0].sleep_ns = turn + 10 * US;
		block(W(1, 0, others));
		SCRIPT(sleeps);
		CHECK_EQ(ipcwait_mutex_lock(&m), -EFAULT);
		CHECK(claims(1));
	}
}

static void claim_for_another(void)
{
	mutex_fabricate(&m, mutex_word(&m) | URGENT);
	unlock_it();
	CHECK_EQ(fake.wake.bits, OVERDUE);
}

/* It may not take what is kept for another until it is overdue itself. */
static void kept_for_another(void)
{
	struct scripted_sleep sleeps[] = {
		{ .meanwhile = claim_for_another, .sleep_ns = 300 * US },
		{ .result = -ETIMEDOUT },
	};

	sleeps[1].sleep_ns = turn_ns(2);
	block(W(1, 0, 2));
	SCRIPT(sleeps);
	CHECK_EQ(ipcwait_mutex_lock(&m), 0);
	CHECK_EQ(script_sleeps, 2);
	/* The wake was not for it, and stays. */
	CHECK_EQ(script_slept[1].word & ~QUIET, W(0, 1, 3) | URGENT);
	CHECK_EQ(mutex_word(&m), W(1, 0, 2));
}

static void give_up(int64_t deadline_ns)
{
	CHECK_EQ(ipcwait_mutex_lock_until(&m, deadline_ns), -ETIMEDOUT);
}

/* Whoever gives up takes its claim along, and not that of another. */
static void claims_end(void)
{
	const struct scripted_sleep sleeps[] = { { .result = -ETIMEDOUT },
						 { .result = -ETIMEDOUT } };

	block(W(1, 0, 2));
	SCRIPT(sleeps);
	give_up(fake.now_ns + FIRST_ALARM_NS + MS);
	CHECK(claims(1));
	CHECK_EQ(mutex_word(&m), W(1, 0, 2));
	block(W(1, 0, 2) | URGENT);
	SCRIPT(sleeps);
	give_up(fake.now_ns + MS);
	CHECK_EQ(mutex_word(&m), W(1, 0, 2) | URGENT);
}

/* The last owner has left it to one that has died since. */
static uint64_t relied_on;

static void leave_it_to_the_dead(void)
{
	mutex_fabricate(&m, (mutex_word(&m) & ~MUTEX_WORD_OWNERS) | relied_on);
}

/* What the dead have left beside a free mutex does not outlive an alarm. */
static void after_a_death(void)
{
	static const uint64_t marks[] = { WAKE, SPINNER, QUIET, URGENT | WAKE,
					  SPINNER | WAKE | QUIET | URGENT };
	const struct scripted_sleep sleeps[] = { { .result = -ETIMEDOUT,
						   .meanwhile = leave_it_to_the_dead } };

	for (unsigned i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		relied_on = marks[i];
		block(W(1, 0, 2));
		SCRIPT(sleeps);
		CHECK_EQ(ipcwait_mutex_lock(&m), 0);
		CHECK_EQ(script_sleeps, 1);
		CHECK_EQ(mutex_word(&m), W(1, 0, 2));
		unlock_it();
		CHECK_EQ(fake.wakes, 1);
	}
}

static void kernel_errors(void)
{
	static const int errors[] = { -EINVAL, -EFAULT, -ENOSYS, -EPERM, -ENOMEM };

	for (unsigned i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		const struct scripted_sleep sleeps[] = { { .result = errors[i] } };
		const struct scripted_sleep unlocked[] = { { .result = errors[i],
							     .meanwhile = unlock_it } };

		block(W(1, 0, 5));
		SCRIPT(sleeps);
		CHECK_EQ(ipcwait_mutex_lock(&m), errors[i]);
		CHECK_EQ(mutex_word(&m), W(1, 0, 5));
		SCRIPT(unlocked);
		CHECK_EQ(ipcwait_mutex_lock(&m), 0);
	}
}

/* Not counted: it sleeps on a word of its own, and is no spinner meanwhile. */
static void no_room(void)
{
	const struct scripted_sleep sleeps[] = {
		{ .result = -ETIMEDOUT },
		{ .result = -ETIMEDOUT, .meanwhile = unlock_it },
	};

	for (unsigned preset = IPCWAIT_SPIN; preset <= IPCWAIT_BLOCK; preset++) {
		script_world(0, W(1, 0, 65535), (enum ipcwait_preset)preset);
		SCRIPT(sleeps);
		CHECK_EQ(ipcwait_mutex_lock(&m), 0);
		for (unsigned i = 0; i < 2; i++) {
			CHECK(script_slept[i].call.word != (const uint32_t *)&m.word);
			CHECK_EQ(script_slept[i].word, W(1, 0, 65535));
		}
		CHECK_EQ(mutex_word(&m), W(1, 1, 65535) | P(1));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(alarms_grow),
		CHILD_TEST(robust_ones_are_looked_at_more_often),
		CHILD_TEST(deadlines_and_alarms),
		CHILD_TEST(many_waiters),
		CHILD_TEST(naps_grow),
		CHILD_TEST(naps_end),
		CHILD_TEST(overdue),
		CHILD_TEST(not_before_its_patience_ends),
		CHILD_TEST(not_before_its_turn),
		CHILD_TEST(kept_for_another),
		CHILD_TEST(claims_end),
		CHILD_TEST(after_a_death),
		CHILD_TEST(kernel_errors),
		CHILD_TEST(no_room),
	};

	unsetenv("IPCWAIT_POLICY");
	unsetenv("IPCWAIT_MAX_SPIN_US");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
