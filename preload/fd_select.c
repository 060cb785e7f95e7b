/* SPDX-License-Identifier: MIT */
/*
 * select() and pselect(). A look is the same call with no time, on copies of the sets: what the
 * program has asked for is needed again. With a signal mask there is no look, as in fd_poll.c.
 */
#include <errno.h>
#include <string.h>
#include <sys/select.h>

#include "fd.h"
#include "module.h"
#include "original.h"
#include "readable.h"

#define NS_PER_S  1000000000
#define NS_PER_US 1000
#define US_PER_S  1000000

enum { IN, OUT, EXCEPT, SETS };

struct select_front {
	struct fd_front base;
	int n;
	fd_set *set[SETS];
};

/* What the kernel reads and writes of a set. */
static size_t bytes_of(int n)
{
	return ((size_t)n + 63) / 64 * 8;
}

static int call(const struct select_front *me, fd_set *const set[SETS],
		const struct timespec *timeout)
{
	return original()->pselect(me->n, set[IN], set[OUT], set[EXCEPT], timeout, NULL);
}

static ssize_t look(struct fd_front *base)
{
	static const struct timespec now = { 0, 0 };
	const struct select_front *me = (const struct select_front *)base;
	fd_set copy[SETS], *set[SETS];
	int r;

	for (int i = 0; i < SETS; i++) {
		set[i] = me->set[i] ? memcpy(&copy[i], me->set[i], bytes_of(me->n)) : NULL;
	}
	r = call(me, set, &now);
	if (r == 0) {
		errno = EAGAIN;
		return -1;
	}
	for (int i = 0; r > 0 && i < SETS; i++)
		if (set[i])
			memcpy(me->set[i], set[i], bytes_of(me->n));
	return r;
}

static ssize_t block(struct fd_front *base)
{
	const struct select_front *me = (const struct select_front *)base;
	struct timespec left;

	if (!base->base.limit.at)
		return call(me, me->set, NULL);
	left = iw_fd_left(base);
	return call(me, me->set, &left);
}

static const struct fd_call select_call = { IW_FD_FRONT, look, block };

/* False: it does not wait, or for nothing but time, or the kernel says what is wrong. */
static bool takes(const struct select_front *me, int64_t ns)
{
	bool some = false;

	if (!iw_fd_is_on() || me->n <= 0 || me->n > FD_SETSIZE || ns == 0)
		return false;
	for (int i = 0; i < SETS; i++) {
		if (me->set[i] && !iw_readable(me->set[i], bytes_of(me->n)))
			return false;
		some |= me->set[i] != NULL;
	}
	return some;
}

static int wait_to_select(struct select_front *me, int64_t ns, uintptr_t site)
{
	iw_fd_set_timeout(&me->base, ns);
	return (int)iw_fd_wait(&me->base, &select_call, (unsigned)me->n, site);
}

static struct select_front front_of(int n, fd_set *in, fd_set *out, fd_set *except)
{
	return (struct select_front){
		.base.fd = -1,
		.base.base.interrupts = FRONT_ANY,
		.n = n,
		.set = { in, out, except },
	};
}

/* -1: for ever; -2: it is none. */
static int64_t ns_of(const struct timeval *t)
{
	if (!t)
		return -1;
	if (t->tv_sec < 0 || t->tv_usec < 0 || t->tv_usec >= US_PER_S ||
	    t->tv_sec >= INT64_MAX / NS_PER_S)
		return -2;
	return t->tv_sec * NS_PER_S + t->tv_usec * NS_PER_US;
}

/* Linux tells what was left of the time. */
IW_INTERPOSED int select(int n, fd_set *restrict in, fd_set *restrict out,
			 fd_set *restrict except, struct timeval *restrict timeout)
{
	struct select_front me = front_of(n, in, out, except);
	int64_t ns = ns_of(timeout);
	struct timespec left;
	int r;

	if (ns < -1 || !takes(&me, ns))
		return original()->select(n, in, out, except, timeout);
	r = wait_to_select(&me, ns, IW_CALL_SITE);
	if (timeout && me.base.base.limit.at) {
		left = iw_fd_left(&me.base);
		timeout->tv_sec = left.tv_sec;
		timeout->tv_usec = left.tv_nsec / NS_PER_US;
	}
	return r;
}

IW_INTERPOSED int pselect(int n, fd_set *restrict in, fd_set *restrict out,
			  fd_set *restrict except, const struct timespec *restrict timeout,
			  const sigset_t *restrict mask)
{
	struct select_front me = front_of(n, in, out, except);
	int64_t ns = -1;

	if (timeout)
		ns = timeout->tv_sec < 0 || timeout->tv_nsec < 0 ||
				     timeout->tv_nsec >= NS_PER_S ||
				     timeout->tv_sec >= INT64_MAX / NS_PER_S
			     ? -2
			     : timeout->tv_sec * NS_PER_S + timeout->tv_nsec;
	if (mask || ns < -1 || !takes(&me, ns))
		return original()->pselect(n, in, out, except, timeout, mask);
	return wait_to_select(&me, ns, IW_CALL_SITE);
}
