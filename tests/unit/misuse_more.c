/* SPDX-License-Identifier: MIT */
/* Barrier, latch, events, once, and sets of objects. */
#include "common/check.h"
#include "kinds.h"
#include "misuse.h"

static struct ipcwait_barrier barrier;
static struct ipcwait_latch latch;
static struct ipcwait_once once;
static struct ipcwait_sem sem;
static struct place place;

static void init_no_parties(void)
{
	(void)!ipcwait_barrier_init(&barrier, 0, 0);
}

static void wait_no_parties(void)
{
	(void)ipcwait_barrier_wait(&barrier);
}

static void barrier_wait_finished(void)
{
	CHECK_EQ(ipcwait_barrier_fini(&barrier), 0);
	(void)ipcwait_barrier_wait(&barrier);
}

static void init_large_latch(void)
{
	(void)!ipcwait_latch_init(&latch, IPCWAIT_LATCH_COUNT_MAX + 1u, 0);
}

static void latch_wait_finished(void)
{
	CHECK_EQ(ipcwait_latch_fini(&latch), 0);
	(void)ipcwait_latch_wait(&latch);
}

static void count_down_finished(void)
{
	CHECK_EQ(ipcwait_latch_fini(&latch), 0);
	(void)ipcwait_latch_count_down(&latch, 1);
}

static void arrive_finished(void)
{
	CHECK_EQ(ipcwait_latch_fini(&latch), 0);
	(void)ipcwait_latch_arrive_and_wait(&latch);
}

static void count_finished(void)
{
	CHECK_EQ(ipcwait_latch_fini(&latch), 0);
	(void)ipcwait_latch_count(&latch);
}

static void set_finished(void)
{
	static struct ipcwait_event event;

	CHECK_EQ(ipcwait_event_fini(&event), 0);
	(void)ipcwait_event_set(&event);
}

static void event_wait_finished(void)
{
	static struct ipcwait_event event;

	CHECK_EQ(ipcwait_event_fini(&event), 0);
	(void)!ipcwait_event_wait(&event);
}

static void notify_finished(void)
{
	static struct ipcwait_eventcount eventcount;

	CHECK_EQ(ipcwait_eventcount_fini(&eventcount), 0);
	(void)ipcwait_eventcount_notify(&eventcount, 1);
}

static void once_without_function(void)
{
	(void)ipcwait_once_run(&once, NULL, NULL);
}

static int call_again(void *o)
{
	return ipcwait_once_run(o, call_again, o);
}

static void once_from_inside(void)
{
	(void)ipcwait_once_run(&once, call_again, &once);
}

const struct misuse misuse_of_gates[] = {
	{ init_no_parties, "barrier", "ipcwait_barrier_init", "value out of range\n" },
	{ wait_no_parties, "barrier", "ipcwait_barrier_wait", "value out of range\n" },
	{ barrier_wait_finished, "barrier", "ipcwait_barrier_wait", "finished\n" },
	{ init_large_latch, "latch", "ipcwait_latch_init", "value out of range\n" },
	{ latch_wait_finished, "latch", "ipcwait_latch_wait", "finished\n" },
	{ count_down_finished, "latch", "ipcwait_latch_count_down", "finished\n" },
	{ arrive_finished, "latch", "ipcwait_latch_arrive_and_wait", "finished\n" },
	{ count_finished, "latch", "ipcwait_latch_count", "finished\n" },
	{ set_finished, "event", "ipcwait_event_set", "finished\n" },
	{ event_wait_finished, "event", "ipcwait_event_wait", "finished\n" },
	{ notify_finished, "eventcount", "ipcwait_eventcount_notify", "finished\n" },
	{ once_without_function, "once", "ipcwait_once_run", "no function\n" },
	{ once_from_inside, "once", "ipcwait_once_run",
	  "called from inside its function\n" },
	{ 0 },
};

static void wait_for(struct ipcwait_waitable w)
{
	(void)!ipcwait_wait_any(&w, 1, 0, NULL);
}

static void any_null(void)
{
	(void)!ipcwait_wait_any(NULL, 1, 0, NULL);
}

static void any_of_none(void)
{
	struct ipcwait_waitable set = { .type = IPCWAIT_WAITABLE_SEM, .object = &sem };

	(void)!ipcwait_wait_any(&set, 0, 0, NULL);
}

static void any_null_object(void)
{
	wait_for((struct ipcwait_waitable){ .type = IPCWAIT_WAITABLE_SEM });
}

static void any_type(void)
{
	wait_for((struct ipcwait_waitable){ .type = (enum ipcwait_waitable_type)99,
					    .object = &sem });
}

static void any_flags(void)
{
	wait_for((struct ipcwait_waitable){
		.type = IPCWAIT_WAITABLE_SEM, .object = &sem, .flags = IPCWAIT_PRIVATE });
}

static void any_misaligned(void)
{
	wait_for((struct ipcwait_waitable){ .type = IPCWAIT_WAITABLE_FUTEX,
					    .object = place.bytes + 2 });
}

static void any_finished(void)
{
	CHECK_EQ(ipcwait_sem_fini(&sem), 0);
	wait_for((struct ipcwait_waitable){ .type = IPCWAIT_WAITABLE_SEM, .object = &sem });
}

static void futex_any_null(void)
{
	(void)!ipcwait_futex_wait_any(NULL, 1, 0);
}

const struct misuse misuse_of_sets[] = {
	{ any_null, "wait_any", "ipcwait_wait_any", "NULL\n" },
	{ any_of_none, "wait_any", "ipcwait_wait_any", "value out of range\n" },
	{ any_null_object, "wait_any", "ipcwait_wait_any", "NULL\n" },
	{ any_type, "wait_any", "ipcwait_wait_any", "unknown type\n" },
	{ any_flags, "wait_any", "ipcwait_wait_any", "unknown flags\n" },
	{ any_misaligned, "futex", "ipcwait_wait_any", "misaligned\n" },
	{ any_finished, "sem", "ipcwait_wait_any", "finished\n" },
	{ futex_any_null, "wait_any", "ipcwait_futex_wait_any", "NULL\n" },
	{ 0 },
};
