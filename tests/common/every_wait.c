/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include <ipcwait/ipcwait.h>

#include "common/check.h"
#include "common/every_wait.h"

static struct ipcwait_sem sem;
static struct ipcwait_mutex mutex, recursive, errorcheck, robust;
static struct ipcwait_rwlock rwlock;
static struct ipcwait_cond cond;
static struct ipcwait_event event;
static struct ipcwait_eventcount eventcount;
static struct ipcwait_latch latch;
static struct ipcwait_barrier barrier;
static struct ipcwait_once once, private_once = { .flags = IPCWAIT_PRIVATE };
static struct ipcwait_window window;
static uint32_t word;
static struct ipcwait_sem sems[EVERY_WAIT_SET];
static uint32_t words[EVERY_WAIT_SET];
static struct ipcwait_waitable set[EVERY_WAIT_SET];
static struct ipcwait_futex_waiter word_set[EVERY_WAIT_SET];
static bool condition;

static atomic_bool may_go, notified;

/* Long enough for the other to fall asleep, as a rule: if it does not the test is the weaker. */
static void let_go(void)
{
	const struct timespec pause = { .tv_nsec = 20000000 };

	atomic_store(&may_go, true);
	(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
}

static void wait_sem(void)
{
	CHECK_EQ(ipcwait_sem_wait(&sem), 0);
}

static void post_sem(void)
{
	let_go();
	CHECK_EQ(ipcwait_sem_post(&sem), 0);
}

static void wait_too_long(void)
{
	CHECK_EQ(ipcwait_sem_wait_until(&sem, ipcwait_deadline_in_ns(5000000)), -ETIMEDOUT);
}

static void take(struct ipcwait_mutex *m)
{
	CHECK_EQ(ipcwait_mutex_lock(m), 0);
	CHECK_EQ(ipcwait_mutex_unlock(m), 0);
}

static void hold(struct ipcwait_mutex *m, unsigned flags)
{
	CHECK_EQ(ipcwait_mutex_init(m, flags), 0);
	CHECK_EQ(ipcwait_mutex_lock(m), 0);
	let_go();
	CHECK_EQ(ipcwait_mutex_unlock(m), 0);
}

static void take_mutex(void)
{
	take(&mutex);
}

static void hold_mutex(void)
{
	hold(&mutex, 0);
}

static void take_recursive(void)
{
	take(&recursive);
}

static void hold_recursive(void)
{
	hold(&recursive, IPCWAIT_RECURSIVE);
}

/* Nobody has locked such a mutex before. */
static void take_free(void)
{
	CHECK_EQ(ipcwait_mutex_init(&recursive, IPCWAIT_RECURSIVE), 0);
	take(&recursive);
}

static void take_errorcheck(void)
{
	take(&errorcheck);
}

static void hold_errorcheck(void)
{
	hold(&errorcheck, IPCWAIT_ERRORCHECK);
}

static void take_robust(void)
{
	take(&robust);
}

static void hold_robust(void)
{
	hold(&robust, IPCWAIT_ROBUST);
}

static void read_rwlock(void)
{
	CHECK_EQ(ipcwait_rwlock_rdlock(&rwlock), 0);
	CHECK_EQ(ipcwait_rwlock_rdunlock(&rwlock), 0);
}

static void hold_for_writing(void)
{
	CHECK_EQ(ipcwait_rwlock_wrlock(&rwlock), 0);
	let_go();
	CHECK_EQ(ipcwait_rwlock_wrunlock(&rwlock), 0);
}

static void write_rwlock(void)
{
	CHECK_EQ(ipcwait_rwlock_wrlock(&rwlock), 0);
	CHECK_EQ(ipcwait_rwlock_wrunlock(&rwlock), 0);
}

static void hold_for_reading(void)
{
	CHECK_EQ(ipcwait_rwlock_rdlock(&rwlock), 0);
	let_go();
	CHECK_EQ(ipcwait_rwlock_rdunlock(&rwlock), 0);
}

static void wait_cond(void)
{
	CHECK_EQ(ipcwait_mutex_lock(&mutex), 0);
	while (!condition)
		CHECK_EQ(ipcwait_cond_wait(&cond, &mutex), 0);
	CHECK_EQ(ipcwait_mutex_unlock(&mutex), 0);
}

static void make_condition(int (*tell)(struct ipcwait_cond *c))
{
	let_go();
	CHECK_EQ(ipcwait_mutex_lock(&mutex), 0);
	condition = true;
	CHECK_EQ(tell(&cond), 0);
	CHECK_EQ(ipcwait_mutex_unlock(&mutex), 0);
}

static void signal_cond(void)
{
	make_condition(ipcwait_cond_signal);
}

static void broadcast_cond(void)
{
	make_condition(ipcwait_cond_broadcast);
}

static void wait_event(void)
{
	CHECK_EQ(ipcwait_event_wait(&event), 0);
}

static void set_event(void)
{
	let_go();
	CHECK_EQ(ipcwait_event_set(&event), 0);
}

/* A thread that comes late finds that it has been notified. */
static void wait_eventcount(void)
{
	uint64_t key = ipcwait_eventcount_prepare(&eventcount);

	while (!atomic_load(&notified)) {
		CHECK_EQ(ipcwait_eventcount_commit(&eventcount, key, IPCWAIT_FOREVER), 0);
		key = ipcwait_eventcount_prepare(&eventcount);
	}
	ipcwait_eventcount_cancel(&eventcount);
	atomic_store(&notified, false);
}

static void notify_eventcount(void)
{
	let_go();
	atomic_store(&notified, true);
	CHECK_EQ(ipcwait_eventcount_notify_all(&eventcount), 0);
}

static void wait_latch(void)
{
	CHECK_EQ(ipcwait_latch_wait(&latch), 0);
}

static void count_down(void)
{
	CHECK_EQ(ipcwait_latch_init(&latch, 1, 0), 0);
	let_go();
	CHECK_EQ(ipcwait_latch_count_down(&latch, 1), 0);
}

static void arrive_first(void)
{
	CHECK(ipcwait_barrier_wait(&barrier) >= 0);
}

static void arrive_last(void)
{
	CHECK_EQ(ipcwait_barrier_init(&barrier, 2, 0), 0);
	let_go();
	CHECK(ipcwait_barrier_wait(&barrier) >= 0);
}

static int run_once(void *arg)
{
	(void)arg;
	let_go();
	return 0;
}

static void do_once(void)
{
	CHECK_EQ(ipcwait_once_run(&once, run_once, NULL), 0);
}

static void do_private_once(void)
{
	CHECK_EQ(ipcwait_once_run(&private_once, run_once, NULL), 0);
}

static void wait_futex(void)
{
	while (__atomic_load_n(&word, __ATOMIC_ACQUIRE) == 0) {
		int r = ipcwait_futex_wait(&word, 0, IPCWAIT_FOREVER, &window, 0);

		CHECK(r == 0 || r == -EAGAIN);
	}
}

static void wake_futex(void)
{
	let_go();
	__atomic_store_n(&word, 1, __ATOMIC_RELEASE);
	CHECK(ipcwait_futex_wake(&word, 1, 0) >= 0);
}

static void wait_any_sem(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		set[i] = (struct ipcwait_waitable){ .type = IPCWAIT_WAITABLE_SEM,
						    .object = &sems[i] };
	CHECK_EQ(ipcwait_wait_any(set, n, IPCWAIT_FOREVER, NULL), n - 1);
}

static void post_any_sem(unsigned n)
{
	let_go();
	CHECK_EQ(ipcwait_sem_post(&sems[n - 1]), 0);
}

static void wait_for_one(void)
{
	wait_any_sem(1);
}

static void post_one(void)
{
	post_any_sem(1);
}

static void wait_for_two(void)
{
	wait_any_sem(2);
}

static void post_second(void)
{
	post_any_sem(2);
}

static void wait_for_all(void)
{
	wait_any_sem(EVERY_WAIT_SET);
}

static void post_last(void)
{
	post_any_sem(EVERY_WAIT_SET);
}

static void wait_for_words(void)
{
	for (unsigned i = 0; i < EVERY_WAIT_SET; i++)
		set[i] = (struct ipcwait_waitable){ .type = IPCWAIT_WAITABLE_FUTEX,
						    .object = &words[i] };
	CHECK_EQ(ipcwait_wait_any(set, EVERY_WAIT_SET, IPCWAIT_FOREVER, NULL),
		 EVERY_WAIT_SET - 1);
}

static void wait_for_futexes(void)
{
	for (unsigned i = 0; i < EVERY_WAIT_SET; i++)
		word_set[i].word = &words[i];
	CHECK_EQ(ipcwait_futex_wait_any(word_set, EVERY_WAIT_SET, IPCWAIT_FOREVER),
		 EVERY_WAIT_SET - 1);
}

static void wake_last_word(void)
{
	let_go();
	__atomic_store_n(&words[EVERY_WAIT_SET - 1], 1, __ATOMIC_RELEASE);
	CHECK(ipcwait_futex_wake(&words[EVERY_WAIT_SET - 1], 1, 0) >= 0);
}

/* Bytes of stack: for one object or few, and for 64. A list of words is taken as one of objects. */
#define ONE        2304
#define MANY       4096
#define MANY_WORDS 6144

const struct every_wait every_wait[] = {
	{ "semaphore", wait_sem, post_sem, ONE, false },
	{ "semaphore, until a deadline", wait_too_long, let_go, ONE, false },
	{ "mutex", take_mutex, hold_mutex, ONE, false },
	{ "recursive mutex", take_recursive, hold_recursive, ONE, false },
	{ "recursive mutex that is free", take_free, let_go, ONE, false },
	{ "errorcheck mutex", take_errorcheck, hold_errorcheck, ONE, false },
	{ "robust mutex", take_robust, hold_robust, ONE, true },
	{ "rwlock, reader", read_rwlock, hold_for_writing, ONE, false },
	{ "rwlock, writer", write_rwlock, hold_for_reading, ONE, false },
	{ "condition variable, signal", wait_cond, signal_cond, ONE, false },
	{ "condition variable, broadcast", wait_cond, broadcast_cond, ONE, false },
	{ "event", wait_event, set_event, ONE, false },
	{ "event count", wait_eventcount, notify_eventcount, ONE, false },
	{ "latch", wait_latch, count_down, ONE, false },
	{ "barrier", arrive_first, arrive_last, ONE, false },
	{ "once", do_once, do_once, ONE, true },
	{ "private once", do_private_once, do_private_once, ONE, true },
	{ "futex", wait_futex, wake_futex, ONE, false },
	{ "wait-any, 1 semaphore", wait_for_one, post_one, ONE, false },
	{ "wait-any, 2 semaphores", wait_for_two, post_second, ONE, false },
	{ "wait-any, 64 semaphores", wait_for_all, post_last, MANY, false },
	{ "wait-any, 64 words", wait_for_words, wake_last_word, MANY, false },
	{ "futexes, 64 words", wait_for_futexes, wake_last_word, MANY_WORDS, false },
	{ 0 },
};

struct performance {
	const struct every_wait *wait;
	void (*prepare)(void), (*done)(void);
};

static void *perform(void *arg)
{
	const struct performance *p = arg;

	while (!atomic_load(&may_go))
		continue;
	p->prepare();
	p->wait->wait();
	p->done();
	return NULL;
}

void every_wait_perform_on(const struct every_wait *w, void (*prepare)(void),
			   void (*done)(void), void *stack, unsigned long size)
{
	struct performance p = { w, prepare, done };
	pthread_attr_t attr;
	pthread_t thread;

	CHECK_EQ(pthread_attr_init(&attr), 0);
	if (stack)
		CHECK_EQ(pthread_attr_setstack(&attr, stack, size), 0);
	CHECK_EQ(pthread_create(&thread, &attr, perform, &p), 0);
	w->wake();
	CHECK_EQ(pthread_join(thread, NULL), 0);
}

void every_wait_perform(const struct every_wait *w, void (*prepare)(void),
			void (*done)(void))
{
	every_wait_perform_on(w, prepare, done, NULL, 0);
}
