/* SPDX-License-Identifier: MIT */
/*
 * The CPUs that the program may run on.
 */
#ifndef SEM_TEST_CPUS_H
#define SEM_TEST_CPUS_H

#include <pthread.h>

/* Their number, at least 1. The first @most of them go to @list (NULL: with @most 0). */
unsigned cpus_usable(unsigned *list, unsigned most);

/* From now on the thread, and the threads and processes it makes, run on @cpu only. */
int cpus_pin(pthread_t thread, unsigned cpu);

#endif
