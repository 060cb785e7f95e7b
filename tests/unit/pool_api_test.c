/* SPDX-License-Identifier: MIT */
/* <ipcwait/pool.h> by itself: arguments, bounds, what goes back, statistics. */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"

#if IPCWAIT_IMPL_POOL_INLINE == 0
#include <sanitizer/asan_interface.h>
#endif

#define SLAB 65536

static struct ipcwait_pool *make(size_t size, uint64_t most, uint32_t magazine)
{
	struct ipcwait_pool_params params = { .elem_size = size,
					      .max_elems = most,
					      .magazine = magazine };
	struct ipcwait_pool *pool = NULL;

	assert_int_equal(ipcwait_pool_create(&params, &pool), 0);
	assert_non_null(pool);
	return pool;
}

static struct ipcwait_pool_stats stats(struct ipcwait_pool *pool)
{
	struct ipcwait_pool_stats st;

	assert_int_equal(ipcwait_pool_stats_get(pool, &st, sizeof(st)), sizeof(st));
	return st;
}

static void test_bad_arguments(void **state)
{
	static const struct ipcwait_pool_params bad[] = {
		{ .elem_size = 0 },
		{ .elem_size = IPCWAIT_POOL_ELEM_MAX + 1 },
		{ .elem_size = SIZE_MAX },
		{ .elem_size = 8, .elem_align = 3 },
		{ .elem_size = 8, .elem_align = 2 * IPCWAIT_POOL_ALIGN_MAX },
		{ .elem_size = 8, .magazine = 65 },
		{ .elem_size = 8, .reserved = { 0, 0, 1 } },
	};
	struct ipcwait_pool_params good = { .elem_size = 8 };
	struct ipcwait_pool *pool = (void *)&good;

	(void)state;
	errno = 4711;
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(ipcwait_pool_create(&bad[i], &pool), -EINVAL);
	assert_int_equal(ipcwait_pool_create(NULL, &pool), -EINVAL);
	assert_int_equal(ipcwait_pool_create(&good, NULL), -EINVAL);
	assert_ptr_equal(pool, &good);
	ipcwait_pool_destroy(NULL);
	assert_int_equal(errno, 4711);
}

static void test_stats_sizes(void **state)
{
	struct ipcwait_pool *pool = make(8, 0, 0);
	struct ipcwait_pool_stats st;

	(void)state;
	assert_int_equal(ipcwait_pool_stats_get(NULL, &st, sizeof(st)), -EINVAL);
	assert_int_equal(ipcwait_pool_stats_get(pool, NULL, sizeof(st)), -EINVAL);
	assert_int_equal(ipcwait_pool_stats_get(pool, &st, 7), -EINVAL);
	memset(&st, 0x5a, sizeof(st));
	assert_int_equal(ipcwait_pool_stats_get(pool, &st, 16), 16);
	assert_int_equal(st.size, 16);
	assert_int_equal(st.used, UINT64_C(0x5a5a5a5a5a5a5a5a));
	assert_int_equal(ipcwait_pool_stats_get(pool, &st, sizeof(st)), sizeof(st));
	ipcwait_pool_destroy(pool);
}

/* Every size and alignment: elements do not overlap, and lie where they should. */
static void check_shape(size_t size, size_t align)
{
	struct ipcwait_pool_params params = { .elem_size = size, .elem_align = align };
	size_t want = align ? align : 16;
	unsigned char *elem[100];
	struct ipcwait_pool *pool;

	assert_int_equal(ipcwait_pool_create(&params, &pool), 0);
	for (unsigned i = 0; i < 100; i++) {
		elem[i] = ipcwait_pool_get(pool);
		assert_non_null(elem[i]);
		assert_int_equal((uintptr_t)elem[i] % want, 0);
		memset(elem[i], (int)i, size);
	}
	for (unsigned i = 0; i < 100; i++) {
		assert_int_equal(elem[i][0], i);
		assert_int_equal(elem[i][size - 1], i);
		assert_int_equal(elem[i][size / 2], i);
		ipcwait_pool_put(pool, elem[i]);
	}
	assert_true(ipcwait_pool_trim(pool) > 0);
	assert_int_equal(stats(pool).bytes, 0);
	assert_int_equal(stats(pool).used, 0);
	ipcwait_pool_destroy(pool);
}

static void test_shapes(void **state)
{
	static const size_t sizes[] = { 1,
					7,
					8,
					9,
					24,
					64,
					1000,
					4096,
					8192,
					32767,
					65536,
					100000,
					IPCWAIT_POOL_ELEM_MAX };

	(void)state;
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		check_shape(sizes[i], 0);
		check_shape(sizes[i], 1);
		check_shape(sizes[i], 64);
		check_shape(sizes[i], IPCWAIT_POOL_ALIGN_MAX);
	}
}

static void test_bound(void **state)
{
	struct ipcwait_pool *pool = make(64, 1000, 7);
	void *elem[1000];

	(void)state;
	for (int round = 0; round < 3; round++) {
		errno = 4711;
		for (unsigned i = 0; i < 1000; i++)
			assert_non_null(elem[i] = ipcwait_pool_get(pool));
		assert_null(ipcwait_pool_get(pool));
		assert_null(ipcwait_pool_get(pool));
		assert_int_equal(errno, 4711);
		assert_int_equal(stats(pool).used, 1000);
		ipcwait_pool_put(pool, elem[0]);
		assert_ptr_equal(ipcwait_pool_get(pool), elem[0]);
		for (unsigned i = 0; i < 1000; i++)
			ipcwait_pool_put(pool, elem[i]);
	}
	(void)ipcwait_pool_trim(pool);
	assert_int_equal(stats(pool).used, 0);
	ipcwait_pool_destroy(pool);
}

/* A magazine of one: every second call visits the depot. */
static void test_smallest_magazine(void **state)
{
	struct ipcwait_pool *pool = make(16, 0, 1);
	void *elem[50];

	(void)state;
	for (unsigned i = 0; i < 50; i++)
		assert_non_null(elem[i] = ipcwait_pool_get(pool));
	for (unsigned i = 0; i < 50; i++)
		ipcwait_pool_put(pool, elem[i]);
	assert_int_equal(stats(pool).cached, 48);
	for (unsigned i = 0; i < 50; i++)
		assert_non_null(elem[i] = ipcwait_pool_get(pool));
	assert_int_equal(stats(pool).cached, 0);
	assert_int_equal(stats(pool).used, 50);
	ipcwait_pool_destroy(pool);
}

/* A magazine is changed for another at the depot once in so many calls, and not more often. */
static void test_exchanges(void **state)
{
	struct ipcwait_pool *pool = make(64, 0, 0);
	static void *elem[6400];

	(void)state;
	for (int round = 0; round < 10; round++) {
		for (unsigned i = 0; i < 6400; i++)
			elem[i] = ipcwait_pool_get(pool);
		for (unsigned i = 0; i < 6400; i++)
			ipcwait_pool_put(pool, elem[i]);
	}
	/* The first 100 magazines come from slabs. */
	assert_int_equal(stats(pool).refills, 100);
	assert_in_range(stats(pool).exchanges, 1800, 2000);
	for (int i = 0; i < 100000; i++)
		ipcwait_pool_put(pool, ipcwait_pool_get(pool));
	assert_in_range(stats(pool).exchanges, 1800, 2001);
	ipcwait_pool_destroy(pool);
}

/* What a burst has left goes back, whole slabs of it. */
static void test_trim_after_a_burst(void **state)
{
	struct ipcwait_pool *pool = make(64, 0, 0);
	enum { BURST = 200000 };
	static void *elem[BURST];
	size_t bytes;

	(void)state;
	for (unsigned i = 0; i < BURST; i++)
		assert_non_null(elem[i] = ipcwait_pool_get(pool));
	bytes = stats(pool).bytes;
	assert_in_range(bytes, 64 * BURST, 2 * 64 * BURST);
	for (unsigned i = 0; i < BURST; i++)
		ipcwait_pool_put(pool, elem[i]);
	assert_int_equal(stats(pool).bytes, bytes);
	assert_int_equal(ipcwait_pool_trim(pool), bytes);
	assert_int_equal(ipcwait_pool_trim(pool), 0);
	assert_int_equal(stats(pool).bytes, 0);
	assert_non_null(ipcwait_pool_get(pool));
	assert_int_equal(stats(pool).bytes, SLAB);
	ipcwait_pool_destroy(pool);
}

#if IPCWAIT_IMPL_POOL_INLINE == 0
/* AddressSanitizer is told what is in the pool. */
static void test_poison(void **state)
{
	struct ipcwait_pool *pool = make(64, 0, 0);
	char *elem = ipcwait_pool_get(pool);

	(void)state;
	assert_int_equal(__asan_address_is_poisoned(elem), 0);
	assert_int_equal(__asan_address_is_poisoned(elem + 63), 0);
	ipcwait_pool_put(pool, elem);
	assert_int_equal(__asan_address_is_poisoned(elem), 1);
	assert_int_equal(__asan_address_is_poisoned(elem + 63), 1);
	assert_ptr_equal(ipcwait_pool_get(pool), elem);
	assert_int_equal(__asan_address_is_poisoned(elem), 0);
	ipcwait_pool_destroy(pool);
}
#endif

/* More pools than a thread has at hand. */
static void test_many_pools(void **state)
{
	struct ipcwait_pool *pool[40];
	void *elem[40];

	(void)state;
	for (int round = 0; round < 3; round++) {
		for (unsigned i = 0; i < 40; i++)
			pool[i] = make(8 + i, 0, 0);
		for (unsigned i = 0; i < 40; i++)
			memset(elem[i] = ipcwait_pool_get(pool[i]), (int)i, 8 + i);
		for (unsigned i = 0; i < 40; i++) {
			assert_int_equal(*(unsigned char *)elem[i], i);
			ipcwait_pool_put(pool[i], elem[i]);
			assert_ptr_equal(ipcwait_pool_get(pool[i]), elem[i]);
			assert_int_equal(stats(pool[i]).threads, 1);
		}
		for (unsigned i = 0; i < 40; i++)
			ipcwait_pool_destroy(pool[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_arguments),
		cmocka_unit_test(test_stats_sizes),
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_bound),
		cmocka_unit_test(test_smallest_magazine),
		cmocka_unit_test(test_exchanges),
		cmocka_unit_test(test_trim_after_a_burst),
		cmocka_unit_test(test_many_pools),
#if IPCWAIT_IMPL_POOL_INLINE == 0
		cmocka_unit_test(test_poison),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
