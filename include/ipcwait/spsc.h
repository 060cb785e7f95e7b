/* SPDX-License-Identifier: MIT */
/*
 * Queue of elements of one size from one producer to one consumer: a ring, or as many rings as it
 * takes. Each of the two may be another thread at another time, if the program passes the part on
 * with order, under a lock for example.
 *
 *	struct ipcwait_spsc_params params = { .elem_size = sizeof(struct job), .capacity = 100 };
 *	struct ipcwait_spsc *jobs = ipcwait_spsc_create(&params);
 *
 *	r = ipcwait_spsc_push(jobs, &job);             // the producer; -EAGAIN if there are 100
 *	while (ipcwait_spsc_pop(jobs, &job) == 0)      // the consumer, until close
 *		work(&job);
 *
 * Cost: a push and a pop are a copy and a store each, without a locked instruction; inline for
 * elements of 4, 8 and 16 bytes, else a call. Each side asks how far the other is only when what
 * it knew is used up. Bulk calls publish once. Nobody is told of an element unless somebody
 * sleeps. That a push needs no fence is paid for by who goes to sleep, with membarrier(2): 0.4 us
 * if nobody else of the process runs, and an interrupt of the CPUs where others run. See
 * IPCWAIT_SPSC_NO_MEMBARRIER.
 *
 * Guarantees: elements come out in the order in which they went in. All calls that do not wait end
 * in a bounded number of steps, but for malloc(3) where a queue without bound grows. The bound is
 * exact: a push fails only if as many elements lie there.
 *
 * Close: pushes fail from then on, and pops when nothing is left. A push that runs beside a close
 * by somebody else than the producer may still succeed; later pops find its element, even after one
 * has said -EPIPE, or else destroy does.
 *
 * Limits: one process. Two producers or two consumers at a time are not noticed, and lose elements.
 * Elements lie at multiples of their size from an address that is a multiple of 128.
 */
#ifndef IPCWAIT_SPSC_H
#define IPCWAIT_SPSC_H

#include <errno.h>

#include <ipcwait/base.h>
#include <ipcwait/impl/spsc.h>

/* Largest element, in bytes, and largest bound. */
#define IPCWAIT_SPSC_ELEM_MAX     1048576
#define IPCWAIT_SPSC_CAPACITY_MAX (UINT64_C(1) << 32)

/*
 * Flag: sleeping never interrupts other CPUs. Each push and pop has a locked instruction then. So
 * it is without the flag where the kernel has no membarrier(2) or a filter forbids it: create finds
 * that out.
 */
#define IPCWAIT_SPSC_NO_MEMBARRIER 1u

/* Zero means defaults, but for the first. */
struct ipcwait_spsc_params {
	size_t elem_size;  /* bytes of an element, 1 to IPCWAIT_SPSC_ELEM_MAX */
	uint64_t capacity; /* elements, at most; 0: no bound */
	void (*elem_fini)(void *elem,
			  void *arg); /* of what is left at the end; NULL: nothing */
	void *elem_fini_arg;
	unsigned flags;       /* 0 or IPCWAIT_SPSC_NO_MEMBARRIER */
	uint32_t reserved[3]; /* zero */
};

IPCWAIT_BEGIN_DECLS

/* Out-of-line rest of the inline functions below. Exported, not API. */
IPCWAIT_API int ipcwait_impl_spsc_push_slow(struct ipcwait_spsc *q, const void *elem);
IPCWAIT_API int ipcwait_impl_spsc_pop_slow(struct ipcwait_spsc *q, void *elem);

/**
 * ipcwait_spsc_params_check() - why a queue cannot be made
 * @params: what of
 *
 * Return: 0: if create fails there is no memory.
 *   -EINVAL  @params is NULL, or a member is out of its range
 *
 * Ordering:     none
 * Threads:      any
 * Processes:    one
 * Signals:      async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     none
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_spsc_params_check(
	const struct ipcwait_spsc_params *params);

/**
 * ipcwait_spsc_create() - make a queue
 * @params: what of
 *
 * The first one of a process may wait some milliseconds for all CPUs, if there are other threads:
 * the kernel then learns that there will be membarrier(2).
 *
 * Return: the queue, or NULL; ipcwait_spsc_params_check() says why.
 *
 * Ordering:     none; publish the queue to the other thread yourself
 * Threads:      any
 * Processes:    one
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     begins here
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK struct ipcwait_spsc *ipcwait_spsc_create(
	const struct ipcwait_spsc_params *params);

/**
 * ipcwait_spsc_destroy() - end a queue
 * @q: queue that nobody uses any more, or NULL, which does nothing
 *
 * Calls elem_fini for each element that is left, first come, first served.
 *
 * Ordering:     none
 * Threads:      one, after every other call on @q has returned
 * Processes:    one; a forked child destroys its own copy
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     ends here
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API void ipcwait_spsc_destroy(struct ipcwait_spsc *q);

/**
 * ipcwait_spsc_push() - put an element in, without waiting
 * @q:    queue
 * @elem: element, of which a copy goes in
 *
 * Return: 0.
 *   -EAGAIN  as many are in it as may be
 *   -EPIPE   it is closed
 *   -ENOMEM  no memory; only without a bound
 *
 * Ordering:     release on 0: whoever gets the element sees what came before
 * Threads:      the producer
 * Processes:    one
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     unchanged
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_MUST_CHECK IPCWAIT_INLINE int ipcwait_spsc_push(struct ipcwait_spsc *q,
							const void *elem)
{
	if (IPCWAIT_IMPL_FAST(ipcwait_impl_spsc_push_fast(q, elem)))
		return 0;
	return ipcwait_impl_spsc_push_slow(q, elem);
}

/**
 * ipcwait_spsc_push_until() - put an element in, once there is room
 * @q:           queue
 * @elem:        element, of which a copy goes in
 * @deadline_ns: absolute, CLOCK_MONOTONIC; IPCWAIT_FOREVER never expires
 *
 * Without a bound there is room, and this is ipcwait_spsc_push(). No signal ends the wait.
 *
 * Return: 0.
 *   -EPIPE      it is closed, or was meanwhile
 *   -ETIMEDOUT  deadline reached
 *   -ENOMEM     no memory; only without a bound
 *   -ENOSYS     the kernel, or a filter, forbids futex(2)
 *
 * Ordering:     release on 0, as ipcwait_spsc_push()
 * Threads:      the producer
 * Processes:    one
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     unchanged
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_spsc_push_until(struct ipcwait_spsc *q,
							   const void *elem,
							   int64_t deadline_ns);

/**
 * ipcwait_spsc_trypop() - take an element out, without waiting
 * @q:    queue
 * @elem: room for an element, which goes there
 *
 * Return: 0.
 *   -EAGAIN  nothing is in it
 *   -EPIPE   nothing is in it, and it is closed
 *
 * Ordering:     acquire on 0: sees what came before the push
 * Threads:      the consumer
 * Processes:    one
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     unchanged
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_MUST_CHECK IPCWAIT_INLINE int ipcwait_spsc_trypop(struct ipcwait_spsc *q,
							  void *elem)
{
	if (IPCWAIT_IMPL_FAST(ipcwait_impl_spsc_pop_fast(q, elem)))
		return 0;
	return ipcwait_impl_spsc_pop_slow(q, elem);
}

/**
 * ipcwait_spsc_pop() - take an element out, once there is one
 * @q:    queue
 * @elem: room for an element, which goes there
 *
 * No signal ends the wait.
 *
 * Return: 0.
 *   -EPIPE   nothing is in it, and it is closed, or was meanwhile
 *   -ENOSYS  the kernel, or a filter, forbids futex(2)
 *
 * Ordering:     acquire on 0, as ipcwait_spsc_trypop()
 * Threads:      the consumer
 * Processes:    one
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     unchanged
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_spsc_pop(struct ipcwait_spsc *q, void *elem);

/**
 * ipcwait_spsc_pop_until() - the same, until a deadline
 * @q:           queue
 * @elem:        room for an element, which goes there
 * @deadline_ns: absolute, CLOCK_MONOTONIC; IPCWAIT_FOREVER never expires
 *
 * Return: 0.
 *   -EPIPE      nothing is in it, and it is closed, or was meanwhile
 *   -ETIMEDOUT  deadline reached
 *   -ENOSYS     the kernel, or a filter, forbids futex(2)
 *
 * Ordering:     acquire on 0, as ipcwait_spsc_trypop()
 * Threads:      the consumer
 * Processes:    one
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     unchanged
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_spsc_pop_until(struct ipcwait_spsc *q,
							  void *elem, int64_t deadline_ns);

/**
 * ipcwait_spsc_push_n() - put up to @n elements in, without waiting
 * @q:     queue
 * @elems: one behind the other
 * @n:     how many
 *
 * They appear all at once.
 *
 * Return: how many went in, the first ones; 0 only if @n is.
 *   -EAGAIN  as many are in it as may be
 *   -EPIPE   it is closed
 *   -ENOMEM  no memory; only without a bound
 *
 * Ordering:     release, as ipcwait_spsc_push()
 * Threads:      the producer
 * Processes:    one
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     unchanged
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int64_t ipcwait_spsc_push_n(struct ipcwait_spsc *q,
							   const void *elems, size_t n);

/**
 * ipcwait_spsc_pop_n() - take up to @n elements out, without waiting
 * @q:     queue
 * @elems: room for as many
 * @n:     how many
 *
 * Return: how many came out; 0 only if @n is.
 *   -EAGAIN  nothing is in it
 *   -EPIPE   nothing is in it, and it is closed
 *
 * Ordering:     acquire, as ipcwait_spsc_trypop()
 * Threads:      the consumer
 * Processes:    one
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     unchanged
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int64_t ipcwait_spsc_pop_n(struct ipcwait_spsc *q,
							  void *elems, size_t n);

/**
 * ipcwait_spsc_reserve() - room for elements, to be written where they will lie
 * @q: queue
 * @n: how many are wanted; is set to for how many there is room there, perhaps fewer
 *
 * May be called again instead of a commit, and nothing has happened then.
 *
 * Return: where they begin, or NULL, and *@n is 0: no room, no memory, or it is closed.
 *
 * Ordering:     none
 * Threads:      the producer
 * Processes:    one
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     the room is the producer's until it commits
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK void *ipcwait_spsc_reserve(struct ipcwait_spsc *q,
							  size_t *n);

/**
 * ipcwait_spsc_commit() - put in what was written where the last reserve said
 * @q: queue
 * @n: how many elements, the first ones; at most as many as it had room for
 *
 * Return: 0.
 *   -EINVAL  there is no room for so many
 *   -EPIPE   it is closed
 *
 * Ordering:     release on 0, as ipcwait_spsc_push()
 * Threads:      the producer
 * Processes:    one
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     unchanged
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_spsc_commit(struct ipcwait_spsc *q, size_t n);

/**
 * ipcwait_spsc_peek() - the first elements, where they lie
 * @q: queue
 * @n: how many are wanted; is set to how many lie there, perhaps fewer
 *
 * Return: the first of them, or NULL, and *@n is 0: nothing is in it.
 *
 * Ordering:     acquire, as ipcwait_spsc_trypop()
 * Threads:      the consumer
 * Processes:    one
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     they stay until the consumer releases or takes them
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK const void *ipcwait_spsc_peek(struct ipcwait_spsc *q,
							     size_t *n);

/**
 * ipcwait_spsc_release() - take out what was looked at
 * @q: queue
 * @n: how many elements, the first ones; at most as many as the last peek has shown
 *
 * Return: 0.
 *   -EINVAL  so many are not in it
 *
 * Ordering:     release: who writes there next comes after what was read
 * Threads:      the consumer
 * Processes:    one
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     unchanged
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API int ipcwait_spsc_release(struct ipcwait_spsc *q, size_t n);

/**
 * ipcwait_spsc_close() - no more elements go in
 * @q: queue
 *
 * Ends the waits of both sides; the consumer's if nothing is left.
 *
 * Return: 0.
 *   -EALREADY  it was closed
 *
 * Ordering:     release: whoever gets -EPIPE from a pop sees what came before
 * Threads:      any
 * Processes:    one
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     unchanged
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API int ipcwait_spsc_close(struct ipcwait_spsc *q);

/**
 * ipcwait_spsc_length() - how many elements are in it
 * @q:  queue
 * @lo: is set to a number that was not above it, at one moment of this call
 * @hi: is set to one that was not below it, at the same moment
 *
 * For the producer, the consumer and whoever keeps both from working they are the same or close.
 *
 * Return: 0.
 *   -EINVAL  @q, @lo or @hi is NULL
 *
 * Ordering:     none
 * Threads:      any
 * Processes:    one
 * Signals:      async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     unchanged
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API int ipcwait_spsc_length(const struct ipcwait_spsc *q, uint64_t *lo,
				    uint64_t *hi);

/**
 * ipcwait_spsc_trim() - give back memory
 * @q: queue
 *
 * Without a bound one ring that the consumer has emptied waits for the producer to need it.
 *
 * Return: how many bytes were freed.
 *
 * Ordering:     none
 * Threads:      the producer
 * Processes:    one
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     unchanged
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API size_t ipcwait_spsc_trim(struct ipcwait_spsc *q);

IPCWAIT_END_DECLS

#endif
