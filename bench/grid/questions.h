/* SPDX-License-Identifier: MIT */
/* The questions. Each function names its benchmarks; the file of that name answers them. */
#ifndef BENCH_QUESTIONS_H
#define BENCH_QUESTIONS_H

void add_uncontended(void);
void add_handoff(void);
void add_contention(void);
void add_readers(void);
void add_starvation(void);
void add_oversubscription(void);
void add_wake(void);
void add_pareto(void);
void add_pairs(void);
void add_condvar(void);
void add_queue(void);
void add_channel(void);

#endif
