/* SPDX-License-Identifier: MIT */
/* kill_storm_test OBJECT SECONDS; IW_STRESS_SECONDS in the environment replaces the latter. */
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/check.h"
#include "process.h"
#include "storm.h"

#define ROUND_NS INT64_C(10000000)

/* Workers that die when a round ends. */
#define STORM_DEATHS 4

/* The longest time between two deaths, in us. */
#define PAUSE_US 1500

static const struct storm *storm;
static pid_t worker[STORM_WORKERS];
static unsigned starting;
static uint64_t starting_seed; /* another one for each worker */
static uint64_t kills;

uint64_t storm_seed(void)
{
	return starting_seed;
}

void storm_intend(struct intent *intent, uint32_t step)
{
	__atomic_store_n(&intent->step, step, __ATOMIC_RELEASE);
}

static bool at_rest(const struct region *r, unsigned slot)
{
	char state = process_state(worker[slot]);

	return state == 'Z' ||
	       (state == 'S' && r->intent[slot].step && r->intent[slot].forever);
}

unsigned storm_asleep(const struct region *r, int from)
{
	unsigned asleep = 0;

	for (unsigned i = 0; i < STORM_WORKERS; i++) {
		while (!at_rest(r, i))
			(void)sched_yield();
		if (process_state(worker[i]) == 'S')
			asleep += from < 0 || r->intent[i].from == (uint32_t)from;
	}
	return asleep;
}

static void work(struct region *r)
{
	storm->work(r, starting);
}

static void start(struct region *r, unsigned slot)
{
	memset(&r->intent[slot], 0, sizeof(r->intent[slot]));
	starting = slot;
	(void)check_random(&starting_seed);
	worker[slot] = region_fork(r, work);
}

static void kill_some(unsigned first, unsigned n)
{
	for (unsigned i = first; i < first + n; i++)
		CHECK(kill(worker[i % STORM_WORKERS], SIGKILL) == 0);
	kills += n;
}

static void replace(struct region *r, unsigned first, unsigned n)
{
	for (unsigned i = first; i < first + n; i++) {
		unsigned slot = i % STORM_WORKERS;

		region_kill(worker[slot]);
		storm->bury(r, slot);
		start(r, slot);
	}
}

static void run_round(struct region *r, uint64_t *seed)
{
	int64_t end = ipcwait_deadline_in_ns(ROUND_NS);
	unsigned victim;

	__atomic_store_n(&r->stop, 0, __ATOMIC_RELEASE);
	for (unsigned i = 0; i < STORM_WORKERS; i++)
		start(r, i);
	do {
		(void)usleep((useconds_t)(check_random(seed) % PAUSE_US));
		victim = (unsigned)(check_random(seed) % STORM_WORKERS);
		kill_some(victim, 1);
		replace(r, victim, 1);
	} while (ipcwait_now_ns() < end);
	storm->stir(r);
	kill_some(victim, STORM_DEATHS);
	__atomic_store_n(&r->stop, 1, __ATOMIC_RELEASE);
	replace(r, victim, STORM_DEATHS);
	storm->audit(r);
	for (unsigned i = 0; i < STORM_WORKERS; i++)
		region_join(worker[i]);
}

static void usage(void)
{
	fputs("usage: kill_storm_test sem|futex|mutex SECONDS\n", stderr);
	exit(2);
}

static const struct storm *storm_named(const char *name)
{
	static const struct storm *const storms[] = { &sem_storm, &futex_storm,
						      &mutex_storm };

	for (unsigned i = 0; i < sizeof(storms) / sizeof(storms[0]); i++)
		if (strcmp(storms[i]->name, name) == 0)
			return storms[i];
	usage();
	return NULL;
}

int main(int argc, char **argv)
{
	const char *seconds = getenv("IW_STRESS_SECONDS");
	struct region *r;
	uint64_t seed;
	int64_t end;

	if (argc != 3)
		usage();
	storm = storm_named(argv[1]);
	end = ipcwait_deadline_in_ns(atoi(seconds ? seconds : argv[2]) *
				     INT64_C(1000000000));
	seed = check_seed();
	starting_seed = check_random(&seed);
	r = region_create();
	storm->begin(r);
	do {
		check_watchdog(60);
		run_round(r, &seed);
	} while (ipcwait_now_ns() < end);
	printf("%" PRIu64 " deaths\n", kills);
	region_destroy(r);
	return 0;
}
