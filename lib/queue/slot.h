/* SPDX-License-Identifier: MIT */
/* How an element lies in a slot of a chain's segments. */
#ifndef IW_QUEUE_SLOT_H
#define IW_QUEUE_SLOT_H

#include <stdint.h>
#include <string.h>

#include <ipcwait/base.h>

#include "os/tell.h"
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

static inline uint8_t *iw_slot_beside(struct iw_segment *s, uint64_t ticket)
{
	return (uint8_t *)s + s->bytes - 1 - ticket;
}

/* Of 8 bytes. */
static inline uint64_t iw_escape(struct iw_segment *s, uint64_t ticket, uint64_t word)
{
	if (IPCWAIT_LIKELY(word - IW_SLOT_EMPTY > IW_SLOT_ESCAPED - IW_SLOT_EMPTY))
		return word;
	*iw_slot_beside(s, ticket) = (uint8_t)(word - IW_SLOT_EMPTY);
	return IW_SLOT_ESCAPED;
}

static inline uint64_t iw_unescape(struct iw_segment *s, uint64_t ticket, uint64_t word)
{
	if (word == IW_SLOT_ESCAPED)
		word = IW_SLOT_EMPTY + *iw_slot_beside(s, ticket);
	return word;
}

/*
 * Elements of up to 8 bytes. The sizes that are most frequent are made in a register: what is
 * stored in parts and read at once holds the processor up.
 */
static inline uint64_t iw_word_of(const void *elem, size_t bytes)
{
	uint64_t word = 0;
	uint32_t half;

	if (bytes == sizeof(word)) {
		memcpy(&word, elem, sizeof(word));
		return word;
	}
	if (bytes == sizeof(half)) {
		memcpy(&half, elem, sizeof(half));
		return half;
	}
	memcpy(&word, elem, bytes & 7);
	return word;
}

static inline void iw_put_word(void *elem, uint64_t word, size_t bytes)
{
	if (bytes == sizeof(word))
		memcpy(elem, &word, sizeof(word));
	else if (bytes == sizeof(uint32_t))
		memcpy(elem, &word, sizeof(uint32_t));
	else
		memcpy(elem, &word, bytes & 7);
}

/* The same for larger ones. */
static inline void iw_copy(void *to, const void *from, size_t bytes)
{
	if (bytes == 16)
		memcpy(to, from, 16);
	else
		memcpy(to, from, bytes);
}

/* What stands behind the word, or beside the slot, is there before the word says so. */
static inline uint64_t iw_slot_encode(const struct iw_chain *c, struct iw_segment *s,
				      uint64_t ticket, const void *elem)
{
	switch (c->shape) {
	case IW_SLOT_WORD:
		return iw_escape(s, ticket, iw_word_of(elem, sizeof(uint64_t)));
	case IW_SLOT_BYTES:
		return iw_word_of(elem, c->elem_bytes) | IW_SLOT_FULL;
	case IW_SLOT_BEHIND:
		iw_tell_acquired(s);
		iw_copy(iw_slot_at(c, s, ticket) + c->elem_at, elem, c->elem_bytes);
	}
	return IW_SLOT_FULL;
}

static inline void iw_slot_decode(const struct iw_chain *c, struct iw_segment *s,
				  uint64_t ticket, uint64_t word, void *elem)
{
	switch (c->shape) {
	case IW_SLOT_WORD:
		iw_put_word(elem, iw_unescape(s, ticket, word), sizeof(word));
		break;
	case IW_SLOT_BYTES:
		iw_put_word(elem, word, c->elem_bytes);
		break;
	case IW_SLOT_BEHIND:
		iw_copy(elem, iw_slot_at(c, s, ticket) + c->elem_at, c->elem_bytes);
	}
}

#endif
