/* SPDX-License-Identifier: MIT */
#ifndef IW_PRELOAD_FRONT_MUTEX_H
#define IW_PRELOAD_FRONT_MUTEX_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* pthread_mutex_unlock(). */
int iw_unlock_mutex(pthread_mutex_t *m);

/*
 * The same around a wait for a condition variable: whoever waits goes on being one of the mutex's
 * users, so that pthread_mutex_destroy() refuses. @noted: iw_is_noted_locked() before the unlock,
 * as the program may lock and unlock it past this module.
 */
int iw_unlock_mutex_to_wait(pthread_mutex_t *m);
int iw_lock_mutex_after_wait(pthread_mutex_t *m, bool noted, uintptr_t site);

#endif
