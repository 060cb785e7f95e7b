/* SPDX-License-Identifier: MIT */
/*
 * What the CPU offers. Every CPU's arch_cpu.h defines what it has, each as a function
 * and a macro of the same name; what it lacks is filled in below. The build puts one
 * lib/arch/<cpu> on the include path, so there is no CPU #if anywhere.
 *
 *   iw_arch_pause()             tell the CPU that this is a spin loop
 *   iw_arch_ticks()             a counter that all CPUs share, or 0
 *   iw_arch_ticks_steady()      true if that counter runs at one rate in every state
 *   iw_arch_hypervisor()        true if the CPU says that it is virtual
 *   iw_arch_vcpu_dedicated()    true if the hypervisor promises not to take the vCPU away
 *   iw_arch_can_monitor()       true if the next two are to be had
 *   iw_arch_monitor()           from now on, watch for stores to a cache line
 *   iw_arch_monitor_wait()      rest until one of them, but not beyond a deadline
 *   iw_arch_thread_pointer()    where libc keeps the running thread, or NULL
 *   iw_arch_syscall()           a system call; not filled in, lib/os/syscall.h asks for it
 *   iw_arch_describe()          the CPU's and the hypervisor's names for themselves, as text
 */
#ifndef IW_ARCH_ARCH_H
#define IW_ARCH_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IW_ARCH_DESCRIPTION_BYTES 96

#include "arch_cpu.h"

#ifndef iw_arch_pause
#define iw_arch_pause iw_arch_pause
static inline void iw_arch_pause(void)
{
	__asm__ volatile("" ::: "memory");
}
#endif

#ifndef iw_arch_ticks
#define iw_arch_ticks iw_arch_ticks
static inline uint64_t iw_arch_ticks(void)
{
	return 0;
}
#endif

#ifndef iw_arch_ticks_steady
#define iw_arch_ticks_steady iw_arch_ticks_steady
static inline bool iw_arch_ticks_steady(void)
{
	return false;
}
#endif

/* Where the CPU has such a bit it is set by every hypervisor, and nothing else need be asked. */
#ifdef iw_arch_hypervisor
#define IW_ARCH_HYPERVISOR_BIT 1
#else
#define IW_ARCH_HYPERVISOR_BIT 0
#endif

#ifndef iw_arch_hypervisor
#define iw_arch_hypervisor iw_arch_hypervisor
static inline bool iw_arch_hypervisor(void)
{
	return false;
}
#endif

#ifndef iw_arch_vcpu_dedicated
#define iw_arch_vcpu_dedicated iw_arch_vcpu_dedicated
static inline bool iw_arch_vcpu_dedicated(void)
{
	return false;
}
#endif

/*
 * @hwcap is AT_HWCAP of the auxiliary vector. May exit to the hypervisor: ask once. Where it
 * is false iw_arch_monitor_wait() must not be called: it may be no instruction at all.
 */
#ifndef iw_arch_can_monitor
#define iw_arch_can_monitor iw_arch_can_monitor
static inline bool iw_arch_can_monitor(unsigned long hwcap)
{
	(void)hwcap;
	return false;
}
#endif

/*
 * monitor(line); look at it, with loads only; monitor_wait(). Any of the line's bytes will do.
 * A store that comes after the first step ends the third. It may end for no reason, and does
 * at @until_ticks.
 */
#ifndef iw_arch_monitor
#define iw_arch_monitor iw_arch_monitor
static inline void iw_arch_monitor(const void *line)
{
	(void)line;
}
#endif

#ifndef iw_arch_monitor_wait
#define iw_arch_monitor_wait iw_arch_monitor_wait
static inline void iw_arch_monitor_wait(uint64_t until_ticks)
{
	(void)until_ticks;
	iw_arch_pause();
}
#endif

#ifndef iw_arch_thread_pointer
#define iw_arch_thread_pointer iw_arch_thread_pointer
static inline char *iw_arch_thread_pointer(void)
{
	return NULL;
}
#endif

/* With which libc registers threads for rseq(2); 0: none known for this CPU. */
#ifndef IW_ARCH_RSEQ_SIGNATURE
#define IW_ARCH_RSEQ_SIGNATURE 0
#endif

/* @text is terminated, and empty where the CPU does not tell. */
#ifndef iw_arch_describe
#define iw_arch_describe iw_arch_describe
static inline void iw_arch_describe(char text[IW_ARCH_DESCRIPTION_BYTES])
{
	text[0] = '\0';
}
#endif

/* Largest distance at which two words still disturb each other, in bytes. */
#ifndef IW_ARCH_LINE_BYTES
#define IW_ARCH_LINE_BYTES 128
#endif

#endif
