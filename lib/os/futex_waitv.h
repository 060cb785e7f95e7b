/* SPDX-License-Identifier: MIT */
/*
 * futex_waitv(2), Linux 5.16: one sleep on several futex words. As lib/os/futex.h it decides
 * nothing, and preserves errno.
 *
 *   >= 0        index of a word whose wake reached the thread. It may have been reached by
 *               wakes of others too, which says nobody: the kernel reports the highest.
 *   -EAGAIN     a word did not hold its value, and no wake came for those before it.
 *   -EINTR      a handler without SA_RESTART ran. Unlike FUTEX_WAIT, a sleep with a deadline
 *               goes on after a handler with it.
 *   -ETIMEDOUT  the deadline has passed.
 *   -EINVAL     misaligned word, no words or more than IW_WAITV_MAX, a negative time.
 *   -EFAULT     a word is not mapped.
 *   -ENOMEM     the kernel has no memory for the list.
 *   -ENOSYS     an older kernel; or, like -EPERM, a filter that does not know the call.
 */
#ifndef IW_OS_FUTEX_WAITV_H
#define IW_OS_FUTEX_WAITV_H

#include <stdbool.h>
#include <stdint.h>

/* The kernel's limit. */
#define IW_WAITV_MAX 128

/* A word to sleep on while it holds @expected: the kernel's struct futex_waitv. */
struct iw_waitv {
	uint64_t expected;
	uint64_t address;
	uint32_t flags;
	uint32_t reserved;
};

/* Its flags: the size of the word, and FUTEX_PRIVATE_FLAG. */
#define IW_WAITV_32      2
#define IW_WAITV_PRIVATE 128

static inline struct iw_waitv iw_waitv(const uint32_t *word, uint32_t expected,
				       bool private_)
{
	return (struct iw_waitv){
		.expected = expected,
		.address = (uintptr_t)word,
		.flags = IW_WAITV_32 | (private_ ? IW_WAITV_PRIVATE : 0),
	};
}

/* @deadline_ns is absolute, CLOCK_MONOTONIC, not negative; INT64_MAX never expires. */
int iw_futex_waitv(const struct iw_waitv *words, unsigned n, int64_t deadline_ns);

#endif
