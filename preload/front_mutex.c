/* SPDX-License-Identifier: MIT */
/*
 * Mutexes of all kinds but those that inherit or protect a priority: the kernel hands these from
 * thread to thread, and a spinner would never see one free. What is read of a mutex is a hint only;
 * a try decides.
 */
#include <errno.h>
#include <limits.h>

#include "front.h"
#include "front_mutex.h"
#include "module.h"
#include "original.h"
#include "os/life.h"

/* Of the kind: what has nothing to say about how to wait. */
#define KIND_ERRORCHECK PTHREAD_MUTEX_ERRORCHECK_NP
#define KIND_TYPE       3
#define KIND_ELSEWHERE  (128 | 256 | 512) /* shared, and with or without elision */
#define KIND_INHERIT    32
#define KIND_PROTECT    64

/* Of the lock: somebody sleeps, if it is not robust and if it is; and its owner. */
#define LOCK_SLEEPERS        2
#define LOCK_ROBUST_SLEEPERS UINT32_C(0x80000000)
#define LOCK_OWNER           UINT32_C(0x3fffffff)

static uint32_t lock_of(const pthread_mutex_t *m)
{
	/* ORD front_mutex.X1: relaxed, hint: the try decides, and orders. */
	return ipcwait_impl_load32_relaxed(
		(const struct ipcwait_word32 *)&m->__data.__lock);
}

static bool is_free(const pthread_mutex_t *m)
{
	return (lock_of(m) & LOCK_OWNER) == 0;
}

static bool is_priority(const pthread_mutex_t *m)
{
	return m->__data.__kind & (KIND_INHERIT | KIND_PROTECT);
}

/* The original says so at once. */
static bool would_deadlock(const pthread_mutex_t *m)
{
	return (m->__data.__kind & KIND_TYPE) == KIND_ERRORCHECK &&
	       (uint32_t)m->__data.__owner == iw_thread_id();
}

/* Whether the caller owns it is not known of a normal one, so to unlock that always succeeds. */
static bool is_normal(const pthread_mutex_t *m)
{
	int kind = m->__data.__kind & ~KIND_ELSEWHERE;

	return kind == PTHREAD_MUTEX_TIMED_NP || kind == PTHREAD_MUTEX_ADAPTIVE_NP;
}

static int take(const struct front *me)
{
	return is_free(me->object) ? original()->mutex_trylock(me->object) : EBUSY;
}

static int block(const struct front *me)
{
	const struct front_limit *limit = &me->limit;

	if (!limit->at)
		return original()->mutex_lock(me->object);
	if (limit->clock == CLOCK_REALTIME)
		return original()->mutex_timedlock(me->object, limit->at);
	return original()->mutex_clocklock(me->object, limit->clock, limit->at);
}

static const struct front_call mutex_call = {
	.waitable = { .kind = IPCWAIT_KIND_MUTEX,
		      .look = iw_front_look,
		      .settle = iw_front_settle },
	.take = take,
	.block = block,
};

/* It was not free, but a recursive one may be the caller's own. */
static __attribute__((noinline)) int wait_for_mutex(pthread_mutex_t *m, clockid_t clock,
						    const struct timespec *at,
						    uintptr_t site)
{
	struct front me = { .object = m, .limit = { clock, at } };
	int r;

	if (is_priority(m) || would_deadlock(m))
		return block(&me);
	r = original()->mutex_trylock(m);
	return r == EBUSY ? iw_front_wait(&me, &mutex_call, site) : r;
}

int iw_lock_mutex(pthread_mutex_t *m, uintptr_t site)
{
	if (IPCWAIT_LIKELY(is_free(m)))
		return original()->mutex_lock(m);
	return wait_for_mutex(m, CLOCK_REALTIME, NULL, site);
}

IW_INTERPOSED int pthread_mutex_lock(pthread_mutex_t *m)
{
	return iw_lock_mutex(m, IW_CALL_SITE);
}

IW_INTERPOSED int pthread_mutex_timedlock(pthread_mutex_t *restrict m,
					  const struct timespec *restrict at)
{
	if (IPCWAIT_LIKELY(is_free(m)))
		return original()->mutex_timedlock(m, at);
	return wait_for_mutex(m, CLOCK_REALTIME, at, IW_CALL_SITE);
}

IW_INTERPOSED int pthread_mutex_clocklock(pthread_mutex_t *restrict m, clockid_t clock,
					  const struct timespec *restrict at)
{
	if (IPCWAIT_LIKELY(is_free(m)))
		return original()->mutex_clocklock(m, clock, at);
	return wait_for_mutex(m, clock, at, IW_CALL_SITE);
}

/*
 * Somebody sleeps on it, or did: libc leaves the mark of sleepers to the last of them. So whether
 * it wakes anybody is not known, and what it costs not learned.
 */
static __attribute__((noinline)) int unlock_for_sleepers(pthread_mutex_t *m)
{
	(void)iw_front_stamp(iw_place_of_sleepers(m));
	return original()->mutex_unlock(m);
}

int iw_unlock_mutex(pthread_mutex_t *m)
{
	uint32_t lock = lock_of(m);

	if (IPCWAIT_LIKELY(lock != LOCK_SLEEPERS && !(lock & LOCK_ROBUST_SLEEPERS)))
		return original()->mutex_unlock(m);
	return unlock_for_sleepers(m);
}

IW_INTERPOSED int pthread_mutex_unlock(pthread_mutex_t *m)
{
	return iw_unlock_mutex(m);
}

/* While the caller has it the number of its users is the caller's. */
int iw_unlock_mutex_to_wait(pthread_mutex_t *m)
{
	if (is_normal(m) || (uint32_t)m->__data.__owner == iw_thread_id())
		m->__data.__nusers++;
	return iw_unlock_mutex(m);
}

int iw_lock_mutex_after_wait(pthread_mutex_t *m, uintptr_t site)
{
	int r = iw_lock_mutex(m, site);

	if (r == 0 || r == EOWNERDEAD)
		m->__data.__nusers--;
	return r;
}
