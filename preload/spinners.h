/* SPDX-License-Identifier: MIT */
/*
 * The threads that spin in front of FUTEX_WAIT, by address. A wake that comes during a spin ends
 * it, also if the word keeps its value, and each wake ends one wait. The moment between the end of
 * a spin and the beginning of the sleep is not covered: a wake that comes then finds nobody.
 */
#ifndef IW_PRELOAD_SPINNERS_H
#define IW_PRELOAD_SPINNERS_H

#include <stdbool.h>

/*
 * The calling thread spins at @address. False if that cannot be noted: another address has the
 * place, or too many spin. Otherwise iw_spinners_leave() follows, once.
 */
bool iw_spinners_enter(const void *address);

/* It does so no more. True if a wake has ended its wait. */
bool iw_spinners_leave(const void *address);

/* A hint: a wake has ended the wait of a thread that spins at @address. */
bool iw_spinners_woken(const void *address);

/* A wake of @most at @address. Returns how many waits it has ended. Async-signal-safe. */
unsigned iw_spinners_wake(const void *address, unsigned most);

#endif
