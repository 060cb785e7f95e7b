/* SPDX-License-Identifier: MIT */
/* alone WORKLOAD SECONDS: a pair of calls that nobody else is in the way of, one thread. */
#include "meter.h"

#include <pthread.h>
#include <semaphore.h>

#define PAIRS 1024 /* between two looks at the clock */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t sem;

static void pair_mutex(void)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

static void pair_sem(void)
{
	sem_post(&sem);
	sem_wait(&sem);
}

static void pair_rdlock(void)
{
	pthread_rwlock_rdlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
}

static void pair_wrlock(void)
{
	pthread_rwlock_wrlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
}

static const struct {
	const char *name;
	void (*pair)(void);
} workloads[] = {
	{ "mutex", pair_mutex },
	{ "sem", pair_sem },
	{ "rdlock", pair_rdlock },
	{ "wrlock", pair_wrlock },
};

/* In a program with one thread the C library leaves out locked instructions. */
static void *nothing(void *unused)
{
	return unused;
}

static int measure(void (*pair)(void), double seconds)
{
	struct meter m;
	pthread_t other;

	if (pthread_create(&other, NULL, nothing, NULL) || sem_init(&sem, 0, 0))
		return EXIT_FAILURE;
	pthread_join(other, NULL);
	meter_start(&m, seconds, PAIRS);
	do
		pair();
	while (meter_on(&m));
	return meter_show(m.operations, m.seconds);
}

int main(int argc, char **argv)
{
	double seconds = meter_seconds(argc, argv);

	for (size_t i = 0; seconds > 0 && i < sizeof(workloads) / sizeof(workloads[0]); i++)
		if (!strcmp(argv[1], workloads[i].name))
			return measure(workloads[i].pair, seconds);
	return meter_usage("mutex, sem, rdlock, wrlock");
}
