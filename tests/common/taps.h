/* SPDX-License-Identifier: MIT */
/*
 * What the engine tells its book-keeping, and asks of it, in one wait. The programs are linked with
 * --wrap for the functions in tests/unit/meson.build: each call is noted here and goes on to the
 * real one.
 */
#ifndef TESTS_COMMON_TAPS_H
#define TESTS_COMMON_TAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/wait.h"
#include "policy/reason.h"
#include "watch/observe.h"

/* Calls of each function in a wait, at most. */
#define TAPS_MOST 24

/* A spin that was asked for. */
struct tap_spin {
	uint64_t start; /* ticks */
	uint32_t unprobed, unprobed_after;
	bool asked_probe, probe_due; /* whether it is time to measure a sleep, and it was */
	uint64_t thread_full_at, process_full_at;
	enum iw_reason why; /* it was not admitted; else: */
	uint64_t limit_ns, window_ns;
	uint64_t last, gap; /* ticks at its last look, and since the one before */
	uint64_t read;      /* ticks, as read last */
	bool disturbed;     /* the kernel had switched it out by then */
	unsigned looks;
	int64_t begin, read_at; /* on the clock: before the plan, and read before that */
	enum iw_seen seen;      /* at the last look */
};

struct tap_charge {
	uint64_t full_at, now, ticks; /* what was charged to what, ... */
	uint64_t after;               /* ... and what came of it */
	unsigned spin;                /* which */
};

struct tap_learned {
	bool slept, ended;
	uint64_t wait_ns, spun_ns;
};

struct tap_record {
	unsigned bin, n;
	uint64_t interval_ns;
};

struct taps {
	unsigned spins, charges, learned, records, sites, latencies, wakers, timers;
	struct tap_spin spin[TAPS_MOST];
	struct tap_charge charge[TAPS_MOST];
	struct tap_learned learn[TAPS_MOST];
	struct tap_record record[TAPS_MOST];
	uint64_t latency_ns[TAPS_MOST], waker_ns[TAPS_MOST], timer_ns[TAPS_MOST];
	unsigned site_bin, observed;
	struct iw_outcome outcome; /* what people are told of it */
	bool in_spin;              /* the last of them was admitted, and is not over */
	uint64_t process_full_at;  /* by its definition; never cleared */
};

extern struct taps taps;

/* The next wait. */
void taps_clear(void);

/*
 * How far ahead @full_at is, in ticks, by the definition in credit.c; a burst moves the account on
 * by @burst.
 */
uint64_t taps_ahead(uint64_t full_at, uint64_t now, uint64_t burst);

#endif
