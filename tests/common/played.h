/* SPDX-License-Identifier: MIT */
/*
 * One wait of one thread, played: the real lib/engine and lib/policy over fake_os.h and a fake
 * counter, in a world that is drawn by chance, and what was seen of it from outside. What the
 * engine told its book-keeping meanwhile is in taps.h.
 */
#ifndef TESTS_COMMON_PLAYED_H
#define TESTS_COMMON_PLAYED_H

#include <stdbool.h>
#include <stdint.h>

#include "common/taps.h"
#include "engine/wait.h"
#include "os/thread.h"

/* Exact in both directions, and no test takes ticks for nanoseconds. */
#define PLAYED_TICKS_PER_NS 4

#define PLAYED_SLEEPS 16

/* What happens to a sleep before what it waits for comes. */
enum played_event { NOTHING, WOKEN_IN_VAIN, STAMPED_IN_VAIN, SIGNALLED, REFUSED, BROKEN };

/* What the thread meets. Times are those of the clock. */
struct script {
	int64_t there_at;  /* from then on a look finds it */
	bool stamps;       /* whoever brings it stamps the object, ... */
	unsigned cpu;      /* ... there */
	int64_t late_ns;   /* who is woken, or whose timer ends, runs so much later */
	int64_t soon_ns;   /* it comes so long after a wake in vain, if not 0 */
	int64_t slack_ns;  /* a wake so long after a timer's time comes before the timer */
	int64_t settle_ns; /* how long it takes to publish a sleeper */
	enum iw_seen away;
	unsigned away_after; /* so many looks */
	struct {
		enum played_event what;
		int64_t after_ns;
	} event[3];          /* of the first sleeps */
	unsigned lose_after; /* so many looks the CPU is lost, 0: never, ... */
	int64_t lose_ns;     /* ... for so long ... */
	bool to_the_kernel;  /* ... to it */
	int64_t until_ns;    /* the primitive's alarm after the beginning of a rest, or 0 */
	struct iw_rest rest;
	bool full; /* no room to publish a sleeper */
};

struct played_sleep {
	int64_t begin, end, deadline_ns;
	int64_t stamp_at; /* when a waker stamped the object during it, or 0 */
	int result;
	int64_t until_ns; /* the primitive's own time */
	bool published;   /* on the object's word */
	unsigned spins;   /* that were asked for before it */
};

enum played_taken { NOT_TAKEN, BY_LOOK, BY_SETTLE, BY_WITHDRAW };

struct played {
	struct iw_waiter me;
	struct ipcwait_window window[2], was; /* of two objects; before the wait */
	struct iw_thread thread;              /* before it */
	struct iw_thread after;
	struct script script;
	int64_t begin, end;
	int result;
	unsigned sleeps, looks, settles, withdraws;
	unsigned looks_first;    /* before anything else was asked */
	bool first;              /* nothing else has been asked yet */
	enum iw_seen seen_first; /* by the last of those */
	struct played_sleep sleep[PLAYED_SLEEPS];
	enum played_taken taken;
	int64_t taken_at, settled_at;
	bool nothing_to_withdraw; /* a look will do */
	bool withdrawn;           /* as the last thing */
	/* What the engine believes when it begins: */
	uint64_t latency_ns;        /* of usual wake-ups */
	uint64_t lateness_ns;       /* of most */
	uint64_t block_ns;          /* B for the preset */
	struct iw_timer_cost timer; /* and of timers */
	struct ipcwait_kind_stats counted;
	enum ipcwait_reason why;
};

extern struct played played;

/* A new machine, with time going on. Call played_begin() once before. */
void played_begin(void);
void played_world(uint64_t *seed);

/* The next wait is drawn; the test may change it before it is played. */
void played_draw(uint64_t *seed);
void played_wait(void);

/* A number below @n; one of those numbers. */
uint64_t played_any(uint64_t *seed, uint64_t n);
#define PLAYED_ONE_OF(seed, list) \
	((list)[played_any(seed, sizeof(list) / sizeof((list)[0]))])

#endif
