/* SPDX-License-Identifier: MIT */
/* Counters of single objects: who has some, what a thread puts off, ipcwait_object_stats_get(). */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "os/pages.h"
#include "watch/objects.h"
#include "watch/observe.h"

static const struct iw_facts all = { .config = { .explain = true } }, some;

static void wait_on(const struct iw_facts *facts, struct ipcwait_window *w, uintptr_t site,
		    int times)
{
	const struct iw_outcome o = {
		.window = w, .site = site, .kind = IPCWAIT_KIND_SEM, .spun_useful_ns = 100
	};

	for (int i = 0; i < times; i++)
		iw_observe(facts, &o);
}

static uint64_t waits_at(struct iw_objects *t, uintptr_t address)
{
	const struct iw_object *o = iw_object_find(t, address);

	return o ? o->counts[IW_OBJECT_WAITS].v : 0;
}

static struct ipcwait_object_stats stats_of(const struct ipcwait_window *w)
{
	struct ipcwait_object_stats st;

	assert_int_equal(ipcwait_object_stats_get(w, &st, sizeof(st)), sizeof(st));
	assert_int_equal(st.size, sizeof(st));
	return st;
}

/* At most one in 32 is not told of, at most 255 in all, and none of the first 32. */
static void test_put_off(void **state)
{
	struct ipcwait_window w = { 0 };

	(void)state;
	for (unsigned n = 1; n <= 20000; n++) {
		uint64_t told;

		wait_on(&all, &w, 0x1000, 1);
		told = waits_at(&iw_objects, (uintptr_t)&w);
		assert_true(told <= n && n - told <= (n < 32 ? 0 : n / 32));
		assert_true(n - told < 256);
		assert_int_equal(told, waits_at(&iw_call_sites, 0x1000));
	}
	iw_observe_all_told();
	assert_int_equal(waits_at(&iw_objects, (uintptr_t)&w), 20000);
	assert_int_equal(waits_at(&iw_call_sites, 0x1000), 20000);
	assert_int_equal(stats_of(&w).spun_useful_ns, 2000000);
	assert_int_equal(stats_of(&w).reasons[IPCWAIT_REASON_NONE], 20000);
}

/* However many objects and call sites take turns, none of their waits is lost or another's. */
static void test_many_in_turn(void **state)
{
	static struct ipcwait_window w[24];

	(void)state;
	for (int round = 0; round < 300; round++)
		for (int i = 0; i < 24; i++)
			wait_on(&all, &w[i], 0x2000 + (uintptr_t)(i % 5), 1 + i % 3);
	for (int i = 0; i < 24; i++)
		assert_int_equal(stats_of(&w[i]).waits, 300 * (1 + i % 3));
	for (int i = 0; i < 5; i++) {
		uint64_t want = 0;

		for (int k = i; k < 24; k += 5)
			want += 300 * (1 + (uint64_t)k % 3);
		assert_int_equal(waits_at(&iw_call_sites, 0x2000 + (uintptr_t)i), want);
	}
}

/* The memory of an object may be gone by the time that its waits are told of. */
static void test_gone(void **state)
{
	struct ipcwait_window *w = iw_pages_get(4096, 4096), other = { 0 };
	uint64_t at = (uintptr_t)w;

	(void)state;
	wait_on(&all, w, 0x3000, 100);
	iw_pages_put(w, 4096);
	iw_observe_all_told();
	assert_int_equal(waits_at(&iw_objects, at), 100);
	wait_on(&all, &other, 0x3000, 1);
	assert_int_equal(waits_at(&iw_call_sites, 0x3000), 101);
}

static void test_slow_waits(void **state)
{
	struct ipcwait_window w = { .bins = { 0x1234 } };
	const struct iw_object *o;

	(void)state;
	wait_on(&all, &w, 0, 40);
	for (unsigned r = IW_NO_REASON + 1; r < IW_REASONS; r++)
		iw_observe(&all, &(struct iw_outcome){ .window = &w,
						       .kind = IPCWAIT_KIND_SEM,
						       .reason = (enum iw_reason)r,
						       .result = r % 2 ? -ETIMEDOUT : 0,
						       .spun_wasted_ns = 10,
						       .slept_ns = 1000,
						       .window_ns = 4200 });
	assert_int_equal(stats_of(&w).waits, 40 + IW_REASONS - 1);
	assert_int_equal(stats_of(&w).gave_up, IW_REASONS / 2);
	assert_int_equal(stats_of(&w).spun_wasted_ns, 10 * (IW_REASONS - 1));
	assert_int_equal(stats_of(&w).slept_ns, 1000 * (IW_REASONS - 1));
	assert_int_equal(stats_of(&w).window_ns, 4200);
	for (unsigned r = IW_NO_REASON + 1; r < IW_REASONS; r++)
		assert_int_equal(stats_of(&w).reasons[r], 1);
	o = iw_object_find(&iw_objects, (uintptr_t)&w);
	assert_int_equal(o->bins.v, 0x1234);
	assert_int_equal(o->kind.v, IPCWAIT_KIND_SEM + 1);
}

/* Without IPCWAIT_EXPLAIN and without a page only those with a name are counted, from then on. */
static void test_named(void **state)
{
	struct ipcwait_window w = { 0 }, nameless = { 0 };
	struct ipcwait_object_stats st;

	(void)state;
	errno = 4711;
	assert_int_equal(ipcwait_object_stats_get(&w, &st, sizeof(st)), -ENOENT);
	assert_int_equal(ipcwait_object_set_name(&w, "jobs"), 0);
	assert_true(iw_is_observed(&some));
	assert_int_equal(stats_of(&w).waits, 0);
	wait_on(&some, &w, 0x4000, 300);
	wait_on(&some, &nameless, 0x4001, 300);
	assert_int_equal(stats_of(&w).waits, 300);
	assert_int_equal(ipcwait_object_stats_get(&nameless, &st, sizeof(st)), -ENOENT);
	assert_int_equal(waits_at(&iw_call_sites, 0x4000), 300);
	assert_int_equal(waits_at(&iw_call_sites, 0x4001), 0);
	assert_int_equal(errno, 4711);
}

static void test_real_waits(void **state)
{
	struct ipcwait_sem s;

	(void)state;
	assert_int_equal(ipcwait_sem_init(&s, 0, 0), 0);
	assert_int_equal(ipcwait_object_set_name(&s.window, "real"), 0);
	/* A wait that begins after its deadline is none, and not counted. */
	while (stats_of(&s.window).waits < 3)
		assert_int_equal(
			ipcwait_sem_wait_until(&s, ipcwait_deadline_in_ns(50000000)),
			-ETIMEDOUT);
	assert_int_equal(stats_of(&s.window).waits, 3);
	assert_int_equal(stats_of(&s.window).gave_up, 3);
	assert_int_equal(ipcwait_object_set_name(&s.window, ""), 0);
}

static void test_arguments(void **state)
{
	_Alignas(8) char bytes[32] = { 0 };
	struct ipcwait_window w = { 0 };
	struct ipcwait_object_stats st;
	const size_t least = offsetof(struct ipcwait_object_stats, reasons);

	(void)state;
	assert_int_equal(ipcwait_object_set_name(&w, "w"), 0);
	assert_int_equal(ipcwait_object_stats_get(NULL, &st, sizeof(st)), -EINVAL);
	assert_int_equal(ipcwait_object_stats_get((void *)(bytes + 4), &st, sizeof(st)),
			 -EINVAL);
	assert_int_equal(ipcwait_object_stats_get(&w, NULL, sizeof(st)), -EINVAL);
	assert_int_equal(ipcwait_object_stats_get(&w, &st, least - 1), -EINVAL);
	memset(&st, 0x5a, sizeof(st));
	assert_int_equal(ipcwait_object_stats_get(&w, &st, least), least);
	assert_int_equal(st.size, least);
	assert_int_equal(st.waits, 0);
	assert_int_equal(st.reasons[0], UINT64_C(0x5a5a5a5a5a5a5a5a));
	assert_int_equal(ipcwait_object_stats_get(&w, &st, 2 * sizeof(st)), sizeof(st));
}

#define THREADS 4
#define WAITS   100000

static struct ipcwait_window shared;

static void *wait_often(void *unused)
{
	(void)unused;
	wait_on(&all, &shared, 0x5000, WAITS);
	iw_observe_all_told();
	return NULL;
}

static void test_threads(void **state)
{
	pthread_t thread[THREADS];

	(void)state;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, wait_often, NULL), 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(thread[i], NULL), 0);
	assert_int_equal(stats_of(&shared).waits, THREADS * WAITS);
	assert_int_equal(waits_at(&iw_call_sites, 0x5000), THREADS * WAITS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_named), /* first: it asks for what was not yet asked for */
		cmocka_unit_test(test_put_off),    cmocka_unit_test(test_many_in_turn),
		cmocka_unit_test(test_gone),       cmocka_unit_test(test_slow_waits),
		cmocka_unit_test(test_real_waits), cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
