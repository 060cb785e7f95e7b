/* SPDX-License-Identifier: MIT */
/*
 * Waits for any of several objects in memory that processes share: with futex_waitv() where the
 * kernel has it, behind a filter that refuses it, and both at the same objects.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/cmocka_all.h"
#include "common/sem_word.h"
#include "common/sleeper.h"
#include "process.h"
#include "region.h"

#define ITEMS 3000

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

/* 0: the kernel as it is; else what a filter answers to futex_waitv(). */
static int refusal;

/* From now on, for this process. */
static void refuse_waitv(int error)
{
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex_waitv, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(rules) / sizeof(rules[0]), rules };

	CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
	errno = 0;
	CHECK(syscall(SYS_futex_waitv, NULL, 0, 0, NULL, 0) == -1 && errno == error);
}

/* All zero is an event that is not set, and an event count. */
static struct ipcwait_event *stop(struct region *r)
{
	return (struct ipcwait_event *)(void *)&r->ring[0];
}

static struct ipcwait_eventcount *changed(struct region *r)
{
	return (struct ipcwait_eventcount *)(void *)&r->ring[8];
}

static struct ipcwait_waitable of_sem(struct ipcwait_sem *s)
{
	return (struct ipcwait_waitable){ .type = IPCWAIT_WAITABLE_SEM, .object = s };
}

/* Takes from two semaphores until the event is set, which is the last in the set. */
static void serve(struct region *r)
{
	struct ipcwait_waitable set[] = {
		of_sem(&r->items),
		of_sem(&r->space),
		{ .type = IPCWAIT_WAITABLE_EVENT, .object = stop(r) },
	};
	uint64_t taken[3] = { 0 };
	int which;

	if (refusal)
		refuse_waitv(refusal);
	do {
		which = ipcwait_wait_any(set, 3, IPCWAIT_FOREVER, &r->window);
		CHECK(which >= 0 && which < 3);
		taken[which]++;
		if (which < 2)
			CHECK_EQ(ipcwait_sem_post(&r->done), 0);
	} while (which < 2);
	r->taken = taken[0];
	r->interrupted = taken[1];
}

/* Without the kernel's help the second of them costs a millisecond; so few of those. */
static void server(void)
{
	struct region *r = region_create();
	unsigned items = refusal ? ITEMS / 20 : ITEMS;
	pid_t child = region_fork(r, serve);

	for (unsigned i = 0; i < items; i++) {
		CHECK_EQ(ipcwait_sem_post(i % 3 ? &r->items : &r->space), 0);
		CHECK_EQ(ipcwait_sem_wait(&r->done), 0);
	}
	CHECK_EQ(ipcwait_event_set(stop(r)), 0);
	region_join(child);
	CHECK_EQ(r->taken + r->interrupted, items);
	CHECK_EQ(r->interrupted, (items + 2) / 3);
	CHECK_EQ(sem_word(&r->items), 0);
	CHECK_EQ(sem_word(&r->space), 0);
	CHECK_EQ(ipcwait_event_fini(stop(r)), 0);
	region_destroy(r);
}

static void server_enosys(void)
{
	refusal = ENOSYS;
	server();
}

static void server_eperm(void)
{
	refusal = EPERM;
	server();
}

/* Takes so many of whatever there is. */
static void take_any(struct region *r, struct ipcwait_sem *first,
		     struct ipcwait_sem *second)
{
	struct ipcwait_waitable set[] = { of_sem(first), of_sem(second) };

	for (unsigned i = 0; i < ITEMS; i++) {
		int which = ipcwait_wait_any(set, 2, IPCWAIT_FOREVER, NULL);

		CHECK(which == 0 || which == 1);
		__atomic_fetch_add(&r->taken, 1, __ATOMIC_RELAXED);
	}
}

static void take_items_first(struct region *r)
{
	take_any(r, &r->items, &r->space);
}

static void take_filtered(struct region *r)
{
	refuse_waitv(ENOSYS);
	take_any(r, &r->space, &r->items);
}

static void take_alone(struct region *r)
{
	for (unsigned i = 0; i < ITEMS; i++) {
		CHECK_EQ(ipcwait_sem_wait(&r->items), 0);
		__atomic_fetch_add(&r->taken, 1, __ATOMIC_RELAXED);
	}
}

/* As many tokens as all that wait for a semaphore could take, with pauses that let them sleep. */
static void crowd(void)
{
	struct region *r = region_create();
	pid_t children[] = {
		region_fork(r, take_items_first),
		region_fork(r, take_filtered),
		region_fork(r, take_alone),
	};
	uint64_t seed = check_seed();

	for (unsigned i = 0; i < 3 * ITEMS; i++) {
		CHECK_EQ(ipcwait_sem_post(&r->items), 0);
		if (i < 2 * ITEMS)
			CHECK_EQ(ipcwait_sem_post(&r->space), 0);
		if (check_random(&seed) % 64 == 0)
			(void)usleep(20);
	}
	for (unsigned i = 0; i < 3; i++)
		region_join(children[i]);
	CHECK_EQ(r->taken, 3 * ITEMS);
	CHECK_EQ((uint64_t)(ipcwait_sem_value(&r->items) + ipcwait_sem_value(&r->space)),
		 2 * ITEMS);
	CHECK_EQ(ipcwait_sem_fini(&r->items), 0);
	CHECK_EQ(ipcwait_sem_fini(&r->space), 0);
	region_destroy(r);
}

/* The condition of the event count is a number that the parent counts up. */
static void follow(struct region *r)
{
	struct ipcwait_waitable set[] = {
		of_sem(&r->items),
		{ .type = IPCWAIT_WAITABLE_EVENTCOUNT, .object = changed(r) },
	};
	uint64_t seen = 0;

	while (seen < ITEMS) {
		set[1].expected = ipcwait_eventcount_prepare(changed(r));
		if (__atomic_load_n(&r->done.word.v, __ATOMIC_ACQUIRE) >> 32 == seen)
			CHECK_EQ(ipcwait_wait_any(set, 2, IPCWAIT_FOREVER, &r->window), 1);
		else
			ipcwait_eventcount_cancel(changed(r));
		seen = __atomic_load_n(&r->done.word.v, __ATOMIC_ACQUIRE) >> 32;
	}
	r->taken = seen;
}

static void event_count(void)
{
	struct region *r = region_create();
	pid_t child = region_fork(r, follow);

	for (unsigned i = 0; i < ITEMS; i++) {
		CHECK_EQ(ipcwait_sem_post(&r->done), 0);
		CHECK_EQ(ipcwait_eventcount_notify(changed(r), 1), 0);
		if (i % 128 == 0)
			(void)usleep(20);
	}
	region_join(child);
	CHECK_EQ(r->taken, ITEMS);
	CHECK_EQ(ipcwait_eventcount_fini(changed(r)), 0);
	CHECK_EQ(ipcwait_sem_fini(&r->items), 0);
	region_destroy(r);
}

static void wait_for_any(struct region *r)
{
	struct ipcwait_waitable set[] = { of_sem(&r->items), of_sem(&r->space) };

	CHECK(ipcwait_wait_any(set, 2, IPCWAIT_FOREVER, NULL) >= 0);
}

static void wait_for_one(struct region *r)
{
	CHECK_EQ(ipcwait_sem_wait(&r->space), 0);
}

/* Whoever was killed stays counted, and costs needless wakes; tokens reach others all the same. */
static void killed(void)
{
	struct region *r = region_create();
	pid_t any = region_fork(r, wait_for_any), alone;

	sleeper_await(&r->space, 1);
	alone = region_fork(r, wait_for_one);
	sleeper_await(&r->space, 2);
	region_kill(any);
	CHECK_EQ(ipcwait_sem_post(&r->space), 0);
	region_join(alone);
	CHECK_EQ(word_sleepers(sem_word(&r->items)), 1);
	CHECK_EQ(word_sleepers(sem_word(&r->space)), 1);
	CHECK_EQ(ipcwait_sem_post(&r->space), 0);
	CHECK_EQ(ipcwait_sem_trywait(&r->space), 0);
	CHECK_EQ(ipcwait_sem_fini(&r->space), -EBUSY);
	region_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(server), CHILD_TEST(server_enosys), CHILD_TEST(server_eperm),
		CHILD_TEST(crowd),  CHILD_TEST(event_count),   CHILD_TEST(killed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
