/* SPDX-License-Identifier: MIT */
/*
 * What threads do with several objects, and what must hold whatever they do. Objects are letters:
 *
 *	a b	semaphores
 *	w	a raw word, 0 until it is set
 *	e m	events that reset themselves, or do not
 *	c	an event count, whose condition is a word of the test's
 *
 * Of w, e and c one is told, and by the rules of this test tells the next: nobody sleeps for good.
 */
#ifndef TESTS_INTERLEAVE_WAIT_ANY_ROLES_H
#define TESTS_INTERLEAVE_WAIT_ANY_ROLES_H

#include "interleave/engine.h"
#include "interleave/model.h"

enum any_deed {
	ANY_NOTHING,
	ANY_WAITS,       /* for any of what */
	ANY_WAITS_UNTIL, /* and gives up at a deadline */
	ANY_WAITS_ALONE, /* for the only one of what, with its own function */
	ANY_TRIES,       /* for each of what in turn, without waiting */
	ANY_POSTS,       /* each of what in turn; of a word it wakes one sleeper */
	ANY_WAKES,       /* one who sleeps, while what he sleeps on stays as it is */
};

struct any_role {
	enum any_deed deed;
	const char *what;
};

struct any_script {
	struct any_role role[MODEL_THREADS_MAX];
	unsigned flags[2]; /* of a and b */
	uint64_t word[2];  /* theirs to begin with: what strangers have left */
	enum engine_spins spins;
	bool own_window; /* that of the thread */
	bool gives_back; /* whoever has waited for several posts the token again */
	bool lacks_waitv;
	bool data;         /* the one poster leaves something for who takes the token */
	bool posters_stay; /* not all that is posted is waited for */
};

/* The functions of a scenario whose script is a struct any_script. */
void any_begin(void);
void any_thread(unsigned i);
void any_look(void);
void any_at_rest(void);
void any_rescue(void);
void any_end(void);

#endif
