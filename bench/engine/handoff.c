/* SPDX-License-Identifier: MIT */
#include "handoff.h"
#include "../common/clock.h"
#include "../common/place.h"
#include "row.h"
#include "../common/spin_hint.h"
#include "../common/quantile.h"

#include <ipcwait/stats.h>

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Hand-offs of a batch whose times are kept: the first ones. */
#define KEPT_MOST 65536

#define CPUS_MOST 1024

struct handoff {
	_Alignas(128) int64_t ready_ns; /* by the waiter, ever greater */
	_Alignas(128) int64_t stamp_ns; /* by the waker, right before the post */
	bool last;                      /* by the waker: no hand-off follows */
	/* set before the waker is told to go */
	_Alignas(128) const struct batch *batch;
	sem_t go, done;
	int64_t clock_ns; /* what a reading of the clock costs */
	unsigned cpus[CPUS_MOST];
	unsigned n_cpus;
	uint64_t random;
	uint64_t latencies[KEPT_MOST], posts[KEPT_MOST]; /* ns */
};

static uint64_t at_least_zero(int64_t ns)
{
	return ns > 0 ? (uint64_t)ns : 0;
}

/* From -1 to 1: the upper half of a linear congruential generator. */
static double random_share(struct handoff *h)
{
	h->random = clock_work(h->random, 1);
	return (double)(h->random >> 32) / 2147483648.0 - 1;
}

static int64_t length_ns(struct handoff *h, const struct batch *b)
{
	if (!b->jitter_percent)
		return b->wait_ns;
	return b->wait_ns +
	       (int64_t)((double)b->wait_ns * b->jitter_percent / 100 * random_share(h));
}

static int64_t ready_after(const struct handoff *h, int64_t before)
{
	int64_t ready;

	while ((ready = __atomic_load_n(&h->ready_ns, __ATOMIC_ACQUIRE)) == before)
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

static void wake_for_batch(struct handoff *h, const struct batch *b)
{
	uint64_t total = b->warm + b->n, i = 0;
	int64_t ready = 0, after = clock_now_ns();
	bool last;

	do {
		ready = ready_after(h, ready);
		last = b->more ? !b->more(b->arg, ready) : i + 1 == total;
		pass_time(b->pace,
			  (b->pace == PACE_WAIT ? ready : after) + length_ns(h, b));
		h->last = last;
		h->stamp_ns = clock_now_ns();
		b->ops->post(b->sem);
		after = clock_now_ns();
		if (i >= b->warm && i - b->warm < KEPT_MOST)
			h->posts[i - b->warm] =
				at_least_zero(after - h->stamp_ns - h->clock_ns);
		i++;
	} while (!last);
}

static void *waker(void *arg)
{
	struct handoff *h = arg;

	place_on(&h->cpus[1], 1);
	for (;;) {
		sem_wait(&h->go);
		wake_for_batch(h, h->batch);
		sem_post(&h->done);
	}
	return NULL;
}

struct handoff *handoff_start(void)
{
	struct handoff *h = aligned_alloc(128, sizeof(*h));
	pthread_t thread;

	if (!h)
		give_up("no memory");
	memset(h, 0, sizeof(*h));
	h->n_cpus = place_cpus(h->cpus, CPUS_MOST);
	h->n_cpus = h->n_cpus < CPUS_MOST ? h->n_cpus : CPUS_MOST;
	h->clock_ns = clock_cost_ns();
	h->random = 1;
	sem_init(&h->go, 0, 0);
	sem_init(&h->done, 0, 0);
	if (pthread_create(&thread, NULL, waker, h))
		give_up("cannot start a thread");
	return h;
}

/* Of the batch so far: the waiter's part. */
struct tally {
	uint64_t measured, kept, astray;
	int64_t cpu_ns;
	uint64_t spun, slept;
};

static void read_tally(struct tally *t)
{
	struct ipcwait_stats st;

	if (ipcwait_stats_get(&st, sizeof(st)) < 0)
		give_up("ipcwait_stats_get() failed");
	t->spun = st.kind[IPCWAIT_KIND_SEM].spun;
	t->slept = st.kind[IPCWAIT_KIND_SEM].slept;
	t->cpu_ns = clock_thread_cpu_ns();
}

/* One hand-off. Returns the added latency. */
static int64_t wait_once(struct handoff *h, const struct batch *b, int64_t *ready)
{
	int64_t now = clock_now_ns();

	*ready = now > *ready ? now : *ready + 1;
	__atomic_store_n(&h->ready_ns, *ready, __ATOMIC_RELEASE);
	b->ops->wait(b->sem);
	return clock_now_ns() - h->stamp_ns - h->clock_ns;
}

static void tally_since(struct tally *t, const struct tally *before)
{
	/* Before the library's counters are read: that costs more than a hand-off. */
	int64_t cpu_ns = clock_thread_cpu_ns();

	read_tally(t);
	t->cpu_ns = cpu_ns - before->cpu_ns;
	t->spun -= before->spun;
	t->slept -= before->slept;
}

static void wait_for_batch(struct handoff *h, const struct batch *b, struct tally *t)
{
	struct tally before = { 0 };
	int64_t ready = 0;
	bool last = false;

	for (uint64_t i = 0; !last; i++) {
		int64_t late_ns;

		if (i == b->warm)
			read_tally(&before);
		late_ns = wait_once(h, b, &ready);
		last = h->last;
		if (i < b->warm)
			continue;
		t->measured++;
		if (sched_getcpu() == (int)h->cpus[1]) {
			t->astray++;
			place_apart(h->cpus, h->n_cpus);
		} else if (t->kept < KEPT_MOST) {
			h->latencies[t->kept++] = at_least_zero(late_ns);
		}
	}
	tally_since(t, &before);
}

static double mean(const uint64_t *v, uint64_t n)
{
	double sum = 0;

	for (uint64_t i = 0; i < n; i++)
		sum += (double)v[i];
	return sum / (double)n;
}

static double share_us(uint64_t *v, uint64_t n, double share)
{
	return n ? (double)quantile(v, n, share) / 1e3 : NAN;
}

static void make_figures(struct handoff *h, const struct tally *t, struct figures *f)
{
	uint64_t posts = t->measured < KEPT_MOST ? t->measured : KEPT_MOST;
	double waits = (double)(t->spun + t->slept);

	f->mean_us = mean(h->latencies, t->kept) / 1e3;
	f->latency_us = share_us(h->latencies, t->kept, 0.5);
	f->p99_us = share_us(h->latencies, t->kept, 0.99);
	f->post_us = share_us(h->posts, posts, 0.5);
	f->waiter_cpu_us = (double)t->cpu_ns / 1e3 / (double)t->measured;
	f->slept = waits > 0 ? (double)t->slept / waits : NAN;
	f->astray = (double)t->astray / (double)t->measured;
}

void handoff_run(struct handoff *h, const struct batch *b, struct figures *f)
{
	struct tally t = { 0 };

	place_apart(h->cpus, h->n_cpus);
	h->ready_ns = 0;
	h->last = false;
	h->batch = b;
	sem_post(&h->go);
	wait_for_batch(h, b, &t);
	while (sem_wait(&h->done))
		continue;
	make_figures(h, &t, f);
}
