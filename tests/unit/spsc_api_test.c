/* SPDX-License-Identifier: MIT */
/* <ipcwait/spsc.h> by itself: arguments, bounds, order, bulk, where elements lie, the end. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"

static struct ipcwait_spsc *make(size_t size, uint64_t capacity)
{
	struct ipcwait_spsc_params params = { .elem_size = size, .capacity = capacity };
	struct ipcwait_spsc *q = ipcwait_spsc_create(&params);

	assert_non_null(q);
	return q;
}

static void check_length(const struct ipcwait_spsc *q, uint64_t want)
{
	uint64_t lo = 77, hi = 77;

	assert_int_equal(ipcwait_spsc_length(q, &lo, &hi), 0);
	assert_int_equal(lo, want);
	assert_int_equal(hi, want);
}

static int push(struct ipcwait_spsc *q, uint64_t value)
{
	return ipcwait_spsc_push(q, &value);
}

static void check_pop(struct ipcwait_spsc *q, uint64_t want)
{
	uint64_t value = ~want;

	assert_int_equal(ipcwait_spsc_trypop(q, &value), 0);
	assert_int_equal(value, want);
}

static void test_bad_arguments(void **state)
{
	static const struct ipcwait_spsc_params bad[] = {
		{ .elem_size = 0 },
		{ .elem_size = IPCWAIT_SPSC_ELEM_MAX + 1 },
		{ .elem_size = SIZE_MAX },
		{ .elem_size = 8, .capacity = IPCWAIT_SPSC_CAPACITY_MAX + 1 },
		{ .elem_size = 8, .capacity = UINT64_MAX },
		{ .elem_size = 8, .flags = 2 },
		{ .elem_size = 8, .reserved = { 0, 0, 1 } },
	};
	struct ipcwait_spsc *q = make(8, 3);
	uint64_t length;

	(void)state;
	errno = 4711;
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(ipcwait_spsc_params_check(&bad[i]), -EINVAL);
		assert_null(ipcwait_spsc_create(&bad[i]));
	}
	assert_int_equal(ipcwait_spsc_params_check(NULL), -EINVAL);
	assert_null(ipcwait_spsc_create(NULL));
	assert_int_equal(ipcwait_spsc_length(NULL, &length, &length), -EINVAL);
	assert_int_equal(ipcwait_spsc_length(q, NULL, &length), -EINVAL);
	assert_int_equal(ipcwait_spsc_length(q, &length, NULL), -EINVAL);
	ipcwait_spsc_destroy(NULL);
	ipcwait_spsc_destroy(q);
	assert_int_equal(errno, 4711);
}

/* The bound is exact, and every place of the ring has its turn. */
static void test_capacity(void **state)
{
	static const uint64_t capacities[] = { 1, 2, 3, 5, 8, 100, 1000, 4096 };

	(void)state;
	for (unsigned i = 0; i < sizeof(capacities) / sizeof(capacities[0]); i++) {
		uint64_t n = capacities[i], in = 0, out = 0;
		struct ipcwait_spsc *q = make(8, n);

		for (unsigned round = 0; round < 10; round++) {
			while (in - out < n)
				assert_int_equal(push(q, in++), 0);
			assert_int_equal(push(q, in), -EAGAIN);
			check_length(q, n);
			for (uint64_t k = 0; k < (round % 2 ? n : n / 2 + 1); k++)
				check_pop(q, out++);
			check_length(q, in - out);
		}
		while (out != in)
			check_pop(q, out++);
		assert_int_equal(ipcwait_spsc_trypop(q, &in), -EAGAIN);
		ipcwait_spsc_destroy(q);
	}
}

/* Elements of every size, and nothing beside them is written. */
static void check_size(size_t size, uint64_t capacity)
{
	unsigned char in[102], out[102];
	struct ipcwait_spsc *q = make(size, capacity);

	for (unsigned round = 0; round < 40; round++) {
		for (unsigned k = 0; k < 5; k++) {
			memset(in, (int)(round + k), sizeof(in));
			assert_int_equal(ipcwait_spsc_push(q, in), 0);
		}
		for (unsigned k = 0; k < 5; k++) {
			memset(in, (int)(round + k), sizeof(in));
			memset(out, 0xee, sizeof(out));
			assert_int_equal(ipcwait_spsc_trypop(q, out), 0);
			assert_memory_equal(in, out, size);
			assert_int_equal(out[size], 0xee);
		}
	}
	ipcwait_spsc_destroy(q);
}

static void test_sizes(void **state)
{
	(void)state;
	for (size_t size = 1; size <= 100; size++) {
		check_size(size, 0);
		check_size(size, 5);
		check_size(size, 7);
	}
}

static void test_largest(void **state)
{
	struct ipcwait_spsc *q = make(IPCWAIT_SPSC_ELEM_MAX, 0);
	char *elem = calloc(1, IPCWAIT_SPSC_ELEM_MAX);

	(void)state;
	assert_non_null(elem);
	for (int i = 0; i < 40; i++) {
		elem[IPCWAIT_SPSC_ELEM_MAX - 1] = (char)i;
		assert_int_equal(ipcwait_spsc_push(q, elem), 0);
	}
	for (int i = 0; i < 40; i++) {
		assert_int_equal(ipcwait_spsc_pop(q, elem), 0);
		assert_int_equal(elem[IPCWAIT_SPSC_ELEM_MAX - 1], i);
	}
	free(elem);
	ipcwait_spsc_destroy(q);
}

/* A queue without bound grows by rings, and keeps one that it needs no more. */
static void test_unbounded(void **state)
{
	struct ipcwait_spsc *q = make(8, 0);
	uint64_t in = 0, out = 0;

	(void)state;
	for (unsigned round = 0; round < 4; round++) {
		for (unsigned i = 0; i < 100000; i++)
			assert_int_equal(push(q, in++), 0);
		check_length(q, in - out);
		for (unsigned i = 0; i < 70000; i++)
			check_pop(q, out++);
	}
	while (out != in)
		check_pop(q, out++);
	assert_in_range(ipcwait_spsc_trim(q), 8, 100000);
	assert_int_equal(ipcwait_spsc_trim(q), 0);
	assert_int_equal(push(q, in), 0);
	check_pop(q, in);
	ipcwait_spsc_destroy(q);
}

static void test_trim_of_bounded(void **state)
{
	struct ipcwait_spsc *q = make(8, 10);

	(void)state;
	assert_int_equal(ipcwait_spsc_trim(q), 0);
	ipcwait_spsc_destroy(q);
}

/* In pieces of all lengths, across the ends of rings. */
static void check_bulk(uint64_t capacity, uint64_t most)
{
	struct ipcwait_spsc *q = make(8, capacity);
	uint64_t in = 0, out = 0, buffer[300];
	int64_t r;

	assert_int_equal(ipcwait_spsc_pop_n(q, buffer, 3), -EAGAIN);
	assert_int_equal(ipcwait_spsc_pop_n(q, buffer, 0), 0);
	assert_int_equal(ipcwait_spsc_push_n(q, buffer, 0), 0);
	for (unsigned round = 1; round < 2000; round++) {
		for (uint64_t i = 0; i < 300; i++)
			buffer[i] = in + i;
		r = ipcwait_spsc_push_n(q, buffer, round * 7 % 300 + 1);
		if (in - out == most)
			assert_int_equal(r, -EAGAIN);
		else if (round * 7 % 300 + 1 > most - (in - out))
			assert_int_equal(r, most - (in - out));
		else
			assert_int_equal(r, round * 7 % 300 + 1);
		in += r > 0 ? (uint64_t)r : 0;
		r = ipcwait_spsc_pop_n(q, buffer, round * 5 % 300 + 1);
		assert_in_range(r, 1, round * 5 % 300 + 1);
		for (int64_t i = 0; i < r; i++)
			assert_int_equal(buffer[i], out++);
	}
	check_length(q, in - out);
	ipcwait_spsc_destroy(q);
}

static void test_bulk(void **state)
{
	(void)state;
	check_bulk(1, 1);
	check_bulk(100, 100);
	check_bulk(128, 128);
	check_bulk(0, UINT64_MAX);
}

static void test_reserve_across_the_end(void **state)
{
	struct ipcwait_spsc *q = make(8, 6); /* in a ring of eight */
	const uint64_t *first;
	uint64_t *room;
	size_t n;

	(void)state;
	for (uint64_t i = 0; i < 5; i++) {
		assert_int_equal(push(q, i), 0);
		check_pop(q, i);
	}
	n = 100;
	assert_non_null(room = ipcwait_spsc_reserve(q, &n));
	assert_int_equal(n, 3);
	assert_ptr_equal(ipcwait_spsc_reserve(q, &n), room);
	assert_int_equal(ipcwait_spsc_commit(q, 4), -EINVAL);
	check_length(q, 0);
	for (uint64_t i = 0; i < 3; i++)
		room[i] = i;
	assert_int_equal(ipcwait_spsc_commit(q, 3), 0);
	n = 100;
	assert_non_null(room = ipcwait_spsc_reserve(q, &n));
	assert_int_equal(n, 3);
	room[0] = 3;
	assert_int_equal(ipcwait_spsc_commit(q, 1), 0);
	assert_int_equal(ipcwait_spsc_commit(q, 0), 0);
	n = 1;
	assert_non_null(first = ipcwait_spsc_peek(q, &n));
	assert_int_equal(n, 1);
	n = 100;
	assert_ptr_equal(ipcwait_spsc_peek(q, &n), first);
	assert_int_equal(n, 3);
	assert_int_equal(first[2], 2);
	assert_int_equal(ipcwait_spsc_release(q, 4), -EINVAL);
	assert_int_equal(ipcwait_spsc_release(q, 3), 0);
	check_pop(q, 3);
	n = 100;
	assert_null(ipcwait_spsc_peek(q, &n));
	assert_int_equal(n, 0);
	assert_int_equal(ipcwait_spsc_release(q, 1), -EINVAL);
	ipcwait_spsc_destroy(q);
}

static void test_reserve_when_full(void **state)
{
	struct ipcwait_spsc *q = make(8, 2);
	size_t n = 2;

	(void)state;
	assert_non_null(ipcwait_spsc_reserve(q, &n));
	assert_int_equal(ipcwait_spsc_commit(q, 2), 0);
	assert_null(ipcwait_spsc_reserve(q, &n));
	assert_int_equal(n, 0);
	assert_null(ipcwait_spsc_reserve(q, &n));
	assert_int_equal(ipcwait_spsc_commit(q, 1), -EINVAL);
	assert_int_equal(ipcwait_spsc_close(q), 0);
	n = 2;
	assert_non_null(ipcwait_spsc_peek(q, &n));
	assert_int_equal(ipcwait_spsc_release(q, 2), 0);
	n = 2;
	assert_null(ipcwait_spsc_reserve(q, &n));
	ipcwait_spsc_destroy(q);
}

static void test_close(void **state)
{
	struct ipcwait_spsc *q = make(8, 2);
	uint64_t value = 1;
	size_t n = 1;

	(void)state;
	assert_int_equal(push(q, 1), 0);
	assert_non_null(ipcwait_spsc_reserve(q, &n));
	assert_int_equal(ipcwait_spsc_close(q), 0);
	assert_int_equal(ipcwait_spsc_close(q), -EALREADY);
	assert_int_equal(ipcwait_spsc_commit(q, 1), -EPIPE);
	assert_int_equal(push(q, 2), -EPIPE);
	assert_int_equal(ipcwait_spsc_push_n(q, &value, 1), -EPIPE);
	assert_int_equal(ipcwait_spsc_push_until(q, &value, IPCWAIT_FOREVER), -EPIPE);
	assert_int_equal(ipcwait_spsc_pop(q, &value), 0);
	assert_int_equal(value, 1);
	assert_int_equal(ipcwait_spsc_pop(q, &value), -EPIPE);
	assert_int_equal(ipcwait_spsc_trypop(q, &value), -EPIPE);
	assert_int_equal(ipcwait_spsc_pop_until(q, &value, 0), -EPIPE);
	assert_int_equal(ipcwait_spsc_pop_n(q, &value, 1), -EPIPE);
	assert_null(ipcwait_spsc_peek(q, &n));
	ipcwait_spsc_destroy(q);
}

static void test_deadline(void **state)
{
	struct ipcwait_spsc *q = make(8, 1);
	int64_t until = ipcwait_deadline_in_ns(3000000);
	uint64_t value = 5;

	(void)state;
	errno = 4711;
	assert_int_equal(ipcwait_spsc_pop_until(q, &value, until), -ETIMEDOUT);
	assert_true(ipcwait_now_ns() >= until);
	assert_int_equal(ipcwait_spsc_pop_until(q, &value, INT64_MIN), -ETIMEDOUT);
	assert_int_equal(ipcwait_spsc_push_until(q, &value, 0), 0);
	until = ipcwait_deadline_in_ns(3000000);
	assert_int_equal(ipcwait_spsc_push_until(q, &value, until), -ETIMEDOUT);
	assert_true(ipcwait_now_ns() >= until);
	assert_int_equal(ipcwait_spsc_push_until(q, &value, -1), -ETIMEDOUT);
	assert_int_equal(ipcwait_spsc_pop_until(q, &value, 0), 0);
	assert_int_equal(value, 5);
	assert_int_equal(errno, 4711);
	ipcwait_spsc_destroy(q);
}

struct ended {
	uint64_t next, count;
};

static void end_one(void *elem, void *arg)
{
	struct ended *e = arg;

	assert_int_equal(*(uint64_t *)elem, e->next);
	e->next++;
	e->count++;
}

static void check_end(uint64_t capacity, uint64_t in, uint64_t out)
{
	struct ended e = { .next = out };
	struct ipcwait_spsc_params params = { .elem_size = 8,
					      .capacity = capacity,
					      .elem_fini = end_one,
					      .elem_fini_arg = &e };
	struct ipcwait_spsc *q = ipcwait_spsc_create(&params);

	assert_non_null(q);
	for (uint64_t i = 0; i < in; i++)
		assert_int_equal(push(q, i), 0);
	for (uint64_t i = 0; i < out; i++)
		check_pop(q, i);
	ipcwait_spsc_destroy(q);
	assert_int_equal(e.count, in - out);
}

static void test_destroy_with_elements(void **state)
{
	(void)state;
	check_end(7, 7, 0);
	check_end(7, 7, 3);
	check_end(7, 0, 0);
	check_end(0, 10000, 0);
	check_end(0, 10000, 9000);
	check_end(0, 10000, 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_arguments),
		cmocka_unit_test(test_capacity),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_largest),
		cmocka_unit_test(test_unbounded),
		cmocka_unit_test(test_trim_of_bounded),
		cmocka_unit_test(test_bulk),
		cmocka_unit_test(test_reserve_across_the_end),
		cmocka_unit_test(test_reserve_when_full),
		cmocka_unit_test(test_close),
		cmocka_unit_test(test_deadline),
		cmocka_unit_test(test_destroy_with_elements),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
