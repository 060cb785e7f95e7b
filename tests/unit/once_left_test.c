/* SPDX-License-Identifier: MIT */
/*
 * <ipcwait/once.h>, left without a return: its thread exits or is cancelled in the function, and
 * lives on until others have run it. tests/headers/cpp_once_test.cc has the exceptions.
 */
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/gates_word.h"

#define WAITERS 4

static struct {
	struct ipcwait_once once;
	unsigned lefts,
		runs;      /* plain on purpose: the once is what keeps the threads apart */
	unsigned returned; /* calls */
	bool cancelled, inside;
} job;

static bool sleeps(void *arg)
{
	(void)arg;
	return gate_word(&job.once.word) & ONCE_SLEEPS;
}

static bool is_inside(void *arg)
{
	(void)arg;
	return __atomic_load_n(&job.inside, __ATOMIC_ACQUIRE);
}

static bool have_returned(void *arg)
{
	return __atomic_load_n(&job.returned, __ATOMIC_ACQUIRE) == *(unsigned *)arg;
}

static int run(void *arg)
{
	(void)arg;
	job.runs++;
	return 0;
}

/* Is left, with @arg not before somebody waits for it. */
static int be_left(void *arg)
{
	job.lefts++;
	__atomic_store_n(&job.inside, true, __ATOMIC_RELEASE);
	if (arg)
		CHECK(check_eventually(sleeps, NULL));
	while (job.cancelled)
		(void)pause();
	pthread_exit(NULL);
}

static void run_it_oneself(void *arg)
{
	(void)arg;
	CHECK_EQ(gate_word(&job.once.word), 0);
	CHECK_EQ(ipcwait_once_run(&job.once, run, NULL), 0);
}

/* Until all others have returned. */
static void live_on(void *arg)
{
	CHECK(check_eventually(have_returned, arg));
}

static void *leave_and_run(void *arg)
{
	pthread_cleanup_push(run_it_oneself, NULL);
	(void)ipcwait_once_run(&job.once, be_left, NULL);
	pthread_cleanup_pop(0);
	return arg;
}

static void *leave_to_others(void *arg)
{
	static unsigned others = WAITERS;

	pthread_cleanup_push(live_on, &others);
	(void)ipcwait_once_run(&job.once, be_left, &job);
	pthread_cleanup_pop(0);
	return arg;
}

static void *wait_for_it(void *arg)
{
	CHECK_EQ(ipcwait_once_run(&job.once, run, NULL), 0);
	CHECK_EQ(job.runs, 1);
	__atomic_fetch_add(&job.returned, 1, __ATOMIC_RELEASE);
	return arg;
}

static pthread_t start(void *(*body)(void *))
{
	pthread_t thread;

	CHECK_EQ(pthread_create(&thread, NULL, body, NULL), 0);
	return thread;
}

static void end(pthread_t thread)
{
	CHECK_EQ(pthread_join(thread, NULL), 0);
}

static void make(unsigned i)
{
	job.lefts = job.runs = job.returned = 0;
	job.inside = false;
	job.cancelled = i & 1;
	CHECK_EQ(ipcwait_once_init(&job.once, i & 2 ? IPCWAIT_PRIVATE : 0), 0);
}

/* Nobody waits: whoever is next runs it, and be it the same thread on its way out. */
static void test_run_by_the_next(void)
{
	for (unsigned i = 0; i < 4; i++) {
		pthread_t thread;

		make(i);
		thread = start(leave_and_run);
		CHECK(check_eventually(is_inside, NULL));
		if (job.cancelled)
			CHECK_EQ(pthread_cancel(thread), 0);
		end(thread);
		CHECK_EQ(job.lefts, 1);
		CHECK_EQ(job.runs, 1);
		CHECK_EQ(ipcwait_once_run(&job.once, be_left, NULL), 0);
	}
}

static void test_run_by_one_who_waits(void)
{
	for (unsigned i = 0; i < 4; i++) {
		pthread_t runner, waiter[WAITERS];

		make(i);
		runner = start(leave_to_others);
		CHECK(check_eventually(is_inside, NULL));
		for (unsigned n = 0; n < WAITERS; n++)
			waiter[n] = start(wait_for_it);
		if (job.cancelled) {
			CHECK(check_eventually(sleeps, NULL));
			CHECK_EQ(pthread_cancel(runner), 0);
		}
		end(runner);
		for (unsigned n = 0; n < WAITERS; n++)
			end(waiter[n]);
		CHECK_EQ(job.lefts, 1);
		CHECK_EQ(job.runs, 1);
		CHECK_EQ(gate_word(&job.once.word), ONCE_DONE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(test_run_by_the_next),
		CHILD_TEST(test_run_by_one_who_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
