/* SPDX-License-Identifier: MIT */
/*
 * What waiters for a mutex do by what it has learned about its sections, and how it learns that,
 * over a scripted kernel. The arithmetic is in pace_test.c.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/cmocka_all.h"
#include "common/mutex_script.h"

#define m  script_mutex
#define US INT64_C(1000)
#define MS INT64_C(1000000)

#define WAKE  MUTEX_WORD_WAKE
#define QUIET MUTEX_WORD_QUIET
#define TIMED MUTEX_WORD_TIMED
#define W     MUTEX_WORD
#define P     MUTEX_WORD_PASSED

/* lib/policy/pace.h */
#define SHORT      63u
#define BUSY       (63u << 6)
#define LAST_COUNT (15u << 12)

/* As in lib/sync/mutex_wait.c. */
#define FIRST_NAP_NS (50 * US)

static void world(uint64_t word, uint32_t note, enum ipcwait_preset preset)
{
	script_world(0, word, preset);
	m.note.v = note;
}

static void assert_word(uint64_t word)
{
	CHECK_EQ(mutex_word(&m), word);
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

static bool is_busy(void)
{
	return m.note.v & BUSY;
}

/* Where the mutex is always busy, at the first sleep already. */
static void naps_at_once(void)
{
	const struct scripted_sleep sleeps[] = {
		{ .result = -EAGAIN },
		{ .result = -ETIMEDOUT },
		{ .meanwhile = unlock_it, .result = -ETIMEDOUT },
	};

	world(W(1, 0, 2), BUSY, IPCWAIT_BLOCK);
	SCRIPT(sleeps);
	CHECK_EQ(ipcwait_mutex_lock(&m), 0);
	for (unsigned i = 0; i < 3; i++)
		CHECK_EQ(script_slept[i].word, W(1, 0, 3) | QUIET);
	/* What was no sleep was no nap either. */
	CHECK(script_about(script_alarm_ns(0), FIRST_NAP_NS * (4 + 3) / 4));
	CHECK(script_about(script_alarm_ns(1), FIRST_NAP_NS * (4 + 3) / 4));
	CHECK(script_about(script_alarm_ns(2), 2 * FIRST_NAP_NS * (4 + 3) / 4));
}

static void unlock_and_overtake_beside_a_nap(void)
{
	unlock_and_overtake();
	mutex_fabricate(&m, mutex_word(&m) | QUIET);
}

static void leave_it_beside_a_nap(void)
{
	mutex_fabricate(&m, (mutex_word(&m) & ~MUTEX_WORD_OWNERS) | QUIET | WAKE);
}

/* Whoever was woken leaves the mutex to one that naps, and has it from the owner all the same. */
static void another_naps(void)
{
	const struct scripted_sleep sleeps[] = {
		{ .meanwhile = unlock_and_overtake_beside_a_nap },
		{ .meanwhile = leave_it_beside_a_nap },
	};

	world(W(1, 0, 2), 0, IPCWAIT_BLOCK);
	SCRIPT(sleeps);
	CHECK_EQ(ipcwait_mutex_lock(&m), 0);
	CHECK_EQ(script_slept[1].word, W(1, 0, 3) | QUIET);
	assert_word(W(1, 0, 2) | QUIET);
	unlock_it();
	CHECK_EQ(fake.wakes, 1);
}

/* Nobody begins to spin where the mutex goes from hand to hand without it. */
static void does_not_spin_where_it_is_full(void)
{
	const struct scripted_sleep sleeps[] = { { .result = -ETIMEDOUT,
						   .meanwhile = unlock_it } };
	int64_t began_ns;

	world(W(1, 0, 2), SHORT | BUSY, IPCWAIT_SPIN);
	SCRIPT(sleeps);
	began_ns = fake.now_ns;
	CHECK_EQ(ipcwait_mutex_lock(&m), 0);
	CHECK(script_slept[0].began_ns - began_ns < 10 * US);
	CHECK_EQ(script_slept[0].word, W(1, 0, 3) | QUIET);
	assert_word(W(1, 0, 2) | P(1));
	CHECK_EQ(script_slept_for(IPCWAIT_REASON_OVERTAKEN), 1);
	CHECK_EQ(script_slept_for(IPCWAIT_REASON_CROWDED), 0);
}

static void lock_waiting(uint32_t note)
{
	const struct scripted_sleep sleeps[] = { { .meanwhile = unlock_it } };

	world(W(1, 0, 0), note, IPCWAIT_BLOCK);
	SCRIPT(sleeps);
	CHECK_EQ(ipcwait_mutex_lock(&m), 0);
}

/* Of one owner in sixteen that had to wait. */
static void sections_are_measured(void)
{
	lock_waiting(LAST_COUNT - 1);
	assert_word(W(1, 0, 0));
	lock_waiting(LAST_COUNT);
	assert_word(W(1, 0, 0) | TIMED);
	unlock_it();
	assert_word(0);
	CHECK(m.note.v & SHORT);
	lock_waiting(LAST_COUNT);
	fake.now_ns += MS / 10;
	unlock_it();
	assert_word(0);
	CHECK(!(m.note.v & SHORT));
}

static void overtake_often(void)
{
	for (unsigned i = 0; i < 3; i++)
		unlock_and_overtake();
	unlock_it();
}

static void sleeps_tell_whether_it_is_busy(void)
{
	const struct scripted_sleep often[] = { { .meanwhile = overtake_often } };

	lock_waiting(0);
	CHECK(!is_busy());
	world(W(1, 0, 0), 0, IPCWAIT_BLOCK);
	SCRIPT(often);
	CHECK_EQ(ipcwait_mutex_lock(&m), 0);
	CHECK(is_busy());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(naps_at_once),
		CHILD_TEST(another_naps),
		CHILD_TEST(does_not_spin_where_it_is_full),
		CHILD_TEST(sections_are_measured),
		CHILD_TEST(sleeps_tell_whether_it_is_busy),
	};

	unsetenv("IPCWAIT_POLICY");
	unsetenv("IPCWAIT_MAX_SPIN_US");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
