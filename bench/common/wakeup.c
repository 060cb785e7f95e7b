/* SPDX-License-Identifier: MIT */
#include "wakeup.h"
#include "clock.h"
#include "../../tools/common/complain.h"
#include "place_tally.h"
#include "../../tools/common/place.h"
#include "../../tools/common/spin_hint.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CPUS_MOST 1024

struct wakeup {
	_Alignas(128) int64_t ready_ns; /* by the waiter, ever greater */
	_Alignas(128) int64_t stamp_ns; /* by the waker, right before the post */
	bool last;                      /* by the waker: no hand-off follows */
	/* set before the waker is told to go */
	_Alignas(128) const struct batch *batch;
	struct wakeups *result; /* the waker writes to its histogram of posts only */
	sem_t go, done;
	int64_t clock_ns; /* what a reading of the clock costs */
	unsigned cpus[CPUS_MOST];
	unsigned n_cpus;
	struct place_tally ended_on; /* in the batch */
	uint64_t random;
};

static uint64_t at_least_zero(int64_t ns)
{
	return ns > 0 ? (uint64_t)ns : 0;
}

/* From -1 to 1: the upper half of a linear congruential generator. */
static double random_share(struct wakeup *w)
{
	w->random = clock_work(w->random, 1);
	return (double)(w->random >> 32) / 2147483648.0 - 1;
}

static int64_t length_ns(struct wakeup *w, const struct batch *b)
{
	if (b->length)
		return b->length(b->arg);
	if (!b->jitter_percent)
		return b->wait_ns;
	return b->wait_ns +
	       (int64_t)((double)b->wait_ns * b->jitter_percent / 100 * random_share(w));
}

static int64_t ready_after(const struct wakeup *w, int64_t before)
{
	int64_t ready;

	while ((ready = __atomic_load_n(&w->ready_ns, __ATOMIC_ACQUIRE)) == before)
		spin_hint();
	return ready;
}

static void pass_time(enum pace pace, int64_t until_ns)
{
	const struct timespec until = { until_ns / 1000000000, until_ns % 1000000000 };

	if (pace == PACE_TIMER)
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) ==
		       EINTR)
			continue;
	else
		clock_burn_until(until_ns);
}

static void wake_for_batch(struct wakeup *w, const struct batch *b)
{
	uint64_t total = b->warm + b->n, i = 0;
	int64_t ready = 0, after = clock_now_ns();
	bool last;

	do {
		ready = ready_after(w, ready);
		last = b->more ? !b->more(b->arg, ready) : i + 1 == total;
		pass_time(b->pace,
			  (b->pace == PACE_WAIT ? ready : after) + length_ns(w, b));
		w->last = last;
		w->stamp_ns = clock_now_ns();
		b->ops->post(b->sem);
		after = clock_now_ns();
		if (i >= b->warm)
			histogram_add(&w->result->post,
				      at_least_zero(after - w->stamp_ns - w->clock_ns));
		i++;
	} while (!last);
}

static void *waker(void *arg)
{
	struct wakeup *w = arg;

	place_on(&w->cpus[1], 1);
	for (;;) {
		while (sem_wait(&w->go))
			continue;
		wake_for_batch(w, w->batch);
		sem_post(&w->done);
	}
	return NULL;
}

struct wakeup *wakeup_start(void)
{
	struct wakeup *w = aligned_alloc(128, sizeof(*w));
	pthread_t thread;

	if (!w)
		give_up("no memory");
	memset(w, 0, sizeof(*w));
	w->n_cpus = place_cpus(w->cpus, CPUS_MOST);
	w->n_cpus = w->n_cpus < CPUS_MOST ? w->n_cpus : CPUS_MOST;
	place_two_cores(w->cpus, w->n_cpus);
	w->clock_ns = clock_cost_ns();
	w->random = 1;
	sem_init(&w->go, 0, 0);
	sem_init(&w->done, 0, 0);
	if (pthread_create(&thread, NULL, waker, w))
		give_up("cannot start a thread");
	return w;
}

/* One hand-off. Returns the added latency. */
static int64_t wait_once(struct wakeup *w, const struct batch *b, int64_t *ready)
{
	int64_t now = clock_now_ns();

	*ready = now > *ready ? now : *ready + 1;
	__atomic_store_n(&w->ready_ns, *ready, __ATOMIC_RELEASE);
	b->ops->wait(b->sem);
	return clock_now_ns() - w->stamp_ns - w->clock_ns;
}

static void keep(struct wakeup *w, int64_t late_ns, int *cpu)
{
	struct wakeups *r = w->result;
	int now = sched_getcpu();

	r->measured++;
	r->moved += now != *cpu;
	*cpu = now;
	if (now != (int)w->cpus[1]) {
		histogram_add(&r->latency, at_least_zero(late_ns));
		place_count(&w->ended_on, now);
		return;
	}
	r->astray++;
	place_apart(w->cpus, w->n_cpus);
	*cpu = sched_getcpu();
}

static int64_t begin(const struct batch *b)
{
	if (b->begin)
		b->begin(b->meter);
	return clock_thread_cpu_ns();
}

static void wait_for_batch(struct wakeup *w, const struct batch *b)
{
	int64_t ready = 0, cpu_ns = 0;
	int cpu = -1;
	bool last = false;

	for (uint64_t i = 0; !last; i++) {
		int64_t late_ns;

		if (i == b->warm) {
			cpu = sched_getcpu();
			cpu_ns = begin(b);
		}
		late_ns = wait_once(w, b, &ready);
		last = w->last;
		if (i >= b->warm)
			keep(w, late_ns, &cpu);
	}
	/* Before the caller's counters are read: that may cost more than a hand-off. */
	w->result->cpu_ns = clock_thread_cpu_ns() - cpu_ns;
	if (b->end)
		b->end(b->meter);
}

void wakeup_run(struct wakeup *w, const struct batch *b, struct wakeups *result)
{
	*result = (struct wakeups){ 0 };
	place_apart(w->cpus, w->n_cpus);
	w->ready_ns = 0;
	w->last = false;
	memset(&w->ended_on, 0, sizeof(w->ended_on));
	w->batch = b;
	w->result = result;
	sem_post(&w->go);
	wait_for_batch(w, b);
	while (sem_wait(&w->done))
		continue;
	result->cpu_waker = (int)w->cpus[1];
	result->cpu_waiter = place_most_on(&w->ended_on);
}
