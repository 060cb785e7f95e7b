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

struct probe {
	struct iw_waiter base;
	struct ipcwait_window window, before; /* as it is, and as it was before the wait */
	uint32_t word;
	unsigned looks, settles, withdraws;
	bool fixed;          /* not resumable; before probe_again() */
	bool full;           /* no room to publish a sleeper */
	bool there;          /* looking finds it */
	int64_t there_at;    /* ... from this time on, if not 0 */
	enum iw_seen away;   /* what it finds else */
	struct iw_rest rest; /* how it rests, in this wait */
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

/* What the statistics say, and what they count that they did not @before. */
struct ipcwait_stats probe_stats(void);
struct ipcwait_kind_stats probe_counters(void);
struct ipcwait_kind_stats probe_counted(const struct ipcwait_stats *before);

/* The one reason for which a wait has slept since @before; NONE if none has. */
enum ipcwait_reason probe_why(const struct ipcwait_stats *before);

/*
 * One wait. If it sleeps, a thread on the other CPU wakes it after 50 us, which takes 20 us.
 * Returns why it slept; @counted is what the statistics have counted.
 */
enum ipcwait_reason probe_wait(struct ipcwait_kind_stats *counted);

/* So many waits on the object that it remembers: 20 of a kind, and it knows them. */
void probe_teach(unsigned n, unsigned bin);

/* The last wait taught the window this length, or none. */
void probe_learned_once(int64_t ns);
void probe_learned_nothing(void);

/* Nobody has waited on the object, nor on any other; and the next wait. */
void probe_forget(void);

#endif
