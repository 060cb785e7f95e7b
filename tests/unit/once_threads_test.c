/* SPDX-License-Identifier: MIT */
/* <ipcwait/once.h> with threads: one run, what is seen of it, failures, signals. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/gates_word.h"

#define THREADS  6
#define ONCES    200
#define FAILURES 3

/* Plain on purpose, all of it: the once is what keeps the threads apart. */
struct job {
	struct ipcwait_once once;
	unsigned runs, failures;
	uint64_t result;
	unsigned running;
};

static struct {
	struct job job[ONCES];
	uint64_t failed; /* calls */
	unsigned flags;
	enum ipcwait_preset preset;
	int ends[2];
} all;

static int run(void *arg)
{
	struct job *j = arg;

	CHECK_EQ(j->running++, 0);
	for (unsigned i = 0; i < 1000 * (j->runs + 1); i++)
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
	CHECK_EQ(j->running--, 1);
	if (j->runs++ < j->failures)
		return -EIO;
	j->result = 4711;
	return 0;
}

static void *use_all(void *arg)
{
	for (unsigned i = 0; i < ONCES; i++) {
		struct job *j = &all.job[i];
		int r;

		while ((r = ipcwait_once_run(&j->once, run, j)) != 0) {
			CHECK_EQ(r, -EIO);
			__atomic_fetch_add(&all.failed, 1, __ATOMIC_RELAXED);
		}
		CHECK_EQ(j->result, 4711);
	}
	return arg;
}

static void make(struct job *j, unsigned failures)
{
	*j = (struct job){ .failures = failures };
	CHECK_EQ(ipcwait_once_init(&j->once, all.flags), 0);
	CHECK_EQ(ipcwait_window_set_preset(&j->once.window, all.preset), 0);
}

static void runs_of_all(void)
{
	pthread_t thread[THREADS];
	uint64_t failures = 0;

	all.failed = 0;
	for (unsigned i = 0; i < ONCES; i++) {
		make(&all.job[i], i % FAILURES);
		failures += i % FAILURES;
	}
	for (unsigned i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, use_all, NULL), 0);
	for (unsigned i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_join(thread[i], NULL), 0);
	CHECK_EQ(all.failed, failures);
	for (unsigned i = 0; i < ONCES; i++) {
		CHECK_EQ(all.job[i].runs, i % FAILURES + 1);
		CHECK_EQ(gate_word(&all.job[i].once.word), ONCE_DONE);
	}
}

static void on_signal(int signal)
{
	(void)signal;
}

/* Lasts until somebody writes to the pipe. */
static int wait_for_a_word(void *arg)
{
	char byte;

	while (read(all.ends[0], &byte, 1) != 1)
		CHECK_EQ(errno, EINTR);
	return run(arg);
}

static void *run_it(void *arg)
{
	CHECK_EQ(ipcwait_once_run(&all.job[0].once, wait_for_a_word, &all.job[0]), 0);
	return arg;
}

static bool sleeps(void *arg)
{
	(void)arg;
	return gate_word(&all.job[0].once.word) & ONCE_SLEEPS;
}

static void signals_do_not_end_it(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	pthread_t thread[2];

	CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
	CHECK(pipe(all.ends) == 0);
	make(&all.job[0], 0);
	for (unsigned i = 0; i < 2; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, run_it, NULL), 0);
	CHECK(check_eventually(sleeps, NULL));
	/* Longer than the first alarms of who waits. */
	for (int i = 0; i < 150; i++) {
		CHECK(pthread_kill(thread[i % 2], SIGUSR1) == 0);
		(void)usleep(200);
	}
	CHECK_EQ(ipcwait_once_fini(&all.job[0].once), -EBUSY);
	CHECK(write(all.ends[1], "x", 1) == 1);
	for (unsigned i = 0; i < 2; i++)
		CHECK_EQ(pthread_join(thread[i], NULL), 0);
	CHECK_EQ(all.job[0].runs, 1);
	CHECK(close(all.ends[0]) == 0 && close(all.ends[1]) == 0);
}

static void with_each_preset(void (*test)(void))
{
	static const enum ipcwait_preset presets[] = { IPCWAIT_INHERIT, IPCWAIT_SPIN,
						       IPCWAIT_BLOCK };

	for (unsigned i = 0; i < 6; i++) {
		all.flags = i % 2 ? IPCWAIT_PRIVATE : 0;
		all.preset = presets[i / 2];
		test();
	}
}

static void test_runs(void)
{
	with_each_preset(runs_of_all);
}

static void test_signals(void)
{
	with_each_preset(signals_do_not_end_it);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(test_runs),
		CHILD_TEST(test_signals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
