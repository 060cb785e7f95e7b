/* SPDX-License-Identifier: MIT */
/*
 * Mutexes that processes in two PID namespaces share, as those of two containers do, where a thread
 * of the one has the same id as one of the other: both are number 1. And a private once that one of
 * them has a copy of.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/cmocka_all.h"
#include "process.h"
#include "region.h"

#define ROUNDS   20000
#define SHORT_NS INT64_C(20000000)
#define LONG_NS  INT64_C(100000000000)

static const unsigned kinds[] = { IPCWAIT_RECURSIVE, IPCWAIT_ERRORCHECK };

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void (*inner)(struct region *r);

/* The first process of a namespace of its own, which ends with it. */
static void enter(struct region *r)
{
	pid_t first;

	CHECK(unshare(CLONE_NEWUSER | CLONE_NEWPID) == 0);
	first = fork();
	CHECK(first >= 0);
	if (first == 0) {
		CHECK_EQ(getpid(), 1);
		inner(r);
		_exit(EXIT_SUCCESS);
	}
	CHECK_EQ(check_reap(first), 0);
}

static pid_t begin_in_namespace(struct region *r, void (*body)(struct region *r))
{
	inner = body;
	return region_fork(r, enter);
}

static struct region *begin(unsigned flags)
{
	struct region *r = region_create();

	CHECK_EQ(ipcwait_mutex_init(&r->mutex, flags), 0);
	return r;
}

static void end(struct region *r)
{
	CHECK_EQ(ipcwait_mutex_fini(&r->mutex), 0);
	region_destroy(r);
}

static void await(struct ipcwait_sem *s)
{
	CHECK_EQ(ipcwait_sem_wait_until(s, ipcwait_deadline_in_ns(LONG_NS)), 0);
}

static void own_until_told(struct region *r)
{
	CHECK_EQ(ipcwait_mutex_lock(&r->mutex), 0);
	guarded_begin(&r->guarded);
	CHECK_EQ(ipcwait_sem_post(&r->done), 0);
	await(&r->items);
	guarded_end(&r->guarded);
	CHECK_EQ(ipcwait_mutex_unlock(&r->mutex), 0);
}

static void be_a_stranger(struct region *r)
{
	CHECK_EQ(ipcwait_mutex_lock_until(&r->mutex, ipcwait_deadline_in_ns(SHORT_NS)),
		 -ETIMEDOUT);
	CHECK_EQ(ipcwait_mutex_trylock(&r->mutex), -EBUSY);
	CHECK_EQ(ipcwait_mutex_unlock(&r->mutex), -EPERM);
}

static void same_id(void)
{
	for (unsigned i = 0; i < KINDS; i++) {
		struct region *r = begin(kinds[i]);
		pid_t owner = begin_in_namespace(r, own_until_told);

		await(&r->done);
		region_join(begin_in_namespace(r, be_a_stranger));
		CHECK_EQ(r->guarded.inside, 1);
		CHECK_EQ(ipcwait_sem_post(&r->items), 0);
		region_join(owner);
		end(r);
	}
}

static void lock_often(struct region *r)
{
	for (int i = 0; i < ROUNDS; i++) {
		CHECK_EQ(ipcwait_mutex_lock(&r->mutex), 0);
		guarded_begin(&r->guarded);
		guarded_end(&r->guarded);
		CHECK_EQ(ipcwait_mutex_unlock(&r->mutex), 0);
	}
}

static void one_owner_at_a_time(void)
{
	for (unsigned i = 0; i < KINDS; i++) {
		struct region *r = begin(kinds[i]);
		pid_t first = begin_in_namespace(r, lock_often);
		pid_t second = begin_in_namespace(r, lock_often);

		region_join(first);
		region_join(second);
		CHECK_EQ(r->guarded.done, 2 * ROUNDS);
		end(r);
	}
}

static struct ipcwait_once once = IPCWAIT_ONCE_INIT;
static unsigned once_runs;

static int count_run(void *arg)
{
	(void)arg;
	once_runs++;
	return 0;
}

/* In the child nobody runs it, though a thread of this number did in the parent. */
static int fork_as_first(void *arg)
{
	pid_t child;

	CHECK(unshare(CLONE_NEWPID) == 0);
	child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		CHECK_EQ(getpid(), 1);
		CHECK_EQ(ipcwait_once_run(&once, count_run, NULL), 0);
		CHECK_EQ(once_runs, 1);
		_exit(EXIT_SUCCESS);
	}
	CHECK_EQ(check_reap(child), 0);
	return count_run(arg);
}

static void run_and_fork(struct region *r)
{
	(void)r;
	CHECK_EQ(ipcwait_once_run(&once, fork_as_first, NULL), 0);
	CHECK_EQ(once_runs, 1);
}

static void copy_of_a_once(void)
{
	struct region *r = region_create();

	region_join(begin_in_namespace(r, run_and_fork));
	region_destroy(r);
}

static void nothing(void)
{
	if (unshare(CLONE_NEWUSER | CLONE_NEWPID))
		_exit(EXIT_FAILURE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(same_id),
		CHILD_TEST(one_owner_at_a_time),
		CHILD_TEST(copy_of_a_once),
	};

	if (check_in_child(nothing)) {
		print_message("skipped: PID namespaces of its own are forbidden here\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
