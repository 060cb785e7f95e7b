/* SPDX-License-Identifier: MIT */
/*
 * Mutexes between processes that map them at different addresses; owners and waiters that are
 * stopped, as by ^Z or a debugger; forks while another thread owns one.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "common/cmocka_all.h"
#include "common/mutex_word.h"
#include "process.h"
#include "region.h"

#define ROUNDS    20000
#define HAND_OFFS 1000
#define WAITERS   3

/*
 * How long the waiters of a stopped owner are watched, and the CPU time that all of them may use
 * meanwhile: each is up some twenty times, for one B and a few looks.
 */
#define WATCH_MS INT64_C(300)
#define CPU_NS   INT64_C(20000000)

#define SHORT_NS INT64_C(3000000)

/* In the region's word: the owner keeps the mutex. */
#define HELD 1

static const unsigned kinds[] = { 0, IPCWAIT_RECURSIVE, IPCWAIT_ERRORCHECK,
				  IPCWAIT_ROBUST };

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static struct region *begin(unsigned flags, enum ipcwait_preset preset)
{
	struct region *r = region_create();

	CHECK_EQ(ipcwait_mutex_init(&r->mutex, flags), 0);
	CHECK_EQ(ipcwait_window_set_preset(&r->mutex.window, preset), 0);
	return r;
}

static void end(struct region *r)
{
	CHECK_EQ(ipcwait_mutex_fini(&r->mutex), 0);
	region_destroy(r);
}

static void lock(struct region *r)
{
	CHECK_EQ(ipcwait_mutex_lock(&r->mutex), 0);
	guarded_begin(&r->guarded);
}

static void unlock(struct region *r)
{
	guarded_end(&r->guarded);
	CHECK_EQ(ipcwait_mutex_unlock(&r->mutex), 0);
}

static void await_state(pid_t pid, char state)
{
	while (process_state(pid) != state)
		(void)sched_yield();
}

static void lock_often(struct region *r)
{
	for (int i = 0; i < ROUNDS; i++) {
		lock(r);
		unlock(r);
	}
}

static void two_processes(void)
{
	for (unsigned i = 0; i < KINDS; i++) {
		struct region *r = begin(kinds[i], IPCWAIT_INHERIT);
		pid_t child = region_fork(r, lock_often);

		lock_often(r);
		region_join(child);
		CHECK_EQ(r->guarded.done, 2 * ROUNDS);
		end(r);
	}
}

static bool is_held(void *arg)
{
	return __atomic_load_n(&((struct region *)arg)->word, __ATOMIC_ACQUIRE) == HELD;
}

/*
 * Waits are short before the owner keeps it, until the test has stopped it and let it go on: then
 * spinning is what they have learned.
 */
static void own_and_keep(struct region *r)
{
	for (int i = 0; i < HAND_OFFS; i++) {
		lock(r);
		unlock(r);
	}
	lock(r);
	__atomic_store_n(&r->word, HELD, __ATOMIC_RELEASE);
	while (__atomic_load_n(&r->word, __ATOMIC_ACQUIRE) == HELD)
		(void)usleep(100);
	unlock(r);
}

static void lock_until_told(struct region *r)
{
	while (!__atomic_load_n(&r->stop, __ATOMIC_ACQUIRE)) {
		lock(r);
		__atomic_fetch_add(&r->taken, 1, __ATOMIC_RELAXED);
		unlock(r);
	}
}

static int64_t cpu_ns(const pid_t *pid)
{
	int64_t sum = 0;

	for (int i = 0; i < WAITERS; i++)
		sum += process_cpu_ns(pid[i]);
	return sum;
}

/*
 * Nobody gets it: all sleep, and are up now and then. Where the test itself is stopped they are
 * watched for longer.
 */
static void watch(struct region *r, const pid_t *waiter)
{
	const struct timespec time = { 0, WATCH_MS * 1000000 };
	int64_t before, began_ns;
	uint64_t taken;

	for (int i = 0; i < WAITERS; i++)
		await_state(waiter[i], 'S');
	began_ns = ipcwait_now_ns();
	before = cpu_ns(waiter);
	taken = __atomic_load_n(&r->taken, __ATOMIC_RELAXED);
	(void)nanosleep(&time, NULL);
	CHECK((cpu_ns(waiter) - before) * WATCH_MS * 1000000 <
	      CPU_NS * (ipcwait_now_ns() - began_ns));
	CHECK_EQ(__atomic_load_n(&r->taken, __ATOMIC_RELAXED), taken);
}

static bool counts_on(void *arg)
{
	const struct region *r = arg;

	return __atomic_load_n(&r->taken, __ATOMIC_RELAXED) > (uint64_t)r->result + WAITERS;
}

static void owner_stops(unsigned flags, enum ipcwait_preset preset)
{
	struct region *r = begin(flags, preset);
	pid_t owner = region_fork(r, own_and_keep), waiter[WAITERS];

	for (int i = 0; i < WAITERS; i++)
		waiter[i] = region_fork(r, lock_until_told);
	CHECK(check_eventually(is_held, r));
	process_stop(owner);
	watch(r, waiter);
	r->result = (int)r->taken;
	__atomic_store_n(&r->word, !HELD, __ATOMIC_RELEASE);
	process_go_on(owner);
	CHECK(check_eventually(counts_on, r));
	__atomic_store_n(&r->stop, 1, __ATOMIC_RELEASE);
	region_join(owner);
	for (int i = 0; i < WAITERS; i++)
		region_join(waiter[i]);
	end(r);
}

/* Its death is not believed either. */
static void waiters_of_a_stopped_owner_sleep(void)
{
	owner_stops(0, IPCWAIT_ADAPTIVE);
	owner_stops(0, IPCWAIT_SPIN);
	owner_stops(IPCWAIT_ROBUST, IPCWAIT_ADAPTIVE);
}

static void lock_once(struct region *r)
{
	lock(r);
	unlock(r);
}

static unsigned awaited;

static bool sleep_on_it(void *arg)
{
	const struct region *r = arg;

	return mutex_word_sleepers(mutex_word(&r->mutex)) == awaited;
}

/* With it @n sleep. */
static pid_t start_sleeper(struct region *r, unsigned n)
{
	pid_t pid = region_fork(r, lock_once);

	awaited = n;
	CHECK(check_eventually(sleep_on_it, r));
	return pid;
}

/* The one that the unlock wakes does not come; another finds out, and whoever does not wait. */
static void a_stopped_waiter_keeps_nobody_out(void)
{
	for (unsigned i = 0; i < KINDS; i++) {
		struct region *r = begin(kinds[i], IPCWAIT_BLOCK);
		pid_t stopped, other;

		lock(r);
		stopped = start_sleeper(r, 1);
		other = start_sleeper(r, 2);
		process_stop(stopped);
		unlock(r);
		region_join(other);
		lock_once(r);
		CHECK_EQ(mutex_word_sleepers(mutex_word(&r->mutex)), 1);
		process_go_on(stopped);
		region_join(stopped);
		end(r);
	}
}

/* Shared with a thread; a child has a copy of the second. */
static struct region *shared;
static struct ipcwait_mutex private;
static bool owned, over;

static bool is(void *flag)
{
	return __atomic_load_n((bool *)flag, __ATOMIC_ACQUIRE);
}

static void *own_both(void *arg)
{
	lock(shared);
	CHECK_EQ(ipcwait_mutex_lock(&private), 0);
	__atomic_store_n(&owned, true, __ATOMIC_RELEASE);
	CHECK(check_eventually(is, &over));
	unlock(shared);
	CHECK_EQ(ipcwait_mutex_unlock(&private), 0);
	return arg;
}

static int lock_for(struct ipcwait_mutex *m, int64_t ns)
{
	return ipcwait_mutex_lock_until(m, ipcwait_deadline_in_ns(ns));
}

/* The owner of the copy was left behind: only init makes it usable. */
static void be_the_child(struct region *r)
{
	unsigned flags = private.flags;

	CHECK_EQ(lock_for(&private, SHORT_NS), -ETIMEDOUT);
	if (flags & ~IPCWAIT_PRIVATE)
		CHECK_EQ(ipcwait_mutex_unlock(&private), -EPERM);
	CHECK_EQ(ipcwait_mutex_init(&private, flags), 0);
	CHECK_EQ(ipcwait_mutex_lock(&private), 0);
	CHECK_EQ(ipcwait_mutex_unlock(&private), 0);
	CHECK_EQ(lock_for(&r->mutex, SHORT_NS), -ETIMEDOUT);
	__atomic_store_n(&r->stop, 1, __ATOMIC_RELEASE);
	lock_once(r);
}

static bool child_is_done(void *arg)
{
	const struct region *r = arg;

	return __atomic_load_n(&r->stop, __ATOMIC_ACQUIRE);
}

static void fork_beside_an_owner(void)
{
	for (unsigned i = 0; i < KINDS; i++) {
		pthread_t thread;
		pid_t child;

		owned = over = false;
		shared = begin(kinds[i], IPCWAIT_INHERIT);
		CHECK_EQ(ipcwait_mutex_init(&private, kinds[i] | IPCWAIT_PRIVATE), 0);
		CHECK_EQ(pthread_create(&thread, NULL, own_both, NULL), 0);
		CHECK(check_eventually(is, &owned));
		child = region_fork(shared, be_the_child);
		CHECK(check_eventually(child_is_done, shared));
		__atomic_store_n(&over, true, __ATOMIC_RELEASE);
		region_join(child);
		CHECK_EQ(pthread_join(thread, NULL), 0);
		CHECK_EQ(ipcwait_mutex_fini(&private), 0);
		end(shared);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(two_processes),
		CHILD_TEST(waiters_of_a_stopped_owner_sleep),
		CHILD_TEST(a_stopped_waiter_keeps_nobody_out),
		CHILD_TEST(fork_beside_an_owner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
