/* SPDX-License-Identifier: MIT */
/*
 * What the workers do, see struct worker in job.h.
 */
#ifndef SEM_TEST_BODIES_H
#define SEM_TEST_BODIES_H

#include "job.h"

/*
 * The classic two-semaphore hand-off. Per item the producer works 2 x loops, the consumer
 * 1 x loops.
 */
int body_produce(struct arena *a, struct worker *self);
int body_consume(struct arena *a, struct worker *self);

/* Their work without the semaphores. */
int body_producers_work(struct arena *a, struct worker *self);
int body_both_works(struct arena *a, struct worker *self);

/* Long waits: sleep, then post; the consumer only waits. */
int body_idle_produce(struct arena *a, struct worker *self);
int body_idle_consume(struct arena *a, struct worker *self);

/* A post and a wait, nobody else near. */
int body_pairs(struct arena *a, struct worker *self);

#endif
