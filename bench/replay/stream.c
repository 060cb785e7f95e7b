/* SPDX-License-Identifier: MIT */
/*
 * Waits whose lengths do not depend on how one waits: the poster lets the waiter come to its wait,
 * lets the length pass, and posts. Prints what the waits added and took, in ns:
 * late, the waiter's CPU time, the posts.
 *
 *	stream WAITS LEAST_NS MOST_NS SEED    lengths evenly spread over the logarithm; MOST_NS 0:
 *	                                      all posts come before the first wait
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ipcwait/sem.h>

#include "../../tools/common/complain.h"
#include "../../tools/common/place.h"

const char program_name[] = "stream";

static struct ipcwait_sem posted;
static uint64_t waits;
static double least_ns, most_ns;

/* On lines of their own: who looks at one does not disturb the other. */
static struct {
	_Alignas(128) uint64_t waiting; /* the waiter is at its wait number this */
	_Alignas(128) int64_t at_ns;    /* of the last post */
} shared;

static struct {
	int64_t late_ns, cpu_ns;
} waiter;

static int64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static void must(int r, const char *what)
{
	if (r)
		give_up("%s: %s", what, strerror(-r));
}

static void *wait_for_all(void *arg)
{
	int64_t began_ns;

	(void)arg;
	began_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	for (uint64_t i = 1; i <= waits; i++) {
		__atomic_store_n(&shared.waiting, i, __ATOMIC_RELEASE);
		must(ipcwait_sem_wait(&posted), "wait");
		waiter.late_ns +=
			now_ns() - __atomic_load_n(&shared.at_ns, __ATOMIC_RELAXED);
	}
	waiter.cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns;
	return NULL;
}

static int64_t post(void)
{
	int64_t at_ns = now_ns();

	__atomic_store_n(&shared.at_ns, at_ns, __ATOMIC_RELAXED);
	must(ipcwait_sem_post(&posted), "post");
	return now_ns() - at_ns;
}

static int64_t length_ns(void)
{
	return (int64_t)(least_ns * exp(drand48() * log(most_ns / least_ns)));
}

static int64_t post_all(void)
{
	int64_t took_ns = 0;

	for (uint64_t i = 1; i <= waits; i++) {
		int64_t until_ns;

		while (most_ns > 0 &&
		       __atomic_load_n(&shared.waiting, __ATOMIC_ACQUIRE) < i)
			continue;
		until_ns = now_ns() + (most_ns > 0 ? length_ns() : 0);
		while (now_ns() < until_ns)
			continue;
		took_ns += post();
	}
	return took_ns;
}

static void read_arguments(int argc, char **argv)
{
	if (argc == 5) {
		waits = strtoull(argv[1], NULL, 10);
		least_ns = strtod(argv[2], NULL);
		most_ns = strtod(argv[3], NULL);
		srand48(strtol(argv[4], NULL, 10));
	}
	if (waits > 0 && least_ns >= 1 && (most_ns >= least_ns || most_ns == 0.0))
		return;
	refuse("the arguments are WAITS LEAST_NS MOST_NS SEED");
	exit(2);
}

int main(int argc, char **argv)
{
	unsigned cpus[2];
	int64_t posts_ns = 0;
	pthread_t thread;

	read_arguments(argc, argv);
	if (place_cpus(cpus, 2) < 2)
		must(-ENODEV, "two CPUs");
	must(place_thread(pthread_self(), &cpus[0], 1), "place");
	if (most_ns == 0.0)
		posts_ns = post_all();
	must(-pthread_create(&thread, NULL, wait_for_all, NULL), "thread");
	must(place_thread(thread, &cpus[1], 1), "place");
	if (most_ns > 0)
		posts_ns = post_all();
	must(-pthread_join(thread, NULL), "join");
	printf("%" PRId64 " %" PRId64 " %" PRId64 "\n", waiter.late_ns, waiter.cpu_ns,
	       posts_ns);
	return 0;
}
