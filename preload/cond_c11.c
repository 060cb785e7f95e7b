/* SPDX-License-Identifier: MIT */
/* cnd_*() of C11: in glibc a cnd_t is a pthread_cond_t, and a mtx_t a pthread_mutex_t. */
#include <errno.h>
#include <threads.h>

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

IW_INTERPOSED int cnd_wait(cnd_t *c, mtx_t *m)
{
	struct front_limit limit = { CLOCK_REALTIME, NULL };

	return thrd_result(iw_cond_wait_here((pthread_cond_t *)c, (pthread_mutex_t *)m,
					     &limit, IW_CALL_SITE));
}

IW_INTERPOSED int cnd_timedwait(cnd_t *restrict c, mtx_t *restrict m,
				const struct timespec *restrict at)
{
	struct front_limit limit = { CLOCK_REALTIME, at };

	return thrd_result(iw_cond_wait_here((pthread_cond_t *)c, (pthread_mutex_t *)m,
					     &limit, IW_CALL_SITE));
}

IW_INTERPOSED int cnd_signal(cnd_t *c)
{
	(void)ipcwait_cond_signal(iw_cond_own((pthread_cond_t *)c));
	return thrd_success;
}

IW_INTERPOSED int cnd_broadcast(cnd_t *c)
{
	(void)ipcwait_cond_broadcast(iw_cond_own((pthread_cond_t *)c));
	return thrd_success;
}

IW_INTERPOSED void cnd_destroy(cnd_t *c)
{
	iw_cond_end((pthread_cond_t *)c);
}
