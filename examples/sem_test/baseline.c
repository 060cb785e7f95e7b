/* SPDX-License-Identifier: MIT */
#include "baseline.h"
#include "bodies.h"
#include "work.h"
#include "../../tools/common/median.h"
#include "../../tools/common/place.h"

#include <math.h>

/* 200 x 27 us. */
#define LOOP_BATCHES    200
#define LOOPS_PER_BATCH 100000

/* 100 x 10 000 round trips, about 0.1 s; a batch that was preempted does not count. */
#define TRIP_BATCHES    100
#define TRIPS_PER_BATCH 10000

/* Where other programs keep the CPUs busy a batch can take very long; some will do. */
#define TRIP_NS_MOST 500000000

static int time_loops(struct arena *a, struct worker *self)
{
	double ns[LOOP_BATCHES];
	uint64_t x = 0;

	for (int i = 0; i < LOOP_BATCHES; i++) {
		int64_t begin = measure_now_ns();

		x = work(x, LOOPS_PER_BATCH);
		ns[i] = (double)(measure_now_ns() - begin) / LOOPS_PER_BATCH;
	}
	self->checksum = x;
	self->result = median(ns, LOOP_BATCHES);
	__atomic_store_n(&self->done, a->items, __ATOMIC_RELAXED);
	return 0;
}

double baseline_loop_ns(struct arena *a)
{
	const struct job j = {
		.name = "cost of a loop",
		.role = { "worker" },
		.body = { time_loops },
	};

	a->processes = false;
	a->items = 1;
	job_run(&j, a);
	return a->worker[0].result;
}

/* Two different CPUs: the scheduler may start both threads on one. */
static void go_to_usable_cpu(unsigned i)
{
	unsigned cpus[JOB_WORKERS];

	if (place_cpus(cpus, JOB_WORKERS) >= JOB_WORKERS)
		(void)place_thread(pthread_self(), &cpus[i], 1);
}

/* The line goes back and forth in the first bytes of a semaphore's room: 0 means stop. */
static uint64_t *ball(struct arena *a)
{
	return (uint64_t *)(void *)a->full.bytes;
}

static int send_ball(struct arena *a, struct worker *self)
{
	int64_t start = measure_now_ns();
	double ns[TRIP_BATCHES];
	uint64_t trip = 1;
	int i = 0;

	go_to_usable_cpu(0);
	while (i < TRIP_BATCHES && measure_now_ns() - start < TRIP_NS_MOST) {
		int64_t begin = measure_now_ns();

		for (int k = 0; k < TRIPS_PER_BATCH; k++, trip += 2) {
			__atomic_store_n(ball(a), trip, __ATOMIC_RELEASE);
			while (__atomic_load_n(ball(a), __ATOMIC_ACQUIRE) != trip + 1)
				continue;
		}
		ns[i++] = (double)(measure_now_ns() - begin) / TRIPS_PER_BATCH;
	}
	__atomic_store_n(ball(a), 0, __ATOMIC_RELEASE);
	self->result = lowest_tenth(ns, (unsigned)i);
	__atomic_store_n(&self->done, a->items, __ATOMIC_RELAXED);
	return 0;
}

static int return_ball(struct arena *a, struct worker *self)
{
	uint64_t trip;

	go_to_usable_cpu(1);
	while ((trip = __atomic_load_n(ball(a), __ATOMIC_ACQUIRE)) != 0)
		if (trip & 1)
			__atomic_store_n(ball(a), trip + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&self->done, a->items, __ATOMIC_RELAXED);
	return 0;
}

double baseline_round_trip_ns(struct arena *a)
{
	const struct job j = {
		.name = "cache line round trip",
		.role = { "sender", "returner" },
		.body = { send_ball, return_ball },
	};

	if (place_cpus(NULL, 0) < 2)
		return NAN;
	a->processes = false;
	a->items = 1;
	*ball(a) = 2;
	job_run(&j, a);
	return a->worker[0].result;
}

double baseline_bound_seconds(struct arena *a, struct job_watcher *watcher,
			      uint64_t *checksum)
{
	bool one_cpu = place_cpus(NULL, 0) < 2;
	const struct job j = {
		.name = "bound",
		.role = { "worker" },
		.body = { one_cpu ? body_both_works : body_producers_work },
		.watcher = watcher,
	};

	a->processes = false;
	job_run(&j, a);
	*checksum = a->worker[0].checksum;
	return job_seconds(&j, a);
}
