/* SPDX-License-Identifier: MIT */
/*
 * Robust mutexes of threads that could not read their birth, because the process had no descriptors
 * left, and of owners that died before they had written it down.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/cmocka_all.h"
#include "common/mutex_word.h"
#include "heir.h"

/* The low part of a birth, lib/os/life.h. */
#define BEGAN UINT32_C(0x3fffff)

static void allow_descriptors(rlim_t n)
{
	struct rlimit limit;

	CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
	limit.rlim_cur = n < limit.rlim_max ? n : limit.rlim_max;
	CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

/* What could not be read once can be read later. */
static void init_later(void)
{
	struct ipcwait_mutex m;

	allow_descriptors(0);
	CHECK_EQ(ipcwait_mutex_init(&m, IPCWAIT_ROBUST), -ENOTSUP);
	allow_descriptors(64);
	CHECK_EQ(ipcwait_mutex_init(&m, IPCWAIT_ROBUST), 0);
}

static void own_without_descriptors(struct region *r)
{
	allow_descriptors(0);
	heir_own_and_stay(r);
}

/* The kernel has given the id of the owner, who is dead, to the caller. */
static void get_its_id(struct region *r)
{
	uint64_t w = mutex_word(&r->mutex) & ~MUTEX_WORD_OWNERS;

	mutex_fabricate(&r->mutex, w | (uint64_t)syscall(SYS_gettid) << 32);
}

static struct region *left_by_the_dead(void (*own)(struct region *r))
{
	struct region *r = heir_begin(IPCWAIT_RECURSIVE);
	pid_t child = region_fork(r, own);

	heir_be_told(r);
	region_kill(child);
	return r;
}

static void died_without_descriptors(void)
{
	struct region *r = left_by_the_dead(own_without_descriptors);

	heir_inherit(r);
	heir_end(r);
}

static void its_id_is_the_callers(void)
{
	struct region *r = left_by_the_dead(own_without_descriptors);

	get_its_id(r);
	CHECK_EQ(ipcwait_mutex_trylock(&r->mutex), -EBUSY);
	CHECK_EQ(ipcwait_mutex_unlock(&r->mutex), -EPERM);
	heir_inherit(r);
	heir_end(r);
}

/* It was killed between the step that takes the mutex and the next. */
static void it_had_not_written_its_birth(void)
{
	struct region *r = left_by_the_dead(heir_own_and_stay);

	__atomic_fetch_and(&r->mutex.note.v, ~BEGAN, __ATOMIC_RELAXED);
	get_its_id(r);
	CHECK_EQ(ipcwait_mutex_trylock(&r->mutex), -EBUSY);
	heir_inherit(r);
	heir_end(r);
}

/* It owns what it owned, and is found dead as others are, when it can read its birth. */
static void lock_and_read_later(struct region *r)
{
	allow_descriptors(0);
	CHECK_EQ(ipcwait_mutex_lock(&r->mutex), 0);
	allow_descriptors(64);
	CHECK_EQ(ipcwait_mutex_lock(&r->mutex), 0);
	CHECK_EQ(ipcwait_mutex_unlock(&r->mutex), 0);
	CHECK_EQ(ipcwait_mutex_unlock(&r->mutex), 0);
	CHECK_EQ(ipcwait_mutex_unlock(&r->mutex), -EPERM);
	heir_own_and_stay(r);
}

static void read_later(void)
{
	struct region *r = left_by_the_dead(lock_and_read_later);

	heir_inherit(r);
	heir_end(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(init_later),
		CHILD_TEST(died_without_descriptors),
		CHILD_TEST(its_id_is_the_callers),
		CHILD_TEST(it_had_not_written_its_birth),
		CHILD_TEST(read_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
