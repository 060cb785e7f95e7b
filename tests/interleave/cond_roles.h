/* SPDX-License-Identifier: MIT */
/*
 * What threads do with a condition variable, and what must hold whatever they do: in every state
 * look(), whenever nobody can run at_rest(), and in the end end().
 */
#ifndef TESTS_INTERLEAVE_COND_ROLES_H
#define TESTS_INTERLEAVE_COND_ROLES_H

#include <ipcwait/mutex.h>

#include "interleave/engine.h"
#include "interleave/model.h"

/* What a thread does. */
enum role {
	NOTHING,
	WAITS,       /* once, until it is released */
	WAITS_UNTIL, /* ... or until a deadline */
	CONSUMES,    /* waits as long as there are no items, takes one, rounds times */
	MISUSES,     /* waits with a mutex that nobody owns */
	SIGNALS,     /* when enough threads wait, having had the mutex */
	SIGNALS_TWICE,
	SIGNALS_THRICE,
	SIGNALS_INSIDE, /* with the mutex */
	SIGNALS_LATER,  /* with the mutex, and wakes after its unlock */
	SIGNALS_ANYWAY, /* whether somebody waits or not, without the mutex */
	BROADCASTS,
	BROADCASTS_LATER,
	PRODUCES,     /* an item, and signals, rounds times */
	PRODUCES_TWO, /* at once, and broadcasts */
	LEAPS,        /* as if others had come, who wait for ever */
	TAKES_TURNS, /* with another, each with a condition variable of its own, rounds times */
	ENDS,        /* broadcasts, ends it and frees it, with the mutex */
};

struct cond_script {
	enum role role[MODEL_THREADS_MAX];
	unsigned enough;         /* threads must wait before somebody signals; 0 is 1 */
	unsigned rounds;         /* 0 is 1 */
	uint64_t word, arrivals; /* to begin with: what strangers have left */
	unsigned strangers;      /* tickets among these that use up a signal each */
	unsigned leap;           /* how many others */
	unsigned flags, mutex_flags;
	enum engine_spins spins;
	bool data;        /* the one who signals leaves something for the one who waits */
	bool deep;        /* a signal may release more than one */
	bool rescues;     /* who still waits when nobody can run is released then */
	bool all_watched; /* the learned window is no mere statistics here */
	bool end_frees;   /* and not whoever is last */
};

/* The functions of a scenario whose script is a struct cond_script. */
void cond_begin(void);
void cond_thread(unsigned i);
void cond_handler(unsigned i);
void cond_look(void);
void cond_at_rest(void);
void cond_died(unsigned process);
void cond_end(void);

/* A process has died, perhaps with the mutex. */
void cond_mutex_died(struct ipcwait_mutex *m);

#endif
