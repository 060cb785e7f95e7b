/* SPDX-License-Identifier: MIT */
/* <ipcwait/mutex.h>, every kind: arguments, results, deadlines. Misuse: bad_input_mutex_test.c. */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/mutex_word.h"

#define R      IPCWAIT_RECURSIVE
#define E      IPCWAIT_ERRORCHECK
#define ROBUST IPCWAIT_ROBUST
#define LATER  ipcwait_deadline_in_ns(INT64_C(1000000))

static const unsigned kinds[] = { 0, R, E, ROBUST, ROBUST | R, ROBUST | E };

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static struct ipcwait_mutex m;

static int setup(void **state)
{
	(void)state;
	check_watchdog(60);
	assert_int_equal(ipcwait_mutex_init(&m, 0), 0);
	errno = 4711;
	return 0;
}

static int errno_is_untouched(void **state)
{
	(void)state;
	return errno == 4711 ? 0 : -1;
}

/* Processes of other builds map it too. */
static void test_layout(void **state)
{
	static const struct ipcwait_mutex zero, named = IPCWAIT_MUTEX_INIT;

	(void)state;
	assert_int_equal(sizeof(m), 32);
	assert_int_equal(_Alignof(struct ipcwait_mutex), 8);
	assert_int_equal(offsetof(struct ipcwait_mutex, window), 16);
	assert_memory_equal(&named, &zero, sizeof(zero));
	memset(&m, 0x5a, sizeof(m));
	assert_int_equal(ipcwait_mutex_init(&m, 0), 0);
	assert_memory_equal(&m, &zero, sizeof(zero));
}

static void test_static_mutex(void **state)
{
	static struct ipcwait_mutex mutexes[] = { { .flags = 0 }, IPCWAIT_MUTEX_INIT };

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(ipcwait_mutex_lock(&mutexes[i]), 0);
		assert_int_equal(ipcwait_mutex_trylock(&mutexes[i]), -EBUSY);
		assert_int_equal(ipcwait_mutex_unlock(&mutexes[i]), 0);
		assert_int_equal(ipcwait_mutex_fini(&mutexes[i]), 0);
	}
}

static void test_init_makes_a_new_one(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2 * KINDS; i++) {
		unsigned flags = kinds[i / 2] | (i & 1);

		/* Over one that is locked and slept on: it forgets. */
		memset(&m, 0x5a, sizeof(m));
		assert_int_equal(ipcwait_mutex_init(&m, flags), 0);
		assert_int_equal(mutex_word(&m), kinds[i / 2] ? MUTEX_WORD_CHECKED : 0);
		assert_int_equal(m.flags, flags);
		assert_int_equal(m.count, 0);
		assert_int_equal(ipcwait_mutex_lock(&m), 0);
		assert_int_equal(ipcwait_mutex_unlock(&m), 0);
	}
}

static void test_init_refuses(void **state)
{
	struct ipcwait_mutex two[2], before[2];

	(void)state;
	memset(two, 0x5a, sizeof(two));
	memcpy(before, two, sizeof(two));
	assert_int_equal(ipcwait_mutex_init(NULL, 0), -EINVAL);
	for (unsigned bit = 0; bit < 32; bit++) {
		if (!(1u << bit & (IPCWAIT_PRIVATE | R | E | ROBUST)))
			assert_int_equal(ipcwait_mutex_init(two, 1u << bit), -EINVAL);
	}
	for (unsigned offset = 1; offset < 8; offset++)
		assert_int_equal(ipcwait_mutex_init((void *)((char *)two + offset), 0),
				 -EINVAL);
	assert_memory_equal(two, before, sizeof(two));
}

/* What another thread gets that asks once, and once with each kind of deadline. */
static void *find_it_busy(void *arg)
{
	CHECK_EQ(ipcwait_mutex_trylock(&m), -EBUSY);
	CHECK_EQ(ipcwait_mutex_lock_until(&m, INT64_MIN), -ETIMEDOUT);
	CHECK_EQ(ipcwait_mutex_lock_until(&m, 0), -ETIMEDOUT);
	CHECK_EQ(ipcwait_mutex_lock_until(&m, LATER), -ETIMEDOUT);
	return arg;
}

static void *lock_and_unlock(void *arg)
{
	CHECK_EQ(ipcwait_mutex_lock_until(&m, IPCWAIT_FOREVER), 0);
	CHECK_EQ(ipcwait_mutex_unlock(&m), 0);
	return arg;
}

static void elsewhere(void *(*body)(void *))
{
	pthread_t thread;

	CHECK_EQ(pthread_create(&thread, NULL, body, NULL), 0);
	CHECK_EQ(pthread_join(thread, NULL), 0);
}

static int lock_in_way(int way)
{
	if (way == 0)
		return ipcwait_mutex_lock(&m);
	return way == 1 ? ipcwait_mutex_trylock(&m) : ipcwait_mutex_lock_until(&m, -1);
}

static void test_one_owner(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3 * KINDS; i++) {
		uint64_t owned;

		assert_int_equal(ipcwait_mutex_init(&m, kinds[i / 3] | (i & 1)), 0);
		assert_int_equal(lock_in_way(i % 3), 0);
		owned = mutex_word(&m);
		elsewhere(find_it_busy);
		/* A wait that failed leaves nothing behind. */
		assert_int_equal(mutex_word(&m), owned);
		assert_int_equal(ipcwait_mutex_unlock(&m), 0);
		elsewhere(lock_and_unlock);
		assert_int_equal(mutex_word(&m) & ~MUTEX_WORD_PROCESS,
				 kinds[i / 3] ? MUTEX_WORD_CHECKED : 0);
		assert_int_equal(ipcwait_mutex_fini(&m), 0);
	}
}

static void test_levels(void **state)
{
	(void)state;
	for (unsigned robust = 0; robust < 2; robust++) {
		assert_int_equal(ipcwait_mutex_init(&m, robust ? R | ROBUST : R), 0);
		for (int way = 0; way < 3; way++)
			assert_int_equal(lock_in_way(way), 0);
		for (int level = 3; level > 0; level--) {
			elsewhere(find_it_busy);
			assert_int_equal(ipcwait_mutex_unlock(&m), 0);
		}
		elsewhere(lock_and_unlock);
		assert_int_equal(ipcwait_mutex_unlock(&m), -EPERM);
	}
}

static void *lock_and_end(void *arg)
{
	CHECK_EQ(ipcwait_mutex_lock(&m), 0);
	CHECK_EQ(ipcwait_mutex_lock(&m), 0);
	return arg;
}

/* The levels of the dead do not pass on to the next owner. */
static void test_levels_of_the_dead(void **state)
{
	(void)state;
	assert_int_equal(ipcwait_mutex_init(&m, R | ROBUST), 0);
	elsewhere(lock_and_end);
	assert_int_equal(ipcwait_mutex_lock(&m), -EOWNERDEAD);
	assert_int_equal(ipcwait_mutex_lock(&m), 0);
	assert_int_equal(ipcwait_mutex_consistent(&m), 0);
	assert_int_equal(ipcwait_mutex_unlock(&m), 0);
	elsewhere(find_it_busy);
	assert_int_equal(ipcwait_mutex_unlock(&m), 0);
	elsewhere(lock_and_unlock);
}

static void test_deadline_is_kept(void **state)
{
	(void)state;
	assert_int_equal(ipcwait_mutex_lock(&m), 0);
	for (int64_t ns = 1; ns <= 10000000; ns *= 10) {
		int64_t deadline = ipcwait_deadline_in_ns(ns);

		assert_int_equal(ipcwait_mutex_lock_until(&m, deadline), -ETIMEDOUT);
		assert_true(ipcwait_now_ns() >= deadline);
	}
	assert_int_equal(mutex_word_sleepers(mutex_word(&m)), 0);
}

static void test_deadlines_that_are_none(void **state)
{
	const int64_t any[] = { INT64_MIN, -1, 0, 1, IPCWAIT_FOREVER - 1, IPCWAIT_FOREVER };

	(void)state;
	for (unsigned i = 0; i < KINDS; i++) {
		assert_int_equal(ipcwait_mutex_init(&m, kinds[i]), 0);
		for (unsigned k = 0; k < sizeof(any) / sizeof(any[0]); k++) {
			assert_int_equal(ipcwait_mutex_lock_until(&m, any[k]), 0);
			assert_int_equal(ipcwait_mutex_unlock(&m), 0);
		}
	}
}

static void test_kept_for_another(void **state)
{
	const uint64_t kept = MUTEX_WORD(0, 1, 1) | MUTEX_WORD_URGENT;

	(void)state;
	/* Whoever it is kept for was not woken lately: it may be stopped or dead. */
	mutex_fabricate(&m, kept);
	assert_int_equal(ipcwait_mutex_trylock(&m), 0);
	assert_int_equal(mutex_word(&m), MUTEX_WORD(1, 0, 0) | kept);
	mutex_fabricate(&m, kept);
	assert_int_equal(ipcwait_mutex_lock_until(&m, 0), 0);
	assert_int_equal(mutex_word(&m), MUTEX_WORD(1, 0, 0) | kept);
	mutex_fabricate(&m, kept);
	ipcwait_window_stamp(&m.window);
	assert_int_equal(ipcwait_mutex_lock_until(&m, 0), 0);
}

static void test_fini(void **state)
{
	static const uint64_t busy[] = { MUTEX_WORD(1, 0, 0), MUTEX_WORD(0, 0, 1),
					 MUTEX_WORD(0, 1, 1), MUTEX_WORD_SPINNER };

	(void)state;
	assert_int_equal(ipcwait_mutex_fini(NULL), -EINVAL);
	for (unsigned i = 0; i < sizeof(busy) / sizeof(busy[0]); i++) {
		mutex_fabricate(&m, busy[i]);
		assert_int_equal(ipcwait_mutex_fini(&m), -EBUSY);
		assert_int_equal(mutex_word(&m), busy[i]);
	}
	/* Nobody can own it any more, so it can end. */
	mutex_fabricate(&m, MUTEX_WORD_CHECKED | MUTEX_WORD_DIED | MUTEX_WORD_LOST);
	assert_int_equal(ipcwait_mutex_fini(&m), 0);
	assert_int_equal(ipcwait_mutex_fini(&m), -EINVAL);
	assert_int_equal(ipcwait_mutex_init(&m, 0), 0);
	assert_int_equal(ipcwait_mutex_lock(&m), 0);
	assert_int_equal(ipcwait_mutex_unlock(&m), 0);
}

static void test_misaligned(void **state)
{
	static _Alignas(64) char bytes[64];

	(void)state;
	assert_int_equal(ipcwait_mutex_fini((void *)(bytes + 4)), -EINVAL);
	assert_int_equal(ipcwait_mutex_consistent((void *)(bytes + 4)), -EINVAL);
	assert_int_equal(ipcwait_mutex_consistent(NULL), -EINVAL);
	for (unsigned i = 0; i < sizeof(bytes); i++)
		assert_int_equal(bytes[i], 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, errno_is_untouched)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_layout),
		TEST(test_static_mutex),
		TEST(test_init_makes_a_new_one),
		TEST(test_init_refuses),
		TEST(test_one_owner),
		TEST(test_levels),
		TEST(test_levels_of_the_dead),
		TEST(test_deadline_is_kept),
		TEST(test_deadlines_that_are_none),
		TEST(test_kept_for_another),
		TEST(test_fini),
		TEST(test_misaligned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
