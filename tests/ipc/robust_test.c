/* SPDX-License-Identifier: MIT */
/*
 * Robust mutexes whose owner comes to an end, in every way there is, and what the others get.
 * (At every instruction: step_test.c. By the thousand: mutex_storm.c.)
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <unistd.h>

#include "common/cmocka_all.h"
#include "heir.h"
#include "process.h"

static char **arguments;

static void killed(void)
{
	struct region *r = heir_begin(0);

	for (int i = 0; i < 20; i++) {
		pid_t child = heir_start_owner(r);

		CHECK_EQ(ipcwait_mutex_trylock(&r->mutex), -EBUSY);
		region_kill(child);
		heir_inherit(r);
	}
	heir_end(r);
}

static void own_and_return(struct region *r)
{
	heir_own(r);
}

static void own_and_run_exit_handlers(struct region *r)
{
	heir_own(r);
	exit(EXIT_SUCCESS);
}

static void own_and_crash(struct region *r)
{
	heir_own(r);
	CHECK(signal(SIGABRT, SIG_DFL) != SIG_ERR);
	abort();
}

static void ended(void)
{
	void (*const bodies[])(struct region *) = { own_and_return,
						    own_and_run_exit_handlers };
	struct region *r = heir_begin(0);
	pid_t child;

	for (int i = 0; i < 2; i++) {
		child = region_fork(r, bodies[i]);
		heir_be_told(r);
		/* Nobody has reaped it. */
		heir_inherit(r);
		region_join(child);
		heir_end(r);
		r = heir_begin(0);
	}
	child = region_fork(r, own_and_crash);
	heir_be_told(r);
	heir_inherit(r);
	CHECK(check_reap(child) != 0);
	heir_end(r);
}

static bool addresses_are_random(void)
{
	FILE *file = fopen("/proc/sys/kernel/randomize_va_space", "re");
	int random = file && fgetc(file) > '0';

	if (file)
		(void)fclose(file);
	return random && !(personality(0xffffffff) & ADDR_NO_RANDOMIZE);
}

#define REPLACED "be something else"

static void own_and_exec(struct region *r)
{
	char *argv[] = { arguments[0], (char[]){ REPLACED }, NULL };

	heir_own(r);
	(void)execv("/proc/self/exe", argv);
	CHECK(!"execv");
}

/* The process goes on, with the same id, as another program. */
static void replaced(void)
{
	struct region *r = heir_begin(0);
	pid_t child;

	if (!addresses_are_random()) {
		print_message("not tried: addresses are not random\n");
		return;
	}
	child = region_fork(r, own_and_exec);
	heir_be_told(r);
	heir_inherit(r);
	CHECK(process_state(child) != 'Z');
	region_kill(child);
	heir_end(r);
}

static void *own_in_thread(void *arg)
{
	heir_own(arg);
	return NULL;
}

/* Its process lives on. */
static void thread_ended(void)
{
	struct region *r = heir_begin(IPCWAIT_PRIVATE);
	pthread_t thread;

	for (int i = 0; i < 5; i++) {
		CHECK_EQ(pthread_create(&thread, NULL, own_in_thread, r), 0);
		CHECK_EQ(pthread_join(thread, NULL), 0);
		heir_inherit(r);
	}
	heir_end(r);
}

static void be_a_copy(struct region *r)
{
	CHECK_EQ(ipcwait_mutex_unlock(&r->mutex), -EPERM);
	CHECK_EQ(ipcwait_mutex_consistent(&r->mutex), -EINVAL);
	CHECK_EQ(ipcwait_mutex_trylock(&r->mutex), -EBUSY);
	CHECK_EQ(heir_lock_for(r, HEIR_SHORT_NS), -ETIMEDOUT);
}

/* A copy of the owner is not the owner, and its end is not the owner's. */
static void forked(void)
{
	struct region *r = heir_begin(IPCWAIT_ERRORCHECK);

	CHECK_EQ(ipcwait_mutex_lock(&r->mutex), 0);
	region_join(region_fork(r, be_a_copy));
	CHECK_EQ(ipcwait_mutex_lock(&r->mutex), -EDEADLK);
	CHECK_EQ(ipcwait_mutex_consistent(&r->mutex), -EINVAL);
	heir_unlock(r);
	heir_end(r);
}

static void inherit_and_stay(struct region *r)
{
	CHECK_EQ(heir_lock_for(r, HEIR_LONG_NS), -EOWNERDEAD);
	heir_tell(r);
	for (;;)
		(void)pause();
}

static void inherit_repair_and_stay(struct region *r)
{
	CHECK_EQ(heir_lock_for(r, HEIR_LONG_NS), -EOWNERDEAD);
	CHECK_EQ(ipcwait_mutex_consistent(&r->mutex), 0);
	heir_tell(r);
	for (;;)
		(void)pause();
}

/* The heir dies too: before it has put it in order, or after. */
static void died_twice(void)
{
	void (*const heirs[])(struct region *) = { inherit_and_stay, inherit_and_stay,
						   inherit_repair_and_stay };
	struct region *r = heir_begin(0);
	pid_t child = heir_start_owner(r);

	for (int i = 0; i < 3; i++) {
		region_kill(child);
		child = region_fork(r, heirs[i]);
		heir_be_told(r);
		CHECK_EQ(ipcwait_mutex_trylock(&r->mutex), -EBUSY);
	}
	region_kill(child);
	heir_inherit(r);
	heir_end(r);
}

static void own_thrice(struct region *r)
{
	CHECK_EQ(ipcwait_mutex_lock(&r->mutex), 0);
	CHECK_EQ(ipcwait_mutex_lock(&r->mutex), 0);
	heir_own_and_stay(r);
}

/* The heir owns it once, however often the dead one did. */
static void died_as_recursive_owner(void)
{
	struct region *r = heir_begin(IPCWAIT_RECURSIVE);
	pid_t child = region_fork(r, own_thrice);

	heir_be_told(r);
	region_kill(child);
	CHECK_EQ(heir_lock_for(r, HEIR_LONG_NS), -EOWNERDEAD);
	CHECK_EQ(ipcwait_mutex_lock(&r->mutex), 0);
	CHECK(guarded_repair(&r->guarded));
	CHECK_EQ(ipcwait_mutex_consistent(&r->mutex), 0);
	CHECK_EQ(ipcwait_mutex_unlock(&r->mutex), 0);
	region_join(region_fork(r, be_a_copy));
	heir_unlock(r);
	CHECK_EQ(ipcwait_mutex_unlock(&r->mutex), -EPERM);
	heir_end(r);
}

/* Not dead: stopped. */
static void stopped(void)
{
	struct region *r = heir_begin(0);
	pid_t child = heir_start_owner(r);

	CHECK(kill(child, SIGSTOP) == 0);
	CHECK_EQ(heir_lock_for(r, HEIR_SHORT_NS), -ETIMEDOUT);
	CHECK_EQ(ipcwait_mutex_trylock(&r->mutex), -EBUSY);
	region_kill(child);
	heir_inherit(r);
	heir_end(r);
}

/* The kernel has given the owner's id to another thread, which has another birth. */
static void id_used_again(void)
{
	struct region *r = heir_begin(0);
	pid_t child = heir_start_owner(r);

	__atomic_fetch_xor(&r->mutex.note.v, 1, __ATOMIC_RELAXED);
	heir_inherit(r);
	region_kill(child);
	heir_end(r);
}

/* What ids mean in another namespace is not known, and so nobody may own it there. */
static void of_another_namespace(void)
{
	struct region *r = heir_begin(0);
	pid_t child = heir_start_owner(r);

	__atomic_fetch_xor(&r->mutex.note.v, UINT32_C(1) << 31, __ATOMIC_RELAXED);
	region_kill(child);
	CHECK_EQ(heir_lock_for(r, HEIR_SHORT_NS), -ENOTSUP);
	CHECK_EQ(ipcwait_mutex_lock(&r->mutex), -ENOTSUP);
	CHECK_EQ(ipcwait_mutex_trylock(&r->mutex), -ENOTSUP);
	__atomic_fetch_xor(&r->mutex.note.v, UINT32_C(1) << 31, __ATOMIC_RELAXED);
	heir_inherit(r);
	heir_end(r);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(killed),
		CHILD_TEST(ended),
		CHILD_TEST(replaced),
		CHILD_TEST(thread_ended),
		CHILD_TEST(forked),
		CHILD_TEST(died_twice),
		CHILD_TEST(died_as_recursive_owner),
		CHILD_TEST(stopped),
		CHILD_TEST(id_used_again),
		CHILD_TEST(of_another_namespace),
	};

	arguments = argv;
	if (argc > 1 && strcmp(argv[1], REPLACED) == 0)
		for (;;)
			(void)pause();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
