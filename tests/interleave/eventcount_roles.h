/* SPDX-License-Identifier: MIT */
/*
 * What threads do with an event count, and what must hold whatever they do: in every state look(),
 * whenever nobody can run at_rest() or, where processes die, rescue(), and in the end end().
 */
#ifndef TESTS_INTERLEAVE_EVENTCOUNT_ROLES_H
#define TESTS_INTERLEAVE_EVENTCOUNT_ROLES_H

#include "interleave/engine.h"
#include "interleave/model.h"

/* What a thread does, rounds times. */
enum ec_role {
	NOTHING,
	COMMITS,        /* prepares and commits, whatever there is */
	COMMITS_UNTIL,  /* and gives up at a deadline, deadline_ns from now */
	CONSUMES,       /* waits for an item, and again after -EINTR */
	CONSUMES_TIMED, /* the same, with deadlines one after the other */
	LOOKS,          /* prepares, and cancels */
	FINISHES,       /* waits, then ends the event count's life */
	NOTIFIES,
	NOTIFIES_LATE, /* when wakes that are under way have become stale */
	NOTIFIES_TWO,
	NOTIFIES_ALL,
	PRODUCES, /* an item, and notifies */
};

struct ec_script {
	enum ec_role role[MODEL_THREADS_MAX];
	unsigned rounds; /* 0 is 1 */
	uint64_t word;   /* to begin with; sleepers are what strangers have left */
	unsigned flags;
	enum engine_spins spins;
	int64_t deadline_ns; /* 0 is SOON_NS */
	unsigned rest;       /* this many notifications of one whenever nobody can run */
	bool punctual;       /* nothing but its own deadline moves the clock far */
	bool data;           /* the one notifier leaves something for who was notified */
	bool exact;          /* nobody wakes for nothing */
	bool all_watched;    /* the learned window is no mere statistics here */
	bool notifiers_stay; /* the memory is freed when notifiers are done as well */
	bool end_frees;      /* ... or by end() */
};

/* The functions of a scenario whose script is a struct ec_script. */
void ec_begin(void);
void ec_thread(unsigned i);
void ec_handler(unsigned i);
void ec_look(void);
void ec_at_rest(void);
void ec_rescue(void);
void ec_end(void);

#endif
