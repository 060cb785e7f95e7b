/* SPDX-License-Identifier: MIT */
/*
 * The kernel's futex, one call each. Decides nothing: no retries, no spinning, no policy.
 * Results are 0 or a count, or the kernel's negative errno. errno is preserved, so that
 * posting from a signal handler is invisible to the code it interrupted.
 *
 * Every error of futex(2) that these calls can see, and what lib/engine does with it:
 *
 *   wait  0           a wake, or none at all: the kernel may return early and a stray
 *                     wake may come from memory that was a futex before. Look again.
 *         -EAGAIN     the word did not hold @expected. Look again.
 *         -EINTR      a handler without SA_RESTART ran; with a deadline, any handler.
 *                     Returned to the caller if the waiter is interruptible.
 *         -ETIMEDOUT  the deadline has passed. Returned.
 *         -EINVAL     misaligned word or a negative time. The time is checked before the
 *                     call, the word by the primitive: returned, never retried, since a
 *                     retry would be a busy loop.
 *         -EFAULT     word not mapped. Returned, never retried.
 *         -ENOSYS     not Linux, or a filter forbids futex: returned, never retried.
 *   wake  >= 0        number of threads woken.
 *         -EFAULT     the object was freed and unmapped after the waiter took what it
 *                     waited for. Expected of a shared object; ignored by primitives.
 *         -EINVAL     the memory is now a PI futex of somebody else. Ignored likewise.
 *
 * Neither call promises any happens-before order; the word's atomics do.
 */
#ifndef IW_OS_FUTEX_H
#define IW_OS_FUTEX_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/*
 * The latest time that the kernel is told, in ns. It subtracts the offset of a time namespace, and
 * what that makes too large comes out negative: a sleep that ends at once.
 */
#define IW_DEADLINE_MOST_NS (INT64_MAX / 2)

/* @ns, not negative, as the kernel takes it. */
struct timespec iw_futex_deadline(int64_t ns);

/*
 * Sleep while *@word == @expected. @deadline_ns is absolute, CLOCK_MONOTONIC, not
 * negative; INT64_MAX never expires. @private_: the word is used by this process only.
 */
int iw_futex_wait(const uint32_t *word, uint32_t expected, int64_t deadline_ns,
		  bool private_);

/* Wake up to @count threads that sleep on the address @word; the memory may be gone. */
int iw_futex_wake(const uint32_t *word, uint32_t count, bool private_);

/*
 * The same for classes of sleepers: a wake reaches those that have a bit in common with it.
 * The two functions above have all bits. @bits is not 0.
 */
int iw_futex_wait_bits(const uint32_t *word, uint32_t expected, int64_t deadline_ns,
		       bool private_, uint32_t bits);
int iw_futex_wake_bits(const uint32_t *word, uint32_t count, bool private_, uint32_t bits);

/* @at of the program's clock by the kernel's. */
struct timespec iw_futex_kernels_time(bool realtime, const struct timespec *at);

/*
 * The same until @at, by the kernel's CLOCK_REALTIME, which may be set, or CLOCK_MONOTONIC; NULL:
 * for ever.
 */
int iw_futex_wait_clock(const uint32_t *word, uint32_t expected, bool realtime,
			const struct timespec *at, bool private_, uint32_t bits);

/*
 * The kernel can read the word at @word, which is aligned. Nothing happens to who sleeps on it.
 * False also where the kernel may not be asked: os/calls.h.
 */
bool iw_futex_readable(const uint32_t *word);

#endif
