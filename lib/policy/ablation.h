/* SPDX-License-Identifier: MIT */
/*
 * The engine without one of its mechanisms, so that a benchmark can say what it is worth: a build
 * with -Dwithout=NAME,... switches them off. bench/engine/ablate builds and measures one after the
 * other; docs/design/mechanisms.md has the result. A shipped library has all of them.
 */
#ifndef IW_POLICY_ABLATION_H
#define IW_POLICY_ABLATION_H

#include <stdbool.h>

enum iw_mechanism {
	IW_FIRST_LOOKS = 1 << 0,  /* a few looks before anything is worked out */
	IW_SITES_ASKED = 1 << 1,  /* young objects start from their call site or kind */
	IW_RAISE_TO_B = 1 << 2,   /* beyond all that is known spin for B */
	IW_CREDIT = 1 << 3,       /* spinning in vain is bounded */
	IW_SWITCHED_OUT = 1 << 4, /* a spin ends when its thread has lost the CPU */
	IW_SAME_PLACE = 1 << 5,   /* no spin where the waker runs on the same CPU */
	IW_COST_PROBES = 1 << 6,  /* now and then a spin is given up to measure a sleep */
	IW_TIMED = 1 << 7,        /* LATENCY: sleep on a timer, then spin */
	IW_OWN_DELAY =
		1 << 8, /* what a thread's own wake adds to its wait is not learned */
};

#ifndef IW_WITHOUT
#define IW_WITHOUT 0
#endif

static inline bool iw_without(enum iw_mechanism m)
{
	return IW_WITHOUT & m;
}

#endif
