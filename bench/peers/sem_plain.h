/* SPDX-License-Identifier: MIT */
/*
 * The semaphore whose waiters spin for a fixed time and then sleep, whatever happens, and its two
 * ends: one that only spins, and one that only sleeps. It has nothing else.
 */
#ifndef BENCH_SEM_PLAIN_H
#define BENCH_SEM_PLAIN_H

#include <stdint.h>

/* Besides a time: sleep at once, and never sleep. */
#define SEM_PLAIN_BLOCK 0
#define SEM_PLAIN_SPIN  INT64_MAX

void sem_plain_init(void *sem, int64_t budget_ns);
void sem_plain_init_shared(void *sem, int64_t budget_ns); /* between processes */
void sem_plain_wait(void *sem);
void sem_plain_post(void *sem);

#endif
