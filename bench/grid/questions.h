/* SPDX-License-Identifier: MIT */
/* The questions. Each function names its benchmarks; the file of that name answers them. */
#ifndef BENCH_QUESTIONS_H
#define BENCH_QUESTIONS_H

void add_uncontended(void);

#endif
