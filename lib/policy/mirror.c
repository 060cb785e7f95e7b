/* SPDX-License-Identifier: MIT */
#include "policy/mirror.h"

/* Jiny's timer, at 1 kHz. */
#define TICK_NS UINT64_C(1000000)

uint64_t iw_haltpoll_ns(const struct iw_haltpoll *p, uint64_t limit_ns)
{
	return limit_ns < p->guest_halt_poll_ns ? limit_ns : p->guest_halt_poll_ns;
}

static uint64_t grown_ns(const struct iw_haltpoll *p, uint64_t limit_ns)
{
	uint64_t ns = limit_ns * p->guest_halt_poll_grow;

	if (ns < p->guest_halt_poll_grow_start)
		ns = p->guest_halt_poll_grow_start;
	return iw_haltpoll_ns(p, ns);
}

/* Since Linux 6.9 what falls below the start is nothing. */
static uint64_t shrunk_ns(const struct iw_haltpoll *p, uint64_t limit_ns)
{
	uint64_t ns = p->guest_halt_poll_shrink ? limit_ns / p->guest_halt_poll_shrink : 0;

	return ns < p->guest_halt_poll_grow_start ? 0 : ns;
}

uint64_t iw_haltpoll_next_ns(const struct iw_haltpoll *p, uint64_t limit_ns,
			     uint64_t halted_ns)
{
	limit_ns = iw_haltpoll_ns(p, limit_ns);
	if (halted_ns > p->guest_halt_poll_ns)
		return shrunk_ns(p, limit_ns);
	return halted_ns > limit_ns ? grown_ns(p, limit_ns) : limit_ns;
}

uint64_t iw_ticks_spin_ns(uint64_t now_ns)
{
	return 3 * TICK_NS - now_ns % TICK_NS;
}
