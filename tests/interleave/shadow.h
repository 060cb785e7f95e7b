/* SPDX-License-Identifier: MIT */
/*
 * What the checker knows of each watched word of memory: whether it is allocated, and who has
 * accessed it when, so that two accesses without order are seen whatever values they gave.
 */
#ifndef TESTS_INTERLEAVE_SHADOW_H
#define TESTS_INTERLEAVE_SHADOW_H

#include "interleave/view.h"

enum life { UNKNOWN, LIVE, QUIET, FREED };

/* Of four bytes. The numbers are clocks of the threads, 0 for never. */
struct cell {
	uint8_t life;
	uint8_t location; /* number + 1 of the atomic variable that begins here */
	uint8_t writer;   /* of the last plain store, at ... */
	uint16_t written;
	uint16_t read[MINDS];   /* the last plain load, by thread */
	uint16_t loaded[MINDS]; /* the last atomic load */
	uint16_t stored[MINDS]; /* the last atomic store */
};

enum access { PLAIN_LOAD, PLAIN_STORE, ATOMIC_LOAD, ATOMIC_STORE };

/* The first cell of watched memory, NULL for any other. */
struct cell *shadow_of(const volatile void *p);

/* Before each execution. */
void shadow_reset(void);

/* After it: fails if something was not freed. */
void shadow_check_leaks(void);

/* Note an access by thread @me, and fail if it is to freed memory or races with another. */
void shadow_note(struct cell *c, unsigned size, enum access kind, unsigned me,
		 const struct view *view);

/* The name of an address for a trace, in a buffer that the next call uses again. */
const char *shadow_name(const volatile void *p);

#endif
