/* SPDX-License-Identifier: MIT */
/*
 * Whether a signal handler has run in this thread meanwhile. A sleep in sem_wait() or futex(2) ends
 * with EINTR then, and so has a spin in front of it to: a program that is told to stop while it
 * waits would sleep on. The handlers that a program installs through libc are called through one
 * of ours, which counts; the program is always shown its own.
 *
 * Not seen: handlers that were installed by the system call itself, or before the module was there,
 * and those of a program that has installed more different ones than signals.c has places for.
 */
#ifndef IW_PRELOAD_SIGNALS_H
#define IW_PRELOAD_SIGNALS_H

#include <stdint.h>

/* How often, modulo 2^32. Read and written by its own thread and the handlers that interrupt it. */
struct handled {
	volatile uint32_t any;
	volatile uint32_t interrupting; /* without SA_RESTART */
};

extern _Thread_local struct handled iw_handled __attribute__((tls_model("initial-exec")));

#endif
