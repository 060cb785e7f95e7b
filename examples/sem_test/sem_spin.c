/* SPDX-License-Identifier: MIT */
/*
 * What people write by hand: a value, a count of sleepers, and a spin of a fixed length
 * before every sleep. It learns nothing and asks nobody whether spinning can help.
 */
#include "rows.h"
#include "../../tools/common/spin_hint.h"

#include <errno.h>
#include <ipcwait/base.h>
#include <ipcwait/futex.h>

/* Between the cost of a block/wake pair on metal and in a guest; 10 to 100 us do here. */
#define SPIN_NS 30000

/* Looks at the value between two looks at the clock, about 0.4 us at 26 ns a pause. */
#define LOOKS 16

struct spin_sem {
	uint32_t value;    /* tokens; the futex */
	uint32_t sleepers; /* threads that sleep or are about to */
	unsigned flags;
};

_Static_assert(sizeof(struct spin_sem) <= sizeof(struct sem_room),
	       "the room holds the semaphore");

static int init(void *sem, unsigned value, bool shared)
{
	struct spin_sem *s = sem;

	__atomic_store_n(&s->value, value, __ATOMIC_RELAXED);
	__atomic_store_n(&s->sleepers, 0, __ATOMIC_RELAXED);
	s->flags = shared ? 0 : IPCWAIT_PRIVATE;
	return 0;
}

static bool take(struct spin_sem *s)
{
	uint32_t v = __atomic_load_n(&s->value, __ATOMIC_RELAXED);

	while (v)
		if (__atomic_compare_exchange_n(&s->value, &v, v - 1, false,
						__ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
			return true;
	return false;
}

static bool spin(struct spin_sem *s)
{
	int64_t end = ipcwait_now_ns() + SPIN_NS;

	do {
		for (int i = 0; i < LOOKS; i++) {
			if (take(s))
				return true;
			spin_hint();
		}
	} while (ipcwait_now_ns() < end);
	return false;
}

/*
 * Announcing the sleeper and looking at the value are in one order with the post's adding
 * to the value and looking for sleepers: one of the two sees the other.
 */
static int sleep_for_token(struct spin_sem *s)
{
	int r = 0;

	__atomic_fetch_add(&s->sleepers, 1, __ATOMIC_SEQ_CST);
	while (!take(s)) {
		r = ipcwait_futex_wait(&s->value, 0, IPCWAIT_FOREVER, NULL, s->flags);
		if (r && r != -EAGAIN)
			break;
		r = 0;
	}
	__atomic_fetch_sub(&s->sleepers, 1, __ATOMIC_RELAXED);
	return r;
}

static int wait(void *sem)
{
	return take(sem) || spin(sem) ? 0 : sleep_for_token(sem);
}

static int post(void *sem)
{
	struct spin_sem *s = sem;
	int r = 0;

	__atomic_fetch_add(&s->value, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&s->sleepers, __ATOMIC_SEQ_CST))
		r = ipcwait_futex_wake(&s->value, 1, s->flags);
	return r < 0 ? r : 0;
}

static int value(void *sem)
{
	struct spin_sem *s = sem;

	return (int)__atomic_load_n(&s->value, __ATOMIC_RELAXED);
}

static void fini(void *sem)
{
	(void)sem;
}

static int pairs(void *sem, uint64_t n)
{
	int r = 0;

	while (n-- && !r)
		r = post(sem) ? -EINVAL : wait(sem);
	return r;
}

const struct sem_ops sem_spin = { init, wait, post, value, fini, pairs, NULL };
