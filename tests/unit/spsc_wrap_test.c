/* SPDX-License-Identifier: MIT */
/*
 * The queue where memory runs out, and where the kernel has no membarrier(2): the linker puts the
 * functions below in front of the real ones (-Wl,--wrap).
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"

void *__real_aligned_alloc(size_t align, size_t bytes);
void *__wrap_aligned_alloc(size_t align, size_t bytes);
bool __wrap_iw_membarrier_register(void);
bool __wrap_iw_membarrier(void);

/* So many more requests succeed. */
static int left = 1000000;

static bool lacks_membarrier;
static _Atomic int barriers; /* asked for; all of them fail */

void *__wrap_aligned_alloc(size_t align, size_t bytes)
{
	if (left > 0) {
		left--;
		return __real_aligned_alloc(align, bytes);
	}
	errno = ENOMEM;
	return NULL;
}

bool __wrap_iw_membarrier_register(void)
{
	return !lacks_membarrier;
}

bool __wrap_iw_membarrier(void)
{
	barriers++;
	return false;
}

static const struct ipcwait_spsc_params unbounded = { .elem_size = 8 };

static void test_no_memory(void **state)
{
	(void)state;
	errno = 4711;
	for (left = 0; left < 2;) {
		int had = left;

		assert_null(ipcwait_spsc_create(&unbounded));
		left = had + 1;
	}
	left = 1000000;
	assert_int_equal(ipcwait_spsc_params_check(&unbounded), 0);
	assert_int_equal(errno, 4711);
}

/* What is in it stays, and it goes on where there is memory again. */
static void test_no_memory_to_grow(void **state)
{
	struct ipcwait_spsc *q = ipcwait_spsc_create(&unbounded);
	uint64_t in = 0, value, two[2] = { 0 };
	size_t n = 1;

	(void)state;
	assert_non_null(q);
	left = 0;
	errno = 4711;
	while (ipcwait_spsc_push(q, &in) == 0)
		in++;
	assert_int_equal(ipcwait_spsc_push(q, &in), -ENOMEM);
	assert_int_equal(ipcwait_spsc_push_until(q, &in, IPCWAIT_FOREVER), -ENOMEM);
	assert_int_equal(ipcwait_spsc_push_n(q, &in, 1), -ENOMEM);
	assert_null(ipcwait_spsc_reserve(q, &n));
	assert_int_equal(errno, 4711);
	assert_int_equal(ipcwait_spsc_trypop(q, &value), 0);
	assert_int_equal(value, 0);
	two[0] = in;
	assert_int_equal(ipcwait_spsc_push_n(q, two, 2), 1);
	left = 1000000;
	two[0] = in + 1;
	two[1] = in + 2;
	assert_int_equal(ipcwait_spsc_push_n(q, two, 2), 2);
	for (uint64_t out = 1; out <= in + 2; out++) {
		assert_int_equal(ipcwait_spsc_trypop(q, &value), 0);
		assert_int_equal(value, out);
	}
	assert_int_equal(ipcwait_spsc_trypop(q, &value), -EAGAIN);
	ipcwait_spsc_destroy(q);
}

static bool has_looked_twice(void *unused)
{
	(void)unused;
	return barriers > 1;
}

static void *push_late(void *arg)
{
	const struct timespec t = { .tv_nsec = 20000000 };
	uint64_t value = 9;

	if (lacks_membarrier)
		(void)nanosleep(&t, NULL);
	else
		CHECK(check_eventually(has_looked_twice, NULL));
	return (void *)(intptr_t)ipcwait_spsc_push(arg, &value);
}

static void check_sleep(void)
{
	struct ipcwait_spsc *q = ipcwait_spsc_create(&unbounded);
	pthread_t thread;
	uint64_t value;
	void *result;

	assert_non_null(q);
	assert_int_equal(pthread_create(&thread, NULL, push_late, q), 0);
	assert_int_equal(ipcwait_spsc_pop(q, &value), 0);
	assert_int_equal(value, 9);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_null(result);
	ipcwait_spsc_destroy(q);
}

static void test_no_membarrier(void **state)
{
	(void)state;
	lacks_membarrier = true;
	barriers = 0;
	check_sleep();
	assert_int_equal(barriers, 0);
	lacks_membarrier = false;
}

/* A filter that came later: the sleeper looks by itself, each millisecond. */
static void test_membarrier_fails_later(void **state)
{
	(void)state;
	barriers = 0;
	check_sleep();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_no_memory_to_grow),
		cmocka_unit_test(test_no_membarrier),
		cmocka_unit_test(test_membarrier_fails_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
