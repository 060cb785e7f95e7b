/* SPDX-License-Identifier: MIT */
#include "waits.h"
#include "impls.h"
#include "meter.h"
#include "../common/wakeup.h"

#include <inttypes.h>
#include <stdbool.h>

/* Waits that are not measured: at first, and in later runs. Never for longer than this. */
#define WARM_FIRST 200
#define WARM_LATER 3
#define WARM_NS    INT64_C(30000000)

/* So many waits may go astray. */
#define ASTRAY_MOST 0.2

struct waits_past {
	struct sem_room sem;
	bool made;
};

struct waits *waits_new(const struct sem_peer *peer)
{
	struct waits *w = zeroes_for_good(sizeof(*w));

	w->peer = peer;
	w->past = zeroes_for_good(sizeof(*w->past));
	return w;
}

static uint64_t warm_up(const struct waits *w)
{
	uint64_t n = w->past->made ? WARM_LATER : WARM_FIRST;
	uint64_t most = (uint64_t)(WARM_NS / w->wait_ns);

	if (!w->past->made)
		w->peer->ops->init(&w->past->sem);
	w->past->made = true;
	return n < most ? n : most;
}

/* Only of a run that is long enough to count: a skip ends the benchmark. */
static bool went_astray(const struct meter *meter, const struct wakeups *r)
{
	if ((double)r->astray <= ASTRAY_MOST * (double)r->measured ||
	    (double)meter->wall_ns < bench_min_time_s() * 1e9)
		return false;
	bench_skip(meter->run,
		   "not available: %" PRIu64 " of %" PRIu64
		   " waits ended on the waker's CPU",
		   r->astray, r->measured);
	return true;
}

static void report(struct bench_run *run, const struct wakeups *r)
{
	double n = (double)r->measured;

	report_cpus(run, r->cpu_waker, r->cpu_waiter);
	bench_latency(run, "latency", &r->latency);
	bench_latency(run, "post", &r->post);
	bench_counter(run, "waiter_cpu_ns", (double)r->cpu_ns / n);
	bench_counter(run, "astray_share", (double)r->astray / n);
	bench_counter(run, "moved_share", (double)r->moved / n);
}

void time_waits(struct bench_run *run, const void *arg)
{
	static struct wakeup *wakeup;
	static struct wakeups result;
	const struct waits *w = arg;
	uint64_t state = w->seed;
	struct meter meter = { .run = run, .futexes = futexes_of(w->peer->name) };
	struct batch b = { .ops = w->peer->ops, .wait_ns = w->wait_ns };

	if (is_missing(run, w->peer->missing) || is_missing(run, needs_two_cpus()))
		return;
	if (!wakeup)
		wakeup = wakeup_start();
	b.sem = &w->past->sem;
	b.length = w->length;
	b.arg = &state;
	b.warm = warm_up(w);
	b.n = bench_operations(run);
	b.begin = meter_begin;
	b.end = meter_end;
	b.meter = &meter;
	wakeup_run(wakeup, &b, &result);
	if (!went_astray(&meter, &result))
		report(run, &result);
}
