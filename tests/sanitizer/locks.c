/* SPDX-License-Identifier: MIT */
/* Mutexes of all kinds, reader-writer locks, condition variables. */
#include <ipcwait/cond.h>
#include <ipcwait/mutex.h>
#include <ipcwait/rwlock.h>

#include "users.h"

#define TIMES 120

static struct ipcwait_mutex mutex;
static struct ipcwait_rwlock rwlock;
static struct ipcwait_cond changed;
static long counter;
static int counted;

/* After another thread has counted with the lock, the first one looks without. */
static void look_without(unsigned me)
{
	if (!wrong || me)
		return;
	await(&counted);
	if (counter < 0)
		fail("counted backwards");
}

/* Under the lock: long enough now and then for the others to sleep. */
static void count(unsigned i)
{
	counter++;
	if (i % 16 == 0)
		pause_us(300);
	say(&counted);
}

static void lock_it(unsigned me)
{
	look_without(me);
	for (unsigned i = 0; i < TIMES; i++) {
		if (ipcwait_mutex_lock(&mutex))
			fail("no lock");
		count(i);
		ipcwait_mutex_unlock(&mutex);
	}
}

static void lock_until(unsigned me)
{
	look_without(me);
	for (unsigned i = 0; i < TIMES; i++) {
		while (ipcwait_mutex_lock_until(&mutex, ipcwait_deadline_in_ns(100000)))
			continue;
		count(i);
		ipcwait_mutex_unlock(&mutex);
		while (ipcwait_mutex_trylock(&mutex))
			continue;
		counter--;
		ipcwait_mutex_unlock(&mutex);
	}
}

static void lock_twice(unsigned me)
{
	look_without(me);
	for (unsigned i = 0; i < TIMES; i++) {
		ipcwait_mutex_lock(&mutex);
		ipcwait_mutex_lock(&mutex);
		count(i);
		ipcwait_mutex_unlock(&mutex);
		counter++;
		ipcwait_mutex_unlock(&mutex);
	}
}

static void with_kind(unsigned flags, void (*body)(unsigned me))
{
	if (ipcwait_mutex_init(&mutex, flags))
		fail("no mutex");
	run_threads(3, body);
}

static void plain(void)
{
	with_kind(0, lock_it);
}

static void private_one(void)
{
	with_kind(IPCWAIT_PRIVATE, lock_it);
}

static void timed(void)
{
	with_kind(0, lock_until);
}

static void recursive(void)
{
	with_kind(IPCWAIT_RECURSIVE, lock_twice);
}

static void errorcheck(void)
{
	with_kind(IPCWAIT_ERRORCHECK, lock_it);
}

static void robust(void)
{
	with_kind(IPCWAIT_ROBUST, lock_it);
}

/* Locks in both orders, never at the same time: of that nothing is said. */
static void in_both_orders(void)
{
	static struct ipcwait_mutex one, other;

	for (int i = 0; i < 2; i++) {
		ipcwait_mutex_lock(i ? &one : &other);
		ipcwait_mutex_lock(i ? &other : &one);
		ipcwait_mutex_unlock(&one);
		ipcwait_mutex_unlock(&other);
	}
	plain();
}

/* Threads 0 and 1 read, 2 and 3 write. */
static void read_or_write(unsigned me)
{
	long last = 0;

	if (wrong && !me) {
		await(&counted);
		last = counter;
	}
	for (unsigned i = 0; i < TIMES; i++) {
		if (me > 1) {
			ipcwait_rwlock_wrlock(&rwlock);
			count(i);
			ipcwait_rwlock_wrunlock(&rwlock);
			pause_us(20);
		} else {
			ipcwait_rwlock_rdlock(&rwlock);
			if (counter < last)
				fail("counted backwards");
			last = counter;
			if (i % 16 == 0)
				pause_us(300);
			ipcwait_rwlock_unlock(&rwlock);
		}
	}
}

static void readers_and_writers(void)
{
	run_threads(4, read_or_write);
}

/* Threads 0 and 1 take what 2 and 3 bring. */
static void take_or_bring(unsigned me)
{
	look_without(me);
	for (unsigned i = 0; i < TIMES; i++) {
		ipcwait_mutex_lock(&mutex);
		if (me > 1) {
			counter += 2;
			say(&counted);
		}
		while (me < 2 && counter < 2)
			ipcwait_cond_wait(&changed, &mutex);
		if (me < 2)
			counter -= 2;
		ipcwait_mutex_unlock(&mutex);
		if (me > 1) {
			ipcwait_cond_signal(&changed);
			pause_us(i % 16 == 0 ? 1000 : 20);
		}
	}
}

static void condition(void)
{
	run_threads(4, take_or_bring);
}

static bool ready[ROUNDS];

static void bring(unsigned round)
{
	fill(round);
	ipcwait_mutex_lock(&mutex);
	ready[round] = true;
	ipcwait_mutex_unlock(&mutex);
	ipcwait_cond_broadcast(&changed);
}

static void wait_for(unsigned round)
{
	ipcwait_mutex_lock(&mutex);
	while (!ready[round])
		ipcwait_cond_wait(&changed, &mutex);
	ipcwait_mutex_unlock(&mutex);
}

static void condition_told(void)
{
	hand_over(bring, wait_for);
}

const struct scene lock_scenes[] = {
	{ "mutex", plain },
	{ "mutex-private", private_one },
	{ "mutex-timed", timed },
	{ "mutex-recursive", recursive },
	{ "mutex-errorcheck", errorcheck },
	{ "mutex-robust", robust },
	{ "mutex-two-orders", in_both_orders },
	{ "rwlock", readers_and_writers },
	{ "cond", condition },
	{ "cond-broadcast", condition_told },
	{ NULL, NULL },
};
