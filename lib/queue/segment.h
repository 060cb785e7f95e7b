/* SPDX-License-Identifier: MIT */
/*
 * Segments: what an unbounded queue is a chain of. Each is an array of slots that are used once,
 * and two counters from which tickets for its slots are drawn. After P. Ramalhete and
 * A. Correia's FAAArrayQueue (2016); tickets by fetch-and-add, and the right to spoil a slot whose
 * pusher does not come, are A. Morrison's and Y. Afek's ("Fast Concurrent Queues for x86
 * Processors", PPoPP 2013).
 *
 * slot.word
 *   EMPTY    nobody has filled it
 *   POISON   the popper with its ticket did not wait for the pusher with its ticket
 *   ESCAPED  an element of 8 bytes that is one of these three: which, says the byte beside
 *   else     an element: the word itself, or what stands behind it
 *
 *   EMPTY -> element, ESCAPED   push   the pusher with its ticket; what stands behind, and the byte
 *                                      beside, it has written before
 *   EMPTY -> POISON             pop    the popper with its ticket, after a while
 *   nothing else until the segment is given back and used again
 *
 * slot's byte beside, at the segment's end: 0 to 2; any, if the word is not ESCAPED
 *
 * segment.enq
 *   bits 0-62  tickets drawn by pushers; from the number of slots on they are void
 *   bit 63     CLOSED: so are all that are drawn from now on
 * segment.deq  tickets drawn by poppers; from the number of slots on they are void
 *
 * segment.next
 *   NULL       it is the last
 *   IW_CLOSED  it is the last, for good: the queue is closed
 *   else       the segment behind it; only where enq has reached the number of slots
 *
 *   NULL -> segment    a pusher who found all slots taken; its element is in the new one already
 *   NULL -> IW_CLOSED  whoever closes, or a pusher who found enq closed
 */
#ifndef IW_QUEUE_SEGMENT_H
#define IW_QUEUE_SEGMENT_H

#include <stddef.h>
#include <stdint.h>

#include "os/pointer.h"
#include "os/rcu.h"
#include "os/seam.h"

/*
 * Neither numbers that programs count with nor addresses: so a word is what the program has put
 * in, whatever looks for pointers finds them, and hardly any element is ESCAPED.
 */
#define IW_SLOT_EMPTY   UINT64_C(0x9e3779b97f4a7c14)
#define IW_SLOT_POISON  (IW_SLOT_EMPTY + 1)
#define IW_SLOT_ESCAPED (IW_SLOT_EMPTY + 2)

#define IW_ENQ_CLOSED (UINT64_C(1) << 63)

#define IW_CLOSED UINT64_C(1)

/* Sizes of segments in bytes are powers of two. */
#define IW_SEGMENT_LEAST 1024
#define IW_SEGMENT_MOST  1048576

struct iw_segment {
	struct ipcwait_word64 deq;
	struct ipcwait_word64 enq __attribute__((aligned(IW_ARCH_LINE_BYTES)));
	struct ipcwait_word64 next __attribute__((aligned(IW_ARCH_LINE_BYTES)));
	uint64_t first; /* number of its first slot, counted from the queue's beginning */
	uint32_t slots;
	uint32_t bytes; /* of it all */
	struct iw_rcu_head retired;
	char slot[] __attribute__((aligned(IW_ARCH_LINE_BYTES)));
};

/* Tickets for slots that @s has, of so many that were drawn. */
static inline uint64_t iw_segment_within(const struct iw_segment *s, uint64_t drawn)
{
	drawn &= ~IW_ENQ_CLOSED;
	return drawn < s->slots ? drawn : s->slots;
}

/*
 * A segment of @bytes with slots of @stride bytes, all empty, and room for @beside more of each at
 * its end. NULL: no memory. May sleep. Process-wide pools are behind it, one for each size.
 */
struct iw_segment *iw_segment_get(uint32_t bytes, size_t stride, size_t beside);

/* Nobody can have seen it, or sees it any more. */
void iw_segment_put(struct iw_segment *s);

/* Nobody finds it any more, but somebody may still look at it. Not in a section. */
void iw_segment_retire(struct iw_segment *s);

/* Waits until all that is retired is given back, and gives the pools' to the system: how much. */
size_t iw_segments_trim(void);

/* Bytes that are retired and not given back yet, in the whole process. */
uint64_t iw_segments_in_limbo(void);

#endif
