/* SPDX-License-Identifier: MIT */
/*
 * What threads do with a queue of one producer and one consumer, and what must hold whatever they
 * do: in every state spsc_look(), whenever nobody can run spsc_at_rest(), in the end spsc_end().
 */
#ifndef TESTS_INTERLEAVE_SPSC_ROLES_H
#define TESTS_INTERLEAVE_SPSC_ROLES_H

#include "interleave/engine.h"
#include "interleave/model.h"

#define SPSC_STEPS_MAX 6

/* What a thread does. Those that may find no room or no element then do nothing. */
enum spsc_step {
	NOTHING,
	PUSHES,
	PUSHES_TWO,     /* at once, or one if there is room for one */
	WRITES,         /* two, or one, where they will lie */
	WAITS_FOR_ROOM, /* and pushes */
	WAITS_FOR_ROOM_UNTIL,
	TRIMS,
	POPS,
	POPS_TWO,
	READS, /* up to two, where they lie */
	WAITS,
	WAITS_UNTIL,
	CLOSES,
	COUNTS, /* asks for the length */
};

/* The producer is thread 0, the consumer thread 1; others close and count. */
struct spsc_script {
	enum spsc_step step[MODEL_THREADS_MAX][SPSC_STEPS_MAX];
	uint64_t capacity;
	bool unbounded; /* capacity is then that of a ring */
	bool exchanges; /* there is no membarrier */
	uint64_t at;    /* place of the first element */
	unsigned full;  /* so many are in it to begin with */
	enum engine_spins spins;
	bool all_come; /* the consumer gets as many as the producer has put in */
};

/* The functions of a scenario whose script is a struct spsc_script. */
void spsc_begin(void);
void spsc_thread(unsigned i);
void spsc_handler(unsigned i);
void spsc_look(void);
void spsc_at_rest(void);
void spsc_end(void);

#endif
