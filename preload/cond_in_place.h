/* SPDX-License-Identifier: MIT */
/*
 * Condition variables that one process uses: the library's own, in place. docs/design/preload.md
 *
 * A pthread_cond_t is 48 bytes, all zero if it was not made by pthread_cond_init(). So is a struct
 * ipcwait_cond. Nobody but the functions of this module may look at one: all that libc has for them
 * are here. Those that processes share are the original's, and begin with its pthread_cond_init(),
 * which marks them.
 *
 * cond.unused   bit 1: its deadlines are by CLOCK_MONOTONIC. Where glibc 2.25 to 2.40 has the same
 *               flag, and in bit 0 the mark of a shared one; later ones have it in window.state,
 *               where bit 0 belongs to the preset, which nobody sets here.
 * cond.flags    IPCWAIT_PRIVATE from the first use on
 */
#ifndef IW_PRELOAD_COND_IN_PLACE_H
#define IW_PRELOAD_COND_IN_PLACE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include <ipcwait/cond.h>

#include "front.h"
#include "original.h"

/* The original's mark of a shared one. In the word of a private one the bit is never set. */
#define IW_COND_SHARED 1u

/* A new private one. */
void iw_cond_begin(pthread_cond_t *c, clockid_t clock);

/* True if it is the original's: processes share it, or it is where no object of ours can be. */
static inline bool iw_cond_is_original(const pthread_cond_t *c)
{
	uint32_t mark = original()->cond_mark;

	return !mark || (uintptr_t)c % 8 || ((const uint32_t *)c)[mark] & IW_COND_SHARED;
}

/* The clock of its deadlines. */
clockid_t iw_cond_clock(const pthread_cond_t *c);

/* It as the library's own, which is private. */
struct ipcwait_cond *iw_cond_own(pthread_cond_t *c);

/* Waits until the limit. Returns 0 or an errno. @site as in struct iw_waiter. */
int iw_cond_wait_here(pthread_cond_t *c, pthread_mutex_t *m,
		      const struct front_limit *limit, uintptr_t site);

#endif
