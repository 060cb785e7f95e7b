/* SPDX-License-Identifier: MIT */
/* What those get who wait for a robust mutex whose owner dies, or gives it up for good. */
#include <errno.h>
#include <unistd.h>

#include "common/cmocka_all.h"
#include "common/mutex_word.h"
#include "heir.h"
#include "process.h"

static void find_it_lost(struct region *r)
{
	CHECK_EQ(ipcwait_mutex_trylock(&r->mutex), -ENOTRECOVERABLE);
	CHECK_EQ(ipcwait_mutex_lock(&r->mutex), -ENOTRECOVERABLE);
	CHECK_EQ(heir_lock_for(r, HEIR_LONG_NS), -ENOTRECOVERABLE);
	CHECK_EQ(ipcwait_mutex_unlock(&r->mutex), -EPERM);
	CHECK_EQ(ipcwait_mutex_consistent(&r->mutex), -EPERM);
}

static void wait_in_vain(struct region *r)
{
	CHECK_EQ(ipcwait_mutex_lock(&r->mutex), -ENOTRECOVERABLE);
	find_it_lost(r);
}

/* Or it has slept, and is over: its deadline has passed. */
static bool sleeps(void *arg)
{
	char state = process_state(*(pid_t *)arg);

	return state == 'S' || state == 'Z';
}

static pid_t seat(struct region *r, void (*body)(struct region *r))
{
	pid_t child = region_fork(r, body);

	CHECK(check_eventually(sleeps, &child));
	return child;
}

/* Unlocked without ipcwait_mutex_consistent(). */
static void lost(void)
{
	struct region *r = heir_begin(0);
	pid_t waiter[3], child = heir_start_owner(r);

	region_kill(child);
	CHECK_EQ(heir_lock_for(r, HEIR_LONG_NS), -EOWNERDEAD);
	for (int i = 0; i < 3; i++)
		waiter[i] = seat(r, wait_in_vain);
	CHECK_EQ(ipcwait_mutex_unlock(&r->mutex), 0);
	find_it_lost(r);
	for (int i = 0; i < 3; i++)
		region_join(waiter[i]);
	CHECK_EQ(ipcwait_mutex_init(&r->mutex, IPCWAIT_ROBUST), 0);
	CHECK(guarded_repair(&r->guarded));
	heir_end(r);
}

static void consistent_in_good_health(void)
{
	struct region *r = heir_begin(0);
	pid_t child;

	CHECK_EQ(ipcwait_mutex_consistent(&r->mutex), -EINVAL);
	CHECK_EQ(ipcwait_mutex_lock(&r->mutex), 0);
	CHECK_EQ(ipcwait_mutex_consistent(&r->mutex), -EINVAL);
	CHECK_EQ(ipcwait_mutex_unlock(&r->mutex), 0);
	child = heir_start_owner(r);
	CHECK_EQ(ipcwait_mutex_consistent(&r->mutex), -EINVAL);
	region_kill(child);
	CHECK_EQ(ipcwait_mutex_consistent(&r->mutex), -EINVAL);
	heir_inherit(r);
	CHECK_EQ(ipcwait_mutex_init(&r->mutex, IPCWAIT_ERRORCHECK), 0);
	CHECK_EQ(ipcwait_mutex_lock(&r->mutex), 0);
	CHECK_EQ(ipcwait_mutex_consistent(&r->mutex), -EINVAL);
	CHECK_EQ(ipcwait_mutex_unlock(&r->mutex), 0);
	region_destroy(r);
}

static void wait_and_expire(struct region *r)
{
	CHECK_EQ(heir_lock_for(r, HEIR_SHORT_NS), -ETIMEDOUT);
	heir_tell(r);
}

/* One of those who wait gets -EOWNERDEAD, and the others what that one has put in order. */
static void inherit_with(struct region *r, int result)
{
	if (result == -EOWNERDEAD) {
		CHECK(guarded_repair(&r->guarded));
		CHECK_EQ(ipcwait_mutex_consistent(&r->mutex), 0);
		__atomic_fetch_add(&r->taken, 1, __ATOMIC_RELAXED);
	} else {
		CHECK_EQ(result, 0);
	}
	heir_unlock(r);
}

static void wait_and_inherit(struct region *r)
{
	inherit_with(r, heir_lock_for(r, HEIR_LONG_NS));
}

/* There is no last look. */
static void wait_for_ever(struct region *r)
{
	inherit_with(r, ipcwait_mutex_lock(&r->mutex));
}

static void died_while_others_wait(void)
{
	struct region *r = heir_begin(0);
	pid_t waiter[4], child = heir_start_owner(r);

	for (int i = 0; i < 2; i++)
		waiter[i] = seat(r, wait_and_expire);
	for (int i = 2; i < 4; i++)
		waiter[i] = seat(r, wait_and_inherit);
	heir_be_told(r);
	heir_be_told(r);
	region_kill(child);
	for (int i = 0; i < 4; i++)
		region_join(waiter[i]);
	CHECK_EQ(r->taken, 1);
	heir_end(r);
}

/* Asleep for so long that its alarms have become rare. */
static void died_late(void)
{
	struct region *r = heir_begin(0);
	pid_t child = heir_start_owner(r), waiter = seat(r, wait_and_inherit);

	(void)usleep(300000);
	region_kill(child);
	region_join(waiter);
	CHECK_EQ(r->taken, 1);
	heir_end(r);
}

/* However short the waits are, if there are many. */
static void found_by_short_waits(void)
{
	struct region *r = heir_begin(0);
	int64_t end_ns = ipcwait_deadline_in_ns(HEIR_LONG_NS);
	pid_t child = heir_start_owner(r);
	int result;

	region_kill(child);
	do {
		result = heir_lock_for(r, 200000);
		CHECK(ipcwait_now_ns() < end_ns);
	} while (result == -ETIMEDOUT);
	CHECK_EQ(result, -EOWNERDEAD);
	CHECK(guarded_repair(&r->guarded));
	CHECK_EQ(ipcwait_mutex_consistent(&r->mutex), 0);
	heir_unlock(r);
	heir_end(r);
}

/* So many were killed that nobody else is counted as a sleeper. */
static void died_where_no_more_fit(void)
{
	struct region *r = heir_begin(0);
	pid_t waiter[3], child = heir_start_owner(r);

	mutex_fabricate(&r->mutex, mutex_word(&r->mutex) | MUTEX_SLEEPERS_MOST);
	for (int i = 0; i < 3; i++)
		waiter[i] = seat(r, wait_for_ever);
	region_kill(child);
	for (int i = 0; i < 3; i++)
		region_join(waiter[i]);
	CHECK_EQ(r->taken, 1);
	heir_end(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(lost),
		CHILD_TEST(consistent_in_good_health),
		CHILD_TEST(died_while_others_wait),
		CHILD_TEST(died_late),
		CHILD_TEST(found_by_short_waits),
		CHILD_TEST(died_where_no_more_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
