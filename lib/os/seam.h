/* SPDX-License-Identifier: MIT */
/*
 * The seam: the one door through which the layers above reach atomics, the pause, the
 * counter, the clock, the futex and the thread's own data. Atomics are in
 * <ipcwait/impl/word.h>, which inline fast paths share.
 *
 * It is also where tests take over, with the sources above unchanged: they link another L1, and
 * the interleaving checker brings a lib/arch of its own. ARCHITECTURE.md, "The seam"
 */
#ifndef IW_OS_SEAM_H
#define IW_OS_SEAM_H

#include <ipcwait/impl/word.h>

#include "arch/arch.h"
#include "os/clock.h"
#include "os/futex.h"
#include "os/rseq.h"
#include "os/thread.h"

/* One step of a spin loop. */
static inline void iw_pause(void)
{
	iw_arch_pause();
}

/*
 * The same in two steps, only where iw_cpu_can_monitor(): between them the word that is waited
 * for is looked at. lib/arch/arch.h
 */
static inline void iw_monitor(const void *line)
{
	iw_arch_monitor(line);
}

static inline void iw_monitor_wait(uint64_t until_ticks)
{
	iw_arch_monitor_wait(until_ticks);
}

/* This thread's own data. */
static inline struct iw_thread *iw_self(void)
{
	return &iw_thread;
}

#endif
