/* SPDX-License-Identifier: MIT */
/*
 * Yield and look, or sleep? For a thread that shares its CPU with whoever it waits for, both
 * hand the CPU over, and neither costs an interrupt. Which is cheaper depends on the kernel, on
 * what is waited for, and on who else is to run: a yield saves the waker its wake, and costs the
 * waiter two system calls. From one wait nothing can be told, as what one side saves the other
 * may pay. So the thread goes one way for some waits, then the other, and keeps to the way in
 * which the same number of waits took less time in all; now and then it tries the other again.
 *
 * Pure arithmetic on the struct, any content of which is legal.
 */
#ifndef IW_POLICY_TRIAL_H
#define IW_POLICY_TRIAL_H

#include "os/thread.h"

/* The thread waits for what has the window @on, at @now in ticks. True: it had better sleep. */
bool iw_trial_sleeps(struct iw_trial *t, const void *on, uint64_t now);

/* It has its CPU for itself: what began before is no trial. */
static inline void iw_trial_stop(struct iw_trial *t)
{
	t->waits = 0;
}

#endif
