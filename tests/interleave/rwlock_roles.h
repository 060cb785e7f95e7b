/* SPDX-License-Identifier: MIT */
/*
 * What threads do with a reader-writer lock, and what must hold whatever they do: in every state
 * look(), whenever nobody can run at_rest(), and in the end end().
 */
#ifndef TESTS_INTERLEAVE_RWLOCK_ROLES_H
#define TESTS_INTERLEAVE_RWLOCK_ROLES_H

#include "interleave/engine.h"
#include "interleave/model.h"

/* What a thread does, rounds times. */
enum role {
	NOTHING,
	READS,
	READS_UNTIL, /* and gives up at a deadline */
	TRIES_READING,
	WRITES,
	WRITES_UNTIL,
	TRIES_WRITING,
	WRITES_AT_ONCE,  /* has the lock from the beginning */
	WRITES_AND_ENDS, /* and ends the lock's life if it was the last */
};

struct rwlock_script {
	enum role role[MODEL_THREADS_MAX];
	unsigned rounds; /* 0 is 1 */
	uint64_t word;   /* to begin with: what strangers have left */
	uint64_t left;   /* in the end */
	unsigned flags;
	enum engine_spins spins;
	int64_t deadline_ns; /* 0 is SOON_NS */
	uint32_t pace;       /* what writers have learned */
	int64_t age_ns;      /* of the last stamp, to begin with */
	bool all_watched;    /* the learned window is no mere statistics here */
	bool end_frees;      /* and not the last writer */
	bool punctual;       /* nothing but its own alarms moves the clock of a sleeper */
	bool strangers;      /* and these are counted */
	bool full;           /* there may be no room for a reader */
};

/* The functions of a scenario whose script is a struct rwlock_script. */
void rwlock_begin(void);
void rwlock_thread(unsigned i);
void rwlock_look(void);
void rwlock_at_rest(void);
void rwlock_died(unsigned process);
void rwlock_end(void);

#endif
