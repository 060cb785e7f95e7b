/* SPDX-License-Identifier: MIT */
/* To be told of the ends of threads. errno is preserved. */
#ifndef IW_OS_THREAD_END_H
#define IW_OS_THREAD_END_H

#include <stdbool.h>

/*
 * From now on, until the library is unloaded, at_end() runs at the end of each thread that has
 * asked for it. To be called once, before main(). False: no memory.
 */
bool iw_thread_end_hook(void (*at_end)(void));

/*
 * The calling thread asks. In at_end() and after it a thread may ask again, as long as libc runs
 * destructors of its keys (PTHREAD_DESTRUCTOR_ITERATIONS). False: no memory.
 */
bool iw_thread_end_ask(void);

#endif
