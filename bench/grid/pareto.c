/* SPDX-License-Identifier: MIT */
/*
 * How much CPU time buys how little latency, when the waits differ?
 *
 * One operation is one wait of 2 us, or in one of five cases of 200 us, in an order that is
 * always the same: who always spins pays for the long ones, who never does is late for the
 * short ones. waits.h says what is measured: waiter_cpu_ns against latency_mean_ns (or _p50_ns,
 * or _p99_ns) is a point of the picture.
 *
 * "fixed" spins for its budget and then sleeps, and shows what any constant could reach; its
 * ends are the peers "spin" and "block". Everybody else has a budget of its "own". libipcwait's
 * presets stand for its budgets, because what a program may set, a ceiling, is not what a waiter
 * takes: the engine decides below it.
 */
#include "impls.h"
#include "questions.h"
#include "sem_fixed.h"
#include "waits.h"
#include "../common/clock.h"

#define SHORT_NS     2000
#define LONG_NS      200000
#define LONG_PERCENT 20
#define MEAN_NS      ((SHORT_NS * (100 - LONG_PERCENT) + LONG_NS * LONG_PERCENT) / 100)

static int64_t draw(void *state)
{
	uint64_t *s = state;

	*s = clock_work(*s, 1);
	return (*s >> 33) % 100 < LONG_PERCENT ? LONG_NS : SHORT_NS;
}

static struct waits *mixed(const struct sem_peer *peer)
{
	struct waits *w = waits_new(peer);

	w->wait_ns = MEAN_NS;
	w->length = draw;
	w->seed = 1;
	return w;
}

void add_pareto(void)
{
	const struct sem_peer *peer;

	for (unsigned i = 0; sem_fixed[i].peer.name; i++)
		bench_add(time_waits, mixed(&sem_fixed[i].peer),
			  "pareto/impl:fixed/budget:%s", sem_fixed[i].budget);
	for (unsigned i = 0; (peer = sem_impl(i)); i++)
		bench_add(time_waits, mixed(peer), "pareto/impl:%s/budget:own", peer->name);
}
