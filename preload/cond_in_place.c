/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stddef.h>

#include "after_unlock.h"
#include "cond_in_place.h"
#include "front_mutex.h"
#include "original.h"
#include "os/seam.h"
#include "sync/cond_wait.h"

#define FLAG_MONOTONIC 2u

_Static_assert(sizeof(struct ipcwait_cond) == sizeof(pthread_cond_t), "in place");

/*
 * libc's own cancellation handlers, for which no header of new ones has a declaration: run by
 * cancellation below, and by a siglongjmp() past the frame of the buffer.
 */
void _pthread_cleanup_push(struct _pthread_cleanup_buffer *buffer, void (*run)(void *),
			   void *arg);
void _pthread_cleanup_pop(struct _pthread_cleanup_buffer *buffer, int execute);

/* One wait. */
struct cond_front {
	struct iw_cond_waiter waiter;
	const struct iw_waitable *library; /* what the library makes of it */
	pthread_mutex_t *mutex;
	bool noted; /* the program has locked it through this module */
	const struct front_limit *limit;
};

void iw_cond_begin(pthread_cond_t *c, clockid_t clock)
{
	struct ipcwait_cond *own = (struct ipcwait_cond *)c;

	if (ipcwait_cond_init(own, IPCWAIT_PRIVATE))
		return;
	own->unused = clock == CLOCK_MONOTONIC ? FLAG_MONOTONIC : 0;
}

clockid_t iw_cond_clock(const pthread_cond_t *c)
{
	return ((const struct ipcwait_cond *)c)->unused & FLAG_MONOTONIC ? CLOCK_MONOTONIC
									 : CLOCK_REALTIME;
}

/*
 * A new one has no flags: the first call that uses it notes that it is private. Each thread does
 * so, or has seen it, before it reads them, so that none takes it for a shared one.
 */
struct ipcwait_cond *iw_cond_own(pthread_cond_t *c)
{
	struct ipcwait_cond *own = (struct ipcwait_cond *)c;
	struct ipcwait_word32 *flags = (struct ipcwait_word32 *)&own->flags;

	/* ORD cond_in_place.X1: relaxed, no order needed: all store the same. */
	if (!IPCWAIT_LIKELY(ipcwait_impl_load32_relaxed(flags) == IPCWAIT_PRIVATE))
		ipcwait_impl_store32_relaxed(flags, IPCWAIT_PRIVATE);
	return own;
}

/*
 * Looks and settling are cancellation points too, after them: the thread holds its place until
 * then, so that cancelled() gives away the signal that may have come.
 */
static const struct iw_waitable *in_library(const struct iw_waiter *base)
{
	return ((const struct cond_front *)base)->library;
}

static enum iw_seen look_cancellable(struct iw_waiter *base)
{
	enum iw_seen seen = in_library(base)->look(base);

	pthread_testcancel();
	return seen;
}

static struct iw_rest settle_cancellable(struct iw_waiter *base)
{
	struct iw_rest rest = in_library(base)->settle(base);

	if (rest.taken)
		pthread_testcancel();
	return rest;
}

static const struct iw_waitable cancellable = {
	.kind = IPCWAIT_KIND_COND,
	.look = look_cancellable,
	.settle = settle_cancellable,
};

/* The thread is cancelled in its wait: a signal that it was to get goes to another. */
static void cancelled(void *arg)
{
	struct cond_front *me = arg;

	iw_cond_take_back(&me->waiter);
	(void)iw_lock_mutex_after_wait(me->mutex, me->noted, me->waiter.base.site);
}

/*
 * In the place of the futex: a cancellation point, at any instruction. The frames above have
 * nothing to clean up but what cancelled() does.
 */
static int sleep_cancellable(struct iw_waiter *base, const struct iw_rest *rest,
			     int64_t until_ns)
{
	const struct cond_front *me = (const struct cond_front *)base;
	const struct front_limit *limit = me->limit;
	struct timespec mono = iw_futex_deadline(until_ns < 0 ? 0 : until_ns);
	/* The engine's own time, or the program's, by a clock that may be set meanwhile. */
	bool real = limit->clock == CLOCK_REALTIME && until_ns == base->deadline_ns;
	const struct timespec *at = until_ns == IPCWAIT_FOREVER ? NULL
				    : real                      ? limit->at
								: &mono;
	struct timespec kernels;
	int type, r;

	/* Here, as the program's clock may have locks that a cancelled thread would keep. */
	if (at) {
		kernels = iw_futex_kernels_time(real, at);
		at = &kernels;
	}
	(void)pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
	r = iw_futex_wait_clock(rest->word, rest->expected, real && at, at, base->private_,
				rest->bits ? rest->bits : UINT32_MAX);
	(void)pthread_setcanceltype(type, NULL);
	return r;
}

/* It is a time, and before that of any clock. */
static bool is_past(const struct front_limit *limit)
{
	return limit->at->tv_sec < 0 && limit->at->tv_nsec >= 0 &&
	       limit->at->tv_nsec < 1000000000 &&
	       (limit->clock == CLOCK_REALTIME || limit->clock == CLOCK_MONOTONIC);
}

int iw_cond_wait_here(pthread_cond_t *c, pthread_mutex_t *m,
		      const struct front_limit *limit, uintptr_t site)
{
	struct cond_front me = { .mutex = m,
				 .noted = iw_is_noted_locked(m),
				 .limit = limit };
	struct _pthread_cleanup_buffer buffer;
	int64_t deadline_ns;
	int r, locked;

	if (!iw_front_deadline(limit, &deadline_ns)) {
		if (!is_past(limit))
			return EINVAL;
		deadline_ns = 0;
	}
	iw_after_unlock_note(c, m);
	iw_cond_enter(&me.waiter, iw_cond_own(c), deadline_ns, site);
	me.library = me.waiter.base.what;
	me.waiter.base.what = &cancellable;
	me.waiter.base.sleep = sleep_cancellable;
	r = iw_unlock_mutex_to_wait(m);
	if (r) {
		iw_cond_take_back(&me.waiter);
		return r;
	}
	iw_after_unlock_hurry();
	_pthread_cleanup_push(&buffer, cancelled, &me);
	pthread_testcancel();
	r = iw_cond_await(&me.waiter);
	_pthread_cleanup_pop(&buffer, 0);
	locked = iw_lock_mutex_after_wait(m, me.noted, site);
	return locked ? locked : -r;
}
