/* SPDX-License-Identifier: MIT */
/*
 * A primitive that only counts what the engine asks of it, on a machine of fake_os.h where a
 * wake-up usually takes 20 us and costs the waker 10.
 */
#ifndef TESTS_COMMON_PROBE_H
#define TESTS_COMMON_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include <ipcwait/policy.h>
#include <ipcwait/stats.h>

#include "engine/wait.h"

#define PROBE_LATENCY_NS INT64_C(20000)
#define PROBE_BLOCK_NS   INT64_C(30000)

/* The histogram in window.bins; above it is the rhythm. */
#define PROBE_COUNTS ((UINT64_C(1) << 40) - 1)

struct probe {
	struct iw_waiter base;
	struct ipcwait_window window;
	uint32_t word;
	unsigned looks, settles, withdraws;
	bool fixed;       /* not resumable; before probe_again() */
	bool full;        /* no room to publish a sleeper */
	bool there;       /* looking finds it */
	int64_t there_at; /* ... from this time on, if not 0 */
};

extern struct probe probe;

/* A new machine and a new object. */
void probe_world(enum ipcwait_preset preset, unsigned cpus);

/* The next wait on the object. */
void probe_again(int64_t deadline_ns);

/* What others do: it is there; a waker on the other CPU stamps the object; both. */
void probe_appear(void);
void probe_stamp(void);
void probe_stamp_and_appear(void);

/* What the statistics say. */
struct ipcwait_stats probe_stats(void);
struct ipcwait_kind_stats probe_counters(void);

/* The window has learned from one wait, in the bin of @ns. */
void probe_learned_once(int64_t ns);

#endif
