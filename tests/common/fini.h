/* SPDX-License-Identifier: MIT */
/*
 * The end of an object beside waiters that are on their way out. The library gives those a second,
 * and says -EBUSY if one of them did not run meanwhile: then the call is made again. A test that is
 * stopped again and again, on a busy machine, has such waiters.
 */
#ifndef TESTS_COMMON_FINI_H
#define TESTS_COMMON_FINI_H

#include <errno.h>

#include <ipcwait/ipcwait.h>

/* What the fini function says at last, or -EBUSY after `FINI_TRIES` seconds. */
#define FINI_TRIES 100

static inline int fini_barrier(struct ipcwait_barrier *b)
{
	int r = -EBUSY;

	for (int i = 0; i < FINI_TRIES && r == -EBUSY; i++)
		r = ipcwait_barrier_fini(b);
	return r;
}

static inline int fini_cond(struct ipcwait_cond *c)
{
	int r = -EBUSY;

	for (int i = 0; i < FINI_TRIES && r == -EBUSY; i++)
		r = ipcwait_cond_fini(c);
	return r;
}

#endif
