/* SPDX-License-Identifier: MIT */
/*
 * Mutexes of all kinds but those that inherit or protect a priority: the kernel hands these from
 * thread to thread, and a spinner would never see one free. What is read of a mutex is a hint only;
 * a try decides.
 */
#include <errno.h>

#include "after_unlock.h"
#include "front.h"
#include "front_mutex.h"
#include "module.h"
#include "original.h"
#include "owner.h"
#include "sections.h"

/* Of the kind. */
#define KIND_TYPE      3
#define KIND_ELSEWHERE (128 | 256 | 512) /* shared, and with or without elision */
#define KIND_INHERIT   32
#define KIND_PROTECT   64

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

/* Of a kind that knows its owner: the original counts it, or refuses, at once. */
static bool is_own(const pthread_mutex_t *m)
{
	int type = m->__data.__kind & KIND_TYPE;

	return (type == PTHREAD_MUTEX_RECURSIVE_NP ||
		type == PTHREAD_MUTEX_ERRORCHECK_NP) &&
	       (uint32_t)m->__data.__owner == iw_owner_self();
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

static int call_original(pthread_mutex_t *m, const struct front_limit *limit)
{
	if (!limit->at)
		return original()->mutex_lock(m);
	if (limit->clock == CLOCK_REALTIME)
		return original()->mutex_timedlock(m, limit->at);
	return original()->mutex_clocklock(m, limit->clock, limit->at);
}

static int block(const struct front *me)
{
	return call_original(me->object, &me->limit);
}

static const struct front_call mutex_call = {
	.waitable = { .kind = IPCWAIT_KIND_MUTEX,
		      .look = iw_front_look,
		      .settle = iw_front_settle },
	.take = take,
	.block = block,
};

/* @after_wait for a condition: the end of the section of the thread that signalled is near. */
static __attribute__((noinline)) int spin_for_mutex(pthread_mutex_t *m,
						    const struct front_limit *limit,
						    bool after_wait, uintptr_t site)
{
	struct front me = { .object = m, .limit = *limit };
	int r;

	if (!after_wait)
		me.base.apart_ns = iw_sections_apart_ns(m);
	r = iw_front_wait(&me, &mutex_call, site);
	if (r == 0)
		iw_sections_note(m);
	return r;
}

/* It was not free. */
static int wait_for_mutex(pthread_mutex_t *m, const struct front_limit *limit,
			  bool after_wait, uintptr_t site)
{
	if (original()->race_detector || is_priority(m) || is_own(m))
		return call_original(m, limit);
	return spin_for_mutex(m, limit, after_wait, site);
}

static int lock(pthread_mutex_t *m, bool after_wait, uintptr_t site)
{
	static const struct front_limit none;

	if (IPCWAIT_LIKELY(is_free(m)))
		return original()->mutex_lock(m);
	return wait_for_mutex(m, &none, after_wait, site);
}

IW_INTERPOSED int pthread_mutex_lock(pthread_mutex_t *m)
{
	int r = lock(m, false, IW_CALL_SITE);

	if (IPCWAIT_LIKELY(r == 0))
		iw_note_locked(m);
	return r;
}

/* Only to know who has it. */
IW_INTERPOSED int pthread_mutex_trylock(pthread_mutex_t *m)
{
	int r = original()->mutex_trylock(m);

	if (r == 0)
		iw_note_locked(m);
	return r;
}

IW_INTERPOSED int pthread_mutex_timedlock(pthread_mutex_t *restrict m,
					  const struct timespec *restrict at)
{
	if (IPCWAIT_LIKELY(is_free(m)))
		return original()->mutex_timedlock(m, at);
	return wait_for_mutex(m, &(struct front_limit){ CLOCK_REALTIME, at }, false,
			      IW_CALL_SITE);
}

IW_INTERPOSED int pthread_mutex_clocklock(pthread_mutex_t *restrict m, clockid_t clock,
					  const struct timespec *restrict at)
{
	if (IPCWAIT_LIKELY(is_free(m)))
		return original()->mutex_clocklock(m, clock, at);
	return wait_for_mutex(m, &(struct front_limit){ clock, at }, false, IW_CALL_SITE);
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

static int unlock(pthread_mutex_t *m)
{
	uint32_t lock = lock_of(m);

	if (IPCWAIT_LIKELY(lock != LOCK_SLEEPERS && !(lock & LOCK_ROBUST_SLEEPERS)))
		return original()->mutex_unlock(m);
	return unlock_for_sleepers(m);
}

/*
 * Its section is measured, or a signal was given while it was locked. Where others sleep on it they
 * are woken by the unlock, and may keep this thread from its wake: then that comes first.
 */
static __attribute__((noinline)) int unlock_and_wake(pthread_mutex_t *m)
{
	int r;

	iw_sections_end();
	if (lock_of(m) == LOCK_SLEEPERS)
		iw_after_unlock_hurry();
	r = unlock(m);
	iw_after_unlock_end();
	return r;
}

int iw_unlock_mutex(pthread_mutex_t *m)
{
	iw_note_unlocked(m);
	if (IPCWAIT_LIKELY(iw_after_unlock.lock != m))
		return unlock(m);
	return unlock_and_wake(m);
}

IW_INTERPOSED int pthread_mutex_unlock(pthread_mutex_t *m)
{
	return iw_unlock_mutex(m);
}

/* While the caller has it the number of its users is the caller's. */
int iw_unlock_mutex_to_wait(pthread_mutex_t *m)
{
	if (is_normal(m) || (uint32_t)m->__data.__owner == iw_owner_self())
		m->__data.__nusers++;
	return iw_unlock_mutex(m);
}

int iw_lock_mutex_after_wait(pthread_mutex_t *m, bool noted, uintptr_t site)
{
	int r = lock(m, true, site);

	if (r == 0 || r == EOWNERDEAD)
		m->__data.__nusers--;
	if (r == 0 && noted)
		iw_note_locked(m);
	return r;
}
