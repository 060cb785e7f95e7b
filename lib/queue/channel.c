/* SPDX-License-Identifier: MIT */
/* What one channel is asked to do. The attempts are those of its kind, channel.h; here is what
 * follows from them. */
#include <errno.h>

#include "queue/blocking.h"
#include "queue/channel.h"
#include "queue/channel_eventfd.h"
#include "queue/channel_meet.h"
#include "queue/channel_ring.h"
#include "queue/params.h"
#include "queue/channel_select.h"

/* One call that waits. */
struct call {
	struct iw_blocking base;
	struct ipcwait_channel *ch;
	const void *from; /* of a send */
	void *to;         /* of a receive */
	size_t n;
	int64_t result;
};

int ipcwait_channel_params_check(const struct ipcwait_channel_params *params)
{
	if (!params)
		return -EINVAL;
	return params->elem_size && params->elem_size <= IPCWAIT_CHANNEL_ELEM_MAX &&
			       params->capacity <= IPCWAIT_CHANNEL_CAPACITY_MAX &&
			       !params->flags && iw_reserved_is_zero(params->reserved)
		       ? 0
		       : -EINVAL;
}

struct ipcwait_channel *ipcwait_channel_create(const struct ipcwait_channel_params *params)
{
	int saved_errno = errno;
	struct ipcwait_channel *ch;

	if (ipcwait_channel_params_check(params))
		return NULL;
	ch = params->capacity ? iw_channel_ring(params) : iw_channel_meet(params);
	if (ch)
		iw_any_admit(ch->any);
	errno = saved_errno;
	return ch;
}

void ipcwait_channel_destroy(struct ipcwait_channel *ch)
{
	if (!ch)
		return;
	iw_channel_alarm_end(ch);
	ch->any = NULL;
	ch->ops->destroy(ch);
}

static int64_t attempt_send(struct ipcwait_channel *ch, const void *elems, size_t n)
{
	int64_t r = ch->ops->send(ch, elems, n);

	if (r > 0)
		iw_channel_alarm(ch);
	return r;
}

static bool send_again(struct iw_blocking *base)
{
	struct call *me = (struct call *)base;

	me->result = attempt_send(me->ch, me->from, me->n);
	return me->result != -EAGAIN;
}

static bool recv_again(struct iw_blocking *base)
{
	struct call *me = (struct call *)base;

	me->result = me->ch->ops->recv(me->ch, me->to, me->n);
	return me->result != -EAGAIN;
}

/* One element, whatever is asked for: the next one needs another partner. */
static int64_t meet(struct ipcwait_channel *ch, int op, void *elem, int64_t deadline_ns,
		    uintptr_t site)
{
	struct ipcwait_channel_case c = { .channel = ch, .op = op, .elem = elem };
	struct ipcwait_eventcount *ec =
		op == IPCWAIT_CHANNEL_SEND ? ch->room : ch->elements;
	int r = iw_channel_select(&c, 1, deadline_ns, &ec->window, site);

	if (r < 0)
		return r;
	return c.result ? c.result : 1;
}

/* As one attempt, but waits instead of -EAGAIN. */
static int64_t send_some(struct ipcwait_channel *ch, const void *elems, size_t n,
			 int64_t deadline_ns, uintptr_t site)
{
	struct call me;
	int64_t r;

	if (ch->meeting)
		return meet(ch, IPCWAIT_CHANNEL_SEND, iw_offered(elems), deadline_ns, site);
	r = attempt_send(ch, elems, n);
	if (r != -EAGAIN)
		return r;
	me.ch = ch;
	me.from = elems;
	me.n = n;
	me.base.attempt = send_again;
	me.base.nap_ns = ch->ops->nap_ns;
	me.base.fence = NULL;
	r = iw_block(&me.base, ch->room, IPCWAIT_KIND_CHANNEL, deadline_ns, site);
	return r ? r : me.result;
}

static int64_t recv_some(struct ipcwait_channel *ch, void *elems, size_t n,
			 int64_t deadline_ns, uintptr_t site)
{
	struct call me;
	int64_t r;

	if (ch->meeting)
		return meet(ch, IPCWAIT_CHANNEL_RECV, elems, deadline_ns, site);
	r = ch->ops->recv(ch, elems, n);
	if (r != -EAGAIN)
		return r;
	me.ch = ch;
	me.to = elems;
	me.n = n;
	me.base.attempt = recv_again;
	me.base.nap_ns = ch->ops->nap_ns;
	me.base.fence = NULL;
	r = iw_block(&me.base, ch->elements, IPCWAIT_KIND_CHANNEL, deadline_ns, site);
	return r ? r : me.result;
}

static int as_result(int64_t r)
{
	return r < 0 ? (int)r : 0;
}

int ipcwait_channel_send(struct ipcwait_channel *ch, const void *elem)
{
	if (!ch || !elem)
		return -EINVAL;
	return as_result(send_some(ch, elem, 1, IPCWAIT_FOREVER, IW_CALL_SITE));
}

int ipcwait_channel_trysend(struct ipcwait_channel *ch, const void *elem)
{
	return ch && elem ? as_result(attempt_send(ch, elem, 1)) : -EINVAL;
}

int ipcwait_channel_send_until(struct ipcwait_channel *ch, const void *elem,
			       int64_t deadline_ns)
{
	if (!ch || !elem)
		return -EINVAL;
	return as_result(send_some(ch, elem, 1, deadline_ns, IW_CALL_SITE));
}

int ipcwait_channel_recv(struct ipcwait_channel *ch, void *elem)
{
	if (!ch || !elem)
		return -EINVAL;
	return as_result(recv_some(ch, elem, 1, IPCWAIT_FOREVER, IW_CALL_SITE));
}

int ipcwait_channel_tryrecv(struct ipcwait_channel *ch, void *elem)
{
	int64_t r;

	if (!ch || !elem)
		return -EINVAL;
	r = ch->ops->recv(ch, elem, 1);
	if (r == -EAGAIN && iw_channel_alarm_rearm(ch)) {
		r = ch->ops->recv(ch, elem, 1);
		if (r != -EAGAIN)
			iw_channel_alarm(ch);
	}
	return as_result(r);
}

int ipcwait_channel_recv_until(struct ipcwait_channel *ch, void *elem, int64_t deadline_ns)
{
	if (!ch || !elem)
		return -EINVAL;
	return as_result(recv_some(ch, elem, 1, deadline_ns, IW_CALL_SITE));
}

int64_t ipcwait_channel_send_n(struct ipcwait_channel *ch, const void *elems, size_t n,
			       int64_t deadline_ns)
{
	int64_t sent = 0, r = 1;

	if (!ch || !elems || n > INT64_MAX)
		return -EINVAL;
	while ((size_t)sent < n && r > 0) {
		const char *next = (const char *)elems + (size_t)sent * ch->elem_size;

		r = send_some(ch, next, n - (size_t)sent, deadline_ns, IW_CALL_SITE);
		if (r > 0)
			sent += r;
	}
	return sent || r > 0 ? sent : r;
}

int64_t ipcwait_channel_recv_n(struct ipcwait_channel *ch, void *elems, size_t n,
			       int64_t deadline_ns)
{
	if (!ch || !elems || n > INT64_MAX)
		return -EINVAL;
	return n ? recv_some(ch, elems, n, deadline_ns, IW_CALL_SITE) : 0;
}

int ipcwait_channel_close(struct ipcwait_channel *ch)
{
	int r;

	if (!ch)
		return -EINVAL;
	r = ch->ops->close(ch);
	if (!r)
		iw_channel_alarm(ch);
	return r;
}

size_t ipcwait_channel_elem_size(const struct ipcwait_channel *ch)
{
	return ch ? ch->elem_size : 0;
}

int ipcwait_channel_length(struct ipcwait_channel *ch, uint64_t *lo, uint64_t *hi)
{
	if (!ch || !lo || !hi)
		return -EINVAL;
	ch->ops->length(ch, lo, hi);
	return 0;
}
