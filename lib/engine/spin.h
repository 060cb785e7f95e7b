/* SPDX-License-Identifier: MIT */
/* Looking again and again, for as long as that is worth it. */
#ifndef IW_ENGINE_SPIN_H
#define IW_ENGINE_SPIN_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/wait.h"
#include "policy/reason.h"

/*
 * The looks that are tried before anything is worked out. True if it was taken; else *@why is
 * IW_NO_REASON, or why the waiter is not to look any more. Where a look is a system call it is one;
 * and none if the thread's CPU is shared, as whoever is waited for is to run there first.
 */
bool iw_first_looks(struct iw_waiter *me, enum iw_reason *why);

/* What came of a spin. */
struct iw_spun {
	uint64_t ns;           /* how long it took; 0 if the waiter was not admitted */
	uint64_t given_ns;     /* that others had the CPU meanwhile, because it yielded */
	uint64_t lost_ns;      /* at the end of it, that the thread was off its CPU */
	uint64_t window_ns;    /* time it might have spun */
	enum iw_reason reason; /* why it ended in vain */
	bool dirty;            /* the thread was off its CPU: the length says nothing */
};

/*
 * Spin for @limit_ns, or for the window of the object if that is 0; at most until the
 * deadline. True if it was taken.
 */
bool iw_spin(struct iw_waiter *me, uint64_t limit_ns, struct iw_spun *spun);

#endif
