/* SPDX-License-Identifier: MIT */
/*
 * The seam: the one door through which the layers above reach atomics, the pause, the
 * counter, the clock, the futex and the thread's own data. Atomics are in
 * <ipcwait/impl/word.h>, which inline fast paths share.
 *
 * A model build defines IW_SEAM_MODEL and IPCWAIT_IMPL_MODEL and gets the same names from
 * the interleaving checker; the sources above the seam are then the shipped ones.
 */
#ifndef IW_OS_SEAM_H
#define IW_OS_SEAM_H

#include <ipcwait/impl/word.h>

#ifdef IW_SEAM_MODEL
#include IW_SEAM_MODEL
#else

#include "arch/arch.h"
#include "os/clock.h"
#include "os/futex.h"
#include "os/thread.h"

/* One step of a spin loop. */
static inline void iw_pause(void)
{
	iw_arch_pause();
}

/* This thread's own data. */
static inline struct iw_thread *iw_self(void)
{
	return &iw_thread;
}

#endif /* IW_SEAM_MODEL */

#endif
