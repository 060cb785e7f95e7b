/* SPDX-License-Identifier: MIT */
/*
 * queue_check.c on what real threads do to a queue: one that a mutex keeps right, and the same
 * with the bugs that lock-free queues have. Whoever finds the mutex locked meets the bug.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/cmocka_all.h"
#include "linear/queue_check.h"

#define MANY        1000000
#define SOME        200000
#define THREADS_MAX 4

/* Now and then the mutex is held until somebody else finds it locked. */
#define DAWDLE_EVERY 64

enum bug {
	RIGHT,
	POPS_IN_TWO_STEPS, /* looks which value is first, and removes it later */
	POPS_THE_LAST,
	SAYS_EMPTY,
	SAYS_FULL,
	LOSES_ONE,
	HOLDS_TOO_MANY,
};

static struct {
	pthread_mutex_t mutex;
	enum bug bug;
	int64_t *slots; /* as many as there are operations */
	size_t head, tail;
	size_t capacity;
	bool closed;
	size_t ops;  /* of each thread */
	bool closes; /* thread 0 closes it half way */
	uint64_t seed;
	uint64_t bugs_met;
	unsigned running; /* threads */
	unsigned blocked; /* of these, in the mutex */
	unsigned away;    /* of these, in leave_for_a_while() */
	unsigned entered; /* times that somebody had the mutex */
	pthread_barrier_t start;
	struct history part[THREADS_MAX];
} queue = { .mutex = PTHREAD_MUTEX_INITIALIZER };

static unsigned load(const unsigned *n)
{
	return __atomic_load_n(n, __ATOMIC_RELAXED);
}

static void add(unsigned *n, int by)
{
	__atomic_fetch_add(n, (unsigned)by, __ATOMIC_RELAXED);
}

/* True if it had to wait: a bug may show. */
static bool enter(void)
{
	bool wait = pthread_mutex_trylock(&queue.mutex) != 0;

	if (wait) {
		add(&queue.blocked, 1);
		CHECK_EQ(pthread_mutex_lock(&queue.mutex), 0);
		add(&queue.blocked, -1);
	}
	add(&queue.entered, 1);
	return wait;
}

/* Who dawdles waits for somebody who has to wait, if there can be one, and lets him in. */
static void leave(bool dawdle)
{
	unsigned entered = load(&queue.entered);

	while (dawdle && !load(&queue.blocked) &&
	       load(&queue.away) + 1 < load(&queue.running))
		(void)sched_yield();
	CHECK_EQ(pthread_mutex_unlock(&queue.mutex), 0);
	while (dawdle && load(&queue.blocked) && load(&queue.entered) == entered)
		(void)sched_yield();
}

/* Until somebody else is through with something, unless all are here. */
static void leave_for_a_while(void)
{
	const uint64_t *clock = queue.part[0].clock;
	uint64_t end = __atomic_load_n(clock, __ATOMIC_RELAXED) + THREADS_MAX;

	leave(true);
	add(&queue.away, 1);
	while (__atomic_load_n(clock, __ATOMIC_RELAXED) < end &&
	       load(&queue.away) < load(&queue.running))
		(void)sched_yield();
	add(&queue.away, -1);
	(void)enter();
}

static int64_t push(int64_t value, bool met_bug)
{
	bool full = queue.tail - queue.head >= queue.capacity;

	if (queue.closed)
		return -EPIPE;
	if (met_bug && queue.bug == SAYS_FULL)
		return -EAGAIN;
	if (full && !(met_bug && queue.bug == HOLDS_TOO_MANY))
		return -EAGAIN;
	queue.slots[queue.tail++] = value;
	return 0;
}

static int64_t pop(bool met_bug)
{
	size_t length = queue.tail - queue.head;

	if (met_bug && queue.bug == SAYS_EMPTY)
		return -EAGAIN;
	if (length == 0)
		return queue.closed ? -EPIPE : -EAGAIN;
	if (met_bug && queue.bug == POPS_THE_LAST)
		return queue.slots[--queue.tail];
	if (met_bug && queue.bug == LOSES_ONE && length > 1)
		queue.head++;
	if (met_bug && queue.bug == POPS_IN_TWO_STEPS) {
		size_t head = queue.head;

		leave_for_a_while();
		queue.head = head;
	}
	return queue.slots[queue.head++];
}

static int64_t close_it(void)
{
	if (queue.closed)
		return -EALREADY;
	queue.closed = true;
	return 0;
}

static int64_t do_op(unsigned code, int64_t value, bool dawdle)
{
	bool met_bug = enter();
	int64_t result;

	queue.bugs_met += met_bug;

	switch (code) {
	case QUEUE_SEND:
		result = push(value, met_bug);
		break;
	case QUEUE_RECV:
		result = pop(met_bug);
		break;
	default:
		result = close_it();
		break;
	}
	leave(dawdle);
	return result;
}

static void record(struct history *h, unsigned me, unsigned code, int64_t value,
		   bool dawdle)
{
	struct history_op *op = history_call(h, me, code, value);

	history_return(h, op, do_op(code, value, dawdle));
}

static void *use(void *arg)
{
	unsigned me = (unsigned)(uintptr_t)arg;
	uint64_t seed = queue.seed + me * 7919;

	pthread_barrier_wait(&queue.start);
	for (size_t i = 0; i < queue.ops; i++) {
		uint64_t r = check_random(&seed);
		unsigned code = r & 1 ? QUEUE_SEND : QUEUE_RECV;
		int64_t value = r & 1 ? (int64_t)(me * queue.ops + i) : 0;

		if (queue.closes && me == 0 && i == queue.ops / 2)
			code = QUEUE_CLOSE;
		record(&queue.part[me], me, code, value, (r >> 8) % DAWDLE_EVERY == 0);
	}
	add(&queue.running, -1);
	return NULL;
}

/* After the threads, receive what is left, until there is nothing. */
static void drain(struct history *all)
{
	enum bug bug = queue.bug;

	queue.bug = RIGHT;
	do
		record(all, THREADS_MAX, QUEUE_RECV, 0, false);
	while (all->ops[all->count - 1].result >= 0);
	queue.bug = bug;
}

static double seconds(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void run_threads(struct history *all, unsigned threads)
{
	pthread_t thread[THREADS_MAX];

	assert_int_equal(pthread_barrier_init(&queue.start, NULL, threads), 0);
	history_split(all, queue.part, threads);
	for (uintptr_t i = 0; i < threads; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, use, (void *)i), 0);
	for (unsigned i = 0; i < threads; i++)
		assert_int_equal(pthread_join(thread[i], NULL), 0);
	assert_int_equal(pthread_barrier_destroy(&queue.start), 0);
	history_join(all, queue.part, threads);
	drain(all);
}

/* @ops by all threads together. Returns the flaw found. */
static enum queue_flaw run(enum bug bug, unsigned threads, size_t ops, size_t capacity,
			   bool closes)
{
	const struct queue_rules rules = { .capacity = capacity == SIZE_MAX
							       ? 0
							       : (int64_t)capacity };
	struct history_op *memory = history_array(2 * ops + 1, sizeof(*memory));
	struct queue_result r;
	struct history all;
	double begin = seconds(), recorded;

	queue.bug = bug;
	queue.slots = history_array(ops, sizeof(*queue.slots));
	queue.head = queue.tail = 0;
	queue.capacity = capacity;
	queue.closed = false;
	queue.closes = closes;
	queue.ops = ops / threads;
	queue.bugs_met = 0;
	queue.running = threads;
	queue.seed = check_seed();
	history_begin(&all, memory, 2 * ops + 1);
	run_threads(&all, threads);
	recorded = seconds();
	r = queue_check(all.ops, all.count, &rules);
	printf("# %zu operations recorded in %.2f s, checked in %.2f s, the mutex was "
	       "locked "
	       "%" PRIu64 " times: ",
	       all.count, recorded - begin, seconds() - recorded, queue.bugs_met);
	queue_print(stdout, &r, all.ops);
	free(memory);
	free(queue.slots);
	return r.flaw;
}

static void test_two_threads(void **state)
{
	(void)state;
	assert_int_equal(run(RIGHT, 2, SOME, SIZE_MAX, false), QUEUE_SOUND);
}

static void test_four_threads_a_million_operations(void **state)
{
	(void)state;
	assert_int_equal(run(RIGHT, 4, MANY, SIZE_MAX, false), QUEUE_SOUND);
}

static void test_bounded_and_closed(void **state)
{
	(void)state;
	assert_int_equal(run(RIGHT, 3, SOME, 7, true), QUEUE_SOUND);
	assert_int_equal(run(RIGHT, 4, SOME, 1, true), QUEUE_SOUND);
}

static void test_pop_in_two_steps(void **state)
{
	(void)state;
	assert_int_equal(run(POPS_IN_TWO_STEPS, 3, SOME, SIZE_MAX, false), QUEUE_TWICE);
}

static void test_pop_of_the_last(void **state)
{
	(void)state;
	assert_int_equal(run(POPS_THE_LAST, 3, SOME, SIZE_MAX, false), QUEUE_OUT_OF_ORDER);
}

static void test_empty_that_is_not(void **state)
{
	(void)state;
	assert_int_equal(run(SAYS_EMPTY, 2, SOME, SIZE_MAX, false), QUEUE_NOT_EMPTY);
}

static void test_lost_value(void **state)
{
	(void)state;
	assert_int_equal(run(LOSES_ONE, 3, SOME, SIZE_MAX, false), QUEUE_LOST);
}

static void test_full_that_is_not(void **state)
{
	(void)state;
	assert_int_equal(run(SAYS_FULL, 2, SOME, 100, false), QUEUE_NOT_FULL);
}

static void test_more_than_the_capacity(void **state)
{
	(void)state;
	assert_int_equal(run(HOLDS_TOO_MANY, 3, SOME, 3, false), QUEUE_TOO_FULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_threads),
		cmocka_unit_test(test_four_threads_a_million_operations),
		cmocka_unit_test(test_bounded_and_closed),
		cmocka_unit_test(test_pop_in_two_steps),
		cmocka_unit_test(test_pop_of_the_last),
		cmocka_unit_test(test_empty_that_is_not),
		cmocka_unit_test(test_lost_value),
		cmocka_unit_test(test_full_that_is_not),
		cmocka_unit_test(test_more_than_the_capacity),
	};

	check_watchdog(200);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
