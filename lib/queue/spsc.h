/* SPDX-License-Identifier: MIT */
/*
 * Queue of one producer and one consumer: what its files share. Places of elements, and who writes
 * what: <ipcwait/impl/spsc.h>. Why: docs/design/spsc.md.
 *
 * A ring without bound ends where the next one begins:
 *
 *   ring.next   0 -> r       elements from r's first on are in r   the producer, before it
 *                                                                  publishes any of them
 *   spare       0 -> r       the consumer has left r               the consumer
 *               r -> 0       r is the producer's                   the producer
 */
#ifndef IW_QUEUE_SPSC_H
#define IW_QUEUE_SPSC_H

#include <ipcwait/spsc.h>

/* All rings of a queue are equally large. */
struct iw_spsc_ring {
	struct ipcwait_wordptr next; /* a ring, or NULL */
	uint64_t first;              /* place of the first element in it */
	char elems[] __attribute__((aligned(128)));
};

struct iw_spsc {
	struct ipcwait_spsc base;
	struct ipcwait_wordptr spare __attribute__((aligned(128))); /* a ring, or NULL */

	/* Never written after it is made. */
	uint64_t room; /* elements that a ring is used for */
	size_t ring_bytes;
	bool bounded;
	void (*fini)(void *elem, void *arg);
	void *fini_arg;
};

static inline struct iw_spsc *iw_spsc(struct ipcwait_spsc *q)
{
	return (struct iw_spsc *)q;
}

/* The producer has come to @at: how far may it go? 0: farther; -EAGAIN or -ENOMEM. */
int iw_spsc_find_room(struct iw_spsc *s, uint64_t at);

/* The consumer has come to @at: how far may it go? 0: farther; -EAGAIN or -EPIPE. */
int iw_spsc_find_elements(struct iw_spsc *s, uint64_t at);

/* The first ring, for both sides. False: no memory. */
bool iw_spsc_begin(struct iw_spsc *s);

/* The producer goes on at @at in a ring that is empty. 0 or -ENOMEM. */
int iw_spsc_next_ring(struct iw_spsc *s, uint64_t at);

/*
 * The consumer is at @at, and what lies before @tail is published: how far it may go, in the next
 * ring if @at is the end of its own.
 */
uint64_t iw_spsc_follow(struct iw_spsc *s, uint64_t at, uint64_t tail);

/* The ring that waits to be used, which is the producer's then; NULL: none. */
struct iw_spsc_ring *iw_spsc_take_spare(struct iw_spsc *s);

/* All rings, at the end. */
void iw_spsc_free_rings(struct iw_spsc *s);

#endif
