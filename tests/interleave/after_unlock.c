/* SPDX-License-Identifier: MIT */
/*
 * In place of preload/after_unlock.c: no thread leaves a wake for later. Those of cond_roles.c do.
 */
#include "after_unlock.h"

_Thread_local struct iw_after_unlock iw_after_unlock;

void iw_after_unlock_note(const pthread_cond_t *c, const pthread_mutex_t *m)
{
	(void)c, (void)m;
}

void iw_after_unlock_hurry(void)
{
}
