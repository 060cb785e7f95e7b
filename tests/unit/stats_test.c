/* SPDX-License-Identifier: MIT */
/* <ipcwait/stats.h>: the counters of the process. */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"

#define HEAD offsetof(struct ipcwait_stats, kind)

static struct ipcwait_kind_stats counters(enum ipcwait_kind kind)
{
	struct ipcwait_stats st;

	CHECK_EQ(ipcwait_stats_get(&st, sizeof(st)), sizeof(st));
	return st.kind[kind];
}

static void test_bad_arguments(void **state)
{
	struct ipcwait_stats st;

	(void)state;
	errno = 4711;
	memset(&st, 0x5a, sizeof(st));
	assert_int_equal(ipcwait_stats_get(NULL, sizeof(st)), -EINVAL);
	assert_int_equal(ipcwait_stats_get(&st, 0), -EINVAL);
	assert_int_equal(ipcwait_stats_get(&st, 8), -EINVAL);
	assert_int_equal(ipcwait_stats_get(&st, HEAD - 1), -EINVAL);
	assert_int_equal(st.size, UINT64_C(0x5a5a5a5a5a5a5a5a));
	assert_int_equal(errno, 4711);
}

/* A program built against an older, smaller struct, at every size. */
static void test_old_sizes(void **state)
{
	_Alignas(8) unsigned char bytes[sizeof(struct ipcwait_stats) + 64];
	struct ipcwait_stats st;

	(void)state;
	for (size_t size = HEAD; size <= sizeof(st); size++) {
		memset(bytes, 0x5a, sizeof(bytes));
		assert_int_equal(
			ipcwait_stats_get((struct ipcwait_stats *)(void *)bytes, size),
			size);
		memcpy(&st, bytes, HEAD);
		assert_int_equal(st.size, size);
		assert_int_equal(bytes[size], 0x5a);
	}
}

static void test_newer_sizes(void **state)
{
	struct {
		struct ipcwait_stats st;
		char more[64];
	} new;

	(void)state;
	memset(&new, 0x5a, sizeof(new));
	assert_int_equal(ipcwait_stats_get(&new.st, sizeof(new)), sizeof(new.st));
	assert_int_equal(new.st.size, sizeof(new.st));
	assert_int_equal(new.more[0], 0x5a);
	assert_int_equal(ipcwait_stats_get(&new.st, SIZE_MAX), sizeof(new.st));
}

static void test_facts(void **state)
{
	struct ipcwait_stats st;

	(void)state;
	assert_int_equal(ipcwait_stats_get(&st, sizeof(st)), sizeof(st));
	assert_in_range(st.block_cost_ns, 1, 1000000);
	assert_in_range(st.usable_cpus, 1, 8192);
	for (unsigned kind = IPCWAIT_KIND_COUNT; kind < IPCWAIT_KIND_SPACE; kind++)
		assert_int_equal(st.kind[kind].futex_waits, 0);
}

static void test_expired(void **state)
{
	struct ipcwait_sem s = IPCWAIT_SEM_INIT(0);
	struct ipcwait_kind_stats before = counters(IPCWAIT_KIND_SEM), after;
	uint64_t times = 0;

	(void)state;
	for (int i = 0; i < 5; i++)
		assert_int_equal(ipcwait_sem_wait_until(&s, 0), -ETIMEDOUT);
	after = counters(IPCWAIT_KIND_SEM);
	assert_int_equal(after.expired - before.expired, 5);
	/* A past deadline polls without a system call. */
	assert_int_equal(after.futex_waits, before.futex_waits);
	before = after;
	/* A wait that begins after its deadline does not sleep. */
	do {
		assert_int_equal(
			ipcwait_sem_wait_until(&s, ipcwait_deadline_in_ns(1000000)),
			-ETIMEDOUT);
		after = counters(IPCWAIT_KIND_SEM);
		assert_int_equal(after.expired - before.expired, ++times);
	} while (after.futex_waits == before.futex_waits);
	assert_in_range(after.futex_waits - before.futex_waits, 1, 100);
	assert_int_equal(after.slept, before.slept);
}

/* Every wait that slept has a reason. */
static void test_reasons(void **state)
{
	struct ipcwait_sem s = IPCWAIT_SEM_INIT(0);
	struct ipcwait_stats before, after;
	uint64_t slept = 0;

	(void)state;
	assert_int_equal(ipcwait_window_set_preset(&s.window, IPCWAIT_BLOCK), 0);
	CHECK_EQ(ipcwait_stats_get(&before, sizeof(before)), sizeof(before));
	/* A wait that begins after its deadline does not sleep, and has none. */
	while (slept < 5) {
		uint64_t last = slept;

		assert_int_equal(
			ipcwait_sem_wait_until(&s, ipcwait_deadline_in_ns(1000000)),
			-ETIMEDOUT);
		CHECK_EQ(ipcwait_stats_get(&after, sizeof(after)), sizeof(after));
		slept = 0;
		for (unsigned i = 0; i < IPCWAIT_REASON_SPACE; i++)
			slept += after.reasons[i] - before.reasons[i];
		assert_in_range(slept, last, last + 1);
	}
	assert_int_equal(after.reasons[IPCWAIT_REASON_NONE], 0);
	assert_int_equal(after.reasons[IPCWAIT_REASON_PRESET_BLOCK] -
				 before.reasons[IPCWAIT_REASON_PRESET_BLOCK],
			 5);
	for (unsigned i = IPCWAIT_REASON_COUNT; i < IPCWAIT_REASON_SPACE; i++)
		assert_int_equal(after.reasons[i], 0);
}

static void test_fast_paths_leave_no_trace(void **state)
{
	struct ipcwait_sem s = IPCWAIT_SEM_INIT(0);
	struct ipcwait_kind_stats before = counters(IPCWAIT_KIND_SEM), after;

	(void)state;
	for (int i = 0; i < 100; i++) {
		assert_int_equal(ipcwait_sem_post(&s), 0);
		assert_int_equal(ipcwait_sem_wait(&s), 0);
		assert_int_equal(ipcwait_sem_trywait(&s), -EAGAIN);
		assert_int_equal(ipcwait_sem_post_n(&s, 2), 0);
		assert_int_equal(ipcwait_sem_wait_until(&s, 0), 0);
		assert_int_equal(ipcwait_sem_trywait(&s), 0);
	}
	after = counters(IPCWAIT_KIND_SEM);
	assert_memory_equal(&before, &after, sizeof(after));
}

static void test_kinds_are_apart(void **state)
{
	struct ipcwait_kind_stats sem = counters(IPCWAIT_KIND_SEM), after;
	struct ipcwait_kind_stats futex = counters(IPCWAIT_KIND_FUTEX);
	uint32_t word = 0;

	(void)state;
	assert_int_equal(ipcwait_futex_wake(&word, 1, 0), 0);
	/* A wait that begins after its deadline does not sleep. */
	do {
		assert_int_equal(ipcwait_futex_wait(&word, 0,
						    ipcwait_deadline_in_ns(1000000), NULL,
						    0),
				 -ETIMEDOUT);
		after = counters(IPCWAIT_KIND_FUTEX);
	} while (after.futex_waits == futex.futex_waits);
	assert_int_equal(after.futex_wakes - futex.futex_wakes, 1);
	assert_int_equal(after.futex_waits - futex.futex_waits, 1);
	after = counters(IPCWAIT_KIND_SEM);
	assert_memory_equal(&sem, &after, sizeof(after));
}

static void *expire_three_times(void *arg)
{
	struct ipcwait_sem s = IPCWAIT_SEM_INIT(0);

	(void)arg;
	for (int i = 0; i < 3; i++)
		CHECK_EQ(ipcwait_sem_wait_until(&s, -1), -ETIMEDOUT);
	return NULL;
}

static void expire_in_threads(unsigned n)
{
	pthread_t thread[20];

	CHECK(n <= 20);
	for (unsigned i = 0; i < n; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, expire_three_times, NULL), 0);
	for (unsigned i = 0; i < n; i++)
		CHECK_EQ(pthread_join(thread[i], NULL), 0);
}

/* More threads than there are shards, of their own and shared, many of them dead already. */
static void test_sum_over_threads(void **state)
{
	uint64_t last = counters(IPCWAIT_KIND_SEM).expired;

	(void)state;
	for (int round = 0; round < 10; round++) {
		uint64_t now;

		expire_in_threads(20);
		now = counters(IPCWAIT_KIND_SEM).expired;
		assert_int_equal(now - last, 60);
		last = now;
	}
}

#define CROWD  90
#define ROUNDS 2000

/* In step, so that those that share a shard meet in it. */
static pthread_barrier_t start_line;

static void *expire_at_once(void *arg)
{
	struct ipcwait_sem s = IPCWAIT_SEM_INIT(0);

	(void)arg;
	pthread_barrier_wait(&start_line);
	for (int i = 0; i < ROUNDS; i++)
		CHECK_EQ(ipcwait_sem_wait_until(&s, -1), -ETIMEDOUT);
	return NULL;
}

/* More threads at once than there are shards: those that share one lose nothing. */
static void test_sum_at_once(void **state)
{
	uint64_t before = counters(IPCWAIT_KIND_SEM).expired;
	pthread_t thread[CROWD];

	(void)state;
	assert_int_equal(pthread_barrier_init(&start_line, NULL, CROWD), 0);
	for (int i = 0; i < CROWD; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, expire_at_once, NULL), 0);
	for (int i = 0; i < CROWD; i++)
		assert_int_equal(pthread_join(thread[i], NULL), 0);
	assert_int_equal(counters(IPCWAIT_KIND_SEM).expired - before, CROWD * ROUNDS);
}

/* A wait of at most 4.8 us that took longer lost its CPU, and has really been long. */
#define DISTURBED_NS 20000
#define DISTURBED    77
#define ATTEMPTS     50

static int64_t deadline_ns;

static bool expires_in_time(struct ipcwait_sem *s)
{
	int64_t until = ipcwait_deadline_in_ns(deadline_ns);

	CHECK_EQ(ipcwait_sem_wait_until(s, until), -ETIMEDOUT);
	return ipcwait_deadline_in_ns(0) < until + DISTURBED_NS;
}

/* A few waits, since of more the first have taught the others: nothing came even after 60 us. */
static void expire_while_spinning(void)
{
	static struct ipcwait_sem s[3];
	struct ipcwait_stats st;
	bool in_time = true;

	for (int i = 0; i < 3; i++)
		in_time = expires_in_time(&s[i]) && in_time;
	CHECK_EQ(ipcwait_stats_get(&st, sizeof(st)), sizeof(st));
	CHECK_EQ(st.kind[IPCWAIT_KIND_SEM].expired, 3);
	CHECK_EQ(st.kind[IPCWAIT_KIND_SEM].slept, 0);
	if (st.reasons[IPCWAIT_REASON_LEARNED_LONG] && !in_time)
		_exit(DISTURBED);
	CHECK_EQ(st.reasons[IPCWAIT_REASON_LEARNED_LONG], 0);
}

/* The deadline ends the spin of a new object: that says nothing about how long waits are. */
static void test_short_deadlines(void **state)
{
	(void)state;
	for (deadline_ns = 800; deadline_ns <= 4800; deadline_ns += 100) {
		int status, attempts = 0;

		do
			status = check_in_child(expire_while_spinning);
		while (WIFEXITED(status) && WEXITSTATUS(status) == DISTURBED &&
		       ++attempts < ATTEMPTS);
		assert_int_equal(status, 0);
	}
}

static void *expire_often(void *arg)
{
	struct ipcwait_sem s = IPCWAIT_SEM_INIT(0);

	(void)arg;
	for (int i = 0; i < 30; i++)
		CHECK_EQ(ipcwait_sem_wait_until(&s, ipcwait_deadline_in_ns(200000)),
			 -ETIMEDOUT);
	return NULL;
}

/* A semaphore each: however many want to spin at once, nobody spins for what another does. */
static void many_are_no_crowd(void)
{
	struct ipcwait_stats st;
	pthread_t thread[8];

	for (int i = 0; i < 8; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, expire_often, NULL), 0);
	for (int i = 0; i < 8; i++)
		CHECK_EQ(pthread_join(thread[i], NULL), 0);
	CHECK_EQ(ipcwait_stats_get(&st, sizeof(st)), sizeof(st));
	CHECK_EQ(st.kind[IPCWAIT_KIND_SEM].expired, 240);
	CHECK_EQ(st.reasons[IPCWAIT_REASON_CROWDED], 0);
	CHECK_EQ(st.reasons[IPCWAIT_REASON_OVERTAKEN], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		/* First, as long as no wait has taught anything. */
		cmocka_unit_test(test_short_deadlines),
		/* First: no wait has taught this process anything. */
		CHILD_TEST(many_are_no_crowd),
		cmocka_unit_test(test_bad_arguments),
		cmocka_unit_test(test_old_sizes),
		cmocka_unit_test(test_newer_sizes),
		cmocka_unit_test(test_facts),
		cmocka_unit_test(test_expired),
		cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_fast_paths_leave_no_trace),
		cmocka_unit_test(test_kinds_are_apart),
		cmocka_unit_test(test_sum_over_threads),
		cmocka_unit_test(test_sum_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
