/* SPDX-License-Identifier: MIT */
/* How an element lies in a slot of a chain's segments. */
#ifndef IW_QUEUE_SLOT_H
#define IW_QUEUE_SLOT_H

#include <stdint.h>
#include <string.h>

#include <ipcwait/base.h>

#include "queue/chain.h"

/* In the last byte of a word that is not itself the element. */
#define IW_SLOT_FULL (UINT64_C(1) << 56)

/*
 * Elements of 8 bytes may have any value, and two mean something else in a slot. So they are
 * disguised: those that would then be EMPTY, POISON or ESCAPED are no numbers that programs count
 * with. Of them the word is ESCAPED, and the byte beside the slot, which nothing else
 * touches, tells them apart.
 */
#define IW_SLOT_DISGUISE UINT64_C(0x9e3779b97f4a7c15)
#define IW_SLOT_ESCAPED  UINT64_C(1)

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

static inline int8_t *iw_slot_beside(struct iw_segment *s, uint64_t ticket)
{
	return (int8_t *)s + s->bytes - 1 - ticket;
}

static inline uint64_t iw_disguise(struct iw_segment *s, uint64_t ticket, const void *elem)
{
	uint64_t word;

	memcpy(&word, elem, sizeof(word));
	word ^= IW_SLOT_DISGUISE;
	if (IPCWAIT_LIKELY(word + 1 > IW_SLOT_ESCAPED + 1))
		return word;
	*iw_slot_beside(s, ticket) = (int8_t)word;
	return IW_SLOT_ESCAPED;
}

static inline uint64_t iw_undisguised(struct iw_segment *s, uint64_t ticket, uint64_t word)
{
	if (word == IW_SLOT_ESCAPED)
		word = (uint64_t)*iw_slot_beside(s, ticket);
	return word ^ IW_SLOT_DISGUISE;
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
static inline uint64_t iw_slot_encode(const struct iw_chain *c, struct iw_segment *s,
				      uint64_t ticket, const void *elem)
{
	if (c->shape == IW_SLOT_WORD)
		return iw_disguise(s, ticket, elem);
	if (c->shape == IW_SLOT_BEHIND) {
		iw_copy(iw_slot_at(c, s, ticket) + c->elem_at, elem, c->elem_bytes);
		return IW_SLOT_FULL;
	}
	return iw_word_of(elem, c->elem_bytes) |
	       (c->shape == IW_SLOT_BYTES ? IW_SLOT_FULL : 0);
}

static inline void iw_slot_decode(const struct iw_chain *c, struct iw_segment *s,
				  uint64_t ticket, uint64_t word, void *elem)
{
	if (c->shape == IW_SLOT_WORD)
		word = iw_undisguised(s, ticket, word);
	if (c->shape == IW_SLOT_BEHIND)
		iw_copy(elem, iw_slot_at(c, s, ticket) + c->elem_at, c->elem_bytes);
	else
		iw_put_word(elem, word, c->elem_bytes);
}

#endif
