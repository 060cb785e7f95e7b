/* SPDX-License-Identifier: MIT */
/*
 * Two threads begin on one CPU and alternate, while the other CPUs have nothing to do. A scheduler
 * that sees an idle CPU parts them with the first wakes. In a guest a vCPU that has halted counts
 * as preempted, the scheduler does not choose it, and the two stay together until the load is
 * balanced.
 */
#include "doctor_place.h"
#include "../tools/common/place.h"

#include <ipcwait/base.h>

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* A round in which other threads want the CPUs is not counted. All of this takes 0.14 s at most. */
#define ROUNDS       5
#define ROUNDS_LEAST 3
#define TRIES        10

/* The other CPUs halt meanwhile, longer than any kernel polls before that. */
#define REST_NS 2000000

/* Of a round: shorter than it takes until the load is balanced. */
#define HAND_OFFS 200
#define ROUND_NS  INT64_C(10000000)

#define CPUS_MOST 4096

enum turn { FIRST, SECOND };

struct pair {
	unsigned cpu[CPUS_MOST], cpus; /* that may be used */
	pthread_t second;
	sem_t turn[2];   /* by enum turn */
	atomic_int from; /* the CPU of the thread that has given the turn away */
	atomic_bool ends;
	atomic_uint wakes, beside; /* of the round */
	unsigned rounds;
	struct doctor_place *found;
};

static void give_turn(struct pair *p, enum turn to)
{
	atomic_store(&p->from, sched_getcpu());
	(void)sem_post(&p->turn[to]);
}

static void await_turn(struct pair *p, enum turn mine)
{
	if (sem_trywait(&p->turn[mine]) == 0)
		return;
	while (sem_wait(&p->turn[mine]) != 0)
		;
	atomic_fetch_add(&p->wakes, 1);
	atomic_fetch_add(&p->beside, sched_getcpu() == atomic_load(&p->from));
}

static void *second_main(void *arg)
{
	struct pair *p = arg;

	for (;;) {
		await_turn(p, SECOND);
		if (atomic_load(&p->ends))
			return NULL;
		give_turn(p, FIRST);
	}
}

static void alternate(struct pair *p)
{
	give_turn(p, SECOND);
	await_turn(p, FIRST);
}

static bool place_both(const struct pair *p, const unsigned *cpus, unsigned n)
{
	return !place_thread(pthread_self(), cpus, n) && !place_thread(p->second, cpus, n);
}

static void rest(void)
{
	const struct timespec span = { .tv_nsec = REST_NS };

	(void)nanosleep(&span, NULL);
}

/* Both run on this CPU when it returns, and may run on all. */
static bool begin_together(struct pair *p)
{
	int here = sched_getcpu();
	unsigned cpu = (unsigned)here;

	if (here < 0 || !place_both(p, &cpu, 1))
		return false;
	alternate(p);
	rest();
	return place_both(p, p->cpu, p->cpus);
}

/* By "0.20 0.18 0.12 1/80 11206", proc_loadavg(5): the caller is one of those that run. */
static bool is_a_cpu_idle(const struct pair *p)
{
	unsigned running = UINT_MAX;
	FILE *f = fopen("/proc/loadavg", "re");

	/* NOLINTNEXTLINE(cert-err34-c): the kernel has written it */
	if (f && fscanf(f, "%*s %*s %*s %u/", &running) != 1)
		running = UINT_MAX;
	if (f)
		(void)fclose(f);
	return running < p->cpus;
}

static void take_round(struct pair *p)
{
	p->found->wakes += atomic_load(&p->wakes);
	p->found->beside += atomic_load(&p->beside);
	p->rounds++;
}

static void alternate_often(struct pair *p)
{
	int64_t end_ns = ipcwait_now_ns() + ROUND_NS;

	atomic_store(&p->wakes, 0);
	atomic_store(&p->beside, 0);
	for (int i = 0; i < HAND_OFFS && ipcwait_now_ns() < end_ns; i++)
		alternate(p);
}

/* False: threads cannot be placed. */
static bool try_round(struct pair *p)
{
	if (!begin_together(p))
		return false;
	if (!is_a_cpu_idle(p))
		return true;
	alternate_often(p);
	/* The other thread may still be on its way to sleep, on this CPU. */
	rest();
	if (is_a_cpu_idle(p))
		take_round(p);
	return true;
}

static const char *try_rounds(struct pair *p)
{
	for (int i = 0; i < TRIES && p->rounds < ROUNDS; i++) {
		/* To begin a round takes long then. */
		if (!is_a_cpu_idle(p))
			rest();
		else if (!try_round(p))
			return "threads cannot be placed on CPUs here";
	}
	return p->rounds < ROUNDS_LEAST || !p->found->wakes ? "other programs want the CPUs"
							    : NULL;
}

static void *first_main(void *arg)
{
	struct pair *p = arg;

	if (pthread_create(&p->second, NULL, second_main, p))
		return NULL;
	p->found->why_not = try_rounds(p);
	atomic_store(&p->ends, true);
	give_turn(p, SECOND);
	pthread_join(p->second, NULL);
	return NULL;
}

/* In threads of its own, whose masks end with them. */
void doctor_place_try(struct doctor_place *found)
{
	static struct pair p;
	pthread_t first;

	*found = (struct doctor_place){ .why_not = "no thread can be made" };
	p = (struct pair){ .found = found };
	(void)sem_init(&p.turn[FIRST], 0, 0);
	(void)sem_init(&p.turn[SECOND], 0, 0);
	p.cpus = place_cpus(p.cpu, CPUS_MOST);
	p.cpus = p.cpus < CPUS_MOST ? p.cpus : CPUS_MOST;
	if (p.cpus < 2)
		found->why_not = "there is one CPU for both threads";
	else if (!pthread_create(&first, NULL, first_main, &p))
		pthread_join(first, NULL);
}
