/* SPDX-License-Identifier: MIT */
/*
 * How long a waiter spins before it sleeps.
 *
 * A wait of unknown length X costs X of CPU time if the waiter spins through it, and B
 * if it sleeps, where B is what one block/wake pair costs on this machine, the waker's
 * share included. The engine measures B, keeps a small histogram of wait lengths with
 * every object, and spins for the time that makes the expected cost least: nothing for
 * an object whose waits are long, a little more than the usual wait where they are
 * short. No single spin costs more than 2B over the best choice.
 *
 * A preset says what a microsecond of latency is worth in CPU time:
 *
 *   ADAPTIVE  as much as a microsecond of one CPU                  (the default)
 *   LATENCY   four times as much: spins longer
 *   POWER     a quarter: spins less
 *   SPIN      always spins for 2B before it sleeps, whatever it has learned
 *   BLOCK     never spins
 *
 * The first that is set wins: the object's preset, IPCWAIT_POLICY in the environment
 * (adaptive, latency, power, spin, block), ipcwait_policy_set_default(), ADAPTIVE.
 * IPCWAIT_MAX_SPIN_US in the environment (1 .. 100000) replaces the ceiling of 200 us
 * that holds for every spin. Nobody spins where fewer than two CPUs are usable.
 *
 * Source of the rule: the ski-rental bound, Karlin, Li, Manasse, Owicki, "Empirical
 * Studies of Competitive Spinning for a Shared-Memory Multiprocessor", SOSP 1991; the
 * clamped learned threshold, docs/design/window.md.
 */
#ifndef IPCWAIT_POLICY_H
#define IPCWAIT_POLICY_H

#include <ipcwait/base.h>
#include <ipcwait/impl/word.h>

/* IPCWAIT_INHERIT, the zero, takes the process's default. */
enum ipcwait_preset {
	IPCWAIT_INHERIT,
	IPCWAIT_ADAPTIVE,
	IPCWAIT_LATENCY,
	IPCWAIT_POWER,
	IPCWAIT_SPIN,
	IPCWAIT_BLOCK,
};

/* Zero-initialised means defaults. */
struct ipcwait_policy {
	enum ipcwait_preset preset; /* IPCWAIT_INHERIT: ADAPTIVE */
	uint32_t max_spin_us;       /* ceiling of one spin; 0: 200 us; at most 100000 */
	uint32_t reserved[4];       /* zero */
};

/*
 * What an object has learned about its waits. Part of every primitive; an object of its
 * own only for callers of ipcwait_futex_wait(). All zero means nothing learned. Sixteen
 * bytes, safe between processes, and never trusted: any content gives a legal window.
 */
struct ipcwait_window {
	struct ipcwait_word64 bins;  /* eight 5-bit counts of wait lengths, by share of B */
	struct ipcwait_word32 stamp; /* when the last waker began to wake a sleeper */
	struct ipcwait_word32 state; /* preset and number of waits learned from */
};

IPCWAIT_BEGIN_DECLS

/**
 * ipcwait_policy_set_default() - the policy of objects that have none of their own
 * @policy: preset and ceiling, copied
 *
 * The environment wins over the program: where IPCWAIT_POLICY or IPCWAIT_MAX_SPIN_US is
 * set to a valid value, that part of @policy is ignored.
 *
 * Return: 0.
 *   -EINVAL  @policy is NULL, has an unknown preset, a ceiling above 100000 us, or a
 *            reserved member that is not zero
 *
 * Ordering:     none; a wait that has begun keeps the policy it began with
 * Threads:      any, at any time
 * Processes:    the calling process only
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @policy may go when the call returns
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_policy_set_default(
	const struct ipcwait_policy *policy);

/**
 * ipcwait_window_set_preset() - the policy of one object
 * @w:      the window of the object (`&sem.window`)
 * @preset: a preset, or IPCWAIT_INHERIT to follow the process's default again
 *
 * What the object has learned is kept.
 *
 * Return: 0.
 *   -EINVAL  @w is NULL or misaligned, or @preset is unknown
 *
 * Ordering:     none; a wait that has begun keeps the policy it began with
 * Threads:      any, at any time
 * Processes:    holds for all processes that map the object
 * Signals:      async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     part of the object's memory
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_window_set_preset(struct ipcwait_window *w,
							     enum ipcwait_preset preset);

IPCWAIT_END_DECLS

#endif
