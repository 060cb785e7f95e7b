/* SPDX-License-Identifier: MIT */
/*
 * contend WORKLOAD SECONDS: threads that want the same lock, with short sections and as short a
 * time between them. An operation is a section of any of them.
 */
#include "meter.h"

#include <pthread.h>

#define THREADS_MOST 4
#define SECTION      40 /* steps, some 50 ns */

struct worker {
	_Alignas(128) uint64_t sections;
	uint64_t x;
	unsigned number;
	pthread_t thread;
};

struct workload {
	const char *name;
	unsigned threads;
	void (*section)(struct worker *w);
};

static struct worker workers[THREADS_MOST];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static uint64_t guarded;
static bool stop;

static uint64_t work(uint64_t x)
{
	for (int i = 0; i < SECTION; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

static void mutex_section(struct worker *w)
{
	pthread_mutex_lock(&mutex);
	guarded = work(guarded);
	pthread_mutex_unlock(&mutex);
	w->x = work(w->x);
}

/* The first thread writes, the others read. */
static void rwlock_section(struct worker *w)
{
	if (w->number) {
		pthread_rwlock_rdlock(&rwlock);
		w->x += work(guarded);
	} else {
		pthread_rwlock_wrlock(&rwlock);
		guarded = work(guarded);
	}
	pthread_rwlock_unlock(&rwlock);
	w->x = work(w->x);
}

static const struct workload workloads[] = {
	{ "mutex2", 2, mutex_section },
	{ "mutex4", 4, mutex_section },
	{ "rwlock2", 2, rwlock_section },
	{ "rwlock4", 4, rwlock_section },
};

static const struct workload *chosen;

static void *run(void *worker)
{
	struct worker *w = worker;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		chosen->section(w);
		__atomic_store_n(&w->sections, w->sections + 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static uint64_t sections(void)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < THREADS_MOST; i++)
		sum += __atomic_load_n(&workers[i].sections, __ATOMIC_RELAXED);
	return sum;
}

static void rest(double seconds)
{
	const time_t whole = (time_t)seconds;
	const struct timespec t = { whole, (long)((seconds - (double)whole) * 1e9) };

	nanosleep(&t, NULL);
}

static int measure(double seconds)
{
	struct meter m;
	uint64_t before, done;

	for (unsigned i = 0; i < chosen->threads; i++) {
		workers[i].number = i;
		if (pthread_create(&workers[i].thread, NULL, run, &workers[i]))
			return EXIT_FAILURE;
	}
	rest(seconds * METER_WARM);
	meter_start(&m, seconds, 1);
	meter_begin(&m);
	before = sections();
	rest(seconds);
	done = sections() - before;
	seconds = meter_now() - m.at;
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < chosen->threads; i++)
		pthread_join(workers[i].thread, NULL);
	return meter_show(done, seconds);
}

int main(int argc, char **argv)
{
	double seconds = meter_seconds(argc, argv);

	for (size_t i = 0; seconds > 0 && i < sizeof(workloads) / sizeof(workloads[0]); i++)
		if (!strcmp(argv[1], workloads[i].name))
			chosen = &workloads[i];
	return chosen ? measure(seconds) : meter_usage("mutex2, mutex4, rwlock2, rwlock4");
}
