/* SPDX-License-Identifier: MIT */
/*
 * What a channel between processes has in its file, which each of them maps somewhere else:
 *
 *	0                 struct iw_shared_head
 *	head.slots_at     capacity slots: a control word, then the element, every head.stride bytes
 *	head.bytes        the end of the file
 *
 * A process reads sizes and places once, before it believes them, and never again. All that it
 * reads later is words, which may hold anything: it finds its way by what it has kept.
 *
 * tail, head of the queue: positions. A position is a lap in the upper bits and the index of a slot
 * in as many lower bits as the capacity needs. They are hints: tail is a position that is not
 * claimed yet, or whose claim is the last one; head the same of what is being received.
 * Everybody may move them to the next position once theirs is claimed.
 *
 * Control word of a slot
 *   bits 0-7   OWNER  participant that has claimed it, if one has
 *   bits 8-63  STAGE  4 * lap + state, modulo the laps that a position can name; it only grows
 *
 *   state      0 FREE     whoever is to send at this lap may claim it
 *              1 WRITING  OWNER puts an element in
 *              2 FULL     whoever receives at this lap may claim it
 *              3 READING  OWNER takes the element out
 *
 *   FREE    -> WRITING         claim      a sender, at tail
 *   WRITING -> FULL            publish    OWNER
 *   WRITING -> FREE of lap+1   give back  OWNER, if the channel was closed meanwhile;
 *                                         anybody, if OWNER is proven dead: the element is not sent
 *   FULL    -> READING         claim      a receiver, at head
 *   READING -> FREE of lap+1   release    OWNER; anybody, if it is proven dead: the element is lost
 *
 * Each is a compare-and-swap of the whole word. docs/design/shared_channel.md
 */
#ifndef IW_QUEUE_SHARED_HEAD_H
#define IW_QUEUE_SHARED_HEAD_H

#include <assert.h>
#include <stddef.h>

#include <ipcwait/eventcount.h>

#define IW_SHARED_MAGIC      "ipcwchan"
#define IW_SHARED_BYTE_ORDER UINT32_C(0x01020304)

/*
 * Of all machines, since files may not depend on them: twice that of most, for their prefetchers.
 */
#define IW_SHARED_LINE 128

/* Processes that take part at a time; each is the owner of that number. */
#define IW_SHARED_PARTICIPANTS 64

struct iw_shared_head {
	/*
	 * Written before ready, and never again. Magic, layout and ready have these places in every
	 * layout.
	 */
	char magic[8];
	uint32_t layout; /* IPCWAIT_LAYOUT, of what is below as of objects */
	uint32_t byte_order;
	uint64_t elem_bytes;
	uint64_t capacity;
	uint64_t stride;
	uint64_t slots_at;
	uint64_t bytes;
	struct ipcwait_word32 ready; /* 1: all of the above is there */

	struct ipcwait_word64 closed
		__attribute__((aligned(IW_SHARED_LINE))); /* 0: it is not */
	struct ipcwait_word64 lost;      /* elements that died with their receivers */
	struct ipcwait_word64 recovered; /* claims of the dead that were taken from them */
	struct ipcwait_word64 tail __attribute__((aligned(IW_SHARED_LINE)));
	struct ipcwait_word64 head __attribute__((aligned(IW_SHARED_LINE)));
	struct ipcwait_eventcount elements __attribute__((aligned(IW_SHARED_LINE)));
	struct ipcwait_eventcount room __attribute__((aligned(IW_SHARED_LINE)));
} __attribute__((aligned(IW_SHARED_LINE)));

/* NOLINTBEGIN(bugprone-implicit-widening-of-multiplication-result) */
static_assert(sizeof(struct iw_shared_head) == 6 * IW_SHARED_LINE, "part of the layout");
static_assert(offsetof(struct iw_shared_head, bytes) == 48, "part of the layout");
static_assert(offsetof(struct iw_shared_head, ready) == 56, "part of the layout");
static_assert(offsetof(struct iw_shared_head, room) == 5 * IW_SHARED_LINE,
	      "part of the layout");
/* NOLINTEND(bugprone-implicit-widening-of-multiplication-result) */

enum iw_shared_state {
	IW_SHARED_FREE,
	IW_SHARED_WRITING,
	IW_SHARED_FULL,
	IW_SHARED_READING,
	IW_SHARED_STATES,
};

#define IW_SHARED_OWNER_BITS 8
#define IW_SHARED_LAP_BITS   54

#endif
