/* SPDX-License-Identifier: MIT */
/*
 * The slow half of a mutex, in place of lib/sync/mutex*.c: as simple as can be, so that what is
 * tried out are the interleavings of the condition variable. The kernel unlocks for the dead.
 */
#include <errno.h>

#include "interleave/cond_roles.h"
#include "sync/mutex_word.h"

#define ASLEEP UINT64_C(1)

/* Of the one mutex that knows its owner, number + 1; the inline functions miss it. */
static volatile unsigned owner;

int ipcwait_impl_mutex_lock_slow(struct ipcwait_mutex *m)
{
	uint64_t w = ipcwait_impl_load64_relaxed(&m->word);

	for (;;) {
		if (!(w & MUTEX_OWNER_MASK)) {
			if (ipcwait_impl_cas64_acquire(&m->word, &w,
						       w | IPCWAIT_IMPL_MUTEX_OWNER_ONE))
				break;
		} else if (w & ASLEEP ||
			   ipcwait_impl_cas64_relaxed(&m->word, &w, w | ASLEEP)) {
			(void)model_futex_wait((const uint32_t *)&m->word, ASLEEP,
					       INT64_MAX, false, UINT32_MAX);
			w = ipcwait_impl_load64_relaxed(&m->word);
		}
	}
	owner = model_thread() + 1;
	return 0;
}

int iw_mutex_lock_from(struct ipcwait_mutex *m, uintptr_t site)
{
	(void)site;
	return ipcwait_mutex_lock(m);
}

int ipcwait_impl_mutex_unlock_slow(struct ipcwait_mutex *m)
{
	uint64_t w = ipcwait_impl_load64_relaxed(&m->word);

	do {
		if (!(w & MUTEX_OWNER_MASK))
			return -EPERM;
	} while (!ipcwait_impl_cas64_release(&m->word, &w, w & MUTEX_CHECKED));
	owner = 0;
	if (w & ASLEEP)
		(void)model_futex_wake((const uint32_t *)&m->word, UINT32_MAX, false,
				       UINT32_MAX);
	return 0;
}

int ipcwait_mutex_init(struct ipcwait_mutex *m, unsigned flags)
{
	static const struct ipcwait_mutex fresh = IPCWAIT_MUTEX_INIT;

	*m = fresh;
	m->word.v = flags & IPCWAIT_ROBUST ? MUTEX_CHECKED : 0;
	owner = 0;
	return 0;
}

/* Nobody is told of a death. */
int ipcwait_mutex_consistent(struct ipcwait_mutex *m)
{
	(void)m;
	return -EINVAL;
}

/* Also if it died between its unlock and the wake. */
void cond_mutex_died(struct ipcwait_mutex *m)
{
	uint64_t w = ipcwait_impl_load64_relaxed(&m->word);
	bool dead = w & MUTEX_OWNER_MASK && owner && model_dead(owner - 1);

	if (dead)
		(void)ipcwait_impl_mutex_unlock_slow(m);
	else
		(void)model_futex_wake((const uint32_t *)&m->word, UINT32_MAX, false,
				       UINT32_MAX);
}
