/* SPDX-License-Identifier: MIT */
/*
 * The queue where memory runs out: the linker puts the functions below in front of the real ones
 * (-Wl,--wrap).
 */
#include <errno.h>
#include <stdlib.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"

#define PLENTY 1000000

void *__real_aligned_alloc(size_t align, size_t bytes);
void *__real_iw_pages_get(size_t bytes, size_t align);
void *__wrap_aligned_alloc(size_t align, size_t bytes);
void *__wrap_iw_pages_get(size_t bytes, size_t align);

/* This many more requests of the test's thread succeed, of each kind. The worker has its own. */
static _Thread_local int aligned = PLENTY, pages = PLENTY;

static bool refused(int *left)
{
	if (*left > 0) {
		--*left;
		return false;
	}
	errno = ENOMEM;
	return true;
}

void *__wrap_aligned_alloc(size_t align, size_t bytes)
{
	return refused(&aligned) ? NULL : __real_aligned_alloc(align, bytes);
}

void *__wrap_iw_pages_get(size_t bytes, size_t align)
{
	int saved_errno = errno;
	bool no = refused(&pages);

	errno = saved_errno;
	return no ? NULL : __real_iw_pages_get(bytes, align);
}

static const struct ipcwait_queue_params params = { .elem_size = 8 };

/* The struct, its first segment's pool, the thread's magazines, the segment's pages. */
static void test_create_without_memory(void **state)
{
	struct ipcwait_queue *q = NULL;
	unsigned refusals = 0;

	(void)state;
	errno = 4711;
	pages = 0;
	assert_null(ipcwait_queue_create(&params));
	pages = PLENTY;
	for (int left = 0; !q; left++) {
		aligned = left;
		q = ipcwait_queue_create(&params);
		refusals += !q;
	}
	aligned = PLENTY;
	assert_in_range(refusals, 1, 3);
	assert_int_equal(errno, 4711);
	ipcwait_queue_destroy(q);
}

/* The element stays the caller's, what is in comes out, and it goes on when there is more. */
static void test_push_without_memory(void **state)
{
	struct ipcwait_queue *q = ipcwait_queue_create(&params);
	static uint64_t elems[100000];
	uint64_t in = 0, lo, hi;
	int r;

	(void)state;
	assert_non_null(q);
	(void)ipcwait_queue_trim(q);
	errno = 4711;
	pages = 3;
	while (!(r = ipcwait_queue_push(q, &in)))
		in++;
	assert_int_equal(r, -ENOMEM);
	/* Three slabs, and what threads keep: this one, and the one that gives back. */
	assert_in_range(in, 3000, 50000);
	assert_int_equal(ipcwait_queue_push_n(q, elems, 100000), -ENOMEM);
	assert_int_equal(ipcwait_queue_length(q, &lo, &hi), 0);
	assert_int_equal(lo, in);
	assert_int_equal(hi, in);
	for (uint64_t i = 0; i < in; i++) {
		uint64_t elem;

		assert_int_equal(ipcwait_queue_pop(q, &elem), 0);
		assert_int_equal(elem, i);
	}
	assert_int_equal(ipcwait_queue_trypop(q, &in), -EAGAIN);
	(void)ipcwait_queue_trim(q);
	pages = 3;
	in = (uint64_t)ipcwait_queue_push_n(q, elems, 100000);
	assert_in_range(in, 1000, 100000 - 1);
	assert_int_equal(ipcwait_queue_pop_n(q, elems, 100000), in);
	pages = PLENTY;
	assert_int_equal(ipcwait_queue_push_n(q, elems, 100000), 100000);
	assert_int_equal(ipcwait_queue_close(q), 0);
	assert_int_equal(ipcwait_queue_pop_n(q, elems, 100000), 100000);
	assert_int_equal(ipcwait_queue_pop_n(q, elems, 100000), -EPIPE);
	assert_int_equal(errno, 4711);
	ipcwait_queue_destroy(q);
}

/* It can be closed and emptied without any. */
static void test_end_without_memory(void **state)
{
	struct ipcwait_queue *q = ipcwait_queue_create(&params);
	uint64_t elem = 5;

	(void)state;
	assert_non_null(q);
	for (unsigned i = 0; i < 5000; i++)
		assert_int_equal(ipcwait_queue_push(q, &elem), 0);
	pages = aligned = 0;
	for (unsigned i = 0; i < 4000; i++)
		assert_int_equal(ipcwait_queue_trypop(q, &elem), 0);
	assert_int_equal(ipcwait_queue_close(q), 0);
	for (unsigned i = 0; i < 1000; i++)
		assert_int_equal(ipcwait_queue_pop(q, &elem), 0);
	assert_int_equal(ipcwait_queue_pop(q, &elem), -EPIPE);
	ipcwait_queue_destroy(q);
	pages = aligned = PLENTY;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_create_without_memory),
		cmocka_unit_test(test_push_without_memory),
		cmocka_unit_test(test_end_without_memory),
	};

	check_watchdog(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
