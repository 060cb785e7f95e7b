/* SPDX-License-Identifier: MIT */
#ifndef TESTS_INTERLEAVE_QUEUE_ROLES_H
#define TESTS_INTERLEAVE_QUEUE_ROLES_H

#include "interleave/engine.h"
#include "interleave/model.h"

#define QUEUE_STEPS 4

/* What a thread does, step by step. */
enum queue_step {
	NOTHING,
	PUSHES,
	PUSHES_TWO, /* in one call */
	TRIES,      /* to pop */
	TRIES_TWO,  /* in one call */
	POPS,       /* waits */
	POPS_UNTIL, /* for so long */
	CLOSES,
	MEASURES, /* the length */
};

struct queue_script {
	enum queue_step step[MODEL_THREADS_MAX][QUEUE_STEPS];
	unsigned slots; /* of a segment; 0: 2 */
	unsigned there; /* elements to begin with */
	unsigned flags;
	size_t elem_bytes; /* 0: 16, behind the word */
	bool escaped;      /* the three elements that no word can be */
	enum engine_spins spins;
	unsigned least; /* elements that are there at any time */
	unsigned rest;  /* elements that somebody pushes when nobody can go on */
};

void queue_begin(void);
void queue_thread(unsigned i);
void queue_at_rest(void);
void queue_end(void);

#endif
