/* SPDX-License-Identifier: MIT */
/*
 * libipcwait's queues and those of others, behind one interface: whole numbers in, whole numbers
 * out, in the order of each producer. A library that was not there at build time stays in the
 * list, with the reason.
 */
#ifndef SEED_QUEUE_PEER_H
#define SEED_QUEUE_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Who will use a queue. Some have a faster form for one producer or consumer. */
struct queue_shape {
	size_t capacity; /* items; a hint where the queue grows by itself */
	unsigned producers, consumers;
};

struct queue_peer {
	const char *name;
	const char *nodes;   /* where an item's memory comes from */
	const char *missing; /* NULL if built, else why not; then no function is set */
	bool one_to_one;     /* for one producer and one consumer only */
	bool bounded;        /* push fails when it is full */
	/*
	 * Its producers wait for each other while spinning. With more threads than CPUs a run
	 * may take minutes, as whoever is next in turn has no CPU.
	 */
	bool in_turn;
	void *(*create)(const struct queue_shape *shape); /* NULL: no memory */
	bool (*push)(void *queue, uint64_t value);        /* false: full, or no memory */
	bool (*pop)(void *queue, uint64_t *value);        /* false: empty */
	void (*destroy)(void *queue); /* nobody uses it any more; items in it are lost */
	/* NULL, both, if a consumer cannot wait. */
	bool (*take)(void *queue,
		     uint64_t *value); /* waits; false: closed, and nothing left */
	void (*close)(void *queue);    /* no push comes any more */
	bool one_consumer;             /* for any producers, and one consumer */
};

extern const struct queue_peer *const queue_peers[];
extern const unsigned queue_peer_count;

/* NULL if there is none of this name. */
const struct queue_peer *queue_peer_find(const char *name);

#ifdef __cplusplus
}
#endif

#endif
