/* SPDX-License-Identifier: MIT */
/*
 * Queue: unbounded, first in, first out, for any number of producers and consumers in one
 * process. To push and to pop is lock-free; a consumer that finds it empty may wait.
 *
 *	struct ipcwait_queue_params params = { .elem_size = sizeof(struct job) };
 *	struct ipcwait_queue *jobs = ipcwait_queue_create(&params);
 *
 *	struct job j = { ... };
 *	if (ipcwait_queue_push(jobs, &j))            // producers: the job is copied
 *		...
 *	while (ipcwait_queue_pop(jobs, &j) == 0)     // consumers, until it is closed and empty
 *		work(&j);
 *
 * How: a chain of segments, arrays of slots that are used once. Pushers and poppers draw tickets
 * for the slots by fetch-and-add. A popper that comes before its pusher waits a moment and then
 * spoils the slot, so that neither waits for a thread that has lost its CPU. Segments come from
 * ipcwait_pool pools and go back there after a grace period of liburcu, ten to twenty ms later.
 * docs/design/queue.md
 *
 * Cost: a push or pop is two atomic operations; where there is nothing in common with other
 * threads, some 10 ns on a Zen 4. A push writes nothing for consumers that sleep unless there is
 * one, which it then wakes, and never makes a system call while all that wait still spin.
 *
 * Guarantees: linearizable. Elements come out in the order in which they went in, one by one;
 * those of ipcwait_queue_push_n() in their order, but others may come between. "Empty" means that
 * at some instant of the call there was no element. Lock-free but for memory: a push into a full
 * segment may call the system for the next, once in about a thousand if elements are small; and
 * who retires segments while 64 MiB of them wait for a grace period waits for it.
 *
 * Memory: 8 bytes for an element of up to 7 bytes, 9 for one of 8, such as a pointer; else its size
 * rounded up, and 8 more, 16 from 16 bytes on. A new queue of elements of up to 64 bytes
 * takes 2 KiB; one that was used has segments of 8 KiB, or of 8 elements if that is more. What a
 * burst has needed goes back to the system bit by bit as queues are used, or at once with
 * ipcwait_queue_trim(); each thread keeps up to 8 segments for its next pushes.
 *
 * Thread of its own: a process in which segments were used up has one that gives them back. It
 * takes no signals, sleeps when nothing is on its way, and ends after a second of that. The library
 * stays loaded from the first queue on.
 *
 * fork(2): the child has the queue, but for elements that threads of the parent were pushing or
 * popping; those who slept in a pop are forgotten. A program that uses liburcu's bp flavour
 * itself must not call urcu_bp_before_fork() and its like, as this library does, nor push or pop
 * inside of its own sections and callbacks.
 *
 * Limits: one process. Elements of 1 to IPCWAIT_QUEUE_ELEM_MAX bytes; 2^63 of them in all.
 */
#ifndef IPCWAIT_QUEUE_H
#define IPCWAIT_QUEUE_H

#include <ipcwait/base.h>

/* Largest element, in bytes. */
#define IPCWAIT_QUEUE_ELEM_MAX 65536

/*
 * The program promises that one thread at a time pops; it does so faster. A look by
 * ipcwait_wait_any() counts as a pop.
 */
#define IPCWAIT_QUEUE_ONE_CONSUMER 1u

struct ipcwait_queue;

/* Zero means defaults, but for the first. */
struct ipcwait_queue_params {
	size_t elem_size; /* bytes of an element, 1 to IPCWAIT_QUEUE_ELEM_MAX */
	void (*elem_fini)(void *elem,
			  void *arg); /* for what is left at destroy; NULL: nothing */
	void *elem_fini_arg;
	uint64_t max_elems;   /* a push beyond is refused; 0: no bound */
	unsigned flags;       /* IPCWAIT_QUEUE_... */
	uint32_t reserved[3]; /* zero */
};

/* What a queue has done. Of a queue in use, sums of moments that lie close together. */
struct ipcwait_queue_stats {
	uint64_t size;        /* bytes of this struct that are filled in */
	uint64_t bytes;       /* of its segments, with elements or room for them */
	uint64_t segments;    /* that it has used up so far */
	uint64_t spoiled;     /* slots whose pusher came too late */
	uint64_t limbo_bytes; /* of all queues in the process: wait for a grace period */
};

IPCWAIT_BEGIN_DECLS

/**
 * ipcwait_queue_params_check() - whether a queue can be made of that
 * @params: what ipcwait_queue_create() is given
 *
 * Return: 0.
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
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_queue_params_check(
	const struct ipcwait_queue_params *params);

/**
 * ipcwait_queue_create() - make a queue
 * @params: of what
 *
 * Return: the queue. NULL: ipcwait_queue_params_check() is not 0, or there is no memory.
 *
 * Ordering:     none; publish the queue to other threads yourself
 * Threads:      any
 * Processes:    one
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     begins here
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK struct ipcwait_queue *ipcwait_queue_create(
	const struct ipcwait_queue_params *params);

/**
 * ipcwait_queue_destroy() - end a queue
 * @q: queue that nobody uses any more, or NULL, which does nothing
 *
 * Calls elem_fini for each element that is left, oldest first, with its address and elem_fini_arg.
 * The element is aligned to 16 bytes if it has as many, else to 8, and is gone afterwards.
 *
 * Ordering:     sees what came before the push of each element
 * Threads:      one, after every other call on @q has returned
 * Processes:    one; a forked child destroys its own copy
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     ends here
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API void ipcwait_queue_destroy(struct ipcwait_queue *q);

/**
 * ipcwait_queue_push() - add an element
 * @q:    queue
 * @elem: is copied
 *
 * Return: 0. Any error: nothing was added.
 *   -EPIPE   the queue is closed
 *   -EAGAIN  it has max_elems elements; what other threads push at the same instant may get in
 *            beyond
 *   -ENOMEM  no memory for another segment
 *
 * Ordering:     what came before it is seen by whoever pops the element
 * Threads:      any
 * Processes:    one
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @elem is the caller's again when it returns; @q must live until then
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_queue_push(struct ipcwait_queue *q,
						      const void *elem);

/**
 * ipcwait_queue_push_n() - add elements
 * @q:     queue
 * @elems: @n elements, one behind the other; are copied
 * @n:     how many
 *
 * Cheaper than so many pushes: tickets are drawn for all that fit into a segment at once. The
 * elements keep their order, each is added at an instant of its own, and others may come between.
 *
 * Return: how many of the first of them were added; fewer than @n if there was an error then.
 *   As ipcwait_queue_push(), if it was none.
 *
 * Ordering:     as ipcwait_queue_push()
 * Threads:      any
 * Processes:    one
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     as ipcwait_queue_push()
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int64_t ipcwait_queue_push_n(struct ipcwait_queue *q,
							    const void *elems, size_t n);

/**
 * ipcwait_queue_trypop() - take the oldest element, if there is one
 * @q:    queue
 * @elem: is set to it; unchanged in any other case
 *
 * Return: 0.
 *   -EAGAIN  empty
 *   -EPIPE   empty and closed: so it stays
 *
 * Ordering:     sees what came before the push of the element
 * Threads:      any; with IPCWAIT_QUEUE_ONE_CONSUMER one at a time
 * Processes:    one
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @q must live until it returns
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_queue_trypop(struct ipcwait_queue *q,
							void *elem);

/**
 * ipcwait_queue_pop_until() - take the oldest element, or wait for one
 * @q:           queue
 * @elem:        is set to it; unchanged in any other case
 * @deadline_ns: absolute, CLOCK_MONOTONIC; IPCWAIT_FOREVER never expires
 *
 * Spins for the window that the queue has learned, then sleeps. An element that is there is taken
 * even if the deadline has passed. No signal ends the wait.
 *
 * Return: 0.
 *   -EPIPE      empty and closed
 *   -ETIMEDOUT  deadline reached
 *   -ENOSYS     the kernel, or a filter, forbids futex(2)
 *
 * Ordering:     as ipcwait_queue_trypop()
 * Threads:      as ipcwait_queue_trypop()
 * Processes:    one
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @q must live until it returns
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_queue_pop_until(struct ipcwait_queue *q,
							   void *elem, int64_t deadline_ns);

/**
 * ipcwait_queue_pop() - take the oldest element, however long it takes
 * @q:    queue
 * @elem: is set to it; unchanged in any other case
 *
 * As ipcwait_queue_pop_until() with IPCWAIT_FOREVER.
 *
 * Return: 0.
 *   -EPIPE   empty and closed
 *   -ENOSYS  the kernel, or a filter, forbids futex(2)
 *
 * Ordering:     as ipcwait_queue_trypop()
 * Threads:      as ipcwait_queue_trypop()
 * Processes:    one
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @q must live until it returns
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_queue_pop(struct ipcwait_queue *q, void *elem);

/**
 * ipcwait_queue_pop_n() - take the oldest elements, if there are any
 * @q:     queue
 * @elems: room for @n elements
 * @n:     how many to take at most
 *
 * Cheaper than so many pops: tickets are drawn for all that a segment has at once. Each is taken
 * at an instant of its own.
 *
 * Return: how many were taken, in their order; 0 if @n is.
 *   -EAGAIN  empty
 *   -EPIPE   empty and closed
 *
 * Ordering:     as ipcwait_queue_trypop()
 * Threads:      as ipcwait_queue_trypop()
 * Processes:    one
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @q must live until it returns
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int64_t ipcwait_queue_pop_n(struct ipcwait_queue *q,
							   void *elems, size_t n);

/**
 * ipcwait_queue_pop_n_until() - take the oldest elements, or wait for one
 * @q:           queue
 * @elems:       room for @n elements
 * @n:           how many to take at most
 * @deadline_ns: absolute, CLOCK_MONOTONIC; IPCWAIT_FOREVER never expires
 *
 * Waits as ipcwait_queue_pop_until() until there is one, and takes what is there then.
 *
 * Return: how many were taken, in their order; 0 if @n is.
 *   -EPIPE      empty and closed
 *   -ETIMEDOUT  deadline reached
 *   -ENOSYS     the kernel, or a filter, forbids futex(2)
 *
 * Ordering:     as ipcwait_queue_trypop()
 * Threads:      as ipcwait_queue_trypop()
 * Processes:    one
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @q must live until it returns
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int64_t ipcwait_queue_pop_n_until(struct ipcwait_queue *q,
								 void *elems, size_t n,
								 int64_t deadline_ns);

/**
 * ipcwait_queue_close() - let nothing more in
 * @q: queue
 *
 * Pushes fail from now on. Consumers get what is left, and then -EPIPE; those that wait are woken.
 *
 * Return: 0.
 *   -EALREADY  it was closed
 *
 * Ordering:     what came before it is seen by whoever gets -EPIPE
 * Threads:      any
 * Processes:    one
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @q must live until it returns
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API int ipcwait_queue_close(struct ipcwait_queue *q);

/**
 * ipcwait_queue_length() - how many elements there are
 * @q:  queue
 * @lo: is set to a lower bound: there were so many at least at some instant of the call, those
 *      counted whose push was under way
 * @hi: is set to an upper bound: there were so many at most at some instant, those not counted
 *      whose push had not returned
 *
 * @lo is never above @hi. Both are exact, and the same, while no other call on @q is under way.
 * Takes the same time however many there are.
 *
 * Return: 0.
 *   -EINVAL  @lo or @hi is NULL
 *
 * Ordering:     none
 * Threads:      any
 * Processes:    one
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @q must live until it returns
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API int ipcwait_queue_length(struct ipcwait_queue *q, uint64_t *lo, uint64_t *hi);

/**
 * ipcwait_queue_trim() - give memory back to the system
 * @q: queue
 *
 * Waits for a grace period, ten to twenty ms as a rule, and gives back all that is not part of a
 * queue: of @q and, since they share it, of all others in the process.
 *
 * Return: how many bytes have been unmapped meanwhile.
 *
 * Ordering:     none
 * Threads:      any
 * Processes:    one
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @q must live until it returns
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API size_t ipcwait_queue_trim(struct ipcwait_queue *q);

/**
 * ipcwait_queue_stats_get() - what a queue has done
 * @q:    queue
 * @st:   is filled in
 * @size: sizeof(*st)
 *
 * Return: how many bytes of @st were filled in, which may be fewer than @size.
 *   -EINVAL  @q or @st is NULL, or @size is below that of the first member
 *
 * Ordering:     none
 * Threads:      any
 * Processes:    one
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @q must live until it returns
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API int ipcwait_queue_stats_get(struct ipcwait_queue *q,
					struct ipcwait_queue_stats *st, size_t size);

IPCWAIT_END_DECLS

#endif
