/* SPDX-License-Identifier: MIT */
/* How an element lies in a slot of a chain's segments. */
#ifndef IW_QUEUE_SLOT_H
#define IW_QUEUE_SLOT_H

#include <string.h>

#include "queue/chain.h"

/* In the last byte of a word that is not itself the element. */
#define IW_SLOT_FULL (UINT64_C(1) << 56)

static inline char *iw_slot_at(const struct iw_chain *c, struct iw_segment *s,
			       uint64_t ticket)
{
	return s->slot + ticket * c->stride;
}

static inline struct ipcwait_word64 *iw_slot_word(const struct iw_chain *c,
						  struct iw_segment *s, uint64_t ticket)
{
	return (struct ipcwait_word64 *)(void *)iw_slot_at(c, s, ticket);
}

/*
 * Elements of up to 8 bytes. The size that is most frequent is made in a register: what is
 * stored in parts and read at once holds the processor up.
 */
static inline uint64_t iw_word_of(const void *elem, size_t bytes)
{
	uint64_t word = 0;
	uint32_t half;

	if (bytes == sizeof(half)) {
		memcpy(&half, elem, sizeof(half));
		return half;
	}
	if (bytes == sizeof(word))
		memcpy(&word, elem, sizeof(word));
	else
		memcpy(&word, elem, bytes & 7);
	return word;
}

static inline void iw_put_word(void *elem, uint64_t word, size_t bytes)
{
	if (bytes == sizeof(uint32_t))
		memcpy(elem, &word, sizeof(uint32_t));
	else if (bytes == sizeof(word))
		memcpy(elem, &word, sizeof(word));
	else
		memcpy(elem, &word, bytes & 7);
}

/* The same for larger ones. */
static inline void iw_copy(void *to, const void *from, size_t bytes)
{
	if (bytes == 8)
		memcpy(to, from, 8);
	else if (bytes == 16)
		memcpy(to, from, 16);
	else
		memcpy(to, from, bytes);
}

/* What stands behind the word is there before the word says so. */
static inline uint64_t iw_slot_encode(const struct iw_chain *c, char *slot,
				      const void *elem)
{
	if (c->shape == IW_SLOT_BEHIND) {
		iw_copy(slot + c->elem_at, elem, c->elem_bytes);
		return IW_SLOT_FULL;
	}
	return iw_word_of(elem, c->elem_bytes) |
	       (c->shape == IW_SLOT_BYTES ? IW_SLOT_FULL : 0);
}

static inline void iw_slot_decode(const struct iw_chain *c, const char *slot, uint64_t word,
				  void *elem)
{
	if (c->shape == IW_SLOT_BEHIND)
		iw_copy(elem, slot + c->elem_at, c->elem_bytes);
	else
		iw_put_word(elem, word, c->elem_bytes);
}

#endif
