/* SPDX-License-Identifier: MIT */
#include "volley.h"
#include "crew.h"
#include "impls.h"
#include "meter.h"
#include "shares.h"
#include "../common/clock.h"
#include "../common/place.h"

#include <sched.h>
#include <stdlib.h>

#define WARM_MOST 1000

#define CPUS_MOST 1024

/* What one of the two writes in every trip is not on a line that the other looks at. */
struct pair {
	struct sem_room turn[2];
	_Alignas(128) bool over; /* by the first, before the last post */
	int cpu;                 /* by the second, when it has moved */
	struct {
		_Alignas(128) uint64_t work;
	} side[2];
	/* by the first: trips that it ended where the second was */
	_Alignas(128) uint64_t same_cpu;
	struct histogram latency;
};

struct game {
	const struct volley *v;
	struct meter meter;
	struct pair *pairs;
	uint64_t trips; /* of all pairs together */
	unsigned cpus[CPUS_MOST], n_cpus;
	_Alignas(128) unsigned to_come, to_leave; /* pairs */
	bool begun;                               /* all have come: what follows counts */
	struct shares shares;
};

static void work(const struct game *g, struct pair *p, unsigned side)
{
	p->side[side].work = clock_work(p->side[side].work, g->v->steps);
}

static void go_trip(const struct game *g, struct pair *p)
{
	work(g, p, 0);
	g->v->ops->post(&p->turn[1]);
	g->v->ops->wait(&p->turn[0]);
}

static void go_trips(const struct game *g, struct pair *p, struct crew *crew, uint64_t n)
{
	int64_t begin = clock_now_ns();

	while (n-- && !crew_is_late(crew)) {
		int64_t end;

		go_trip(g, p);
		if (g->v->place == PLACE_APART)
			p->same_cpu += p->cpu == sched_getcpu();
		end = clock_now_ns();
		histogram_add(&p->latency, (uint64_t)(end - begin) / g->v->per_trip);
		begin = end;
	}
}

static void play_measured(struct game *g, struct pair *p, struct crew *crew)
{
	uint64_t first, n;

	while ((n = shares_take(&g->shares, &first)))
		go_trips(g, p, crew, n);
}

/* The pair that is the last to come begins, while the others play. */
static void play_until_all_here(struct game *g, struct pair *p, struct crew *crew)
{
	uint64_t warm = g->trips / g->v->pairs / 10 + 1;

	for (uint64_t i = 0; i < warm && i < WARM_MOST && !crew_is_late(crew); i++)
		go_trip(g, p);
	if (!__atomic_sub_fetch(&g->to_come, 1, __ATOMIC_RELAXED)) {
		meter_begin(&g->meter);
		__atomic_store_n(&g->begun, true, __ATOMIC_RELEASE);
	}
	while (!__atomic_load_n(&g->begun, __ATOMIC_ACQUIRE) && !crew_is_late(crew))
		go_trip(g, p);
}

static void say_cpu(struct pair *p, int cpu)
{
	if (p->cpu != cpu)
		p->cpu = cpu;
}

/* Until the first says that it is over. */
static void play_second(const struct game *g, struct pair *p)
{
	for (;;) {
		g->v->ops->wait(&p->turn[1]);
		if (p->over)
			return;
		work(g, p, 1);
		if (g->v->place == PLACE_APART)
			say_cpu(p, sched_getcpu());
		g->v->ops->post(&p->turn[0]);
	}
}

static void play_first(struct game *g, struct pair *p, struct crew *crew)
{
	play_until_all_here(g, p, crew);
	play_measured(g, p, crew);
	if (!__atomic_sub_fetch(&g->to_leave, 1, __ATOMIC_ACQ_REL) && !crew_is_late(crew))
		meter_end(&g->meter);
	p->over = true;
	g->v->ops->post(&p->turn[1]);
}

static void settle(const struct game *g, unsigned side)
{
	if (g->v->place == PLACE_PINNED)
		place_on(&g->v->cpus[side], 1);
	else if (g->v->place == PLACE_APART && g->n_cpus > 1) {
		place_on(&g->cpus[side], 1);
		place_on(g->cpus, g->n_cpus);
	}
}

static void play(struct crew *crew, unsigned index, void *arg)
{
	struct game *g = arg;
	struct pair *p = &g->pairs[index / 2];

	settle(g, index % 2);
	if (index % 2)
		play_second(g, p);
	else
		play_first(g, p, crew);
}

static struct game *new_game(struct bench_run *run, const struct volley *v)
{
	struct game *g = zeroes(1, sizeof(*g));

	g->v = v;
	g->trips = (bench_operations(run) + v->per_trip - 1) / v->per_trip;
	shares_init(&g->shares, g->trips, v->pairs);
	g->to_come = g->to_leave = v->pairs;
	g->meter.run = run;
	g->meter.ipcwait = v->ipcwait;
	g->meter.ops = (double)(g->trips * v->per_trip);
	g->n_cpus = place_cpus(g->cpus, CPUS_MOST);
	g->n_cpus = g->n_cpus < CPUS_MOST ? g->n_cpus : CPUS_MOST;
	g->pairs = zeroes(v->pairs, sizeof(*g->pairs));
	for (unsigned i = 0; i < 2 * v->pairs; i++)
		v->ops->init(&g->pairs[i / 2].turn[i % 2]);
	return g;
}

static void report(const struct game *g)
{
	struct histogram *latency = zeroes(1, sizeof(*latency));
	double same_cpu = 0;

	for (unsigned i = 0; i < g->v->pairs; i++) {
		histogram_merge(latency, &g->pairs[i].latency);
		same_cpu += (double)g->pairs[i].same_cpu;
	}
	bench_latency(g->meter.run, "latency", latency);
	if (g->v->place == PLACE_APART)
		bench_counter(g->meter.run, "same_cpu_share", same_cpu / (double)g->trips);
	free(latency);
}

static void end_game(struct game *g)
{
	for (unsigned i = 0; i < 2 * g->v->pairs && g->v->ops->end; i++)
		g->v->ops->end(&g->pairs[i / 2].turn[i % 2]);
	free(g->pairs);
	free(g);
}

void volley_time(struct bench_run *run, const struct volley *v)
{
	struct game *g = new_game(run, v);

	if (crew_run(2 * v->pairs, play, g))
		report(g);
	else
		bench_skip(run, "%s", crew_late);
	end_game(g);
}
