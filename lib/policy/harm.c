/* SPDX-License-Identifier: MIT */
#include "os/seam.h"
#include "policy/harm.h"

#define QUIET_NS UINT64_C(1000000000)

/* A sixteenth of the longest spin, 2B: 3.75 us for B = 30 us. */
#define LEVEL_MOST 4

static unsigned level_at(const struct iw_thread *self, const struct iw_facts *facts,
			 uint64_t now)
{
	uint64_t quiet = iw_tick_from_ns(&facts->rate, QUIET_NS);
	uint64_t seconds = self->harm ? (now - self->harmed_at) / quiet : 0;

	return seconds < self->harm ? self->harm - (unsigned)seconds : 0;
}

unsigned iw_harm_level(const struct iw_facts *facts, uint64_t now)
{
	return level_at(iw_self(), facts, now);
}

void iw_harm_note(const struct iw_facts *facts, uint64_t now)
{
	struct iw_thread *self = iw_self();
	unsigned level = level_at(self, facts, now);

	self->harm = level < LEVEL_MOST ? level + 1 : level;
	self->harmed_at = now;
}
