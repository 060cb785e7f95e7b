/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "engine/wait.h"
#include "place.h"
#include "policy/hash.h"

#define PLACE_BITS 11

#define ENTERED_SHIFT 3

static struct place places[1u << PLACE_BITS] __attribute__((aligned(64)));

static struct place *place_at(const void *address)
{
	return &places[iw_hash((uintptr_t)address) >> (64 - PLACE_BITS)];
}

struct place *iw_place_find(const void *address)
{
	struct place *p = place_at(address);

	/* ORD place.X1: relaxed, statistic: of another's window any content is legal. */
	return ipcwait_impl_load64_relaxed(&p->address) == (uintptr_t)address ? p : NULL;
}

struct place *iw_place_take(const void *address)
{
	struct place *p = place_at(address);

	/* ORD place.X2: relaxed, statistic, as place.X1. */
	if (IPCWAIT_LIKELY(ipcwait_impl_load64_relaxed(&p->address) == (uintptr_t)address))
		return p;
	/* ORD place.X3: relaxed, statistic: of two that take it at once the last has it. */
	ipcwait_impl_store64_relaxed(&p->window.bins, 0);
	ipcwait_impl_store32_relaxed(&p->window.stamp, 0);
	ipcwait_impl_store32_relaxed(&p->window.state, 0);
	ipcwait_impl_store32_relaxed(&p->asleep, 0);
	ipcwait_impl_store32_relaxed(&p->entered, 0);
	ipcwait_impl_store64_relaxed(&p->address, (uintptr_t)address);
	return p;
}

void iw_place_enter(struct place *p)
{
	/* ORD place.X4: relaxed, hint. */
	(void)ipcwait_impl_add32_relaxed(&p->asleep, 1);
}

/* If it has been taken over meanwhile the count is another's. */
void iw_place_leave(struct place *p, const void *address)
{
	/* ORD place.X6: relaxed, hint, as place.X4. */
	if (iw_place_find(address) == p && ipcwait_impl_load32_relaxed(&p->asleep))
		(void)ipcwait_impl_add32_relaxed(&p->asleep, (uint32_t)-1);
}

struct place *iw_place_of_sleepers(const void *address)
{
	struct place *p = iw_place_find(address);

	/* ORD place.X5: relaxed, hint: who is overlooked goes without a stamp. */
	return p && (int32_t)ipcwait_impl_load32_relaxed(&p->asleep) > 0 ? p : NULL;
}

uint32_t iw_place_pace(const struct place *p)
{
	/* ORD place.X9: relaxed, statistic: how locks are spun for. */
	return ipcwait_impl_load32_relaxed(&p->pace);
}

void iw_place_set_pace(struct place *p, uint32_t pace)
{
	/* ORD place.X10: relaxed, statistic, as place.X9. */
	ipcwait_impl_store32_relaxed(&p->pace, pace);
}

void iw_place_note_entry(struct place *p, uint64_t now_ns)
{
	/* ORD place.X7: relaxed, statistic: what one wake costs is learned, or not. */
	ipcwait_impl_store32_relaxed(&p->entered, (uint32_t)(now_ns >> ENTERED_SHIFT));
}

bool iw_place_asleep(const struct place *p, uint64_t now_ns)
{
	/* ORD place.X8: relaxed, statistic as place.X7. */
	uint32_t entered = ipcwait_impl_load32_relaxed(&p->entered);
	uint32_t age = (uint32_t)(now_ns >> ENTERED_SHIFT) - entered;

	/* Who has entered meanwhile has an age below 0. After 17 s nobody knows any more. */
	return entered && age >= IW_ENTRY_NS >> ENTERED_SHIFT && age <= INT32_MAX;
}
