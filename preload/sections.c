/* SPDX-License-Identifier: MIT */
#include "after_unlock.h"
#include "os/seam.h"
#include "place.h"
#include "policy/pace.h"
#include "sections.h"

uint64_t iw_sections_apart_ns(const void *lock)
{
	return iw_pace_apart_ns(iw_place_pace(iw_place_take(lock)));
}

void iw_sections_note(const void *lock)
{
	struct place *p = iw_place_take(lock);
	uint32_t pace = iw_place_pace(p);

	if (iw_pace_due(pace) && iw_after_unlock_measure(lock, p))
		pace = iw_pace_began(pace, iw_now_ns());
	iw_place_set_pace(p, iw_pace_waited(pace));
}

/* The place may be another's by now. */
void iw_sections_end(void)
{
	const struct iw_after_unlock *me = &iw_after_unlock;
	struct place *p = me->measured;

	if (p && iw_place_find(me->lock) == p)
		iw_place_set_pace(p, iw_pace_ended(iw_place_pace(p), iw_now_ns()));
}
