/* SPDX-License-Identifier: MIT */
/*
 * What a wake costs: of a CPU that halts, of one with a spinner, and of one that polls.
 *
 * A wake of a CPU on which another program runs is an interrupt of that program, and takes as long
 * whether idle CPUs poll or not. So what the CPU did is looked at too, and what another program
 * took part in is not known: the spinner, which is of the lowest class, had the CPU for half of the
 * time at least, and where the kernel counts idles, the CPU was idle before most wakes, and in the
 * state that is measured.
 */
#include "awake.h"
#include "../tools/common/median.h"
#include "../tools/common/place.h"
#include "../tools/common/spin_hint.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include <sys/eventfd.h>

/* What counts: wakes of a CPU that has idled for as long as those that are polled through. */
#define WAKES    21
#define SHORT_NS (30 * AWAKE_US)

/*
 * Where the wakes of a way take longer than this together, 12 ms otherwise, other programs need the
 * CPUs: they are not waited for, because the program's end and its signals wait meanwhile.
 */
#define WAKES_MOST_NS (100 * AWAKE_MS)
#define WAKE_MOST_NS  (50 * AWAKE_MS)

/*
 * The haltpoll governor goes on polling for up to 250 us after somebody has held the device, and
 * halves that with each halt: so first it gets as many halts that are longer. Otherwise a few
 * wakes, until both threads are where they belong.
 */
#define HALTS   20
#define HALT_NS (400 * AWAKE_US)
#define FIRST   4

struct probe {
	int fd;
	unsigned wakes;
	unsigned cpu;
	atomic_int_least64_t woken_at; /* 0: asleep, or about to be */
};

static void *sleeper_main(void *arg)
{
	struct probe *p = arg;
	uint64_t n;

	if (place_thread(pthread_self(), &p->cpu, 1))
		return NULL;
	for (unsigned i = 0; i < p->wakes; i++) {
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

/* In a thread of its own, because the caller's mask is the program's too. */
struct pair {
	struct probe probe;
	unsigned cpu;
	unsigned first;   /* wakes that do not count, ... */
	int64_t first_ns; /* ... after a sleep of this */
	uint64_t ns;
};

/*
 * A quarter of the wakes took this long or less: what disturbs a wake makes it longer. 0: it cannot
 * be measured.
 */
static uint64_t wake_often(struct pair *pair)
{
	int64_t end = ipcwait_now_ns() + WAKES_MOST_NS;
	double ns[WAKES];

	for (unsigned i = 0; i < pair->first; i++)
		if (wake_once(&pair->probe, pair->first_ns) <= 0 || ipcwait_now_ns() > end)
			return 0;
	for (int i = 0; i < WAKES; i++) {
		ns[i] = wake_once(&pair->probe, SHORT_NS);
		if (ns[i] <= 0 || ipcwait_now_ns() > end)
			return 0;
	}
	return (uint64_t)lowest_quarter(ns, WAKES);
}

static void *waker_main(void *arg)
{
	struct pair *pair = arg;
	pthread_t sleeper;

	if (pthread_create(&sleeper, NULL, sleeper_main, &pair->probe))
		return NULL;
	if (!place_thread(pthread_self(), &pair->cpu, 1))
		pair->ns = wake_often(pair);
	/* It is at its end, or waits in vain. */
	pthread_cancel(sleeper);
	pthread_join(sleeper, NULL);
	return NULL;
}

/* Wakes of a thread on CPU @b by one on CPU @a. */
static uint64_t probe_ns(unsigned a, unsigned b, unsigned first, int64_t first_ns)
{
	struct pair pair = { .probe = { .fd = eventfd(0, EFD_CLOEXEC),
					.wakes = first + WAKES,
					.cpu = b },
			     .cpu = a,
			     .first = first,
			     .first_ns = first_ns };
	pthread_t waker;

	if (pair.probe.fd < 0)
		return 0;
	if (!pthread_create(&waker, NULL, waker_main, &pair))
		pthread_join(waker, NULL);
	close(pair.probe.fd);
	return pair.ns;
}

static bool is_most(uint64_t n, uint64_t of)
{
	return n * 4 >= of * 3;
}

/* The CPU idled before most wakes, however that was. */
static uint64_t halted_ns(const struct awake_machine *m, unsigned a, unsigned b)
{
	struct awake_idles before = { 0 }, after = { 0 };
	uint64_t ns;

	awake_idles_read(m, b, &before);
	ns = probe_ns(a, b, HALTS, HALT_NS);
	awake_idles_read(m, b, &after);
	return !m->counters || is_most(after.all - before.all, HALTS + WAKES) ? ns : 0;
}

/* The CPU polled before most wakes, and halted hardly ever. */
static uint64_t polled_ns(const struct awake_machine *m, unsigned a, unsigned b)
{
	struct awake_idles before = { 0 }, after = { 0 };
	uint64_t ns, polls, all;

	awake_idles_read(m, b, &before);
	ns = probe_ns(a, b, FIRST, SHORT_NS);
	awake_idles_read(m, b, &after);
	polls = after.polls - before.polls;
	all = after.all - before.all;
	return is_most(polls, FIRST + WAKES) && (all - polls) * 4 < WAKES ? ns : 0;
}

/* Beside a request. What stops a process waits: one that is stopped keeps no CPU awake. */
static uint64_t held_ns(const struct awake_machine *m, unsigned a, unsigned b)
{
	sigset_t stops, mask;
	uint64_t ns = 0;
	int fd = -1;

	sigemptyset(&stops);
	sigaddset(&stops, SIGTSTP);
	sigaddset(&stops, SIGTTIN);
	sigaddset(&stops, SIGTTOU);
	(void)pthread_sigmask(SIG_BLOCK, &stops, &mask);
	if (!awake_hold_begin(&fd)) {
		ns = polled_ns(m, a, b);
		awake_hold_end(&fd);
	}
	(void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
	return ns;
}

/* Beside a spinner. *@free: nothing else needed the CPU for half of the time. */
static uint64_t spinner_ns(const struct awake_machine *m, unsigned a, unsigned b,
			   bool *free)
{
	uint64_t mask = UINT64_C(1) << b, ns;
	struct awake_spinners *spinners = awake_spinners_make(m, &mask);
	struct awake_sample sample = { 0 };
	int64_t begin = ipcwait_now_ns();

	if (!spinners)
		return 0;
	awake_spinners_set(spinners, mask);
	ns = probe_ns(m->cpu[a], m->cpu[b], FIRST, SHORT_NS);
	sample.length_ns = (uint64_t)(ipcwait_now_ns() - begin);
	awake_spinners_read(spinners, &sample);
	awake_spinners_end(spinners);
	*free = sample.polled_ns * 2 >= sample.length_ns;
	return ns;
}

void awake_probe_round(const struct awake_machine *m, unsigned a, unsigned b,
		       struct awake_wakes *w)
{
	bool free = true;

	*w = (struct awake_wakes){ .ns = { 0 } };
	w->ns[AWAKE_HALTS] = halted_ns(m, m->cpu[a], m->cpu[b]);
	if (!w->ns[AWAKE_HALTS])
		return;
	w->ns[AWAKE_SPINS] = spinner_ns(m, a, b, &free);
	if (m->trial.ways >> AWAKE_POLLS & 1)
		w->ns[AWAKE_POLLS] = held_ns(m, m->cpu[a], m->cpu[b]);
	if (!free)
		*w = (struct awake_wakes){ .ns = { 0 } };
}
