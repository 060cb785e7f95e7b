/* SPDX-License-Identifier: MIT */
/*
 * What threads do with an event, and what must hold whatever they do: in every state look(),
 * whenever nobody can run at_rest() or, where processes die, rescue(), and in the end end().
 */
#ifndef TESTS_INTERLEAVE_EVENT_ROLES_H
#define TESTS_INTERLEAVE_EVENT_ROLES_H

#include "interleave/engine.h"
#include "interleave/model.h"

/* What a thread does, rounds times. */
enum event_role {
	NOTHING,
	WAITS,
	WAITS_UNTIL,      /* and gives up at a deadline, deadline_ns from now */
	WAITS_OFTEN,      /* again after -EINTR */
	TRIES,            /* without waiting */
	LOOKS,            /* whether it is set */
	COLLECTS,         /* waits until all that change something have done so */
	PASSES_ON,        /* what it gets without waiting */
	RESETS_AND_LOOKS, /* the same, but resets the event, looks, and only then waits */
	FINISHES,         /* waits, then ends the event's life */
	SETS,
	SETS_LATE, /* when wakes that are under way have become stale */
	CHANGES,   /* something, then sets */
	PULSES,    /* sets and resets at once, when somebody has been counted asleep */
	RESETS,
};

struct event_script {
	enum event_role role[MODEL_THREADS_MAX];
	unsigned rounds; /* 0 is 1 */
	uint64_t word;   /* to begin with; sleepers are what strangers have left */
	unsigned flags;
	enum engine_spins spins;
	int64_t deadline_ns; /* 0 is SOON_NS */
	bool punctual;       /* nothing but its own deadline moves the clock far */
	bool data;           /* the one setter leaves something for who is let through */
	bool copy;           /* the strangers are of the parent, and may be forgotten */
	bool all_watched;    /* the learned window is no mere statistics here */
	bool setters_stay;   /* the memory is freed when setters are done as well */
	bool end_frees;      /* ... or by end() */
};

/* The functions of a scenario whose script is a struct event_script. */
void event_begin(void);
void event_thread(unsigned i);
void event_handler(unsigned i);
void event_look(void);
void event_at_rest(void);
void event_rescue(void);
void event_end(void);

#endif
