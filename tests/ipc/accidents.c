/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "accidents.h"
#include "common/check.h"

#define ERRNO_MARK 1174

/* The primitive's own call. */
static void interfere(int signal)
{
	int saved = errno;

	(void)signal;
	errno = ERRNO_MARK;
	stage_suspect->interfere(stage_region);
	CHECK_EQ(errno, ERRNO_MARK);
	errno = saved;
}

static void use_own_objects(void)
{
	struct ipcwait_window window = { 0 };
	struct ipcwait_sem own;
	uint32_t word = 0;

	CHECK_EQ(ipcwait_sem_init(&own, 1, IPCWAIT_PRIVATE), 0);
	CHECK_EQ(ipcwait_sem_trywait(&own), 0);
	CHECK_EQ(ipcwait_sem_trywait(&own), -EAGAIN);
	CHECK_EQ(ipcwait_sem_post_n(&own, 2), 0);
	CHECK_EQ(ipcwait_sem_value(&own), 2);
	CHECK_EQ(ipcwait_sem_fini(&own), 0);
	CHECK_EQ(ipcwait_window_set_preset(&window, IPCWAIT_POWER), 0);
	ipcwait_window_stamp(&window);
	CHECK_EQ(ipcwait_futex_wake(&word, 1, 0), 0);
	CHECK(ipcwait_deadline_in_ns(1000) > ipcwait_now_ns() - 1000000000);
	CHECK(ipcwait_version() != NULL);
}

/* All other calls that a handler may make. */
static void do_everything(int signal)
{
	struct region *r = stage_region;
	int saved = errno;

	(void)signal;
	errno = ERRNO_MARK;
	if (ipcwait_sem_trywait(&r->items) == 0)
		r->handler_taken++;
	CHECK(ipcwait_sem_value(&r->items) >= 0);
	CHECK_EQ(ipcwait_sem_post_n(&r->items, 2), 0);
	r->handler_posted += 2;
	ipcwait_window_stamp(&r->window);
	CHECK(ipcwait_futex_wake(&r->word, 1, 0) >= 0);
	use_own_objects();
	CHECK_EQ(errno, ERRNO_MARK);
	errno = saved;
}

/*
 * A copy of a process that is in the middle of a call; _Fork() may be called in a handler. The
 * victim does not sleep until the copy has ended: that would look like a sleep in its call.
 */
static void be_copied(int signal)
{
	int saved = errno, status = -1;
	pid_t child = _Fork();

	(void)signal;
	CHECK(child >= 0);
	if (child == 0) {
		use_own_objects();
		_exit(EXIT_SUCCESS);
	}
	while (waitpid(child, &status, WNOHANG) == 0)
		(void)sched_yield();
	CHECK_EQ(status, 0);
	errno = saved;
}

const struct accident accidents[] = {
	{
		.table = "kill",
		.name = "killed; then somebody posts",
		.heal = HEAL_BY_POST,
		.turn = 0,
		.turns = 2,
	},
	{
		.table = "kill",
		.name = "killed; then somebody looks, and sleeps",
		.heal = HEAL_BY_LOOK,
		.turn = 1,
		.turns = 2,
	},
	{
		.table = "signal",
		.name = "a handler makes a call on the same object",
		.handler = interfere,
		.turns = 1,
	},
	{
		.table = "signal",
		.name = "a handler makes all other calls",
		.handler = do_everything,
		.turn = 0,
		.turns = 4,
	},
	{
		.table = "signal",
		.name = "a handler forks; system calls restart",
		.handler = be_copied,
		.restarts = true,
		.turn = 2,
		.turns = 4,
	},
	{
		.table = "stop",
		.name = "stopped; the others go on, and it later",
		.stops = true,
		.turn = 1,
		.turns = 3,
	},
	{ .name = NULL },
};
