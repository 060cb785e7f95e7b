/* SPDX-License-Identifier: MIT */
/* Waits for elements and for room, and the end of both. */
#include "os/membarrier.h"
#include "os/seam.h"
#include "queue/blocking.h"
#include "queue/spsc.h"

/* One call that waits. */
struct caller {
	struct iw_blocking blocking;
	struct ipcwait_spsc *q;
	const void *in;
	void *out;
	int result;
};

/*
 * Once in line. What the attempt then reads of the other side is as new as this, at least.
 */
static void look(const struct ipcwait_impl_spsc_side *other)
{
	/* ORD spsc_wait.S1: seq_cst, after the line was joined. Pairs with spsc.S1. */
	(void)ipcwait_impl_load64_seq_cst(&other->at);
}

static bool push_attempt(struct iw_blocking *base)
{
	struct caller *me = (struct caller *)base;

	look(&me->q->consumer);
	/* ORD spsc_wait.S2: seq_cst, as spsc_wait.S1. Pairs with spsc_wait.S3. */
	if (ipcwait_impl_load64_seq_cst(&me->q->closed))
		me->result = -EPIPE;
	else
		me->result = ipcwait_spsc_push(me->q, me->in);
	return me->result != -EAGAIN;
}

static bool pop_attempt(struct iw_blocking *base)
{
	struct caller *me = (struct caller *)base;

	look(&me->q->producer);
	me->result = ipcwait_spsc_trypop(me->q, me->out);
	return me->result != -EAGAIN;
}

static int block(struct caller *me, struct ipcwait_eventcount *ec, int64_t deadline_ns,
		 uintptr_t site)
{
	int r;

	if (!me->q->producer.exchanges)
		me->blocking.fence = iw_membarrier;
	r = iw_block(&me->blocking, ec, IPCWAIT_KIND_QUEUE, deadline_ns, site);
	return r ? r : me->result;
}

int ipcwait_spsc_push_until(struct ipcwait_spsc *q, const void *elem, int64_t deadline_ns)
{
	struct caller me = { .blocking.attempt = push_attempt, .q = q, .in = elem };
	int r = ipcwait_spsc_push(q, elem);

	return r == -EAGAIN ? block(&me, &q->room, deadline_ns, IW_CALL_SITE) : r;
}

static int pop(struct ipcwait_spsc *q, void *elem, int64_t deadline_ns, uintptr_t site)
{
	struct caller me = { .blocking.attempt = pop_attempt, .q = q, .out = elem };

	return block(&me, &q->elements, deadline_ns, site);
}

int ipcwait_spsc_pop_until(struct ipcwait_spsc *q, void *elem, int64_t deadline_ns)
{
	int r = ipcwait_spsc_trypop(q, elem);

	return r == -EAGAIN ? pop(q, elem, deadline_ns, IW_CALL_SITE) : r;
}

int ipcwait_spsc_pop(struct ipcwait_spsc *q, void *elem)
{
	int r = ipcwait_spsc_trypop(q, elem);

	return r == -EAGAIN ? pop(q, elem, IPCWAIT_FOREVER, IW_CALL_SITE) : r;
}

int ipcwait_spsc_close(struct ipcwait_spsc *q)
{
	/*
	 * ORD spsc_wait.S3: seq_cst, so who joins a line later sees it, and with it what the closer
	 * has pushed. Pairs with spsc_wait.S2 and spsc.S3.
	 */
	if (ipcwait_impl_swap64_seq_cst(&q->closed, 1))
		return -EALREADY;
	iw_unblock(&q->elements, 1, IPCWAIT_KIND_QUEUE);
	iw_unblock(&q->room, 1, IPCWAIT_KIND_QUEUE);
	return 0;
}
