/* SPDX-License-Identifier: MIT */
/* Where threads run. */
#ifndef TOOLS_PLACE_H
#define TOOLS_PLACE_H

#include <pthread.h>

/* The number of CPUs that the caller may use, at least 1. The first @most of them go to @list. */
unsigned place_cpus(unsigned *list, unsigned most);

/*
 * From now on @thread, and the threads and processes it makes, run on these CPUs only. Return:
 * 0 or -errno.
 */
int place_thread(pthread_t thread, const unsigned *cpus, unsigned n);

/* The same for the calling thread. A failure ends the program. */
void place_on(const unsigned *cpus, unsigned n);

/* The same, but begin on the first of them, away from what is pinned to another. */
void place_apart(const unsigned *cpus, unsigned n);

/*
 * Reorder the list so that its first two CPUs are not of one core, where there are two that are
 * not: two threads on one core take from each other what the core can do.
 */
void place_two_cores(unsigned *cpus, unsigned n);

/* Are the two CPUs of one core? 1 or 0, or -1 if the system does not say. */
int place_same_core(unsigned a, unsigned b);

#endif
