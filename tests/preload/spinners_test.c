/* SPDX-License-Identifier: MIT */
/* preload/spinners.c: whom a wake finds, and how many. */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cmocka_all.h"

#include "spinners.h"

#define WORDS  4096
#define ROUNDS 200000

/* As many as a row counts. */
#define MOST 255

static uint32_t words[WORDS];

static void test_each_wake_ends_one(void **state)
{
	const uint32_t *w = &words[0];

	(void)state;
	assert_int_equal(iw_spinners_wake(w, 1), 0);
	for (int i = 0; i < 3; i++)
		assert_true(iw_spinners_enter(w));
	assert_false(iw_spinners_woken(w));
	assert_int_equal(iw_spinners_wake(w, 2), 2);
	assert_true(iw_spinners_woken(w));
	assert_true(iw_spinners_leave(w));
	assert_int_equal(iw_spinners_wake(w, 5), 1);
	assert_int_equal(iw_spinners_wake(w, 1), 0);
	assert_true(iw_spinners_leave(w));
	assert_true(iw_spinners_leave(w));
	assert_false(iw_spinners_woken(w));
	assert_false(iw_spinners_leave(w));
	assert_true(iw_spinners_enter(w));
	assert_false(iw_spinners_leave(w));
	assert_int_equal(iw_spinners_wake(w, 1), 0);
}

/* The first has the row until it leaves; the other is not found, and takes no wake. */
static void test_addresses_that_share_a_row(void **state)
{
	unsigned refused = 0;

	(void)state;
	assert_true(iw_spinners_enter(&words[0]));
	for (int i = 1; i < WORDS; i++) {
		if (iw_spinners_enter(&words[i])) {
			assert_false(iw_spinners_leave(&words[i]));
			continue;
		}
		refused++;
		assert_int_equal(iw_spinners_wake(&words[i], 1), 0);
		assert_false(iw_spinners_woken(&words[i]));
		assert_false(iw_spinners_leave(&words[i]));
	}
	assert_in_range(refused, 1, WORDS / 16);
	assert_int_equal(iw_spinners_wake(&words[0], 1), 1);
	assert_true(iw_spinners_leave(&words[0]));
}

static void test_more_than_are_counted(void **state)
{
	const uint32_t *w = &words[7];

	(void)state;
	for (int i = 0; i < MOST; i++)
		assert_true(iw_spinners_enter(w));
	assert_false(iw_spinners_enter(w));
	assert_int_equal(iw_spinners_wake(w, UINT32_MAX), MOST);
	for (int i = 0; i < MOST; i++)
		assert_true(iw_spinners_leave(w));
	assert_false(iw_spinners_leave(w));
}

/* Beyond what a row can tell apart. */
static void test_far_addresses(void **state)
{
	const void *far = (const void *)((uintptr_t)&words[0] | (uintptr_t)1 << 50);

	(void)state;
	assert_false(iw_spinners_enter(far));
	assert_true(iw_spinners_enter(&words[0]));
	assert_int_equal(iw_spinners_wake(far, 1), 0);
	assert_false(iw_spinners_leave(&words[0]));
}

/* A child has none of the threads. */
static void test_a_child(void **state)
{
	int status;
	pid_t child;

	(void)state;
	assert_true(iw_spinners_enter(&words[3]));
	child = fork();
	if (!child) {
		bool right = iw_spinners_wake(&words[3], 1) == 0 &&
			     iw_spinners_enter(&words[3]) &&
			     iw_spinners_wake(&words[3], 2) == 1 &&
			     iw_spinners_leave(&words[3]);

		_exit(!right);
	}
	assert_true(child > 0 && waitpid(child, &status, 0) == child);
	assert_int_equal(status, 0);
	assert_int_equal(iw_spinners_wake(&words[3], 1), 1);
	assert_true(iw_spinners_leave(&words[3]));
}

static uint32_t woken;

static void *spin_often(void *unused)
{
	(void)unused;
	for (int i = 0; i < ROUNDS; i++) {
		CHECK(iw_spinners_enter(&words[9]));
		if (iw_spinners_leave(&words[9]))
			(void)__atomic_add_fetch(&woken, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* As many leave with a wake as wakes have found threads. */
static void test_two_spin_and_one_wakes(void **state)
{
	pthread_t two[2];
	uint32_t found = 0;

	(void)state;
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&two[i], NULL, spin_often, NULL), 0);
	for (int i = 0; i < ROUNDS; i++)
		found += iw_spinners_wake(&words[9], 1 + i % 2);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_join(two[i], NULL), 0);
	assert_int_equal(woken, found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_wake_ends_one),
		cmocka_unit_test(test_addresses_that_share_a_row),
		cmocka_unit_test(test_more_than_are_counted),
		cmocka_unit_test(test_far_addresses),
		cmocka_unit_test(test_a_child),
		cmocka_unit_test(test_two_spin_and_one_wakes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
