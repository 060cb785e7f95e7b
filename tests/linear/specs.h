/* SPDX-License-Identifier: MIT */
/*
 * What objects do when nothing else goes on: the operations that histories of them consist
 * of, and for each kind of object the sequential specification that wing_gong.h asks.
 *
 * Results are those of libipcwait: 0, a value, or a negative errno. -EINTR of an operation
 * that may sleep means that nothing happened. A result that an operation never has fits
 * nowhere, so that the history is rejected.
 *
 * To add an object: an enum of its operations, its part of union spec_state, an apply
 * function and its names. State of equal meaning should be of equal bytes: the search then
 * visits it once.
 */
#ifndef TESTS_LINEAR_SPECS_H
#define TESTS_LINEAR_SPECS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "linear/history.h"

/* Longest history that a specification can follow. */
#define SPEC_OPS 64

/* Semaphores: 0, and what is told below. */
enum sem_code {
	SEM_WAIT,
	SEM_TRYWAIT,    /* -EAGAIN: the value was 0 */
	SEM_WAIT_UNTIL, /* -ETIMEDOUT: the value was 0 */
	SEM_POST_N,     /* arg: how many; -EOVERFLOW: they did not fit */
	SEM_VALUE,      /* result: the value */
};

/* Registers: a variable that is read and written. */
enum register_code {
	REGISTER_READ,  /* result: the value */
	REGISTER_WRITE, /* arg: the value */
};

/*
 * Queues and channels; waiting, timed and try-forms alike. Values are not negative. Once
 * closed, a queue accepts nothing more, and is received from until it is empty.
 */
enum queue_code {
	QUEUE_SEND, /* arg: value; -EAGAIN, -ETIMEDOUT: full, not closed; -EPIPE: closed */
	QUEUE_RECV, /* result: value; -EAGAIN, -ETIMEDOUT: empty, not closed; -EPIPE: both */
	QUEUE_CLOSE, /* -EALREADY: closed before */
};

/* Mutexes, owned by threads. */
enum mutex_code {
	MUTEX_LOCK,       /* -EDEADLK: locked by the caller */
	MUTEX_TRYLOCK,    /* -EBUSY: locked */
	MUTEX_LOCK_UNTIL, /* -ETIMEDOUT: locked */
	MUTEX_UNLOCK,     /* -EPERM: not locked by the caller */
};

/* Unused bytes are zero. */
union spec_state {
	uint64_t word[1 + SPEC_OPS / 8]; /* for those who compare and copy */
	int64_t value;
	uint64_t owner; /* 1 + its thread, or 0 */
	struct {
		uint8_t closed;
		uint8_t count;
		uint8_t unused[6];
		uint8_t send
			[SPEC_OPS]; /* the operations that sent what is there, in order */
	} queue;
};

struct spec {
	const char *name;
	const char *const *op_names;
	unsigned words; /* of the state that are in use */
	union spec_state begin;
	int64_t max;     /* highest value, capacity; 0: none */
	bool per_sender; /* the order is that of each sender's values only */
	/*
	 * Do operation @i now: change @s and return true if its result is the one that it
	 * then has, return false if not. A pending operation has the result that it can have
	 * and that changes @s; false if there is none. If there are several things that may
	 * happen then, @choice 0, 1, 2 ... are these, and then false; else all but 0 are.
	 */
	bool (*apply)(const struct spec *spec, const struct history_op *ops, unsigned i,
		      unsigned choice, union spec_state *s);
	void (*print)(FILE *out, const struct history_op *ops, const union spec_state *s);
};

struct spec spec_sem(int64_t value, int64_t max);
struct spec spec_register(int64_t value);
struct spec spec_mutex(void);

/* @capacity 0: unbounded. Not for channels without a buffer, where two operations meet. */
struct spec spec_queue(int64_t capacity);

/* The unbounded queue that keeps the values of each sending thread in order, no others. */
struct spec spec_queue_per_sender(void);

extern const char *const sem_names[];
extern const char *const register_names[];
extern const char *const queue_names[];
extern const char *const mutex_names[];

#endif
