/* SPDX-License-Identifier: MIT */
/*
 * A baton goes round in a ring of threads. What it counts is a plain variable: who holds the
 * baton has seen everything that the others did before, or a race detector says so.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

#include "common/check.h"
#include "common/sem_word.h"
#include "stress.h"

#define RING_MAX 8
#define RING_MIN 2

static struct {
	struct ipcwait_sem sem[RING_MAX];
	unsigned threads;
	uint64_t baton; /* plain on purpose */
	bool over;      /* plain too: set by who holds the baton */
	int64_t end_ns;
	uint64_t rounds[RING_MAX];
} ring;

static void *run_with_the_baton(void *arg)
{
	uintptr_t me = (uintptr_t)arg;
	struct ipcwait_sem *next = &ring.sem[(me + 1) % ring.threads];
	bool over;

	ring.rounds[me] = 0;
	do {
		CHECK_EQ(ipcwait_sem_wait(&ring.sem[me]), 0);
		ring.baton++;
		ring.rounds[me]++;
		CHECK_EQ(ring.baton, (ring.rounds[me] - 1) * ring.threads + me + 1);
		/* Whoever begins a round decides that it is the last one for all. */
		if (me == 0 && ipcwait_now_ns() >= ring.end_ns)
			ring.over = true;
		over = ring.over;
		CHECK_EQ(ipcwait_sem_post(next), 0);
	} while (!over);
	return NULL;
}

static void run_ring(const struct stress *run, unsigned threads, int64_t ns)
{
	pthread_t thread[RING_MAX];

	stress_watch_none();
	ring.threads = threads;
	ring.baton = 0;
	ring.over = false;
	ring.end_ns = ipcwait_deadline_in_ns(ns);
	for (uintptr_t i = 0; i < threads; i++) {
		CHECK_EQ(ipcwait_sem_init(&ring.sem[i], 0, run->flags), 0);
		CHECK_EQ(ipcwait_window_set_preset(&ring.sem[i].window, run->preset), 0);
		stress_watch(&ring.sem[i]);
	}
	for (uintptr_t i = 0; i < threads; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, run_with_the_baton, (void *)i),
			 0);
	CHECK_EQ(ipcwait_sem_post(&ring.sem[0]), 0);
	for (unsigned i = 0; i < threads; i++)
		CHECK_EQ(pthread_join(thread[i], NULL), 0);
	/* The baton came back to where it began. */
	for (unsigned i = 0; i < threads; i++) {
		CHECK_EQ(sem_word(&ring.sem[i]), i == 0 ? WORD(1, 0, 0) : 0);
		CHECK_EQ(ring.rounds[i], ring.rounds[0]);
		CHECK_EQ(ipcwait_sem_fini(&ring.sem[i]), 0);
	}
	printf("%u threads: %" PRIu64 " passes\n", threads, ring.baton);
}

void stress_handoff(const struct stress *run)
{
	int64_t share = run->seconds * INT64_C(1000000000) / (RING_MAX - RING_MIN + 1);

	for (unsigned threads = RING_MIN; threads <= RING_MAX; threads++)
		run_ring(run, threads, share);
}
