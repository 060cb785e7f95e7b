/* SPDX-License-Identifier: MIT */
/*
 * gates_stress private|shared SECONDS: more threads than CPUs go through pages with a once, a latch
 * and a barrier each, with every preset and with deadlines now and then. What they tell each other
 * there are plain variables. One of them ends the barrier as soon as its own wait is over, and
 * takes the page away: any further access is a segmentation fault. IW_STRESS_SECONDS and
 * IW_TEST_SEED in the environment are as for sem_stress.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <ipcwait/ipcwait.h>

#include "common/check.h"
#include "common/fini.h"

#define THREADS   6
#define PAGES     128
#define PAGE_SIZE 4096

struct page {
	struct ipcwait_once once;
	struct ipcwait_latch latch;
	struct ipcwait_barrier barrier;
	uint64_t made, runs, data[THREADS]; /* plain on purpose */
};

static struct {
	char *pages;
	unsigned flags;
	uint64_t seed, batches, expired;
	int64_t end_ns;
	bool over;
	pthread_barrier_t batch;
} all;

static struct page *page_at(size_t i)
{
	return (struct page *)(void *)(all.pages + i * PAGE_SIZE);
}

/* Fails the first time. */
static int make(void *arg)
{
	struct page *p = arg;

	if (p->runs++ == 0)
		return -EIO;
	p->made++;
	return 0;
}

static void go_through_once(struct page *p)
{
	int r;

	while ((r = ipcwait_once_run(&p->once, make, p)) != 0)
		CHECK_EQ(r, -EIO);
	CHECK_EQ(p->made, 1);
}

static int64_t patience(uint64_t *seed)
{
	uint64_t r = check_random(seed);

	return r % 2 ? IPCWAIT_FOREVER : ipcwait_deadline_in_ns((int64_t)(r >> 48));
}

static void go_through_latch(struct page *p, unsigned me, uint64_t *seed)
{
	int r;

	p->data[me] = p->made;
	if (me % 2) {
		CHECK_EQ(ipcwait_latch_arrive_and_wait(&p->latch), 0);
	} else {
		CHECK_EQ(ipcwait_latch_count_down(&p->latch, 1), 0);
		do
			r = ipcwait_latch_wait_until(&p->latch, patience(seed));
		while (r == -ETIMEDOUT);
		CHECK_EQ(r, 0);
	}
	for (unsigned i = 0; i < THREADS; i++)
		CHECK_EQ(p->data[i], 1);
}

static void go_through_barrier(struct page *p, uint64_t *seed)
{
	int r;

	while ((r = ipcwait_barrier_wait_until(&p->barrier, patience(seed))) == -ETIMEDOUT)
		__atomic_fetch_add(&all.expired, 1, __ATOMIC_RELAXED);
	CHECK(r == 0 || r == IPCWAIT_BARRIER_SERIAL);
}

static void *go_through_all(void *arg)
{
	unsigned me = (unsigned)(uintptr_t)arg;
	uint64_t seed = all.seed + me * 7919;

	for (;;) {
		(void)pthread_barrier_wait(&all.batch);
		if (all.over)
			return NULL;
		for (size_t i = 0; i < PAGES; i++) {
			struct page *p = page_at(i);

			go_through_once(p);
			go_through_latch(p, me, &seed);
			go_through_barrier(p, &seed);
			if (i % THREADS != me)
				continue;
			CHECK_EQ(fini_barrier(&p->barrier), 0);
			CHECK(mprotect(p, PAGE_SIZE, PROT_NONE) == 0);
		}
		(void)pthread_barrier_wait(&all.batch);
	}
}

static void renew_pages(void)
{
	static const enum ipcwait_preset presets[] = { IPCWAIT_INHERIT, IPCWAIT_SPIN,
						       IPCWAIT_BLOCK };

	CHECK(mprotect(all.pages, (size_t)PAGES * PAGE_SIZE, PROT_READ | PROT_WRITE) == 0);
	for (size_t i = 0; i < PAGES; i++) {
		struct page *p = page_at(i);
		enum ipcwait_preset preset = presets[i % 3];

		memset(p, 0, sizeof(*p));
		CHECK_EQ(ipcwait_once_init(&p->once, all.flags), 0);
		CHECK_EQ(ipcwait_latch_init(&p->latch, THREADS, all.flags), 0);
		CHECK_EQ(ipcwait_barrier_init(&p->barrier, THREADS, all.flags), 0);
		CHECK_EQ(ipcwait_window_set_preset(&p->once.window, preset), 0);
		CHECK_EQ(ipcwait_window_set_preset(&p->latch.window, preset), 0);
		CHECK_EQ(ipcwait_window_set_preset(&p->barrier.window, preset), 0);
	}
}

static void run(void)
{
	pthread_t thread[THREADS];

	CHECK_EQ(pthread_barrier_init(&all.batch, NULL, THREADS + 1), 0);
	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, go_through_all, (void *)i), 0);
	for (; !all.over; all.batches++) {
		all.over = all.batches && ipcwait_now_ns() >= all.end_ns;
		if (!all.over)
			renew_pages();
		(void)pthread_barrier_wait(&all.batch);
		if (!all.over)
			(void)pthread_barrier_wait(&all.batch);
	}
	for (unsigned i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_join(thread[i], NULL), 0);
	printf("%" PRIu64 " pages, %" PRIu64 " given up\n", (all.batches - 1) * PAGES,
	       all.expired);
}

int main(int argc, char **argv)
{
	const char *long_run = getenv("IW_STRESS_SECONDS");
	int seconds = argc == 3 ? atoi(long_run ? long_run : argv[2]) : 0;

	if (seconds < 1 || seconds > 86400 ||
	    (strcmp(argv[1], "private") != 0 && strcmp(argv[1], "shared") != 0)) {
		fputs("usage: gates_stress private|shared SECONDS\n", stderr);
		return 2;
	}
	all.flags = strcmp(argv[1], "private") == 0 ? IPCWAIT_PRIVATE : 0;
	all.seed = check_seed();
	all.end_ns = ipcwait_deadline_in_ns(seconds * INT64_C(1000000000));
	all.pages = mmap(NULL, (size_t)PAGES * PAGE_SIZE, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(all.pages != MAP_FAILED);
	check_watchdog((unsigned)seconds + 40);
	run();
	return 0;
}
