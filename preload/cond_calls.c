/* SPDX-License-Identifier: MIT */
/* pthread_cond_*(), as they have been since glibc 2.3.2; the older ones stay libc's. */
#include <string.h>

#include "after_unlock.h"
#include "cond_calls.h"
#include "cond_in_place.h"
#include "module.h"
#include "original.h"
#include "sync/cond_wait.h"

IW_INTERPOSED int pthread_cond_init(pthread_cond_t *restrict c,
				    const pthread_condattr_t *restrict attributes)
{
	int shared = PTHREAD_PROCESS_PRIVATE;
	clockid_t clock = CLOCK_REALTIME;

	if (attributes) {
		(void)pthread_condattr_getpshared(attributes, &shared);
		(void)pthread_condattr_getclock(attributes, &clock);
	}
	/* As long as it is not made it is nobody's, and may look like anything. */
	(void)memset(c, 0, sizeof(*c));
	if (shared != PTHREAD_PROCESS_PRIVATE || iw_cond_is_original(c))
		return original()->cond_init(c, attributes);
	iw_cond_begin(c, clock);
	return 0;
}

IW_INTERPOSED int pthread_cond_wait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m)
{
	struct front_limit limit = { CLOCK_REALTIME, NULL };

	if (iw_cond_is_original(c)) {
		iw_after_unlock_hurry();
		return original()->cond_wait(c, m);
	}
	return iw_cond_wait_here(c, m, &limit, IW_CALL_SITE);
}

IW_INTERPOSED int pthread_cond_timedwait(pthread_cond_t *restrict c,
					 pthread_mutex_t *restrict m,
					 const struct timespec *restrict at)
{
	struct front_limit limit = { iw_cond_clock(c), at };

	if (iw_cond_is_original(c)) {
		iw_after_unlock_hurry();
		return original()->cond_timedwait(c, m, at);
	}
	return iw_cond_wait_here(c, m, &limit, IW_CALL_SITE);
}

IW_INTERPOSED int pthread_cond_clockwait(pthread_cond_t *restrict c,
					 pthread_mutex_t *restrict m, clockid_t clock,
					 const struct timespec *restrict at)
{
	struct front_limit limit = { clock, at };

	if (iw_cond_is_original(c)) {
		iw_after_unlock_hurry();
		return original()->cond_clockwait(c, m, clock, at);
	}
	return iw_cond_wait_here(c, m, &limit, IW_CALL_SITE);
}

int iw_cond_signal(pthread_cond_t *c)
{
	if (iw_cond_is_original(c))
		return original()->cond_signal(c);
	if (!iw_cond_is_idle((const struct ipcwait_cond *)c))
		iw_cond_signal_due(iw_cond_own(c), iw_after_unlock_begin(c));
	return 0;
}

IW_INTERPOSED int pthread_cond_signal(pthread_cond_t *c)
{
	return iw_cond_signal(c);
}

int iw_cond_broadcast(pthread_cond_t *c)
{
	if (iw_cond_is_original(c))
		return original()->cond_broadcast(c);
	if (!iw_cond_is_idle((const struct ipcwait_cond *)c))
		iw_cond_broadcast_due(iw_cond_own(c), iw_after_unlock_begin(c));
	return 0;
}

IW_INTERPOSED int pthread_cond_broadcast(pthread_cond_t *c)
{
	return iw_cond_broadcast(c);
}

int iw_cond_destroy(pthread_cond_t *c)
{
	if (iw_cond_is_original(c))
		return original()->cond_destroy(c);
	iw_cond_drain(iw_cond_own(c));
	return 0;
}

IW_INTERPOSED int pthread_cond_destroy(pthread_cond_t *c)
{
	return iw_cond_destroy(c);
}
