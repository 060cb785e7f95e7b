/* SPDX-License-Identifier: MIT */
/*
 * A program with the shared library, and a plugin that is linked with the static one: two copies
 * of the library, which share liburcu. A fork beside queues of both returns in parent and child.
 *
 *	two_copies_test PLUGIN
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ipcwait/queue.h>

#include "common/cmocka_all.h"

/* Elements until some segments are used up. */
#define MANY  5000
#define FORKS 200

static struct ipcwait_queue *queue;
static _Atomic bool over;

/* Of the plugin: push and pop so often, in a queue of its own. */
static void (*use_plugin)(int rounds);

static void use_own(int rounds)
{
	uint64_t x = 1;

	for (int i = 0; i < rounds; i++) {
		CHECK_EQ(ipcwait_queue_push(queue, &x), 0);
		CHECK_EQ(ipcwait_queue_trypop(queue, &x), 0);
	}
}

static void use_both(int rounds)
{
	use_own(rounds);
	use_plugin(rounds);
}

static void *use_for_long(void *unused)
{
	(void)unused;
	while (!over)
		use_both(MANY);
	return NULL;
}

static void begin(void)
{
	struct ipcwait_queue_params params = { .elem_size = 8 };

	queue = ipcwait_queue_create(&params);
	CHECK(queue != NULL);
}

/* Grandchildren too: the child's handlers are as good as the parent's. */
static void fork_and_use(int generations)
{
	pid_t child = fork();

	CHECK(child >= 0);
	if (!child) {
		use_both(MANY);
		(void)ipcwait_queue_trim(queue);
		if (generations > 1)
			fork_and_use(generations - 1);
		_exit(EXIT_SUCCESS);
	}
	CHECK_EQ(check_reap(child), 0);
}

/* Either copy, or both, has used a queue. */
static void own(void)
{
	begin();
	use_own(1);
	fork_and_use(2);
	use_both(MANY);
	fork_and_use(2);
}

static void the_others(void)
{
	begin();
	use_plugin(1);
	fork_and_use(2);
	use_both(MANY);
	fork_and_use(2);
}

/* The workers of both are in the middle of something. */
static void beside_users(void)
{
	pthread_t thread;

	begin();
	CHECK_EQ(pthread_create(&thread, NULL, use_for_long, NULL), 0);
	for (int i = 0; i < FORKS; i++) {
		pid_t child = fork();

		CHECK(child >= 0);
		if (!child)
			_exit(EXIT_SUCCESS);
		CHECK_EQ(check_reap(child), 0);
	}
	over = true;
	CHECK_EQ(pthread_join(thread, NULL), 0);
}

/* Signals are blocked in the fork only. */
static void signals_as_before(void)
{
	sigset_t before, after;

	begin();
	use_both(1);
	CHECK_EQ(pthread_sigmask(SIG_SETMASK, NULL, &before), 0);
	fork_and_use(1);
	CHECK_EQ(pthread_sigmask(SIG_SETMASK, NULL, &after), 0);
	for (int i = 1; i < SIGRTMAX; i++)
		CHECK_EQ(sigismember(&after, i), sigismember(&before, i));
}

static void (*body)(void);

/* Signals are blocked in such a fork, so a watchdog in the process itself would not help. */
static bool ends(void *child)
{
	int status;
	pid_t r = waitpid(*(pid_t *)child, &status, WNOHANG);

	CHECK(r >= 0);
	if (r)
		CHECK_EQ(status, 0);
	return r;
}

static void run_watched(void **state)
{
	pid_t child = fork();
	bool ended;

	body = *(void (**)(void)) * state;
	assert_true(child >= 0);
	if (!child) {
		body();
		_exit(EXIT_SUCCESS);
	}
	ended = check_eventually(ends, &child);
	if (!ended)
		(void)kill(child, SIGKILL);
	assert_true(ended);
}

#define WATCHED_TEST(of)                                        \
	{                                                       \
#of, run_watched, NULL, NULL, &(void (*)(void)) \
		{                                               \
			of                                      \
		}                                               \
	}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		WATCHED_TEST(own),
		WATCHED_TEST(the_others),
		WATCHED_TEST(beside_users),
		WATCHED_TEST(signals_as_before),
	};
	void *plugin;

	CHECK_EQ(argc, 2);
	plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	CHECK(plugin != NULL);
	*(void **)&use_plugin = dlsym(plugin, "two_copies_use");
	CHECK(use_plugin != NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
