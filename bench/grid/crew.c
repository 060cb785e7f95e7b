/* SPDX-License-Identifier: MIT */
#include "crew.h"
#include "impls.h"
#include "../common/clock.h"
#include "../../tools/common/complain.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * Google Benchmark takes as many operations as will take the time that was asked for, and a bit
 * more, if they go on as those before. Where that was a mistake, as with a lock that is handed
 * to threads that do not run, it could be hours.
 */
#define LATE_S     5
#define LATE_TIMES 3

static double late_s(void)
{
	return LATE_S + LATE_TIMES * bench_min_time_s();
}

const char *crew_late(void)
{
	static char text[80];

	snprintf(text, sizeof(text),
		 "failed: given up after %.3g s, its operations had become so slow",
		 late_s());
	return text;
}

struct crew {
	crew_fn *fn;
	void *arg;
	pthread_mutex_t mutex;
	pthread_cond_t all_done;
	unsigned at_work;
	_Alignas(128) bool late;
};

struct member {
	struct crew *crew;
	unsigned index;
	pthread_t thread;
};

static void *member(void *arg)
{
	struct member *m = arg;
	struct crew *crew = m->crew;

	crew->fn(crew, m->index, crew->arg);
	pthread_mutex_lock(&crew->mutex);
	if (!--crew->at_work)
		pthread_cond_signal(&crew->all_done);
	pthread_mutex_unlock(&crew->mutex);
	return NULL;
}

static void start(struct member *m)
{
	int r = pthread_create(&m->thread, NULL, member, m);

	if (r)
		give_up("cannot start a thread: %s", strerror(r));
}

static void wait_for_all(struct crew *crew, const struct timespec *late)
{
	int r = 0;

	pthread_mutex_lock(&crew->mutex);
	while (crew->at_work && !r)
		r = pthread_cond_clockwait(&crew->all_done, &crew->mutex, CLOCK_MONOTONIC,
					   late);
	__atomic_store_n(&crew->late, crew->at_work > 0, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&crew->mutex);
}

bool crew_run(unsigned n, crew_fn *fn, void *arg)
{
	struct crew crew = { .fn = fn, .arg = arg, .at_work = n };
	struct member *members = zeroes(n, sizeof(*members));
	int64_t late_ns = clock_now_ns() + (int64_t)(late_s() * 1e9);
	const struct timespec late = { late_ns / 1000000000, late_ns % 1000000000 };

	pthread_mutex_init(&crew.mutex, NULL);
	pthread_cond_init(&crew.all_done, NULL);
	for (unsigned i = 0; i < n; i++) {
		members[i].crew = &crew;
		members[i].index = i;
		start(&members[i]);
	}
	wait_for_all(&crew, &late);
	for (unsigned i = 0; i < n; i++)
		pthread_join(members[i].thread, NULL);
	pthread_cond_destroy(&crew.all_done);
	pthread_mutex_destroy(&crew.mutex);
	free(members);
	return !crew.late;
}

bool crew_is_late(const struct crew *crew)
{
	return __atomic_load_n(&crew->late, __ATOMIC_RELAXED);
}
