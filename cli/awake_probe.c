/* SPDX-License-Identifier: MIT */
/* What a wake costs, in a few milliseconds. */
#include "awake.h"
#include "../tools/common/median.h"
#include "../tools/common/place.h"
#include "../tools/common/spin_hint.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include <sys/eventfd.h>

/* What counts: wakes of a CPU that has idled for as long as those that are polled through. */
#define WAKES    21
#define SHORT_NS (30 * AWAKE_US)

/* A wake that takes longer is none: something is wrong, and this is not the place to say what. */
#define WAKE_MOST_NS (100 * AWAKE_MS)

/*
 * The haltpoll governor goes on polling for up to 250 us after somebody has held the device, and
 * halves that with each halt: so first it gets as many halts that are longer.
 */
#define HALTS   20
#define HALT_NS (400 * AWAKE_US)

struct probe {
	int fd;
	unsigned cpu;
	atomic_int_least64_t woken_at; /* 0: asleep, or about to be */
};

static void *sleeper_main(void *arg)
{
	struct probe *p = arg;
	uint64_t n;

	if (place_thread(pthread_self(), &p->cpu, 1))
		return NULL;
	for (int i = 0; i < HALTS + WAKES; i++) {
		if (read(p->fd, &n, sizeof(n)) != sizeof(n))
			break;
		atomic_store(&p->woken_at, ipcwait_now_ns());
	}
	return NULL;
}

static void wait_until_ns(int64_t at)
{
	while (ipcwait_now_ns() < at)
		spin_hint();
}

/* After it has been asleep for @asleep_ns. */
static double wake_once(struct probe *p, int64_t asleep_ns)
{
	const uint64_t one = 1;
	int64_t begin, woken;

	wait_until_ns(ipcwait_now_ns() + asleep_ns);
	atomic_store(&p->woken_at, 0);
	begin = ipcwait_now_ns();
	if (write(p->fd, &one, sizeof(one)) != sizeof(one))
		return 0;
	while (!(woken = atomic_load(&p->woken_at))) {
		if (ipcwait_now_ns() - begin > WAKE_MOST_NS)
			return 0;
		spin_hint();
	}
	return (double)(woken - begin);
}

/* The median; 0 if it cannot be had. */
static uint64_t wake_often(struct probe *p)
{
	double ns[WAKES];

	for (int i = 0; i < HALTS; i++)
		(void)wake_once(p, HALT_NS);
	for (int i = 0; i < WAKES; i++) {
		ns[i] = wake_once(p, SHORT_NS);
		if (ns[i] <= 0)
			return 0;
	}
	return (uint64_t)median(ns, WAKES);
}

/* In a thread of its own, as the caller's mask is the program's too. */
struct pair {
	struct probe probe;
	unsigned cpu;
	uint64_t ns;
};

static void *waker_main(void *arg)
{
	struct pair *pair = arg;
	pthread_t sleeper;

	if (pthread_create(&sleeper, NULL, sleeper_main, &pair->probe))
		return NULL;
	if (!place_thread(pthread_self(), &pair->cpu, 1))
		pair->ns = wake_often(&pair->probe);
	/* It is at its end, or waits in vain. */
	pthread_cancel(sleeper);
	pthread_join(sleeper, NULL);
	return NULL;
}

uint64_t awake_probe_ns(unsigned a, unsigned b)
{
	struct pair pair = { .probe = { .fd = eventfd(0, EFD_CLOEXEC), .cpu = b },
			     .cpu = a };
	pthread_t waker;

	if (pair.probe.fd < 0)
		return 0;
	if (!pthread_create(&waker, NULL, waker_main, &pair))
		pthread_join(waker, NULL);
	close(pair.probe.fd);
	return pair.ns;
}
