/* SPDX-License-Identifier: MIT */
/*
 * What threads do with a semaphore, and what must hold whatever they do: in every state look(),
 * whenever nobody can run at_rest() or, where processes die, rescue(), and in the end end().
 */
#ifndef TESTS_INTERLEAVE_SEM_ROLES_H
#define TESTS_INTERLEAVE_SEM_ROLES_H

#include "interleave/engine.h"
#include "interleave/model.h"

/* What a thread does, rounds times. */
enum role {
	NOTHING,
	WAITS,
	WAITS_UNTIL, /* and gives up at a deadline, deadline_ns from now */
	WAITS_OFTEN, /* again after -EINTR */
	TRIES,       /* without waiting */
	POSTS,
	POSTS_LATE, /* when wakes that are under way have become stale */
	POSTS_TWO,  /* at once */
	LOCKS,      /* takes the only token, changes data, gives it back */
	HANDS_OVER, /* waits for one semaphore and posts the other */
	FINISHES,   /* waits, then ends the semaphore's life */
};

struct sem_script {
	enum role role[MODEL_THREADS_MAX];
	unsigned rounds; /* 0 is 1 */
	uint64_t word;   /* to begin with; its low half is what strangers have left */
	uint32_t left;   /* low half in the end */
	unsigned flags;
	enum engine_spins spins;
	int64_t deadline_ns; /* 0 is SOON_NS */
	bool punctual;       /* nothing but its own deadline moves the clock far */
	bool one_cpu;        /* for all threads */
	bool full;           /* posts may find no room */
	bool data;           /* the one poster leaves something for who takes the token */
	bool all_watched;    /* the learned window is no mere statistics here */
	bool posters_stay;   /* the memory is freed when posters are done as well */
	bool end_frees;      /* ... or by end() */
};

/* The functions of a scenario whose script is a struct sem_script. */
void sem_begin(void);
void sem_thread(unsigned i);
void sem_handler(unsigned i);
void sem_look(void);
void sem_at_rest(void);
void sem_rescue(void);
void sem_end(void);

#endif
