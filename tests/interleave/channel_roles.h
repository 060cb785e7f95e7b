/* SPDX-License-Identifier: MIT */
/* What threads do with two channels, a and b, and what must hold whatever they do. */
#ifndef TESTS_INTERLEAVE_CHANNEL_ROLES_H
#define TESTS_INTERLEAVE_CHANNEL_ROLES_H

#include "interleave/engine.h"
#include "interleave/model.h"

#define CHANNEL_DEEDS_MAX 3

/* Nobody who waits here may do so for good: scripts are balanced, or somebody closes. */
enum channel_deed {
	CHANNEL_NOTHING,
	CHANNEL_SENDS,       /* to each of what in turn */
	CHANNEL_RECEIVES,    /* from each of what in turn */
	CHANNEL_SENDS_TWO,   /* at a time */
	CHANNEL_TAKES_TWO,   /* at a time, or one */
	CHANNEL_SENDS_UNTIL, /* a deadline, at which it gives up */
	CHANNEL_RECEIVES_UNTIL,
	CHANNEL_TRIES_TO_SEND,
	CHANNEL_TRIES_TO_RECEIVE,
	CHANNEL_SELECTS,            /* what: pairs of s or r, and a channel */
	CHANNEL_SELECTS_UNTIL,      /* the same with a deadline */
	CHANNEL_SELECTS_AND_UNDOES, /* what it has done in the first of its channels */
	CHANNEL_SENDS_TILL_CLOSED,  /* three at most */
	CHANNEL_RECEIVES_TILL_CLOSED,
	CHANNEL_SENDS_AND_TRIES, /* to receive, if it is closed */
	CHANNEL_PUBLISHES,       /* the first element of a hole */
	CHANNEL_WATCHES,         /* its eventfd, for one element */
	CHANNEL_CLOSES,
};

struct channel_script {
	struct {
		enum channel_deed deed;
		const char *what;
	} does[MODEL_THREADS_MAX][CHANNEL_DEEDS_MAX];
	uint64_t capacity[2];
	unsigned filled[2]; /* elements to begin with */
	uint64_t laps;      /* so many positions are behind the first one, or before 0 */
	unsigned first;     /* case of each select */
	enum engine_spins spins;
	bool lacks_waitv;
	bool hole; /* the first element of a is reserved only */
};

extern const struct model_scenario channel_meet_scenarios[];

/* The functions of a scenario whose script is a struct channel_script. */
void channel_begin(void);
void channel_thread(unsigned i);
void channel_look(void);
void channel_end(void);

#endif
