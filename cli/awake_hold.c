/* SPDX-License-Identifier: MIT */
/*
 * The two ways to keep CPUs awake. Both end with this process, however it ends: a request of the
 * kernel's that lives as long as a descriptor, and threads.
 */
#include "awake.h"
#include "../tools/common/place.h"
#include "../tools/common/spin_hint.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * A spinner that has not run for so long was in the way of somebody, who has run: that is the end
 * of an idle. Its own round takes 0.1 us; two switches take 1 to 2 us.
 */
#define GAP_NS 1000

/* 24 to 140 ns each, by CPU. */
#define HINTS 4

int awake_hold_begin(int *fd)
{
	const int32_t us = 0;
	int r;

	if (*fd >= 0)
		return 0;
	*fd = open(AWAKE_DEVICE, O_WRONLY | O_CLOEXEC);
	if (*fd < 0)
		return -errno;
	if (write(*fd, &us, sizeof(us)) == sizeof(us))
		return 0;
	r = -errno;
	awake_hold_end(fd);
	return r;
}

void awake_hold_end(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

struct spinner {
	pthread_t thread;
	unsigned cpu;
	bool made;
	sem_t go;
	atomic_bool on;
	/* Written by the thread, and read by the loop: counts only. */
	atomic_uint_least64_t idles, spun_ns;
	uint64_t seen_idles, seen_ns; /* the loop's */
	char line[64];                /* the next one's counts are on another cache line */
};

struct awake_spinners {
	unsigned n;
	struct spinner spinner[AWAKE_CPUS_MOST];
};

/* A segment of spinning without a gap is what an idle would have been. */
static void spin(struct spinner *s)
{
	uint64_t idles = atomic_load_explicit(&s->idles, memory_order_relaxed);
	uint64_t spun_ns = atomic_load_explicit(&s->spun_ns, memory_order_relaxed);
	int64_t last = ipcwait_now_ns();

	while (atomic_load_explicit(&s->on, memory_order_relaxed)) {
		int64_t now;

		for (int i = 0; i < HINTS; i++)
			spin_hint();
		now = ipcwait_now_ns();
		if (now - last < GAP_NS)
			spun_ns += (uint64_t)(now - last);
		else
			idles++;
		last = now;
		atomic_store_explicit(&s->idles, idles, memory_order_relaxed);
		atomic_store_explicit(&s->spun_ns, spun_ns, memory_order_relaxed);
	}
}

static void *spinner_main(void *arg)
{
	struct spinner *s = arg;

	for (;;) {
		while (sem_wait(&s->go))
			;
		spin(s);
	}
	return NULL;
}

/* Only what needs the CPU for nothing else may be kept from it: the lowest class, or not at all. */
static bool make(struct spinner *s, unsigned cpu)
{
	const struct sched_param lowest = { 0 };

	s->cpu = cpu;
	if (sem_init(&s->go, 0, 0) || pthread_create(&s->thread, NULL, spinner_main, s))
		return false;
	if (pthread_setschedparam(s->thread, SCHED_IDLE, &lowest) ||
	    place_thread(s->thread, &cpu, 1)) {
		pthread_cancel(s->thread);
		pthread_join(s->thread, NULL);
		return false;
	}
	return true;
}

struct awake_spinners *awake_spinners_make(const struct awake_machine *m, uint64_t *mask)
{
	struct awake_spinners *all = calloc(1, sizeof(*all));
	uint64_t wanted = *mask;

	*mask = 0;
	if (!all)
		return NULL;
	all->n = m->watched;
	for (unsigned i = 0; i < all->n; i++) {
		struct spinner *s = &all->spinner[i];

		s->made = wanted >> i & 1 && make(s, m->cpu[i]);
		*mask |= (uint64_t)s->made << i;
	}
	if (*mask)
		return all;
	free(all);
	return NULL;
}

void awake_spinners_set(struct awake_spinners *all, uint64_t mask)
{
	for (unsigned i = 0; i < all->n; i++) {
		struct spinner *s = &all->spinner[i];
		bool on = s->made && mask >> i & 1;

		if (on && !atomic_exchange_explicit(&s->on, true, memory_order_relaxed))
			sem_post(&s->go);
		else if (!on)
			atomic_store_explicit(&s->on, false, memory_order_relaxed);
	}
}

void awake_spinners_end(struct awake_spinners *all)
{
	awake_spinners_set(all, 0);
	for (unsigned i = 0; i < all->n; i++) {
		if (!all->spinner[i].made)
			continue;
		pthread_cancel(all->spinner[i].thread);
		pthread_join(all->spinner[i].thread, NULL);
	}
	free(all);
}

void awake_spinners_read(struct awake_spinners *all, struct awake_sample *sample)
{
	for (unsigned i = 0; i < all->n; i++) {
		struct spinner *s = &all->spinner[i];
		uint64_t idles = atomic_load_explicit(&s->idles, memory_order_relaxed);
		uint64_t ns = atomic_load_explicit(&s->spun_ns, memory_order_relaxed);

		sample->cpu[i].idles += idles - s->seen_idles;
		sample->cpu[i].idle_ns += ns - s->seen_ns;
		sample->polled_ns += ns - s->seen_ns;
		s->seen_idles = idles;
		s->seen_ns = ns;
	}
}
