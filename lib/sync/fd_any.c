/* SPDX-License-Identifier: MIT */
/*
 * Descriptors as objects of a wait for any of several, lib/sync/any.h. A look is a question to
 * poll(2), and nothing is taken. For a sleep they are watched together, on one word.
 */
#include <errno.h>

#include <ipcwait/wait_any.h>

#include "os/descriptor.h"
#include "os/pointer.h"
#include "sync/any.h"
#include "watch/misuse.h"

static int any_begin(const struct ipcwait_waitable *o, struct iw_any_state *state,
		     const char *call)
{
	(void)state;
	if ((uintptr_t)o->object % _Alignof(struct pollfd))
		return iw_misuse(-EINVAL, IPCWAIT_KIND_FD, o->object, call, IW_MISALIGNED);
	if (((const struct pollfd *)o->object)->fd < 0)
		return iw_misuse(-EINVAL, IPCWAIT_KIND_FD, o->object, call,
				 IW_OUT_OF_RANGE);
	return 0;
}

static struct iw_any_fds *fds_of(const struct iw_any_state *state)
{
	return iw_pointer(state->own);
}

static void leave(const struct ipcwait_waitable *o, const struct iw_any_state *state)
{
	struct iw_any_fds *all = fds_of(state);

	iw_watch_remove(&all->watch, ((const struct pollfd *)o->object)->fd);
	if (!--all->announced)
		iw_watch_end(&all->watch);
}

/* Where poll(2) is forbidden the caller finds out by its own call, and does not wait for ever. */
static bool is_ready(const struct ipcwait_waitable *o)
{
	struct pollfd *p = o->object;
	int r = iw_fd_poll(p, 1, 0);

	if (r < 0 && r != -EINTR) {
		p->revents = POLLERR;
		return true;
	}
	return r > 0;
}

static bool any_take(const struct ipcwait_waitable *o, const struct iw_any_state *state)
{
	if (!is_ready(o))
		return false;
	if (state->announced)
		leave(o, state);
	return true;
}

static bool any_withdraw(const struct ipcwait_waitable *o, const struct iw_any_state *state)
{
	leave(o, state);
	return is_ready(o);
}

/* Of all entries with this descriptor: the kernel keeps one for them. */
static uint32_t events_for(const struct iw_any_fds *all, int fd)
{
	uint32_t events = 0;

	for (unsigned i = 0; i < all->n; i++) {
		const struct pollfd *p = all->set[i].object;

		if (all->set[i].type == IPCWAIT_WAITABLE_FD && p->fd == fd)
			events |= (uint16_t)p->events;
	}
	return events;
}

/* What is meant for epoll alone has bits above those of poll(2). */
static bool add(struct iw_any_fds *all, const struct pollfd *p)
{
	int r = iw_watch_add(&all->watch, p->fd, (uint16_t)p->events, false);

	if (r == -EEXIST)
		r = iw_watch_add(&all->watch, p->fd, events_for(all, p->fd), true);
	return r == 0;
}

/* The first of the set does it for all. */
static bool arm(struct iw_any_fds *all, const struct ipcwait_waitable *o)
{
	if (all->announced)
		return all->first != o || iw_watch_again(&all->watch);
	all->first = o;
	return iw_watch_begin(&all->watch);
}

static struct iw_rest any_announce(const struct ipcwait_waitable *o,
				   struct iw_any_state *state)
{
	struct iw_any_fds *all = fds_of(state);

	if (!arm(all, o))
		return iw_rest_unpublished();
	if (!state->announced) {
		if (!add(all, o->object)) {
			if (!all->announced)
				iw_watch_end(&all->watch);
			return iw_rest_unpublished();
		}
		all->announced++;
	}
	return iw_rest_on(all->watch.word, all->watch.value);
}

const struct iw_any_kind iw_any_fd = {
	.made = true,
	.private_ = true,
	.begin = any_begin,
	.take = any_take,
	.announce = any_announce,
	.withdraw = any_withdraw,
	.retract = leave,
};
