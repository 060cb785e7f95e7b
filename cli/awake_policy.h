/* SPDX-License-Identifier: MIT */
/*
 * When idle CPUs should poll: decisions only, without clock and system calls. The loop hands over
 * what the CPUs did since the last sample, and does what the mode says until the next.
 *
 * docs/awake.md has the argument and what measured the constants.
 */
#ifndef CLI_AWAKE_POLICY_H
#define CLI_AWAKE_POLICY_H

#include <stdbool.h>
#include <stdint.h>

/* A bit each in a mask. Machines with more are watched by their first. */
#define AWAKE_CPUS_MOST 64

#define AWAKE_US 1000u
#define AWAKE_MS 1000000u

/* Between samples: while something is near, and the longest. */
#define AWAKE_TICK_NS (10 * AWAKE_MS)
#define AWAKE_SLOW_NS (100 * AWAKE_MS)

/* Counts that are not there. */
#define AWAKE_UNKNOWN UINT64_MAX

enum awake_mode {
	AWAKE_WATCH,
	AWAKE_QOS,  /* the kernel is asked to poll on all CPUs */
	AWAKE_SPIN, /* spinners of the lowest class on the CPUs of the mask */
};

/* What the last step saw. */
enum awake_why {
	AWAKE_QUIET,   /* few idles */
	AWAKE_BUSY,    /* no CPU is idle for any time */
	AWAKE_LONG,    /* too long to be polled through */
	AWAKE_COSTLY,  /* too many CPUs would poll */
	AWAKE_DRY,     /* the budget is used up */
	AWAKE_BARRED,  /* the last holds were in vain */
	AWAKE_CONFIRM, /* they are short; once more */
	AWAKE_SHORT,   /* polling pays */
	AWAKE_WHYS
};

/* One CPU, in the time of a sample. */
struct awake_cpu {
	uint64_t idles;
	uint64_t idle_ns; /* of these */
};

struct awake_sample {
	uint64_t length_ns;
	uint64_t polled_ns; /* by all CPUs, because of the mode */
	/*
	 * Context switches of the whole system, or AWAKE_UNKNOWN. A poll ends at a time limit
	 * and begins again, 10 to 250 us by kernel, which is counted as another idle. An idle
	 * that ends has two switches.
	 */
	uint64_t switches;
	unsigned cpus;
	struct awake_cpu cpu[AWAKE_CPUS_MOST];
};

/* What may be done. */
struct awake_rules {
	uint64_t wake_ns;        /* what a wake of a halted CPU costs */
	unsigned budget_percent; /* of one CPU, for polling */
	bool qos;
	uint64_t spinner_cpus; /* 0: no spinners */
};

struct awake_totals {
	uint64_t watched_ns, held_ns, useful_ns; /* held, and it paid */
	uint64_t polled_ns, idles;               /* while held */
	uint64_t holds, in_vain;
};

struct awake_policy {
	struct awake_rules rules;
	enum awake_mode mode;
	uint64_t mask; /* of AWAKE_SPIN */
	enum awake_why why;
	struct awake_totals totals;

	/* All that follows is private. */
	uint64_t now_ns, tick_ns;
	int64_t tokens_ns;
	unsigned good, failures;
	uint64_t ask_at;
	uint64_t began_at, hold_useful_ns;
};

void awake_policy_init(struct awake_policy *p, const struct awake_rules *rules);

/* Set mode and mask. Return: how long until the next sample, in ns. */
uint64_t awake_policy_step(struct awake_policy *p, const struct awake_sample *s);

/* The process is about to stop, or to end: nothing is held. */
void awake_policy_rest(struct awake_policy *p);

/* The longest mean idle that is polled through, in ns. */
uint64_t awake_policy_limit_ns(const struct awake_rules *rules);

#endif
