/* SPDX-License-Identifier: MIT */
/*
 * Events and event counts in memory that processes share: hand-over, a process that is killed in a
 * wait, one that is stopped in it.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cmocka_all.h"
#include "common/event_word.h"
#include "common/eventcount_word.h"
#include "process.h"
#include "region.h"

#define ROUNDS  5000
#define ITEMS   20000
#define WAITERS 3

/* All zero, like the memory that they are in; the events are made in their places. */
struct shared {
	struct ipcwait_event there, back;
	struct ipcwait_eventcount changed;
	uint64_t data;
	uint32_t items, served;
};

_Static_assert(sizeof(struct shared) <= sizeof(((struct region *)0)->ring), "room for it");

static struct shared *of(struct region *r)
{
	return (struct shared *)(void *)r->ring;
}

static struct region *open_region(unsigned flags)
{
	struct region *r = region_create();

	CHECK_EQ(ipcwait_event_init(&of(r)->there, flags), 0);
	CHECK_EQ(ipcwait_event_init(&of(r)->back, flags), 0);
	return r;
}

static void await_state(pid_t pid, char state)
{
	while (process_state(pid) != state)
		(void)sched_yield();
}

static pid_t start_sleeper(struct region *r, void (*body)(struct region *r))
{
	pid_t pid = region_fork(r, body);

	await_state(pid, 'S');
	return pid;
}

static void answer(struct region *r)
{
	struct shared *s = of(r);

	for (uint64_t i = 0; i < ROUNDS; i++) {
		CHECK_EQ(ipcwait_event_wait(&s->there), 0);
		CHECK_EQ(s->data, 2 * i + 1);
		s->data++;
		CHECK_EQ(ipcwait_event_set(&s->back), 0);
	}
}

static void auto_events_hand_over(void)
{
	struct region *r = open_region(IPCWAIT_AUTO_RESET);
	struct shared *s = of(r);
	pid_t child = region_fork(r, answer);

	for (uint64_t i = 0; i < ROUNDS; i++) {
		CHECK_EQ(s->data, 2 * i);
		s->data++;
		CHECK_EQ(ipcwait_event_set(&s->there), 0);
		CHECK_EQ(ipcwait_event_wait(&s->back), 0);
	}
	region_join(child);
	CHECK_EQ(event_state(event_word(&s->there)), 0);
	CHECK_EQ(event_state(event_word(&s->back)), 0);
	region_destroy(r);
}

static bool take_item(struct shared *s)
{
	uint32_t n = __atomic_load_n(&s->items, __ATOMIC_RELAXED);

	while (n)
		if (__atomic_compare_exchange_n(&s->items, &n, n - 1, false,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return true;
	return false;
}

static void consume_one(struct region *r)
{
	struct shared *s = of(r);

	while (!take_item(s)) {
		uint64_t key = ipcwait_eventcount_prepare(&s->changed);

		if (take_item(s)) {
			ipcwait_eventcount_cancel(&s->changed);
			break;
		}
		CHECK_EQ(ipcwait_eventcount_commit(&s->changed, key, IPCWAIT_FOREVER), 0);
	}
	__atomic_fetch_add(&s->served, 1, __ATOMIC_RELAXED);
}

static void consume_many(struct region *r)
{
	for (int i = 0; i < ITEMS / WAITERS; i++)
		consume_one(r);
}

static void produce(struct shared *s)
{
	__atomic_fetch_add(&s->items, 1, __ATOMIC_RELAXED);
	CHECK_EQ(ipcwait_eventcount_notify(&s->changed, 1), 0);
}

static void items_reach_consumers(void)
{
	struct region *r = region_create();
	pid_t child[WAITERS];

	for (int i = 0; i < WAITERS; i++)
		child[i] = region_fork(r, consume_many);
	for (int i = 0; i < ITEMS / WAITERS * WAITERS; i++)
		produce(of(r));
	for (int i = 0; i < WAITERS; i++)
		region_join(child[i]);
	CHECK_EQ(of(r)->items, 0);
	CHECK_EQ(ipcwait_eventcount_fini(&of(r)->changed), 0);
	region_destroy(r);
}

static void wait_for_it(struct region *r)
{
	CHECK_EQ(ipcwait_event_wait(&of(r)->there), 0);
}

/* Counted for good, which costs needless wakes. Whoever lives is let through. */
static void killed_asleep_on_an_event(void)
{
	for (unsigned flags = 0; flags <= IPCWAIT_AUTO_RESET; flags += IPCWAIT_AUTO_RESET) {
		struct region *r = open_region(flags);
		struct ipcwait_event *e = &of(r)->there;
		pid_t dead = start_sleeper(r, wait_for_it);
		pid_t other = start_sleeper(r, wait_for_it);

		region_kill(dead);
		for (int i = 0; i < 3; i++) {
			CHECK_EQ(event_sleepers(event_word(e)), 2);
			CHECK_EQ(ipcwait_event_set(e), 0);
			region_join(other);
			CHECK_EQ(ipcwait_event_reset(e), 0);
			CHECK_EQ(event_sleepers(event_word(e)), 1);
			region_let_wakes_go_stale();
			other = start_sleeper(r, wait_for_it);
		}
		CHECK_EQ(ipcwait_event_fini(e), -EBUSY);
		region_kill(other);
		region_destroy(r);
	}
}

/* The first in line is dead: one notification is for it, the next one for the second. */
static void killed_asleep_on_an_event_count(void)
{
	struct region *r = region_create();
	struct shared *s = of(r);
	pid_t dead = start_sleeper(r, consume_one), other = start_sleeper(r, consume_one);

	CHECK_EQ(ec_line(ec_word(&s->changed)), 2);
	region_kill(dead);
	produce(s);
	region_let_wakes_go_stale();
	produce(s);
	region_join(other);
	CHECK_EQ(s->items, 1);
	/* All that the dead has left is put right. */
	region_let_wakes_go_stale();
	CHECK_EQ(ipcwait_eventcount_notify(&s->changed, 1), 0);
	CHECK_EQ(ipcwait_eventcount_fini(&s->changed), 0);
	region_destroy(r);
}

/* It has been set while it was stopped, and reset too. */
static void a_stopped_waiter_is_let_through(void)
{
	struct region *r = open_region(0);
	struct ipcwait_event *e = &of(r)->there;
	pid_t stopped = start_sleeper(r, wait_for_it),
	      other = start_sleeper(r, wait_for_it);

	process_stop(stopped);
	CHECK_EQ(ipcwait_event_set(e), 0);
	CHECK_EQ(ipcwait_event_reset(e), 0);
	region_join(other);
	process_go_on(stopped);
	region_join(stopped);
	CHECK_EQ(event_state(event_word(e)), 0);
	region_destroy(r);
}

/* The signal that it has been woken for goes to whoever runs; it gets the next. */
static void a_stopped_waiter_keeps_no_signal(void)
{
	struct region *r = open_region(IPCWAIT_AUTO_RESET);
	struct ipcwait_event *e = &of(r)->there;
	pid_t stopped = start_sleeper(r, wait_for_it);

	process_stop(stopped);
	CHECK_EQ(ipcwait_event_set(e), 0);
	region_join(region_fork(r, wait_for_it));
	process_go_on(stopped);
	await_state(stopped, 'S');
	CHECK_EQ(ipcwait_event_set(e), 0);
	region_join(stopped);
	CHECK_EQ(event_state(event_word(e)), 0);
	region_destroy(r);
}

/* It keeps its notification, and those behind it get theirs. */
static void a_stopped_waiter_is_notified(void)
{
	struct region *r = region_create();
	struct shared *s = of(r);
	pid_t stopped = start_sleeper(r, consume_one),
	      other = start_sleeper(r, consume_one);

	process_stop(stopped);
	produce(s);
	produce(s);
	region_join(other);
	CHECK_EQ(s->served, 1);
	process_go_on(stopped);
	region_join(stopped);
	CHECK_EQ(s->items, 0);
	CHECK_EQ(ipcwait_eventcount_fini(&s->changed), 0);
	region_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(auto_events_hand_over),
		CHILD_TEST(items_reach_consumers),
		CHILD_TEST(killed_asleep_on_an_event),
		CHILD_TEST(killed_asleep_on_an_event_count),
		CHILD_TEST(a_stopped_waiter_is_let_through),
		CHILD_TEST(a_stopped_waiter_keeps_no_signal),
		CHILD_TEST(a_stopped_waiter_is_notified),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
