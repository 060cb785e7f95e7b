/* SPDX-License-Identifier: MIT */
/*
 * The object of probe.h after waits of a millisecond each, so that the next one sleeps on a
 * timer first. Under the LATENCY preset, which finds that worth it with ordinary timers.
 */
#ifndef TESTS_COMMON_TICKING_H
#define TESTS_COMMON_TICKING_H

#include "common/probe.h"
#include "policy/window.h"

#define US INT64_C(1000)

/* How long waits last. */
#define TICK_NS (1000 * US)

/* What an ordinary timer is late here. */
#define LATE_NS (90 * US)

/* What a sleep costs by the preset, which counts the latency four times. */
#define TICKING_BLOCK_NS (PROBE_BLOCK_NS + 3 * PROBE_LATENCY_NS)

struct ticking {
	int64_t begin;    /* about when the wait begins */
	uint64_t spin_ns; /* what is to be expected of it: its first spin ... */
	bool timed;       /* ... and whether and how it sleeps on a timer after it */
	struct iw_timed_plan plan;
};

extern struct ticking ticking;

/* So many waits of a tick. */
void ticking_teach(struct ipcwait_window *w, unsigned n);

/* A new machine and object, and its first wait; @after_ns is its deadline if not 0. */
void ticking_world(int64_t after_ns);

/* The next wait. */
void ticking_next(int64_t deadline_ns);

/* Some readings of the clock later than that moment at most. */
bool ticking_soon_after(int64_t is, int64_t want);

/* The deadline is the one that the plan has. */
bool ticking_on_timer(int64_t deadline_ns);

/* What the kernel does with a timer, in the first sleep: the thread runs LATE_NS after it. */
void ticking_expire(void);

#endif
