/* SPDX-License-Identifier: MIT */
/* What does not wait: ways in where nobody is in the way, ways out. The state table is in
 * <ipcwait/mutex.h>, the argument in docs/design/mutex.md. */
#include "sync/mutex_word.h"

#include "engine/wait.h"
#include "os/seam.h"
#include "policy/pace.h"
#include "sync/object.h"

IW_ASSERT_LAYOUT(struct ipcwait_mutex, 32);

/* For whoever was woken lately. One that does not come is stopped or dead. */
static bool is_kept(const struct ipcwait_mutex *m, uint64_t w)
{
	return w & MUTEX_URGENT && iw_stamp_fresh(&m->window);
}

int iw_mutex_try(struct ipcwait_mutex *m, uint64_t owner)
{
	/* ORD mutex.X2: relaxed, re-checked by the CAS below. */
	uint64_t w = ipcwait_impl_load64_relaxed(&m->word);

	while (!(w & (MUTEX_OWNER_MASK | MUTEX_LOST)) && !is_kept(m, w)) {
		/*
		 * ORD mutex.A3: acquire on success, as mutex.A1. Pairs with mutex.R1, mutex.R2,
		 * mutex.R3 and mutex_known.R1.
		 */
		if (ipcwait_impl_cas64_acquire(&m->word, &w, mutex_owned(w, owner)))
			return w & MUTEX_DIED ? -EOWNERDEAD : 0;
	}
	return w & MUTEX_LOST ? -ENOTRECOVERABLE : -EBUSY;
}

/* One sleeper must be woken: none is up, and nobody else will take the mutex. */
static bool wake_due(uint64_t w)
{
	if (!mutex_sleepers(w) || w & MUTEX_WAKE)
		return false;
	return w & MUTEX_URGENT || !(w & (MUTEX_SPINNER | MUTEX_QUIET));
}

static uint64_t left_word(uint64_t w, bool due)
{
	w &= ~(MUTEX_OWNER_MASK | MUTEX_TIMED);
	if (mutex_sleepers(w) && (w & MUTEX_PASSES_MASK) != MUTEX_PASSES_MASK)
		w += MUTEX_PASS_ONE;
	return due ? w | MUTEX_WAKE : w;
}

/* t -> 0, where nobody has to be woken. False if somebody has, or nobody owns it. */
static bool leave_alone(struct ipcwait_mutex *m)
{
	/* ORD mutex.X3: relaxed, re-checked by the CAS below. */
	uint64_t w = ipcwait_impl_load64_relaxed(&m->word);

	while (w & MUTEX_OWNER_MASK && !wake_due(w)) {
		/*
		 * ORD mutex.R2: release on success, as mutex.R1. Pairs with mutex.A1, mutex.A2,
		 * mutex_wait.A1, mutex.A3, mutex.A4 and mutex_known.A1.
		 */
		if (ipcwait_impl_cas64_release(&m->word, &w, left_word(w, false)))
			return true;
	}
	return false;
}

/* t,0,s -> 0,1,s, then wake one; or, if it is @lost, wake all. */
static int leave_and_wake(struct ipcwait_mutex *m, bool lost)
{
	/* ORD mutex.X6: relaxed, re-checked by the CAS below. */
	uint64_t w = ipcwait_impl_load64_relaxed(&m->word);
	struct iw_waker waker = iw_waker_on(&mutex_layout, m);
	bool due;

	iw_waker_stamp(&waker, true);
	do {
		if (!(w & MUTEX_OWNER_MASK))
			return -EPERM;
		due = lost ? mutex_sleepers(w) : wake_due(w);
		/*
		 * ORD mutex.R3: release on success. Pairs with mutex.A1, mutex.A2, mutex_wait.A1,
		 * mutex.A3, mutex.A4 and mutex_known.A1.
		 */
	} while (!ipcwait_impl_cas64_release(&m->word, &w,
					     left_word(w, due) | (lost ? MUTEX_LOST : 0)));

	/* From here on another may own the mutex, and free it. */
	if (due)
		(void)iw_waker_wake_bits(&waker, lost ? UINT32_MAX : 1,
					 lost || !(w & MUTEX_URGENT) ? MUTEX_BITS_ALL
								     : MUTEX_BITS_OVERDUE);
	return 0;
}

/* The owner's section is over, and is one of those that are measured. */
static void learn_section(struct ipcwait_mutex *m)
{
	mutex_set_pace(m, iw_pace_ended(mutex_pace(m), (uint64_t)iw_clock_ns()));
}

int iw_mutex_leave(struct ipcwait_mutex *m, bool lost)
{
	/* ORD mutex.X8: relaxed, protected by the caller, who owns it. */
	if (ipcwait_impl_load64_relaxed(&m->word) & MUTEX_TIMED)
		learn_section(m);
	return !lost && leave_alone(m) ? 0 : leave_and_wake(m, lost);
}

static int check(const struct ipcwait_mutex *m, const char *call)
{
	return iw_check(&mutex_layout, m, call);
}

/* 0,k,s -> 1,k,s: the fast path beside sleepers. Only a plain mutex in use is not CHECKED. */
static bool lock_beside_sleepers(struct ipcwait_mutex *m)
{
	/* ORD mutex.X7: relaxed, re-checked by the CAS below. */
	uint64_t w = ipcwait_impl_load64_relaxed(&m->word);

	/* ORD mutex.A4: acquire on success. Pairs with mutex.R1, mutex.R2 and mutex.R3. */
	return !IW_IS_CHECKED && !(w & (MUTEX_OWNER_MASK | MUTEX_URGENT | MUTEX_CHECKED)) &&
	       ipcwait_impl_cas64_acquire(&m->word, &w, w | IPCWAIT_IMPL_MUTEX_OWNER_ONE);
}

static int lock_waiting(struct ipcwait_mutex *m, int64_t deadline_ns, uintptr_t site)
{
	if (check(m, "ipcwait_mutex_lock"))
		return -EINVAL;
	if (mutex_is_known(m))
		return iw_mutex_lock_known(m, deadline_ns, site);
	return iw_mutex_wait(m, IPCWAIT_IMPL_MUTEX_OWNER_ONE, deadline_ns, site);
}

int iw_mutex_lock_from(struct ipcwait_mutex *m, uintptr_t site)
{
	return lock_beside_sleepers(m) ? 0 : lock_waiting(m, IPCWAIT_FOREVER, site);
}

int ipcwait_impl_mutex_lock_slow(struct ipcwait_mutex *m)
{
	return iw_mutex_lock_from(m, IW_CALL_SITE);
}

int ipcwait_mutex_lock_until(struct ipcwait_mutex *m, int64_t deadline_ns)
{
	return lock_beside_sleepers(m) ? 0 : lock_waiting(m, deadline_ns, IW_CALL_SITE);
}

int ipcwait_impl_mutex_trylock_slow(struct ipcwait_mutex *m)
{
	if (check(m, "ipcwait_mutex_trylock"))
		return -EINVAL;
	if (mutex_is_known(m))
		return iw_mutex_trylock_known(m);
	return iw_mutex_try(m, IPCWAIT_IMPL_MUTEX_OWNER_ONE);
}

/* 1,k,s -> 0,k,s: the same for unlock. One that is TIMED teaches something first. */
static bool unlock_beside_sleepers(struct ipcwait_mutex *m)
{
	uint64_t w;

	if (IW_IS_CHECKED)
		return false;
	/* ORD mutex.X9: relaxed, protected by the caller, who should own it. */
	w = ipcwait_impl_load64_relaxed(&m->word);
	return (w & (MUTEX_OWNER_MASK | MUTEX_TIMED | MUTEX_CHECKED)) ==
		       IPCWAIT_IMPL_MUTEX_OWNER_ONE &&
	       leave_alone(m);
}

int ipcwait_impl_mutex_unlock_slow(struct ipcwait_mutex *m)
{
	if (unlock_beside_sleepers(m))
		return 0;
	if (check(m, "ipcwait_mutex_unlock"))
		return -EINVAL;
	if (mutex_is_known(m))
		return iw_mutex_unlock_known(m);
	return iw_mutex_leave(m, false);
}

int ipcwait_mutex_init(struct ipcwait_mutex *m, unsigned flags)
{
	struct ipcwait_mutex fresh = IPCWAIT_MUTEX_INIT;
	int r = iw_check_init(&mutex_layout, m, flags, true, "ipcwait_mutex_init");

	if (r)
		return r;
	if (flags & IPCWAIT_RECURSIVE && flags & IPCWAIT_ERRORCHECK)
		return iw_misuse(-EINVAL, IPCWAIT_KIND_MUTEX, m, "ipcwait_mutex_init",
				 "recursive and errorcheck at once");
	if (flags & IPCWAIT_ROBUST && iw_mutex_init_robust(&fresh))
		return -ENOTSUP;
	fresh.flags = (uint16_t)flags;
	if (flags & MUTEX_KINDS)
		fresh.word.v = MUTEX_CHECKED;
	*m = fresh;
	return 0;
}

int ipcwait_mutex_fini(struct ipcwait_mutex *m)
{
	if (check(m, "ipcwait_mutex_fini"))
		return -EINVAL;
	/* ORD mutex.X4: relaxed, protected by the caller: nobody else uses the mutex. */
	uint64_t w = ipcwait_impl_load64_relaxed(&m->word);

	if (w & (MUTEX_OWNER_MASK | MUTEX_SLEEPERS_MASK | MUTEX_SPINNER))
		return -EBUSY;
	/* ORD mutex.X5: relaxed, protected by the caller, as mutex.X4. */
	ipcwait_impl_store64_relaxed(&m->word, MUTEX_CHECKED);
	m->flags = (uint16_t)IW_FLAGS_FINISHED;
	return 0;
}
