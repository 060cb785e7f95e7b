/* SPDX-License-Identifier: MIT */
/*
 * A signal handler that forks while its thread forks. libc lets it, and so does the library: no
 * handler runs in the thread while the library's parts of a fork hold their locks.
 */
#include <errno.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"

#define FORKS   300
#define HANDLED 30

static volatile sig_atomic_t handled;

static void fork_once(void)
{
	pid_t child = fork();

	if (!child)
		_exit(0);
	CHECK(child > 0);
	while (waitpid(child, NULL, 0) < 0)
		CHECK_EQ(errno, EINTR);
}

static void fork_too(int signal)
{
	int saved_errno = errno;

	(void)signal;
	fork_once();
	handled++;
	errno = saved_errno;
}

static void fork_and_be_interrupted(void)
{
	struct sigaction action = { .sa_handler = fork_too, .sa_flags = SA_RESTART };
	struct itimerval soon = { .it_value.tv_usec = 0 };
	struct ipcwait_queue_params params = { .elem_size = 8 };
	struct ipcwait_queue *queue = ipcwait_queue_create(&params);
	uint64_t x = 1;

	CHECK(queue != NULL);
	CHECK_EQ(ipcwait_queue_push(queue, &x), 0);
	CHECK_EQ(sigaction(SIGALRM, &action, NULL), 0);
	for (int i = 0; i < FORKS || handled < HANDLED; i++) {
		/* Once for each fork, at all places of it. */
		soon.it_value.tv_usec = 1 + i * 7 % 700;
		CHECK_EQ(setitimer(ITIMER_REAL, &soon, NULL), 0);
		fork_once();
	}
	ipcwait_queue_destroy(queue);
}

static void test_a_fork_in_a_fork(void **state)
{
	(void)state;
	/* ThreadSanitizer has locks of its own in a fork. */
	if (CHECK_DEFERS_SIGNALS)
		skip();
	assert_int_equal(check_in_child(fork_and_be_interrupted), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_fork_in_a_fork),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
