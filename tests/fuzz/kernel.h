/* SPDX-License-Identifier: MIT */
/*
 * The kernel of common/fake_os.h, doing what an input says: how long a sleep lasts and how it
 * ends, what other threads do meanwhile, when the thread is stopped in the middle of its work.
 * When the input is used up, sleeps end at their deadline and nothing else happens. So an
 * input does the same whenever it is run, but for the place at which the batches of samples
 * in lib/policy/cost.c begin, which the inputs before have moved.
 */
#ifndef TESTS_FUZZ_KERNEL_H
#define TESTS_FUZZ_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include <ipcwait/policy.h>

#include "fuzz/input.h"

/* What the library believes at the beginning, in ns; see probe.h. */
#define KERNEL_LATENCY_NS 20000
#define KERNEL_WAKER_NS   10000

/* One call into the library. Others may make calls while it lasts. */
struct kernel_call {
	struct kernel_call *outer;
	int64_t deadline_ns;
	int64_t began_ns;
	int64_t away_ns; /* that passed in sleeps, or while the thread was stopped */
	unsigned sleeps;
	int answer;         /* to the last of them */
	bool long_spins;    /* to part from its waker, or because its preset is TICKS */
	bool interruptible; /* a signal ends it */
};

struct kernel {
	struct input *in;
	struct kernel_call *call;  /* the innermost */
	void (*others)(void);      /* what others do during a sleep; NULL: nothing */
	void (*others_stop)(void); /* what they do while the thread is stopped */
	uint32_t readings_to_stop;
	bool long_spins; /* any call may */
	/* A call may find others than it had when it was made, and ask again after any answer. */
	bool flags_change;
	/* Others may write there that a thread is forgetting a parent's waiters; NULL: nobody
	 * does. */
	const uint32_t *note;
	unsigned sleeps;
	unsigned idle; /* sleeps since the input was used up */
};

extern struct kernel kernel;

/* A new thread, long after everything that the library may remember. */
void kernel_begin(struct input *in);

/* A wait on an object with this window may spin for longer than the ceiling. */
bool kernel_long_spins(const struct ipcwait_window *w);

/* A call begins that may wait until @deadline_ns. */
void kernel_enter(struct kernel_call *call, int64_t deadline_ns);

/*
 * It has returned @result: an error is what the kernel said, it has not expired too early,
 * and it was awake for no longer than it may spin.
 */
void kernel_leave(struct kernel_call *call, int result);

#endif
