/* SPDX-License-Identifier: MIT */
/*
 * A rule decides how long to spin before the next sleep, and learns from what came of it.
 *
 * A rule sees what its published form sees, no more. Most know only how long they spun and
 * whether that was enough; those that time the sleep too say so with sees_sleep.
 *
 * Rules that count pauses or probes become times with the assumptions stated in their
 * files: a pause is 26 ns, as on the project's guest.
 */
#ifndef TOOLS_RULES_RULE_H
#define TOOLS_RULES_RULE_H

#include "random.h"

#include <stdbool.h>
#include <stdint.h>

#define PAUSE_NS 26

/*
 * A sleep that a timer ends, on the project's guest (`ipcwait calibrate`): the thread runs
 * this much after the deadline, most of it the timer slack of an ordinary thread, and has
 * used this much CPU time for it. One in 50 is late by up to LATE_RARELY_NS instead.
 */
#define TIMER_LATE_LEAST_NS  85000
#define TIMER_LATE_MOST_NS   98000
#define TIMER_LATE_RARELY_NS 300000
#define TIMER_CPU_NS         3200

/* Room for a table of call sites. */
#define RULE_STATE_BYTES 8192

/* Longer than any state; each rule casts it to its own struct. */
union rule_state {
	uint64_t align;
	unsigned char bytes[RULE_STATE_BYTES];
};

/* A sleep that a timer ends, between two spins; times from the beginning of the wait. */
struct timed {
	uint64_t wake_ns;  /* deadline of the sleep; 0: the sleep lasts until a wake */
	uint64_t until_ns; /* end of the spin after it */
	uint64_t spin_ns;  /* its longest */
};

/* A wait that is over. */
struct outcome {
	uint64_t spin_ns; /* what the rule had chosen */
	uint64_t wait_ns; /* length of the wait; spin_ns if it slept and cannot see more */
	bool spun;        /* it ended within spin_ns, without a sleep */
};

struct rule {
	const char *name;
	const char *what; /* for people, one line */
	bool sees_sleep;
	/* @state is all zero. @block_ns is B, which only some rules may know. */
	void (*init)(void *state, uint64_t block_ns);
	uint64_t (*spin_ns)(void *state, struct random *r);
	/* What follows that spin if it was in vain; NULL: a sleep until a wake. */
	struct timed (*timed)(const void *state);
	void (*learn)(void *state, const struct outcome *o);
	/*
	 * A new object, waited for at call site number @site. NULL: what is learned about one
	 * object is of no use to another, and the rule begins anew.
	 */
	void (*renew)(void *state, unsigned site);
};

/* The library's own rule, first; then the others. */
extern const struct rule *const rules[];
extern const unsigned n_rules;

/* Each in the file of its family. */
extern const struct rule rule_ipcwait, rule_latency;
extern const struct rule rule_block, rule_spin, rule_fixed_b, rule_fixed_054b, rule_random;
extern const struct rule rule_folly, rule_jiny;

/* Not among rules[]: for who compares the library's presets with each other. */
extern const struct rule rule_preset_spin;
extern const struct rule rule_glibc;
extern const struct rule rule_hotspot;
extern const struct rule rule_mutexee;
extern const struct rule rule_dotnet;
extern const struct rule rule_haltpoll, rule_kvm;

#endif
