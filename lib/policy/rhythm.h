/* SPDX-License-Identifier: MIT */
/*
 * Long waits that come regularly: ticks, frames, completions. Sleeping through one costs a
 * late wake-up, spinning through it a CPU. The third way is to sleep on a timer until
 * shortly before the expected moment and to spin only the rest. This file remembers when
 * that moment is and says whether it pays. Pure arithmetic, like policy/window.h; the argument
 * is in docs/design/window.md.
 *
 * Linux's hybrid polling of block devices did the same with half the mean (block/blk-mq.c,
 * kernels 4.10 to 5.18); here the spread decides how long before.
 *
 * rhythm, 24 bits
 *   bits 0-13   usual length: 4 bits of exponent from 2^13 ns, 10 of mantissa
 *   bits 14-20  usual deviation: 4 bits of exponent from 2^8 ns, 3 of mantissa
 *   bits 21-23  trust: waits that were near enough lately, less those that were not
 */
#ifndef IW_POLICY_RHYTHM_H
#define IW_POLICY_RHYTHM_H

#include <stdbool.h>
#include <stdint.h>

#define IW_RHYTHM_BITS 24

/* What a sleep that a timer ends costs on this machine. */
struct iw_timer_cost {
	uint64_t late_ns;   /* from its deadline until the thread runs, rather too much */
	uint64_t spread_ns; /* by how much that is too much as a rule */
	uint64_t cpu_ns;    /* CPU time */
	uint64_t worth_ns;  /* what it may cost with the spin after it, B at most */
};

/* Times from the beginning of the wait, in ns. */
struct iw_timed_sleep {
	uint64_t wake_ns;  /* deadline of the sleep */
	uint64_t until_ns; /* end of the spin after it */
	uint64_t span_ns;  /* length of that spin if it is in vain, as a rule */
	uint64_t cost_ns;  /* what to expect in all, in the unit of B */
};

/* The rhythm after a wait of @wait_ns, which was longer than any spin. */
uint32_t iw_rhythm_learn(uint32_t rhythm, uint64_t wait_ns);

/* True if a timed sleep costs less than it is worth. A sleep until a wake costs @block_ns. */
bool iw_rhythm_plan(uint32_t rhythm, uint64_t block_ns, const struct iw_timer_cost *timer,
		    struct iw_timed_sleep *plan);

/* The usual length in ns of waits with that rhythm, and the usual deviation. */
uint64_t iw_rhythm_length_ns(uint32_t rhythm);
uint64_t iw_rhythm_deviation_ns(uint32_t rhythm);

#endif
