/* SPDX-License-Identifier: MIT */
/*
 * What sleepers that were killed cost the living. They stay counted in the object, and whoever
 * posts, sets or unlocks believes that they sleep: it may call the kernel for them once a
 * millisecond, and not each time.
 */
#include <stdlib.h>

#include "common/cmocka_all.h"
#include "process.h"
#include "region.h"

#define PHANTOMS 3
#define ROUNDS   200000

/* A wake in vain is a doubt, and one is stale after a millisecond. */
#define WAKES_FEW 10

static struct ipcwait_event *event(struct region *r)
{
	return (struct ipcwait_event *)(void *)r->ring;
}

static void wait_on_sem(struct region *r)
{
	(void)!ipcwait_sem_wait(&r->items);
}

static void wait_on_event(struct region *r)
{
	(void)!ipcwait_event_wait(event(r));
}

static void wait_on_mutex(struct region *r)
{
	(void)!ipcwait_mutex_lock(&r->mutex);
}

static void use_sem(struct region *r)
{
	CHECK_EQ(ipcwait_sem_post(&r->items), 0);
	CHECK_EQ(ipcwait_sem_trywait(&r->items), 0);
}

static void use_event(struct region *r)
{
	CHECK_EQ(ipcwait_event_set(event(r)), 0);
	CHECK_EQ(ipcwait_event_wait_until(event(r), 0), 0);
}

static void use_mutex(struct region *r)
{
	CHECK_EQ(ipcwait_mutex_lock(&r->mutex), 0);
	CHECK_EQ(ipcwait_mutex_unlock(&r->mutex), 0);
}

static bool sleeps(void *arg)
{
	return process_state(*(pid_t *)arg) == 'S';
}

static void haunt(struct region *r, void (*wait)(struct region *r))
{
	for (int i = 0; i < PHANTOMS; i++) {
		pid_t child = region_fork(r, wait);

		CHECK(check_eventually(sleeps, &child));
		region_kill(child);
	}
}

static uint64_t wakes(enum ipcwait_kind kind)
{
	struct ipcwait_stats st;

	CHECK(ipcwait_stats_get(&st, sizeof(st)) > 0);
	return st.kind[kind].futex_wakes;
}

static void judge(struct region *r, enum ipcwait_kind kind, void (*use)(struct region *r))
{
	int64_t began_ns = ipcwait_now_ns();
	uint64_t before = wakes(kind), most;

	for (int i = 0; i < ROUNDS; i++)
		use(r);
	most = (uint64_t)((ipcwait_now_ns() - began_ns) / 1000000) + WAKES_FEW;
	CHECK(wakes(kind) > before);
	CHECK(wakes(kind) - before <= most);
}

static void of_a_semaphore(void)
{
	struct region *r = region_create();

	haunt(r, wait_on_sem);
	judge(r, IPCWAIT_KIND_SEM, use_sem);
	region_destroy(r);
}

static void of_an_event(void)
{
	struct region *r = region_create();

	CHECK_EQ(ipcwait_event_init(event(r), IPCWAIT_AUTO_RESET), 0);
	haunt(r, wait_on_event);
	judge(r, IPCWAIT_KIND_EVENT, use_event);
	region_destroy(r);
}

static void of_a_mutex(void)
{
	const unsigned kinds[] = { 0, IPCWAIT_RECURSIVE, IPCWAIT_ROBUST };
	uint64_t before = 0;

	for (unsigned i = 0; i < 3; i++) {
		struct region *r = region_create();

		CHECK_EQ(ipcwait_mutex_init(&r->mutex, kinds[i]), 0);
		CHECK_EQ(ipcwait_mutex_lock(&r->mutex), 0);
		haunt(r, wait_on_mutex);
		CHECK_EQ(ipcwait_mutex_unlock(&r->mutex), 0);
		/*
		 * It has set WAKE, unless a waiter died that was awake and had set it. WAKE stands
		 * until a waiter comes. That is this thread once if a waiter died so late that it
		 * had left URGENT.
		 */
		CHECK(wakes(IPCWAIT_KIND_MUTEX) - before <= 1);
		for (int n = 0; n < ROUNDS; n++)
			use_mutex(r);
		CHECK(wakes(IPCWAIT_KIND_MUTEX) - before <= WAKES_FEW);
		before = wakes(IPCWAIT_KIND_MUTEX);
		region_destroy(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(of_a_semaphore),
		CHILD_TEST(of_an_event),
		CHILD_TEST(of_a_mutex),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
