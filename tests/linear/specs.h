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
	MUTEX_TRYLOCK,    /* -EBUSY: locked, or kept */
	MUTEX_LOCK_UNTIL, /* -ETIMEDOUT: locked, or kept */
	MUTEX_UNLOCK,     /* -EPERM: not locked by the caller */
};

/* Reader-writer locks. */
enum rwlock_code {
	RWLOCK_RDLOCK,
	RWLOCK_TRYRDLOCK,    /* -EBUSY: a writer has it, or it is kept */
	RWLOCK_RDLOCK_UNTIL, /* -ETIMEDOUT: the same */
	RWLOCK_RDUNLOCK,
	RWLOCK_WRLOCK,
	RWLOCK_TRYWRLOCK,    /* -EBUSY: anybody has it, or it is kept */
	RWLOCK_WRLOCK_UNTIL, /* -ETIMEDOUT: the same */
	RWLOCK_WRUNLOCK,
};

/* Argument of an attempt on a lock that may have failed for the sake of others who waited. */
#define LOCK_KEPT 1

/* Events. A pulse is no third thing: a wait may come between its set and its reset. */
enum event_code {
	EVENT_WAIT,
	EVENT_TRYWAIT,    /* -EAGAIN: not set */
	EVENT_WAIT_UNTIL, /* -ETIMEDOUT: not set */
	EVENT_SETS,
	EVENT_RESETS,
	EVENT_IS_SET, /* result: 0 or 1 */
};

/* Event counts: a counter of notifications. How many waits one ends is not in it. */
enum eventcount_code {
	EVENTCOUNT_PREPARE, /* result: the counter */
	EVENTCOUNT_COMMIT, /* arg: what prepare said; 0: it is another; -ETIMEDOUT: it is not */
	EVENTCOUNT_NOTIFY, /* arg: how many */
};

/*
 * Condition variables. A wait is no operation but two: it enters, before it unlocks the mutex, and
 * leaves, because a signal or a broadcast between the two has released it, or because it has not
 * and the deadline passed. So a signal releases one of those that have entered and no other, unless
 * there is none, and who expires has taken none. Of waits that return for no reason, which the
 * header allows, there are none with less than 16 waiters.
 */
enum cond_code {
	COND_ENTER, /* arg: number of the wait, below 64 */
	COND_LEAVE, /* arg: of the same wait; -ETIMEDOUT: not released */
	COND_SIGNALS,
	COND_BROADCASTS,
};

/* Latches. To arrive and wait is to count down and to wait. */
enum latch_code {
	LATCH_WAIT,
	LATCH_TRYWAIT,    /* -EAGAIN: closed */
	LATCH_WAIT_UNTIL, /* -ETIMEDOUT: closed */
	LATCH_COUNT_DOWN, /* arg: by how much; -EOVERFLOW: more than was left */
	LATCH_COUNT,      /* result: what is left */
};

/*
 * Onces. A run of the function begins and ends within the call that makes it: runs do not
 * overlap, and none begins after one that has succeeded.
 */
enum once_code {
	ONCE_BEGIN,
	ONCE_END, /* result: what the function returned; 0: it is done for good */
	ONCE_RUN, /* arg: what the function returned here, or 0; result: the same, 0: it is done */
};

/*
 * Barriers. A wait of the last party is one operation. That of another one is two: it arrives,
 * and it leaves, after the round is over in which it arrived; or it expires, and was not there.
 */
enum barrier_code {
	BARRIER_ARRIVE, /* arg: number of the wait, below 64 */
	BARRIER_LEAVE,  /* arg: of the same wait */
	BARRIER_SERIAL, /* all the others of its round have arrived */
	BARRIER_EXPIRE,
};

/* Unused bytes are zero. */
union spec_state {
	uint64_t word[1 + SPEC_OPS / 8]; /* for those who compare and copy */
	int64_t value;
	uint64_t owner; /* 1 + its thread, or 0 */
	struct {
		uint32_t readers;
		uint32_t writers;
	} rwlock;
	struct {
		uint64_t waiting;  /* bits of waits that have entered or arrived */
		uint64_t released; /* of those that may leave */
	} waits;
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

struct spec spec_rwlock(void);
struct spec spec_event(bool auto_reset, bool set);
struct spec spec_eventcount(void);
struct spec spec_cond(void);
struct spec spec_latch(int64_t count);
struct spec spec_once(void);
struct spec spec_barrier(int64_t parties);

/* @capacity 0: unbounded. Not for channels without a buffer, where two operations meet. */
struct spec spec_queue(int64_t capacity);

/* The unbounded queue that keeps the values of each sending thread in order, no others. */
struct spec spec_queue_per_sender(void);

extern const char *const sem_names[];
extern const char *const register_names[];
extern const char *const queue_names[];
extern const char *const mutex_names[];
extern const char *const rwlock_names[];
extern const char *const event_names[];
extern const char *const eventcount_names[];
extern const char *const cond_names[];
extern const char *const latch_names[];
extern const char *const once_names[];
extern const char *const barrier_names[];

#endif
