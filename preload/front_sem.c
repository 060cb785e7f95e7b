/* SPDX-License-Identifier: MIT */
/*
 * POSIX semaphores. What is read of a semaphore is a hint only: if another libc laid them out in
 * another way, a wait would go to the original at once or after a spin in vain.
 */
#include <errno.h>
#include <pthread.h>

#include "front.h"
#include "module.h"
#include "original.h"
#include "os/seam.h"

/* As the next library has it: the value, and above it those who sleep. */
struct sem_words {
	struct ipcwait_word32 value;
	struct ipcwait_word32 sleepers;
};

static bool has_token(const sem_t *s)
{
	/* ORD front_sem.X1: relaxed, hint: the try decides, and orders. */
	return ipcwait_impl_load32_relaxed(&((const struct sem_words *)s)->value) != 0;
}

static bool has_sleepers(const sem_t *s)
{
	/* ORD front_sem.X2: relaxed, hint: who is overlooked goes without a stamp. */
	return ipcwait_impl_load32_relaxed(&((const struct sem_words *)s)->sleepers) != 0;
}

/*
 * A cancellation that was asked for before the token came is acted upon, so it is looked for after
 * the token is seen and before that is taken.
 */
static int take(const struct front *me)
{
	if (!has_token(me->object))
		return EBUSY;
	pthread_testcancel();
	return original()->sem_trywait(me->object) == 0 ? 0 : EBUSY;
}

static int block(const struct front *me)
{
	const struct front_limit *limit = &me->limit;
	int r;

	if (me->place)
		iw_place_note_entry(me->place, iw_clock_common((uint64_t)iw_clock_ns()));
	if (!limit->at)
		r = original()->sem_wait(me->object);
	else if (limit->clock == CLOCK_REALTIME)
		r = original()->sem_timedwait(me->object, limit->at);
	else
		r = original()->sem_clockwait(me->object, limit->clock, limit->at);
	return r ? errno : 0;
}

static const struct front_call sem_call = {
	.waitable = { .kind = IPCWAIT_KIND_SEM,
		      .look = iw_front_look,
		      .settle = iw_front_settle },
	.take = take,
	.block = block,
};

static __attribute__((noinline)) int wait_for_token(sem_t *s, clockid_t clock,
						    const struct timespec *at,
						    uintptr_t site)
{
	struct front me = {
		.object = s,
		.limit = { clock, at },
		.interrupts = at ? FRONT_ANY : FRONT_INTERRUPTING,
		.point = true,
	};
	int r;

	if (original()->race_detector)
		r = block(&me);
	else
		r = iw_front_wait(&me, &sem_call, site);
	if (!r)
		return 0;
	errno = r;
	return -1;
}

IW_INTERPOSED int sem_wait(sem_t *s)
{
	if (IPCWAIT_LIKELY(has_token(s)))
		return original()->sem_wait(s);
	return wait_for_token(s, CLOCK_REALTIME, NULL, IW_CALL_SITE);
}

IW_INTERPOSED int sem_timedwait(sem_t *restrict s, const struct timespec *restrict at)
{
	if (IPCWAIT_LIKELY(has_token(s)))
		return original()->sem_timedwait(s, at);
	return wait_for_token(s, CLOCK_REALTIME, at, IW_CALL_SITE);
}

IW_INTERPOSED int sem_clockwait(sem_t *restrict s, clockid_t clock,
				const struct timespec *restrict at)
{
	if (IPCWAIT_LIKELY(has_token(s)))
		return original()->sem_clockwait(s, clock, at);
	return wait_for_token(s, clock, at, IW_CALL_SITE);
}

static __attribute__((noinline)) int post_to_sleepers(sem_t *s)
{
	bool had_token = has_token(s);
	struct place *p = iw_place_find(s);
	uint64_t stamped_at = iw_front_stamp(p);
	bool asleep = stamped_at && iw_place_asleep(p, iw_clock_common(stamped_at));
	int r = original()->sem_post(s);

	/* If there was a token, somebody had been woken for that, and may not have come yet. */
	if (r == 0 && !had_token && !original()->race_detector)
		iw_note_wake(IPCWAIT_KIND_SEM, asleep, stamped_at);
	return r;
}

IW_INTERPOSED int sem_post(sem_t *s)
{
	if (IPCWAIT_LIKELY(!has_sleepers(s)))
		return original()->sem_post(s);
	return post_to_sleepers(s);
}
