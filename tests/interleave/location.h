/* SPDX-License-Identifier: MIT */
/*
 * An atomic variable: the values stored to it, in their order, each with the view of its writer. A
 * thread may read any that is not older than what it has seen. With MODEL_SC and MODEL_TSO
 * only the newest is kept.
 */
#ifndef TESTS_INTERLEAVE_LOCATION_H
#define TESTS_INTERLEAVE_LOCATION_H

#include "interleave/shadow.h"
#include "interleave/view.h"

#define HISTORY 8

struct message {
	uint64_t value;
	uint16_t key;     /* place in the order of stores to the location */
	bool attached;    /* made from the one before: nothing comes in between */
	struct view view; /* what a reader learns who acquires it */
};

struct location {
	volatile void *p;
	unsigned size;
	unsigned messages;
	uint16_t sc_seen;     /* key of the newest message that a SEQ_CST access has seen */
	uint16_t kernel_seen; /* ... that a waker has seen */
	struct message m[HISTORY];
};

/* Before each execution. */
void location_reset(void);

/* The variable at @p, whose cell is @c; it begins to be one with its first atomic access. */
struct location *location_of(struct cell *c, const volatile void *p, unsigned size);

/* The one that @word is, or is half of; NULL if there is none. */
struct location *location_around(const uint32_t *word);

unsigned location_index(const struct location *l);
struct message *location_newest(struct location *l);

/* One that a thread with this view may read: the newest, or by choice an older one. */
struct message *location_choose(struct location *l, const struct view *view);

/*
 * A new message: the newest, or by choice one that comes before others which its writer has not
 * seen; @attached: made from the newest. Returns its key.
 */
uint16_t location_add(struct location *l, uint64_t value, bool attached,
		      const struct view *writer, const struct view *sent);

/* What is in memory. */
uint64_t peek(const volatile void *p, unsigned size);
void poke(volatile void *p, unsigned size, uint64_t value);

#endif
