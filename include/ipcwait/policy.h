/* SPDX-License-Identifier: MIT */
/*
 * How long a waiter spins before it sleeps.
 *
 * A wait of unknown length X costs X of CPU time if the waiter spins through it, and B
 * if it sleeps, where B is what one block/wake pair costs on this machine, the waker's
 * share included. The engine measures B, keeps a small histogram of wait lengths with
 * every object, and spins for the time that makes the expected cost least: nothing for
 * an object whose waits are long, a little more than the usual wait where they are
 * short. An object with few waits starts from those at its call site, or of its kind.
 *
 * No single spin costs more than 2B over the best choice, nor is it longer than the ceiling.
 *
 * A preset says what a microsecond of latency is worth in CPU time:
 *
 *   ADAPTIVE  as much as a microsecond of one CPU (the default)
 *   LATENCY   four times as much: spins longer; where long waits are regular it sleeps on a
 *             timer until shortly before the expected end and spins the rest; never on a bare
 *             futex word
 *   POWER     a quarter: spins less
 *
 * The other presets do not learn:
 *
 *   SPIN      always spins for 2B before it sleeps
 *   BLOCK     never spins
 *   HALTPOLL  spins by the rule of Linux guests' halt polling
 *   TICKS     spins for two to three milliseconds
 *
 * The first that is set wins: the object's preset, IPCWAIT_POLICY in the environment
 * (adaptive, latency, power, spin, block, haltpoll, ticks), ipcwait_policy_set_default(),
 * ADAPTIVE. IPCWAIT_MAX_SPIN_US in the environment (1 .. 100000) replaces the ceiling of 200 us
 * that holds for every spin but those of HALTPOLL and TICKS.
 *
 * IPCWAIT_SPIN_BUDGET in the environment (0 .. 100, default 5) is the percentage of a thread's
 * time that failed spins may take; for the process it is half of that of every CPU. With 0
 * ADAPTIVE, LATENCY and POWER do not spin, with 100 there is no bound. SPIN, HALTPOLL and TICKS
 * are exempt.
 *
 * Whatever the preset, nobody spins where fewer than two CPUs are usable, unless the waker is
 * known to run elsewhere, or where a control group allows less than 1.5 CPUs. Both are read when
 * the library is loaded. A thread of a real-time class spins like any other, and can keep ordinary
 * threads from its CPU meanwhile: BLOCK keeps it from that.
 *
 * Source of the rule: the ski-rental bound, Karlin, Li, Manasse, Owicki, "Empirical
 * Studies of Competitive Spinning for a Shared-Memory Multiprocessor", SOSP 1991; the
 * clamped learned threshold, docs/design/window.md.
 */
#ifndef IPCWAIT_POLICY_H
#define IPCWAIT_POLICY_H

#include <ipcwait/base.h>
#include <ipcwait/impl/word.h>

/*
 * IPCWAIT_INHERIT, the zero, takes the process's default.
 *
 * IPCWAIT_HALTPOLL keeps a limit with each object, as the kernel does with each CPU, 0 at first.
 * A wait that sleeps for longer than the limit, and for guest_halt_poll_ns at most, sets it to
 * guest_halt_poll_grow times itself, at least guest_halt_poll_grow_start; one that sleeps for
 * longer than guest_halt_poll_ns divides it by guest_halt_poll_shrink, and what is below the
 * start becomes 0. IPCWAIT_HALTPOLL in the environment sets the four, with commas between: ns,
 * grow, start, shrink; the default is the kernel's, 200000,2,50000,2. Source: Linux 6.9,
 * drivers/cpuidle/governors/haltpoll.c, Documentation/virt/guest-halt-polling.rst.
 *
 * IPCWAIT_TICKS spins until three ticks of 1 ms would have come, of which the first may come at
 * once. Source: the idle loop of the Jiny kernel, kernel/sched_task.cc.
 */
enum ipcwait_preset {
	IPCWAIT_INHERIT,
	IPCWAIT_ADAPTIVE,
	IPCWAIT_LATENCY,
	IPCWAIT_POWER,
	IPCWAIT_SPIN,
	IPCWAIT_BLOCK,
	IPCWAIT_HALTPOLL,
	IPCWAIT_TICKS,
};

/* Zero-initialised means defaults. */
struct ipcwait_policy {
	enum ipcwait_preset preset; /* IPCWAIT_INHERIT: ADAPTIVE */
	uint32_t max_spin_us;       /* ceiling of one spin; 0: 200 us; at most 100000 */
	uint32_t reserved[3];       /* zero */
	uint32_t place; /* 1: threads that wait may be moved to other CPUs; 0: not */
};

/*
 * What an object has learned about its waits. Part of every primitive; an object of its
 * own only for callers of ipcwait_futex_wait(). All zero means nothing learned. Sixteen
 * bytes, safe between processes, and never trusted: any content gives a legal window.
 */
struct ipcwait_window {
	struct ipcwait_word64 bins;  /* counts of wait lengths, rhythm of the long ones */
	struct ipcwait_word32 stamp; /* when the last waker began to wake a sleeper */
	struct ipcwait_word32 state; /* preset, waits so far, threshold, waker's CPU */
};

IPCWAIT_BEGIN_DECLS

/**
 * ipcwait_policy_set_default() - the policy of objects that have none of their own
 * @policy: preset, ceiling and whether threads may be moved, copied
 *
 * The environment wins over the program: where IPCWAIT_POLICY, IPCWAIT_MAX_SPIN_US or
 * IPCWAIT_PLACE is set to a valid value, that part of @policy is ignored.
 *
 * @policy->place is for programs whose threads wait for one another in pairs: one that waits
 * beside its waker goes to another CPU if its waits turn out to be shorter there. Only the
 * thread that waits is moved, by sched_setaffinity(2), and may go where it could before when
 * the wait begins. docs/design/placement.md has the rule, and when threads are left alone.
 *
 * Return: 0.
 *   -EINVAL  @policy is NULL, has an unknown preset, a ceiling above 100000 us, a @place
 *            above 1, or a reserved member that is not zero
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
