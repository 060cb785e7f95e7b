/* SPDX-License-Identifier: MIT */
/*
 * What pthread_cond_signal() and its like do, for other files of the module: behind the public
 * names may be functions of the program.
 */
#ifndef IW_PRELOAD_COND_CALLS_H
#define IW_PRELOAD_COND_CALLS_H

#include <pthread.h>

int iw_cond_signal(pthread_cond_t *c);
int iw_cond_broadcast(pthread_cond_t *c);
int iw_cond_destroy(pthread_cond_t *c);

#endif
