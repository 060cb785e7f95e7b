/* SPDX-License-Identifier: MIT */
/* <ipcwait/cond.h> with threads, each test private and shared: who is released by what. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/cond_word.h"
#include "common/fini.h"

#define FAR_NS INT64_C(3600000000000)
#define MANY   20

static struct room {
	struct ipcwait_cond c;
	struct ipcwait_mutex m;
} * room;

static unsigned flags;

struct waiter {
	int64_t deadline_ns;
	pthread_t thread;
	int result;
	int done;
	int begun; /* it has the mutex, and is about to wait */
};

static int begin(unsigned with)
{
	check_watchdog(60);
	flags = with;
	room = aligned_alloc(64, 128);
	CHECK(room != NULL);
	CHECK_EQ(ipcwait_mutex_init(&room->m, flags), 0);
	return ipcwait_cond_init(&room->c, flags);
}

static int shared(void **state)
{
	(void)state;
	return begin(0);
}

static int private(void **state)
{
	(void)state;
	return begin(IPCWAIT_PRIVATE);
}

static int end(void **state)
{
	(void)state;
	free(room);
	return 0;
}

static void lock(void)
{
	CHECK_EQ(ipcwait_mutex_lock(&room->m), 0);
}

static void unlock(void)
{
	CHECK_EQ(ipcwait_mutex_unlock(&room->m), 0);
}

static void *wait_once(void *arg)
{
	struct waiter *w = arg;

	lock();
	__atomic_store_n(&w->begun, 1, __ATOMIC_RELEASE);
	errno = 4711;
	w->result = w->deadline_ns == IPCWAIT_FOREVER
			    ? ipcwait_cond_wait(&room->c, &room->m)
			    : ipcwait_cond_wait_until(&room->c, &room->m, w->deadline_ns);
	CHECK_EQ(errno, 4711);
	CHECK(w->result == 0 || ipcwait_now_ns() >= w->deadline_ns);
	__atomic_store_n(&w->done, 1, __ATOMIC_RELEASE);
	unlock();
	return NULL;
}

static bool all_in(void *arg)
{
	uint64_t a = cond_arrivals(&room->c);

	/* Whoever has a turn only is counted too: it will get a ticket. */
	return cond_tickets(&room->c) + arrivals_spinner(a) == *(unsigned *)arg;
}

/* So many wait; they have unlocked the mutex. */
static void await(unsigned n)
{
	CHECK(check_eventually(all_in, &n));
	lock();
	unlock();
}

static void start(struct waiter *w, int64_t deadline_ns)
{
	*w = (struct waiter){ .deadline_ns = deadline_ns };
	CHECK(pthread_create(&w->thread, NULL, wait_once, w) == 0);
}

static int join(struct waiter *w)
{
	CHECK(pthread_join(w->thread, NULL) == 0);
	return w->result;
}

static int done(const struct waiter *w)
{
	return __atomic_load_n(&w->done, __ATOMIC_ACQUIRE);
}

static unsigned count_done(const struct waiter *w, unsigned n)
{
	unsigned count = 0;

	for (unsigned i = 0; i < n; i++)
		count += (unsigned)done(&w[i]);
	return count;
}

struct expected {
	const struct waiter *w;
	unsigned done;
};

static bool are_done(void *arg)
{
	struct expected *e = arg;

	return count_done(e->w, MANY) >= e->done;
}

/* Each signal releases one, with the mutex or without. */
static void test_signals(void **state)
{
	struct waiter w[MANY];

	(void)state;
	for (unsigned i = 0; i < MANY; i++)
		start(&w[i], i % 2 ? IPCWAIT_FOREVER : ipcwait_deadline_in_ns(FAR_NS));
	await(MANY);
	for (unsigned i = 1; i <= MANY; i++) {
		struct expected e = { w, i };

		if (i % 2)
			lock();
		assert_int_equal(ipcwait_cond_signal(&room->c), 0);
		if (i % 2)
			unlock();
		assert_true(check_eventually(are_done, &e));
	}
	for (unsigned i = 0; i < MANY; i++)
		assert_int_equal(join(&w[i]), 0);
	assert_int_equal(ipcwait_cond_fini(&room->c), 0);
}

/* The memory is used for something else as soon as fini allows it. */
static void test_broadcast_then_fini(void **state)
{
	struct waiter w[MANY];

	(void)state;
	for (int round = 0; round < 20; round++) {
		for (unsigned i = 0; i < MANY; i++)
			start(&w[i], IPCWAIT_FOREVER);
		await(MANY);
		assert_int_equal(ipcwait_cond_fini(&room->c), -EBUSY);
		/* Whoever ends it may hold the mutex. */
		lock();
		assert_int_equal(ipcwait_cond_broadcast(&room->c), 0);
		assert_int_equal(fini_cond(&room->c), 0);
		memset(&room->c, 0xa5, sizeof(room->c));
		unlock();
		for (unsigned i = 0; i < MANY; i++)
			assert_int_equal(join(&w[i]), 0);
		for (unsigned i = 0; i < sizeof(room->c); i++)
			assert_int_equal(((unsigned char *)&room->c)[i], 0xa5);
		assert_int_equal(ipcwait_cond_init(&room->c, flags), 0);
	}
}

/* All that wait without a deadline: every other one. */
static bool have_begun(void *waiters)
{
	const struct waiter *w = waiters;
	bool all = true;

	for (unsigned i = 1; i < MANY; i += 2)
		all = all && __atomic_load_n(&w[i].begun, __ATOMIC_ACQUIRE);
	return all;
}

/* Those that give up take no signal with them. */
static void test_deadlines_beside_signals(void **state)
{
	struct waiter w[MANY];

	(void)state;
	for (unsigned i = 0; i < MANY; i++)
		start(&w[i], i % 2 ? IPCWAIT_FOREVER
				   : ipcwait_deadline_in_ns((int64_t)i * 300000));
	for (unsigned i = 0; i < MANY; i += 2) {
		assert_int_equal(join(&w[i]), -ETIMEDOUT);
		w[i].done = 0;
	}
	/* A thread may be late. Whoever has begun waits when the mutex is free again. */
	assert_true(check_eventually(have_begun, w));
	lock();
	unlock();
	for (unsigned i = 1; i <= MANY / 2; i++) {
		struct expected e = { w, i };

		assert_int_equal(ipcwait_cond_signal(&room->c), 0);
		assert_true(check_eventually(are_done, &e));
	}
	for (unsigned i = 1; i < MANY; i += 2)
		assert_int_equal(join(&w[i]), 0);
	assert_int_equal(ipcwait_cond_fini(&room->c), 0);
}

static void on_signal(int signal)
{
	(void)signal;
	CHECK_EQ(ipcwait_cond_signal(&room->c), 0);
}

static void ignore(int signal)
{
	(void)signal;
}

/* A handler ends no wait by itself, but may signal. */
static void test_handlers(void **state)
{
	struct sigaction idle = { .sa_handler = ignore },
			 busy = { .sa_handler = on_signal };
	struct waiter w;

	(void)state;
	if (CHECK_DEFERS_SIGNALS)
		return;
	assert_int_equal(sigaction(SIGUSR1, &idle, NULL), 0);
	assert_int_equal(sigaction(SIGUSR2, &busy, NULL), 0);
	start(&w, IPCWAIT_FOREVER);
	await(1);
	for (int i = 0; i < 50; i++) {
		assert_int_equal(pthread_kill(w.thread, SIGUSR1), 0);
		(void)sched_yield();
	}
	assert_int_equal(done(&w), 0);
	assert_int_equal(pthread_kill(w.thread, SIGUSR2), 0);
	assert_int_equal(join(&w), 0);
}

#define CROWD  32
#define STUCK  2
#define CROWDS 20

static bool let_go;

static void stay(int signal)
{
	(void)signal;
	while (!__atomic_load_n(&let_go, __ATOMIC_ACQUIRE))
		(void)sched_yield();
}

static bool all_but_the_stuck_are_back(void *arg)
{
	return count_done((struct waiter *)arg + STUCK, CROWD - STUCK) == CROWD - STUCK;
}

/* All on one CPU: who is woken has its signal before it runs. */
static void stay_on_one_cpu(cpu_set_t *before)
{
	cpu_set_t one;
	int cpu = 0;

	assert_int_equal(sched_getaffinity(0, sizeof(*before), before), 0);
	while (!CPU_ISSET(cpu, before))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
}

static void release_a_crowd(void)
{
	struct waiter w[CROWD];

	__atomic_store_n(&let_go, false, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < CROWD; i++) {
		start(&w[i], IPCWAIT_FOREVER);
		await(i + 1);
	}
	assert_int_equal(ipcwait_cond_broadcast(&room->c), 0);
	for (unsigned i = 0; i < STUCK; i++)
		assert_int_equal(pthread_kill(w[i].thread, SIGUSR1), 0);
	assert_true(check_eventually(all_but_the_stuck_are_back, w));
	__atomic_store_n(&let_go, true, __ATOMIC_RELEASE);
	for (unsigned i = 0; i < CROWD; i++)
		assert_int_equal(join(&w[i]), 0);
}

static bool is_staying;

/* For longer than waiters get that may have been killed. */
static void stay_long(int signal)
{
	const struct timespec time = { .tv_sec = 1, .tv_nsec = 300000000 };

	(void)signal;
	__atomic_store_n(&is_staying, true, __ATOMIC_RELEASE);
	(void)nanosleep(&time, NULL);
}

static bool stays(void *arg)
{
	(void)arg;
	return __atomic_load_n(&is_staying, __ATOMIC_ACQUIRE);
}

/* A private one does not say that it is busy when all have been released. */
static void test_fini_beside_a_handler(void **state)
{
	struct sigaction action = { .sa_handler = stay_long };
	struct waiter w;

	(void)state;
	if (CHECK_DEFERS_SIGNALS)
		return;
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	start(&w, IPCWAIT_FOREVER);
	await(1);
	assert_int_equal(pthread_kill(w.thread, SIGUSR1), 0);
	assert_true(check_eventually(stays, NULL));
	assert_int_equal(ipcwait_cond_broadcast(&room->c), 0);
	assert_int_equal(ipcwait_cond_fini(&room->c), 0);
	assert_int_equal(join(&w), 0);
}

/* Whom a broadcast has released depends on no other waiter. */
static void test_broadcast_beside_handlers(void **state)
{
	struct sigaction action = { .sa_handler = stay };
	cpu_set_t before;

	(void)state;
	if (CHECK_DEFERS_SIGNALS)
		return;
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	stay_on_one_cpu(&before);
	for (unsigned n = 0; n < CROWDS; n++)
		release_a_crowd();
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
}

#define ROUNDS 20000

static struct ipcwait_cond turn_changed[2];
static unsigned whose_turn;

static void *take_turns(void *arg)
{
	unsigned me = *(unsigned *)arg;

	for (int i = 0; i < ROUNDS; i++) {
		lock();
		while (whose_turn != me)
			CHECK_EQ(ipcwait_cond_wait(&turn_changed[me], &room->m), 0);
		whose_turn = !me;
		CHECK_EQ(ipcwait_cond_signal(&turn_changed[!me]), 0);
		unlock();
	}
	return NULL;
}

static void test_taking_turns(void **state)
{
	unsigned me[2] = { 0, 1 };
	pthread_t thread[2];

	(void)state;
	whose_turn = 0;
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(ipcwait_cond_init(&turn_changed[i], flags), 0);
	for (unsigned i = 0; i < 2; i++)
		CHECK(pthread_create(&thread[i], NULL, take_turns, &me[i]) == 0);
	for (unsigned i = 0; i < 2; i++)
		CHECK(pthread_join(thread[i], NULL) == 0);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(ipcwait_cond_fini(&turn_changed[i]), 0);
}

/* A barrier: everybody waits for the last, whose broadcast reaches all but itself. */
static unsigned arrived, generation;

static void *pass_barriers(void *arg)
{
	(void)arg;
	for (int i = 0; i < 300; i++) {
		unsigned mine;

		lock();
		mine = generation;
		if (++arrived == MANY) {
			arrived = 0;
			generation++;
			CHECK_EQ(ipcwait_cond_broadcast(&room->c), 0);
		}
		while (generation == mine)
			CHECK_EQ(ipcwait_cond_wait(&room->c, &room->m), 0);
		unlock();
	}
	return NULL;
}

static void test_barrier(void **state)
{
	pthread_t thread[MANY];

	(void)state;
	arrived = generation = 0;
	for (unsigned i = 0; i < MANY; i++)
		CHECK(pthread_create(&thread[i], NULL, pass_barriers, NULL) == 0);
	for (unsigned i = 0; i < MANY; i++)
		CHECK(pthread_join(thread[i], NULL) == 0);
	assert_int_equal(ipcwait_cond_fini(&room->c), 0);
}

#define BOTH(f)                                          \
	cmocka_unit_test_setup_teardown(f, shared, end), \
		cmocka_unit_test_setup_teardown(f, private, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(test_signals),
		BOTH(test_broadcast_then_fini),
		BOTH(test_deadlines_beside_signals),
		BOTH(test_handlers),
		BOTH(test_broadcast_beside_handlers),
		cmocka_unit_test_setup_teardown(test_fini_beside_a_handler, private, end),
		BOTH(test_taking_turns),
		BOTH(test_barrier),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
