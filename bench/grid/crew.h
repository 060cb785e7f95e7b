/* SPDX-License-Identifier: MIT */
/*
 * Threads of a benchmark. There is no barrier before the measured part: threads come out of
 * one after the other, and the first would run alone for as long as a wake-up takes, which
 * is enough to mistake the cost of an operation by orders of magnitude. Instead each says that
 * it is there and goes to work; what is done until all are there does not count.
 */
#ifndef BENCH_CREW_H
#define BENCH_CREW_H

#include <stdbool.h>

struct crew;

typedef void crew_fn(struct crew *crew, unsigned index, void *arg);

/*
 * Run @fn in @n new threads, with indices from 0, until all have returned.
 *
 * Return: true, or false if they took so long that they were told to give up.
 */
bool crew_run(unsigned n, crew_fn *fn, void *arg);

/* Asked between operations: give up? */
bool crew_is_late(const struct crew *crew);

/* The reason to skip the benchmark then. */
const char *crew_late(void);

#endif
