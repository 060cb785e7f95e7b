/* SPDX-License-Identifier: MIT */
#include "policy/pace.h"

#define SHARE_BITS 6
#define SHARE_MOST 63u
#define COUNT_ONE  (1u << 2 * SHARE_BITS)
#define COUNT_MASK (15u * COUNT_ONE)

#define BUSY_SHIFT  SHARE_BITS
#define BEGAN_SHIFT 16
#define TIME_SHIFT  3

/*
 * A section is short up to this length, in ns. It is measured after a hand-over, so the way of the
 * data from CPU to CPU is in it, some 230 ns on the project's guest. Beyond 150 ns more two CPUs by
 * turns do more than one: with equal think times one thread alone does as much with sections of
 * 200 ns, and 0.65 times as much with 300 (contention, threads:2, think:equal).
 */
#define SHORT_NS 400

/*
 * Distance between two looks while sections are short, in ns. Two threads with empty sections did
 * 69 million a second with 250 ns, 83 with 1000, and 78 with 5000, where more spins are in vain; 32
 * with looks as close as can be (contention, threads:2, section:0).
 */
#define APART_NS 1000

static uint32_t share(uint32_t pace, unsigned shift)
{
	return pace >> shift & SHARE_MOST;
}

/* An eighth, rounded up. */
static uint32_t some_of(uint32_t n)
{
	return n / 8 + (n % 8 != 0);
}

/* Some of the way to all, or to none. */
static uint32_t learned(uint32_t pace, unsigned shift, bool one_more)
{
	uint32_t old = share(pace, shift);
	uint32_t now = one_more ? old + some_of(SHARE_MOST - old) : old - some_of(old);

	return (pace & ~(SHARE_MOST << shift)) | now << shift;
}

static bool is_likely(uint32_t pace, unsigned shift)
{
	return share(pace, shift) > SHARE_MOST / 2;
}

bool iw_pace_due(uint32_t pace)
{
	return (pace & COUNT_MASK) == COUNT_MASK;
}

uint32_t iw_pace_waited(uint32_t pace)
{
	return (pace & ~COUNT_MASK) | ((pace + COUNT_ONE) & COUNT_MASK);
}

uint32_t iw_pace_began(uint32_t pace, uint64_t now_ns)
{
	uint32_t now = (uint32_t)(now_ns >> TIME_SHIFT);

	return (uint16_t)pace | now << BEGAN_SHIFT;
}

uint32_t iw_pace_ended(uint32_t pace, uint64_t now_ns)
{
	uint32_t began = pace >> BEGAN_SHIFT, now = (uint32_t)(now_ns >> TIME_SHIFT);
	uint32_t lasted_ns = (uint32_t)(uint16_t)(now - began) << TIME_SHIFT;

	return learned((uint16_t)pace, 0, lasted_ns <= SHORT_NS);
}

uint32_t iw_pace_slept(uint32_t pace, bool busy)
{
	return learned(pace, BUSY_SHIFT, busy);
}

uint64_t iw_pace_apart_ns(uint32_t pace)
{
	return is_likely(pace, 0) ? APART_NS : 0;
}

bool iw_pace_busy(uint32_t pace)
{
	return is_likely(pace, BUSY_SHIFT);
}

bool iw_pace_full(uint32_t pace)
{
	return is_likely(pace, 0) && iw_pace_busy(pace);
}
