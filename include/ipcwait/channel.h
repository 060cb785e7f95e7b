/* SPDX-License-Identifier: MIT */
/*
 * Channel: hands elements of one size from threads that send to threads that receive, in order, as
 * the channels of Go do. It holds up to .capacity elements, and senders wait for room; with capacity
 * 0 it holds none, and a sender waits until a receiver has taken its element.
 *
 *	struct ipcwait_channel_params params = { .elem_size = sizeof(int), .capacity = 64 };
 *	struct ipcwait_channel *jobs = ipcwait_channel_create(&params);
 *
 *	(void)ipcwait_channel_send(jobs, &job);          // thread A
 *	(void)ipcwait_channel_close(jobs);
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
 * the last one. With capacity 0 they succeed only if another thread waits on the other side.
 *
 * fork(2): the child has a copy, which it may destroy. What threads of the parent were waiting, or
 * in the middle of a call, it must not use it otherwise.
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

int ipcwait_channel_params_check(const struct ipcwait_channel_params *params);
struct ipcwait_channel *ipcwait_channel_create(const struct ipcwait_channel_params *params);
void ipcwait_channel_destroy(struct ipcwait_channel *ch);
int ipcwait_channel_send(struct ipcwait_channel *ch, const void *elem);
int ipcwait_channel_trysend(struct ipcwait_channel *ch, const void *elem);
int ipcwait_channel_send_until(struct ipcwait_channel *ch, const void *elem,
			       int64_t deadline_ns);
int ipcwait_channel_recv(struct ipcwait_channel *ch, void *elem);
int ipcwait_channel_tryrecv(struct ipcwait_channel *ch, void *elem);
int ipcwait_channel_recv_until(struct ipcwait_channel *ch, void *elem, int64_t deadline_ns);
int64_t ipcwait_channel_send_n(struct ipcwait_channel *ch, const void *elems, size_t n,
			       int64_t deadline_ns);
int64_t ipcwait_channel_recv_n(struct ipcwait_channel *ch, void *elems, size_t n,
			       int64_t deadline_ns);
int ipcwait_channel_close(struct ipcwait_channel *ch);
int ipcwait_channel_length(struct ipcwait_channel *ch, uint64_t *lo, uint64_t *hi);
int ipcwait_channel_select(struct ipcwait_channel_case *cases, unsigned n,
			   int64_t deadline_ns);
int ipcwait_channel_eventfd(struct ipcwait_channel *ch);

IPCWAIT_END_DECLS

#endif
