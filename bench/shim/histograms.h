/* SPDX-License-Identifier: MIT */
/* The file of --histograms. */
#ifndef BENCH_HISTOGRAMS_H
#define BENCH_HISTOGRAMS_H

#include "../common/histogram.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Return: 0, or -EINVAL after one line on stderr. */
int histograms_open(const char *path);

/*
 * Keep a copy of @h under these names, in place of an earlier one: a benchmark is called
 * several times, and the last call counts.
 */
void histograms_keep(const char *benchmark, const char *name, const struct histogram *h);

/* The benchmark was skipped after all: nothing of it is written. */
void histograms_drop(const char *benchmark);

/* Without a file: none was wanted, or nothing ran. */
void histograms_abandon(void);

/* Write all. Return: 0, or -EINVAL after one line on stderr. */
int histograms_complete(void);

#ifdef __cplusplus
}
#endif

#endif
