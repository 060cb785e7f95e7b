/* SPDX-License-Identifier: MIT */
/*
 * handoff WORKLOAD SECONDS: two threads in turn, by means of the C library. An operation is a
 * round trip.
 */
#include "meter.h"

#include <pthread.h>
#include <semaphore.h>

/* hand() lets the other one go on, take() waits until one may go on oneself. */
struct way {
	const char *name;
	void (*init)(void);
	void (*hand)(unsigned self);
	void (*take)(unsigned self);
};

static sem_t sems[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t conds[2] = { PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER };
static bool may_go[2];
static pthread_barrier_t barrier;
static bool stop; /* written before the last hand-off */

static void init_sem(void)
{
	sem_init(&sems[0], 0, 0);
	sem_init(&sems[1], 0, 0);
}

static void hand_sem(unsigned self)
{
	sem_post(&sems[!self]);
}

static void take_sem(unsigned self)
{
	while (sem_wait(&sems[self]))
		;
}

static void init_nothing(void)
{
}

static void hand_cond(unsigned self)
{
	pthread_mutex_lock(&mutex);
	may_go[!self] = true;
	pthread_cond_signal(&conds[!self]);
	pthread_mutex_unlock(&mutex);
}

static void take_cond(unsigned self)
{
	pthread_mutex_lock(&mutex);
	while (!may_go[self])
		pthread_cond_wait(&conds[self], &mutex);
	may_go[self] = false;
	pthread_mutex_unlock(&mutex);
}

static void init_barrier(void)
{
	pthread_barrier_init(&barrier, NULL, 2);
}

/* Both meet twice in a round: what the one does between is seen by the other. */
static void meet(unsigned self)
{
	(void)self;
	pthread_barrier_wait(&barrier);
}

static const struct way ways[] = {
	{ "sem", init_sem, hand_sem, take_sem },
	{ "cond", init_nothing, hand_cond, take_cond },
	{ "barrier", init_barrier, meet, meet },
};

static void *answer(void *way)
{
	const struct way *w = way;
	bool last;

	do {
		w->take(1);
		last = stop;
		w->hand(1);
	} while (!last);
	return NULL;
}

static int measure(const struct way *w, double seconds)
{
	struct meter m;
	pthread_t other;
	bool on = true;

	w->init();
	if (pthread_create(&other, NULL, answer, (void *)w))
		return EXIT_FAILURE;
	meter_start(&m, seconds, 16);
	while (on) {
		w->hand(0);
		w->take(0);
		on = meter_on(&m);
	}
	stop = true;
	w->hand(0);
	w->take(0);
	pthread_join(other, NULL);
	return meter_show(m.operations, m.seconds);
}

int main(int argc, char **argv)
{
	double seconds = meter_seconds(argc, argv);

	for (size_t i = 0; seconds > 0 && i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(argv[1], ways[i].name))
			return measure(&ways[i], seconds);
	return meter_usage("sem, cond, barrier");
}
