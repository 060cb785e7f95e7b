/* SPDX-License-Identifier: MIT */
/*
 * Magazines: so many free objects that they change hands with one atomic operation, and shelves,
 * the stacks on which full and empty ones lie. After J. Bonwick and J. Adams, "Magazines and
 * Vmem", USENIX 2001.
 *
 * A magazine is named by a number. Its record is never freed before its pool is, so a thread may
 * look at one that another has taken meanwhile; what it reads is then thrown away. That is all
 * that a stack of R. K. Treiber needs, besides a tag against the same number coming back:
 *
 * shelf.top
 *   bits 0-31   TOP  number of the magazine on top, 0: none
 *   bits 32-63  TAG  magazines taken so far, modulo 2^32
 *
 *   t,g -> n,g    put    n's next is t     any thread that owns n
 *   t,g -> u,g+1  take   u is t's next     any thread
 *
 * A taker that has read the word and then stands still while exactly 2^32 others take, or a
 * multiple of it, and finds t on top again, would put a wrong magazine there: at one exchange in
 * 20 ns that is a minute and a half, to the exchange.
 */
#ifndef IW_QUEUE_MAGAZINE_H
#define IW_QUEUE_MAGAZINE_H

#include <stdbool.h>
#include <stdint.h>

#include "os/seam.h"

/* Objects in a magazine, at most. */
#define IW_MAGAZINE_MOST 64

struct iw_magazine {
	struct ipcwait_word32 next; /* number of the one below it on its shelf */
	uint32_t number;
	uint32_t count; /* while it lies on a shelf, or is the other one of a thread */
	void *object[];
};

/* The magazines of a pool, by number: chunks, of which each has room for twice as many. */
#define IW_MAGAZINE_CHUNKS 24

struct iw_magazines {
	uint32_t rounds; /* objects in each */
	uint32_t made;
	char *chunk[IW_MAGAZINE_CHUNKS];
};

struct iw_shelf {
	struct ipcwait_word64 top;
	struct ipcwait_word32 count; /* too high by those who are at it, or died there */
} __attribute__((aligned(IW_ARCH_LINE_BYTES)));

/* A new empty one, by one thread at a time. NULL: no memory. */
struct iw_magazine *iw_magazine_make(struct iw_magazines *all);

/* All of them, when nobody uses them any more. */
void iw_magazines_free(struct iw_magazines *all);

/* Its owner gives it away. */
void iw_shelf_put(struct iw_shelf *s, struct iw_magazine *m);

/* Now it is the caller's. NULL: none is there. */
struct iw_magazine *iw_shelf_take(struct iw_shelf *s, const struct iw_magazines *all);

/* Where one thread is all there is: counts what lies there. */
void iw_shelf_recount(struct iw_shelf *s, const struct iw_magazines *all);

uint32_t iw_shelf_count(const struct iw_shelf *s);

#endif
