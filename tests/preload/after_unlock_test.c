/* SPDX-License-Identifier: MIT */
/* preload/after_unlock.c over a scripted kernel: when a wake is made, and that each is made. */
#include <pthread.h>
#include <string.h>

#include "after_unlock.h"
#include "common/cmocka_all.h"
#include "common/fake_os.h"
#include "common/probe.h"
#include "owner.h"
#include "policy/pace.h"
#include "sections.h"

/* A mutex that is kept for longer after a signal, and what follows from one, as in the source. */
#define SHORT_NS 2000
#define AT_ONCE  16

#define OWNER 4711

static pthread_cond_t conds[2];
static pthread_mutex_t mutexes[2];
static pthread_mutex_t nobodys = PTHREAD_MUTEX_INITIALIZER; /* locked past the module */
static uint32_t word;

/* libc tells by what name it knows the thread: owner.c. */
_Thread_local uint64_t iw_owner_known;

uint32_t iw_owner_ask(uint32_t generation)
{
	(void)generation;
	return OWNER;
}

/* As front_mutex.c does it. */
static void lock(pthread_mutex_t *m)
{
	m->__data.__owner = OWNER;
	iw_note_locked(m);
}

static void unlock(pthread_mutex_t *m)
{
	iw_note_unlocked(m);
	if (iw_after_unlock.lock == m)
		iw_sections_end();
	m->__data.__owner = 0;
	if (iw_after_unlock.lock == m)
		iw_after_unlock_end();
}

/* Once, so that the thread is known to unlock it too. */
static void use(pthread_mutex_t *m)
{
	lock(m);
	unlock(m);
}

static int begin(void **state)
{
	(void)state;
	fake_reset();
	fake.woken = 1;
	memset(&iw_after_unlock, 0, sizeof(iw_after_unlock));
	for (unsigned i = 0; i < 2; i++) {
		iw_after_unlock_note(&conds[i], &nobodys);
		mutexes[i] = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
		use(&mutexes[i]);
	}
	/* What another test has learned about the time between signal and unlock. */
	for (unsigned i = 0; i < 2 * AT_ONCE; i++)
		for (unsigned k = 0; k < 2; k++) {
			iw_after_unlock_note(&conds[k], &mutexes[0]);
			lock(&mutexes[0]);
			(void)iw_after_unlock_begin(&conds[k]);
			unlock(&mutexes[0]);
			iw_after_unlock_note(&conds[k], &nobodys);
		}
	return 0;
}

/* A signal for a sleeper: true if its wake is left. */
static bool leaves(const pthread_cond_t *c, uint32_t bits)
{
	struct iw_due_wake *due = iw_after_unlock_begin(c);

	if (due)
		iw_leave_wake(due, IPCWAIT_KIND_COND, &word, true, bits);
	return due;
}

static void test_woken_after_the_unlock(void **state)
{
	(void)state;
	iw_after_unlock_note(&conds[0], &mutexes[0]);
	lock(&mutexes[0]);
	assert_true(leaves(&conds[0], 4));
	assert_int_equal(fake.wakes, 0);
	unlock(&mutexes[0]);
	assert_int_equal(fake.wakes, 1);
	assert_ptr_equal(fake.wake.word, &word);
	assert_int_equal(fake.wake.bits, 4);
	assert_int_equal(fake.wake.value, UINT32_MAX);
	assert_true(fake.wake.private_);
	assert_null(iw_after_unlock.lock);
	/* Once. */
	lock(&mutexes[0]);
	unlock(&mutexes[0]);
	iw_after_unlock_hurry();
	assert_int_equal(fake.wakes, 1);
}

/* Who has not the mutex of those who wait has no unlock to come. */
static void test_woken_at_once(void **state)
{
	(void)state;
	assert_false(leaves(&conds[0], 1));
	iw_after_unlock_note(&conds[0], &mutexes[0]);
	assert_false(leaves(&conds[0], 1));
	lock(&mutexes[1]);
	assert_false(leaves(&conds[0], 1));
	assert_false(leaves(&conds[1], 1));
	lock(&mutexes[0]);
	unlock(&mutexes[0]);
	assert_false(leaves(&conds[0], 1));
	lock(&mutexes[0]);
	iw_after_unlock_note(&conds[0], &nobodys);
	assert_false(leaves(&conds[0], 1));
}

static bool leaves_with(int type, int shared, int robust, int protocol)
{
	pthread_mutexattr_t attr;
	pthread_mutex_t m;
	bool left;

	assert_int_equal(pthread_mutexattr_init(&attr), 0);
	assert_int_equal(pthread_mutexattr_settype(&attr, type), 0);
	assert_int_equal(pthread_mutexattr_setpshared(&attr, shared), 0);
	assert_int_equal(pthread_mutexattr_setrobust(&attr, robust), 0);
	assert_int_equal(pthread_mutexattr_setprotocol(&attr, protocol), 0);
	assert_int_equal(pthread_mutex_init(&m, &attr), 0);
	iw_after_unlock_note(&conds[0], &m);
	use(&m);
	lock(&m);
	left = leaves(&conds[0], 1);
	unlock(&m);
	return left;
}

/* Those that may be handed over or lost without an unlock are left alone. */
static void test_kinds_of_mutex(void **state)
{
	(void)state;
	assert_true(leaves_with(PTHREAD_MUTEX_NORMAL, 0, 0, 0));
	assert_true(leaves_with(PTHREAD_MUTEX_RECURSIVE, 0, 0, 0));
	assert_true(leaves_with(PTHREAD_MUTEX_ERRORCHECK, 0, 0, 0));
	assert_true(leaves_with(PTHREAD_MUTEX_ADAPTIVE_NP, 0, 0, 0));
	assert_false(leaves_with(PTHREAD_MUTEX_NORMAL, PTHREAD_PROCESS_SHARED, 0, 0));
	assert_false(leaves_with(PTHREAD_MUTEX_NORMAL, 0, PTHREAD_MUTEX_ROBUST, 0));
	assert_false(leaves_with(PTHREAD_MUTEX_NORMAL, 0, 0, PTHREAD_PRIO_INHERIT));
	assert_false(leaves_with(PTHREAD_MUTEX_NORMAL, 0, 0, PTHREAD_PRIO_PROTECT));
}

/* The entry is that of the last wait. */
static void test_another_mutex(void **state)
{
	(void)state;
	iw_after_unlock_note(&conds[0], &mutexes[0]);
	iw_after_unlock_note(&conds[0], &mutexes[1]);
	lock(&mutexes[0]);
	assert_false(leaves(&conds[0], 1));
	lock(&mutexes[1]);
	assert_true(leaves(&conds[0], 1));
	unlock(&mutexes[0]);
	assert_int_equal(fake.wakes, 0);
	unlock(&mutexes[1]);
	assert_int_equal(fake.wakes, 1);
}

/* Of two condition variables with one place in the table, the last that was waited on has it. */
static void test_one_entry_for_two(void **state)
{
	static pthread_cond_t many[1000];
	unsigned taken = 0;

	(void)state;
	iw_after_unlock_note(&conds[0], &mutexes[0]);
	lock(&mutexes[0]);
	for (unsigned i = 0; i < 1000; i++) {
		iw_after_unlock_note(&many[i], &mutexes[0]);
		if (leaves(&conds[0], 1))
			continue;
		taken++;
		assert_true(leaves(&many[i], 1));
		iw_after_unlock_note(&conds[0], &mutexes[0]);
		assert_false(leaves(&many[i], 1));
	}
	assert_in_range(taken, 1, 100);
	unlock(&mutexes[0]);
}

/* One wake is left at a time, and none for a thread that is about to wait. */
static void test_not_for_long(void **state)
{
	(void)state;
	iw_after_unlock_note(&conds[0], &mutexes[0]);
	iw_after_unlock_note(&conds[1], &mutexes[1]);
	lock(&mutexes[0]);
	lock(&mutexes[1]);
	assert_true(leaves(&conds[0], 1));
	assert_true(leaves(&conds[1], 2));
	assert_int_equal(fake.wakes, 1);
	assert_int_equal(fake.wake.bits, 1);
	iw_after_unlock_hurry();
	assert_int_equal(fake.wakes, 2);
	assert_int_equal(fake.wake.bits, 2);
	unlock(&mutexes[1]);
	unlock(&mutexes[0]);
	assert_int_equal(fake.wakes, 2);
	assert_int_equal(iw_self()->wakes, 2);
}

/* A signal that finds nobody asleep leaves nothing. */
static void test_nothing_left(void **state)
{
	(void)state;
	iw_after_unlock_note(&conds[0], &mutexes[0]);
	lock(&mutexes[0]);
	assert_non_null(iw_after_unlock_begin(&conds[0]));
	fake.now_ns += 10 * SHORT_NS;
	unlock(&mutexes[0]);
	assert_int_equal(fake.wakes, 0);
	lock(&mutexes[0]);
	assert_true(leaves(&conds[0], 1));
}

/* Where the mutex is kept for long wakes are made at once, except for a trial now and then. */
static void test_kept_for_long(void **state)
{
	(void)state;
	iw_after_unlock_note(&conds[0], &mutexes[0]);
	for (unsigned round = 0; round < 2; round++) {
		lock(&mutexes[0]);
		assert_true(leaves(&conds[0], 1));
		fake.now_ns += 2 * SHORT_NS;
		unlock(&mutexes[0]);
		for (unsigned i = 0; i < AT_ONCE; i++) {
			lock(&mutexes[0]);
			assert_false(leaves(&conds[0], 1));
			unlock(&mutexes[0]);
		}
	}
	for (unsigned i = 0; i < 2 * AT_ONCE; i++) {
		lock(&mutexes[0]);
		assert_true(leaves(&conds[0], 1));
		fake.now_ns += SHORT_NS / 2;
		unlock(&mutexes[0]);
	}
}

static void test_sections_are_measured(void **state)
{
	struct place *p = iw_place_take(&mutexes[0]);
	uint32_t pace;

	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		lock(&mutexes[0]);
		assert_true(iw_after_unlock_measure(&mutexes[0], p));
		iw_place_set_pace(p, iw_pace_began(iw_place_pace(p), iw_now_ns()));
		fake.now_ns += 100;
		unlock(&mutexes[0]);
	}
	assert_true(iw_pace_apart_ns(iw_place_pace(p)) > 0);
	/* Once each. */
	pace = iw_place_pace(p);
	iw_after_unlock_note(&conds[0], &mutexes[0]);
	lock(&mutexes[0]);
	assert_true(leaves(&conds[0], 1));
	fake.now_ns += 100000;
	unlock(&mutexes[0]);
	assert_int_equal(iw_place_pace(p), pace);
}

/* One mutex at a time is waited for: a wake comes before a length. */
static void test_a_wake_comes_before_a_length(void **state)
{
	struct place *p = iw_place_take(&mutexes[0]);
	uint32_t pace = 63; /* all sections were short */

	(void)state;
	iw_place_set_pace(p, pace);
	iw_after_unlock_note(&conds[1], &mutexes[1]);
	lock(&mutexes[1]);
	assert_true(leaves(&conds[1], 2));
	lock(&mutexes[0]);
	assert_false(iw_after_unlock_measure(&mutexes[0], p));
	unlock(&mutexes[0]);
	unlock(&mutexes[1]);
	assert_int_equal(fake.wakes, 1);
	lock(&mutexes[0]);
	assert_true(iw_after_unlock_measure(&mutexes[0], p));
	lock(&mutexes[1]);
	assert_true(leaves(&conds[1], 2));
	unlock(&mutexes[1]);
	assert_int_equal(fake.wakes, 2);
	unlock(&mutexes[0]);
	assert_int_equal(iw_place_pace(p), pace);
	/* Nor does it end with the next signal. */
	iw_after_unlock_note(&conds[0], &mutexes[0]);
	lock(&mutexes[0]);
	assert_true(leaves(&conds[0], 1));
	fake.now_ns += 100000;
	unlock(&mutexes[0]);
	assert_int_equal(fake.wakes, 3);
	assert_int_equal(iw_place_pace(p), pace);
	/* One that was never unlocked here does not keep the next from being measured. */
	assert_true(iw_after_unlock_measure(&mutexes[0], p));
	p = iw_place_take(&mutexes[1]);
	assert_true(iw_after_unlock_measure(&mutexes[1], p));
	assert_ptr_equal(iw_after_unlock.lock, &mutexes[1]);
	/* With the same mutex there are both. */
	pace = iw_pace_began(0, iw_now_ns());
	iw_place_set_pace(p, pace);
	lock(&mutexes[1]);
	assert_true(leaves(&conds[1], 2));
	unlock(&mutexes[1]);
	assert_int_equal(fake.wakes, 4);
	assert_int_not_equal(iw_place_pace(p), pace);
	/* What took the place over keeps its own. */
	assert_true(iw_after_unlock_measure(&mutexes[0], p));
	pace = iw_place_pace(p);
	lock(&mutexes[0]);
	unlock(&mutexes[0]);
	assert_int_equal(iw_place_pace(p), pace);
}

/* Who has not unlocked it here before may unlock it elsewhere, or let another thread do so. */
static void test_not_unlocked_here(void **state)
{
	static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

	(void)state;
	iw_after_unlock_note(&conds[0], &m);
	lock(&m);
	assert_false(leaves(&conds[0], 1));
	/* Past the module: locked twice in a row, or not locked at all. */
	m.__data.__owner = 0;
	lock(&m);
	assert_false(leaves(&conds[0], 1));
	unlock(&m);
	lock(&m);
	m.__data.__owner = 0;
	assert_false(leaves(&conds[0], 1));
	m.__data.__owner = OWNER;
	assert_true(leaves(&conds[0], 1));
	unlock(&m);
	assert_int_equal(fake.wakes, 1);
	m.__data.__owner = OWNER;
	assert_false(leaves(&conds[0], 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_woken_after_the_unlock, begin),
		cmocka_unit_test_setup(test_woken_at_once, begin),
		cmocka_unit_test_setup(test_kinds_of_mutex, begin),
		cmocka_unit_test_setup(test_another_mutex, begin),
		cmocka_unit_test_setup(test_one_entry_for_two, begin),
		cmocka_unit_test_setup(test_not_for_long, begin),
		cmocka_unit_test_setup(test_nothing_left, begin),
		cmocka_unit_test_setup(test_kept_for_long, begin),
		cmocka_unit_test_setup(test_sections_are_measured, begin),
		cmocka_unit_test_setup(test_a_wake_comes_before_a_length, begin),
		cmocka_unit_test_setup(test_not_unlocked_here, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
