/* SPDX-License-Identifier: MIT */
/*
 * What threads do with a mutex, and what must hold whatever they do: in every state look(),
 * whenever nobody can run at_rest(), and in the end end().
 */
#ifndef TESTS_INTERLEAVE_MUTEX_ROLES_H
#define TESTS_INTERLEAVE_MUTEX_ROLES_H

#include "interleave/engine.h"
#include "interleave/model.h"

/* When the first alarm of a waiter rings that nobody has woken, lib/sync/mutex_wait.c, in ns. */
#define ALARM_NS 5000000

/* What a thread does, rounds times. */
enum role {
	NOTHING,
	LOCKS,       /* changes what the mutex protects, unlocks */
	LOCKS_UNTIL, /* and gives up at a deadline, deadline_ns from now */
	LOCKS_LATE,  /* later_ns from now */
	HOLDS,       /* it for held_ns, asleep: alarms ring meanwhile; once */
	TRIES,       /* without waiting */
	RELOCKS,     /* while it owns it */
	DIES,        /* owning it */
	LOSES,       /* what an owner has left broken it does not repair */
	FINISHES,    /* locks, unlocks, ends the mutex's life */
};

struct mutex_script {
	enum role role[MODEL_THREADS_MAX];
	unsigned rounds; /* 0 is 1 */
	unsigned flags;
	uint64_t word; /* to begin with: what strangers have left */
	uint32_t pace; /* and what they have taught */
	enum engine_spins spins;
	int64_t deadline_ns;       /* 0 is SOON_NS */
	int64_t later_ns, held_ns; /* 0 is HELD_NS */
	bool punctual;             /* nothing but its own deadline moves the clock far */
	bool one_is_next; /* the only one who has waited since before the last alarm */
	bool leaps;       /* the clock goes on by leaps */
	bool all_watched; /* the learned window is no mere statistics here */
	bool namespaces;  /* each thread is in one of its own, with the id of the others */
	bool id_again;    /* each thread has that of the last, when that has died */
	bool end_frees;   /* the memory; not the last who has locked it, at once */
};

/* The functions of a scenario whose script is a struct mutex_script. */
void mutex_begin(void);
void mutex_thread(unsigned i);
void mutex_look(void);
void mutex_at_rest(void);
void mutex_rescue(void);
void mutex_end(void);

/* Those with death in them. */
extern const struct model_scenario mutex_deaths[];

#endif
