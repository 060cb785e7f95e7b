/* SPDX-License-Identifier: MIT */
/*
 * A producer and a consumer: what comes out is what went in, in order, however the two take turns
 * in waiting for each other; a close ends both.
 */
#include <errno.h>
#include <pthread.h>
#include <time.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"

#define NUMBERS 30000
#define BULK    37

struct element {
	uint64_t number, twice;
};

enum way { WAITS, TRIES, IN_BULK, IN_PLACE };

struct line {
	struct ipcwait_spsc *q;
	enum way producer, consumer;
	unsigned pause_in, pause_out; /* the thread sleeps after so many; 0: never */
	uint64_t received;
	bool wrong;
};

static struct ipcwait_spsc *make(uint64_t capacity, unsigned flags)
{
	struct ipcwait_spsc_params params = { .elem_size = sizeof(struct element),
					      .capacity = capacity,
					      .flags = flags };
	struct ipcwait_spsc *q = ipcwait_spsc_create(&params);

	assert_non_null(q);
	return q;
}

static void rest(void)
{
	const struct timespec t = { .tv_nsec = 200000 };

	(void)nanosleep(&t, NULL);
}

static struct element element(uint64_t i)
{
	return (struct element){ i, 2 * i };
}

/* From @i on: how many went in, perhaps 0. */
static uint64_t give(struct line *l, uint64_t i)
{
	struct element e = element(i), bulk[BULK], *place;
	size_t n = NUMBERS - i < BULK ? NUMBERS - i : BULK;
	int64_t r;

	switch (l->producer) {
	case WAITS:
		return ipcwait_spsc_push_until(l->q, &e, IPCWAIT_FOREVER) == 0;
	case TRIES:
		return ipcwait_spsc_push(l->q, &e) == 0;
	case IN_BULK:
		for (size_t k = 0; k < n; k++)
			bulk[k] = element(i + k);
		r = ipcwait_spsc_push_n(l->q, bulk, n);
		return r > 0 ? (uint64_t)r : 0;
	default:
		place = ipcwait_spsc_reserve(l->q, &n);
		for (size_t k = 0; k < n; k++)
			place[k] = element(i + k);
		return ipcwait_spsc_commit(l->q, n) ? 0 : n;
	}
}

static void *produce(void *arg)
{
	struct line *l = arg;
	uint64_t n;

	for (uint64_t i = 0; i < NUMBERS; i += n) {
		n = give(l, i);
		if (!n || (l->pause_in && i % l->pause_in == 0))
			rest();
	}
	(void)ipcwait_spsc_close(l->q);
	return NULL;
}

static void check(struct line *l, const struct element *e, uint64_t n)
{
	for (uint64_t k = 0; k < n; k++, l->received++)
		l->wrong |= e[k].number != l->received || e[k].twice != 2 * l->received;
}

/* 0 or a negative error. */
static int64_t take(struct line *l)
{
	struct element bulk[BULK];
	const struct element *place;
	size_t n = BULK;
	int64_t r;

	switch (l->consumer) {
	case WAITS:
		r = ipcwait_spsc_pop(l->q, bulk);
		n = 1;
		break;
	case TRIES:
		r = ipcwait_spsc_trypop(l->q, bulk);
		n = 1;
		break;
	case IN_BULK:
		r = ipcwait_spsc_pop_n(l->q, bulk, n);
		n = r > 0 ? (size_t)r : 0;
		break;
	default:
		place = ipcwait_spsc_peek(l->q, &n);
		check(l, place, n);
		if (place)
			return ipcwait_spsc_release(l->q, n);
		r = ipcwait_spsc_trypop(l->q, bulk); /* says whether it is closed */
		n = 1;
	}
	if (r >= 0)
		check(l, bulk, n);
	return r;
}

static void consume(struct line *l)
{
	int64_t r;

	while ((r = take(l)) != -EPIPE)
		if (r < 0 || (l->pause_out && l->received % l->pause_out == 0))
			rest();
}

static void run(uint64_t capacity, unsigned flags, struct line l)
{
	pthread_t thread;

	l.q = make(capacity, flags);
	assert_int_equal(pthread_create(&thread, NULL, produce, &l), 0);
	consume(&l);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_false(l.wrong);
	assert_int_equal(l.received, NUMBERS);
	ipcwait_spsc_destroy(l.q);
}

static void run_all_sizes(struct line l)
{
	static const uint64_t capacities[] = { 100, 4096, 0 };

	for (unsigned i = 0; i < sizeof(capacities) / sizeof(capacities[0]); i++) {
		run(capacities[i], 0, l);
		run(capacities[i], IPCWAIT_SPSC_NO_MEMBARRIER, l);
	}
}

static void test_both_wait(void **state)
{
	(void)state;
	run_all_sizes((struct line){ .producer = WAITS, .consumer = WAITS });
}

static void test_capacity_of_one(void **state)
{
	(void)state;
	run(1, 0, (struct line){ .producer = WAITS, .consumer = WAITS });
	run(1, IPCWAIT_SPSC_NO_MEMBARRIER,
	    (struct line){ .producer = WAITS, .consumer = WAITS });
}

static void test_slow_producer(void **state)
{
	(void)state;
	run_all_sizes(
		(struct line){ .producer = WAITS, .consumer = WAITS, .pause_in = 300 });
}

static void test_slow_consumer(void **state)
{
	(void)state;
	run_all_sizes(
		(struct line){ .producer = WAITS, .consumer = WAITS, .pause_out = 300 });
}

static void test_nobody_waits(void **state)
{
	(void)state;
	run_all_sizes((struct line){ .producer = TRIES, .consumer = TRIES });
}

static void test_bulk(void **state)
{
	(void)state;
	run_all_sizes((struct line){ .producer = IN_BULK, .consumer = IN_BULK });
	run_all_sizes((struct line){ .producer = IN_BULK, .consumer = WAITS });
}

static void test_in_place(void **state)
{
	(void)state;
	run_all_sizes((struct line){ .producer = IN_PLACE, .consumer = IN_PLACE });
	run_all_sizes((struct line){ .producer = WAITS, .consumer = IN_PLACE });
}

static void *pop_for_ever(void *arg)
{
	struct element e;

	return (void *)(intptr_t)ipcwait_spsc_pop(arg, &e);
}

static void *push_for_ever(void *arg)
{
	struct element e = element(1);

	return (void *)(intptr_t)ipcwait_spsc_push_until(arg, &e, IPCWAIT_FOREVER);
}

static void check_close(void *(*waits)(void *), bool full, unsigned flags)
{
	struct ipcwait_spsc *q = make(1, flags);
	struct element e = element(0);
	pthread_t thread;
	void *result;

	if (full)
		assert_int_equal(ipcwait_spsc_push(q, &e), 0);
	assert_int_equal(pthread_create(&thread, NULL, waits, q), 0);
	for (int i = 0; i < 10; i++)
		rest();
	assert_int_equal(ipcwait_spsc_close(q), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_int_equal((intptr_t)result, -EPIPE);
	ipcwait_spsc_destroy(q);
}

static void test_close_wakes(void **state)
{
	(void)state;
	for (unsigned flags = 0; flags <= IPCWAIT_SPSC_NO_MEMBARRIER; flags++) {
		check_close(pop_for_ever, false, flags);
		check_close(push_for_ever, true, flags);
	}
}

/* Seen by a third thread at any time: never more than the bound, never the wrong way round. */
static void *watch(void *arg)
{
	uint64_t lo, hi;
	intptr_t wrong = 0;

	for (int i = 0; i < 20000; i++) {
		wrong |= ipcwait_spsc_length(arg, &lo, &hi);
		wrong |= lo > hi || hi > 100;
	}
	return (void *)wrong;
}

static void test_length_beside_both(void **state)
{
	struct line l = { .producer = WAITS, .consumer = WAITS };
	pthread_t producer, watcher;
	void *wrong;

	(void)state;
	l.q = make(100, 0);
	assert_int_equal(pthread_create(&watcher, NULL, watch, l.q), 0);
	assert_int_equal(pthread_create(&producer, NULL, produce, &l), 0);
	consume(&l);
	assert_int_equal(pthread_join(producer, NULL), 0);
	assert_int_equal(pthread_join(watcher, &wrong), 0);
	assert_null(wrong);
	ipcwait_spsc_destroy(l.q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_wait),
		cmocka_unit_test(test_capacity_of_one),
		cmocka_unit_test(test_slow_producer),
		cmocka_unit_test(test_slow_consumer),
		cmocka_unit_test(test_nobody_waits),
		cmocka_unit_test(test_bulk),
		cmocka_unit_test(test_in_place),
		cmocka_unit_test(test_close_wakes),
		cmocka_unit_test(test_length_beside_both),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
