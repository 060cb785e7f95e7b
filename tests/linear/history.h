/* SPDX-License-Identifier: MIT */
/*
 * What threads did to an object, and when: the input of the checkers in this folder.
 *
 *	struct history_op *op = history_call(h, me, SEM_TRYWAIT, 0);
 *	history_return(h, op, ipcwait_sem_trywait(&s));
 *
 * An object is linearizable (Herlihy, Wing, 1990) if every operation seems to happen at one
 * instant between its call and its return: there is an order of all operations in which each
 * comes after those that had returned when it was called, and in which each has the result
 * that it would have with nothing else going on. A history is one run; a checker says
 * whether such an order exists for it. A thousand runs that pass prove nothing about the
 * next; one that does not pass is a bug, of the object or of what its headers promise.
 *
 * An operation that was called and never returned, because its thread was killed or is stuck,
 * is pending. It may have happened or not, at any time after its call.
 *
 * The end is an operation too: when all threads are done, receive until the queue is empty,
 * or read the semaphore's value, and record that. A lost value or token then shows.
 *
 * Stamps are numbers of one counter, taken just before and just after the operation. That
 * makes the interval no shorter than the operation: an operation whose return has a smaller
 * number than another's call was over before. Both stamps are acq_rel read-modify-writes, so
 * it also happens before it in the language's sense, and the object has to honour the order.
 * A clock would order operations that no thread can tell apart. The price: the counter is a
 * meeting point that makes races rarer, and it orders what the object may have forgotten to
 * order, so look for missing orders elsewhere. A checker that models weak memory has to model
 * the counter too, or it takes old values that the language allows for flaws.
 *
 * Cost: two read-modify-writes of a shared line for each operation, and 40 bytes. No lock, no
 * allocation, nothing per thread: it may be called wherever the object may. Coroutines that
 * run in one thread share one history.
 */
#ifndef TESTS_LINEAR_HISTORY_H
#define TESTS_LINEAR_HISTORY_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The return of a pending operation. */
#define HISTORY_PENDING UINT64_MAX

/* Instead of an index: there is no such operation. */
#define HISTORY_NONE SIZE_MAX

struct history_op {
	uint64_t call; /* stamps: below 2^63 */
	uint64_t ret;  /* above call, or HISTORY_PENDING */
	int64_t arg;
	int64_t result;  /* of no meaning while pending */
	uint32_t thread; /* its operations do not overlap */
	uint32_t code;   /* specs.h */
};

/* Operations in the order of their calls. Used by one thread at a time. */
struct history {
	struct history_op *ops;
	size_t count;
	size_t capacity;
	uint64_t *clock;
	uint64_t own_clock;
};

/* Begin an empty history in memory for @capacity operations. Cheap: it does not touch @ops. */
void history_begin(struct history *h, struct history_op *ops, size_t capacity);

/*
 * Cut the memory of an empty history into @n equal ones with the same clock, one for each
 * thread; and move what they hold together again, when the threads have been joined. Then
 * the order is that of the threads.
 */
void history_split(struct history *all, struct history *part, unsigned n);
void history_join(struct history *all, const struct history *part, unsigned n);

/* Called right before the operation. A full history ends the test. */
struct history_op *history_call(struct history *h, unsigned thread, unsigned code,
				int64_t arg);

/* Called right after it. */
void history_return(struct history *h, struct history_op *op, int64_t result);

/* One line about an operation. @names are those of the codes, and NULL at the end. */
void history_print(FILE *out, const struct history_op *op, const char *const *names);

/* Zeroed memory for @n things, for the checkers; ends the test if there is none. */
void *history_array(size_t n, size_t bytes);

#endif
