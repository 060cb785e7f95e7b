/* SPDX-License-Identifier: MIT */
/*
 * <ipcwait/queue.h> with threads: nothing is lost, nothing comes twice, each producer's elements
 * come in order; whoever is stopped in the middle stops nobody; the end reaches all.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"

#define THREADS_MAX 8
#define BATCH       37

enum how {
	BY_POP,
	BY_TRYPOP,
	BY_POP_N,
	BY_ALL, /* in turn */
};

static struct ipcwait_queue *queue;
static struct ipcwait_queue_stats stats;

static struct {
	unsigned producers, consumers;
	uint64_t each; /* elements of a producer */
	enum how how;
	size_t elem_bytes;
	_Atomic uint64_t popped, sum;
	_Atomic unsigned running; /* producers */
} run;

/* Larger elements are the same number several times. */
struct elem {
	uint64_t number[3];
};

static void make(size_t elem_bytes, unsigned flags)
{
	struct ipcwait_queue_params params = { .elem_size = elem_bytes, .flags = flags };

	CHECK((queue = ipcwait_queue_create(&params)) != NULL);
	run.elem_bytes = elem_bytes;
}

static void end(void)
{
	CHECK_EQ(ipcwait_queue_stats_get(queue, &stats, sizeof(stats)), sizeof(stats));
	ipcwait_queue_destroy(queue);
}

/* Packed as the queue's elements are. */
static void put(char *elems, size_t i, uint64_t number)
{
	struct elem e = { { number, number, number } };

	memcpy(elems + i * run.elem_bytes, &e, run.elem_bytes);
}

static uint64_t number_at(const char *elems, size_t i)
{
	struct elem e;

	memset(&e, 0, sizeof(e));
	memcpy(&e, elems + i * run.elem_bytes, run.elem_bytes);
	if (run.elem_bytes > sizeof(uint64_t))
		CHECK_EQ(e.number[0], e.number[run.elem_bytes / sizeof(uint64_t) - 1]);
	return e.number[0];
}

static void *produce(void *arg)
{
	uint64_t me = (uintptr_t)arg, i = 1;
	char elems[BATCH * sizeof(struct elem)];

	while (i <= run.each) {
		size_t n = i % 3 ? 1 : BATCH;
		int64_t r;

		if (n > run.each - i + 1)
			n = 1;
		for (size_t k = 0; k < n; k++)
			put(elems, k, me << 32 | (i + k));
		r = n == 1 ? ipcwait_queue_push(queue, elems)
			   : ipcwait_queue_push_n(queue, elems, n);
		CHECK_EQ(r, n == 1 ? 0 : n);
		i += n;
	}
	if (--run.running == 0)
		CHECK_EQ(ipcwait_queue_close(queue), 0);
	return NULL;
}

/* How many, or an error. */
static int64_t pop(char *elems, enum how how)
{
	int r;

	switch (how) {
	case BY_POP:
		r = ipcwait_queue_pop(queue, elems);
		break;
	case BY_TRYPOP:
		r = ipcwait_queue_trypop(queue, elems);
		break;
	default:
		return ipcwait_queue_pop_n_until(queue, elems, BATCH, IPCWAIT_FOREVER);
	}
	return r ? r : 1;
}

static void *consume(void *unused)
{
	uint64_t last[THREADS_MAX] = { 0 }, popped = 0, sum = 0;
	char elems[BATCH * sizeof(struct elem)];
	int64_t n;

	(void)unused;
	for (;;) {
		n = pop(elems, run.how == BY_ALL ? popped % BY_ALL : run.how);
		if (n == -EAGAIN && (run.how == BY_TRYPOP || run.how == BY_ALL)) {
			(void)sched_yield();
			continue;
		}
		if (n < 0)
			break;
		for (int64_t k = 0; k < n; k++) {
			uint64_t number = number_at(elems, (size_t)k);
			uint64_t from = number >> 32;

			CHECK(from < run.producers);
			CHECK((uint32_t)number > last[from]);
			last[from] = (uint32_t)number;
			sum += number;
		}
		popped += (uint64_t)n;
	}
	CHECK_EQ(n, -EPIPE);
	run.popped += popped;
	run.sum += sum;
	return NULL;
}

static void start(pthread_t *thread, void *(*body)(void *), uintptr_t arg)
{
	CHECK_EQ(pthread_create(thread, NULL, body, (void *)arg), 0);
}

static void join(const pthread_t *thread, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		CHECK_EQ(pthread_join(thread[i], NULL), 0);
}

static void pass_on(unsigned producers, unsigned consumers, enum how how)
{
	pthread_t thread[2 * THREADS_MAX];
	uint64_t want = 0;

	run.producers = producers;
	run.running = producers;
	run.consumers = consumers;
	run.how = how;
	run.popped = 0;
	run.sum = 0;
	for (unsigned i = 0; i < consumers; i++)
		start(&thread[i], consume, 0);
	for (unsigned i = 0; i < producers; i++)
		start(&thread[consumers + i], produce, i);
	join(thread, consumers + producers);
	for (uint64_t i = 0; i < producers; i++)
		want += (i << 32) * run.each + run.each * (run.each + 1) / 2;
	assert_int_equal(run.popped, producers * run.each);
	assert_int_equal(run.sum, want);
}

static void each_way(unsigned producers, unsigned consumers, unsigned flags)
{
	static const size_t sizes[] = { 8, 16, 24 };

	for (unsigned i = 0; i < 3; i++) {
		for (enum how how = BY_POP; how <= BY_ALL; how++) {
			run.each = (CHECK_DEFERS_SIGNALS ? 10000 : 60000) / producers;
			make(sizes[i], flags);
			pass_on(producers, consumers, how);
			end();
		}
	}
}

static void test_four_to_four(void **state)
{
	(void)state;
	each_way(4, 4, 0);
}

static void test_one_to_many(void **state)
{
	(void)state;
	each_way(1, 4, 0);
}

static void test_many_to_one(void **state)
{
	(void)state;
	each_way(4, 1, 0);
	each_way(4, 1, IPCWAIT_QUEUE_ONE_CONSUMER);
	each_way(1, 1, IPCWAIT_QUEUE_ONE_CONSUMER);
}

/* Threads that come, push, pop as many, and go. */
#define VISITS 1000
#define STAY   20

static void *visit(void *arg)
{
	for (uint64_t i = 0; i < STAY; i++) {
		uint64_t elem = (uintptr_t)arg << 32 | i;

		CHECK_EQ(ipcwait_queue_push(queue, &elem), 0);
		CHECK_EQ(i % 2 ? ipcwait_queue_pop(queue, &elem)
			       : ipcwait_queue_pop_until(queue, &elem, IPCWAIT_FOREVER),
			 0);
		run.sum += elem;
	}
	return NULL;
}

static void test_threads_come_and_go(void **state)
{
	pthread_t thread[THREADS_MAX];
	uint64_t want = 0, lo, hi;

	(void)state;
	make(8, 0);
	run.sum = 0;
	for (unsigned i = 0; i < VISITS; i += THREADS_MAX) {
		for (unsigned k = 0; k < THREADS_MAX; k++)
			start(&thread[k], visit, i + k);
		join(thread, THREADS_MAX);
	}
	for (uint64_t i = 0; i < VISITS; i++)
		want += (i << 32) * STAY + STAY * (STAY - 1) / 2;
	assert_int_equal(run.sum, want);
	assert_int_equal(ipcwait_queue_length(queue, &lo, &hi), 0);
	assert_int_equal(lo, 0);
	assert_int_equal(hi, 0);
	end();
}

/* All of them sleep, or spin, when it ends. */
static _Atomic unsigned ended;

static void *wait_for_the_end(void *arg)
{
	uint64_t elems[2] = { 4711, 4711 };
	int64_t r = arg ? ipcwait_queue_pop_n_until(queue, elems, 2, IPCWAIT_FOREVER)
			: ipcwait_queue_pop(queue, elems);

	CHECK_EQ(r, -EPIPE);
	CHECK_EQ(elems[0], 4711);
	ended++;
	return NULL;
}

static void test_close_ends_all(void **state)
{
	pthread_t thread[THREADS_MAX];

	(void)state;
	for (int round = 0; round < 100; round++) {
		const struct timespec pause = { 0, round * 20000 };

		make(8, 0);
		ended = 0;
		for (unsigned i = 0; i < THREADS_MAX; i++)
			start(&thread[i], wait_for_the_end, i % 2);
		(void)nanosleep(&pause, NULL);
		assert_int_equal(ended, 0);
		assert_int_equal(ipcwait_queue_close(queue), 0);
		join(thread, THREADS_MAX);
		assert_int_equal(ended, THREADS_MAX);
		end();
	}
}

/*
 * One producer and one consumer are stopped wherever they are, until the others have passed on so
 * many. All that the stopped ones have in hand comes out in the end. A producer may be stopped in
 * the allocator, with its lock: then who needs a segment waits, but that is rare.
 */
#define STOPS      200
#define MEANWHILE  3000
#define HELD_UP_NS 1000000000 /* of the process's CPU time: it may be stopped itself */

static _Atomic uint64_t passed_on; /* by the others */
static _Atomic unsigned stops;
static _Atomic unsigned held_up; /* of these */
static _Atomic bool over;

static int64_t cpu_ns(void)
{
	struct timespec used;

	CHECK_EQ(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used), 0);
	return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

static void stop_here(int signal)
{
	int saved_errno = errno;
	uint64_t until = passed_on + MEANWHILE;
	int64_t end_ns = cpu_ns() + HELD_UP_NS;

	(void)signal;
	while (passed_on < until && !over && cpu_ns() < end_ns)
		(void)sched_yield();
	held_up += passed_on < until && !over;
	stops++;
	errno = saved_errno;
}

static void *push_on(void *arg)
{
	uint64_t elem = 0, lo, hi;

	while (!over) {
		elem = ((uintptr_t)arg << 32) | (uint32_t)(elem + 1);
		CHECK_EQ(ipcwait_queue_push(queue, &elem), 0);
		run.sum += elem;
		CHECK_EQ(ipcwait_queue_length(queue, &lo, &hi), 0);
		while (hi > 10000 && !over)
			CHECK_EQ(ipcwait_queue_length(queue, &lo, &hi), 0);
	}
	return NULL;
}

static void *pop_on(void *arg)
{
	uint64_t elem;

	while (ipcwait_queue_pop(queue, &elem) == 0) {
		run.sum -= elem;
		if (!arg)
			passed_on++;
	}
	return NULL;
}

static bool has_stopped(void *arg)
{
	return stops == *(unsigned *)arg;
}

static void test_stopped_in_the_middle(void **state)
{
	struct sigaction action = { .sa_handler = stop_here };
	pthread_t thread[4];
	unsigned n = 0;

	(void)state;
	if (CHECK_DEFERS_SIGNALS)
		skip();
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	make(8, 0);
	run.sum = 0;
	for (uintptr_t i = 0; i < 4; i++)
		start(&thread[i], i < 2 ? push_on : pop_on, i % 2);
	while (n < STOPS) {
		assert_int_equal(pthread_kill(thread[n % 2 ? 1 : 3], SIGUSR1), 0);
		n++;
		assert_true(check_eventually(has_stopped, &n));
	}
	over = true;
	join(thread, 2);
	assert_int_equal(ipcwait_queue_close(queue), 0);
	join(thread + 2, 2);
	assert_int_equal(run.sum, 0);
	assert_in_range(held_up, 0, STOPS / 20);
	end();
	printf("# %u stops, %u held up, %llu passed on meanwhile, %llu slots spoiled\n", n,
	       held_up, (unsigned long long)passed_on, (unsigned long long)stats.spoiled);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_four_to_four),
		cmocka_unit_test(test_one_to_many),
		cmocka_unit_test(test_many_to_one),
		cmocka_unit_test(test_threads_come_and_go),
		cmocka_unit_test(test_close_ends_all),
		cmocka_unit_test(test_stopped_in_the_middle),
	};

	check_watchdog(120);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
