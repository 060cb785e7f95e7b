/* SPDX-License-Identifier: MIT */
/* lib/os/fork.c: parts in their order, inside the handlers that the program registers. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/cmocka_all.h"
#include "os/fork.h"

/* What has run, in the process that looks. */
static char told[32];

static void tell(char what)
{
	told[strlen(told)] = what;
}

static void before_first(void)
{
	tell('a');
}

static void in_parent_first(void)
{
	tell('A');
}

static void in_child_first(void)
{
	tell('1');
}

static void before_last(void)
{
	tell('c');
}

static void in_parent_last(void)
{
	tell('C');
}

static void in_child_last(void)
{
	tell('3');
}

static void in_child_only(void)
{
	tell('2');
}

static void prepare(void)
{
	memset(told, 0, sizeof(told));
	tell('(');
}

static void finish(void)
{
	tell(')');
}

/* The last part tells of itself first, as objects of a static library may. */
static void register_all(void)
{
	static const struct iw_fork_hooks first = { before_first, in_parent_first,
						    in_child_first },
					  last = { before_last, in_parent_last,
						   in_child_last },
					  middle = { .in_child = in_child_only };

	CHECK_EQ(pthread_atfork(prepare, finish, finish), 0);
	CHECK(iw_fork_hook(IW_FORK_WAKE_LATENCY, &last));
	CHECK(iw_fork_hook(IW_FORK_POOLS, &middle));
	CHECK(iw_fork_hook(IW_FORK_PAGE, &first));
}

static void be_child(const char *want)
{
	CHECK_EQ(strcmp(told, want), 0);
	_exit(EXIT_SUCCESS);
}

static void fork_and_look(void)
{
	pid_t child = fork();

	CHECK(child >= 0);
	if (!child)
		be_child("(ac321)");
	CHECK_EQ(strcmp(told, "(acCA)"), 0);
	CHECK_EQ(check_reap(child), 0);
}

static void parts_in_order(void)
{
	register_all();
	fork_and_look();
	fork_and_look();
}

static void *fork_often(void *unused)
{
	(void)unused;
	for (int i = 0; i < 100; i++) {
		pid_t child = fork();

		CHECK(child >= 0);
		if (!child)
			_exit(EXIT_SUCCESS);
		CHECK_EQ(check_reap(child), 0);
	}
	return NULL;
}

static int inside;

static void come_in(void)
{
	CHECK_EQ(inside++, 0);
}

static void go_out(void)
{
	CHECK_EQ(--inside, 0);
}

/* Of two threads that fork at once one waits until the other has undone what it has done. */
static void forks_take_turns(void)
{
	static const struct iw_fork_hooks hooks = { come_in, go_out, go_out };
	pthread_t thread[2];

	CHECK(iw_fork_hook(IW_FORK_PAGE, &hooks));
	for (int i = 0; i < 2; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, fork_often, NULL), 0);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(pthread_join(thread[i], NULL), 0);
}

static void before_and_more(void)
{
	static const struct iw_fork_hooks late = { before_last, in_parent_last,
						   in_child_last };

	tell('a');
	CHECK(iw_fork_hook(IW_FORK_TALLY, &late));
}

/* A library that is loaded meanwhile undoes nothing that it has not done. */
static void added_in_a_fork(void)
{
	static const struct iw_fork_hooks first = { before_and_more, in_parent_first,
						    in_child_first };
	pid_t child;

	CHECK(iw_fork_hook(IW_FORK_PAGE, &first));
	child = fork();
	CHECK(child >= 0);
	if (!child)
		be_child("a1");
	CHECK_EQ(strcmp(told, "aA"), 0);
	CHECK_EQ(check_reap(child), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(parts_in_order),
		CHILD_TEST(forks_take_turns),
		CHILD_TEST(added_in_a_fork),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
