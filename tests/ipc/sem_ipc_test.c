/* SPDX-License-Identifier: MIT */
/* Semaphores in memory that processes share: tokens, deadlines, signals, fork. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/cmocka_all.h"
#include "common/sem_word.h"
#include "common/sleeper.h"
#include "region.h"

#define ITEMS   UINT64_C(20000)
#define LONG_NS INT64_C(3600000000000)

static void wait_for(struct ipcwait_sem *s)
{
	CHECK_EQ(ipcwait_sem_wait(s), 0);
}

/* Everything that was put into the ring comes out once, in order. */
static void consume(struct region *r)
{
	for (uint64_t i = 0; i < ITEMS; i++) {
		wait_for(&r->items);
		CHECK_EQ(r->ring[i % REGION_RING], i * i);
		r->taken++;
		CHECK_EQ(ipcwait_sem_post(&r->space), 0);
	}
	CHECK_EQ(ipcwait_sem_trywait(&r->items), -EAGAIN);
}

static void producer_and_consumer(void)
{
	struct region *r = region_create();
	pid_t child = region_fork(r, consume);

	CHECK_EQ(ipcwait_sem_post_n(&r->space, REGION_RING), 0);
	for (uint64_t i = 0; i < ITEMS; i++) {
		wait_for(&r->space);
		r->ring[i % REGION_RING] = i * i;
		CHECK_EQ(ipcwait_sem_post(&r->items), 0);
	}
	region_join(child);
	CHECK_EQ(r->taken, ITEMS);
	CHECK_EQ(sem_word(&r->items), 0);
	CHECK_EQ(sem_word(&r->space), WORD(REGION_RING, 0, 0));
	region_destroy(r);
}

static void answer(struct region *r)
{
	for (uint64_t i = 0; i < ITEMS; i++) {
		wait_for(&r->items);
		CHECK_EQ(ipcwait_sem_post(&r->done), 0);
	}
}

/* One token to and fro: every wait depends on a post of the other process. */
static void ping_pong(void)
{
	struct region *r = region_create();
	pid_t child = region_fork(r, answer);

	for (uint64_t i = 0; i < ITEMS; i++) {
		CHECK_EQ(ipcwait_sem_post(&r->items), 0);
		wait_for(&r->done);
	}
	region_join(child);
	CHECK_EQ(sem_word(&r->items), 0);
	CHECK_EQ(sem_word(&r->done), 0);
	region_destroy(r);
}

static void wait_until_deadline(struct region *r)
{
	r->result = ipcwait_sem_wait_until(&r->items, r->deadline_ns);
	CHECK(r->result == 0 || ipcwait_now_ns() >= r->deadline_ns);
}

static void deadlines(void)
{
	struct region *r = region_create();
	pid_t child;

	r->deadline_ns = ipcwait_deadline_in_ns(5000000);
	region_join(region_fork(r, wait_until_deadline));
	CHECK_EQ(r->result, -ETIMEDOUT);
	CHECK_EQ(sem_word(&r->items), 0);
	r->deadline_ns = ipcwait_deadline_in_ns(LONG_NS);
	child = region_fork(r, wait_until_deadline);
	sleeper_await(&r->items, 1);
	CHECK_EQ(ipcwait_sem_post(&r->items), 0);
	region_join(child);
	CHECK_EQ(r->result, 0);
	CHECK_EQ(sem_word(&r->items), 0);
	region_destroy(r);
}

static void on_signal(int signal)
{
	(void)signal;
}

/* Takes items until told to stop; each wait may be interrupted, if the semaphore says so. */
static void consume_under_signals(struct region *r)
{
	struct sigaction action = { .sa_handler = on_signal };

	CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
	CHECK_EQ(ipcwait_sem_post(&r->space), 0);
	while (!__atomic_load_n(&r->stop, __ATOMIC_ACQUIRE)) {
		int64_t deadline =
			r->taken % 2 ? IPCWAIT_FOREVER : ipcwait_deadline_in_ns(2000000);
		int result = ipcwait_sem_wait_until(&r->items, deadline);

		if (result == 0)
			__atomic_store_n(&r->taken, r->taken + 1, __ATOMIC_RELEASE);
		else if (result == -EINTR)
			r->interrupted++;
		else
			CHECK_EQ(result, -ETIMEDOUT);
	}
}

static bool all_taken(void *arg)
{
	const uint64_t *counts[2] = { ((void **)arg)[0], ((void **)arg)[1] };

	return __atomic_load_n(counts[0], __ATOMIC_ACQUIRE) == *counts[1];
}

static void signal_storm(unsigned flags)
{
	struct region *r = region_create();
	uint64_t seed = check_seed(), posted = 0;
	void *counts[2] = { &r->taken, &posted };
	pid_t child;

	CHECK_EQ(ipcwait_sem_init(&r->items, 0, flags), 0);
	child = region_fork(r, consume_under_signals);
	wait_for(&r->space);
	for (int i = 0; i < 4000; i++) {
		CHECK(kill(child, SIGUSR1) == 0);
		if (check_random(&seed) % 3 == 0) {
			CHECK_EQ(ipcwait_sem_post(&r->items), 0);
			posted++;
		}
		if (check_random(&seed) % 4 == 0)
			(void)usleep(50);
	}
	CHECK(check_eventually(all_taken, counts));
	__atomic_store_n(&r->stop, 1, __ATOMIC_RELEASE);
	CHECK_EQ(ipcwait_sem_post(&r->items), 0);
	region_join(child);
	CHECK_EQ(r->taken + (uint64_t)ipcwait_sem_value(&r->items), posted + 1);
	CHECK_EQ(word_sleepers(sem_word(&r->items)), 0);
	CHECK_EQ(r->interrupted > 0, flags != 0);
	region_destroy(r);
}

static void signal_storms(void)
{
	signal_storm(0);
	signal_storm(IPCWAIT_INTERRUPTIBLE);
}

/* A child of a process that is in the middle of everything. */
static void take_three_and_answer(struct region *r)
{
	for (int i = 0; i < 3; i++)
		wait_for(&r->items);
	CHECK_EQ(ipcwait_sem_post(&r->done), 0);
}

static void fork_beside_a_sleeping_thread(void)
{
	struct region *r = region_create();
	struct sleeper sleeper;
	pid_t child;

	sleeper_start(&sleeper, &r->items, IPCWAIT_FOREVER);
	sleeper_await(&r->items, 1);
	child = region_fork(r, take_three_and_answer);
	sleeper_await(&r->items, 2);
	/* Three for the child, one for the thread, in whatever order. */
	for (int i = 0; i < 4; i++)
		CHECK_EQ(ipcwait_sem_post(&r->items), 0);
	CHECK_EQ(sleeper_join(&sleeper), 0);
	wait_for(&r->done);
	region_join(child);
	CHECK_EQ(sem_word(&r->items), 0);
	region_destroy(r);
}

/* The child's copy counts a sleeper that only the parent has, until somebody asks. */
static struct ipcwait_sem private_sem;

static void use_the_copy(struct region *r)
{
	(void)r;
	CHECK_EQ(word_sleepers(sem_word(&private_sem)), 1);
	for (int i = 0; i < 100; i++) {
		CHECK_EQ(
			ipcwait_sem_wait_until(&private_sem, ipcwait_deadline_in_ns(10000)),
			-ETIMEDOUT);
		CHECK_EQ(ipcwait_sem_post(&private_sem), 0);
		wait_for(&private_sem);
	}
}

static void fork_copies_a_private_semaphore(void)
{
	struct region *r = region_create();
	struct sleeper sleeper;

	CHECK_EQ(ipcwait_sem_init(&private_sem, 0, IPCWAIT_PRIVATE), 0);
	sleeper_start(&sleeper, &private_sem, IPCWAIT_FOREVER);
	sleeper_await(&private_sem, 1);
	region_join(region_fork(r, use_the_copy));
	CHECK_EQ(word_sleepers(sem_word(&private_sem)), 1);
	CHECK_EQ(ipcwait_sem_post(&private_sem), 0);
	CHECK_EQ(sleeper_join(&sleeper), 0);
	CHECK_EQ(sem_word(&private_sem), 0);
	region_destroy(r);
}

/* Pin the process to the first or the last CPU that it may use. Returns the CPU. */
static unsigned pin(bool last)
{
	cpu_set_t allowed, one;
	unsigned chosen = CPU_SETSIZE;

	CHECK(sched_getaffinity(0, sizeof(allowed), &allowed) == 0);
	for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, &allowed) && (last || chosen == CPU_SETSIZE))
			chosen = cpu;
	}
	CPU_ZERO(&one);
	CPU_SET(chosen, &one);
	CHECK(sched_setaffinity(0, sizeof(one), &one) == 0);
	return chosen;
}

static void answer_from_the_last_cpu(struct region *r)
{
	(void)pin(true);
	answer(r);
}

static void answer_with_one_cpu_each(struct region *r, unsigned cpu)
{
	for (uint64_t i = 0; i < ITEMS; i++) {
		CHECK_EQ(ipcwait_sem_post(&r->items), 0);
		wait_for(&r->done);
	}
	/* Each has found out where the other one runs, or that nobody had to be woken. */
	CHECK(r->items.window.state.v >> 16 == 0 ||
	      r->items.window.state.v >> 16 == cpu + 1);
}

static void pinned_apart(void)
{
	struct region *r = region_create();
	pid_t child = region_fork(r, answer_from_the_last_cpu);
	unsigned cpu = pin(false);

	answer_with_one_cpu_each(r, cpu);
	region_join(child);
	CHECK_EQ(sem_word(&r->items), 0);
	region_destroy(r);
}

/* A waker that may use one CPU only says which, for a waiter that may use another. */
static void pinned_waker_tells_its_cpu(void)
{
	struct region *r = region_create();
	unsigned cpu = pin(false);
	pid_t child;

	/* The first wait finds that there is no second CPU. */
	CHECK_EQ(ipcwait_sem_wait_until(&r->done, ipcwait_deadline_in_ns(100000)),
		 -ETIMEDOUT);
	r->deadline_ns = IPCWAIT_FOREVER;
	child = region_fork(r, wait_until_deadline);
	sleeper_await(&r->items, 1);
	CHECK_EQ(ipcwait_sem_post(&r->items), 0);
	region_join(child);
	CHECK_EQ(r->items.window.state.v >> 16, cpu + 1);
	region_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(producer_and_consumer),
		CHILD_TEST(ping_pong),
		CHILD_TEST(deadlines),
		CHILD_TEST(signal_storms),
		CHILD_TEST(fork_beside_a_sleeping_thread),
		CHILD_TEST(fork_copies_a_private_semaphore),
		CHILD_TEST(pinned_apart),
		CHILD_TEST(pinned_waker_tells_its_cpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
