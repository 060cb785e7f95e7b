/* SPDX-License-Identifier: MIT */
/* <ipcwait/queue.h> by itself: arguments, every result of every call, order, statistics. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ipcwait/ipcwait.h>

#include "common/check.h"
#include "common/cmocka_all.h"

/* More than a few segments. */
#define MANY 5000

static struct ipcwait_queue *make(size_t size, unsigned flags, uint64_t most)
{
	struct ipcwait_queue_params params = { .elem_size = size,
					       .flags = flags,
					       .max_elems = most };
	struct ipcwait_queue *q;

	assert_int_equal(ipcwait_queue_params_check(&params), 0);
	q = ipcwait_queue_create(&params);
	assert_non_null(q);
	return q;
}

/* While nobody else uses it, it is known exactly. */
static void has(struct ipcwait_queue *q, uint64_t n)
{
	uint64_t lo = 4711, hi = 4711;

	assert_int_equal(ipcwait_queue_length(q, &lo, &hi), 0);
	assert_int_equal(lo, n);
	assert_int_equal(hi, n);
}

static int64_t soon_ns(int64_t ns)
{
	struct timespec now;

	assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &now), 0);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec + ns;
}

static void test_bad_parameters(void **state)
{
	static const struct ipcwait_queue_params bad[] = {
		{ .elem_size = 0 },
		{ .elem_size = IPCWAIT_QUEUE_ELEM_MAX + 1 },
		{ .elem_size = SIZE_MAX },
		{ .elem_size = 8, .flags = 2 },
		{ .elem_size = 8, .flags = 8 },
		{ .elem_size = 8, .flags = 1u << 31 },
		{ .elem_size = 8, .reserved = { 1 } },
		{ .elem_size = 8, .reserved = { 0, 0, 1 } },
	};

	(void)state;
	errno = 4711;
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(ipcwait_queue_params_check(&bad[i]), -EINVAL);
		assert_null(ipcwait_queue_create(&bad[i]));
	}
	assert_int_equal(ipcwait_queue_params_check(NULL), -EINVAL);
	assert_null(ipcwait_queue_create(NULL));
	ipcwait_queue_destroy(NULL);
	assert_int_equal(errno, 4711);
}

static void test_bad_arguments(void **state)
{
	struct ipcwait_queue *q = make(8, 0, 0);
	struct ipcwait_queue_stats st;
	uint64_t n = 4711;

	(void)state;
	assert_int_equal(ipcwait_queue_length(q, NULL, &n), -EINVAL);
	assert_int_equal(ipcwait_queue_length(q, &n, NULL), -EINVAL);
	assert_int_equal(n, 4711);
	assert_int_equal(ipcwait_queue_stats_get(NULL, &st, sizeof(st)), -EINVAL);
	assert_int_equal(ipcwait_queue_stats_get(q, NULL, sizeof(st)), -EINVAL);
	assert_int_equal(ipcwait_queue_stats_get(q, &st, 7), -EINVAL);
	memset(&st, 0x5a, sizeof(st));
	assert_int_equal(ipcwait_queue_stats_get(q, &st, 16), 16);
	assert_int_equal(st.size, 16);
	assert_int_equal(st.segments, UINT64_C(0x5a5a5a5a5a5a5a5a));
	assert_int_equal(ipcwait_queue_push_n(q, NULL, 0), 0);
	assert_int_equal(ipcwait_queue_pop_n(q, NULL, 0), 0);
	assert_int_equal(ipcwait_queue_pop_n_until(q, NULL, 0, IPCWAIT_FOREVER), 0);
	ipcwait_queue_destroy(q);
}

/* Element @i of @size bytes: all of it depends on i. */
static void fill(unsigned char *elem, size_t size, unsigned i)
{
	for (size_t k = 0; k < size; k++)
		elem[k] = (unsigned char)(i * 31 + k * 7 + (i >> 8));
}

static void is_elem(const unsigned char *elem, size_t size, unsigned i)
{
	for (size_t k = 0; k < size; k++)
		assert_int_equal(elem[k], (unsigned char)(i * 31 + k * 7 + (i >> 8)));
}

/* Over the edges of segments, and what lies behind an element is left alone. */
static void check_size(size_t size, unsigned flags, unsigned n)
{
	struct ipcwait_queue *q = make(size, flags, 0);
	unsigned char *elem = malloc(size + 1);

	assert_non_null(elem);
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < n; i++) {
			fill(elem, size, i);
			assert_int_equal(ipcwait_queue_push(q, elem), 0);
		}
		has(q, n);
		for (unsigned i = 0; i < n; i++) {
			elem[size] = 0xa5;
			assert_int_equal(ipcwait_queue_trypop(q, elem), 0);
			is_elem(elem, size, i);
			assert_int_equal(elem[size], 0xa5);
		}
		memset(elem, 0xa5, size);
		assert_int_equal(ipcwait_queue_trypop(q, elem), -EAGAIN);
		assert_int_equal(elem[0], 0xa5);
		assert_int_equal(elem[size - 1], 0xa5);
		has(q, 0);
	}
	free(elem);
	ipcwait_queue_destroy(q);
}

static void test_sizes(void **state)
{
	(void)state;
	for (size_t size = 1; size <= 40; size++) {
		check_size(size, 0, 1500);
		check_size(size, IPCWAIT_QUEUE_ONE_CONSUMER, 300);
	}
	check_size(4096, 0, 50);
	check_size(4097, IPCWAIT_QUEUE_ONE_CONSUMER, 50);
	check_size(IPCWAIT_QUEUE_ELEM_MAX, 0, 50);
}

/* Bytes that mean something in a word of another shape. */
static void test_any_value(void **state)
{
	static const uint64_t values[] = { 0, 1, UINT64_MAX, UINT64_C(1) << 56, 0 };

	(void)state;
	for (size_t size = 1; size <= 8; size++) {
		struct ipcwait_queue *q = make(size, 0, 0);

		for (unsigned i = 0; i < 5; i++) {
			uint64_t got = 0;

			assert_int_equal(ipcwait_queue_push(q, &values[i]), 0);
			assert_int_equal(ipcwait_queue_pop(q, &got), 0);
			assert_memory_equal(&got, &values[i], size);
		}
		ipcwait_queue_destroy(q);
	}
}

/* @n at once, and then as many of the others. */
static void check_several(struct ipcwait_queue *q, size_t n, size_t by)
{
	static uint32_t in[MANY], out[MANY + 1];
	size_t done = 0;

	for (unsigned i = 0; i < n; i++)
		in[i] = i ^ 0x5a5a;
	assert_int_equal(ipcwait_queue_push_n(q, in, n), n);
	has(q, n);
	memset(out, 0, sizeof(out));
	while (done < n) {
		int64_t r = ipcwait_queue_pop_n(q, out + done, by);

		assert_int_equal(r, by < n - done ? by : n - done);
		done += (size_t)r;
	}
	assert_memory_equal(in, out, n * sizeof(in[0]));
	assert_int_equal(out[n], 0);
	assert_int_equal(ipcwait_queue_pop_n(q, out, by), by ? -EAGAIN : 0);
	has(q, 0);
}

static void test_several(void **state)
{
	static const size_t sizes[] = { 0, 1, 2, 79, 80, 81, 976, 1000, MANY };

	(void)state;
	for (unsigned one = 0; one < 2; one++) {
		struct ipcwait_queue *q = make(4, one ? IPCWAIT_QUEUE_ONE_CONSUMER : 0, 0);

		for (unsigned i = 0; i < 9; i++)
			for (unsigned k = 1; k < 9; k++)
				check_several(q, sizes[i], sizes[k]);
		ipcwait_queue_destroy(q);
	}
}

static void test_bound(void **state)
{
	struct ipcwait_queue *q = make(4, 0, 1000);
	static uint32_t elems[MANY];

	(void)state;
	for (unsigned round = 0; round < 5; round++) {
		assert_int_equal(ipcwait_queue_push_n(q, elems, 999), 999);
		assert_int_equal(ipcwait_queue_push_n(q, elems, MANY), 1);
		assert_int_equal(ipcwait_queue_push_n(q, elems, 1), -EAGAIN);
		assert_int_equal(ipcwait_queue_push(q, elems), -EAGAIN);
		has(q, 1000);
		assert_int_equal(ipcwait_queue_trypop(q, elems), 0);
		assert_int_equal(ipcwait_queue_push(q, elems), 0);
		assert_int_equal(ipcwait_queue_push(q, elems), -EAGAIN);
		assert_int_equal(ipcwait_queue_pop_n(q, elems, MANY), 1000);
	}
	ipcwait_queue_destroy(q);
}

/* Closed with @n in it: they come out, and then the end. */
static void check_close(unsigned n, unsigned flags)
{
	struct ipcwait_queue *q = make(4, flags, 0);
	uint32_t i, elem = 4711;

	errno = 4711;
	for (i = 0; i < n; i++)
		assert_int_equal(ipcwait_queue_push(q, &i), 0);
	assert_int_equal(ipcwait_queue_close(q), 0);
	assert_int_equal(ipcwait_queue_close(q), -EALREADY);
	assert_int_equal(ipcwait_queue_push(q, &i), -EPIPE);
	assert_int_equal(ipcwait_queue_push_n(q, &i, 1), -EPIPE);
	assert_int_equal(ipcwait_queue_push_n(q, &i, 0), 0);
	has(q, n);
	for (i = 0; i < n; i++) {
		assert_int_equal(i % 2 ? ipcwait_queue_pop(q, &elem)
				       : ipcwait_queue_trypop(q, &elem),
				 0);
		assert_int_equal(elem, i);
	}
	elem = 4711;
	assert_int_equal(ipcwait_queue_trypop(q, &elem), -EPIPE);
	assert_int_equal(ipcwait_queue_pop(q, &elem), -EPIPE);
	assert_int_equal(ipcwait_queue_pop_until(q, &elem, 0), -EPIPE);
	assert_int_equal(ipcwait_queue_pop_n(q, &elem, 1), -EPIPE);
	assert_int_equal(ipcwait_queue_pop_n_until(q, &elem, 1, IPCWAIT_FOREVER), -EPIPE);
	assert_int_equal(ipcwait_queue_pop_n(q, &elem, 0), 0);
	assert_int_equal(ipcwait_queue_close(q), -EALREADY);
	assert_int_equal(elem, 4711);
	has(q, 0);
	assert_int_equal(errno, 4711);
	ipcwait_queue_destroy(q);
}

static void test_close(void **state)
{
	static const unsigned sizes[] = { 0, 1, 79, 80, 81, 1056, 1057, MANY };

	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		check_close(sizes[i], 0);
		check_close(sizes[i], IPCWAIT_QUEUE_ONE_CONSUMER);
	}
}

/* An element that is there is taken whatever the deadline; else it is kept. */
static void test_deadlines(void **state)
{
	struct ipcwait_queue *q = make(4, 0, 0);
	uint32_t elem = 7, got[2] = { 4711, 4711 };
	int64_t deadline;

	(void)state;
	errno = 4711;
	for (unsigned i = 0; i < 3; i++) {
		int64_t past = i == 0 ? 0 : i == 1 ? 1 : soon_ns(-1);

		assert_int_equal(ipcwait_queue_pop_until(q, got, past), -ETIMEDOUT);
		assert_int_equal(ipcwait_queue_pop_n_until(q, got, 2, past), -ETIMEDOUT);
		assert_int_equal(ipcwait_queue_pop_n_until(q, got, 0, past), 0);
		assert_int_equal(ipcwait_queue_push(q, &elem), 0);
		assert_int_equal(ipcwait_queue_pop_until(q, got, past), 0);
		assert_int_equal(got[0], 7);
		assert_int_equal(ipcwait_queue_push(q, &elem), 0);
		assert_int_equal(ipcwait_queue_pop_n_until(q, got, 2, past), 1);
	}
	got[0] = 4711;
	deadline = soon_ns(3000000);
	assert_int_equal(ipcwait_queue_pop_until(q, got, deadline), -ETIMEDOUT);
	assert_true(soon_ns(0) >= deadline);
	deadline = soon_ns(3000000);
	assert_int_equal(ipcwait_queue_pop_n_until(q, got, 2, deadline), -ETIMEDOUT);
	assert_true(soon_ns(0) >= deadline);
	assert_int_equal(got[0], 4711);
	assert_int_equal(got[1], 4711);
	has(q, 0);
	assert_int_equal(errno, 4711);
	ipcwait_queue_destroy(q);
}

/* What is left comes oldest first, whole, and where its size lets one expect. */
struct left {
	size_t size;
	unsigned next;
};

static void fini(void *elem, void *arg)
{
	struct left *left = arg;

	assert_int_equal((uintptr_t)elem % (left->size < 16 ? 8 : 16), 0);
	is_elem(elem, left->size, left->next++);
}

static void check_left(size_t size, unsigned flags, unsigned n, unsigned taken, bool close)
{
	struct left left = { .size = size, .next = taken };
	struct ipcwait_queue_params params = {
		.elem_size = size, .flags = flags, .elem_fini = fini, .elem_fini_arg = &left
	};
	struct ipcwait_queue *q = ipcwait_queue_create(&params);
	unsigned char *elem = malloc(size);

	assert_non_null(q);
	assert_non_null(elem);
	for (unsigned i = 0; i < n; i++) {
		fill(elem, size, i);
		assert_int_equal(ipcwait_queue_push(q, elem), 0);
	}
	for (unsigned i = 0; i < taken; i++)
		assert_int_equal(ipcwait_queue_trypop(q, elem), 0);
	if (close)
		assert_int_equal(ipcwait_queue_close(q), 0);
	ipcwait_queue_destroy(q);
	assert_int_equal(left.next, n);
	free(elem);
}

static void test_left_at_the_end(void **state)
{
	static const size_t sizes[] = { 1, 3, 7, 8, 9, 15, 16, 17, 100, 4096 };

	(void)state;
	for (unsigned i = 0; i < 10; i++) {
		check_left(sizes[i], 0, 0, 0, false);
		check_left(sizes[i], 0, 3, 3, false);
		check_left(sizes[i], 0, 200, 130, true);
		check_left(sizes[i], IPCWAIT_QUEUE_ONE_CONSUMER, 1500, 1, false);
	}
	check_left(8, 0, 1500, 100, true);
}

static void test_statistics(void **state)
{
	struct ipcwait_queue *q = make(8, 0, 0);
	struct ipcwait_queue_stats before, after;
	uint64_t elem = 1;

	(void)state;
	assert_int_equal(ipcwait_queue_stats_get(q, &before, sizeof(before) + 100),
			 sizeof(before));
	assert_int_equal(before.size, sizeof(before));
	assert_int_equal(before.segments, 0);
	assert_int_equal(before.spoiled, 0);
	assert_in_range(before.bytes, 1, 2048);
	for (unsigned i = 0; i < MANY; i++)
		assert_int_equal(ipcwait_queue_push(q, &elem), 0);
	assert_int_equal(ipcwait_queue_stats_get(q, &after, sizeof(after)), sizeof(after));
	assert_in_range(after.bytes, MANY * 9, MANY * 9 * 5 / 4);
	assert_int_equal(after.segments, 0);
	while (!ipcwait_queue_trypop(q, &elem))
		continue;
	assert_int_equal(ipcwait_queue_stats_get(q, &after, sizeof(after)), sizeof(after));
	assert_in_range(after.segments, MANY * 9 / 8192, MANY * 9 / 8192 + 2);
	assert_in_range(after.bytes, 1, 8192);
	assert_int_equal(after.spoiled, 0);
	(void)ipcwait_queue_trim(q);
	assert_int_equal(ipcwait_queue_stats_get(q, &after, sizeof(after)), sizeof(after));
	assert_int_equal(after.limbo_bytes, 0);
	ipcwait_queue_destroy(q);
}

static void *push_later(void *arg)
{
	struct ipcwait_sem never = IPCWAIT_SEM_INIT(0);
	int elem = 7;

	CHECK_EQ(ipcwait_sem_wait_until(&never, ipcwait_deadline_in_ns(2000000)),
		 -ETIMEDOUT);
	CHECK_EQ(ipcwait_queue_push(arg, &elem), 0);
	return NULL;
}

/* Of several objects: nothing is taken. */
static void test_wait_any(void **state)
{
	const struct ipcwait_queue_params params = { .elem_size = sizeof(int) };
	struct ipcwait_queue *q = ipcwait_queue_create(&params);
	struct ipcwait_sem sem = IPCWAIT_SEM_INIT(0);
	uint64_t zeroes[4] = { 0 };
	struct ipcwait_waitable set[] = {
		{ .type = IPCWAIT_WAITABLE_SEM, .object = &sem },
		{ .type = IPCWAIT_WAITABLE_QUEUE, .object = q },
	};
	struct ipcwait_waitable wrong[] = {
		{ .type = IPCWAIT_WAITABLE_QUEUE, .object = zeroes },
		{ .type = IPCWAIT_WAITABLE_CHANNEL, .object = q },
	};
	pthread_t thread;
	int elem = 0;

	(void)state;
	assert_int_equal(ipcwait_wait_any(set, 2, 0, NULL), -ETIMEDOUT);
	for (int i = 0; i < 20; i++) {
		CHECK_EQ(pthread_create(&thread, NULL, push_later, q), 0);
		assert_int_equal(ipcwait_wait_any(set, 2, IPCWAIT_FOREVER, NULL), 1);
		assert_int_equal(ipcwait_wait_any(set, 2, 0, NULL), 1);
		assert_int_equal(ipcwait_queue_trypop(q, &elem), 0);
		assert_int_equal(elem, 7);
		CHECK_EQ(pthread_join(thread, NULL), 0);
	}
	assert_int_equal(ipcwait_wait_any(set, 2, 0, NULL), -ETIMEDOUT);
	assert_int_equal(ipcwait_queue_close(q), 0);
	assert_int_equal(ipcwait_wait_any(set, 2, 0, NULL), 1);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(ipcwait_wait_any(&wrong[i], 1, 0, NULL), -EINVAL);
	ipcwait_queue_destroy(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_parameters),
		cmocka_unit_test(test_bad_arguments),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_any_value),
		cmocka_unit_test(test_several),
		cmocka_unit_test(test_bound),
		cmocka_unit_test(test_close),
		cmocka_unit_test(test_deadlines),
		cmocka_unit_test(test_left_at_the_end),
		cmocka_unit_test(test_wait_any),
		cmocka_unit_test(test_statistics),
	};

	check_watchdog(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
