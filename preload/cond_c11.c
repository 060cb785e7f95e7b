/* SPDX-License-Identifier: MIT */
/* cnd_*() of C11: in glibc a cnd_t is a pthread_cond_t, and a mtx_t a pthread_mutex_t. */
#include <errno.h>
#include <threads.h>

#include "after_unlock.h"
#include "cond_calls.h"
#include "cond_in_place.h"
#include "module.h"

_Static_assert(sizeof(cnd_t) == sizeof(pthread_cond_t) &&
		       sizeof(mtx_t) == sizeof(pthread_mutex_t),
	       "glibc's");

static int thrd_result(int r)
{
	switch (r) {
	case 0:
		return thrd_success;
	case EBUSY:
		return thrd_busy;
	case ETIMEDOUT:
		return thrd_timedout;
	case ENOMEM:
		return thrd_nomem;
	default:
		return thrd_error;
	}
}

static int wait_until(cnd_t *c, mtx_t *m, const struct timespec *at, uintptr_t site)
{
	struct front_limit limit = { CLOCK_REALTIME, at };
	pthread_cond_t *pc = (pthread_cond_t *)c;
	pthread_mutex_t *pm = (pthread_mutex_t *)m;

	if (!iw_cond_is_original(pc))
		return thrd_result(iw_cond_wait_here(pc, pm, &limit, site));
	iw_after_unlock_hurry();
	return thrd_result(at ? original()->cond_clockwait(pc, pm, CLOCK_REALTIME, at)
			      : original()->cond_wait(pc, pm));
}

IW_INTERPOSED int cnd_wait(cnd_t *c, mtx_t *m)
{
	return wait_until(c, m, NULL, IW_CALL_SITE);
}

IW_INTERPOSED int cnd_timedwait(cnd_t *restrict c, mtx_t *restrict m,
				const struct timespec *restrict at)
{
	return wait_until(c, m, at, IW_CALL_SITE);
}

IW_INTERPOSED int cnd_signal(cnd_t *c)
{
	return thrd_result(iw_cond_signal((pthread_cond_t *)c));
}

IW_INTERPOSED int cnd_broadcast(cnd_t *c)
{
	return thrd_result(iw_cond_broadcast((pthread_cond_t *)c));
}

IW_INTERPOSED void cnd_destroy(cnd_t *c)
{
	(void)iw_cond_destroy((pthread_cond_t *)c);
}
