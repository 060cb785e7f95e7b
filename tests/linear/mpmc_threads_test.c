/* SPDX-License-Identifier: MIT */
/* Histories of <ipcwait/queue.h> between real threads, a million operations each. */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#include <ipcwait/queue.h>

#include "common/cmocka_all.h"
#include "linear/queue_check.h"

/* A sanitizer takes its time. */
#define OPS (CHECK_DEFERS_SIGNALS ? 200000 : 1000000)

#define THREADS_MAX 4

/* What one thread does: the share of pops, of 256, and whether they wait. */
struct part {
	unsigned pops;
	bool waits;
	bool closes; /* half way */
};

static struct {
	struct ipcwait_queue *queue;
	const struct part *part;
	size_t ops; /* of each thread */
	uint64_t seed;
	pthread_barrier_t start;
	struct history history[THREADS_MAX];
} run;

static int64_t pop(bool waits)
{
	int64_t value = 0;
	int r = waits ? ipcwait_queue_pop(run.queue, &value)
		      : ipcwait_queue_trypop(run.queue, &value);

	return r ? r : value;
}

static int64_t act(unsigned code, int64_t value, bool waits)
{
	switch (code) {
	case QUEUE_SEND:
		return ipcwait_queue_push(run.queue, &value);
	case QUEUE_RECV:
		return pop(waits);
	default:
		return ipcwait_queue_close(run.queue);
	}
}

static void record(struct history *h, unsigned me, unsigned code, int64_t value, bool waits)
{
	struct history_op *op = history_call(h, me, code, value);

	history_return(h, op, act(code, value, waits));
}

static void *use(void *arg)
{
	unsigned me = (unsigned)(uintptr_t)arg;
	const struct part *part = &run.part[me];
	uint64_t seed = run.seed + me * 7919;

	(void)pthread_barrier_wait(&run.start);
	for (size_t i = 0; i < run.ops; i++) {
		bool pops = check_random(&seed) % 256 < part->pops;
		unsigned code = pops ? QUEUE_RECV : QUEUE_SEND;

		if (part->closes && i == run.ops / 2)
			code = QUEUE_CLOSE;
		record(&run.history[me], me, code, (int64_t)(me * run.ops + i),
		       part->waits);
	}
	return NULL;
}

static void run_threads(struct history *all, unsigned threads)
{
	pthread_t thread[THREADS_MAX];

	assert_int_equal(pthread_barrier_init(&run.start, NULL, threads), 0);
	history_split(all, run.history, threads);
	for (uintptr_t i = 0; i < threads; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, use, (void *)i), 0);
	for (unsigned i = 0; i < threads; i++)
		assert_int_equal(pthread_join(thread[i], NULL), 0);
	assert_int_equal(pthread_barrier_destroy(&run.start), 0);
	history_join(all, run.history, threads);
}

static void drain(struct history *all)
{
	do
		record(all, THREADS_MAX, QUEUE_RECV, 0, false);
	while (all->ops[all->count - 1].result >= 0);
}

static void check(const struct part *part, unsigned threads, unsigned flags)
{
	const struct ipcwait_queue_params params = { .elem_size = sizeof(int64_t),
						     .flags = flags };
	const struct queue_rules rules = { .capacity = 0 };
	struct history_op *memory = history_array(2 * OPS + 1, sizeof(*memory));
	struct ipcwait_queue_stats stats;
	struct queue_result r;
	struct history all;

	run.queue = ipcwait_queue_create(&params);
	assert_non_null(run.queue);
	run.part = part;
	run.ops = OPS / threads;
	run.seed = check_seed();
	history_begin(&all, memory, 2 * OPS + 1);
	run_threads(&all, threads);
	drain(&all);
	r = queue_check(all.ops, all.count, &rules);
	if (r.flaw)
		queue_print(stdout, &r, all.ops);
	assert_int_equal(r.flaw, QUEUE_SOUND);
	assert_int_equal(ipcwait_queue_stats_get(run.queue, &stats, sizeof(stats)),
			 sizeof(stats));
	printf("# %zu operations, %" PRIu64 " segments, %" PRIu64 " slots spoiled\n",
	       all.count, stats.segments, stats.spoiled);
	ipcwait_queue_destroy(run.queue);
	free(memory);
}

static void test_all_do_both(void **state)
{
	static const struct part part[] = {
		{ .pops = 128 }, { .pops = 128 }, { .pops = 128 }, { .pops = 128 }
	};

	(void)state;
	check(part, 2, 0);
	check(part, 4, 0);
}

static void test_mostly_empty(void **state)
{
	static const struct part part[] = {
		{ .pops = 0 }, { .pops = 256 }, { .pops = 256 }, { .pops = 256 }
	};

	(void)state;
	check(part, 2, IPCWAIT_QUEUE_ONE_CONSUMER);
	check(part, 4, 0);
}

static void test_one_consumer(void **state)
{
	static const struct part part[] = {
		{ .pops = 256 }, { .pops = 0 }, { .pops = 0 }, { .pops = 0 }
	};

	(void)state;
	check(part, 4, IPCWAIT_QUEUE_ONE_CONSUMER);
}

/* Who waits is told of the end: elements are fewer than pops. */
static void test_waiting_until_the_end(void **state)
{
	static const struct part part[] = {
		{ .pops = 0, .closes = true },
		{ .pops = 256, .waits = true },
		{ .pops = 256, .waits = true },
		{ .pops = 64 },
	};

	(void)state;
	check(part, 2, IPCWAIT_QUEUE_ONE_CONSUMER);
	check(part, 4, 0);
}

static void test_closed_half_way(void **state)
{
	static const struct part part[] = {
		{ .pops = 128, .closes = true },
		{ .pops = 128, .closes = true },
		{ .pops = 100 },
		{ .pops = 160 },
	};

	(void)state;
	check(part, 4, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_do_both),
		cmocka_unit_test(test_mostly_empty),
		cmocka_unit_test(test_one_consumer),
		cmocka_unit_test(test_waiting_until_the_end),
		cmocka_unit_test(test_closed_half_way),
	};

	check_watchdog(200);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
