/* SPDX-License-Identifier: MIT */
/*
 * What threads do with queues and channels that others wait for beside other objects, and what must
 * hold whatever they do. Objects are letters:
 *
 *	q	a queue
 *	r	a channel with a buffer
 *	m	a channel without
 *	s	a channel between processes
 *	a	a semaphore
 *	e	an event that resets itself
 *
 * Nobody who waits may do so for good: scripts are balanced, or somebody closes. So a lost wake-up
 * is a deadlock, or somebody who sleeps beside what is there.
 */
#ifndef TESTS_INTERLEAVE_MADE_ROLES_H
#define TESTS_INTERLEAVE_MADE_ROLES_H

#include "interleave/engine.h"
#include "interleave/model.h"

#define MADE_DEEDS_MAX 3

enum made_deed {
	MADE_NOTHING,
	MADE_TAKES, /* one thing of any of what, and waits again if another was faster */
	MADE_TAKES_UNTIL, /* the same, and gives up at a deadline */
	MADE_LOOKS, /* waits for any of what, leaves elements there, gives back a token */
	MADE_LOOKS_UNTIL, /* the same, and gives up at a deadline */
	MADE_DRAINS, /* takes of any of what until each queue and channel in it is at its end */
	MADE_GETS, /* of each of what in turn, by its own function */
	MADE_GETS_UNTIL,
	MADE_TRIES,      /* the same without waiting */
	MADE_PUTS,       /* into each of what in turn; waits for room */
	MADE_PUTS_TWO,   /* at a time */
	MADE_PUTS_UNTIL, /* into a channel; gives up at a deadline */
	MADE_CLOSES,
};

struct made_script {
	struct {
		enum made_deed deed;
		const char *what;
	} does[MODEL_THREADS_MAX][MADE_DEEDS_MAX];
	const char *objects; /* that there are, of those that are made */
	unsigned queue_flags;
	unsigned slots;     /* of a segment; 0: 2 */
	uint64_t capacity;  /* of r and s; 0: 2 */
	const char *filled; /* what is in to begin with; NULL: nothing */
	uint64_t line;      /* word of q's event count to begin with: strangers in line */
	bool sole;       /* one thread alone takes elements: what it is told of it gets */
	bool gives_back; /* whoever takes one of several puts it back */
	bool lacks_waitv;
	enum engine_spins spins;
};

extern const struct model_scenario made_channel_scenarios[];

extern const struct model_scenario made_shared_scenarios[];

/* The functions of a scenario whose script is a struct made_script. */
void made_begin(void);
void made_thread(unsigned i);
void made_look(void);
void made_at_rest(void);
void made_rescue(void);
void made_end(void);

/* How a row says the rest of its scenario. */
#define SCRIPT .script = &(const struct made_script)
#define SEARCH(bound_, weak_bound_, stale_, depth_, runs_) \
	.search = { .bound = (bound_),                     \
		    .weak_bound = (weak_bound_),           \
		    .stale = (stale_),                     \
		    .pct_depth = (depth_),                 \
		    .pct_runs = (runs_),                   \
		    .runs_most = 4000 }

#endif
