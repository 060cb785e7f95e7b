/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>

#include "os/calls.h"
#include "os/clock.h"
#include "os/futex.h"
#include "os/syscall.h"

/* The result of the system call, a negative errno included. */
static int futex(const uint32_t *word, int op, uint32_t value,
		 const struct timespec *deadline, uint32_t bits)
{
	return (int)iw_syscall(SYS_futex, (long)word, op, value, (long)deadline, 0, bits);
}

struct timespec iw_futex_deadline(int64_t ns)
{
	if (ns > IW_DEADLINE_MOST_NS)
		ns = IW_DEADLINE_MOST_NS;
	return (struct timespec){ .tv_sec = (time_t)(ns / 1000000000),
				  .tv_nsec = (long)(ns % 1000000000) };
}

/* FUTEX_WAIT_BITSET, since the deadline of FUTEX_WAIT is relative. */
int iw_futex_wait_bits(const uint32_t *word, uint32_t expected, int64_t deadline_ns,
		       bool private_, uint32_t bits)
{
	int op = FUTEX_WAIT_BITSET | (private_ ? FUTEX_PRIVATE_FLAG : 0);
	struct timespec deadline;

	if (deadline_ns == INT64_MAX)
		return futex(word, op, expected, NULL, bits);
	deadline = iw_futex_deadline(iw_clock_of_kernel(CLOCK_MONOTONIC, deadline_ns));
	return futex(word, op, expected, &deadline, bits);
}

struct timespec iw_futex_kernels_time(bool realtime, const struct timespec *at)
{
	return iw_futex_deadline(
		iw_clock_of_kernel(realtime ? CLOCK_REALTIME : CLOCK_MONOTONIC,
				   (int64_t)at->tv_sec * 1000000000 + at->tv_nsec));
}

int iw_futex_wait_clock(const uint32_t *word, uint32_t expected, bool realtime,
			const struct timespec *at, bool private_, uint32_t bits)
{
	int op = FUTEX_WAIT_BITSET | (private_ ? FUTEX_PRIVATE_FLAG : 0) |
		 (realtime ? FUTEX_CLOCK_REALTIME : 0);

	return futex(word, op, expected, at, bits);
}

/* A requeue of nobody to where they are: it compares the word, and says so if it cannot. */
bool iw_futex_readable(const uint32_t *word)
{
	long r;

	if (!iw_call_allowed(IW_CALL_AGAIN))
		return false;
	r = iw_syscall(SYS_futex, (long)word, FUTEX_CMP_REQUEUE | FUTEX_PRIVATE_FLAG, 0, 0,
		       (long)word, 0);
	return r >= 0 || r == -EAGAIN;
}

int iw_futex_wait(const uint32_t *word, uint32_t expected, int64_t deadline_ns,
		  bool private_)
{
	int op = FUTEX_WAIT | (private_ ? FUTEX_PRIVATE_FLAG : 0);

	if (deadline_ns != INT64_MAX)
		return iw_futex_wait_bits(word, expected, deadline_ns, private_,
					  FUTEX_BITSET_MATCH_ANY);
	return futex(word, op, expected, NULL, 0);
}

int iw_futex_wake(const uint32_t *word, uint32_t count, bool private_)
{
	int op = FUTEX_WAKE | (private_ ? FUTEX_PRIVATE_FLAG : 0);

	return futex(word, op, count > INT_MAX ? INT_MAX : count, NULL, 0);
}

int iw_futex_wake_bits(const uint32_t *word, uint32_t count, bool private_, uint32_t bits)
{
	int op = FUTEX_WAKE_BITSET | (private_ ? FUTEX_PRIVATE_FLAG : 0);

	return futex(word, op, count > INT_MAX ? INT_MAX : count, NULL, bits);
}
