/* SPDX-License-Identifier: MIT */
#include "waits.h"
#include "impls.h"
#include "meter.h"
#include "../common/wakeup.h"

/* Waits that are not measured: at first, and in later runs. Never for longer than this. */
#define WARM_FIRST 200
#define WARM_LATER 3
#define WARM_NS    INT64_C(30000000)

struct waits *waits_new(const struct sem_peer *peer)
{
	struct waits *w = zeroes_for_good(sizeof(*w));

	w->peer = peer;
	return w;
}

static uint64_t warm_up(struct waits *w)
{
	uint64_t n = w->made ? WARM_LATER : WARM_FIRST;
	uint64_t most = (uint64_t)(WARM_NS / w->wait_ns);

	if (!w->made)
		w->peer->ops->init(&w->sem);
	w->made = true;
	return n < most ? n : most;
}

static void report(struct bench_run *run, const struct wakeups *r)
{
	double n = (double)r->measured;

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
	struct waits *w = (struct waits *)arg;
	struct meter meter = { .run = run, .ipcwait = is_ipcwait(w->peer->name) };
	struct batch b = { .ops = w->peer->ops, .sem = &w->sem, .wait_ns = w->wait_ns };

	if (is_missing(run, w->peer->missing) || is_missing(run, needs_two_cpus()))
		return;
	if (!wakeup)
		wakeup = wakeup_start();
	w->state = w->seed;
	b.length = w->length;
	b.arg = &w->state;
	b.warm = warm_up(w);
	b.n = bench_operations(run);
	b.begin = meter_begin;
	b.end = meter_end;
	b.meter = &meter;
	wakeup_run(wakeup, &b, &result);
	report(run, &result);
}
