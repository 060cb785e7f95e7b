/* SPDX-License-Identifier: MIT */
/* Where threads run. */
#ifndef BENCH_PLACE_H
#define BENCH_PLACE_H

/* The number of CPUs that the caller may use. The first @most of them go to @list. */
unsigned place_cpus(unsigned *list, unsigned most);

/*
 * From now on the calling thread, and the threads and processes it makes, run on these CPUs
 * only. A failure ends the program.
 */
void place_on(const unsigned *cpus, unsigned n);

/* The same, but begin on the first of them, away from what is pinned to another. */
void place_apart(const unsigned *cpus, unsigned n);

#endif
