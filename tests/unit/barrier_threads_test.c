/* SPDX-License-Identifier: MIT */
/* <ipcwait/barrier.h> with threads: rounds, deadlines, signals, the end of a barrier. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/fini.h"
#include "common/gates_word.h"

#define THREADS   4
#define ROUNDS    300
#define PAGES     150
#define PAGE_SIZE 4096
#define TRIES     2000

static struct {
	struct ipcwait_barrier barrier;
	uint64_t data[THREADS]; /* plain on purpose */
	uint64_t serials, released, expired;
	char *pages;
	unsigned flags;
	enum ipcwait_preset preset;
} all;

static void run_threads(void *(*body)(void *arg))
{
	pthread_t thread[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, body, (void *)i), 0);
	for (unsigned i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_join(thread[i], NULL), 0);
}

static void make(struct ipcwait_barrier *b, uint32_t parties)
{
	CHECK_EQ(ipcwait_barrier_init(b, parties, all.flags), 0);
	CHECK_EQ(ipcwait_window_set_preset(&b->window, all.preset), 0);
}

static void *work_in_rounds(void *arg)
{
	uintptr_t me = (uintptr_t)arg;

	for (uint64_t n = 1; n <= ROUNDS; n++) {
		int r;

		all.data[me] = n;
		r = ipcwait_barrier_wait(&all.barrier);
		CHECK(r == 0 || r == IPCWAIT_BARRIER_SERIAL);
		__atomic_fetch_add(&all.serials, (uint64_t)r, __ATOMIC_RELAXED);
		for (unsigned i = 0; i < THREADS; i++)
			CHECK_EQ(all.data[i], n);
		CHECK(ipcwait_barrier_wait_until(&all.barrier, IPCWAIT_FOREVER) >= 0);
	}
	return NULL;
}

static void rounds(void)
{
	make(&all.barrier, THREADS);
	all.serials = 0;
	gate_fabricate(&all.barrier.word, BARRIER_WORD(UINT32_MAX - ROUNDS, 0, 0));
	run_threads(work_in_rounds);
	CHECK_EQ(all.serials, ROUNDS);
	CHECK_EQ(gate_word(&all.barrier.word), BARRIER_WORD(ROUNDS - 1, 0, 0));
	CHECK_EQ(ipcwait_barrier_fini(&all.barrier), 0);
}

/* Whoever is through first ends it and takes the memory away. */
static void *use_and_destroy(void *arg)
{
	uintptr_t me = (uintptr_t)arg;

	for (uintptr_t n = 0; n < PAGES; n++) {
		char *page = all.pages + n * PAGE_SIZE;
		struct ipcwait_barrier *b = (struct ipcwait_barrier *)(void *)page;
		int r = ipcwait_barrier_wait(b);

		CHECK(r >= 0);
		if (n / 2 % THREADS != me)
			continue;
		CHECK_EQ(fini_barrier(b), 0);
		CHECK(mprotect(page, PAGE_SIZE, PROT_NONE) == 0);
	}
	return NULL;
}

static void destroyed_at_once(void)
{
	all.pages = mmap(NULL, (size_t)PAGES * PAGE_SIZE, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(all.pages != MAP_FAILED);
	for (size_t i = 0; i < PAGES; i++)
		make((struct ipcwait_barrier *)(void *)(all.pages + i * PAGE_SIZE),
		     THREADS);
	run_threads(use_and_destroy);
	CHECK(munmap(all.pages, (size_t)PAGES * PAGE_SIZE) == 0);
}

static void *try_for_partners(void *arg)
{
	uint64_t seed = (uintptr_t)arg + 1;

	for (int i = 0; i < TRIES; i++) {
		int64_t patience = (int64_t)check_random(&seed) & 0x1ffff;
		int r = ipcwait_barrier_wait_until(&all.barrier,
						   ipcwait_deadline_in_ns(patience));

		CHECK(r == 0 || r == IPCWAIT_BARRIER_SERIAL || r == -ETIMEDOUT);
		__atomic_fetch_add(r == 0   ? &all.released
				   : r == 1 ? &all.serials
					    : &all.expired,
				   1, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* Whoever has got 0 was released by a serial party, and nobody else was. */
static void deadlines(void)
{
	make(&all.barrier, 3);
	all.serials = all.released = all.expired = 0;
	run_threads(try_for_partners);
	CHECK_EQ(all.released, 2 * all.serials);
	CHECK_EQ(all.released + all.serials + all.expired, THREADS * TRIES);
	CHECK_EQ(gate_word(&all.barrier.word), BARRIER_WORD(all.serials, 0, 0));
	CHECK_EQ(ipcwait_barrier_fini(&all.barrier), 0);
}

static void on_signal(int signal)
{
	(void)signal;
}

static void *wait_once(void *arg)
{
	CHECK_EQ(ipcwait_barrier_wait(&all.barrier), 0);
	return arg;
}

static bool sleeps(void *arg)
{
	(void)arg;
	return gate_word(&all.barrier.word) & BARRIER_SLEEPS;
}

static void signals_do_not_end_it(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	pthread_t thread;

	CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
	make(&all.barrier, 2);
	CHECK_EQ(pthread_create(&thread, NULL, wait_once, NULL), 0);
	CHECK(check_eventually(sleeps, NULL));
	for (int i = 0; i < 50; i++) {
		CHECK(pthread_kill(thread, SIGUSR1) == 0);
		(void)usleep(200);
	}
	CHECK_EQ(barrier_arrived(gate_word(&all.barrier.word)), 1);
	CHECK_EQ(ipcwait_barrier_fini(&all.barrier), -EBUSY);
	CHECK_EQ(ipcwait_barrier_wait(&all.barrier), IPCWAIT_BARRIER_SERIAL);
	CHECK_EQ(ipcwait_barrier_fini(&all.barrier), 0);
	CHECK_EQ(pthread_join(thread, NULL), 0);
}

static void with_each_preset(void (*test)(void))
{
	static const enum ipcwait_preset presets[] = { IPCWAIT_INHERIT, IPCWAIT_SPIN,
						       IPCWAIT_BLOCK };

	for (unsigned i = 0; i < 6; i++) {
		all.flags = i % 2 ? IPCWAIT_PRIVATE : 0;
		all.preset = presets[i / 2];
		test();
	}
}

static void test_rounds(void)
{
	with_each_preset(rounds);
}

static void test_destroyed_at_once(void)
{
	with_each_preset(destroyed_at_once);
}

static void test_deadlines(void)
{
	with_each_preset(deadlines);
}

static void test_signals(void)
{
	with_each_preset(signals_do_not_end_it);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(test_rounds),
		CHILD_TEST(test_destroyed_at_once),
		CHILD_TEST(test_deadlines),
		CHILD_TEST(test_signals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
