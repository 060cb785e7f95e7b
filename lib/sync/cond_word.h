/* SPDX-License-Identifier: MIT */
/* The condition variable's words for the files that share them. The table is in
 * <ipcwait/cond.h>, the argument in docs/design/cond.md. */
#ifndef IW_SYNC_COND_WORD_H
#define IW_SYNC_COND_WORD_H

#include <stdbool.h>
#include <stdint.h>

#include <ipcwait/cond.h>

#include "sync/object.h"

#define COND_SERVED_BITS 40
#define COND_SERVED_MASK ((UINT64_C(1) << COND_SERVED_BITS) - 1)
#define COND_GONE_SHIFT  COND_SERVED_BITS
#define COND_GONE_BITS   16
#define COND_GONE_FULL   0xffffu
#define COND_DEEP_SHIFT  56
#define COND_DEEP_ONE    (UINT64_C(1) << COND_DEEP_SHIFT)
#define COND_DEEP_MASK   (UINT64_C(0xff) << COND_DEEP_SHIFT)

#define COND_SPINNER    UINT64_C(1)
#define COND_TURN_ONE   2u
#define COND_ISSUED_ONE (UINT64_C(1) << 32)

/* For lib/sync/copy.h. */
void iw_cond_forget(void *o);

static const struct iw_layout cond_layout = {
	.kind = IPCWAIT_KIND_COND,
	.known_flags = IPCWAIT_PRIVATE,
	.flags = offsetof(struct ipcwait_cond, flags),
	.flags_bytes = 4,
	.note = offsetof(struct ipcwait_cond, reserved),
	.generation = IW_NOTE_GENERATION,
	.forget = iw_cond_forget,
};

/* The class of wakes that reach the holder of @ticket. */
static inline uint32_t cond_class(uint64_t ticket)
{
	return UINT32_C(1) << ticket % 32;
}

static inline uint32_t cond_issued(uint64_t arrivals)
{
	return (uint32_t)(arrivals >> 32);
}

/* How many tickets are out that have not been served, if both words are of the same time. */
static inline uint32_t cond_waiting(uint64_t w, uint64_t arrivals)
{
	return cond_issued(arrivals) - (uint32_t)w;
}

static inline uint32_t cond_gone(uint64_t w)
{
	return (uint32_t)(w >> COND_GONE_SHIFT) & COND_GONE_FULL;
}

/* SERVED has passed @ticket: the difference, of so many bits, is above 0. */
static inline bool cond_served(uint64_t w, uint64_t ticket)
{
	return (int64_t)((w - ticket) << (64 - COND_SERVED_BITS)) > 0;
}

/* Turns and tickets that were ever given out, modulo 2^31. */
static inline uint32_t cond_entries(uint64_t arrivals)
{
	return (uint32_t)arrivals / COND_TURN_ONE + cond_issued(arrivals);
}

/* Whoever has come has also gone, if @out was read before @arrivals. */
static inline bool cond_all_out(uint32_t out, uint64_t arrivals)
{
	return (out - cond_entries(arrivals)) << 1 == 0;
}

/* s -> s+n, n <= 16. Bits that come into GONE are ones while DEEP is not 0. */
static inline uint64_t cond_pass(uint64_t w, uint32_t n)
{
	uint32_t beyond = w & COND_DEEP_MASK ? COND_GONE_FULL << COND_GONE_BITS : 0;
	uint64_t gone = (cond_gone(w) | beyond) >> n & COND_GONE_FULL;

	return (w & COND_DEEP_MASK) | gone << COND_GONE_SHIFT |
	       ((w + n) & COND_SERVED_MASK);
}

/*
 * s -> s+n over the n oldest, whom GONE says to be gone. Not where DEEP has made all bits ones:
 * then somebody may live there.
 */
static inline uint64_t cond_skip(uint64_t w)
{
	uint32_t n = (uint32_t)__builtin_ctz(~cond_gone(w));

	return n == COND_GONE_BITS && w & COND_DEEP_MASK ? w : cond_pass(w, n);
}

/* s -> i: whoever had a ticket when @arrivals was read is served. */
static inline uint64_t cond_pass_all(uint64_t w, uint64_t arrivals)
{
	return (w + cond_waiting(w, arrivals)) & COND_SERVED_MASK;
}

/* Release all tickets of this moment, and no spinner. */
void iw_cond_release_tickets(struct ipcwait_cond *c);

#endif
