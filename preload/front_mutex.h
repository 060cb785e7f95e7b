/* SPDX-License-Identifier: MIT */
#ifndef IW_PRELOAD_FRONT_MUTEX_H
#define IW_PRELOAD_FRONT_MUTEX_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* pthread_mutex_lock() on behalf of @site. */
int iw_lock_mutex(pthread_mutex_t *m, uintptr_t site);

/* Whether the caller owns it is not known of a normal one, so to unlock it always succeeds. */
bool iw_mutex_is_normal(const pthread_mutex_t *m);

/* pthread_mutex_unlock(). */
int iw_unlock_mutex(pthread_mutex_t *m);

#endif
