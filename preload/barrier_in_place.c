/* SPDX-License-Identifier: MIT */
/*
 * Barriers that one process uses: the library's own, in place. To spin in front of the original
 * would be in vain, since others wait for the arrival that only the original counts. Those that
 * processes share are the original's, and so is any that this module has not made. Which it is
 * shows where the original has the count, and the library's own the number of parties and flags.
 * docs/design/preload.md
 */
#include <errno.h>
#include <pthread.h>

#include <ipcwait/barrier.h>

#include "after_unlock.h"
#include "module.h"
#include "original.h"
#include "os/seam.h"

_Static_assert(sizeof(struct ipcwait_barrier) <= sizeof(pthread_barrier_t), "in place");

/* An original for so many threads, up to twice as many, would look like one of ours. */
#define COUNT_AMBIGUOUS UINT32_C(0x10000)

/* How often a destroy looks whether those who wait have met and gone, in ns. */
#define LEFT_NS 1000000

static bool is_own(const struct ipcwait_barrier *b)
{
	return b->flags == IPCWAIT_PRIVATE;
}

IW_INTERPOSED int pthread_barrier_init(pthread_barrier_t *restrict b,
				       const pthread_barrierattr_t *restrict attributes,
				       unsigned count)
{
	int shared = PTHREAD_PROCESS_PRIVATE;

	if (attributes)
		(void)pthread_barrierattr_getpshared(attributes, &shared);
	if (original()->race_detector)
		return original()->barrier_init(b, attributes, count);
	if (shared == PTHREAD_PROCESS_PRIVATE &&
	    ipcwait_barrier_init((struct ipcwait_barrier *)b, count, IPCWAIT_PRIVATE) == 0)
		return 0;
	if (count / COUNT_AMBIGUOUS == 1)
		return EAGAIN;
	return original()->barrier_init(b, attributes, count);
}

IW_INTERPOSED int pthread_barrier_wait(pthread_barrier_t *b)
{
	struct ipcwait_barrier *own = (struct ipcwait_barrier *)b;

	iw_after_unlock_hurry();
	if (!is_own(own))
		return original()->barrier_wait(b);
	return ipcwait_barrier_wait(own) == IPCWAIT_BARRIER_SERIAL
		       ? PTHREAD_BARRIER_SERIAL_THREAD
		       : 0;
}

/* No cancellation point. */
static void rest_a_little(void)
{
	uint32_t word = 0;

	(void)iw_futex_wait(&word, word, iw_clock_ns() + LEFT_NS, true);
}

/* Whoever destroys a barrier at which somebody waits waits too, as in the original. */
IW_INTERPOSED int pthread_barrier_destroy(pthread_barrier_t *b)
{
	struct ipcwait_barrier *own = (struct ipcwait_barrier *)b;
	int r;

	if (!is_own(own))
		return original()->barrier_destroy(b);
	while ((r = ipcwait_barrier_fini(own)) == -EBUSY)
		rest_a_little();
	/* Not marked as finished, which the original would not know. */
	if (r == 0)
		own->flags = IPCWAIT_PRIVATE;
	return -r;
}
