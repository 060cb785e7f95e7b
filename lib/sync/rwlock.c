/* SPDX-License-Identifier: MIT */
/* Slow paths of the reader-writer lock. The state table is in <ipcwait/rwlock.h>, the argument
 * in docs/design/rwlock.md. */
#include <limits.h>

#include <ipcwait/rwlock.h>

#include "os/seam.h"
#include "sync/rwlock_word.h"
#include "watch/misuse.h"
#include "watch/stats.h"
#include "engine/wake.h"

_Static_assert(sizeof(struct ipcwait_rwlock) == 32, "shared-memory layout 0");
_Static_assert(_Alignof(struct ipcwait_rwlock) == 8, "shared-memory layout 0");
_Static_assert(offsetof(struct ipcwait_rwlock, word) == 0, "shared-memory layout 0");
_Static_assert(offsetof(struct ipcwait_rwlock, window) == 16, "shared-memory layout 0");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the futex is the low half");

/* What ipcwait_rwlock_fini() leaves: a word that leads every call here. */
#define FINISHED_WORD  (RWLOCK_WRITER | RWLOCK_WAKE)
#define FINISHED_FLAGS UINT32_MAX

/* 0, or the error of @call if @l is none that this process can use. */
static int check(const struct ipcwait_rwlock *l, const char *call)
{
	if (!l)
		return iw_misuse(-EINVAL, IPCWAIT_KIND_RWLOCK, l, call, IW_NULL);
	if ((uintptr_t)l % 8)
		return iw_misuse(-EINVAL, IPCWAIT_KIND_RWLOCK, l, call, IW_MISALIGNED);
	if (l->flags == FINISHED_FLAGS)
		return iw_misuse(-EINVAL, IPCWAIT_KIND_RWLOCK, l, call, IW_FINISHED);
	return iw_private_check(&l->reserved, IPCWAIT_KIND_RWLOCK, l, call);
}

static struct rwlock_waiter waiter_on(struct ipcwait_rwlock *l,
				      const struct iw_waitable *what, int64_t deadline_ns)
{
	return (struct rwlock_waiter){
		.base = {
			.what = what,
			.window = &l->window,
			.futex = (const uint32_t *)&l->word,
			.deadline_ns = deadline_ns,
			.private_ = l->flags & IPCWAIT_PRIVATE,
			.bits = RWLOCK_BITS_READER,
		},
		.lock = l,
	};
}

/* Most calls come here because another reader came between, or has left something in the word. */
static int lock(struct ipcwait_rwlock *l, const struct iw_waitable *what,
		int64_t deadline_ns, const char *call)
{
	struct rwlock_waiter me;
	int r = check(l, call);

	if (r)
		return r;
	me = waiter_on(l, what, deadline_ns);
	if (!what->withdraw(&me.base))
		r = iw_wait(&me.base);
	return r ? r : me.result;
}

static int try_lock(struct ipcwait_rwlock *l, const struct iw_waitable *what,
		    const char *call)
{
	struct rwlock_waiter me;
	int r = check(l, call);

	if (r)
		return r;
	me = waiter_on(l, what, 0);
	/* ORD rwlock.X4: relaxed, re-checked by the CAS in iw_rwlock_doubt(). */
	if (what->withdraw(&me.base) ||
	    (iw_rwlock_doubt(&me, ipcwait_impl_load64_relaxed(&l->word)) &&
	     what->withdraw(&me.base)))
		return me.result;
	return -EBUSY;
}

int ipcwait_impl_rwlock_rdlock_slow(struct ipcwait_rwlock *l)
{
	return lock(l, &iw_rwlock_reader, IPCWAIT_FOREVER, "ipcwait_rwlock_rdlock");
}

int ipcwait_rwlock_rdlock_until(struct ipcwait_rwlock *l, int64_t deadline_ns)
{
	return lock(l, &iw_rwlock_reader, deadline_ns, "ipcwait_rwlock_rdlock_until");
}

int ipcwait_impl_rwlock_tryrdlock_slow(struct ipcwait_rwlock *l)
{
	return try_lock(l, &iw_rwlock_reader, "ipcwait_rwlock_tryrdlock");
}

int ipcwait_impl_rwlock_wrlock_slow(struct ipcwait_rwlock *l)
{
	return lock(l, &iw_rwlock_writer, IPCWAIT_FOREVER, "ipcwait_rwlock_wrlock");
}

int ipcwait_rwlock_wrlock_until(struct ipcwait_rwlock *l, int64_t deadline_ns)
{
	return lock(l, &iw_rwlock_writer, deadline_ns, "ipcwait_rwlock_wrlock_until");
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

/*
 * Readers have the turn after a writer. Else the lock is for a writer if it is free now: one that
 * is on its way or spins, or one to be woken. The mark of a spinner is used up, so that the mark
 * of one that was killed misleads one unlock only.
 */
static struct left leave(uint64_t w, bool writes)
{
	w -= writes ? RWLOCK_WRITER : RWLOCK_READER_ONE;
	if (writes && w & RWLOCK_RSLEEPERS_MASK)
		return (struct left){ w | RWLOCK_TURN, RWLOCK_BITS_READER };
	if (!rwlock_is_free(w))
		return (struct left){ w, 0 };
	if (!(w & RWLOCK_WSLEEPERS_MASK) ||
	    (!(w & RWLOCK_URGENT) && w & (RWLOCK_WAKE | RWLOCK_SPINNER)))
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
	bool private_, stamped = false;
	uint64_t w, stamped_ns = 0;
	struct left left;
	int r = check(l, call);

	if (r)
		return r;
	private_ = l->flags & IPCWAIT_PRIVATE;
	/* ORD rwlock.X5: relaxed, re-checked by the CAS below. */
	w = ipcwait_impl_load64_relaxed(&l->word);
	do {
		if (!held(w, writes))
			return iw_misuse(-EPERM, IPCWAIT_KIND_RWLOCK, l, call,
					 writes ? "nobody writes" : "nobody reads");
		left = leave(w, writes);
		if (left.bits && !stamped)
			stamped_ns = iw_stamp(&l->window);
		stamped = stamped || left.bits;
		/*
		 * ORD rwlock.R3: release on success, as rwlock.R1 and rwlock.R2. Pairs with
		 * rwlock.A1, rwlock.A2, rwlock_wait.A1 and rwlock_wait.A2.
		 */
	} while (!ipcwait_impl_cas64_release(&l->word, &w, left.word));

	/* From here on another may have it, and have freed it. */
	if (left.bits)
		(void)iw_wake_bits(IPCWAIT_KIND_RWLOCK, (const uint32_t *)&l->word,
				   left.bits == RWLOCK_BITS_READER ? INT_MAX : 1, private_,
				   left.bits, stamped_ns);
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

static int refuse_init(const struct ipcwait_rwlock *l)
{
	const char *what = IW_UNKNOWN_FLAGS;

	if (!l)
		what = IW_NULL;
	else if ((uintptr_t)l % 8)
		what = IW_MISALIGNED;
	return iw_misuse(-EINVAL, IPCWAIT_KIND_RWLOCK, l, "ipcwait_rwlock_init", what);
}

int ipcwait_rwlock_init(struct ipcwait_rwlock *l, unsigned flags)
{
	struct ipcwait_rwlock fresh = IPCWAIT_RWLOCK_INIT;

	if (!l || (uintptr_t)l % 8 || flags & ~IPCWAIT_PRIVATE)
		return refuse_init(l);
	fresh.flags = flags;
	fresh.reserved = iw_private_owner(flags);
	*l = fresh;
	return 0;
}

int ipcwait_rwlock_fini(struct ipcwait_rwlock *l)
{
	int r = check(l, "ipcwait_rwlock_fini");

	if (r)
		return r;
	/* ORD rwlock.X6: relaxed, protected by the caller: nobody else uses the lock. */
	if (ipcwait_impl_load64_relaxed(&l->word) & ~RWLOCK_EPOCH_MASK)
		return -EBUSY;
	/* ORD rwlock.X7: relaxed, protected by the caller, as rwlock.X6. */
	ipcwait_impl_store64_relaxed(&l->word, FINISHED_WORD);
	l->flags = FINISHED_FLAGS;
	return 0;
}
