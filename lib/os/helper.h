/* SPDX-License-Identifier: MIT */
/* Threads of the library's own that run until the process ends. */
#ifndef IW_OS_HELPER_H
#define IW_OS_HELPER_H

#include <stddef.h>

/*
 * A detached thread that runs body(arg): of no real-time class, without signals, and on the CPUs of
 * the process's first thread as well as on those of the caller, whichever thread makes it. Its
 * stack has
 * @stack bytes, or what is usual, if it is 0 or too little for the program's thread data. Who may
 * not make such a thread, one of SCHED_IDLE for instance, gets one of its own kind. 0, or a
 * positive errno.
 */
int iw_helper_start(void *(*body)(void *), void *arg, size_t stack);

/*
 * Before the first: it calls functions of this library, which is not unloaded any more. In a
 * program that is linked with it there is nothing to hold.
 */
void iw_helper_stay_loaded(void);

#endif
