/* SPDX-License-Identifier: MIT */
/* What the dead had in hand. The argument is in docs/design/shared_channel.md. */
#include "queue/blocking.h"
#include "queue/shared.h"

#include "os/seam.h"

/* Statistics may be off by those whom somebody kills in between. */
static void count(struct ipcwait_word64 *n, uint64_t more)
{
	/* ORD shared_bury.X1: relaxed, statistic. */
	(void)ipcwait_impl_add64_relaxed(n, more);
}

/* The element goes, and the slot is free for the next lap. */
static bool take_away(struct iw_shared *s, struct ipcwait_word64 *slot, uint64_t control)
{
	uint64_t stage = iw_shared_stage(control);
	uint64_t freed = iw_shared_control(s, (stage | (IW_SHARED_STATES - 1)) + 1, 0);

	/* ORD shared_bury.S2: seq_cst, a change that others wait for. Pairs with shared.S1,
	 * shared.S7 and shared.S8. */
	if (!ipcwait_impl_cas64_seq_cst(slot, &control, freed))
		return false;
	count(&s->head->recovered, 1);
	if (stage % IW_SHARED_STATES == IW_SHARED_READING)
		count(&s->head->lost, 1);
	return true;
}

/*
 * One claim of @owner's. The word is read before its owner is looked for: a claim that is seen
 * then, and that was made by who had the number before, is not that of another who has it now.
 */
static bool bury(struct iw_shared *s, struct ipcwait_word64 *slot, uint32_t owner)
{
	/*
	 * ORD shared_bury.S1: seq_cst, sees what the owner has done before the claim. Pairs with
	 * shared.S2 and shared.S3.
	 */
	uint64_t control = ipcwait_impl_load64_seq_cst(slot);

	if (!iw_shared_is_claimed(control) || iw_shared_owner(control) != owner)
		return false;
	return (owner == s->me || iw_shared_is_gone(s, owner)) &&
	       take_away(s, slot, control);
}

/*
 * How many slots may have been claimed: in the first lap those up to tail. The others have no
 * memory yet, and a look would give them some.
 */
static uint64_t used_slots(const struct iw_shared *s)
{
	/* ORD shared_bury.X4: relaxed, no order needed: who claims has read tail before. */
	uint64_t tail = ipcwait_impl_load64_relaxed(&s->head->tail);
	uint64_t lap = tail >> s->index_bits, index = tail - (lap << s->index_bits);

	return lap || index >= s->is.capacity ? s->is.capacity : index + 1;
}

/* All of them, and everybody is told: the dead may have died before it told of something, too. */
uint64_t iw_shared_inherit(struct iw_shared *s, uint32_t owner)
{
	uint64_t n = 0, used = used_slots(s);

	for (uint64_t i = 0; i < used; i++)
		n += bury(s, iw_shared_slot(s, i), owner);
	if (!n)
		return 0;
	iw_unblock(&s->head->elements, UINT32_MAX, IPCWAIT_KIND_CHANNEL);
	iw_unblock(&s->head->room, UINT32_MAX, IPCWAIT_KIND_CHANNEL);
	return n;
}

bool iw_shared_look_after(struct iw_shared *s, uint64_t control)
{
	uint32_t owner = iw_shared_owner(control);
	int64_t now, past_ns;

	if (owner == s->me)
		return false;
	now = iw_clock_ns();
	/* ORD shared_bury.X2: relaxed, hint: at worst two threads look. */
	past_ns = now - (int64_t)ipcwait_impl_load64_relaxed(&s->looked_ns);
	if (past_ns >= 0 && past_ns < IW_SHARED_LOOK_NS)
		return false;
	/* ORD shared_bury.X3: relaxed, hint, as shared_bury.X2. */
	ipcwait_impl_store64_relaxed(&s->looked_ns, (uint64_t)now);
	return iw_shared_is_gone(s, owner) && iw_shared_inherit(s, owner);
}
