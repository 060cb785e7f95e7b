/* SPDX-License-Identifier: MIT */
/* Semaphores, events, event counts, words, waits for several. Mostly an object for each round. */
#include <errno.h>
#include <stdint.h>

#include <ipcwait/event.h>
#include <ipcwait/eventcount.h>
#include <ipcwait/futex.h>
#include <ipcwait/sem.h>
#include <ipcwait/wait_any.h>

#include "users.h"

static struct ipcwait_sem sem, sems[ROUNDS];
static struct ipcwait_event events[ROUNDS];
static struct ipcwait_eventcount counts[ROUNDS];
static uint32_t words[ROUNDS];
static struct ipcwait_window window;

static void post(unsigned round)
{
	fill(round);
	ipcwait_sem_post(&sem);
}

static void wait_for_token(unsigned round)
{
	(void)round;
	ipcwait_sem_wait(&sem);
}

static void wait_for_token_until(unsigned round)
{
	(void)round;
	while (ipcwait_sem_wait_until(&sem, ipcwait_deadline_in_ns(50000)))
		continue;
}

static void semaphore(void)
{
	hand_over(post, wait_for_token);
}

static void semaphore_timed(void)
{
	hand_over(post, wait_for_token_until);
}

/*
 * Both at the same moment, each time with a new semaphore, which nobody has released yet: clang's
 * runtime looks whether there was a release before it waits for the one that is under way.
 */
#define MOMENTS 4000

static struct ipcwait_sem new_sem[MOMENTS];
static long of_moment[MOMENTS];
static unsigned moment;

static void post_at_once(void)
{
	for (unsigned i = 0; i < MOMENTS; i++) {
		while (__atomic_load_n(&moment, __ATOMIC_RELAXED) <= i)
			continue;
		of_moment[i] = 1;
		ipcwait_sem_post(&new_sem[i]);
	}
}

static void wait_at_once(unsigned me)
{
	if (!me) {
		post_at_once();
		return;
	}
	for (unsigned i = 0; i < MOMENTS; i++) {
		__atomic_store_n(&moment, i + 1, __ATOMIC_RELAXED);
		if (wrong && of_moment[i] > 1)
			fail("something else was written");
		ipcwait_sem_wait(&new_sem[i]);
		if (of_moment[i] != 1)
			fail("nothing was written");
	}
}

static void semaphore_at_once(void)
{
	run_threads(2, wait_at_once);
}

static void set(unsigned round)
{
	fill(round);
	ipcwait_event_set(&events[round]);
}

static void wait_for_event(unsigned round)
{
	ipcwait_event_wait(&events[round]);
}

static void event(void)
{
	hand_over(set, wait_for_event);
}

static void event_auto(void)
{
	for (unsigned i = 0; i < ROUNDS; i++)
		if (ipcwait_event_init(&events[i], IPCWAIT_AUTO_RESET))
			fail("no event");
	hand_over(set, wait_for_event);
}

static void notify(unsigned round)
{
	fill(round);
	ipcwait_eventcount_notify(&counts[round], 1);
}

/* A key that is not 0 includes the notification. */
static void wait_for_notification(unsigned round)
{
	while (!ipcwait_eventcount_prepare(&counts[round]))
		if (ipcwait_eventcount_commit(&counts[round], 0, IPCWAIT_FOREVER))
			fail("no notification");
}

static void eventcount(void)
{
	hand_over(notify, wait_for_notification);
}

static void change(unsigned round)
{
	fill(round);
	__atomic_store_n(&words[round], 1, __ATOMIC_RELEASE);
	ipcwait_futex_wake(&words[round], 1, IPCWAIT_PRIVATE);
}

static void wait_for_change(unsigned round)
{
	int r = 0;

	while (!__atomic_load_n(&words[round], __ATOMIC_ACQUIRE) && (!r || r == -EAGAIN))
		r = ipcwait_futex_wait(&words[round], 0, IPCWAIT_FOREVER, &window,
				       IPCWAIT_PRIVATE);
}

static void futex(void)
{
	hand_over(change, wait_for_change);
}

static void do_one(unsigned round)
{
	fill(round);
	if (round % 3 == 0)
		ipcwait_sem_post(&sems[round]);
	else if (round % 3 == 1)
		ipcwait_event_set(&events[round]);
	else
		ipcwait_eventcount_notify(&counts[round], 1);
}

static void wait_for_one(unsigned round)
{
	struct ipcwait_waitable set_[] = {
		{ .type = IPCWAIT_WAITABLE_SEM, .object = &sems[round] },
		{ .type = IPCWAIT_WAITABLE_EVENT, .object = &events[round] },
		{ .type = IPCWAIT_WAITABLE_EVENTCOUNT, .object = &counts[round] },
	};

	if (ipcwait_wait_any(set_, 3, IPCWAIT_FOREVER, NULL) != (int)(round % 3))
		fail("another object");
}

static void any(void)
{
	hand_over(do_one, wait_for_one);
}

const struct scene event_scenes[] = {
	{ "sem", semaphore },
	{ "sem-timed", semaphore_timed },
	{ "sem-at-once", semaphore_at_once },
	{ "event", event },
	{ "event-auto", event_auto },
	{ "eventcount", eventcount },
	{ "futex", futex },
	{ "wait_any", any },
	{ NULL, NULL },
};
