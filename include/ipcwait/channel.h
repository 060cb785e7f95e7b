/* SPDX-License-Identifier: MIT */
/*
 * Channel: hands elements of one size from threads that send to threads that receive, in order,
 * as the channels of Go do. It holds up to .capacity elements, and senders wait for room; with
 * capacity 0 it holds none, and a sender waits until a receiver has taken its element.
 *
 *	struct ipcwait_channel_params params = { .elem_size = sizeof(int), .capacity = 64 };
 *	struct ipcwait_channel *jobs = ipcwait_channel_create(&params);
 *
 *	if (ipcwait_channel_send(jobs, &job))            // thread A
 *		...                                      // somebody has closed it
 *	ipcwait_channel_close(jobs);
 *
 *	while (ipcwait_channel_recv(jobs, &job) == 0)    // thread B, until closed and drained
 *		work(job);
 *
 * Cost: two atomic operations for a send and two for a receive, and no system call, as long as
 * nobody has to wait. Whoever waits spins for the window that it has learned, then sleeps.
 *
 * Guarantees: each element that was sent is received once. Elements of one sender to one receiver
 * keep their order, and so do any two sends of which the second began after the first had
 * returned. No more than .capacity elements are in it. A close is one moment: sends that began
 * after it has returned fail, and every element whose send succeeded can be received after it.
 * A thread that is stopped in the middle of a send or receive stops others only where they need
 * just its element or its place; they sleep then, and nobody spins for it.
 *
 * Limits: one process. The try functions may say -EAGAIN although the channel is not quite empty,
 * or full: while another thread is in the middle of putting in the first element or of taking out
 * the last one. With capacity 0 they succeed only if another thread waits on the other side. A
 * select of more than 8 cases takes up to 17 KiB of stack.
 *
 * Between processes: channels that are made with <ipcwait/channel_shared.h>. Of those any call may
 * also return -EBADMSG, if the file was damaged, and -EPERM in a child of fork(2).
 *
 * fork(2): the child has a copy, which it may destroy. If threads of the parent were in
 * the middle of a call, the child must not use it otherwise; but with a capacity above 0 those
 * who waited are forgotten.
 */
#ifndef IPCWAIT_CHANNEL_H
#define IPCWAIT_CHANNEL_H

#include <ipcwait/base.h>
#include <ipcwait/wait_any.h>

/* Largest element, in bytes. */
#define IPCWAIT_CHANNEL_ELEM_MAX 1048576

/* Largest capacity, in elements. */
#define IPCWAIT_CHANNEL_CAPACITY_MAX UINT64_C(0x100000000)

struct ipcwait_channel;

/* Zero means defaults, but for the first. */
struct ipcwait_channel_params {
	size_t elem_size;  /* bytes of an element, 1 to IPCWAIT_CHANNEL_ELEM_MAX */
	uint64_t capacity; /* elements, up to IPCWAIT_CHANNEL_CAPACITY_MAX; 0: rendezvous */
	void (*elem_fini)(void *elem, void *arg); /* for what destroy finds; or NULL */
	void *elem_fini_arg;
	unsigned flags;       /* zero */
	uint32_t reserved[3]; /* zero */
};

/* What a case of a select does. */
enum ipcwait_channel_op {
	IPCWAIT_CHANNEL_SEND,
	IPCWAIT_CHANNEL_RECV,
};

struct ipcwait_channel_case {
	struct ipcwait_channel *channel; /* NULL: this case is never ready */
	int op;                          /* IPCWAIT_CHANNEL_SEND or IPCWAIT_CHANNEL_RECV */
	void *elem;                      /* sent from here, or received to here */
	int result;                      /* of the case that was done: 0, or -EPIPE */
};

IPCWAIT_BEGIN_DECLS

/**
 * ipcwait_channel_params_check() - whether a channel can be made of that
 * @params: what of
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
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_channel_params_check(
	const struct ipcwait_channel_params *params);

/**
 * ipcwait_channel_create() - make a channel
 * @params: what of
 *
 * Return: the channel. NULL: ipcwait_channel_params_check() says why; if that is 0, there is no
 * memory.
 *
 * Ordering:     none; publish the channel to other threads yourself
 * Threads:      any
 * Processes:    one
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     begins here
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK struct ipcwait_channel *ipcwait_channel_create(
	const struct ipcwait_channel_params *params);

/**
 * ipcwait_channel_destroy() - end a channel
 * @ch: channel that nobody uses any more, or NULL, which does nothing
 *
 * .elem_fini is called for each element that is left, the oldest first, and must not use the
 * channel. The eventfd is closed.
 *
 * Ordering:     none
 * Threads:      one, after every other call on @ch has returned
 * Processes:    one
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     ends here
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API void ipcwait_channel_destroy(struct ipcwait_channel *ch);

/**
 * ipcwait_channel_send() - put an element in
 * @ch:   channel
 * @elem: is copied
 *
 * Waits while there is no room; with capacity 0 until a receiver has taken the element.
 *
 * Return: 0.
 *   -EPIPE      it is closed: the element was not sent
 *   -EINVAL     @ch or @elem is NULL
 *   -ENOSYS     the kernel, or a filter, forbids futex(2)
 *
 * Ordering:     release: whoever receives the element sees what came before;
 *               with capacity 0 acquire too: sees what the receiver did before
 * Threads:      any
 * Processes:    one
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @ch must live until the call returns; the element is copied
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_channel_send(struct ipcwait_channel *ch,
							const void *elem);

/**
 * ipcwait_channel_trysend() - put an element in if there is room
 * @ch:   channel
 * @elem: is copied
 *
 * Return: 0.
 *   -EAGAIN  there is no room; or the next place is just being emptied; with capacity 0, nobody
 *            waits for an element
 *   -EPIPE   it is closed
 *   -EINVAL  @ch or @elem is NULL
 *
 * Ordering:     release: whoever receives the element sees what came before;
 *               with capacity 0 acquire too: sees what the receiver did before
 * Threads:      any
 * Processes:    one
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @ch must live until the call returns; the element is copied
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_channel_trysend(struct ipcwait_channel *ch,
							   const void *elem);

/**
 * ipcwait_channel_send_until() - put an element in before a deadline
 * @ch:          channel
 * @elem:        is copied
 * @deadline_ns: absolute, CLOCK_MONOTONIC; IPCWAIT_FOREVER never expires
 *
 * Return: 0.
 *   -ETIMEDOUT  deadline reached: the element was not sent
 *   -EPIPE      it is closed
 *   -EINVAL     @ch or @elem is NULL
 *   -ENOSYS     the kernel, or a filter, forbids futex(2)
 *
 * Ordering:     release: whoever receives the element sees what came before;
 *               with capacity 0 acquire too: sees what the receiver did before
 * Threads:      any
 * Processes:    one
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @ch must live until the call returns; the element is copied
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_channel_send_until(struct ipcwait_channel *ch,
							      const void *elem,
							      int64_t deadline_ns);

/**
 * ipcwait_channel_recv() - take the oldest element
 * @ch:   channel
 * @elem: is set to it
 *
 * Waits while there is none.
 *
 * Return: 0.
 *   -EPIPE      it is closed, and all elements were received
 *   -EINVAL     @ch or @elem is NULL
 *   -ENOSYS     the kernel, or a filter, forbids futex(2)
 *
 * Ordering:     acquire: sees what came before the send of the element;
 *               -EPIPE: what came before the close
 * Threads:      any
 * Processes:    one
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @ch must live until the call returns; the element is copied
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_channel_recv(struct ipcwait_channel *ch,
							void *elem);

/**
 * ipcwait_channel_tryrecv() - take the oldest element if there is one
 * @ch:   channel
 * @elem: is set to it
 *
 * Return: 0.
 *   -EAGAIN  there is none; or the oldest is just being put in; with capacity 0, nobody waits to
 *            send. The eventfd, if there is one, tells of the next
 *   -EPIPE   it is closed, and all elements were received
 *   -EINVAL  @ch or @elem is NULL
 *
 * Ordering:     acquire: sees what came before the send of the element;
 *               -EPIPE: what came before the close
 * Threads:      any
 * Processes:    one
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @ch must live until the call returns; the element is copied
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_channel_tryrecv(struct ipcwait_channel *ch,
							   void *elem);

/**
 * ipcwait_channel_recv_until() - take the oldest element before a deadline
 * @ch:          channel
 * @elem:        is set to it
 * @deadline_ns: absolute, CLOCK_MONOTONIC; IPCWAIT_FOREVER never expires
 *
 * Return: 0.
 *   -ETIMEDOUT  deadline reached
 *   -EPIPE      it is closed, and all elements were received
 *   -EINVAL     @ch or @elem is NULL
 *   -ENOSYS     the kernel, or a filter, forbids futex(2)
 *
 * Ordering:     acquire: sees what came before the send of the element;
 *               -EPIPE: what came before the close
 * Threads:      any
 * Processes:    one
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @ch must live until the call returns; the element is copied
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_channel_recv_until(struct ipcwait_channel *ch,
							      void *elem,
							      int64_t deadline_ns);

/**
 * ipcwait_channel_send_n() - put many elements in
 * @ch:          channel
 * @elems:       @n of them, which are copied
 * @n:           how many
 * @deadline_ns: absolute, CLOCK_MONOTONIC; IPCWAIT_FOREVER never expires
 *
 * In their order, though those of other senders may come between.
 *
 * Return: how many it has sent, fewer than @n if it was closed or the deadline reached. None:
 *   -ETIMEDOUT  deadline reached
 *   -EPIPE      it is closed
 *   -EINVAL     @ch or @elems is NULL
 *   -ENOSYS     the kernel, or a filter, forbids futex(2)
 *
 * Ordering:     as ipcwait_channel_send()
 * Threads:      any
 * Processes:    one
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @ch must live until the call returns; the element is copied
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int64_t ipcwait_channel_send_n(struct ipcwait_channel *ch,
							      const void *elems, size_t n,
							      int64_t deadline_ns);

/**
 * ipcwait_channel_recv_n() - take many elements
 * @ch:          channel
 * @elems:       room for @n of them
 * @n:           how many at most
 * @deadline_ns: absolute, CLOCK_MONOTONIC; IPCWAIT_FOREVER never expires
 *
 * Waits for one, then takes those that are there.
 *
 * Return: how many it has received. None, though @n is not 0:
 *   -ETIMEDOUT  deadline reached
 *   -EPIPE      it is closed, and all elements were received
 *   -EINVAL     @ch or @elems is NULL
 *   -ENOSYS     the kernel, or a filter, forbids futex(2)
 *
 * Ordering:     as ipcwait_channel_recv()
 * Threads:      any
 * Processes:    one
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @ch must live until the call returns; the element is copied
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int64_t ipcwait_channel_recv_n(struct ipcwait_channel *ch,
							      void *elems, size_t n,
							      int64_t deadline_ns);

/**
 * ipcwait_channel_close() - let nobody send any more
 * @ch: channel
 *
 * Those that wait to send return -EPIPE. Receivers take what is left, and then return -EPIPE.
 *
 * Return: 0.
 *   -EALREADY  it is closed
 *   -EINVAL    @ch is NULL
 *
 * Ordering:     release: who gets -EPIPE sees what came before
 * Threads:      any
 * Processes:    one
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     unchanged
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API int ipcwait_channel_close(struct ipcwait_channel *ch);

/**
 * ipcwait_channel_length() - how many elements are in it
 * @ch: channel
 * @lo: is set to a number that were there at least,
 * @hi: and one that were there at most, at one moment of the call
 *
 * Both are the same if nobody else uses the channel. Elements that are just being put in or taken
 * out count, or do not. For a channel between processes the call looks at the place of each element
 * twice, since a process may have died there: it takes longer the more there are.
 *
 * Return: 0.
 *   -EINVAL  a pointer is NULL
 *
 * Ordering:     none
 * Threads:      any
 * Processes:    one
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     unchanged
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_channel_length(struct ipcwait_channel *ch,
							  uint64_t *lo, uint64_t *hi);

/**
 * ipcwait_channel_elem_size() - how many bytes an element has
 * @ch: channel
 *
 * For who takes part in a channel between processes that another has made: what is received must
 * have room. It does not change while the channel lives, whatever becomes of its file.
 *
 * Return: the size; 0 if @ch is NULL.
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
IPCWAIT_API size_t ipcwait_channel_elem_size(const struct ipcwait_channel *ch);

/**
 * ipcwait_channel_select() - do the first of several sends and receives that can be done
 * @cases:       what to do; .result is set in the one that was done
 * @n:           how many, 1 .. IPCWAIT_WAIT_ANY_MAX
 * @deadline_ns: absolute, CLOCK_MONOTONIC; IPCWAIT_FOREVER never expires
 *
 * Of cases that can be done at once any is chosen, with about the same chances. A send to a
 * channel that is closed can be done, with the result -EPIPE, and so can a receive from one that
 * is drained too.
 *
 * Return: the index of the case that was done, and no other was. None was done:
 *   -ETIMEDOUT  deadline reached; one in the past makes it a try
 *   -EINVAL     @cases is NULL, @n is out of range, or .op unknown or .elem NULL in a case with
 *               a channel
 *   -ENOMEM     the kernel had no memory for so many channels
 *   -ENOSYS     the kernel, or a filter, forbids futex(2)
 *
 * Ordering:     as the case that was done
 * Threads:      any
 * Processes:    one
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     all channels must live until the call returns; elements are copied
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_channel_select(
	struct ipcwait_channel_case *cases, unsigned n, int64_t deadline_ns);

/**
 * ipcwait_channel_eventfd() - a descriptor that tells event loops of elements
 * @ch: channel
 *
 * It is readable, for poll(2) and the like, while the channel may have an element or is closed.
 * When it is, call ipcwait_channel_tryrecv() until that says -EAGAIN, which makes it unreadable
 * until the next element comes; other receives do not. Do not read from it. It belongs to the
 * channel, and is the same in each call. It takes a second descriptor, an epoll instance that
 * watches it.
 *
 * A send makes two system calls for it, and only if it is unreadable: epoll_ctl(2), which finds out
 * whether the number still belongs to the channel, and write(2).
 *
 * If the program has closed the descriptor, call this function again: it returns another one, which
 * is readable. Until then the channel leaves the old number alone.
 *
 * fork(2): a child has a descriptor of its own under the same number as soon as it calls this
 * function, or ipcwait_channel_tryrecv() says -EAGAIN; before that it is the parent's.
 *
 * Return: the descriptor, 3 or above.
 *   -EMFILE, -ENFILE, -ENOMEM  as eventfd(2) and epoll_create1(2)
 *   -ENOSPC   as epoll_ctl(2)
 *   -ENOTSUP  the channel is one between processes
 *   -EINVAL   @ch is NULL
 *
 * Ordering:     none
 * Threads:      any
 * Processes:    one
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     the descriptor lives as long as the channel
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_channel_eventfd(struct ipcwait_channel *ch);

IPCWAIT_END_DECLS

#endif
