/* SPDX-License-Identifier: MIT */
/*
 * A chain of segments: the queue without waiting. The words are in segment.h, the argument in
 * docs/design/queue.md.
 *
 *   head ──► [x x x . . .] ──► [o o o o o o] ──► [o o _ _ _ _] ◄── tail
 *             deq ─┘                                   └─ enq
 *
 * tail is the last segment or one before it, and never before head: so what head has left nobody
 * finds any more.
 */
#ifndef IW_QUEUE_CHAIN_H
#define IW_QUEUE_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "queue/segment.h"

/* How an element lies in its slot. */
enum iw_slot_shape {
	IW_SLOT_BYTES,  /* in the word: up to 7 bytes, and FULL in the last */
	IW_SLOT_WORD,   /* the word is it, but for three values: 8 bytes */
	IW_SLOT_BEHIND, /* behind the word, which is FULL */
};

struct iw_chain {
	/* Read only. */
	enum iw_slot_shape shape;
	bool one_consumer;
	size_t elem_bytes;
	size_t elem_at; /* in its slot, IW_SLOT_BEHIND */
	size_t stride;
	size_t beside;          /* bytes that a slot has at its segment's end */
	uint32_t segment_bytes; /* of all but the first */

	struct ipcwait_word64 head __attribute__((aligned(IW_ARCH_LINE_BYTES)));
	struct ipcwait_word64 tail __attribute__((aligned(IW_ARCH_LINE_BYTES)));
	struct ipcwait_word64 used_up __attribute__((
		aligned(IW_ARCH_LINE_BYTES))); /* segments that head has left */
	struct ipcwait_word64 spoiled;         /* slots */
};

/* False: no memory. */
bool iw_chain_init(struct iw_chain *c, size_t elem_bytes, bool one_consumer);

/* When nobody uses it any more. @fini, if not NULL, is called for what is left. */
void iw_chain_fini(struct iw_chain *c, void (*fini)(void *elem, void *arg), void *arg);

/* How many were pushed; if none, -EPIPE or -ENOMEM. One of the functions for one element. */
int64_t iw_chain_push(struct iw_chain *c, const void *elems, size_t n);
int iw_chain_push_one(struct iw_chain *c, const void *elem);

/* How many were popped; if none, -EAGAIN or -EPIPE. */
int64_t iw_chain_pop(struct iw_chain *c, void *elems, size_t n);
int iw_chain_pop_one(struct iw_chain *c, void *elem);

/* Whether a pop is worth trying: an element is there, or under way, or it is closed. */
bool iw_chain_ready(struct iw_chain *c);

/* 0, or -EALREADY. */
int iw_chain_close(struct iw_chain *c);

/* Bounds as in <ipcwait/queue.h>, and the bytes of all segments. */
void iw_chain_measure(struct iw_chain *c, uint64_t *lo, uint64_t *hi, uint64_t *bytes);

#endif
