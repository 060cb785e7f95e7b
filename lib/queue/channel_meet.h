/* SPDX-License-Identifier: MIT */
/*
 * Channels without a buffer: a call that waits is a party, with an offer in each channel that it
 * waits for. Another call accepts one of its offers, and copies the element from stack to stack.
 * The argument is in docs/design/channel.md.
 *
 *   party.state     low half; the futex. Above: index of the case, of ACCEPTED and DONE
 *     OPEN          one of the offers may be accepted; the party spins
 *     ASLEEP        the same, and it sleeps on this word
 *     BUSY          it looks for offers of others, or for room and elements in buffers
 *     MISSED        the same, and an offer has come that it may have missed
 *     ACCEPTED      a partner, with the lock of the channel, copies
 *     DONE          it is over
 *
 *     BUSY -> OPEN             open      the party
 *     OPEN -> ASLEEP           doze      the party
 *     OPEN, ASLEEP -> BUSY     claim     the party
 *     BUSY -> MISSED           accept    a party that is not MISSED itself, with the lock of a
 *                                        channel where both have offers; a close
 *     MISSED -> BUSY           open      the party, which looks at all channels again then
 *     OPEN, ASLEEP -> ACCEPTED accept    partner with the lock of the channel
 *     ACCEPTED -> DONE         accept    the same. From here on the party may be gone
 */
#ifndef IW_QUEUE_CHANNEL_MEET_H
#define IW_QUEUE_CHANNEL_MEET_H

#include "queue/channel.h"

enum iw_party_state {
	IW_PARTY_OPEN,
	IW_PARTY_ASLEEP,
	IW_PARTY_BUSY,
	IW_PARTY_MISSED,
	IW_PARTY_ACCEPTED,
	IW_PARTY_DONE,
};

struct iw_party {
	struct ipcwait_word64 state;
	struct ipcwait_window *window; /* of its wait, for the waker's stamp */
};

/* In the list of its channel under the lock of that. */
struct iw_offer {
	struct iw_offer *next, *previous;
	bool linked;
	struct iw_party *party;
	void *elem;
	unsigned index; /* of the case */
	int result;     /* before DONE: 0 or -EPIPE */
};

/* An offer's element: what is sent is only read. */
static inline void *iw_offered(const void *sent)
{
	union {
		const void *sent;
		void *any;
	} elem;

	elem.sent = sent;
	return elem.any;
}

/* A channel of valid @params with capacity 0. NULL: no memory. */
struct ipcwait_channel *iw_channel_meet(const struct ipcwait_channel_params *params);

/*
 * @op with @elem and whoever offers the opposite. 1; -EPIPE; -EAGAIN: nobody does, and @mine,
 * which is filled in but for its links, is in the list now. NULL: nothing is left there.
 */
int64_t iw_meet(struct ipcwait_channel *ch, int op, void *elem, struct iw_offer *mine);

/* Takes @mine, to do @op, out if it is in. Its party is BUSY, or one of its offers DONE. */
void iw_meet_not(struct ipcwait_channel *ch, int op, struct iw_offer *mine);

/* Waits for who accepted an offer in @ch to be done, which holds the lock. */
void iw_meet_await(struct ipcwait_channel *ch);

/* After an offer to send has become open. */
void iw_meet_tell(struct ipcwait_channel *ch);

/* BUSY -> OPEN. False: it had MISSED something, and is BUSY. */
bool iw_party_open(struct iw_party *p);

/* OPEN -> ASLEEP. False: an offer was accepted. */
bool iw_party_doze(struct iw_party *p);

/* OPEN, ASLEEP -> BUSY. False: an offer was accepted. */
bool iw_party_claim(struct iw_party *p);

/* DONE, and which case. */
bool iw_party_done(const struct iw_party *p, unsigned *index);

/* ACCEPTED or DONE: which case. */
unsigned iw_party_accepted(const struct iw_party *p);

#endif
