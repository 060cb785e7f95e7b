/* SPDX-License-Identifier: MIT */
/* Mutexes that know their owner: recursive, errorcheck and robust, and in a checked build all.
 * How the death of an owner is proven: docs/adr/0019-robust-without-the-list.md. */
#include "sync/mutex_word.h"

#include "os/life.h"
#include "os/seam.h"
#include "watch/misuse.h"

static bool is_robust(const struct ipcwait_mutex *m)
{
	return m->flags & IPCWAIT_ROBUST;
}

/* Of one that is robust, others must be able to ask the kernel about its owner. */
static uint64_t self_as_owner(const struct ipcwait_mutex *m)
{
	uint64_t name;

	if (is_robust(m))
		return (uint64_t)iw_thread_id() << MUTEX_OWNER_SHIFT;
	name = iw_thread_name();
	return (name & IW_NAME_THREAD) << MUTEX_OWNER_SHIFT |
	       name >> IW_NAME_BITS << MUTEX_PROCESS_SHIFT;
}

static uint32_t noted_birth(const struct ipcwait_mutex *m)
{
	/* ORD mutex_known.X1: relaxed, no order needed: the word is read again after it. */
	return ipcwait_impl_load32_relaxed(&m->note);
}

static void note_birth(struct ipcwait_mutex *m, uint32_t birth)
{
	/* ORD mutex_known.X2: relaxed, hint: a birth that is not known proves nothing. */
	ipcwait_impl_store32_relaxed(&m->note, birth);
}

/* The caller owns @m, and not a thread that has its id elsewhere, or had it before and died. */
static bool is_own(const struct ipcwait_mutex *m)
{
	/* ORD mutex_known.X3: relaxed, no order needed: only the thread itself writes its name. */
	uint64_t w = ipcwait_impl_load64_relaxed(&m->word);

	if ((w & (MUTEX_OWNER_MASK | MUTEX_PROCESS_MASK)) != self_as_owner(m))
		return false;
	/* No birth is not the caller's: a dead owner had not written it, or is being buried. */
	return !is_robust(m) || iw_thread_has_birth(noted_birth(m));
}

/* What a new owner writes down, be it one after a death. */
static int own(struct ipcwait_mutex *m, int r)
{
	if (r != 0 && r != -EOWNERDEAD)
		return r;
	m->count = 0;
	if (is_robust(m))
		note_birth(m, iw_thread_birth());
	return r;
}

static int lock_again(struct ipcwait_mutex *m, int error)
{
	if (!(m->flags & IPCWAIT_RECURSIVE))
		return error;
	if (m->count == IPCWAIT_RECURSION_MAX - 1)
		return -EAGAIN;
	m->count++;
	return 0;
}

/* Ids and births of one namespace mean nothing in another. */
static bool is_foreign(const struct ipcwait_mutex *m)
{
	return is_robust(m) && (noted_birth(m) ^ iw_thread_birth()) & ~IW_BIRTH_BEGAN;
}

/* Waits that are too short for an alarm, however many, would never find out about a death. */
static int last_look(struct ipcwait_mutex *m)
{
	struct mutex_doubt doubt = { .owner = 0 };
	int r;

	iw_mutex_bury(m, &doubt);
	iw_mutex_bury(m, &doubt);
	r = iw_mutex_try(m, self_as_owner(m));
	return r == -EBUSY ? -ETIMEDOUT : r;
}

int iw_mutex_lock_known(struct ipcwait_mutex *m, int64_t deadline_ns, uintptr_t site)
{
	int r;

	if (is_foreign(m))
		return -ENOTSUP;
	if (is_own(m) && m->flags & MUTEX_KINDS)
		return lock_again(m, -EDEADLK);
	if (IW_IS_CHECKED && is_own(m))
		(void)iw_misuse(-EDEADLK, IPCWAIT_KIND_MUTEX, m, "ipcwait_mutex_lock",
				"the caller owns it already");
	r = iw_mutex_try(m, self_as_owner(m));
	if (r == -EBUSY)
		r = iw_mutex_wait(m, self_as_owner(m), deadline_ns, site);
	if (r == -ETIMEDOUT && is_robust(m))
		r = last_look(m);
	return own(m, r);
}

int iw_mutex_trylock_known(struct ipcwait_mutex *m)
{
	if (is_foreign(m))
		return -ENOTSUP;
	if (is_own(m))
		return lock_again(m, -EBUSY);
	return own(m, iw_mutex_try(m, self_as_owner(m)));
}

/* Unlocked by a caller whose headers have no checks, who locked it as 1. */
static bool is_anonymous(const struct ipcwait_mutex *m)
{
	/* ORD mutex_known.X4: relaxed, protected by the caller, who should own it. */
	return !(m->flags & MUTEX_KINDS) &&
	       mutex_owner(ipcwait_impl_load64_relaxed(&m->word)) == 1;
}

int iw_mutex_unlock_known(struct ipcwait_mutex *m)
{
	bool lost;

	if (!is_own(m) && !is_anonymous(m))
		return iw_misuse(-EPERM, IPCWAIT_KIND_MUTEX, m, "ipcwait_mutex_unlock",
				 "the caller does not own it");
	if (m->count) {
		m->count--;
		return 0;
	}
	if (is_robust(m))
		note_birth(m, noted_birth(m) & ~IW_BIRTH_BEGAN);
	/* ORD mutex_known.X5: relaxed, protected by the caller, who owns it. */
	lost = ipcwait_impl_load64_relaxed(&m->word) & MUTEX_DIED;
	return iw_mutex_leave(m, lost);
}

int ipcwait_mutex_consistent(struct ipcwait_mutex *m)
{
	uint64_t w;

	if (!m || !mutex_usable(m) || !is_robust(m))
		return iw_misuse(-EINVAL, IPCWAIT_KIND_MUTEX, m, "ipcwait_mutex_consistent",
				 "not a robust mutex");
	/* ORD mutex_known.X6: relaxed, re-checked by the CAS below. */
	w = ipcwait_impl_load64_relaxed(&m->word);
	if (!(w & MUTEX_DIED))
		return -EINVAL;
	if (!is_own(m))
		return -EPERM;
	/* ORD mutex_known.X7: relaxed, no order needed: only the owner looks at DIED. */
	while (!ipcwait_impl_cas64_relaxed(&m->word, &w, w & ~MUTEX_DIED))
		continue;
	return 0;
}

/* The caller does not own it. So if it has the owner's id, that is free again, or was. */
static bool is_gone(uint32_t owner, uint32_t birth)
{
	return owner == iw_thread_id() || iw_thread_life(owner, birth) == IW_DEAD;
}

/*
 * t -> 0, DIED -> 1, if thread t is dead. Called after a sleep that an alarm has ended; so the
 * first call notes who the owner is, and only if it has not changed by the next it is asked about.
 *
 * The birth is cleared before: else the next owner's id could be seen beside it, and would be taken
 * for a thread that has got the id of a dead one. Who comes late finds another birth there, which
 * stays: without it the next owner would not know itself. Likewise two proofs are wanted, an alarm
 * apart: between the readings of id and birth the owner may have changed.
 */
void iw_mutex_bury(struct ipcwait_mutex *m, struct mutex_doubt *doubt)
{
	/*
	 * ORD mutex_known.A1: acquire, so that the birth is not that of an owner before this one.
	 * Pairs with mutex.R2 and mutex.R3, before which the birth is cleared.
	 */
	uint64_t w = ipcwait_impl_load64_acquire(&m->word);
	uint32_t owner = mutex_owner(w), birth = noted_birth(m);

	if (!owner || owner != doubt->owner || birth != doubt->birth)
		*doubt = (struct mutex_doubt){ .owner = owner, .birth = birth };
	else if (is_gone(owner, birth))
		doubt->proofs++;
	/* That nobody has the id, or that its thread has ended, is true whatever the birth. */
	if (doubt->proofs < 2 &&
	    !(doubt->proofs && is_gone(owner, birth & ~IW_BIRTH_BEGAN)))
		return;
	/* ORD mutex_known.X8: relaxed, no order needed: R1 below publishes it. */
	if (!ipcwait_impl_cas32_relaxed(&m->note, &birth, birth & ~IW_BIRTH_BEGAN))
		return;
	/*
	 * ORD mutex_known.R1: release on success, so that the next owner sees what the dead one
	 * did, which was complete when the kernel said that it is gone. Pairs with
	 * mutex_wait.A1 and mutex.A3.
	 */
	while (mutex_owner(w) == owner &&
	       !ipcwait_impl_cas64_release(&m->word, &w,
					   (w & ~MUTEX_OWNER_MASK) | MUTEX_DIED))
		continue;
}

int iw_mutex_init_robust(struct ipcwait_mutex *m)
{
	uint32_t birth = iw_thread_birth();

	if (!iw_birth_known(birth) || !(birth & ~IW_BIRTH_BEGAN))
		return -ENOTSUP;
	m->note.v = birth & ~IW_BIRTH_BEGAN;
	return 0;
}
