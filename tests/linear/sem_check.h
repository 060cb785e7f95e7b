/* SPDX-License-Identifier: MIT */
/*
 * Does a long history of a semaphore count right? For millions of operations.
 *
 *	struct sem_result r = sem_check(h.ops, h.count, 0, IPCWAIT_SEM_VALUE_MAX);
 *
 *	if (r.flaw)
 *		sem_print(stderr, &r, h.ops);
 *
 * Tokens are alike, so it is enough to count. At any instant the value was at most
 *
 *	the initial one + all posts called so far - all waits that have returned with a token
 *
 * and at least
 *
 *	the initial one + all posts that have returned - all waits called so far that got one
 *
 * The upper bound must never fall below 0, or a wait had a token that did not exist. The lower
 * bound must never rise above the maximum. And whatever told about the value needs an instant
 * between its call and its return at which the bounds allow it: 0 for -EAGAIN and -ETIMEDOUT,
 * no room for -EOVERFLOW, the number itself for sem_value(). The tests of the last kind at
 * the end of a history, when all threads are done, are exact: record sem_value() there, and
 * no token can be lost or made.
 *
 * Exact, that is, the same answer as from wing_gong.h, for posts and waits that succeed, if all
 * tokens together do not exceed the maximum: posts at their call and waits at their return
 * are then an order. With the rest only necessary: the bounds allow each result by itself, but
 * perhaps not all at once. All that wing_gong.h accepts is accepted.
 *
 * Cost: O(n log n) time, about 100 bytes for each operation while it runs.
 */
#ifndef TESTS_LINEAR_SEM_CHECK_H
#define TESTS_LINEAR_SEM_CHECK_H

#include "linear/specs.h"

enum sem_flaw {
	SEM_SOUND,
	SEM_NO_SUCH_RESULT, /* no operation with this code has this argument and result */
	SEM_TOKEN_FROM_NOWHERE,
	SEM_ABOVE_MAX,
	SEM_NOT_THAT_VALUE, /* the value was never what the result says */
};

struct sem_result {
	enum sem_flaw flaw;
	size_t op; /* index of the operation that shows it */
};

/* @ops in any order, as recorded by history.h; enum sem_code. */
struct sem_result sem_check(const struct history_op *ops, size_t n, int64_t value,
			    int64_t max);

void sem_print(FILE *out, const struct sem_result *r, const struct history_op *ops);

#endif
