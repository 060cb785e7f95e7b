/* SPDX-License-Identifier: MIT */
/*
 * What a producer and a consumer do to an <ipcwait/spsc.h>, by the checker of queues. The producer
 * closes: beside a close by somebody else a push may succeed late, which is no order.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include <ipcwait/ipcwait.h>

#include "common/check.h"
#include "common/cmocka_all.h"
#include "linear/queue_check.h"

#define OPS  50000 /* of each side */
#define SOON 20000 /* ns */

static struct {
	struct ipcwait_spsc *q;
	struct history all, part[2];
	uint64_t seed;
	bool seldom; /* the producer rests now and then, so that the consumer sleeps */
} run;

static int64_t push(int64_t value, uint64_t r)
{
	int result;

	if (r & 1)
		result = ipcwait_spsc_push(run.q, &value);
	else
		result = ipcwait_spsc_push_until(run.q, &value,
						 ipcwait_deadline_in_ns(r >> 8 & SOON));
	return result == -ETIMEDOUT ? -EAGAIN : result;
}

static int64_t pop(uint64_t r)
{
	int64_t value;
	int result;

	if (r & 1)
		result = ipcwait_spsc_trypop(run.q, &value);
	else if (r & 2)
		result = ipcwait_spsc_pop(run.q, &value);
	else
		result = ipcwait_spsc_pop_until(run.q, &value,
						ipcwait_deadline_in_ns(r >> 8 & SOON));
	if (result)
		return result == -ETIMEDOUT ? -EAGAIN : result;
	return value;
}

/* What lies in place is one operation an element, all over at once. */
static void pop_in_place(struct history *h)
{
	struct history_op *op[4];
	const int64_t *place;
	size_t n = 4;

	for (unsigned i = 0; i < 4; i++)
		op[i] = history_call(h, 1 + i, QUEUE_RECV, 0);
	place = ipcwait_spsc_peek(run.q, &n);
	if (!place)
		n = 0;
	for (size_t i = 0; i < n; i++)
		op[i]->result = place[i];
	if (n)
		CHECK_EQ(ipcwait_spsc_release(run.q, n), 0);
	for (size_t i = 0; i < n; i++)
		history_return(h, op[i], op[i]->result);
	h->count -= 4 - n;
}

static void *produce(void *arg)
{
	struct history *h = &run.part[0];
	uint64_t seed = run.seed;
	struct history_op *op;

	(void)arg;
	for (int64_t i = 0; i < OPS; i++) {
		uint64_t r = check_random(&seed) >> 16;

		if (run.seldom && r % 64 == 0)
			(void)nanosleep(&(struct timespec){ 0, SOON }, NULL);
		op = history_call(h, 0, QUEUE_SEND, i);
		history_return(h, op, push(i, r));
	}
	op = history_call(h, 0, QUEUE_CLOSE, 0);
	history_return(h, op, ipcwait_spsc_close(run.q));
	return NULL;
}

/* Until it is closed and nothing is left. */
static void *consume(void *arg)
{
	struct history *h = &run.part[1];
	uint64_t seed = run.seed + 7919;
	struct history_op *op;

	(void)arg;
	do {
		uint64_t r = check_random(&seed) >> 16;

		if (r % 8 == 0)
			pop_in_place(h);
		op = history_call(h, 1, QUEUE_RECV, 0);
		history_return(h, op, pop(r));
		/* Of attempts in vain in a row the first says enough. */
		if (op->result == -EAGAIN && h->count > 1 && op[-1].result == -EAGAIN)
			h->count--;
	} while (op->result != -EPIPE);
	return NULL;
}

static size_t count(int64_t result)
{
	size_t n = 0;

	for (size_t i = 0; i < run.all.count; i++)
		n += run.all.ops[i].result == result;
	return n;
}

static void check(uint64_t capacity, unsigned flags, bool seldom)
{
	const struct ipcwait_spsc_params params = { .elem_size = sizeof(int64_t),
						    .capacity = capacity,
						    .flags = flags };
	const struct queue_rules rules = { .capacity = (int64_t)capacity };
	size_t most = 8 * OPS;
	struct history_op *memory = history_array(most, sizeof(*memory));
	struct queue_result r;
	pthread_t thread[2];

	run.q = ipcwait_spsc_create(&params);
	assert_non_null(run.q);
	run.seed = check_seed();
	run.seldom = seldom;
	history_begin(&run.all, memory, most);
	history_split(&run.all, run.part, 2);
	assert_int_equal(pthread_create(&thread[0], NULL, produce, NULL), 0);
	assert_int_equal(pthread_create(&thread[1], NULL, consume, NULL), 0);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(pthread_join(thread[i], NULL), 0);
	history_join(&run.all, run.part, 2);
	r = queue_check(run.all.ops, run.all.count, &rules);
	printf("# capacity %u%s: %zu operations, %zu found it full or empty: ",
	       (unsigned)capacity, flags ? ", no membarrier" : "", run.all.count,
	       count(-EAGAIN));
	queue_print(stdout, &r, run.all.ops);
	assert_int_equal(r.flaw, QUEUE_SOUND);
	ipcwait_spsc_destroy(run.q);
	free(memory);
}

static void test_bounded(void **state)
{
	(void)state;
	check(1, 0, false);
	check(3, 0, true);
	check(100, 0, false);
}

static void test_unbounded(void **state)
{
	(void)state;
	check(0, 0, true);
}

static void test_no_membarrier(void **state)
{
	(void)state;
	check(2, IPCWAIT_SPSC_NO_MEMBARRIER, true);
	check(0, IPCWAIT_SPSC_NO_MEMBARRIER, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bounded),
		cmocka_unit_test(test_unbounded),
		cmocka_unit_test(test_no_membarrier),
	};

	check_watchdog(200);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
