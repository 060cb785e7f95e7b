/* SPDX-License-Identifier: MIT */
/*
 * sem_check.c on what real threads do to <ipcwait/sem.h>: a million operations of all kinds,
 * fewer tokens than threads. And the same with operations that lie, which it has to notice.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "linear/sem_check.h"

#define MANY     1000000
#define SOME     200000
#define THREADS  4
#define DEADLINE 20000 /* ns, at most */

/* Now and then a thread keeps its tokens until others have done something, or cannot. */
#define DAWDLE_EVERY 64

/* Whoever lies does so this often. */
#define LIE_EVERY 100

/* What is recorded of the main thread, besides. */
#define LAST_WORDS 20

enum lie {
	NONE,
	POSTS_NOTHING,
	TAKES_NOTHING,
	SAYS_EAGAIN,
};

static struct {
	struct ipcwait_sem sem;
	enum lie lie;
	unsigned running; /* threads */
	unsigned parked;  /* of these, in a wait or dawdling */
	uint64_t seed;
	pthread_barrier_t start;
	struct history part[THREADS];
} run;

static unsigned load(const unsigned *n)
{
	return __atomic_load_n(n, __ATOMIC_RELAXED);
}

static void add(unsigned *n, int by)
{
	__atomic_fetch_add(n, (unsigned)by, __ATOMIC_RELAXED);
}

/* So many stamps that one operation of somebody else at least was over. */
static void dawdle(void)
{
	const uint64_t *clock = run.part[0].clock;
	uint64_t end = __atomic_load_n(clock, __ATOMIC_RELAXED) + THREADS;

	add(&run.parked, 1);
	do
		(void)sched_yield();
	while (__atomic_load_n(clock, __ATOMIC_RELAXED) < end &&
	       load(&run.parked) < load(&run.running));
	add(&run.parked, -1);
}

static int wait(void)
{
	int result;

	add(&run.parked, 1);
	result = ipcwait_sem_wait(&run.sem);
	add(&run.parked, -1);
	return result;
}

static int64_t do_op(unsigned code, uint32_t n, int64_t deadline_ns)
{
	switch (code) {
	case SEM_WAIT:
		return wait();
	case SEM_TRYWAIT:
		return ipcwait_sem_trywait(&run.sem);
	case SEM_WAIT_UNTIL:
		return ipcwait_sem_wait_until(&run.sem, deadline_ns);
	case SEM_POST_N:
		return ipcwait_sem_post_n(&run.sem, n);
	default:
		return ipcwait_sem_value(&run.sem);
	}
}

static int64_t record(struct history *h, unsigned me, unsigned code, uint32_t n,
		      int64_t deadline_ns)
{
	struct history_op *op = history_call(h, me, code, n);

	history_return(h, op, do_op(code, n, deadline_ns));
	return op->result;
}

/* Take a token, or two if there is another, and give back as many. */
static void take_and_post(struct history *h, unsigned me, uint64_t r)
{
	static const unsigned codes[] = { SEM_WAIT, SEM_TRYWAIT, SEM_WAIT_UNTIL,
					  SEM_TRYWAIT };
	unsigned code = codes[r % 4];
	int64_t deadline_ns = 0;
	uint32_t held = 1;

	if (code == SEM_WAIT_UNTIL && r >> 2 & 1)
		deadline_ns = ipcwait_deadline_in_ns((int64_t)(r >> 16) % DEADLINE);
	if (record(h, me, code, 0, deadline_ns) != 0)
		return;
	if ((r >> 3) % 4 == 0)
		held += record(h, me, SEM_TRYWAIT, 0, 0) == 0;
	if ((r >> 5) % 16 == 0)
		(void)record(h, me, SEM_VALUE, 0, 0);
	if ((r >> 9) % DAWDLE_EVERY == 0)
		dawdle();
	(void)record(h, me, SEM_POST_N, held, 0);
}

/* An operation that is not done, or not as it says. */
static void lie(struct history *h, unsigned me)
{
	static const struct {
		unsigned code;
		int64_t result;
	} lies[] = {
		[POSTS_NOTHING] = { SEM_POST_N, 0 },
		[TAKES_NOTHING] = { SEM_TRYWAIT, 0 },
		[SAYS_EAGAIN] = { SEM_TRYWAIT, -EAGAIN },
	};
	struct history_op *op = history_call(h, me, lies[run.lie].code, 1);

	history_return(h, op, lies[run.lie].result);
}

static void *use(void *arg)
{
	unsigned me = (unsigned)(uintptr_t)arg;
	struct history *h = &run.part[me];
	uint64_t seed = run.seed + me * 7919;

	pthread_barrier_wait(&run.start);
	/* One turn has five operations at most. */
	while (h->count + 5 <= h->capacity) {
		uint64_t r = check_random(&seed);

		if (run.lie && (r >> 40) % LIE_EVERY == 0)
			lie(h, me);
		take_and_post(h, me, r);
	}
	add(&run.running, -1);
	return NULL;
}

/* What a semaphore says when it is empty, and how many tokens there are in the end. */
static void record_last_words(struct history *h)
{
	uint32_t held = 0;

	while (record(h, THREADS, SEM_TRYWAIT, 0, 0) == 0)
		held++;
	assert_int_equal(record(h, THREADS, SEM_WAIT_UNTIL, 0, 0), -ETIMEDOUT);
	assert_int_equal(record(h, THREADS, SEM_VALUE, 0, 0), 0);
	assert_int_equal(record(h, THREADS, SEM_POST_N, held, 0), 0);
	assert_int_equal(record(h, THREADS, SEM_VALUE, 0, 0), held);
}

static void run_threads(struct history *all)
{
	pthread_t thread[THREADS];

	assert_int_equal(pthread_barrier_init(&run.start, NULL, THREADS), 0);
	history_split(all, run.part, THREADS);
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, use, (void *)i), 0);
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(thread[i], NULL), 0);
	assert_int_equal(pthread_barrier_destroy(&run.start), 0);
	history_join(all, run.part, THREADS);
	all->capacity += LAST_WORDS;
	record_last_words(all);
}

static size_t count(const struct history *h, unsigned code, int64_t result)
{
	size_t n = 0;

	for (size_t i = 0; i < h->count; i++)
		n += h->ops[i].code == code && h->ops[i].result == result;
	return n;
}

static uint64_t sleeps(void)
{
	struct ipcwait_stats st;

	assert_int_equal(ipcwait_stats_get(&st, sizeof(st)), sizeof(st));
	return st.kind[IPCWAIT_KIND_SEM].futex_waits;
}

static double seconds(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static enum sem_flaw run_and_check(enum lie lie, size_t ops, uint32_t tokens,
				   unsigned flags)
{
	struct history_op *memory = history_array(ops + LAST_WORDS, sizeof(*memory));
	double begin = seconds(), recorded;
	struct sem_result r;
	struct history h;

	run.lie = lie;
	run.running = THREADS;
	run.seed = check_seed();
	assert_int_equal(ipcwait_sem_init(&run.sem, tokens, flags), 0);
	history_begin(&h, memory, ops);
	run_threads(&h);
	recorded = seconds();
	r = sem_check(h.ops, h.count, tokens, IPCWAIT_SEM_VALUE_MAX);
	printf("# %zu operations recorded in %.2f s, checked in %.2f s: ", h.count,
	       recorded - begin, seconds() - recorded);
	sem_print(stdout, &r, h.ops);
	printf("# taken by wait %zu, trywait %zu, wait_until %zu; not there %zu, expired "
	       "%zu; "
	       "sleeps so far %" PRIu64 "\n",
	       count(&h, SEM_WAIT, 0), count(&h, SEM_TRYWAIT, 0),
	       count(&h, SEM_WAIT_UNTIL, 0), count(&h, SEM_TRYWAIT, -EAGAIN),
	       count(&h, SEM_WAIT_UNTIL, -ETIMEDOUT), sleeps());
	assert_int_equal(ipcwait_sem_fini(&run.sem), 0);
	free(memory);
	return r.flaw;
}

static void test_a_million_operations(void **state)
{
	(void)state;
	assert_int_equal(run_and_check(NONE, MANY, 2, IPCWAIT_PRIVATE), SEM_SOUND);
}

static void test_shared(void **state)
{
	(void)state;
	assert_int_equal(run_and_check(NONE, SOME, 1, 0), SEM_SOUND);
}

/* In the end tokens are missing that have been posted. */
static void test_lost_tokens(void **state)
{
	(void)state;
	assert_int_equal(run_and_check(POSTS_NOTHING, SOME, 2, 0), SEM_NOT_THAT_VALUE);
}

/* In the end there are tokens that have been taken, if they were not taken again before. */
static void test_tokens_from_nowhere(void **state)
{
	enum sem_flaw flaw = run_and_check(TAKES_NOTHING, SOME, 2, 0);

	(void)state;
	assert_true(flaw == SEM_NOT_THAT_VALUE || flaw == SEM_TOKEN_FROM_NOWHERE);
}

/* So many tokens that there are always some. */
static void test_token_not_seen(void **state)
{
	(void)state;
	assert_int_equal(run_and_check(SAYS_EAGAIN, SOME, 2 * THREADS + 1, 0),
			 SEM_NOT_THAT_VALUE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_million_operations),
		cmocka_unit_test(test_shared),
		cmocka_unit_test(test_lost_tokens),
		cmocka_unit_test(test_tokens_from_nowhere),
		cmocka_unit_test(test_token_not_seen),
	};

	check_watchdog(200);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
