/* SPDX-License-Identifier: MIT */
/* A channel between processes as a channel: attempts of shared.h, one element after the other. */
#include <ipcwait/channel_shared.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "os/seam.h"
#include "queue/channel.h"
#include "queue/shared.h"

struct shared_channel {
	struct ipcwait_channel base;
	struct iw_shared part;
};

static struct iw_shared *part_of(struct ipcwait_channel *ch)
{
	return &((struct shared_channel *)ch)->part;
}

/* After the first, whatever keeps the next from being done is told by the next call. */
static int64_t shared_send(struct ipcwait_channel *ch, const void *elems, size_t n)
{
	struct iw_shared *s = part_of(ch);
	int64_t done = 0;
	int r = iw_shared_is_mine(s) ? 0 : -EPERM;

	while (!r && (uint64_t)done < n) {
		r = iw_shared_trysend(s,
				      (const char *)elems + (size_t)done * ch->elem_size);
		done += !r;
	}
	return done ? done : r;
}

static int64_t shared_recv(struct ipcwait_channel *ch, void *elems, size_t n)
{
	struct iw_shared *s = part_of(ch);
	int64_t done = 0;
	int r = iw_shared_is_mine(s) ? 0 : -EPERM;

	while (!r && (uint64_t)done < n) {
		r = iw_shared_tryrecv(s, (char *)elems + (size_t)done * ch->elem_size);
		done += !r;
	}
	return done ? done : r;
}

/* Where a descriptor shows that the process lives, nothing is claimed without it. */
static bool is_hidden(struct ipcwait_channel *ch)
{
	return iw_shared_is_mine(part_of(ch)) && !iw_shared_keeps_lock(part_of(ch));
}

static int64_t visible_send(struct ipcwait_channel *ch, const void *elems, size_t n)
{
	return is_hidden(ch) ? -EBADF : shared_send(ch, elems, n);
}

static int64_t visible_recv(struct ipcwait_channel *ch, void *elems, size_t n)
{
	return is_hidden(ch) ? -EBADF : shared_recv(ch, elems, n);
}

static int shared_close(struct ipcwait_channel *ch)
{
	return iw_shared_is_mine(part_of(ch)) ? iw_shared_close(part_of(ch)) : -EPERM;
}

static void shared_length(struct ipcwait_channel *ch, uint64_t *lo, uint64_t *hi)
{
	iw_shared_length(part_of(ch), lo, hi);
}

/* Who has no part is told by the receive that follows. */
static bool shared_ready(struct ipcwait_channel *ch)
{
	return !iw_shared_is_mine(part_of(ch)) || iw_shared_is_ready(part_of(ch));
}

static bool visible_ready(struct ipcwait_channel *ch)
{
	return is_hidden(ch) || shared_ready(ch);
}

static void shared_destroy(struct ipcwait_channel *ch)
{
	iw_shared_detach(part_of(ch));
	free(ch);
}

static const struct iw_channel_ops shared_ops = {
	.send = shared_send,
	.recv = shared_recv,
	.close = shared_close,
	.length = shared_length,
	.ready = shared_ready,
	.destroy = shared_destroy,
	.nap_ns = IW_SHARED_LOOK_NS,
};

static const struct iw_channel_ops visible_ops = {
	.send = visible_send,
	.recv = visible_recv,
	.close = shared_close,
	.length = shared_length,
	.ready = visible_ready,
	.destroy = shared_destroy,
	.nap_ns = IW_SHARED_LOOK_NS,
};

static bool is_shared(const struct ipcwait_channel *ch)
{
	return ch->ops == &shared_ops || ch->ops == &visible_ops;
}

static struct ipcwait_channel *as_channel(const struct iw_shared *part)
{
	struct shared_channel *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->part = *part;
	c->base.any = &iw_channel_made_shared.any;
	c->base.ops = part->by_descriptor ? &visible_ops : &shared_ops;
	c->base.elem_size = part->is.elem_bytes;
	c->base.elements = &part->head->elements;
	c->base.room = &part->head->room;
	iw_any_admit(c->base.any);
	return &c->base;
}

int ipcwait_channel_attach(int fd, struct ipcwait_channel **ch)
{
	int saved_errno = errno;
	struct ipcwait_channel *made;
	struct iw_shared part;
	int r;

	if (!ch)
		return -EINVAL;
	r = iw_shared_attach(&part, fd);
	made = r ? NULL : as_channel(&part);
	errno = saved_errno;
	if (r)
		return r;
	if (!made) {
		iw_shared_detach(&part);
		return -ENOMEM;
	}
	*ch = made;
	return 0;
}

int ipcwait_channel_create_shared(int fd, const struct ipcwait_channel_params *params,
				  struct ipcwait_channel **ch)
{
	struct iw_shared_geometry g;
	int r;

	if (ipcwait_channel_params_check(params) || !ch || params->elem_fini ||
	    !iw_shared_measure(params->elem_size, params->capacity, &g))
		return -EINVAL;
	r = iw_shared_create(fd, &g);
	return r ? r : ipcwait_channel_attach(fd, ch);
}

static uint64_t counted(const struct ipcwait_word64 *n)
{
	/* ORD channel_shared.X1: relaxed, statistic. */
	return ipcwait_impl_load64_relaxed(n);
}

int ipcwait_channel_shared_stats_get(const struct ipcwait_channel *ch,
				     struct ipcwait_channel_shared_stats *st, size_t size)
{
	struct ipcwait_channel_shared_stats all = { 0 };
	const struct iw_shared_head *head;

	if (!ch || !st || size < sizeof(all.size))
		return -EINVAL;
	if (!is_shared(ch))
		return -ENOTSUP;
	head = ((const struct shared_channel *)ch)->part.head;
	all.size = size < sizeof(all) ? size : sizeof(all);
	all.lost = counted(&head->lost);
	all.recovered = counted(&head->recovered);
	memcpy(st, &all, all.size);
	return (int)all.size;
}
