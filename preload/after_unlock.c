/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include <ipcwait/impl/word.h>

#include "after_unlock.h"
#include "os/seam.h"
#include "owner.h"

#define KNOWN_BITS 8

/*
 * All other bits of a mutex's kind: processes share it, its owner may die, the kernel hands it
 * over, or its lock is elided. Threads that signal with such a mutex make their wakes at once.
 */
#define KIND_PLAIN (3 | 512)

/*
 * Where a mutex is kept for more than SHORT_NS, in ns, after a signal, a sleeper would have been on
 * its way to another CPU meanwhile. Then AT_ONCE wakes are made at once before the next trial.
 */
#define SHORT_NS 2000
#define AT_ONCE  16

/*
 * With what mutex threads wait on a condition variable.
 *
 * known.version  odd while the entry is written
 * known.cond     whose it is
 * known.mutex    NULL: one that is not plain, or not unlocked through this module
 * known.at_once  wakes that are to be made at once; stays when the entry changes
 */
struct known {
	struct ipcwait_word32 version;
	struct ipcwait_word32 at_once;
	struct ipcwait_wordptr cond, mutex;
};

static struct known known[1u << KNOWN_BITS] __attribute__((aligned(64)));

_Thread_local struct iw_after_unlock iw_after_unlock
	__attribute__((tls_model("initial-exec")));

static struct known *known_at(const pthread_cond_t *c)
{
	return &known[iw_hash((uintptr_t)c) >> (64 - KNOWN_BITS)];
}

/*
 * With what mutex @c is waited on, or was last; NULL: not known. It is an address to compare with:
 * the mutex may be gone. Those who wait on @c have its mutex when they write, so no two of them do
 * at once; one that finds the entry being written by another's waiter leaves it to that one.
 */
static const pthread_mutex_t *mutex_of(const struct known *k, const pthread_cond_t *c)
{
	/* ORD after_unlock.A1: acquire, to read a whole entry. Pairs with after_unlock.R1. */
	uint32_t version = ipcwait_impl_load32_acquire(&k->version);
	/* ORD after_unlock.A2: acquire, before the version is read again. Pairs with
	 * after_unlock.R2. */
	const void *cond = ipcwait_impl_loadptr_acquire(&k->cond);
	/* ORD after_unlock.A3: acquire, as after_unlock.A2. Pairs with after_unlock.R3. */
	const void *mutex = ipcwait_impl_loadptr_acquire(&k->mutex);

	/* ORD after_unlock.X1: relaxed, no order needed: comes after what was acquired. */
	if (version % 2 || ipcwait_impl_load32_relaxed(&k->version) != version)
		return NULL;
	return cond == c ? mutex : NULL;
}

static void write_entry(struct known *k, const pthread_cond_t *c, const pthread_mutex_t *m)
{
	/* ORD after_unlock.X2: relaxed, re-checked by the CAS. */
	uint32_t version = ipcwait_impl_load32_relaxed(&k->version);

	/* ORD after_unlock.A4: acquire, so that the stores come after it. Pairs with
	 * after_unlock.R1. */
	if (version % 2 || !ipcwait_impl_cas32_acquire(&k->version, &version, version + 1))
		return;
	/* ORD after_unlock.R2: release, so that who reads it finds another version. Pairs with
	 * after_unlock.A2. */
	ipcwait_impl_storeptr_release(&k->cond, (void *)c);
	/* ORD after_unlock.R3: release, as after_unlock.R2. Pairs with after_unlock.A3. */
	ipcwait_impl_storeptr_release(&k->mutex, (void *)m);
	/* ORD after_unlock.R1: release, the entry is whole. Pairs with after_unlock.A1 and
	 * after_unlock.A4. */
	ipcwait_impl_store32_release(&k->version, version + 2);
}

void iw_after_unlock_note(const pthread_cond_t *c, const pthread_mutex_t *m)
{
	const pthread_mutex_t *plain = m->__data.__kind & ~KIND_PLAIN ? NULL : m;
	struct known *k = known_at(c);

	if (!IPCWAIT_LIKELY(mutex_of(k, c) == plain))
		write_entry(k, c, plain);
}

/* Counts one of those that are to be made at once. False if there are none. */
static bool take_at_once(struct known *k)
{
	/* ORD after_unlock.X3: relaxed, hint: when a wake is made. */
	uint32_t n = ipcwait_impl_load32_relaxed(&k->at_once);

	if (n)
		/* ORD after_unlock.X4: relaxed, hint, as after_unlock.X3. */
		ipcwait_impl_store32_relaxed(&k->at_once, n - 1);
	return n;
}

/*
 * The thread owns @m and has unlocked it once before, both through this module: so it will do so
 * again. Who locks here what it, or another thread, unlocks elsewhere never has. In this order: a
 * mutex that the thread has noted and that threads wait with can be read.
 */
static bool will_unlock(const pthread_mutex_t *m)
{
	const struct iw_held *held = iw_held_at(m);

	return held->now == m && held->before == m &&
	       (uint32_t)m->__data.__owner == iw_owner_self();
}

struct iw_due_wake *iw_after_unlock_begin(const pthread_cond_t *c)
{
	struct iw_after_unlock *me = &iw_after_unlock;
	struct known *k = known_at(c);
	const pthread_mutex_t *m = mutex_of(k, c);

	iw_after_unlock_hurry();
	if (!m || !will_unlock(m) || take_at_once(k))
		return NULL;
	if (me->lock != m)
		me->measured = NULL; /* the end of its section will not be noticed */
	me->lock = m;
	me->cond = c;
	return &me->due;
}

void iw_after_unlock_hurry(void)
{
	if (iw_is_due(&iw_after_unlock.due))
		iw_make_wake(&iw_after_unlock.due);
}

bool iw_after_unlock_measure(const void *lock, struct place *p)
{
	struct iw_after_unlock *me = &iw_after_unlock;

	if (iw_is_due(&me->due))
		return false;
	me->lock = lock;
	me->measured = p;
	return true;
}

/* The entry may be another's by now: that one makes some wakes earlier or later. */
void iw_after_unlock_end(void)
{
	struct iw_after_unlock *me = &iw_after_unlock;

	me->lock = NULL;
	if (!iw_is_due(&me->due))
		return;
	if (iw_now_ns() - me->due.left_ns > SHORT_NS)
		/* ORD after_unlock.X5: relaxed, hint, as after_unlock.X3. */
		ipcwait_impl_store32_relaxed(&known_at(me->cond)->at_once, AT_ONCE);
	iw_make_wake(&me->due);
}
