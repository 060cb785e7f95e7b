/* SPDX-License-Identifier: MIT */
#include "hog.h"
#include "../../tools/common/place.h"
#include "../../tools/common/spin_hint.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#define CPUS_MOST 1024

struct hogs {
	bool stop;
	unsigned n;
	pthread_t threads[];
};

static void *burn(void *arg)
{
	struct hogs *h = arg;

	while (!__atomic_load_n(&h->stop, __ATOMIC_RELAXED))
		spin_hint();
	return NULL;
}

/* A thread that cannot be made a low-priority one of this CPU must not stay. */
static int start_one(struct hogs *h, unsigned cpu)
{
	const struct sched_param zero = { 0 };
	pthread_t *t = &h->threads[h->n];
	int r = -pthread_create(t, NULL, burn, h);

	if (r)
		return r;
	h->n++;
	r = -pthread_setschedparam(*t, SCHED_IDLE, &zero);
	return r ? r : place_thread(*t, &cpu, 1);
}

int hogs_start(struct hogs **hogs)
{
	unsigned cpus[CPUS_MOST];
	unsigned n = place_cpus(cpus, CPUS_MOST);
	struct hogs *h;
	int r = 0;

	if (n > CPUS_MOST)
		n = CPUS_MOST;
	h = calloc(1, sizeof(*h) + n * sizeof(h->threads[0]));
	if (!h)
		return -ENOMEM;
	for (unsigned i = 0; i < n && !r; i++)
		r = start_one(h, cpus[i]);
	if (r) {
		hogs_stop(h);
		return r;
	}
	*hogs = h;
	return 0;
}

int64_t hogs_cpu_ns(const struct hogs *h)
{
	int64_t sum = 0;

	for (unsigned i = 0; h && i < h->n; i++) {
		struct timespec t = { 0, 0 };
		clockid_t clock;

		if (!pthread_getcpuclockid(h->threads[i], &clock) &&
		    !clock_gettime(clock, &t))
			sum += t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
	}
	return sum;
}

void hogs_stop(struct hogs *h)
{
	if (!h)
		return;
	__atomic_store_n(&h->stop, true, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < h->n; i++)
		pthread_join(h->threads[i], NULL);
	free(h);
}
