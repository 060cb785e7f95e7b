/* SPDX-License-Identifier: MIT */
/*
 * The pool on a machine with four nodes, where memory runs out, and where the clock stands until
 * the test moves it: the linker puts the functions below in front of the real ones (-Wl,--wrap).
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/pool_world.h"

#define NODES 4

void *__real_aligned_alloc(size_t align, size_t bytes);
void *__real_iw_pages_get(size_t bytes, size_t align);
uint32_t __wrap_iw_nodes(uint32_t most);
unsigned __wrap_iw_cpu_node(void);
void *__wrap_aligned_alloc(size_t align, size_t bytes);
void *__wrap_iw_pages_get(size_t bytes, size_t align);
int64_t __real_iw_clock_ns(void);
int64_t __wrap_iw_clock_ns(void);

static _Thread_local unsigned node;

/* How many more requests succeed, of each kind. Slabs are aligned, chunks of magazines are not. */
static int chunks = 1000000, aligned = 1000000, pages = 1000000;

uint32_t __wrap_iw_nodes(uint32_t most)
{
	return most < NODES ? most : NODES;
}

unsigned __wrap_iw_cpu_node(void)
{
	return node;
}

/* A little more than TRIM_NS of lib/queue/pool.c. */
#define SECOND_NS INT64_C(1100000000)

/* 0: the clock goes. */
static int64_t clock_stands_at;

int64_t __wrap_iw_clock_ns(void)
{
	return clock_stands_at ? clock_stands_at : __real_iw_clock_ns();
}

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
	bool no = refused(align ? &pages : &chunks);

	errno = saved_errno;
	return no ? NULL : __real_iw_pages_get(bytes, align);
}

#define ELEMS 64

static void *elem[ELEMS];

static void get_all(void)
{
	for (unsigned i = 0; i < ELEMS; i++)
		assert_non_null(elem[i] = ipcwait_pool_get(pool));
}

static void put_all(void)
{
	for (unsigned i = 0; i < ELEMS; i++)
		ipcwait_pool_put(pool, elem[i]);
}

/* What is put on one node is found on another before the slabs are asked. */
static void test_nodes(void **state)
{
	uint64_t refills;

	(void)state;
	assert_int_equal(pool_begin(0, 4), 0);
	node = 0;
	get_all();
	refills = pool_stats().refills;
	for (unsigned round = 1; round < 3 * NODES; round++) {
		put_all();
		assert_int_equal(pool_stats().cached, ELEMS - 8);
		node = round % (NODES + 1);
		get_all();
	}
	assert_int_equal(pool_stats().refills, refills);
	assert_int_equal(pool_stats().cached, 0);
	put_all();
	pool_end();
}

static void test_create_without_memory(void **state)
{
	(void)state;
	errno = 4711;
	aligned = 0;
	assert_int_equal(pool_begin(0, 0), -ENOMEM);
	assert_int_equal(errno, 4711);
	aligned = 1000000;
}

/* A thread that can have no magazines gets what slabs and depots have. */
static void without_a_cache(int *resource)
{
	errno = 4711;
	assert_int_equal(pool_begin(ELEMS, 4), 0);
	*resource = 0;
	get_all();
	assert_null(ipcwait_pool_get(pool));
	assert_int_equal(pool_stats().threads, 0);
	assert_int_equal(pool_stats().used, ELEMS);
	put_all();
	assert_int_equal(pool_stats().used, 0);
	*resource = 1000000;
	get_all();
	put_all();
	assert_int_equal(pool_stats().threads, 1);
	assert_int_equal(errno, 4711);
	pool_end();
}

static void test_no_cache(void **state)
{
	(void)state;
	without_a_cache(&aligned);
	without_a_cache(&chunks);
}

static void *get_all_bare(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < ELEMS; i++)
		CHECK((elem[i] = ipcwait_pool_get(pool)) != NULL);
	CHECK(ipcwait_pool_get(pool) == NULL);
	CHECK_EQ(pool_stats().threads, 1);
	return NULL;
}

/* The slabs may give no more, and depots have some: also a thread without magazines finds them. */
static void test_depots_for_those_without(void **state)
{
	pthread_t thread;

	(void)state;
	assert_int_equal(pool_begin(ELEMS + 8, 4), 0);
	get_all();
	put_all();
	get_all();
	put_all();
	aligned = 0;
	CHECK_EQ(pthread_create(&thread, NULL, get_all_bare, NULL), 0);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	aligned = 1000000;
	put_all();
	pool_end();
}

/* No more magazines: the one in hand is emptied into the slabs. */
static void test_no_magazine(void **state)
{
	(void)state;
	assert_int_equal(pool_begin(0, 2), 0);
	get_all();
	/* The first chunk has sixteen, of which two are in hand; for all it takes thirty. */
	chunks = 0;
	put_all();
	chunks = 1000000;
	assert_int_equal(pool_stats().cached, 14 * 2);
	assert_in_range(pool_stats().used, 2, 4);
	get_all();
	put_all();
	pool_end();
}

/* The system has no more: what there is can be had, and more as soon as there is. */
static void test_no_pages(void **state)
{
	static void *many[5000];
	unsigned n = 0;

	(void)state;
	errno = 4711;
	assert_int_equal(pool_begin(0, 0), 0);
	pages = 3;
	while (n < 5000 && (many[n] = ipcwait_pool_get(pool)))
		n++;
	assert_in_range(n, 3 * (65536 / 64 - 2), 3 * 65536 / 64);
	assert_null(ipcwait_pool_get(pool));
	ipcwait_pool_put(pool, many[--n]);
	assert_non_null(many[n++] = ipcwait_pool_get(pool));
	pages = 1000000;
	assert_non_null(many[n++] = ipcwait_pool_get(pool));
	while (n)
		ipcwait_pool_put(pool, many[--n]);
	assert_int_equal(errno, 4711);
	pool_end();
}

static void turn_over(void **burst, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		CHECK((burst[i] = ipcwait_pool_get(pool)) != NULL);
	for (unsigned i = 0; i < n; i++)
		ipcwait_pool_put(pool, burst[i]);
}

/* What was owed, and has been taken after all, is not given back. */
static void test_debt_is_forgiven(void **state)
{
	enum { BURST = 20000 };
	static void *burst[BURST];
	uint64_t trimmed;

	(void)state;
	node = 0;
	clock_stands_at = __real_iw_clock_ns();
	assert_int_equal(pool_begin(0, 0), 0);
	turn_over(burst, BURST);
	turn_over(burst, BURST);
	/* In the first second the depot was empty once, in the next not: nearly all is owed. */
	for (int second = 0; second < 2; second++) {
		clock_stands_at += SECOND_NS;
		turn_over(burst, 200);
		turn_over(burst, 200);
	}
	/* Then it is needed again. */
	for (unsigned i = 0; i < BURST; i++)
		burst[i] = ipcwait_pool_get(pool);
	trimmed = pool_stats().trimmed;
	for (unsigned i = 0; i < BURST; i++)
		ipcwait_pool_put(pool, burst[i]);
	for (int round = 0; round < 20; round++)
		turn_over(burst, 2000);
	assert_int_equal(pool_stats().trimmed, trimmed);
	clock_stands_at = 0;
	pool_end();
}

enum { LARGE_BURST = 200000 };
static void *large_burst[LARGE_BURST];

/* What nobody has needed for a second goes back as the depot is visited. */
static void await_trim(void)
{
	unsigned visits = 0;

	while (pool_stats().bytes > 262144) {
		if (visits++ % 1000 == 0)
			clock_stands_at += SECOND_NS;
		turn_over(large_burst, 200);
		assert_true(visits < LARGE_BURST);
	}
	print_message("%u visits\n", visits);
	assert_in_range(pool_stats().trimmed, LARGE_BURST / 2, 2 * LARGE_BURST);
}

/* Without being asked. */
static void test_working_set(void **state)
{
	(void)state;
	node = 0;
	clock_stands_at = __real_iw_clock_ns();
	assert_int_equal(pool_begin(0, 0), 0);
	turn_over(large_burst, LARGE_BURST);
	assert_true(pool_stats().bytes > 1000000);
	for (int i = 0; i < 1000; i++)
		turn_over(large_burst, 200);
	assert_int_equal(pool_stats().trimmed, 0);
	await_trim();
	clock_stands_at = 0;
	pool_end();
}

/* As in a child in a time namespace whose clocks are an hour behind: it does not wait that long. */
static void test_a_clock_that_is_behind(void **state)
{
	(void)state;
	node = 0;
	clock_stands_at = __real_iw_clock_ns() + 3600 * SECOND_NS;
	assert_int_equal(pool_begin(0, 0), 0);
	turn_over(large_burst, LARGE_BURST);
	turn_over(large_burst, 200);
	clock_stands_at -= 3600 * SECOND_NS;
	await_trim();
	clock_stands_at = 0;
	pool_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nodes),
		cmocka_unit_test(test_create_without_memory),
		cmocka_unit_test(test_no_cache),
		cmocka_unit_test(test_depots_for_those_without),
		cmocka_unit_test(test_no_magazine),
		cmocka_unit_test(test_no_pages),
		cmocka_unit_test(test_debt_is_forgiven),
		cmocka_unit_test(test_working_set),
		cmocka_unit_test(test_a_clock_that_is_behind),
	};

	check_watchdog(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
