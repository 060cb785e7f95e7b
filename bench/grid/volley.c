/* SPDX-License-Identifier: MIT */
#include "volley.h"
#include "crew.h"
#include "impls.h"
#include "meter.h"
#include "shares.h"
#include "../common/clock.h"
#include "../common/place_tally.h"
#include "../../tools/common/place.h"

#include <sched.h>
#include <stdlib.h>

#define WARM_MOST 1000

#define SAMPLED_MOST   16
#define SAMPLES_ENOUGH 1000

#define CPUS_MOST 1024

/* What one of the two writes in every trip is not on a line that the other looks at. */
struct pair {
	struct sem_room turn[2];
	_Alignas(128) bool over; /* by the first, before the last post */
	int cpu;                 /* by the second, when it has moved */
	struct {
		_Alignas(128) uint64_t work;
		uint64_t trips; /* begun: both count alike */
	} side[2];
	/* by the first, of the trips that it looks at */
	_Alignas(128) uint64_t samples;
	uint64_t same_cpu; /* that it ended where the second was */
	struct place_tally on[2];
	struct histogram latency;
};

struct game {
	const struct volley *v;
	struct meter meter;
	struct pair *pairs;
	uint64_t trips;   /* of all pairs together */
	uint64_t sampled; /* one of so many, a power of two */
	unsigned cpus[CPUS_MOST], n_cpus;
	_Alignas(128) unsigned to_come, to_leave; /* pairs */
	bool begun;                               /* all have come: what follows counts */
	struct shares shares;
};

static void work(const struct game *g, struct pair *p, unsigned side)
{
	p->side[side].work = clock_work(p->side[side].work, g->v->steps);
	p->side[side].trips++;
}

/* Asked in a trip before the side's work(), so that both sides mean the same trip. */
static bool is_sampled(const struct game *g, const struct pair *p, unsigned side)
{
	return !(p->side[side].trips & (g->sampled - 1));
}

static void go_trip(const struct game *g, struct pair *p)
{
	work(g, p, 0);
	g->v->ops->post(&p->turn[1]);
	g->v->ops->wait(&p->turn[0]);
}

static void see_cpus(struct pair *p)
{
	int own = sched_getcpu();

	p->samples++;
	p->same_cpu += p->cpu == own;
	place_count(&p->on[0], own);
	place_count(&p->on[1], p->cpu);
}

static void go_sampled_trip(const struct game *g, struct pair *p)
{
	int64_t begin = clock_now_ns();

	go_trip(g, p);
	histogram_add(&p->latency, (uint64_t)(clock_now_ns() - begin) / g->v->per_trip);
	if (g->v->place == PLACE_APART)
		see_cpus(p);
}

static void go_trips(const struct game *g, struct pair *p, struct crew *crew, uint64_t n)
{
	while (n-- && !crew_is_late(crew))
		if (is_sampled(g, p, 0))
			go_sampled_trip(g, p);
		else
			go_trip(g, p);
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

static void say_cpu(struct pair *p)
{
	int cpu = sched_getcpu();

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
		if (g->v->place == PLACE_APART && is_sampled(g, p, 1))
			say_cpu(p);
		work(g, p, 1);
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
	g->sampled = 1;
	while (g->sampled < SAMPLED_MOST && g->trips / g->sampled >= 2 * SAMPLES_ENOUGH)
		g->sampled *= 2;
	shares_init(&g->shares, g->trips, v->pairs);
	g->to_come = g->to_leave = v->pairs;
	g->meter.run = run;
	g->meter.futexes = v->futexes;
	g->meter.ops = (double)(g->trips * v->per_trip);
	g->n_cpus = place_cpus(g->cpus, CPUS_MOST);
	g->n_cpus = g->n_cpus < CPUS_MOST ? g->n_cpus : CPUS_MOST;
	place_two_cores(g->cpus, g->n_cpus);
	g->pairs = zeroes(v->pairs, sizeof(*g->pairs));
	for (unsigned i = 0; i < 2 * v->pairs; i++)
		v->ops->init(&g->pairs[i / 2].turn[i % 2]);
	return g;
}

static void report_place(const struct game *g)
{
	const struct pair *p = g->pairs;
	struct bench_run *run = g->meter.run;

	if (g->v->place == PLACE_PINNED)
		report_cpus(run, (int)g->v->cpus[0], (int)g->v->cpus[1]);
	if (g->v->place != PLACE_APART)
		return;
	report_cpus(run, place_most_on(&p->on[0]), place_most_on(&p->on[1]));
	bench_counter(run, "same_cpu_share", (double)p->same_cpu / (double)p->samples);
}

static void report(const struct game *g)
{
	struct histogram *latency = zeroes(1, sizeof(*latency));

	for (unsigned i = 0; i < g->v->pairs; i++)
		histogram_merge(latency, &g->pairs[i].latency);
	bench_latency(g->meter.run, "latency", latency);
	report_place(g);
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
		bench_skip(run, "%s", crew_late());
	end_game(g);
}
