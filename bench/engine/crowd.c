/* SPDX-License-Identifier: MIT */
#include "child.h"
#include "crowd.h"
#include "../common/clock.h"
#include "../../tools/common/place.h"
#include "quota.h"
#include "row.h"
#include "../../tools/common/spin_hint.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAIRS_MOST 32
#define CPUS_MOST  64

/* A run that takes longer than this has stalled. */
#define STALLED_S 120

struct arena;

struct player {
	_Alignas(128) struct sem_room turn; /* it may play */
	struct player *other;
	struct arena *arena;
	bool first; /* of its pair */
	int64_t begin_ns, end_ns;
	uint64_t result;
};

struct arena {
	const struct sem_ops *ops;
	uint64_t trips, steps;
	pthread_barrier_t start;
	int64_t cpu_ns; /* of the process, at the start */
	struct player players[2 * PAIRS_MOST];
};

static void play(struct player *p, uint64_t trips)
{
	const struct arena *a = p->arena;

	for (uint64_t i = 0; i < trips; i++) {
		if (!p->first)
			a->ops->wait(&p->turn);
		p->result = clock_work(p->result, a->steps);
		a->ops->post(&p->other->turn);
		if (p->first)
			a->ops->wait(&p->turn);
	}
}

static void *player(void *arg)
{
	struct player *p = arg;

	play(p, p->arena->trips / 10 + 1);
	if (pthread_barrier_wait(&p->arena->start) == PTHREAD_BARRIER_SERIAL_THREAD)
		p->arena->cpu_ns = clock_process_cpu_ns();
	p->begin_ns = clock_now_ns();
	play(p, p->arena->trips);
	p->end_ns = clock_now_ns();
	return NULL;
}

static void play_all(struct arena *a, unsigned players, struct crowd_cost *cost)
{
	pthread_t threads[2 * PAIRS_MOST];
	int64_t begin = INT64_MAX, end = 0;

	pthread_barrier_init(&a->start, NULL, players);
	for (unsigned i = 0; i < players; i++) {
		struct player *p = &a->players[i];

		p->arena = a;
		p->other = &a->players[i ^ 1];
		p->first = i % 2 == 0;
		a->ops->init(&p->turn);
	}
	for (unsigned i = 0; i < players; i++)
		if (pthread_create(&threads[i], NULL, player, &a->players[i]))
			give_up("cannot start a thread");
	for (unsigned i = 0; i < players; i++) {
		pthread_join(threads[i], NULL);
		begin = a->players[i].begin_ns < begin ? a->players[i].begin_ns : begin;
		end = a->players[i].end_ns > end ? a->players[i].end_ns : end;
	}
	cost->seconds = (double)(end - begin) / 1e9;
	cost->cpu_seconds = (double)(clock_process_cpu_ns() - a->cpu_ns) / 1e9;
}

static void stay_on(unsigned n)
{
	unsigned cpus[CPUS_MOST];
	unsigned usable = place_cpus(cpus, CPUS_MOST);

	if (usable > n)
		place_on(cpus, n);
}

_Noreturn static void be_crowd(const struct crowd *c, struct arena *a,
			       struct crowd_cost *cost)
{
	int r = c->group ? quota_join(c->group) : 0;

	if (r)
		give_up("cannot enter the control group %s: %s", c->group, strerror(-r));
	stay_on(c->cpus);
	alarm(STALLED_S);
	play_all(a, 2 * c->pairs, cost);
	_exit(0);
}

static pid_t start_hog(unsigned cpus)
{
	pid_t pid = child_start();

	if (pid)
		return pid;
	stay_on(cpus);
	for (;;)
		spin_hint();
}

void crowd_run(const struct crowd *c, const struct sem_ops *ops, uint64_t trips,
	       struct crowd_cost *cost)
{
	size_t size = sizeof(struct arena) + sizeof(*cost);
	struct arena *a =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t hog = c->hog ? start_hog(c->cpus) : 0, pid;
	struct crowd_cost *shared;

	if (a == MAP_FAILED)
		give_up("no memory");
	shared = (struct crowd_cost *)(void *)(a + 1);
	a->ops = ops;
	a->trips = trips;
	a->steps = c->steps;
	pid = child_start();
	if (!pid)
		be_crowd(c, a, shared);
	child_end(pid, ops->name);
	*cost = *shared;
	munmap(a, size);
	if (hog)
		child_kill(&hog, 1);
}
