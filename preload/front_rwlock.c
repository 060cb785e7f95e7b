/* SPDX-License-Identifier: MIT */
/* Reader-writer locks. A try that fails only reads the lock, so it is the look. */
#include <errno.h>

#include "after_unlock.h"
#include "front.h"
#include "module.h"
#include "original.h"
#include "owner.h"
#include "sections.h"

#define FUTEX_USED 2u

static int take_read(const struct front *me)
{
	return original()->rwlock_tryrdlock(me->object);
}

static int take_write(const struct front *me)
{
	return original()->rwlock_trywrlock(me->object);
}

static int block_read(const struct front *me)
{
	const struct front_limit *limit = &me->limit;

	if (!limit->at)
		return original()->rwlock_rdlock(me->object);
	if (limit->clock == CLOCK_REALTIME)
		return original()->rwlock_timedrdlock(me->object, limit->at);
	return original()->rwlock_clockrdlock(me->object, limit->clock, limit->at);
}

static int block_write(const struct front *me)
{
	const struct front_limit *limit = &me->limit;

	if (!limit->at)
		return original()->rwlock_wrlock(me->object);
	if (limit->clock == CLOCK_REALTIME)
		return original()->rwlock_timedwrlock(me->object, limit->at);
	return original()->rwlock_clockwrlock(me->object, limit->clock, limit->at);
}

static const struct front_call read_call = {
	.waitable = { .kind = IPCWAIT_KIND_RWLOCK,
		      .look = iw_front_look,
		      .settle = iw_front_settle },
	.take = take_read,
	.block = block_read,
};

static const struct front_call write_call = {
	.waitable = { .kind = IPCWAIT_KIND_RWLOCK,
		      .look = iw_front_look,
		      .settle = iw_front_settle },
	.take = take_write,
	.block = block_write,
};

/* The original says so at once. */
static bool would_deadlock(const pthread_rwlock_t *l)
{
	return (uint32_t)l->__data.__cur_writer == iw_owner_self();
}

/*
 * It was held; with a limit it may be free, and no section is measured. What is wrong with the
 * limit the original tells, which looks at it first.
 */
static __attribute__((noinline)) int wait_for_lock(pthread_rwlock_t *l, clockid_t clock,
						   const struct timespec *at,
						   const struct front_call *call,
						   uintptr_t site)
{
	struct front me = { .object = l, .limit = { clock, at } };
	int r;

	if (original()->race_detector || would_deadlock(l))
		return call->block(&me);
	if (!at)
		me.base.apart_ns = iw_sections_apart_ns(l);
	r = iw_front_wait(&me, call, site);
	if (r == 0 && !at)
		iw_sections_note(l);
	return r;
}

IW_INTERPOSED int pthread_rwlock_rdlock(pthread_rwlock_t *l)
{
	int r = original()->rwlock_tryrdlock(l);

	if (IPCWAIT_LIKELY(r != EBUSY))
		return r;
	return wait_for_lock(l, CLOCK_REALTIME, NULL, &read_call, IW_CALL_SITE);
}

IW_INTERPOSED int pthread_rwlock_wrlock(pthread_rwlock_t *l)
{
	int r = original()->rwlock_trywrlock(l);

	if (IPCWAIT_LIKELY(r != EBUSY))
		return r;
	return wait_for_lock(l, CLOCK_REALTIME, NULL, &write_call, IW_CALL_SITE);
}

IW_INTERPOSED int pthread_rwlock_timedrdlock(pthread_rwlock_t *restrict l,
					     const struct timespec *restrict at)
{
	return wait_for_lock(l, CLOCK_REALTIME, at, &read_call, IW_CALL_SITE);
}

IW_INTERPOSED int pthread_rwlock_timedwrlock(pthread_rwlock_t *restrict l,
					     const struct timespec *restrict at)
{
	return wait_for_lock(l, CLOCK_REALTIME, at, &write_call, IW_CALL_SITE);
}

IW_INTERPOSED int pthread_rwlock_clockrdlock(pthread_rwlock_t *restrict l, clockid_t clock,
					     const struct timespec *restrict at)
{
	return wait_for_lock(l, clock, at, &read_call, IW_CALL_SITE);
}

IW_INTERPOSED int pthread_rwlock_clockwrlock(pthread_rwlock_t *restrict l, clockid_t clock,
					     const struct timespec *restrict at)
{
	return wait_for_lock(l, clock, at, &write_call, IW_CALL_SITE);
}

/* A hint: both futexes of the lock have a bit for it. */
static bool has_sleepers(const pthread_rwlock_t *l)
{
	return (l->__data.__wrphase_futex | l->__data.__writers_futex) & FUTEX_USED;
}

/* Its section is measured. No wake is due: iw_after_unlock_measure() sees to that. */
static __attribute__((noinline)) void end_section(void)
{
	iw_sections_end();
	iw_after_unlock_end();
}

/* An unlock may wake many, or nobody though there are sleepers: it is stamped, and not timed. */
IW_INTERPOSED int pthread_rwlock_unlock(pthread_rwlock_t *l)
{
	if (!IPCWAIT_LIKELY(iw_after_unlock.lock != l))
		end_section();
	if (!IPCWAIT_LIKELY(!has_sleepers(l)))
		(void)iw_front_stamp(iw_place_of_sleepers(l));
	return original()->rwlock_unlock(l);
}
