/* SPDX-License-Identifier: MIT */
/*
 * Ticks: the unit of the spin loop. The CPU's counter where it is steady and the kernel
 * trusts it (11 ns to read here), else CLOCK_MONOTONIC in ns (25 ns and more).
 */
#ifndef IW_ENV_TICK_H
#define IW_ENV_TICK_H

#include <stdbool.h>
#include <stdint.h>

#include "os/seam.h"

struct iw_tick_rate {
	bool counter;             /* ticks come from the CPU's counter */
	uint64_t ns_per_tick_q32; /* 32.32 fixed point */
	uint64_t ticks_per_ns_q32;
};

/* Compares counter and clock over at least 200 us, most of which has usually passed, and 5 more. */
struct iw_tick_rate iw_tick_measure(void);

__extension__ typedef unsigned __int128 iw_u128;

static inline uint64_t iw_tick_now(const struct iw_tick_rate *rate)
{
	return rate->counter ? iw_arch_ticks() : (uint64_t)iw_clock_ns();
}

static inline uint64_t iw_tick_scaled(uint64_t n, uint64_t by_q32)
{
	iw_u128 scaled = ((iw_u128)n * by_q32) >> 32;

	return scaled <= UINT64_MAX ? (uint64_t)scaled : UINT64_MAX;
}

/* What is too much for 64 bits, centuries as a rule, becomes UINT64_MAX. */
static inline uint64_t iw_tick_to_ns(const struct iw_tick_rate *rate, uint64_t ticks)
{
	return iw_tick_scaled(ticks, rate->ns_per_tick_q32);
}

static inline uint64_t iw_tick_from_ns(const struct iw_tick_rate *rate, uint64_t ns)
{
	return iw_tick_scaled(ns, rate->ticks_per_ns_q32);
}

#endif
