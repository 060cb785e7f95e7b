/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "os/futex.h"

static int raw_result(long r, int saved_errno)
{
	int result = r < 0 ? -errno : (int)r;

	errno = saved_errno;
	return result;
}

/* FUTEX_WAIT_BITSET, since the deadline of FUTEX_WAIT is relative. */
int iw_futex_wait_bits(const uint32_t *word, uint32_t expected, int64_t deadline_ns,
		       bool private_, uint32_t bits)
{
	int op = FUTEX_WAIT_BITSET | (private_ ? FUTEX_PRIVATE_FLAG : 0);
	int saved_errno = errno;
	struct timespec deadline = {
		.tv_sec = (time_t)(deadline_ns / 1000000000),
		.tv_nsec = (long)(deadline_ns % 1000000000),
	};

	return raw_result(syscall(SYS_futex, word, op, expected,
				  deadline_ns == INT64_MAX ? NULL : &deadline, NULL, bits),
			  saved_errno);
}

int iw_futex_wait(const uint32_t *word, uint32_t expected, int64_t deadline_ns,
		  bool private_)
{
	int op = FUTEX_WAIT | (private_ ? FUTEX_PRIVATE_FLAG : 0);
	int saved_errno = errno;

	if (deadline_ns != INT64_MAX)
		return iw_futex_wait_bits(word, expected, deadline_ns, private_,
					  FUTEX_BITSET_MATCH_ANY);
	return raw_result(syscall(SYS_futex, word, op, expected, NULL), saved_errno);
}

int iw_futex_wake(const uint32_t *word, uint32_t count, bool private_)
{
	int op = FUTEX_WAKE | (private_ ? FUTEX_PRIVATE_FLAG : 0);
	int saved_errno = errno;

	return raw_result(
		syscall(SYS_futex, word, op, count > INT_MAX ? INT_MAX : (int)count),
		saved_errno);
}

int iw_futex_wake_bits(const uint32_t *word, uint32_t count, bool private_, uint32_t bits)
{
	int op = FUTEX_WAKE_BITSET | (private_ ? FUTEX_PRIVATE_FLAG : 0);
	int saved_errno = errno;

	return raw_result(syscall(SYS_futex, word, op,
				  count > INT_MAX ? INT_MAX : (int)count, NULL, NULL, bits),
			  saved_errno);
}
