/* SPDX-License-Identifier: MIT */
#include "handoff.h"
#include "row.h"

#include <ipcwait/stats.h>

#include <math.h>
#include <stdlib.h>

/* Waits that sleep, so that B is known: their length, and how many. */
#define SLEEPS_US 200
#define SLEEPS    400

struct handoff {
	struct wakeup *wakeup;
	struct wakeups times;
	uint64_t spun, slept; /* the library's waits before those that are measured */
};

struct handoff *handoff_start(void)
{
	struct handoff *h = calloc(1, sizeof(*h));

	if (!h)
		give_up("no memory");
	h->wakeup = wakeup_start();
	return h;
}

static void read_waits(struct handoff *h, uint64_t *spun, uint64_t *slept)
{
	struct ipcwait_stats st;

	if (ipcwait_stats_get(&st, sizeof(st)) < 0)
		give_up("ipcwait_stats_get() failed");
	*spun = st.kind[IPCWAIT_KIND_SEM].spun - h->spun;
	*slept = st.kind[IPCWAIT_KIND_SEM].slept - h->slept;
}

static void begin(void *meter)
{
	struct handoff *h = meter;

	h->spun = h->slept = 0;
	read_waits(h, &h->spun, &h->slept);
}

static double us(const struct histogram *h, double share)
{
	return h->count ? histogram_quantile(h, share) / 1e3 : NAN;
}

void handoff_run(struct handoff *h, const struct batch *b, struct figures *f)
{
	const struct wakeups *t = &h->times;
	struct batch metered = *b;
	uint64_t spun, slept;

	metered.begin = begin;
	metered.meter = h;
	wakeup_run(h->wakeup, &metered, &h->times);
	read_waits(h, &spun, &slept);
	f->latency_us = us(&t->latency, 0.5);
	f->mean_us = t->latency.count ? histogram_mean(&t->latency) / 1e3 : NAN;
	f->p99_us = us(&t->latency, 0.99);
	f->waiter_cpu_us = (double)t->cpu_ns / 1e3 / (double)t->measured;
	f->post_us = us(&t->post, 0.5);
	f->slept = spun + slept ? (double)slept / (double)(spun + slept) : NAN;
	f->astray = (double)t->astray / (double)t->measured;
}

double handoff_learn_block_cost(struct handoff *h, const struct options *o)
{
	struct sem_room sem;
	struct batch b = { .ops = &sem_preset_block, .sem = &sem };
	struct figures f;

	b.wait_ns = INT64_C(1000) * SLEEPS_US;
	b.n = options_scaled(o, SLEEPS, 40);
	b.ops->init(&sem);
	handoff_run(h, &b, &f);
	return row_block_cost_ns();
}
