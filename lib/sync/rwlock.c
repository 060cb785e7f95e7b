/* SPDX-License-Identifier: MIT */
/* Slow paths of the reader-writer lock. The state table is in <ipcwait/rwlock.h>, the argument
 * in docs/design/rwlock.md. */
#include <limits.h>

#include <ipcwait/rwlock.h>

#include "engine/aside.h"
#include "os/seam.h"
#include "policy/pace.h"
#include "sync/copy.h"
#include "sync/object.h"
#include "sync/rwlock_word.h"
#include "watch/stats.h"

IW_ASSERT_LAYOUT(struct ipcwait_rwlock, 32);

/* What ipcwait_rwlock_fini() leaves: a word that leads every call here. */
#define FINISHED_WORD (RWLOCK_WRITER | RWLOCK_WAKE)

/*
 * A look at a lock under short sections costs the writer more than it finds. How short they are is
 * measured in one of sixteen writes that had to wait, from then on until its unlock.
 */
static int wait_and_learn(struct rwlock_waiter *me)
{
	uint32_t pace = rwlock_pace(me->lock);
	bool writes = me->base.what == &iw_rwlock_writer;
	int r;

	me->base.apart_ns = iw_pace_apart_ns(pace);
	if (!IW_IS_CHECKED && writes && iw_pace_due(pace))
		me->timed = RWLOCK_TIMED;
	r = iw_wait(&me->base);
	if (r || !writes)
		return r;
	pace = iw_pace_waited(rwlock_pace(me->lock));
	if (me->timed)
		pace = iw_pace_began(pace, (uint64_t)iw_clock_ns());
	rwlock_set_pace(me->lock, pace);
	return 0;
}

/* Most calls come here because another reader came between, or has left something in the word. */
static int lock(struct ipcwait_rwlock *l, const struct iw_waitable *what,
		int64_t deadline_ns, uintptr_t site, const char *call)
{
	struct rwlock_waiter me = { .lock = l };
	int r = iw_check(&rwlock_layout, l, call);

	if (r)
		return r;
	iw_copy_mend(&rwlock_layout, l);
	iw_waiter_begin(&me.base, &rwlock_layout, l, what, deadline_ns, site);
	if (!iw_rwlock_take(&me))
		r = wait_and_learn(&me);
	return r ? r : me.result;
}

static int try_lock(struct ipcwait_rwlock *l, const struct iw_waitable *what,
		    const char *call)
{
	struct rwlock_waiter me = { .lock = l };
	int r = iw_check(&rwlock_layout, l, call);

	if (r)
		return r;
	iw_copy_mend(&rwlock_layout, l);
	iw_waiter_begin(&me.base, &rwlock_layout, l, what, 0, 0);
	/* ORD rwlock.X4: relaxed, re-checked by the CAS in iw_rwlock_doubt(). */
	if (what->withdraw(&me.base) ||
	    (iw_rwlock_doubt(&me, ipcwait_impl_load64_relaxed(&l->word)) &&
	     what->withdraw(&me.base)))
		return me.result;
	return -EBUSY;
}

/*
 * Readers are let in, so the inline path's CAS has failed, or a mark is gone since: the CPUs
 * compete for the word.
 */
static bool is_crowded(const struct ipcwait_rwlock *l)
{
	/* ORD rwlock.X8: relaxed, hint. */
	return !IW_IS_CHECKED &&
	       ipcwait_impl_load64_relaxed(&l->word) >> 32 < IPCWAIT_RWLOCK_READERS_MAX;
}

int ipcwait_impl_rwlock_rdlock_slow(struct ipcwait_rwlock *l)
{
	if (is_crowded(l))
		iw_stand_aside(&l->window);
	return lock(l, &iw_rwlock_reader, IPCWAIT_FOREVER, IW_CALL_SITE,
		    "ipcwait_rwlock_rdlock");
}

int ipcwait_rwlock_rdlock_until(struct ipcwait_rwlock *l, int64_t deadline_ns)
{
	return lock(l, &iw_rwlock_reader, deadline_ns, IW_CALL_SITE,
		    "ipcwait_rwlock_rdlock_until");
}

int ipcwait_impl_rwlock_tryrdlock_slow(struct ipcwait_rwlock *l)
{
	return try_lock(l, &iw_rwlock_reader, "ipcwait_rwlock_tryrdlock");
}

int ipcwait_impl_rwlock_wrlock_slow(struct ipcwait_rwlock *l)
{
	return lock(l, &iw_rwlock_writer, IPCWAIT_FOREVER, IW_CALL_SITE,
		    "ipcwait_rwlock_wrlock");
}

int ipcwait_rwlock_wrlock_until(struct ipcwait_rwlock *l, int64_t deadline_ns)
{
	return lock(l, &iw_rwlock_writer, deadline_ns, IW_CALL_SITE,
		    "ipcwait_rwlock_wrlock_until");
}

int ipcwait_impl_rwlock_trywrlock_slow(struct ipcwait_rwlock *l)
{
	return try_lock(l, &iw_rwlock_writer, "ipcwait_rwlock_trywrlock");
}

/* What an unlock leaves, and whom it must wake: RWLOCK_BITS_..., or 0. */
struct left {
	uint64_t word;
	uint32_t bits;
};

/* Readers sleep whom no wake is on its way to, and the lock is not for an overdue writer first. */
static bool readers_are_next(uint64_t w)
{
	return w & RWLOCK_RSLEEPERS_MASK && !(w & RWLOCK_RWAKE) &&
	       (!(w & RWLOCK_URGENT) || w & RWLOCK_RURGENT);
}

/*
 * Readers are woken after a writer. Else a writer is if the lock is free now, and none is on its
 * way, looks, or will look by itself. The mark of a spinner is used up, so that the mark of one
 * that was killed misleads one unlock only.
 */
static struct left leave(uint64_t w, bool writes)
{
	w = writes ? w & ~(RWLOCK_WRITER | RWLOCK_TIMED) : w - RWLOCK_READER_ONE;
	if (writes && readers_are_next(w))
		return (struct left){ (w & ~RWLOCK_SPINNER) | RWLOCK_RWAKE,
				      RWLOCK_BITS_READER };
	if (!rwlock_is_free(w))
		return (struct left){ w, 0 };
	if (!(w & RWLOCK_WSLEEPERS_MASK) || (!(w & RWLOCK_URGENT) && w & RWLOCK_NO_WAKE))
		return (struct left){ w & ~RWLOCK_SPINNER, 0 };
	return (struct left){ (w & ~RWLOCK_SPINNER) | RWLOCK_WAKE,
			      w & RWLOCK_URGENT ? RWLOCK_BITS_OVERDUE
						: RWLOCK_BITS_WRITER };
}

static bool held(uint64_t w, bool writes)
{
	return writes ? w & RWLOCK_WRITER : !(w & RWLOCK_WRITER) && w & RWLOCK_READERS_MASK;
}

/* Releases, then wakes. The CAS is the last access to the lock. */
static int unlock(struct ipcwait_rwlock *l, bool writes, const char *call)
{
	int r = iw_check(&rwlock_layout, l, call);
	struct iw_waker waker;
	struct left left;
	uint64_t w;

	if (r)
		return r;
	waker = iw_waker_on(&rwlock_layout, l);
	/* ORD rwlock.X5: relaxed, re-checked by the CAS below. */
	w = ipcwait_impl_load64_relaxed(&l->word);
	if (writes && w & RWLOCK_TIMED)
		rwlock_set_pace(l, iw_pace_ended(rwlock_pace(l), (uint64_t)iw_clock_ns()));
	do {
		if (!held(w, writes))
			return iw_misuse(-EPERM, IPCWAIT_KIND_RWLOCK, l, call,
					 writes ? "nobody writes" : "nobody reads");
		left = leave(w, writes);
		iw_waker_stamp(&waker, left.bits);
		/*
		 * ORD rwlock.R3: release on success, as rwlock.R1 and rwlock.R2. Pairs with
		 * rwlock.A1, rwlock.A2, rwlock_wait.A1 and rwlock_wait.A2.
		 */
	} while (!ipcwait_impl_cas64_release(&l->word, &w, left.word));

	/* From here on another may have it, and have freed it. */
	if (left.bits)
		(void)iw_waker_wake_bits(
			&waker, left.bits == RWLOCK_BITS_READER ? INT_MAX : 1, left.bits);
	else if (rwlock_is_free(left.word) && w & RWLOCK_WSLEEPERS_MASK)
		iw_count(IPCWAIT_KIND_RWLOCK, IW_WAKES_AVOIDED, 1);
	return 0;
}

int ipcwait_impl_rwlock_rdunlock_slow(struct ipcwait_rwlock *l)
{
	return unlock(l, false, "ipcwait_rwlock_rdunlock");
}

int ipcwait_impl_rwlock_wrunlock_slow(struct ipcwait_rwlock *l)
{
	return unlock(l, true, "ipcwait_rwlock_wrunlock");
}

int ipcwait_rwlock_init(struct ipcwait_rwlock *l, unsigned flags)
{
	struct ipcwait_rwlock fresh = IPCWAIT_RWLOCK_INIT;
	int r = iw_check_init(&rwlock_layout, l, flags, true, "ipcwait_rwlock_init");

	if (r)
		return r;
	fresh.flags = flags;
	fresh.note.v = iw_copy_new(&rwlock_layout, l, flags);
	*l = fresh;
	return 0;
}

int ipcwait_rwlock_fini(struct ipcwait_rwlock *l)
{
	int r = iw_check(&rwlock_layout, l, "ipcwait_rwlock_fini");

	if (r)
		return r;
	iw_copy_mend(&rwlock_layout, l);
	/* ORD rwlock.X6: relaxed, protected by the caller: nobody else uses the lock. */
	if (ipcwait_impl_load64_relaxed(&l->word) & ~RWLOCK_EPOCH_MASK)
		return -EBUSY;
	/* ORD rwlock.X7: relaxed, protected by the caller, as rwlock.X6. */
	ipcwait_impl_store64_relaxed(&l->word, FINISHED_WORD);
	l->flags = IW_FLAGS_FINISHED;
	return 0;
}
